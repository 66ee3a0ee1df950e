//! Programs that the types forbid: the compiler must refuse each file of `compile_fail/` with the error beside it.
//!
//! After a change of the compiler's wording, run `TRYBUILD=overwrite cargo test -p thalweg-compile-fail` and
//! review the diff.

#[test]
fn these_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
