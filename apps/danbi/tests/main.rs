//! Every program against a sequential one and against its definition.

mod fft2;
mod filter_bank;
mod fm_radio;
mod merge_sort;
mod programs;
mod rg;
mod signals;
mod srad;
mod support;
mod tde;
