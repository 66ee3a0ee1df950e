//! Functions of complex numbers: native code has the interpreter's bits for all operands.

use crate::common::{Memory, agree, has_compiler};
use thalweg_lang::value::Value;

/// Numbers around all points where one of the functions changes its branch, and of all magnitudes.
fn numbers() -> Memory {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.0,
        1e-30,
        -1e-42,
        88.0,
        -104.0,
        1e20,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    let mut items = Vec::new();
    for re in special {
        items.extend(special.map(|im| Value::Complex(re, im)));
    }
    let mut bits = 1u32;
    let mut next = || {
        bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from_bits((bits >> 2) ^ bits << 31) * if bits & 64 == 0 { 1.0 } else { 1e20 }
    };
    items.extend((0..4000).map(|_| Value::Complex(next(), next())));
    items.extend((0..4000).map(|_| Value::Complex(next() % 8.0, next() % 8.0)));
    Memory { given: [("in".to_owned(), items)].into(), ..Memory::default() }
}

#[test]
fn all_functions_of_all_numbers() {
    if !has_compiler("all_functions_of_all_numbers") {
        return;
    }
    let text = "void->void pipeline Main { add FileReader<complex>(\"in\"); add All(); add FileWriter<complex>(\"out\"); }
        complex->complex filter All { work pop 1 push 6 { complex z = pop(); push(sqrt(z)); push(exp(z)); push(log(z));
            push(sin(z)); push(cos(z)); z = sqrt(z * z); push(abs(z) + z); } }";
    let seen = agree(text, &numbers(), None);
    assert_eq!(seen.written["out"].len(), 6 * 8196);
}

#[test]
fn constants_are_folded() {
    if !has_compiler("constants_are_folded") {
        return;
    }
    let text = "void->void filter Main { work { complex z = -4.0; z = sqrt(z) + exp(2i) - log(z) * cos(1 + 1i); println(z); println(sin(z)); } }";
    agree(text, &Memory::default(), Some(1));
}
