//! Statements that instantiate and connect streams.

use super::misspelt::STREAMS;
use super::{Parsed, Parser};
use crate::ast::{Creator, CreatorKind, Expr, Name, StmtKind, Type, Weights};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;

impl Parser<'_> {
    /// `'add' creator`, and `body` and `loop` likewise.
    pub(super) fn create(&mut self, kind: fn(Creator) -> StmtKind) -> Parsed<StmtKind> {
        self.bump();
        let start = self.span();
        if self.lookahead(1) == Kind::OpenBrace {
            self.correct_keyword(&STREAMS);
        }
        if !(self.at_stream_keyword() || super::recover::starts_type(self.kind())) {
            return self.unexpected("a stream");
        }
        let named = self.at(Kind::Name) && !matches!(self.lookahead(1), Kind::Arrow | Kind::OpenBracket);
        let (creator, portals) = if named { self.named()? } else { self.anonymous()? };
        Ok(kind(Creator { kind: creator, portals, span: self.since(start) }))
    }

    /// `ID ['<' type '>'] ['(' args ')'] ['to' ID(,ID)*] ';'`
    fn named(&mut self) -> Parsed<(CreatorKind, Vec<Name>)> {
        let name = self.name("the name of a stream")?;
        let of = if self.at(Kind::Less) { Some(self.type_argument()?) } else { None };
        let arguments = if self.at(Kind::Open) { self.arguments()?.0 } else { Vec::new() };
        let portals = self.portals()?;
        self.semicolon("a stream");
        Ok((CreatorKind::Named(name, of, arguments), portals))
    }

    fn type_argument(&mut self) -> Parsed<Type> {
        self.bump();
        let ty = self.ty()?;
        self.expect(Kind::Greater, "after the type")?;
        Ok(ty)
    }

    /// An anonymous stream; it needs no `;`.
    fn anonymous(&mut self) -> Parsed<(CreatorKind, Vec<Name>)> {
        let stream = self.anonymous_stream()?;
        let portals = self.portals()?;
        if portals.is_empty() {
            self.eat(Kind::Semicolon);
        } else {
            self.semicolon("the portals");
        }
        Ok((CreatorKind::Anonymous(Box::new(stream)), portals))
    }

    /// `['to' ID(,ID)*]`
    fn portals(&mut self) -> Parsed<Vec<Name>> {
        let mut portals = Vec::new();
        if !self.eat(Kind::To) {
            return Ok(portals);
        }
        loop {
            portals.push(self.name("the name of a portal")?);
            if !self.eat(Kind::Comma) {
                return Ok(portals);
            }
        }
    }

    /// `'split' sj ';'` and `'join' sj ';'`
    pub(super) fn weights(&mut self, kind: fn(Weights) -> StmtKind) -> Parsed<StmtKind> {
        self.bump();
        self.correct_keyword(&[Kind::Duplicate, Kind::RoundRobin]);
        let weights = match self.kind() {
            Kind::Duplicate => self.duplicate()?,
            Kind::RoundRobin => self.round_robin()?,
            _ => {
                let hint = "write `duplicate`, or `roundrobin(1, 2)` with a weight for each stream";
                return self.unexpected_with("`roundrobin` or `duplicate`", Some(hint.to_owned()));
            }
        };
        self.semicolon("`roundrobin` or `duplicate`");
        Ok(kind(weights))
    }

    /// `'duplicate' ['(' ')']`
    fn duplicate(&mut self) -> Parsed<Weights> {
        self.bump();
        if !self.at(Kind::Open) {
            return Ok(Weights::Duplicate);
        }
        let start = self.span();
        if !self.optional_weights()?.is_empty() {
            let error = Diagnostic::new(self.since(start), "`duplicate` takes no weights")
                .hint("every child receives every item");
            self.report_here(error);
        }
        Ok(Weights::Duplicate)
    }

    /// `'roundrobin' [ '(' ')' | '(' expr (',' expr)* ')' ]`
    fn round_robin(&mut self) -> Parsed<Weights> {
        self.bump();
        Ok(Weights::RoundRobin(self.optional_weights()?))
    }

    fn optional_weights(&mut self) -> Parsed<Vec<Expr>> {
        if self.at(Kind::Open) { Ok(self.arguments()?.0) } else { Ok(Vec::new()) }
    }
}
