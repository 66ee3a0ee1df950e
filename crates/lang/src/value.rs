//! Values, and what the language does with them: the arithmetic that everything else must agree with.
//!
//! **Integers** have 32 bits and wrap; `/` and `%` go toward zero. Division by zero is a fault;
//! `-2147483648 / -1` wraps to itself, and leaves 0. Shifts go by the low five bits of their second
//! operand.
//!
//! **Floats** are IEEE binary32, each operation rounded by itself: nothing is contracted or reordered.
//! Functions are those of [`Builtin`](crate::hir::Builtin), see [`builtin`](Value::builtin).
//!
//! **Complex numbers** are two floats. Products and quotients are the textbook's, in the order written
//! at [`binary`](Value::binary).
//!
//! **Conversions** are at [`convert`](Value::convert), the text that is printed at
//! [`to_text`](Value::to_text).

mod arithmetic;
mod builtin;
mod convert;
mod elements;
mod shape;
#[cfg(test)]
mod tests;
mod text;

pub use elements::{ElementMut, Elements};
pub use shape::WORD;
pub(crate) use shape::wrong_length;

use crate::hir::{StructId, Type};
use std::sync::Arc;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Of a `bit` or a `boolean`.
    Bool(bool),
    /// Of an `int`.
    Int(i32),
    /// Of a `float`.
    Float(f32),
    /// Of a `complex`: real and imaginary part.
    Complex(f32, f32),
    /// Of a `float2`, `float3` or `float4`; what there is not is 0.
    Vector([f32; 4]),
    /// Text.
    String(Arc<str>),
    /// The fields of a structure.
    Struct(Vec<Value>),
    /// The elements of an array.
    Array(Elements),
    /// A portal, by its number.
    Portal(u32),
}

/// A type with its lengths as numbers: what a value looks like.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// Any type but those that have parts.
    Scalar(Type),
    /// A structure.
    Struct(StructId),
    /// So many elements.
    Array(Arc<Shape>, usize),
}
