//! Shapes of values, and the zero value of each shape.

use super::{Elements, Shape, Value};
use crate::hir::{Struct, StructId, Type};
use std::fmt;
use std::sync::Arc;

impl Shape {
    /// The shape of `void`.
    pub const VOID: Shape = Shape::Scalar(Type::Void);

    /// Whether this is `void`.
    pub fn is_void(&self) -> bool {
        *self == Shape::VOID
    }

    /// An array of `length` elements.
    pub fn array(element: Shape, length: usize) -> Shape {
        Shape::Array(Arc::new(element), length)
    }

    /// The shape of a type without arrays in it.
    pub fn of(ty: &Type) -> Shape {
        match ty {
            Type::Struct(id) => Shape::Struct(*id),
            other => Shape::Scalar(other.clone()),
        }
    }

    /// The number of scalars in a value of this shape, or `None` above `most`; `structs` has the fields of each
    /// structure. Each structure and each empty array counts as one more, because it takes memory too. The time is
    /// proportional to the result.
    pub fn cells(&self, structs: &[Vec<Shape>], most: u64) -> Option<u64> {
        let cells = match self {
            Shape::Scalar(_) | Shape::Array(_, 0) => 1,
            Shape::Array(element, length) => {
                let most = most / *length as u64;
                element.cells(structs, most)?.checked_mul(*length as u64)?
            }
            Shape::Struct(id) => {
                let fields = structs.get(id.0 as usize).map_or(&[][..], Vec::as_slice);
                let mut sum = 1;
                for field in fields {
                    sum += field.cells(structs, most.checked_sub(sum)?)?;
                }
                sum
            }
        };
        (cells <= most).then_some(cells)
    }
}

impl Shape {
    /// The bytes of an item in a queue of native code: 4 for each number, and 1 for each bit or boolean.
    pub fn item_bytes(&self, structs: &[Vec<Shape>]) -> u64 {
        match self {
            Shape::Scalar(Type::Void) => 0,
            Shape::Scalar(Type::Bit | Type::Boolean) => 1,
            Shape::Scalar(Type::Complex) => 8,
            Shape::Scalar(Type::Vector(numbers)) => 4 * u64::from(*numbers),
            Shape::Scalar(_) => 4,
            Shape::Array(element, length) => element.item_bytes(structs).saturating_mul(*length as u64),
            Shape::Struct(id) => {
                let fields = structs.get(id.0 as usize).map_or(&[][..], Vec::as_slice);
                fields.iter().map(|field| field.item_bytes(structs)).fold(0, u64::saturating_add)
            }
        }
    }

    /// The number of 4-byte words that a value of this shape takes in memory, or `None` above `most`. Unboxed
    /// elements of arrays are contiguous; everything else is a separate [`Value`]. The time is proportional to the
    /// result.
    pub fn words(&self, structs: &[Vec<Shape>], most: u64) -> Option<u64> {
        let words = match self {
            Shape::Scalar(_) | Shape::Array(_, 0) => VALUE,
            Shape::Array(element, length) => {
                let length = *length as u64;
                BLOCK
                    + match &**element {
                        Shape::Scalar(Type::Int | Type::Float) => length,
                        Shape::Scalar(Type::Bit | Type::Boolean) => length.div_ceil(WORD),
                        element => element.words(structs, most / length)?.checked_mul(length)?,
                    }
            }
            Shape::Struct(id) => {
                let fields = structs.get(id.0 as usize).map_or(&[][..], Vec::as_slice);
                let mut sum = BLOCK;
                for field in fields {
                    sum += field.words(structs, most.checked_sub(sum)?)?;
                }
                sum
            }
        };
        (words <= most).then_some(words)
    }
}

/// Prints as StreamIt syntax; a structure prints as its number, because only the program knows its name
/// ([`Shape::named`]).
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(|id| format!("struct#{}", id.0)))
    }
}

impl Shape {
    /// This shape in StreamIt syntax, with names of structures.
    pub fn named(&self, structs: &[Struct]) -> String {
        self.written(|id| structs.get(id.0 as usize).map_or("struct", |known| &known.name).to_owned())
    }

    fn written(&self, name: impl Fn(StructId) -> String) -> String {
        let (mut lengths, mut innermost) = (String::new(), self);
        while let Shape::Array(element, length) = innermost {
            lengths.push_str(&format!("[{length}]"));
            innermost = element;
        }
        match innermost {
            Shape::Struct(id) => name(*id) + &lengths,
            Shape::Scalar(ty) => scalar_name(ty).to_owned() + &lengths,
            Shape::Array(..) => lengths,
        }
    }
}

fn scalar_name(ty: &Type) -> &'static str {
    match ty {
        Type::Void => "void",
        Type::Bit => "bit",
        Type::Boolean => "boolean",
        Type::Int => "int",
        Type::Float => "float",
        Type::Complex => "complex",
        Type::Vector(2) => "float2",
        Type::Vector(3) => "float3",
        Type::Vector(_) => "float4",
        Type::String => "string",
        Type::Portal(_) => "portal",
        Type::Struct(_) => "struct",
        Type::Array(_) => "array",
    }
}

