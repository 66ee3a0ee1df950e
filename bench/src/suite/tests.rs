//! The hand-written C computes the same bits as the interpreter.

use super::input;
use crate::peers::written::{ALL, Written};
use std::sync::Arc;
use thalweg_lang::interpret::{Options, Surroundings, interpret};
use thalweg_lang::value::Value;
use thalweg_lang::{Diagnostic, compile};
use thalweg_str::{Complex, Item, Memory, Program};

/// Cells of input: several blocks of each program and a partial one.
fn sizes(program: &str) -> [usize; 3] {
    match program {
        // The first result needs 1580 pairs. The last size makes a round of 128 results and a partial one.
        "fm_radio" => [2 * 1660, 2 * 1700, 2 * 5001],
        // The filters need 512 samples before the first beam.
        "beamformer" => [24 * 314, 24 * 320, 24 * 700],
        "channel_vocoder" => [300, 690, 1000],
        "filter_bank" => [120, 403, 1000],
        "time_delay_equaliser" => [8 * 64, 8 * 250, 8 * 64 * 9],
        "fft" => [2 * 64, 2 * 64 * 4, 2 * 64 * 7 + 30],
        "bitonic_sort" => [32, 512, 32 * 37 + 5],
        "des" => [2, 64, 333],
        "dct" => [64, 200, 64 * 9],
        "matrix_multiply" => [512, 1500, 512 * 5],
        _ => panic!("{program}: no sizes"),
    }
}

/// Input with special values: zeros of both signs, and infinities.
fn special(cells: usize) -> Vec<u32> {
    let items = [0.0, -0.0, 1.0, -1.0, 1e-40, 3e38, -0.0, f32::INFINITY].map(f32::to_bits);
    // Infinities come late, so that the first results are finite.
    (0..cells).map(|i| items[(i * i / 7 + i / 3) % if i < cells * 3 / 4 { 7 } else { 8 }]).collect()
}

#[test]
fn results_equal_the_interpreters() {
    for written in ALL {
        for cells in sizes(written.program) {
            let count = compare(written, &input(written.program, cells));
            assert!(count > 0, "{} of {cells} cells has no result", written.program);
        }
    }
}

#[test]
fn zeros_and_infinities_are_handled_alike() {
    for written in ALL {
        let [_, _, cells] = sizes(written.program);
        compare(written, &special(cells));
    }
}

#[test]
fn too_short_input_has_no_result() {
    for written in ALL {
        for cells in [0, written.cells_in] {
            assert_eq!(compare(written, &input(written.program, 2048)[..cells]), 0);
        }
    }
}

/// Asserts that both compute the same, and returns the number of cells.
fn compare(written: &Written, input: &[u32]) -> usize {
    let expected = interpreted(written, input);
    let mut output = vec![0xDEAD_BEEF; input.len() + 64];
    let count = written.run(input, &mut output);
    let name = written.program;
    assert_eq!(count, expected.len(), "{name} of {} cells", input.len());
    // A program writes one NaN; the C code writes any.
    let written = |x: u32| if is_float(name) && f32::from_bits(x).is_nan() { f32::NAN.to_bits() } else { x };
    let wrong = (0..count).find(|&i| written(output[i]) != expected[i]);
    if let Some(i) = wrong {
        let [found, wanted] = [output[i], expected[i]].map(f32::from_bits);
        panic!("{name} of {} cells: cell {i} of {count} is {found:e}, expected {wanted:e}", input.len());
    }
    assert!(output[count..].iter().all(|cell| *cell == 0xDEAD_BEEF), "{name} writes beyond its results");
    count
}

fn is_float(program: &str) -> bool {
    !["des", "bitonic_sort"].contains(&program)
}

fn interpreted(written: &Written, input: &[u32]) -> Vec<u32> {
    let name = written.program;
    let sources = Program::named(name).expect("a program").sources(&[]).expect("no constants");
    let compiled = compile(&sources).unwrap_or_else(|errors: Vec<Diagnostic>| panic!("{errors:?}"));
    let memory = if written.cells_in == 2 {
        let pair = |x: &[u32]| (f32::from_bits(x[0]), f32::from_bits(x[1]));
        Memory::new().with(format!("{name}.in"), &input.chunks_exact(2).map(pair).collect::<Vec<Complex>>())
    } else if is_float(name) {
        Memory::new()
            .with(format!("{name}.in"), &input.iter().map(|x| f32::from_bits(*x)).collect::<Vec<f32>>())
    } else {
        Memory::new().with(format!("{name}.in"), &input.iter().map(|x| x.cast_signed()).collect::<Vec<i32>>())
    };
    let around = Surroundings {
        files: &mut memory.clone(),
        out: Box::new(std::io::sink()),
        interrupted: Box::new(|| false),
        progress: &mut |_| {},
    };
    interpret(&Arc::new(compiled), Options { iterations: None, repeat_input: false }, around)
        .expect("the program runs");
    let items: Vec<Cells> = memory.items(&format!("{name}.out")).expect("the program writes its output");
    items.into_iter().flat_map(|item| item.0).collect()
}

/// An item of any type as cells.
struct Cells(Vec<u32>);

impl Item for Cells {
    fn value(&self) -> Value {
        unreachable!("items are only read")
    }

    fn of(value: &Value) -> Option<Cells> {
        Some(Cells(match value {
            Value::Int(x) => vec![x.cast_unsigned()],
            Value::Float(x) => vec![x.to_bits()],
            Value::Complex(re, im) => vec![re.to_bits(), im.to_bits()],
            _ => return None,
        }))
    }
}
