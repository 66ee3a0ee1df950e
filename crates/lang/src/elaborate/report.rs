//! Reporting what is wrong: once for each place, with the path of the stream.

use super::Elaborator;
use super::limits::MAX_ERRORS;
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::eval::{Failure, Outcome};
use crate::value::Shape;

/// Characters of a path that are shown: of a longer one the end.
const SHOWN: usize = 200;

impl Elaborator<'_> {
    /// The names of the stream that is being made and of all it is in.
    pub(super) fn path(&self) -> String {
        let names: Vec<&str> = self.path.iter().map(|(name, _)| name.as_str()).collect();
        names.join(".")
    }

    /// The same, short enough to be shown.
    pub(super) fn shown_path(&self) -> String {
        let path = self.path();
        let count = path.chars().count();
        if count <= SHOWN {
            path
        } else {
            format!("...{}", path.chars().skip(count - SHOWN).collect::<String>())
        }
    }

    /// Reports an error in the stream that is being made.
    pub(super) fn error(&mut self, span: Span, text: impl Into<String>) {
        self.report(Diagnostic::new(span, text));
    }

    /// Reports an error with what may help.
    pub(super) fn advise(&mut self, span: Span, text: impl Into<String>, hint: impl Into<String>) {
        self.report(Diagnostic::new(span, text).hint(hint));
    }

    /// Reports an error; before its text comes the path of the stream that is being made.
    pub(super) fn report(&mut self, mut error: Diagnostic) {
        if self.errors.len() >= MAX_ERRORS {
            self.stopped = true;
            return;
        }
        if !self.reported.insert((error.span, error.message.clone())) {
            return;
        }
        if !self.path.is_empty() {
            error.message = format!("`{}`: {}", self.shown_path(), error.message);
        }
        self.errors.push(error);
    }

    /// What comes of code, with its failure reported at its place, or at `span` if it has none.
    pub(super) fn accept<T>(&mut self, outcome: Outcome<T>, span: Span) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(failure) => {
                self.fail(*failure, span);
                None
            }
        }
    }

    fn fail(&mut self, failure: Failure, span: Span) {
        let place = if failure.span == Span::default() { span } else { failure.span };
        let mut error = Diagnostic::new(place, failure.fault.0);
        error.hint = hint(&error.message).map(str::to_owned);
        if self.budget.steps == 0 {
            let steps = self.limits.steps;
            error.message = format!("the streams are not made after {steps} steps: a loop may not end");
            error.hint =
                Some("see whether it ends; what takes long is better done by `prework` or `work`".into());
            self.stopped = true;
        }
        self.report(error);
    }

    /// A shape as the user writes it, in a sentence.
    pub(super) fn shape_name(&self, shape: &Shape) -> String {
        if shape.is_void() { "nothing".to_owned() } else { shape.named(&self.program.structs) }
    }

    /// Takes room for good, or reports that there is none.
    pub(super) fn keep(&mut self, words: u64, span: Span) -> Option<()> {
        if self.stopped {
            return None;
        }
        if self.budget.take(words) {
            return Some(());
        }
        let most = self.limits.words;
        let error =
            Diagnostic::new(span, format!("all streams together take more than {most} words of 4 bytes"));
        self.report(error.hint("make fewer streams, or arrays that are shorter"));
        self.stopped = true;
        None
    }
}

/// What may help with what code cannot do.
fn hint(fault: &str) -> Option<&'static str> {
    let hints = [
        ("is outside an array", "elements are counted from 0: the last one has the index `length - 1`"),
        ("given for an array of length", "a list has one value for each element"),
        ("is divided by zero", "see what the second number is calculated of, and with which parameters"),
    ];
    hints.iter().find(|(words, _)| fault.contains(words)).map(|(_, hint)| *hint)
}
