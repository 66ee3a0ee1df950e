//! Random programs: native code does what the interpreter does, bit for bit.
//!
//! `THALWEG_CASES` sets the number of cases and `THALWEG_SEED` the first one. `THALWEG_TRACE=1` prints each
//! seed before its case, for cases that crash.

#[path = "../common/mod.rs"]
mod common;

mod case;
mod cases;
mod files;
mod found;

use cases::for_each;
use common::has_compiler;
use thalweg_lang_testgen::Options;

/// What native code supports.
fn options() -> Options {
    Options { dynamic: false, kernels: true, ..Options::default() }
}

#[test]
fn native_code_does_what_the_interpreter_does() {
    if has_compiler("native_code_does_what_the_interpreter_does") {
        for_each(80, &options());
    }
}

#[test]
fn it_fails_like_the_interpreter() {
    if has_compiler("it_fails_like_the_interpreter") {
        for_each(10, &Options { fault: true, ..options() });
    }
}

#[test]
fn dynamic_rates_are_refused_or_done() {
    if has_compiler("dynamic_rates_are_refused_or_done") {
        for_each(40, &Options { dynamic: true, ..options() });
    }
}
