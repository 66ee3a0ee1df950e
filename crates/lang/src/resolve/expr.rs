//! Expressions.

use super::Resolver;
use super::convert::{converted, promoted, promotes};
use super::frame::Where;
use super::literal::literal;
use super::types::primitive;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Type};
use crate::source::Span;

impl<'a> Resolver<'a> {
    /// An expression that has a value.
    pub fn expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let value = self.any_expr(expr)?;
        if value.ty == Type::Void {
            let error = Diagnostic::new(value.span, "this gives no value")
                .label("a value is wanted here")
                .hint("a function that gives one has its type before its name: `int f() { ... }`");
            return self.error(error);
        }
        Some(value)
    }

    /// An expression, perhaps without a value.
    pub fn any_expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Literal(value) => Some(literal(value, span)),
            ast::ExprKind::Name(_) | ast::ExprKind::Member(..) | ast::ExprKind::Index(..) => self.read(expr),
            ast::ExprKind::Unary(op, value) => self.unary(*op, value, span),
            ast::ExprKind::Binary(..) => self.binary(expr),
            ast::ExprKind::Ternary(condition, first, second) => self.ternary(condition, first, second, span),
            ast::ExprKind::Cast(to, value) => self.cast(primitive(*to), value, span),
            ast::ExprKind::Step { place, by, before } => self.step(place, *by, *before, span),
            ast::ExprKind::Call(name, args) => self.call(name, args, span),
            ast::ExprKind::MethodCall(block, name, args) => self.outside_call(block, name, args, span),
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
            let (from, to) = (self.a_type(&value.ty), self.a_type(&to));
            let error = Diagnostic::new(span, format!("{from} cannot be converted to {to}"));
            return self.error(error.label(format!("this is {from}")));
        };
        Some(Expr { span, ..cast })
    }

    fn pop(&mut self, span: Span) -> Option<Expr> {
        self.moves_items("pop", span)?;
        let effects = &mut self.code().effects;
        effects.pop = effects.pop.or(Some(span));
        let ty = self.item("pop", span)?;
        Some(Expr { kind: ExprKind::Pop, ty, span })
    }

    fn peek(&mut self, index: &'a ast::Expr, span: Span) -> Option<Expr> {
        let allowed = self.moves_items("peek", span);
        let index = self.expr(index).and_then(|index| self.integer(index));
        allowed?;
        let effects = &mut self.code().effects;
        effects.peek = effects.peek.or(Some(span));
        let ty = self.item("peek", span)?;
        let index = index?;
        match super::constant::integer(&index) {
            Some(at) if at < 0 => {
                let error = Diagnostic::new(index.span, "what has been taken cannot be looked at any more");
                return self.error(
                    error
                        .label("an index is 0 at least")
                        .hint("keep what is popped in a field, to have it later"),
                );
            }
            Some(at) => self.code().effects.looks_at(at, span),
            None => {}
        }
        Some(Expr { kind: ExprKind::Peek(Box::new(index)), ty, span })
    }

    /// The type of what the filter takes.
    fn item(&mut self, what: &str, span: Span) -> Option<Type> {
        match self.frame().input.clone()? {
            Type::Void => {
                let error = Diagnostic::new(span, format!("`{what}` in a filter whose input is `void`"));
                self.error(error.label("there are no items").hint("say in the filter's type what it takes"))
            }
            item => Some(item),
        }
    }

    fn iter(&mut self, span: Span) -> Option<Expr> {
        match self.code().place {
            Where::Work | Where::Prework | Where::Function | Where::Handler => {
                Some(Expr { kind: ExprKind::Iter, ty: Type::Int, span })
            }
            _ => {
                let error = Diagnostic::new(span, "`iter()` outside of a filter's work");
                self.error(
                    error.label("nothing has been executed here").hint("it counts the executions of `work`"),
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
