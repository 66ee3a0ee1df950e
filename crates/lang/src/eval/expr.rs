//! Expressions.

use super::machine::{Machine, Outcome, WithSpan, fail};
use crate::hir::{Expr, ExprKind, Link, LinkKind, Type};
use crate::source::Span;
use crate::value::Value;

impl<'p> Machine<'p, '_> {
    /// The value of an expression.
    pub(super) fn eval(&mut self, expr: &'p Expr) -> Outcome<Value> {
        match &expr.kind {
            ExprKind::Constant(value) => Ok(value.clone()),
            ExprKind::Read(place) => self.read(place, expr.span),
            _ => {
                self.guard(expr.span)?;
                self.eval_compound(expr)
            }
        }
    }

    fn eval_compound(&mut self, expr: &'p Expr) -> Outcome<Value> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Constant(value) => Ok(value.clone()),
            ExprKind::Read(place) => self.read(place, span),
            ExprKind::Unary(op, operand) => self.eval(operand)?.unary(*op).with_span(span),
            ExprKind::Binary(first, links) => self.follow(first, links),
            ExprKind::And(operands) => self.is_decided(operands, false).map(|decided| Value::Bool(!decided)),
            ExprKind::Or(operands) => self.is_decided(operands, true).map(Value::Bool),
            ExprKind::Ternary(condition, first, second) => {
                if self.eval_bool(condition)? {
                    self.eval(first)
                } else {
                    self.eval(second)
                }
            }
            ExprKind::Convert(operand) => {
                let value = self.eval(operand)?;
                value.convert(&operand.ty, &expr.ty).with_span(span)
            }
            ExprKind::Step { place, by, before } => self.change_by(place, *by, *before, span),
            ExprKind::Call(callee, args) => self.call(*callee, args, span),
            ExprKind::Pop => self.host.pop().with_span(span),
            ExprKind::Peek(index) => {
                let index = self.eval_int(index)?;
                self.host.peek(index).with_span(span)
            }
            ExprKind::Iter => Ok(Value::Int(self.host.executions())),
            ExprKind::Compose(parts) => self.compose(parts, expr),
        }
    }

    fn follow(&mut self, first: &'p Expr, links: &'p [Link]) -> Outcome<Value> {
        let (mut value, mut ty) = (self.eval(first)?, &first.ty);
        for link in links {
            value = match &link.kind {
                LinkKind::Operator(op, second) => {
                    let second = self.eval(second)?;
                    let result = Value::binary(*op, &value, &second).with_span(link.span)?;
                    self.account_result(result, &link.ty, link.span)?
                }
                LinkKind::Convert => value.convert(ty, &link.ty).with_span(link.span)?,
            };
            ty = &link.ty;
        }
        Ok(value)
    }

    /// Whether an operand has the value that decides; those after it are not evaluated.
    fn is_decided(&mut self, operands: &'p [Expr], decides: bool) -> Outcome<bool> {
        for operand in operands {
            if self.eval_bool(operand)? == decides {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Accounts for the length of strings; clears unused components of vectors.
    #[inline]
    fn account_result(&mut self, result: Value, ty: &Type, span: Span) -> Outcome<Value> {
        match (&result, ty) {
            (Value::String(_), _) => self.step(result.cells(), span)?,
            (Value::Vector(_), Type::Vector(count)) => return Ok(result.trimmed(*count)),
            _ => {}
        }
        Ok(result)
    }

    /// The value of a condition.
    pub(super) fn eval_bool(&mut self, expr: &'p Expr) -> Outcome<bool> {
        match self.eval(expr)? {
            Value::Bool(value) => Ok(value),
            other => fail(expr.span, format!("expected a condition, found {}", other.kind())),
        }
    }

    /// The value of an integer; a bit is 0 or 1.
    #[inline]
    pub(super) fn eval_int(&mut self, expr: &'p Expr) -> Outcome<i32> {
        match self.eval(expr)? {
            Value::Int(value) => Ok(value),
            Value::Bool(value) => Ok(value.into()),
            other => fail(expr.span, format!("expected an integer, found {}", other.kind())),
        }
    }

    fn compose(&mut self, parts: &'p [Expr], expr: &Expr) -> Outcome<Value> {
        let mut floats = [0.0; 4];
        if parts.len() > floats.len() {
            return fail(expr.span, "a vector has at most four components");
        }
        for (part, slot) in parts.iter().zip(&mut floats) {
            *slot = match self.eval(part)? {
                Value::Float(x) => x,
                other => return fail(part.span, format!("expected a float, found {}", other.kind())),
            };
        }
        Ok(match expr.ty {
            Type::Complex => Value::Complex(floats[0], floats[1]),
            _ => Value::Vector(floats),
        })
    }
}
