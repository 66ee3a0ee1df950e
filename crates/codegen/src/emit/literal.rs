//! C literals of long tables.
//!
//! GCC 12 takes 3.6 s for an initialiser list of a million floats, and 0.2 s for their bytes as a string. It
//! then does not know the values, but it would not fold loads from a long table anyway.

use super::terms::{cell_type, scalar};
use crate::ir::{Cell, Scalar};
use std::fmt::Write;

/// The number of values from which on a table is long.
const LONG: usize = 1 << 13;

/// Bytes in a line.
const LINE: usize = 32;

/// A constant table for lookups.
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

/// A constant array as an initialiser list.
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

/// A constant with the initial value of some memory; returns its length in bytes.
pub(super) fn beginning(text: &mut String, name: &str, values: &[Scalar], cell: Cell) -> usize {
    if values.len() > LONG {
        bytes(text, "", name, values, cell);
    } else {
        let words: Vec<String> = values.iter().map(|value| in_memory(*value, cell)).collect();
        let _ = writeln!(text, "static const {} {name}[] = {{{}}};", cell_type(cell), words.join(", "));
    }
    values.len() * cell.bytes()
}

fn bytes(text: &mut String, indent: &str, name: &str, values: &[Scalar], cell: Cell) {
    let _ = write!(text, "{indent}static const char {name}[] __attribute__((aligned(64))) = {{");
    let one = cell.bytes();
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

/// The bits of a scalar.
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
