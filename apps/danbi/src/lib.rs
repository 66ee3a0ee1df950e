//! The seven programs of *DANBI: Dynamic Scheduling of Irregular Stream Programs for Many-Core Systems* (C. Min and Y. I. Eom,
//! 2013, Table II) as graphs, with their inputs and with sequential programs of the same result.
//!
//! | program | kernels | queues | form |
//! |---|---|---|---|
//! | [`filter_bank`] | 44 | 58 | 8 bands side by side |
//! | [`fm_radio`] | 17 | 27 | a chain, then 6 bands side by side |
//! | [`fft2`] | 4 | 3 | a chain |
//! | [`tde`] | 29 | 28 | a chain |
//! | [`merge_sort`] | 5 | 9 | a loop, with rates that depend on the data |
//! | [`rg`] | 6 | 5 | a chain of rows, columns and images |
//! | [`srad`] | 6 | 6 | a chain, with a queue past a kernel |
//!
//! [`Program`] has them by name. Each module has `Parameters`, `input`, which makes an input of a share of the paper's size, `graph` and `sequential`.

mod block;
mod complex;
pub mod fft2;
mod filter;
pub mod filter_bank;
pub mod fm_radio;
mod fourier;
mod image;
mod inputs;
pub mod merge_sort;
mod program;
pub mod rg;
mod single;
pub mod srad;
pub mod tde;

pub use block::BLOCK;
pub use complex::Complex;
pub use image::{Colour, Image, Pixel};
pub use program::{Problem, Program};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
