//! Declarations of streams, and bodies of composites.

use super::misspelt::STREAMS;
use super::{Parsed, Parser};
use crate::ast::{Composite, Param, Stream, StreamBody, Type};
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;

impl Parser<'_> {
    /// `stream := type '->' type (...)` with a name.
    pub(super) fn named_stream(&mut self) -> Parsed<Stream> {
        let start = self.span();
        let types = if self.at_stream_keyword() { self.missing_types() } else { Some(self.stream_types()?) };
        let stateful = self.stateful();
        let word = self.stream_keyword()?;
        let name = Some(self.name("the name of the stream")?);
        let params = self.optional_params()?;
        let body = self.stream_body(word, stateful)?;
        Ok(Stream { name, types, params, body, span: self.since(start) })
    }

    /// An anonymous stream: no parameters, and optional types.
    pub(super) fn anonymous_stream(&mut self) -> Parsed<Stream> {
        let start = self.span();
        let types = if self.at_stream_keyword() { None } else { Some(self.stream_types()?) };
        let stateful = self.stateful();
        let word = self.stream_keyword()?;
        self.reject_name()?;
        let body = self.stream_body(word, stateful)?;
        Ok(Stream { name: None, types, params: Vec::new(), body, span: self.since(start) })
    }

    pub(super) fn at_stream_keyword(&self) -> bool {
        use Kind::{FeedbackLoop, Filter, Pipeline, SplitJoin, Stateful};
        matches!(self.kind(), Stateful | Filter | Pipeline | SplitJoin | FeedbackLoop)
    }

    fn stateful(&mut self) -> bool {
        if self.lookahead(1) == Kind::Filter {
            self.correct_keyword(&[Kind::Stateful]);
        }
        self.eat(Kind::Stateful)
    }

    /// `type '->' type`
    fn stream_types(&mut self) -> Parsed<(Type, Type)> {
        let input = self.ty()?;

        if super::recover::starts_type(self.kind()) && self.lookahead(1) != Kind::OpenBrace {
            let from = self.text_at(input.span);
            let hint = format!("write `{from}->{}`", self.text_at(self.span()));
            let error =
                Diagnostic::new(self.span(), format!("expected `->` before this, found {}", self.found()));
            self.report_here(error.hint(hint));
        } else {
            self.expect(Kind::Arrow, "after the input type")?;
        }
        Ok((input, self.ty()?))
    }

    fn missing_types(&mut self) -> Option<(Type, Type)> {
        let word = self.text_at(self.span()).to_string();
        let error = Diagnostic::new(self.span(), "missing input and output types for this stream")
            .hint(format!("write the types before it, such as `float->float {word}`"));
        self.report_here(error);
        None
    }

    /// The keyword of a stream: `None` for a filter, else the kind of composite.
    fn stream_keyword(&mut self) -> Parsed<Option<Composite>> {
        self.correct_keyword(&STREAMS);
        let word = match self.kind() {
            Kind::Filter => None,
            Kind::Pipeline => Some(Composite::Pipeline),
            Kind::SplitJoin => Some(Composite::SplitJoin),
            Kind::FeedbackLoop => Some(Composite::FeedbackLoop),
            _ => return self.unexpected("`filter`, `pipeline`, `splitjoin` or `feedbackloop`"),
        };
        self.bump();
        Ok(word)
    }

    /// Reports a name on an anonymous stream, and skips it with its parameters.
    fn reject_name(&mut self) -> Parsed<()> {
        if !self.at(Kind::Name) {
            return Ok(());
        }
        let error = Diagnostic::new(self.span(), "a stream defined in place cannot have a name")
            .hint("remove the name, or define the stream at the top level and use its name here");
        self.report_here(error);
        self.bump();
        self.optional_params().map(|_| ())
    }

    fn optional_params(&mut self) -> Parsed<Vec<Param>> {
        if self.at(Kind::Open) { self.params_or_skip() } else { Ok(Vec::new()) }
    }

    /// Parameters. If they cannot be read, skips to the following block.
    pub(super) fn params_or_skip(&mut self) -> Parsed<Vec<Param>> {
        self.params().or_else(|failed| if self.skip_to_block() { Ok(Vec::new()) } else { Err(failed) })
    }

    fn stream_body(&mut self, word: Option<Composite>, stateful: bool) -> Parsed<StreamBody> {
        let outer = std::mem::replace(&mut self.in_filter, word.is_none());
        let body = self.nested(|parser| match word {
            None => Ok(StreamBody::Filter(parser.filter(stateful)?)),
            Some(composite) => Ok(StreamBody::Composite(composite, parser.block()?)),
        });
        self.in_filter = outer;
        body
    }
}
