//! Integers known at compile time. They serve checks only; expressions are not replaced.

use crate::hir::{BinaryOp, Expr, ExprKind, LinkKind, Rate, Type, UnaryOp};
use crate::value::Value;

/// The value of an integer expression of constants.
pub(super) fn integer(expr: &Expr) -> Option<i32> {
    match &expr.kind {
        ExprKind::Constant(Value::Int(value)) => Some(*value),
        ExprKind::Constant(Value::Bool(value)) => Some(i32::from(*value)),
        ExprKind::Convert(value) if expr.ty == Type::Int && value.ty != Type::Float => integer(value),
        ExprKind::Unary(UnaryOp::Negate, value) if expr.ty == Type::Int => {
            Some(integer(value)?.wrapping_neg())
        }
        ExprKind::Binary(first, links) => {
            let (mut value, mut ty) = (integer(first)?, &first.ty);
            for link in links {
                value = match &link.kind {
                    LinkKind::Operator(op, second) => arithmetic(*op, value, integer(second)?)?,
                    LinkKind::Convert if *ty != Type::Float => value,
                    LinkKind::Convert => return None,
                };
                ty = &link.ty;
                if *ty != Type::Int {
                    return None;
                }
            }
            Some(value)
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

/// The value of a static rate, if known.
pub(super) fn rate(rate: &Rate) -> Option<i32> {
    match rate {
        Rate::Static(count) => integer(count),
        Rate::Dynamic { .. } => None,
    }
}

/// The maximum of a rate, if known.
pub(super) fn most(rate: &Rate) -> Option<i32> {
    match rate {
        Rate::Static(count) => integer(count),
        Rate::Dynamic { max, .. } => integer(max.as_ref()?),
    }
}

/// Whether a rate is known to be 0.
pub(super) fn is_zero(of: &Rate) -> bool {
    rate(of) == Some(0)
}
