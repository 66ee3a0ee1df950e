//! Values and their arithmetic. The interpreter and native code must agree with it bit for bit.
//!
//! **Integers** have 32 bits and wrap; `/` and `%` truncate toward zero. Division by zero is a fault;
//! `-2147483648 / -1` wraps to `-2147483648`, with remainder 0. Shifts use the low five bits of their second
//! operand.
//!
//! **Floats** are IEEE binary32; each operation rounds separately, without contraction or reordering.
//! Functions are those of [`Builtin`](crate::hir::Builtin), see [`builtin`](Value::builtin).
//!
//! **Complex numbers** are two floats. Products and quotients use the textbook formulas in the order written
//! at [`binary`](Value::binary).
//!
//! **Conversions** are at [`convert`](Value::convert), printed text at [`to_text`](Value::to_text).

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
    /// A `bit` or a `boolean`.
    Bool(bool),
    /// An `int`.
    Int(i32),
    /// A `float`.
    Float(f32),
    /// A `complex`: real and imaginary part.
    Complex(f32, f32),
    /// A `float2`, `float3` or `float4`; unused components are 0.
    Vector([f32; 4]),
    /// A string.
    String(Arc<str>),
    /// The fields of a structure.
    Struct(Vec<Value>),
    /// The elements of an array.
    Array(Elements),
    /// A portal, by its number.
    Portal(u32),
}

/// A type with known array lengths: the layout of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// Any type without parts.
    Scalar(Type),
    /// A structure.
    Struct(StructId),
    /// An array: element shape and length.
    Array(Arc<Shape>, usize),
}
