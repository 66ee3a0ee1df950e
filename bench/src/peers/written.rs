//! Programs of `apps/str` as C that somebody has written by hand (`bench/peers/str`): what generated code is
//! measured against.

use std::ffi::c_long;

/// A program in C: its items in and out, as 32-bit cells, and how many items of input there are; gives how many
/// items of output it has made.
type Function = unsafe extern "C" fn(*const u32, *mut u32, c_long) -> c_long;

// SAFETY: these are the functions of the files of these names. Pointers there are to floats or integers, of which
// cells are the bits; a complex number is two.
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

/// A program written by hand.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The program of `apps/str` that it is.
    pub program: &'static str,
    /// What it is called beside others that are the same program.
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

/// All of them; the first of a program is the one that counts.
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
    /// Runs the program on all of the input, and gives how many cells of `to` it has filled.
    ///
    /// # Panics
    /// `to` is shorter than `from`.
    pub fn run(&self, from: &[u32], to: &mut [u32]) -> usize {
        assert!(to.len() >= from.len(), "no program makes more of its input");
        let items = (from.len() / self.cells_in) as c_long;
        // SAFETY: there are so many items to read. None of the programs writes more cells than it reads, and `to`
        // has room for those.
        let made = unsafe { (self.function)(from.as_ptr(), to.as_mut_ptr(), items) };
        made as usize * self.cells_out
    }

    /// The same with cells as bytes.
    ///
    /// # Panics
    /// As above, or memory is not aligned for cells.
    pub fn run_in_bytes(&self, from: &[u8], to: &mut [u8]) -> usize {
        // SAFETY: any bytes are a cell.
        let (([], from, _), ([], to, _)) = (unsafe { (from.align_to(), to.align_to_mut()) }) else {
            panic!("memory is not aligned")
        };
        self.run(from, to) * size_of::<u32>()
    }
}
