//! Looking at tokens, taking them, and saying what was expected instead.

use super::{Failed, MAX_DEPTH, MAX_ERRORS, Parsed, Parser};
use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

impl Parser<'_> {
    /// The kind of the token that is looked at.
    pub(super) fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    /// The kind of a token so many after it.
    pub(super) fn ahead(&self, tokens: usize) -> Kind {
        self.tokens.get(self.at + tokens).map_or(Kind::End, |token| token.kind)
    }

    /// The kind of the token before it.
    pub(super) fn before(&self) -> Option<Kind> {
        Some(self.tokens[self.at.checked_sub(1)?].kind)
    }

    /// Its place.
    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The place of the token before it.
    pub(super) fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// From a place to the token before.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.last())
    }

    /// What stands at a place.
    pub(super) fn text_at(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Whether the token is of a kind.
    pub(super) fn at(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    /// Takes the token; the last one stays.
    pub(super) fn bump(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    /// Takes the token if it is of a kind.
    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let there = self.at(kind);
        if there {
            self.bump();
        }
        there
    }

    /// Takes a token that must be of a kind.
    pub(super) fn expect(&mut self, kind: Kind, place: &str) -> Parsed<Span> {
        self.expect_with(kind, place, None)
    }

    /// The same, with what may help where it is another.
    pub(super) fn expect_with(&mut self, kind: Kind, place: &str, hint: Option<&str>) -> Parsed<Span> {
        if self.at(kind) {
            return Ok(self.bump());
        }
        let ends = matches!(self.kind(), Kind::Semicolon | Kind::OpenBrace | Kind::CloseBrace | Kind::End);
        if ends && matches!(kind, Kind::Close | Kind::CloseBracket) {
            return Ok(self.missing_close(kind, place));
        }
        let text = kind.text().unwrap_or("?");
        let expected = format!("`{text}`{}{place}", if place.is_empty() { "" } else { " " });
        let hint = self.hint().or(hint.map(str::to_owned));
        self.unexpected_with(&expected, hint)
    }

    /// Reports a closing bracket that is missing at the end of a statement or head, where it is clear enough
    /// how to go on.
    fn missing_close(&mut self, kind: Kind, place: &str) -> Span {
        let text = kind.text().unwrap_or("?");
        let error =
            Diagnostic::new(self.last(), format!("expected `{text}` {place}, found {}", self.found()))
                .label(format!("a `{text}` is missing behind this"));
        self.complain(error);
        self.last()
    }

    /// Takes an identifier that must be there.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        if !self.at(Kind::Name) {
            let hint =
                self.kind().is_keyword().then(|| format!("{} is a word of the language", self.found()));
            return self.unexpected_with(what, hint.or(self.hint()));
        }
        let span = self.bump();
        Ok(Name { text: self.text_at(span).into(), span })
    }

    /// Says that something else was expected where we are.
    pub(super) fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let hint = self.hint();
        self.unexpected_with(expected, hint)
    }

    /// The same, with what may help.
    pub(super) fn unexpected_with<T>(&mut self, expected: &str, hint: Option<String>) -> Parsed<T> {
        let error = Diagnostic::new(self.span(), format!("expected {expected}, found {}", self.found()))
            .label(format!("expected {expected}"));
        self.fail(Diagnostic { hint, ..error })
    }

    /// Reports an error because of which reading cannot go on.
    pub(super) fn fail<T>(&mut self, error: Diagnostic) -> Parsed<T> {
        if !self.follows_from_another() {
            self.report(error);
        }
        self.failed_at = Some(self.at);
        Err(Failed)
    }

    /// Reports an error where we are that reading goes on after as if there were none.
    pub(super) fn complain(&mut self, error: Diagnostic) {
        let _: Parsed<()> = self.fail(error);
    }

    /// Adds an error to those there are.
    pub(super) fn report(&mut self, error: Diagnostic) {
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(error);
        }
    }

    /// Whether an error here has the cause of one that has been reported.
    pub(super) fn follows_from_another(&self) -> bool {
        let invalid = |kind| kind == Some(Kind::Invalid);
        self.failed_at == Some(self.at)
            || invalid(Some(self.kind()))
            || (self.at(Kind::End) && invalid(self.before()))
    }

    /// What stands where we are, in words.
    pub(super) fn found(&self) -> String {
        const SHOWN: usize = 30;
        if self.at(Kind::End) {
            return "the end of the file".to_string();
        }
        let text = self.text_at(self.span());
        let shown: String = text.chars().take(SHOWN).collect();
        let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
        format!("`{shown}{more}`")
    }

    /// Reads something one level deeper. Beyond the deepest level nothing of the file is read any more.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return self.give_up("this is nested too deeply", format!("more than {MAX_DEPTH} levels"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reports an error after which nothing of the file is read.
    pub(super) fn give_up<T>(&mut self, message: &str, label: String) -> Parsed<T> {
        let error = Diagnostic::new(self.span(), message)
            .label(label)
            .hint("keep parts of it in variables, or in functions and streams of their own");
        let result = self.fail(error);
        self.at = self.tokens.len() - 1;
        self.failed_at = Some(self.at);
        result
    }
}
