//! Operators.

use super::Resolver;
use super::assign::calculated;
use super::convert::{common, promoted};
use crate::ast::{self, BinaryOp as AstOp};
use crate::diagnostic::Diagnostic;
use crate::hir::{BinaryOp, Expr, ExprKind, Type, UnaryOp};
use crate::source::Span;
use crate::value::Value;

/// The resolved operator; `None` for `&&` and `||`, which may skip their right side.
pub(super) fn binary_op(op: AstOp) -> Option<BinaryOp> {
    Some(match op {
        AstOp::Add => BinaryOp::Add,
        AstOp::Sub => BinaryOp::Sub,
        AstOp::Mul => BinaryOp::Mul,
        AstOp::Div => BinaryOp::Div,
        AstOp::Rem => BinaryOp::Rem,
        AstOp::ShiftLeft => BinaryOp::ShiftLeft,
        AstOp::ShiftRight => BinaryOp::ShiftRight,
        AstOp::BitAnd => BinaryOp::BitAnd,
        AstOp::BitOr => BinaryOp::BitOr,
        AstOp::BitXor => BinaryOp::BitXor,
        AstOp::Eq => BinaryOp::Eq,
        AstOp::Ne => BinaryOp::Ne,
        AstOp::Lt => BinaryOp::Lt,
        AstOp::Le => BinaryOp::Le,
        AstOp::Gt => BinaryOp::Gt,
        AstOp::Ge => BinaryOp::Ge,
        AstOp::And | AstOp::Or => return None,
    })
}

fn sign(op: AstOp) -> &'static str {
    match op {
        AstOp::Add => "+",
        AstOp::Sub => "-",
        AstOp::Mul => "*",
        AstOp::Div => "/",
        AstOp::Rem => "%",
        AstOp::ShiftLeft => "<<",
        AstOp::ShiftRight => ">>",
        AstOp::BitAnd => "&",
        AstOp::BitOr => "|",
        AstOp::BitXor => "^",
        AstOp::Eq => "==",
        AstOp::Ne => "!=",
        AstOp::Lt => "<",
        AstOp::Le => "<=",
        AstOp::Gt => ">",
        AstOp::Ge => ">=",
        AstOp::And => "&&",
        AstOp::Or => "||",
    }
}

/// Converts a constant 0 or 1 to a bit if the other operand is a bit.
fn as_bit(value: Expr, other: &Type) -> Expr {
    match (&value.kind, other) {
        (ExprKind::Constant(Value::Int(0 | 1)), Type::Bit) => promoted(value, &Type::Bit),
        _ => value,
    }
}

impl<'a> Resolver<'a> {
    /// Resolves binary operators.
    pub fn binary(&mut self, first: &'a ast::Expr, rest: &'a [(AstOp, ast::Expr)]) -> Option<Expr> {
        let mut value = self.expr(first);
        for (op, second) in rest {
            let second = self.expr(second);
            value = value.zip(second).and_then(|(first, second)| self.operate(*op, first, second));
        }
        value
    }

    fn operate(&mut self, op: AstOp, first: Expr, second: Expr) -> Option<Expr> {
        let span = first.span.to(second.span);
        let Some(resolved) = binary_op(op) else { return self.logical(op, first, second, span) };
        if op == AstOp::Add && (first.ty == Type::String || second.ty == Type::String) {
            let (first, second) = (self.text(first)?, self.text(second)?);
            return Some(Expr::binary(resolved, first, second, Type::String));
        }
        if matches!(op, AstOp::ShiftLeft | AstOp::ShiftRight) {
            return self.shift(resolved, op, first, second, span);
        }
        let (left, right) = (first.ty.clone(), second.ty.clone());
        let (first, second) = (as_bit(first, &right), as_bit(second, &left));
        let Some(ty) = common(&first.ty, &second.ty).and_then(|ty| calculated(op, ty)) else {
            return self.no_operator(op, &left, &right, span);
        };
        let (first, second) = (promoted(first, &ty), promoted(second, &ty));
        let compares = matches!(op, AstOp::Eq | AstOp::Ne | AstOp::Lt | AstOp::Le | AstOp::Gt | AstOp::Ge);
        let ty = if compares { Type::Boolean } else { ty };
        Some(Expr::binary(resolved, first, second, ty))
    }

