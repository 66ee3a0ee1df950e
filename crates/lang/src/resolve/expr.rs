//! Expressions.

use super::Resolver;
use super::convert::{converted, promoted, promotes};
use super::frame::Context;
use super::literal::literal;
use super::types::primitive;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Type};
use crate::source::Span;

impl<'a> Resolver<'a> {
    /// An expression with a value.
    pub fn expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let value = self.any_expr(expr)?;
        if value.ty == Type::Void {
            let error = Diagnostic::new(value.span, "expected a value, found `void`")
                .label("this has no value")
                .hint("a function with a value declares its result type: `int f() { ... }`");
            return self.error(error);
        }
        Some(value)
    }

    /// An expression with or without a value.
    pub fn any_expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Literal(value) => Some(literal(value, span)),
            ast::ExprKind::Name(_) | ast::ExprKind::Member(..) | ast::ExprKind::Index(..) => self.read(expr),
            ast::ExprKind::Unary(op, value) => self.unary(*op, value, span),
            ast::ExprKind::Binary(first, rest) => self.binary(first, rest),
            ast::ExprKind::Ternary(condition, first, second) => self.ternary(condition, first, second, span),
            ast::ExprKind::Cast(to, value) => self.cast(primitive(*to), value, span),
            ast::ExprKind::Step { place, by, before } => self.step(place, *by, *before, span),
            ast::ExprKind::Call(name, args) => self.call(name, args, span),
            ast::ExprKind::MethodCall(block, name, args) => self.block_call(block, name, args, span),
            ast::ExprKind::Pop => self.pop(span),
            ast::ExprKind::Peek(index) => self.peek(index, span),
            ast::ExprKind::Iter => self.iter(span),
            ast::ExprKind::Vector(parts) => self.vector(parts, span),
            ast::ExprKind::Error => None,
        }
    }

    fn read(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let (place, ty) = self.place(expr)?;
        Some(Expr { kind: ExprKind::Read(place), ty, span: expr.span })
    }

    fn cast(&mut self, to: Type, value: &'a ast::Expr, span: Span) -> Option<Expr> {
        let value = self.expr(value)?;
        let scalar = |ty: &Type| matches!(ty, Type::Bit | Type::Boolean | Type::Int | Type::Float);
        let cast = if promotes(&value.ty, &to) {
            promoted(value, &to)
        } else if scalar(&value.ty) && scalar(&to) {
            converted(value, to)
        } else {
            let (from, to) = (self.type_with_article(&value.ty), self.type_with_article(&to));
            let error = Diagnostic::new(span, format!("cannot convert {from} to {to}"));
            return self.error(error.label(format!("this is {from}")));
        };
        Some(Expr { span, ..cast })
    }

    fn pop(&mut self, span: Span) -> Option<Expr> {
        self.check_moves("pop", span)?;
        let effects = &mut self.code().effects;
        effects.pop = effects.pop.or(Some(span));
        let ty = self.item("pop", span)?;
        Some(Expr { kind: ExprKind::Pop, ty, span })
    }

    fn peek(&mut self, index: &'a ast::Expr, span: Span) -> Option<Expr> {
        let allowed = self.check_moves("peek", span);
        let index = self.expr(index).and_then(|index| self.integer(index));
        allowed?;
        let effects = &mut self.code().effects;
        effects.peek = effects.peek.or(Some(span));
        let ty = self.item("peek", span)?;
        let index = index?;
        match super::constant::integer(&index) {
            Some(at) if at < 0 => {
                let error = Diagnostic::new(index.span, format!("`peek` index {at} is negative"));
                return self.error(
                    error
                        .label("the least index is 0")
                        .hint("store popped items in a field to use them later"),
                );
            }
            Some(at) => self.code().effects.note_peek(at, span),
            None => {}
        }
        Some(Expr { kind: ExprKind::Peek(Box::new(index)), ty, span })
    }

    /// The type of the filter's input items.
    fn item(&mut self, what: &str, span: Span) -> Option<Type> {
        match self.frame().input.clone()? {
            Type::Void => {
                let error = Diagnostic::new(span, format!("`{what}` in a filter with input type `void`"));
                self.error(error.label("there are no items").hint("declare the filter's input type"))
            }
            item => Some(item),
        }
    }

    fn iter(&mut self, span: Span) -> Option<Expr> {
        match self.code().place {
            Context::Work | Context::Prework | Context::Function | Context::Handler => {
                Some(Expr { kind: ExprKind::Iter, ty: Type::Int, span })
            }
            _ => {
                let error = Diagnostic::new(span, "`iter()` outside the code of a firing");
                self.error(
                    error.label("no firing is executing here").hint("it counts the executions of `work`"),
                )
            }
        }
    }

    fn vector(&mut self, parts: &'a [ast::Expr], span: Span) -> Option<Expr> {
        let resolved: Vec<_> = parts.iter().map(|part| self.float(part)).collect();
        let parts: Vec<_> = resolved.into_iter().collect::<Option<_>>()?;
        if !(2..=4).contains(&parts.len()) {
            return self.error(Diagnostic::new(span, "a vector has 2 to 4 components"));
        }
        let ty = Type::Vector(parts.len() as u8);
        Some(Expr { kind: ExprKind::Compose(parts), ty, span })
    }

    fn float(&mut self, part: &'a ast::Expr) -> Option<Expr> {
        let value = self.expr(part)?;
        self.convert(value, &Type::Float)
    }
}
