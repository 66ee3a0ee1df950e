//! Token access and error reports.

use super::{Failed, MAX_DEPTH, MAX_ERRORS, Parsed, Parser};
use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;

impl Parser<'_> {
    /// The kind of the current token.
    pub(super) fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    /// The kind of the token `tokens` places after the current one.
    pub(super) fn lookahead(&self, tokens: usize) -> Kind {
        self.tokens.get(self.at + tokens).map_or(Kind::End, |token| token.kind)
    }

    /// The kind of the previous token.
    pub(super) fn previous_kind(&self) -> Option<Kind> {
        Some(self.tokens[self.at.checked_sub(1)?].kind)
    }

    /// The place of the current token.
    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The place of the previous token.
    pub(super) fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// The span from `start` to the previous token.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.previous_span())
    }

    /// The source text of a span.
    pub(super) fn text_at(&self, span: Span) -> &str {
        &self.text[span.start() as usize..span.end() as usize]
    }

    /// Whether the current token is of this kind.
    pub(super) fn at(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    /// Consumes the current token; the end of the file is never consumed.
    pub(super) fn bump(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    /// Consumes the current token if it is of this kind.
    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Consumes a token of the required kind.
    pub(super) fn expect(&mut self, kind: Kind, place: &str) -> Parsed<Span> {
        self.expect_with(kind, place, None)
    }

    /// Consumes a token of the required kind; `hint` is the help line of the error.
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

    /// Reports a missing closing bracket at the end of a statement or head, where parsing can continue as if it
    /// were present.
    fn missing_close(&mut self, kind: Kind, place: &str) -> Span {
        let text = kind.text().unwrap_or("?");
        let error = Diagnostic::new(
            self.previous_span(),
            format!("expected `{text}` {place}, found {}", self.found()),
        )
        .label(format!("missing `{text}` after this"));
        self.report_here(error);
        self.previous_span()
    }

    /// Consumes a required identifier.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        if !self.at(Kind::Name) {
            let hint = self.kind().is_keyword().then(|| format!("{} is a keyword", self.found()));
            return self.unexpected_with(what, hint.or(self.hint()));
        }
        let span = self.bump();
        Ok(Name { text: self.text_at(span).into(), span })
    }

    /// Fails because something else was expected at the current token.
    pub(super) fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let hint = self.hint();
        self.unexpected_with(expected, hint)
    }

    /// As [`unexpected`](Self::unexpected), with a help line.
    pub(super) fn unexpected_with<T>(&mut self, expected: &str, hint: Option<String>) -> Parsed<T> {
        let error = Diagnostic::new(self.span(), format!("expected {expected}, found {}", self.found()))
            .label(format!("expected {expected}"));
        self.fail(Diagnostic { hint, ..error })
    }

    /// Reports an error after which the current production cannot continue.
    pub(super) fn fail<T>(&mut self, error: Diagnostic) -> Parsed<T> {
        if !self.is_follow_up_error() {
            self.report(error);
        }
        self.failed_at = Some(self.at);
        Err(Failed)
    }

    /// Reports an error at the current token; the current production continues.
    pub(super) fn report_here(&mut self, error: Diagnostic) {
        let _: Parsed<()> = self.fail(error);
    }

    /// Adds an error, up to the limit.
    pub(super) fn report(&mut self, error: Diagnostic) {
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(error);
        }
    }

    /// Whether an error at this token would follow from one already reported.
    pub(super) fn is_follow_up_error(&self) -> bool {
        let invalid = |kind| kind == Some(Kind::Invalid);
        self.failed_at == Some(self.at)
            || invalid(Some(self.kind()))
            || (self.at(Kind::End) && invalid(self.previous_kind()))
    }

    /// The current token in words.
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

    /// Reads one nesting level deeper. Beyond the limit the rest of the file is skipped.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return self.abort_file("this is nested too deeply", format!("more than {MAX_DEPTH} levels"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reports an error and skips the rest of the file.
    pub(super) fn abort_file<T>(&mut self, message: &str, label: String) -> Parsed<T> {
        let error = Diagnostic::new(self.span(), message)
            .label(label)
            .hint("split it into variables, functions or separate streams");
        let result = self.fail(error);
        self.at = self.tokens.len() - 1;
        self.failed_at = Some(self.at);
        result
    }
}
