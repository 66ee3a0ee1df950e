//! The functions of `bench/peers/loops/kernels.c`.

use std::ffi::c_long;

// SAFETY: these functions are defined with these parameters in the C file.
unsafe extern "C" {
    /// Adds the result of `steps` dependent steps to byte `number` of `results`.
    pub fn loop_work(results: *mut u8, number: u64, steps: u64);

    /// One step of heat diffusion for a row, whose cells have neighbours on all sides.
    pub fn heat_row(above: *const f64, row: *const f64, below: *const f64, to: *mut f64, columns: c_long);

    /// One step of the game of life for a block, whose cells have neighbours on all sides; `columns` is a multiple of 16.
    pub fn life_block(from: *const u8, to: *mut u8, stride: c_long, rows: c_long, columns: c_long);
}
