//! What the types forbid: each file of `compile_fail/` must be refused, with the error beside it.
//!
//! After a change of the compiler's wording: `TRYBUILD=overwrite cargo test -p thalweg --test
//! compile_fail`, and read what has changed.

#[test]
fn these_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
