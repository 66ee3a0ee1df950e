//! Programs of `apps/str` as hand-written C (`bench/peers/str`), which generated code is measured against.

use std::ffi::c_long;

/// A program in C. Its arguments are the input and the output, as 32-bit cells, and the number of input items; it
/// returns the number of output items.
type Function = unsafe extern "C" fn(*const u32, *mut u32, c_long) -> c_long;

// SAFETY: these functions are defined in the C files of the same names, with the same parameters except for the type
// pointed to: float or int32_t, which have the size and alignment of a cell; a complex number is two cells.
unsafe extern "C" {
    fn beamformer(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn bitonic_sort(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn channel_vocoder(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn dct(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn des(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn des_scalar(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn fft(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn filter_bank(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn fm_radio(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn matrix_multiply(from: *const u32, to: *mut u32, items: c_long) -> c_long;
    fn time_delay_equaliser(from: *const u32, to: *mut u32, items: c_long) -> c_long;
}

/// A hand-written program.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The program of `apps/str` that it implements.
    pub program: &'static str,
    /// Its name as a contestant, unique among the implementations of one program.
    pub name: &'static str,
    /// Cells of an item of input.
    pub cells_in: usize,
    /// Cells of an item of output.
    pub cells_out: usize,
    function: Function,
}

const fn written(program: &'static str, cells_in: usize, cells_out: usize, function: Function) -> Written {
    Written { program, name: "c", cells_in, cells_out, function }
}

/// All hand-written programs; of several implementations of one program the first is the peer.
pub const ALL: &[Written] = &[
    written("fm_radio", 1, 1, fm_radio),
    written("filter_bank", 1, 1, filter_bank),
    written("time_delay_equaliser", 2, 2, time_delay_equaliser),
    written("fft", 2, 2, fft),
    written("beamformer", 2, 1, beamformer),
    written("des", 1, 1, des),
    Written { name: "c-scalar", ..written("des", 1, 1, des_scalar) },
    written("bitonic_sort", 1, 1, bitonic_sort),
    written("dct", 1, 1, dct),
    written("channel_vocoder", 1, 1, channel_vocoder),
    written("matrix_multiply", 1, 1, matrix_multiply),
];

impl Written {
    /// Runs the program on all of the input, and returns the number of cells of `to` that it has written.
    ///
    /// # Panics
    /// If `to` is shorter than `from`.
    pub fn run(&self, from: &[u32], to: &mut [u32]) -> usize {
        assert!(to.len() >= from.len(), "the output has {} cells, the input {}", to.len(), from.len());
        let items = (from.len() / self.cells_in) as c_long;
        // SAFETY: `from` has `items` items, which the function reads. None of the programs writes more cells than it
        // reads, and `to` is at least as long as `from`. The slices cannot overlap, since `to` is a unique reference.
        let written = unsafe { (self.function)(from.as_ptr(), to.as_mut_ptr(), items) };
        written as usize * self.cells_out
    }

    /// Runs the program on cells as bytes, and returns the number of bytes of `to` that it has written.
    ///
    /// # Panics
    /// If `to` is shorter than `from`, or one of them is not aligned for cells.
    pub fn run_in_bytes(&self, from: &[u8], to: &mut [u8]) -> usize {
        // SAFETY: every bit pattern of four bytes is a valid `u32`.
        let (([], from, _), ([], to, _)) = (unsafe { (from.align_to(), to.align_to_mut()) }) else {
            panic!("the memory is not aligned for 32-bit cells")
        };
        self.run(from, to) * size_of::<u32>()
    }
}
