//! Operators.

use super::Value;
use crate::eval::Fault;
use crate::hir::{BinaryOp, UnaryOp};
use std::sync::Arc;

/// The length limit of strings that `+` makes.
const MAX_STRING: usize = 1 << 20;

impl Value {
    /// Applies a prefix operator. `-` wraps for integers and negates every part of a complex number or a vector.
    /// `~` of a bit is the other bit.
    ///
    /// # Errors
    /// The operator does not accept this value.
    pub fn unary(self, op: UnaryOp) -> Result<Value, Fault> {
        Ok(match (op, self) {
            (UnaryOp::Negate, Value::Int(x)) => Value::Int(x.wrapping_neg()),
            (UnaryOp::Negate, Value::Float(x)) => Value::Float(-x),
            (UnaryOp::Negate, Value::Complex(re, im)) => Value::Complex(-re, -im),
            (UnaryOp::Negate, Value::Vector(x)) => Value::Vector(x.map(|x| -x)),
            (UnaryOp::Not | UnaryOp::Complement, Value::Bool(x)) => Value::Bool(!x),
            (UnaryOp::Complement, Value::Int(x)) => Value::Int(!x),
            (op, value) => return Err(Fault(format!("{op:?} does not apply to {}", value.kind()))),
        })
    }

    /// Applies an operator to two values of one type.
    ///
    /// For complex numbers, each operation rounds to binary32:
    /// - `(a + bi) * (c + di)` is `(a*c - b*d)` and `(a*d + b*c)`;
    /// - `(a + bi) / (c + di)`, with `n = c*c + d*d`, is `(a*c + b*d) / n` and `(b*c - a*d) / n`.
    ///
    /// Vectors are processed by component; see [`trimmed`](Value::trimmed) for the components that a type does not
    /// have. Comparisons with NaN are false, except `!=`.
    ///
    /// # Errors
    /// Division of an integer by zero, or an operator that does not accept these values.
    #[inline]
    pub fn binary(op: BinaryOp, first: &Value, second: &Value) -> Result<Value, Fault> {
        match (first, second) {
            (Value::Int(a), Value::Int(b)) => integers(op, *a, *b),
            (Value::Float(a), Value::Float(b)) => checked(floats(op, *a, *b), op, first),
            (Value::Bool(a), Value::Bool(b)) => checked(bits(op, *a, *b), op, first),
            (Value::Complex(a, b), Value::Complex(c, d)) => {
                checked(complex(op, (*a, *b), (*c, *d)), op, first)
            }
            (Value::Vector(a), Value::Vector(b)) => checked(vectors(op, a, b), op, first),
            (Value::String(a), Value::String(b)) => strings(op, a, b, first),
            _ => Err(Fault(format!("{op:?} does not apply to {} and {}", first.kind(), second.kind()))),
        }
    }

    /// Sets the components that the vector type does not have to 0, for instance after a division of 0 by 0.
    pub fn trimmed(mut self, components: u8) -> Value {
        if let Value::Vector(parts) = &mut self {
            parts.iter_mut().skip(components.into()).for_each(|part| *part = 0.0);
        }
        self
    }

    /// The kind of value in words, for messages about ill-typed code.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a bit or boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Complex(..) => "a complex number",
            Value::Vector(_) => "a vector",
            Value::String(_) => "a string",
            Value::Struct(_) => "a structure",
            Value::Array(_) => "an array",
            Value::Portal(_) => "a portal",
        }
    }
}

fn checked(result: Option<Value>, op: BinaryOp, operand: &Value) -> Result<Value, Fault> {
    result.ok_or_else(|| Fault(format!("{op:?} does not apply to {}", operand.kind())))
}

