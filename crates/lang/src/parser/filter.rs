//! Bodies of filters.

use super::{Parsed, Parser};
use crate::ast::{Filter, Function, Type, TypeKind, Work};
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
            if self.part(&mut filter).is_err() {
                self.next_part(before);
            }
        }
        self.close_brace(start);
        Ok(filter)
    }

    /// Goes to where a part may begin, after one that could not be read.
    pub(super) fn next_part(&mut self, before: usize) {
        self.skip_statement();
        if self.at(Kind::OpenBrace) {
            self.skip_group();
        }
        if self.at == before && !matches!(self.kind(), Kind::CloseBrace | Kind::End) {
            self.bump();
        }
    }

    fn part(&mut self, filter: &mut Filter) -> Parsed<()> {
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

    /// `type ID params rates block`, from the name on.
    pub(super) fn function(&mut self, result: Type) -> Parsed<Function> {
        let name = self.name("the name of a function")?;
        let params = self.params_or_skip()?;
        let rates = self.rates()?;
        let body = self.block()?;
        Ok(Function { result, name, params, rates, body })
    }

    fn field_or_function(&mut self, filter: &mut Filter) -> Parsed<()> {
        if !super::recover::starts_type(self.kind()) {
            return self.unexpected("a field, a function, `init`, `work`, `prework` or `handler`");
        }
        let ty = self.ty()?;
        if self.at(Kind::Name) && self.ahead(1) == Kind::Open {
            filter.functions.push(self.function(ty)?);
            return Ok(());
        }
        filter.fields.extend(self.fields(ty)?);
        self.semicolon("a field");
        Ok(())
    }
}