impl Value {
    /// The initial value of a shape: 0, `false` or empty in every scalar.
    pub fn zero(shape: &Shape, structs: &[Vec<Shape>]) -> Value {
        match shape {
            Shape::Scalar(ty) => Value::zero_scalar(ty),
            // An empty array must not build its element, which may be huge.
            Shape::Array(_, 0) => Value::Array(Elements::from(Vec::new())),
            Shape::Array(element, length) => {
                Value::Array(Elements::filled(Value::zero(element, structs), *length))
            }
            Shape::Struct(id) => {
                let fields = structs.get(id.0 as usize).map_or(&[][..], Vec::as_slice);
                Value::Struct(fields.iter().map(|field| Value::zero(field, structs)).collect())
            }
        }
    }

    /// The initial value of a type without parts. `void` is the integer 0; the initial portal has no receivers.
    pub fn zero_scalar(ty: &Type) -> Value {
        match ty {
            Type::Bit | Type::Boolean => Value::Bool(false),
            Type::Float => Value::Float(0.0),
            Type::Complex => Value::Complex(0.0, 0.0),
            Type::Vector(_) => Value::Vector([0.0; 4]),
            Type::String => Value::String(Arc::from("")),
            Type::Portal(_) => Value::Portal(u32::MAX),
            Type::Int | Type::Void => Value::Int(0),
            Type::Struct(_) => Value::Struct(Vec::new()),
            Type::Array(_) => Value::Array(Elements::from(Vec::new())),
        }
    }

    /// Whether this value has this shape, including the lengths of nested arrays.
    pub fn fits(&self, shape: &Shape, structs: &[Vec<Shape>]) -> bool {
        match (self, shape) {
            (Value::Array(elements), Shape::Array(element, length)) => {
                let rest_is_equal = matches!(**element, Shape::Scalar(_));
                let looked_at = if rest_is_equal { 1 } else { elements.len() };
                elements.len() == *length
                    && elements.iter().take(looked_at).all(|value| value.fits(element, structs))
            }
            (Value::Struct(values), Shape::Struct(id)) => structs.get(id.0 as usize).is_some_and(|fields| {
                fields.len() == values.len()
                    && values.iter().zip(fields).all(|(value, field)| value.fits(field, structs))
            }),
            (value, Shape::Scalar(ty)) => value.is_of(ty),
            _ => false,
        }
    }

    fn is_of(&self, ty: &Type) -> bool {
        match ty {
            Type::Bit | Type::Boolean => matches!(self, Value::Bool(_)),
            Type::Int => matches!(self, Value::Int(_)),
            Type::Float => matches!(self, Value::Float(_)),
            Type::Complex => matches!(self, Value::Complex(..)),
            Type::Vector(_) => matches!(self, Value::Vector(_)),
            Type::String => matches!(self, Value::String(_)),
            Type::Portal(_) => matches!(self, Value::Portal(_)),
            Type::Void | Type::Struct(_) | Type::Array(_) => false,
        }
    }

    /// The lengths of an array, as in `[2][3]`; empty for other values.
    pub fn lengths(&self) -> String {
        let (mut text, mut rest) = (String::new(), Some(self));
        while let Some(Value::Array(elements)) = rest {
            text.push_str(&format!("[{}]", elements.len()));
            rest = elements.values().first();
        }
        text
    }

    /// The number of scalars: the cost of a copy.
    pub fn cells(&self) -> u64 {
        match self {
            Value::Array(elements) => match elements.values() {
                values @ [Value::Array(_) | Value::Struct(_), ..] => values.iter().map(Value::cells).sum(),
                _ => elements.len() as u64,
            },
            Value::Struct(fields) => fields.iter().map(Value::cells).sum::<u64>() + 1,
            Value::String(text) => text.len() as u64 / 16 + 1,
            _ => 1,
        }
    }

    /// The number of words in memory, by the rules of [`Shape::words`]; a string counts its bytes.
    pub fn words(&self) -> u64 {
        match self {
            Value::Array(elements) if elements.is_empty() => VALUE,
            Value::Array(elements) => match elements.values() {
                [] => BLOCK + (elements.bytes() as u64).div_ceil(WORD),
                values => BLOCK + values.iter().map(Value::words).sum::<u64>(),
            },
            Value::Struct(fields) => BLOCK + fields.iter().map(Value::words).sum::<u64>(),
            Value::String(text) => BLOCK + (text.len() as u64).div_ceil(WORD),
            _ => VALUE,
        }
    }
}

/// Bytes in a word.
pub const WORD: u64 = 4;

/// Words of a value, and of a value with its own heap block.
const VALUE: u64 = size_of::<Value>() as u64 / WORD;
const BLOCK: u64 = VALUE + 4;

/// The message for a list of values of the wrong length.
pub(crate) fn wrong_length(given: usize, length: usize) -> String {
    let values = if given == 1 { "value" } else { "values" };
    format!("this array has length {length}, but the list has {given} {values}")
}
