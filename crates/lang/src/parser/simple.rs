//! Simple statements, which are also allowed in the head of a `for`: declarations, assignments and effects.

use super::expr::assignment;
use super::{Parsed, Parser, types};
use crate::ast::{BinaryOp, Expr, ExprKind, Latency, Message, Name, StmtKind, Type, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;

impl Parser<'_> {
    /// A declaration, `push`, an assignment, a step or a call, without its `;`.
    pub(super) fn simple(&mut self) -> Parsed<StmtKind> {
        match self.kind() {
            Kind::Push => self.push(),
            Kind::Void | Kind::Portal => self.declaration(),
            kind if types::primitive(kind).is_some() => self.declaration(),
            _ => self.starts_with_value(),
        }
    }

    /// `'push' '(' expr ')'`
    fn push(&mut self) -> Parsed<StmtKind> {
        self.bump();
        if !self.at(Kind::Open) {
            return self.unexpected_with("`(` after `push`", Some("write `push(value);`".to_string()));
        }
        self.bump();
        let value = self.expr()?;
        self.expect(Kind::Close, "after the pushed value")?;
        Ok(StmtKind::Push(value))
    }

    /// `type ID ['=' varinit] (',' ID ['=' varinit])*`
    fn declaration(&mut self) -> Parsed<StmtKind> {
        let ty = self.ty()?;
        Ok(StmtKind::Declare(self.variables(ty)?))
    }

    /// A statement that begins with an expression, which may turn out to be the type of a declaration.
    fn starts_with_value(&mut self) -> Parsed<StmtKind> {
        let first = self.at;
        let value = self.bare_expr()?.expr;
        if self.at(Kind::Name) && is_type(&value) {
            self.check_type_size(first, value.span)?;
            let ty = to_type(value);
            return Ok(StmtKind::Declare(self.variables(ty)?));
        }
        match assignment(self.kind()) {
            Some(op) => self.assign(value, op),
            None => self.effect(value),
        }
    }

    /// `lvalue ('='|'+='|'-='|'*='|'/='|'<<='|'>>=') expr`
    fn assign(&mut self, place: Expr, op: Option<BinaryOp>) -> Parsed<StmtKind> {
        self.check_place(&place);
        self.bump();
        let value = if self.at(Kind::OpenBrace) { self.list_as_value()? } else { self.expr()? };
        Ok(StmtKind::Assign(place, op, value))
    }

    /// Reports a list outside an initialiser, and skips it.
    pub(super) fn list_as_value(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let error = Diagnostic::new(span, "a list is allowed only as the initial value of a variable")
            .hint("declare a variable with it, or assign the elements one by one");
        self.report_here(error);
        self.init_value()?;
        Ok(Expr { kind: ExprKind::Error, span })
    }

    /// An expression statement.
    fn effect(&mut self, value: Expr) -> Parsed<StmtKind> {
        match value.kind {
            ExprKind::MethodCall(receiver, name, arguments) => {
                let latency = self.latency()?;
                Ok(StmtKind::Message(Message { receiver, name, arguments, latency }))
            }
            ExprKind::Step { .. }
            | ExprKind::Call(..)
            | ExprKind::Pop
            | ExprKind::Peek(_)
            | ExprKind::Iter
            | ExprKind::Error => Ok(StmtKind::Expr(value)),
            _ => {
                self.report_no_effect(&value)?;
                Ok(StmtKind::Expr(value))
            }
        }
    }

    /// Reports an expression statement without effect.
    fn report_no_effect(&mut self, value: &Expr) -> Parsed<()> {
        if !matches!(self.kind(), Kind::Semicolon | Kind::Close | Kind::CloseBrace) {
            return self.unexpected("an assignment");
        }
        if self.is_follow_up_error() {
            return Ok(());
        }
        let error = Diagnostic::new(value.span, "statement with no effect");
        let compares = matches!(&value.kind, ExprKind::Binary(_, rest) if rest.last().is_some_and(|(op, _)| *op == BinaryOp::Eq));
        let error = error.recovered();
        self.report(if compares { error.hint("use `=` to assign") } else { error });
        Ok(())
    }

    /// `[ '[' ([expr] ':' [expr] | '*') ']' ]` after a message.
    fn latency(&mut self) -> Parsed<Latency> {
        let start = self.span();
        if !self.eat(Kind::OpenBracket) {
            return Ok(Latency::Omitted);
        }
        if self.eat(Kind::Star) {
            self.expect(Kind::CloseBracket, "after `*`")?;
            return Ok(Latency::Any);
        }
        let min = if self.at(Kind::Colon) { None } else { Some(Box::new(self.expr()?)) };
        if self.at(Kind::CloseBracket) {
            let error = Diagnostic::new(start.to(self.span()), "a latency needs two bounds")
                .hint("write the minimum and the maximum, as in `[2:2]`");
            self.report_here(error);
        } else {
            self.expect(Kind::Colon, "between the minimum and the maximum latency")?;
        }
        let max = if self.at(Kind::CloseBracket) { None } else { Some(Box::new(self.expr()?)) };
        self.expect(Kind::CloseBracket, "after the latency")?;
        Ok(Latency::Between(min, max))
    }
}

/// Whether an expression has the form of a type: `ID ('[' expr ']')*`, without parentheses.
fn is_type(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Name(text) => (value.span.end() - value.span.start()) as usize == text.len(),
        ExprKind::Index(of, _) => is_type(of),
        _ => false,
    }
}

/// Converts an expression of that form to a type.
fn to_type(value: Expr) -> Type {
    let (span, mut lengths, mut value) = (value.span, Vec::new(), value);
    loop {
        match value.kind {
            ExprKind::Index(of, length) => {
                lengths.push(*length);
                value = *of;
            }
            ExprKind::Name(text) => {
                let name = Name { text, span: value.span };
                lengths.reverse();
                return types::array(Type { span: name.span, kind: TypeKind::Named(name) }, lengths, span);
            }
            _ => return Type { kind: TypeKind::Void, span: value.span },
        }
    }
}