    fn logical(&mut self, op: AstOp, first: Expr, second: Expr, span: Span) -> Option<Expr> {
        let (first, second) = (self.condition(first), self.condition(second));
        let (first, second) = (first?, second?);
        let kind = match (op, first.kind) {
            (AstOp::And, ExprKind::And(mut operands)) => {
                operands.push(second);
                ExprKind::And(operands)
            }
            (AstOp::Or, ExprKind::Or(mut operands)) => {
                operands.push(second);
                ExprKind::Or(operands)
            }
            (op, kind) => {
                let operands = vec![Expr { kind, ..first }, second];
                if op == AstOp::And { ExprKind::And(operands) } else { ExprKind::Or(operands) }
            }
        };
        Some(Expr { kind, ty: Type::Boolean, span })
    }

    fn shift(&mut self, op: BinaryOp, written: AstOp, first: Expr, second: Expr, span: Span) -> Option<Expr> {
        let integers = |ty: &Type| matches!(ty, Type::Boolean | Type::Bit | Type::Int);
        if !integers(&first.ty) || !integers(&second.ty) {
            return self.no_operator(written, &first.ty, &second.ty, span);
        }
        let (first, second) = (promoted(first, &Type::Int), promoted(second, &Type::Int));
        Some(Expr::binary(op, first, second, Type::Int))
    }

    /// Reports operands of a shift that are not integers.
    pub fn require_integers(&mut self, ty: &Type, span: Span) -> Option<()> {
        match ty {
            Type::Boolean | Type::Bit | Type::Int => Some(()),
            _ => self.no_operator(AstOp::ShiftLeft, ty, &Type::Int, span),
        }
    }

    /// Reports operands that an operator does not accept.
    pub fn no_operator<T>(&mut self, op: AstOp, first: &Type, second: &Type, span: Span) -> Option<T> {
        let sign = sign(op);
        let (left, right) = (self.type_with_article(first), self.type_with_article(second));
        let error = Diagnostic::new(span, format!("cannot apply `{sign}` to {left} and {right}"))
            .label(format!("{left} {sign} {right}"));
        let whole = matches!(op, AstOp::Rem | AstOp::ShiftLeft | AstOp::ShiftRight)
            || matches!(op, AstOp::BitAnd | AstOp::BitOr | AstOp::BitXor);
        if whole && (*first == Type::Float || *second == Type::Float) {
            return self.error(error.hint("it needs integers: `(int)` truncates a float"));
        }
        self.error(error)
    }

    /// A prefix operator.
    pub fn unary(&mut self, op: ast::UnaryOp, value: &'a ast::Expr, span: Span) -> Option<Expr> {
        let value = self.expr(value)?;
        let (op, value) = match (op, &value.ty) {
            (ast::UnaryOp::Not, _) => (UnaryOp::Not, self.condition(value)?),
            (ast::UnaryOp::Negate, Type::Int | Type::Float | Type::Complex | Type::Vector(_)) => {
                (UnaryOp::Negate, value)
            }
            (ast::UnaryOp::Negate, Type::Bit | Type::Boolean) => {
                (UnaryOp::Negate, promoted(value, &Type::Int))
            }
            (ast::UnaryOp::Complement, Type::Int | Type::Bit) => (UnaryOp::Complement, value),
            (ast::UnaryOp::Complement, Type::Boolean) => (UnaryOp::Complement, promoted(value, &Type::Bit)),
            (_, ty) => {
                let sign = if op == ast::UnaryOp::Negate { "-" } else { "~" };
                let name = self.type_with_article(ty);
                let error = Diagnostic::new(span, format!("cannot apply `{sign}` to {name}"));
                return self.error(error.label(format!("this is {name}")));
            }
        };
        let ty = value.ty.clone();
        Some(Expr { kind: ExprKind::Unary(op, Box::new(value)), ty, span })
    }

    /// `condition ? first : second`.
    pub fn ternary(
        &mut self,
        condition: &'a ast::Expr,
        first: &'a ast::Expr,
        second: &'a ast::Expr,
        span: Span,
    ) -> Option<Expr> {
        let condition = self.expr(condition).and_then(|condition| self.condition(condition));
        let (first, second) = (self.expr(first), self.expr(second));
        let (condition, first, second) = (condition?, first?, second?);
        let (left, right) = (first.ty.clone(), second.ty.clone());
        let (first, second) = (as_bit(first, &right), as_bit(second, &left));
        let Some(ty) = common(&first.ty, &second.ty) else {
            let (left, right) = (self.type_with_article(&left), self.type_with_article(&right));
            let message = format!("`?:` cannot choose between {left} and {right}");
            return self.error(Diagnostic::new(span, message).label("both values need one type"));
        };
        let (first, second) = (promoted(first, &ty), promoted(second, &ty));
        let kind = ExprKind::Ternary(Box::new(condition), Box::new(first), Box::new(second));
        Some(Expr { kind, ty, span })
    }
}
