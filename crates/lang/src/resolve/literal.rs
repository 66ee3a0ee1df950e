//! Literals.

use crate::ast::Literal;
use crate::hir::{Expr, ExprKind, Type};
use crate::source::Span;
use crate::value::Value;

/// A literal. Integers 0 and 1 become bits later, where a bit is expected.
pub(super) fn literal(literal: &Literal, span: Span) -> Expr {
    let (value, ty) = match literal {
        Literal::Int(value) => (Value::Int(*value), Type::Int),
        Literal::Char(code) => (Value::Int(i32::from(*code)), Type::Int),
        Literal::Float(value) => (Value::Float(*value), Type::Float),
        Literal::Imaginary(value) => (Value::Complex(0.0, *value), Type::Complex),
        Literal::String(text) => (Value::String(text.as_str().into()), Type::String),
        Literal::Boolean(value) => (Value::Bool(*value), Type::Boolean),
        Literal::Pi => (Value::Float(std::f32::consts::PI), Type::Float),
    };
    Expr { kind: ExprKind::Constant(value), ty, span }
}
