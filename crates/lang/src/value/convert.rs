//! Promotions and casts.

use super::Value;
use crate::eval::Fault;
use crate::hir::Type;

impl Value {
    /// Converts a value to another type. Both types are needed: bits and booleans have the same representation and
    /// print differently.
    ///
    /// - To `bit` and `boolean`: whether it is not 0. (Programs store masked values in bits. A value such as -1,
    ///   from a sign bit that was masked and shifted down, becomes 1.)
    /// - To `int`: a bit is 0 or 1; a float is truncated, saturates at the range of `int`, and NaN becomes 0; a
    ///   complex number converts its real part.
    /// - To `float`: an integer is rounded to the nearest float, ties to even; a complex number yields its real
    ///   part.
    /// - To `complex`: with 0 as the imaginary part.
    /// - To a vector: a number fills every component; a vector is cut or padded with 0.
    /// - To a string: [`to_text`](Value::to_text).
    /// - To its own type: unchanged.
    ///
    /// # Errors
    /// There is no such conversion.
    #[inline]
    pub fn convert(self, from: &Type, to: &Type) -> Result<Value, Fault> {
        match (self, to) {
            (Value::Int(x), Type::Float) => Ok(Value::Float(x as f32)),
            (Value::Float(x), Type::Int) => Ok(Value::Int(x as i32)),
            (Value::Bool(x), Type::Int) => Ok(Value::Int(x.into())),
            (value, to) => value.convert_seldom(from, to),
        }
    }

    fn convert_seldom(self, from: &Type, to: &Type) -> Result<Value, Fault> {
        Ok(match (self, to) {
            (Value::String(text), Type::String) => Value::String(text),
            (value, Type::String) => Value::String(value.to_text(from).into()),
            (value, Type::Bit | Type::Boolean) if value.real().is_some() => Value::Bool(value.is_not_zero()),
            (value @ Value::Int(_), Type::Int) => value,
            (value @ Value::Complex(..), Type::Complex) => value,
            (Value::Vector(parts), Type::Vector(count)) => Value::Vector(parts).trimmed(*count),
            (value @ Value::Struct(_), Type::Struct(_)) => value,
            (value @ Value::Array(_), Type::Array(_)) => value,
            (value @ Value::Portal(_), Type::Portal(_)) => value,
            (value, to) => match (value.real(), to) {
                (Some(x), Type::Int) => Value::Int(x as i32),
                (Some(x), Type::Float) => Value::Float(x),
                (Some(x), Type::Complex) => Value::Complex(x, 0.0),
                (Some(x), Type::Vector(count)) => Value::Vector([x; 4]).trimmed(*count),
                _ => return Err(Fault(format!("{} cannot be converted to type {to:?}", value.kind()))),
            },
        })
    }

    /// A number as a float; the real part of a complex one.
    fn real(&self) -> Option<f32> {
        match self {
            Value::Bool(x) => Some(f32::from(u8::from(*x))),
            Value::Int(x) => Some(*x as f32),
            Value::Float(x) | Value::Complex(x, _) => Some(*x),
            _ => None,
        }
    }

    fn is_not_zero(&self) -> bool {
        match self {
            Value::Bool(x) => *x,
            Value::Int(x) => *x != 0,
            Value::Float(x) => *x != 0.0,
            Value::Complex(re, im) => *re != 0.0 || *im != 0.0,
            _ => false,
        }
    }
}
