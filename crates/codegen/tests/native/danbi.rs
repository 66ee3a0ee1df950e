//! The StreamIt forms of DANBI's programs compute the same bits as the programs that the engine's builder makes.

use crate::common::{Memory, agree_at, bits, has_compiler};
use std::sync::Arc;
use thalweg_codegen::Level;
use thalweg_danbi::{Complex, fft2, filter_bank, fm_radio, tde};
use thalweg_lang::value::Value;
use thalweg_str::Program;

/// Asserts that a program makes this output of this input, and after it at most what `rest` says: blocks that the builder's
/// program leaves out.
fn assert_bits(name: &str, input: Vec<Value>, expected: &[Value], rest: usize) {
    if !has_compiler(name) {
        return;
    }
    let compiled = thalweg_lang::compile(&Program::named(name).unwrap().sources(&[]).unwrap()).unwrap();
    let given = [(format!("{name}.in"), input)].into();
    let files = Memory { given, ..Memory::default() };
    let seen = agree_at(&[Level::Vectors], &Arc::new(compiled), name, &[(files, None)]).remove(0);
    let written = &seen.written[&format!("{name}.out")];
    let expected: Vec<String> = expected.iter().map(bits).collect();
    assert!(!expected.is_empty() && (expected.len()..=expected.len() + rest).contains(&written.len()));
    for (at, expected) in expected.iter().enumerate() {
        assert_eq!(written[at], *expected, "item {at} of {name}");
    }
}

fn floats(numbers: &[f32]) -> Vec<Value> {
    numbers.iter().map(|number| Value::Float(*number)).collect()
}

fn complexes(numbers: &[Complex]) -> Vec<Value> {
    numbers.iter().map(|number| Value::Complex(number.re, number.im)).collect()
}

#[test]
fn filter_bank_has_the_bits_of_the_graph() {
    let signal = filter_bank::input(0.0, 1);
    let expected = filter_bank::sequential(&signal, &filter_bank::Parameters::default());
    assert_bits("danbi_filter_bank", floats(&signal), &floats(&expected), 2 * 64);
}

#[test]
fn fm_radio_has_the_bits_of_the_graph() {
    let signal = fm_radio::input(0.0, 2);
    let expected = fm_radio::sequential(&signal, &fm_radio::Parameters::default());
    assert_bits("danbi_fm_radio", complexes(&signal), &floats(&expected), 3 * 64);
}

#[test]
fn fft2_has_the_bits_of_the_graph() {
    let numbers = fft2::input(2e-7, 3);
    let expected = fft2::sequential(&numbers, &fft2::Parameters::default());
    assert_bits("danbi_fft2", complexes(&numbers), &complexes(&expected), 0);
}

#[test]
fn tde_has_the_bits_of_the_graph() {
    let snapshots = tde::input(2e-7, 4);
    let expected = tde::sequential(&snapshots, &tde::Parameters::default());
    let (input, expected) = (complexes(snapshots.as_flattened()), complexes(expected.as_flattened()));
    assert_bits("danbi_tde", input, &expected, 0);
}
