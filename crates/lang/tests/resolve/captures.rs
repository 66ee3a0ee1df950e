//! Variables of enclosing code that anonymous streams capture.

use crate::common::{accepted, refused};
use thalweg_lang::hir::{Program, Stream};

fn anonymous<'p>(program: &'p Program, kind: &str) -> &'p Stream {
    program.streams.iter().find(|stream| stream.name == kind).expect("the stream exists")
}

fn params(stream: &Stream) -> Vec<&str> {
    stream.params.iter().map(|(name, _)| name.as_str()).collect()
}

fn program(make: &str) -> Program {
    accepted(&format!(
        "static {{ int SIZE = 4; }}
         void->void pipeline Main {{ add Outer(3); add FileWriter<float>(\"out\"); }}
         void->float pipeline Outer(int n) {{ {make} }}"
    ))
}

#[test]
fn variables_around_become_parameters() {
    let program = program(
        "float[2] h; for (int i = 0; i < n; i++) add void->float filter { work push SIZE { push(h[i % 2] + n); } };",
    );
    let filter = anonymous(&program, "filter");
    assert_eq!((params(filter), filter.captures), (vec!["h", "i", "n"], 3));
}

#[test]
fn captures_pass_through_enclosing_streams() {
    let program = program(
        "int k = 1; add pipeline { int m = k; add void->float filter { work push 1 { push(k + m + n); } }; };",
    );
    assert_eq!(params(anonymous(&program, "pipeline")), ["k", "n"]);
    assert_eq!(params(anonymous(&program, "filter")), ["k", "m", "n"]);
}

#[test]
fn lengths_come_with_arrays_and_before_them() {
    let program =
        program("int k = 1; float[k + n] h; k = 7; add void->float filter { work push 1 { push(h[0]); } };");
    let filter = anonymous(&program, "filter");
    assert_eq!(params(filter), ["h.length", "h"]);
}

#[test]
fn inner_variables_shadow_enclosing_ones() {
    let program =
        program("int k = 1; add void->float filter { float k; work push 1 { int n = 2; push(k + n); } };");
    assert_eq!(anonymous(&program, "filter").captures, 0);
}

#[test]
fn types_and_rates_capture_too() {
    let program = program("int k = 2; add void->float filter { float[k] h; work push n { push(h[0]); } };");
    assert_eq!(params(anonymous(&program, "filter")), ["k", "n"]);
}

#[test]
fn captured_variables_cannot_be_changed() {
    refused(
        "void->void pipeline Main { int n; add void->int filter { work push 1 { n = 2; push(n); } }; }",
        &["cannot assign to `n`: it is a variable of the enclosing code"],
    );
}
