//! What a program prints.

use super::{Interrupted, code};
use crate::ir::Piece;
use crate::lower::NodeCode;
use std::io::Write;
use thalweg_lang::hir::Type;
use thalweg_lang::value::Value;

/// The text that a node prints by a format.
pub(super) fn print(
    codes: &[Option<NodeCode>],
    node: u32,
    which: u32,
    format: u32,
    args: &dyn Fn(usize) -> Vec<i32>,
) -> Option<String> {
    let pieces = code(codes, node, which)?.formats.get(format as usize)?;
    let count = pieces.iter().map(|piece| if let Piece::Value(ty) = piece { scalars(ty) } else { 0 }).sum();
    Some(text(pieces, &args(count)))
}

/// Prints for the program. After an interrupt it begins to write nothing more.
pub(super) struct Printer<'a> {
    pub(super) codes: &'a [Option<NodeCode>],
    pub(super) out: Box<dyn Write + Send>,
    pub(super) error: Option<String>,
    pub(super) interrupted: Interrupted,
}

impl Printer<'_> {
    pub(super) fn write(&mut self, text: &str) -> Result<(), String> {
        self.write_bytes(text.as_bytes())
    }

    pub(super) fn write_bytes(&mut self, text: &[u8]) -> Result<(), String> {
        if (self.interrupted)() { Ok(()) } else { self.out.write_all(text).map_err(unwritten) }
    }

    pub(super) fn flush(&mut self) -> Result<(), String> {
        self.out.flush().map_err(unwritten)
    }
}

#[expect(clippy::needless_pass_by_value)]
fn unwritten(error: std::io::Error) -> String {
    format!("the output cannot be written: {error}")
}

impl Printer<'_> {
    pub(super) fn print(
        &mut self,
        node: u32,
        which: u32,
        format: u32,
        args: &dyn Fn(usize) -> Vec<i32>,
    ) -> bool {
        let Some(text) = print(self.codes, node, which, format, args) else { return false };
        match self.write(&text) {
            Ok(()) => true,
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }
}

fn scalars(ty: &Type) -> usize {
    match ty {
        Type::Complex => 2,
        Type::Vector(count) => usize::from(*count),
        _ => 1,
    }
}

fn text(pieces: &[Piece], mut args: &[i32]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Value(ty) => {
                let (own, rest) = args.split_at(scalars(ty));
                args = rest;
                text.push_str(&value(ty, own).to_text(ty));
            }
        }
    }
    text
}

fn value(ty: &Type, own: &[i32]) -> Value {
    let float = |at: usize| f32::from_bits(own[at] as u32);
    match ty {
        Type::Bit | Type::Boolean => Value::Bool(own[0] != 0),
        Type::Float => Value::Float(float(0)),
        Type::Complex => Value::Complex(float(0), float(1)),
        Type::Vector(count) => {
            let mut parts = [0.0; 4];
            (0..usize::from(*count)).for_each(|at| parts[at] = float(at));
            Value::Vector(parts)
        }
        _ => Value::Int(own[0]),
    }
}
