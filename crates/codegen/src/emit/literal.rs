//! Long lists of numbers.
//!
//! GCC 12 takes 3.6 s for a list of a million floats, and 0.2 s for their bytes as a string. It does not know the
//! numbers then; of long lists it would not look one up anyway.

use super::expr::{cell_bytes, cell_type, scalar};
use crate::ir::{Cell, Scalar};
use std::fmt::Write;

/// Numbers from which on a list is long.
const LONG: usize = 1 << 13;

/// Bytes in a line.
const LINE: usize = 32;

/// A constant array of this name, for code that looks numbers up in it.
pub(super) fn table(text: &mut String, name: &str, values: &[Scalar], cell: Cell) {
    let ty = cell_type(cell);
    if values.len() > LONG {
        bytes(text, "    ", &format!("{name}_bytes"), values, cell);
        let _ = writeln!(text, "    const {ty} *const {name} = (const {ty} *){name}_bytes;");
        return;
    }
    let words: Vec<String> = values.iter().map(|value| in_memory(*value, cell)).collect();
    list(text, ty, name, &words);
}

/// A constant array as a list.
pub(super) fn list(text: &mut String, ty: &str, name: &str, words: &[String]) {
    let length = words.len().max(1);
    let _ = write!(text, "    static const {ty} {name}[{length}] __attribute__((aligned(64))) = {{");
    for (at, word) in words.iter().enumerate() {
        text.push_str(if at % 8 == 0 { "\n        " } else { " " });
        text.push_str(word);
        text.push(',');
    }
    text.push_str(if words.is_empty() { "0};\n" } else { "\n    };\n" });
}

/// What some memory begins with: a constant of this name; how many bytes of it there are.
pub(super) fn beginning(text: &mut String, name: &str, values: &[Scalar], cell: Cell) -> usize {
    if values.len() > LONG {
        bytes(text, "", name, values, cell);
    } else {
        let words: Vec<String> = values.iter().map(|value| in_memory(*value, cell)).collect();
        let _ = writeln!(text, "static const {} {name}[] = {{{}}};", cell_type(cell), words.join(", "));
    }
    values.len() * cell_bytes(cell)
}

fn bytes(text: &mut String, indent: &str, name: &str, values: &[Scalar], cell: Cell) {
    let _ = write!(text, "{indent}static const char {name}[] __attribute__((aligned(64))) = {{");
    let one = cell_bytes(cell);
    for (at, value) in values.iter().enumerate() {
        if (at * one).is_multiple_of(LINE) {
            let _ = write!(text, "{}\n{indent}    \"", if at > 0 { "\"" } else { "" });
        }
        let bits = number(*value);
        let (narrow, wide) = ([bits as u8], bits.to_ne_bytes());
        for byte in if one == 1 { &narrow[..] } else { &wide } {
            let _ = write!(text, "\\{byte:03o}");
        }
    }
    let _ = writeln!(text, "\"\n{indent}}};");
}

/// The bits of a number.
fn number(value: Scalar) -> u32 {
    match value {
        Scalar::Bool(truth) => truth.into(),
        Scalar::Int(x) => x as u32,
        Scalar::Float(x) => x.to_bits(),
    }
}

fn in_memory(value: Scalar, cell: Cell) -> String {
    match (cell, value) {
        (Cell::Mixed, Scalar::Float(x)) => scalar(Scalar::Int(x.to_bits() as i32)),
        _ => scalar(value),
    }
}
