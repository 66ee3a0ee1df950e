//! Bodies of filters.

use super::{Parsed, Parser};
use crate::ast::{Filter, Function, Param, Type, TypeKind, Work};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;

impl Parser<'_> {
    /// `filterbody`
    pub(super) fn filter(&mut self, stateful: bool) -> Parsed<Filter> {
        let start = self.expect(Kind::OpenBrace, "before the body of the filter")?;
        let mut filter = Filter {
            stateful,
            fields: Vec::new(),
            inits: Vec::new(),
            preworks: Vec::new(),
            works: Vec::new(),
            functions: Vec::new(),
            handlers: Vec::new(),
        };
        while !matches!(self.kind(), Kind::CloseBrace | Kind::End) && !self.at_item() {
            let before = self.at;
            match self.part(&mut filter) {
                Ok(()) if self.at > before => self.in_stray_code = false,
                _ => self.next_part(before),
            }
        }
        self.close_brace(start);
        Ok(filter)
    }

    /// Skips to the next possible part after one that could not be read.
    pub(super) fn next_part(&mut self, before: usize) {
        self.skip_from(before);
        if self.at(Kind::OpenBrace) {
            self.skip_group();
        }
    }

    fn part(&mut self, filter: &mut Filter) -> Parsed<()> {
        self.correct_part();
        match self.kind() {
            Kind::Semicolon => {
                self.bump();
            }
            Kind::Init => {
                self.bump();
                filter.inits.push(self.block()?);
            }
            Kind::Prework => filter.preworks.push(self.work()?),
            Kind::Work => filter.works.push(self.work()?),
            Kind::Handler => filter.handlers.push(self.handler()?),
            _ => self.field_or_function(filter)?,
        }
        Ok(())
    }

    /// `('work'|'prework') rates block`
    fn work(&mut self) -> Parsed<Work> {
        let start = self.bump();
        let rates = self.rates()?;
        let body = self.block()?;
        Ok(Work { rates, body, span: self.since(start) })
    }

    /// `'handler' ID params block`
    fn handler(&mut self) -> Parsed<Function> {
        let span = self.bump();
        self.function(Type { kind: TypeKind::Void, span })
    }

    /// `type ID params rates block`, starting at the name.
    pub(super) fn function(&mut self, result: Type) -> Parsed<Function> {
        let name = self.name("the name of a function")?;
        let params = if self.at(Kind::OpenBrace) { self.missing_params() } else { self.params_or_skip()? };
        let rates = self.rates()?;
        let body = self.block()?;
        Ok(Function { result, name, params, rates, body })
    }

    fn missing_params(&mut self) -> Vec<Param> {
        let name = self.text_at(self.previous_span()).to_string();
        let error = Diagnostic::new(self.previous_span(), "missing parameters for this function")
            .hint(format!("write `{name}()`"));
        self.report_here(error);
        Vec::new()
    }

    /// Reports something that is not part of a filter. The usual cause is an extra `}` before a statement.
    fn unexpected_part(&mut self) -> Parsed<()> {
        if !super::recover::starts_statement(self.kind()) && !self.at(Kind::OpenBrace) {
            return self.unexpected("a field, a function, `init`, `work`, `prework` or `handler`");
        }
        let start = self.span();
        self.statement_outside_code(start)
    }

    fn field_or_function(&mut self, filter: &mut Filter) -> Parsed<()> {
        if !super::recover::starts_type(self.kind()) {
            return self.unexpected_part();
        }
        let ty = self.ty()?;
        if self.at(Kind::Name) && matches!(self.lookahead(1), Kind::Open | Kind::OpenBrace) {
            filter.functions.push(self.function(ty)?);
            return Ok(());
        }
        filter.fields.extend(self.fields(ty)?);
        self.semicolon("a field");
        Ok(())
    }
}