#[inline]
fn integers(op: BinaryOp, a: i32, b: i32) -> Result<Value, Fault> {
    if b == 0 && matches!(op, BinaryOp::Div | BinaryOp::Rem) {
        return Err(Fault(format!("{a} is divided by zero")));
    }
    Ok(match op {
        BinaryOp::Add => Value::Int(a.wrapping_add(b)),
        BinaryOp::Sub => Value::Int(a.wrapping_sub(b)),
        BinaryOp::Mul => Value::Int(a.wrapping_mul(b)),
        BinaryOp::Div => Value::Int(a.wrapping_div(b)),
        BinaryOp::Rem => Value::Int(a.wrapping_rem(b)),
        BinaryOp::ShiftLeft => Value::Int(a.wrapping_shl(b as u32)),
        BinaryOp::ShiftRight => Value::Int(a.wrapping_shr(b as u32)),
        BinaryOp::BitAnd => Value::Int(a & b),
        BinaryOp::BitOr => Value::Int(a | b),
        BinaryOp::BitXor => Value::Int(a ^ b),
        BinaryOp::Eq => Value::Bool(a == b),
        BinaryOp::Ne => Value::Bool(a != b),
        BinaryOp::Lt => Value::Bool(a < b),
        BinaryOp::Le => Value::Bool(a <= b),
        BinaryOp::Gt => Value::Bool(a > b),
        BinaryOp::Ge => Value::Bool(a >= b),
    })
}

#[inline]
fn floats(op: BinaryOp, a: f32, b: f32) -> Option<Value> {
    Some(match op {
        BinaryOp::Add => Value::Float(a + b),
        BinaryOp::Sub => Value::Float(a - b),
        BinaryOp::Mul => Value::Float(a * b),
        BinaryOp::Div => Value::Float(a / b),
        // Exact, as `fmodf` is.
        BinaryOp::Rem => Value::Float(a % b),
        BinaryOp::Eq => Value::Bool(a == b),
        BinaryOp::Ne => Value::Bool(a != b),
        BinaryOp::Lt => Value::Bool(a < b),
        BinaryOp::Le => Value::Bool(a <= b),
        BinaryOp::Gt => Value::Bool(a > b),
        BinaryOp::Ge => Value::Bool(a >= b),
        _ => return None,
    })
}

fn bits(op: BinaryOp, a: bool, b: bool) -> Option<Value> {
    Some(Value::Bool(match op {
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::Lt => !a & b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a & !b,
        BinaryOp::Ge => a >= b,
        _ => return None,
    }))
}

fn complex(op: BinaryOp, (a, b): (f32, f32), (c, d): (f32, f32)) -> Option<Value> {
    Some(match op {
        BinaryOp::Add => Value::Complex(a + c, b + d),
        BinaryOp::Sub => Value::Complex(a - c, b - d),
        BinaryOp::Mul => Value::Complex(a * c - b * d, a * d + b * c),
        BinaryOp::Div => {
            let n = c * c + d * d;
            Value::Complex((a * c + b * d) / n, (b * c - a * d) / n)
        }
        BinaryOp::Eq => Value::Bool(a == c && b == d),
        BinaryOp::Ne => Value::Bool(a != c || b != d),
        _ => return None,
    })
}

fn vectors(op: BinaryOp, a: &[f32; 4], b: &[f32; 4]) -> Option<Value> {
    let each = |f: fn(f32, f32) -> f32| Value::Vector(std::array::from_fn(|at| f(a[at], b[at])));
    Some(match op {
        BinaryOp::Add => each(|a, b| a + b),
        BinaryOp::Sub => each(|a, b| a - b),
        BinaryOp::Mul => each(|a, b| a * b),
        BinaryOp::Div => each(|a, b| a / b),
        BinaryOp::Eq => Value::Bool(a == b),
        BinaryOp::Ne => Value::Bool(a != b),
        _ => return None,
    })
}

fn strings(op: BinaryOp, a: &Arc<str>, b: &Arc<str>, first: &Value) -> Result<Value, Fault> {
    match op {
        BinaryOp::Add if a.len() + b.len() > MAX_STRING => {
            Err(Fault(format!("the string exceeds {MAX_STRING} bytes")))
        }
        BinaryOp::Add => Ok(Value::String([&**a, &**b].concat().into())),
        BinaryOp::Eq => Ok(Value::Bool(a == b)),
        BinaryOp::Ne => Ok(Value::Bool(a != b)),
        _ => checked(None, op, first),
    }
}
