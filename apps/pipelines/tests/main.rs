//! The programs beside plain ones: a module each.

mod cachegrind;
mod des;
mod dnn;
mod lz77;
mod support;
mod synthetic;
