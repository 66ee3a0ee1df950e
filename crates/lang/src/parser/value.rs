//! Expressions: values, and operators before and after one.

use super::expr::Tall;
use super::literal::hexadecimal;
use super::{Parsed, Parser, types};
use crate::ast::{Expr, ExprKind, Literal, Name, Primitive, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

/// Whether something can be assigned to: `ID ( '.' ID | '[' expr ']' )*`.
pub(super) fn is_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Error => true,
        ExprKind::Member(of, _) | ExprKind::Index(of, _) => is_place(of),
        _ => false,
    }
}

impl Parser<'_> {
    /// `cast := '(' prim ')' incdec_or_value | incdec_or_value`
    pub(super) fn cast(&mut self) -> Parsed<Tall> {
        let Some(primitive) = self.cast_target() else { return self.step_or_value() };
        let start = self.bump();
        self.bump();
        self.bump();
        let value = self.step_or_value()?;
        self.grow(ExprKind::Cast(primitive, Box::new(value.expr)), start, value.height)
    }

    /// The type of a cast that begins here.
    fn cast_target(&self) -> Option<Primitive> {
        let is_cast = self.at(Kind::Open) && self.ahead(2) == Kind::Close;
        types::primitive(self.ahead(1)).filter(|_| is_cast)
    }

    /// `incdec_or_value := lvalue('++'|'--') | ('++'|'--')lvalue | '!' value_expr | value_expr`
    fn step_or_value(&mut self) -> Parsed<Tall> {
        match self.kind() {
            Kind::Increment | Kind::Decrement => self.step_before(),
            Kind::Not => self.unary(UnaryOp::Not),
            _ => self.value_or_step_after(),
        }
    }

    fn step_before(&mut self) -> Parsed<Tall> {
        let by = if self.at(Kind::Increment) { 1 } else { -1 };
        let start = self.bump();
        let place = self.value()?;
        self.check_place(&place.expr);
        self.grow(ExprKind::Step { place: Box::new(place.expr), by, before: true }, start, place.height)
    }

    fn value_or_step_after(&mut self) -> Parsed<Tall> {
        let start = self.span();
        let place = self.signed_value()?;
        let by = match self.kind() {
            Kind::Increment => 1,
            Kind::Decrement => -1,
            _ => return Ok(place),
        };
        self.check_place(&place.expr);
        self.bump();
        self.grow(ExprKind::Step { place: Box::new(place.expr), by, before: false }, start, place.height)
    }

    /// Reports something that is to be changed and cannot be.
    pub(super) fn check_place(&mut self, place: &Expr) {
        if !is_place(place) && !self.follows_from_another() {
            let error = Diagnostic::new(place.span, "only a variable, a field or an element can be changed")
                .label("this is a value");
            let has_sign = matches!(place.kind, ExprKind::Unary(..));
            let hint = if has_sign { "signs stand outside: `-(x++)`" } else { "keep it in a variable first" };
            self.report(error.hint(hint));
        }
    }

    /// `value_expr := ['-'] value | '~' value_expr`
    fn signed_value(&mut self) -> Parsed<Tall> {
        match self.kind() {
            Kind::Minus => self.unary(UnaryOp::Negate),
            Kind::Tilde => self.unary(UnaryOp::Complement),
            _ => self.value(),
        }
    }

    /// An operator and the value that it stands before.
    fn unary(&mut self, op: UnaryOp) -> Parsed<Tall> {
        let start = self.bump();
        let value = match op {
            UnaryOp::Negate => self.value()?,
            UnaryOp::Not | UnaryOp::Complement => self.nested(Parser::signed_value)?,
        };
        self.grow(ExprKind::Unary(op, Box::new(value.expr)), start, value.height)
    }

    /// A value without a sign.
    fn value(&mut self) -> Parsed<Tall> {
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
                Some(literal) => self.grow(ExprKind::Literal(literal), start, 0),
                None => self.no_value(),
            },
        }
    }

    fn no_value(&mut self) -> Parsed<Tall> {
        let span = self.span();
        if self.at(Kind::OpenBrace) && matches!(self.before(), Some(Kind::Open | Kind::Comma)) {
            return Ok(Tall { expr: self.list_as_value()?, height: 1 });
        }
        let hint = self.hint_for_value();
        let failed = self.unexpected_with("an expression", hint);
        // What should be behind it is here, so only the expression is lost.
        let closed = matches!(
            self.kind(),
            Kind::Close | Kind::CloseBracket | Kind::Semicolon | Kind::Comma | Kind::Colon | Kind::CloseBrace
        );
        if closed { Ok(Tall { expr: Expr { kind: ExprKind::Error, span }, height: 1 }) } else { failed }
    }

    /// Operators stand before a value, not before one another; they are read all the same.
    fn misplaced_operator(&mut self) -> Parsed<Tall> {
        let sign = self.text_at(self.span());
        let what = if sign == "(" { "a cast".to_string() } else { format!("`{sign}`") };
        let before = self.text_at(self.last());
        let error = Diagnostic::new(self.span(), format!("{what} cannot stand directly behind `{before}`"))
            .hint(format!("put {what} and its value in parentheses"));
        self.complain(error);
        self.nested(Parser::cast)
    }

    fn parenthesised(&mut self) -> Parsed<Tall> {
        let start = self.bump();
        let mut value = self.tall_expr()?;
        self.expect(Kind::Close, "after the expression")?;
        value.expr.span = self.since(start);
        self.no_part_of_value()?;
        Ok(value)
    }

    /// `pop()`
    fn pop(&mut self) -> Parsed<Tall> {
        let start = self.bump();
        self.no_arguments("pop")?;
        self.no_part_of_value()?;
        self.grow(ExprKind::Pop, start, 0)
    }

    /// `()` behind a word.
    fn no_arguments(&mut self, word: &str) -> Parsed<()> {
        if !self.at(Kind::Open) {
            let error =
                Diagnostic::new(self.last(), format!("expected `()` after `{word}`, found {}", self.found()))
                    .hint(format!("write `{word}()`"));
            self.complain(error);
            return Ok(());
        }
        self.bump();
        self.expect(Kind::Close, &format!("after `{word}(`")).map(|_| ())
    }

    /// `peek(expr)`
    fn peek(&mut self) -> Parsed<Tall> {
        let start = self.bump();
        self.expect(Kind::Open, "after `peek`")?;
        let index = self.tall_expr()?;
        self.expect(Kind::Close, "after the index")?;
        self.no_part_of_value()?;
        self.grow(ExprKind::Peek(Box::new(index.expr)), start, index.height)
    }

    /// `iter()`
    fn iter(&mut self) -> Parsed<Tall> {
        let start = self.bump();
        self.no_arguments("iter")?;
        self.grow(ExprKind::Iter, start, 0)
    }

    /// `float2(e,e)` and the like.
    fn vector(&mut self, components: usize) -> Parsed<Tall> {
        let start = self.bump();
        let (values, height) = self.arguments()?;
        let span = self.since(start);
        if values.len() != components && !self.follows_from_another() {
            let counted = format!("`float{components}` has {components} components, not {}", values.len());
            self.report(Diagnostic::new(span, counted).hint("write a value for each"));
            return self.grow(ExprKind::Error, start, 0);
        }
        self.grow(ExprKind::Vector(values), start, height)
    }

    /// `lvalue`, `ID(args)` or `ID.ID(args)`
    fn named_value(&mut self) -> Parsed<Tall> {
        let start = self.span();
        let name = self.name("a name")?;
        if self.at(Kind::Open) {
            let (arguments, height) = self.arguments()?;
            self.no_part_of_value()?;
            return self.grow(ExprKind::Call(name, arguments), start, height);
        }
        if self.at(Kind::Dot) && self.ahead(1) == Kind::Name && self.ahead(2) == Kind::Open {
            return self.method_call(name);
        }
        let whole = self.grow(ExprKind::Name(name.text), start, 0)?;
        self.parts(whole)
    }

    fn method_call(&mut self, receiver: Name) -> Parsed<Tall> {
        self.bump();
        let name = self.name("the name of a function")?;
        let start = receiver.span;
        let (arguments, height) = self.arguments()?;
        self.grow(ExprKind::MethodCall(receiver, name, arguments), start, height)
    }

    /// `( '.' ID | '[' expr ']' )*`
    fn parts(&mut self, mut whole: Tall) -> Parsed<Tall> {
        let start = whole.expr.span;
        loop {
            if self.eat(Kind::Dot) {
                let name = self.name("the name of a field")?;
                whole = self.grow(ExprKind::Member(Box::new(whole.expr), name), start, whole.height)?;
            } else if self.eat(Kind::OpenBracket) {
                let index = self.value_of_statement()?;
                self.expect(Kind::CloseBracket, "after the index")?;
                let kind = ExprKind::Index(Box::new(whole.expr), Box::new(index.expr));
                whole = self.grow(kind, start, whole.height.max(index.height))?;
            } else {
                return Ok(whole);
            }
        }
    }

    /// Reports a field or element of something that has no name, and skips it.
    fn no_part_of_value(&mut self) -> Parsed<()> {
        if !matches!(self.kind(), Kind::Dot | Kind::OpenBracket) {
            return Ok(());
        }
        let error = Diagnostic::new(self.span(), "fields and elements can be taken of variables alone")
            .hint("keep the value in a variable first");
        self.complain(error);
        let (kind, span) = (ExprKind::Error, self.span());
        self.parts(Tall { expr: Expr { kind, span }, height: 1 }).map(|_| ())
    }

    /// `'(' args ')'`, and the height of the highest.
    pub(super) fn arguments(&mut self) -> Parsed<(Vec<Expr>, u32)> {
        self.expect(Kind::Open, "before the arguments")?;
        let (mut arguments, mut height) = (Vec::new(), 0);
        while !self.at(Kind::Close) || !arguments.is_empty() {
            let argument = self.tall_expr()?;
            height = height.max(argument.height);
            arguments.push(argument.expr);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close, "after the arguments")?;
        Ok((arguments, height))
    }

    /// A constant, if one stands here.
    fn literal(&mut self) -> Parsed<Option<Literal>> {
        let literal = match self.kind() {
            Kind::Pi => Literal::Pi,
            Kind::True => Literal::Boolean(true),
            Kind::False => Literal::Boolean(false),
            Kind::Hex => hexadecimal(self.text_at(self.span())),
            Kind::Number => return Ok(Some(self.number())),
            Kind::Dot if self.ahead(1) == Kind::Number => return Ok(Some(self.fraction())),
            Kind::String => self.string(),
            Kind::Char => self.character(),
            _ => return Ok(None),
        };
        self.bump();
        Ok(Some(literal))
    }

    /// Whether the token stands directly behind a place.
    pub(super) fn adjoins(&self, place: Span) -> bool {
        self.span().start == place.end
    }
}
