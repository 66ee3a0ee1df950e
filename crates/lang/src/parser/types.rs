//! Types, parameters and initial values.

use super::{Failed, Parsed, Parser};
use crate::ast::{Expr, Init, Param, Primitive, Type, TypeKind, Variable};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

/// The limit of tokens in a type: every variable of a declaration gets its own copy.
const MAX_TYPE_TOKENS: usize = 128;

/// The type of a keyword.
pub(super) fn primitive(kind: Kind) -> Option<Primitive> {
    Some(match kind {
        Kind::Boolean => Primitive::Boolean,
        Kind::Bit => Primitive::Bit,
        Kind::Int => Primitive::Int,
        Kind::Float => Primitive::Float,
        Kind::Double => Primitive::Double,
        Kind::Complex => Primitive::Complex,
        Kind::Float2 => Primitive::Float2,
        Kind::Float3 => Primitive::Float3,
        Kind::Float4 => Primitive::Float4,
        _ => return None,
    })
}

/// `base[first][second]`: the first length is the outermost.
pub(super) fn array(base: Type, lengths: Vec<Expr>, span: Span) -> Type {
    lengths.into_iter().rev().fold(base, |element, length| Type {
        kind: TypeKind::Array(Box::new(element), Box::new(length)),
        span,
    })
}

impl Parser<'_> {
    /// `type := (prim | ID) ('[' expr ']')* | 'void' | 'portal' '<' ID '>'`
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        let (start, first) = (self.span(), self.at);
        let kind = self.plain_type()?;
        let base = Type { kind, span: self.since(start) };
        let mut lengths = Vec::new();
        while self.eat(Kind::OpenBracket) {
            lengths.push(self.expr()?);
            self.expect(Kind::CloseBracket, "after the length of the array")?;
        }
        let span = self.since(start);
        self.check_type_size(first, span)?;
        Ok(array(base, lengths, span))
    }

    fn plain_type(&mut self) -> Parsed<TypeKind> {
        if let Some(primitive) = primitive(self.kind()) {
            self.bump();
            return Ok(TypeKind::Primitive(primitive));
        }
        match self.kind() {
            Kind::Void => {
                self.bump();
                Ok(TypeKind::Void)
            }
            Kind::Portal => self.portal_type(),
            _ => Ok(TypeKind::Named(self.name("a type")?)),
        }
    }

    fn portal_type(&mut self) -> Parsed<TypeKind> {
        self.bump();
        self.expect(Kind::Less, "after `portal`")?;
        let filter = self.name("the name of the filter that receives the messages")?;
        self.expect(Kind::Greater, "after the portal's filter")?;
        Ok(TypeKind::Portal(filter))
    }

    /// Fails if a type that began at token `first` is too long.
    pub(super) fn check_type_size(&mut self, first: usize, span: Span) -> Parsed<()> {
        if self.at - first <= MAX_TYPE_TOKENS {
            return Ok(());
        }
        let error = Diagnostic::new(span, format!("this type has more than {MAX_TYPE_TOKENS} tokens"))
            .hint("store the lengths in variables");
        self.fail(error)
    }

    /// `params := '(' [type ID (',' type ID)*] ')'`
    pub(super) fn params(&mut self) -> Parsed<Vec<Param>> {
        self.expect(Kind::Open, "before the parameters")?;
        let mut params = Vec::new();
        if self.eat(Kind::Close) {
            return Ok(params);
        }
        loop {
            params.push(self.param("the name of a parameter")?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close, "after the parameters")?;
        Ok(params)
    }

    /// `type ID`
    pub(super) fn param(&mut self, what: &str) -> Parsed<Param> {
        let ty = self.ty()?;
        let name = self.name(what)?;
        self.reject_length_after_name(&ty);
        Ok(Param { ty, name })
    }

    /// Variables of a field declaration; a statement in its place is reported.
    pub(super) fn fields(&mut self, ty: Type) -> Parsed<Vec<Variable>> {
        if super::expr::assignment(self.kind()).is_some() || self.at(Kind::Dot) || self.at(Kind::Open) {
            return self.statement_outside_code(ty.span);
        }
        self.variables(ty)
    }

    /// Reports a statement outside code; adjacent ones are reported once.
    pub(super) fn statement_outside_code<T>(&mut self, start: Span) -> Parsed<T> {
        if self.in_stray_code {
            return Err(Failed);
        }
        self.in_stray_code = true;
        let error = Diagnostic::new(start.to(self.span()), "statement outside a function")
            .hint("move it into `init`, `work` or a function, or remove an extra `}` before it");
        self.fail(error)
    }

    /// The rest of `type ID ['=' varinit] (',' ID ['=' varinit])*`, after the type.
    pub(super) fn variables(&mut self, ty: Type) -> Parsed<Vec<Variable>> {
        let mut name = self.name("the name of a variable")?;
        let mut variables = Vec::new();
        loop {
            self.reject_length_after_name(&ty);
            let init = if self.eat(Kind::Assign) { Some(self.init_value()?) } else { None };
            variables.push(Variable { ty: ty.clone(), name, init });
            if !self.eat(Kind::Comma) {
                return Ok(variables);
            }
            name = self.name("the name of a variable")?;
        }
    }

    /// Reports an array length after the name, as in C, and skips it.
    fn reject_length_after_name(&mut self, ty: &Type) {
        if !self.at(Kind::OpenBracket) {
            return;
        }
        let ty = self.text_at(ty.span).to_string();
        let error =
            Diagnostic::new(self.span(), "the length of an array belongs to the type, not to the name")
                .hint(format!("write `{ty}[length] name`"));
        self.report(error);
        while self.at(Kind::OpenBracket) && self.skip_past(Kind::CloseBracket) {}
        self.failed_at = Some(self.at);
    }

    /// `varinit := expr | '{' [varinit (',' varinit)*] '}'`
    pub(super) fn init_value(&mut self) -> Parsed<Init> {
        if !self.at(Kind::OpenBrace) {
            return Ok(Init::Value(self.expr()?));
        }
        let start = self.bump();
        let mut values = Vec::new();
        while !self.at(Kind::CloseBrace) {
            values.push(self.nested(Parser::init_value)?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::CloseBrace, "after the values")?;
        Ok(Init::List(values, self.since(start)))
    }
}
