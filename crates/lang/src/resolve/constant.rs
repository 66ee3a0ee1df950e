//! Integers that are known without executing anything; for checks only, nothing is replaced.

use crate::hir::{BinaryOp, Expr, ExprKind, Rate, Type, UnaryOp};
use crate::value::Value;

/// The expression's value, if it is made of constants only and an integer.
pub(super) fn integer(expr: &Expr) -> Option<i32> {
    match &expr.kind {
        ExprKind::Constant(Value::Int(value)) => Some(*value),
        ExprKind::Constant(Value::Bool(value)) => Some(i32::from(*value)),
        ExprKind::Convert(value) if expr.ty == Type::Int && value.ty != Type::Float => integer(value),
        ExprKind::Unary(UnaryOp::Negate, value) if expr.ty == Type::Int => {
            Some(integer(value)?.wrapping_neg())
        }
        ExprKind::Binary(op, first, second) if expr.ty == Type::Int => {
            arithmetic(*op, integer(first)?, integer(second)?)
        }
        _ => None,
    }
}

fn arithmetic(op: BinaryOp, first: i32, second: i32) -> Option<i32> {
    match op {
        BinaryOp::Add => first.checked_add(second),
        BinaryOp::Sub => first.checked_sub(second),
        BinaryOp::Mul => first.checked_mul(second),
        BinaryOp::Div => first.checked_div(second),
        _ => None,
    }
}

/// A rate that is the same always, if it is known.
pub(super) fn rate(rate: &Rate) -> Option<i32> {
    match rate {
        Rate::Static(count) => integer(count),
        Rate::Dynamic { .. } => None,
    }
}

/// The most that a rate may be, if it is known.
pub(super) fn most(rate: &Rate) -> Option<i32> {
    match rate {
        Rate::Static(count) => integer(count),
        Rate::Dynamic { max, .. } => integer(max.as_ref()?),
    }
}

/// Whether a rate is 0 for certain.
pub(super) fn is_zero(of: &Rate) -> bool {
    rate(of) == Some(0)
}
