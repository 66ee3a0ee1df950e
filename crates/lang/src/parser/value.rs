//! Values with their prefix and postfix operators.

use super::expr::Measured;
use super::literal::hexadecimal;
use super::{Parsed, Parser, types};
use crate::ast::{Expr, ExprKind, Literal, Name, Primitive, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

/// Whether an expression can be assigned to: `ID ( '.' ID | '[' expr ']' )*`.
pub(super) fn is_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Error => true,
        ExprKind::Member(of, _) | ExprKind::Index(of, _) => is_place(of),
        _ => false,
    }
}

impl Parser<'_> {
    /// `cast := '(' prim ')' incdec_or_value | incdec_or_value`
    pub(super) fn cast(&mut self) -> Parsed<Measured> {
        let Some(primitive) = self.cast_target() else { return self.step_or_value() };
        let start = self.bump();
        self.bump();
        self.bump();
        let value = self.step_or_value()?;
        self.measured(ExprKind::Cast(primitive, Box::new(value.expr)), start, value.height)
    }

    /// The type of a cast, if one begins here.
    fn cast_target(&self) -> Option<Primitive> {
        let is_cast = self.at(Kind::Open) && self.lookahead(2) == Kind::Close;
        types::primitive(self.lookahead(1)).filter(|_| is_cast)
    }

    /// `incdec_or_value := lvalue('++'|'--') | ('++'|'--')lvalue | '!' value_expr | value_expr`
    fn step_or_value(&mut self) -> Parsed<Measured> {
        match self.kind() {
            Kind::Increment | Kind::Decrement => self.step_before(),
            Kind::Not => self.unary(UnaryOp::Not),
            _ => self.value_or_step_after(),
        }
    }

    fn step_before(&mut self) -> Parsed<Measured> {
        let by = if self.at(Kind::Increment) { 1 } else { -1 };
        let start = self.bump();
        let place = self.value()?;
        self.check_place(&place.expr);
        self.measured(ExprKind::Step { place: Box::new(place.expr), by, before: true }, start, place.height)
    }

    fn value_or_step_after(&mut self) -> Parsed<Measured> {
        let start = self.span();
        let place = self.signed_value()?;
        let by = match self.kind() {
            Kind::Increment => 1,
            Kind::Decrement => -1,
            _ => return Ok(place),
        };
        self.check_place(&place.expr);
        self.bump();
        self.measured(ExprKind::Step { place: Box::new(place.expr), by, before: false }, start, place.height)
    }

    /// Reports an assignment to an expression that is not a place.
    pub(super) fn check_place(&mut self, place: &Expr) {
        if !is_place(place) && !self.is_follow_up_error() {
            let error = Diagnostic::new(place.span, "cannot assign to this expression")
                .label("not a variable, field or element");
            let has_sign = matches!(place.kind, ExprKind::Unary(..));
            let hint = if has_sign {
                "write the sign outside: `-(x++)`"
            } else {
                "store the value in a variable first"
            };
            self.report(error.hint(hint));
        }
    }

    /// `value_expr := ['-'] value | '~' value_expr`
    fn signed_value(&mut self) -> Parsed<Measured> {
        match self.kind() {
            Kind::Minus => self.unary(UnaryOp::Negate),
            Kind::Tilde => self.unary(UnaryOp::Complement),
            _ => self.value(),
        }
    }

    /// A prefix operator and its operand.
    fn unary(&mut self, op: UnaryOp) -> Parsed<Measured> {
        let start = self.bump();
        let value = match op {
            UnaryOp::Negate => self.value()?,
            UnaryOp::Not | UnaryOp::Complement => self.nested(Parser::signed_value)?,
        };
        self.measured(ExprKind::Unary(op, Box::new(value.expr)), start, value.height)
    }

    /// A value without a prefix operator.
    fn value(&mut self) -> Parsed<Measured> {
        let start = self.span();
        match self.kind() {
            Kind::Name => self.named_value(),
            Kind::Open if self.cast_target().is_none() => self.parenthesised(),
            Kind::Open | Kind::Minus | Kind::Not | Kind::Tilde | Kind::Increment | Kind::Decrement => {
                self.misplaced_operator()
            }
            Kind::Pop => self.pop(),
            Kind::Peek => self.peek(),
            Kind::Iter => self.iter(),
            Kind::Float2 => self.vector(2),
            Kind::Float3 => self.vector(3),
            Kind::Float4 => self.vector(4),
            _ => match self.literal()? {
                Some(literal) => self.measured(ExprKind::Literal(literal), start, 0),
                None => self.missing_value(),
            },
        }
    }

    fn missing_value(&mut self) -> Parsed<Measured> {
        let span = self.span();
        if self.at(Kind::OpenBrace) && matches!(self.previous_kind(), Some(Kind::Open | Kind::Comma)) {
            return Ok(Measured { expr: self.list_as_value()?, height: 1 });
        }
        let hint = self.hint_for_value();
        let failed = self.unexpected_with("an expression", hint);
        // The token after the expression is already current, so only the expression is missing.
        let closed = matches!(
            self.kind(),
            Kind::Close | Kind::CloseBracket | Kind::Semicolon | Kind::Comma | Kind::Colon | Kind::CloseBrace
        );
        if closed { Ok(Measured { expr: Expr { kind: ExprKind::Error, span }, height: 1 }) } else { failed }
    }

    /// Reports a prefix operator directly after another one; the operand is still parsed.
    fn misplaced_operator(&mut self) -> Parsed<Measured> {
        let sign = self.text_at(self.span());
        let what = if sign == "(" { "a cast".to_string() } else { format!("`{sign}`") };
        let before = self.text_at(self.previous_span());
        let error = Diagnostic::new(self.span(), format!("{what} cannot directly follow `{before}`"))
            .hint(format!("put {what} and its value in parentheses"));
        self.report_here(error);
        self.nested(Parser::cast)
    }

    fn parenthesised(&mut self) -> Parsed<Measured> {
        let start = self.bump();
        let mut value = self.measured_expr()?;
        self.expect(Kind::Close, "after the expression")?;
        value.expr.span = self.since(start);
        self.reject_postfix()?;
        Ok(value)
    }

    /// `pop()`
    fn pop(&mut self) -> Parsed<Measured> {
        let start = self.bump();
        self.no_arguments("pop")?;
        self.reject_postfix()?;
        self.measured(ExprKind::Pop, start, 0)
    }

    /// The required `()` after a keyword.
    fn no_arguments(&mut self, word: &str) -> Parsed<()> {
        if !self.at(Kind::Open) {
            let error = Diagnostic::new(
                self.previous_span(),
                format!("expected `()` after `{word}`, found {}", self.found()),
            )
            .hint(format!("write `{word}()`"));
            self.report_here(error);
            return Ok(());
        }
        self.bump();
        self.expect(Kind::Close, &format!("after `{word}(`")).map(|_| ())
    }

    /// `peek(expr)`
    fn peek(&mut self) -> Parsed<Measured> {
        let start = self.bump();
        self.expect(Kind::Open, "after `peek`")?;
        let index = self.measured_expr()?;
        self.expect(Kind::Close, "after the index")?;
        self.reject_postfix()?;
        self.measured(ExprKind::Peek(Box::new(index.expr)), start, index.height)
    }

    /// `iter()`
    fn iter(&mut self) -> Parsed<Measured> {
        let start = self.bump();
        self.no_arguments("iter")?;
        self.measured(ExprKind::Iter, start, 0)
    }

    /// `float2(e,e)`, `float3` and `float4`.
    fn vector(&mut self, components: usize) -> Parsed<Measured> {
        let start = self.bump();
        let (values, height) = self.arguments()?;
        let span = self.since(start);
        if values.len() != components && !self.is_follow_up_error() {
            let counted = format!("`float{components}` takes {components} values, found {}", values.len());
            self.report(Diagnostic::new(span, counted).hint("write one value per component"));
            return self.measured(ExprKind::Error, start, 0);
        }
        self.measured(ExprKind::Vector(values), start, height)
    }

    /// `lvalue`, `ID(args)` or `ID.ID(args)`
    fn named_value(&mut self) -> Parsed<Measured> {
        let start = self.span();
        let name = self.name("a name")?;
        if self.at(Kind::Open) {
            let (arguments, height) = self.arguments()?;
            self.reject_postfix()?;
            return self.measured(ExprKind::Call(name, arguments), start, height);
        }
        if self.at(Kind::Dot) && self.lookahead(1) == Kind::Name && self.lookahead(2) == Kind::Open {
            return self.method_call(name);
        }
        let whole = self.measured(ExprKind::Name(name.text), start, 0)?;
        self.parts(whole)
    }

    fn method_call(&mut self, receiver: Name) -> Parsed<Measured> {
        self.bump();
        let name = self.name("the name of a function")?;
        let start = receiver.span;
        let (arguments, height) = self.arguments()?;
        self.measured(ExprKind::MethodCall(receiver, name, arguments), start, height)
    }

    /// `( '.' ID | '[' expr ']' )*`
    fn parts(&mut self, mut whole: Measured) -> Parsed<Measured> {
        let start = whole.expr.span;
        loop {
            if self.eat(Kind::Dot) {
                let name = self.name("the name of a field")?;
                whole = self.measured(ExprKind::Member(Box::new(whole.expr), name), start, whole.height)?;
            } else if self.eat(Kind::OpenBracket) {
                let index = self.bare_expr()?;
                self.expect(Kind::CloseBracket, "after the index")?;
                let kind = ExprKind::Index(Box::new(whole.expr), Box::new(index.expr));
                whole = self.measured(kind, start, whole.height.max(index.height))?;
            } else {
                return Ok(whole);
            }
        }
    }

    /// Reports a field or element access on an expression that is not a variable, and skips it.
    fn reject_postfix(&mut self) -> Parsed<()> {
        if !matches!(self.kind(), Kind::Dot | Kind::OpenBracket) {
            return Ok(());
        }
        let error = Diagnostic::new(self.span(), "field or element access on an expression")
            .hint("store the value in a variable first");
        self.report_here(error);
        let (kind, span) = (ExprKind::Error, self.span());
        self.parts(Measured { expr: Expr { kind, span }, height: 1 }).map(|_| ())
    }

    /// `'(' args ')'`, with the height of the highest argument.
    pub(super) fn arguments(&mut self) -> Parsed<(Vec<Expr>, u32)> {
        self.expect(Kind::Open, "before the arguments")?;
        let (mut arguments, mut height) = (Vec::new(), 0);
        while !self.at(Kind::Close) || !arguments.is_empty() {
            let argument = self.measured_expr()?;
            height = height.max(argument.height);
            arguments.push(argument.expr);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close, "after the arguments")?;
        Ok((arguments, height))
    }

    /// A literal, if the current token is one.
    fn literal(&mut self) -> Parsed<Option<Literal>> {
        let literal = match self.kind() {
            Kind::Pi => Literal::Pi,
            Kind::True => Literal::Boolean(true),
            Kind::False => Literal::Boolean(false),
            Kind::Hex => hexadecimal(self.text_at(self.span())),
            Kind::Number => return Ok(Some(self.number())),
            Kind::Dot if self.lookahead(1) == Kind::Number => return Ok(Some(self.fraction())),
            Kind::String => self.string(),
            Kind::Char => self.character(),
            _ => return Ok(None),
        };
        self.bump();
        Ok(Some(literal))
    }

    /// Whether the current token directly follows a span.
    pub(super) fn adjoins(&self, place: Span) -> bool {
        self.span().start() == place.end()
    }
}
