//! Error reports: once per place, with the path of the stream.

use super::Elaborator;
use super::limits::MAX_ERRORS;
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::eval::{Failure, Outcome};
use crate::value::Shape;

/// The limit of characters shown of a path; the end of a longer one is kept.
const SHOWN: usize = 200;

impl Elaborator<'_> {
    /// The path of the stream being instantiated.
    pub(super) fn path(&self) -> String {
        let names: Vec<&str> = self.path.iter().map(|(name, _)| name.as_str()).collect();
        names.join(".")
    }

    /// The path, cut to a length for messages.
    pub(super) fn shown_path(&self) -> String {
        let path = self.path();
        let count = path.chars().count();
        if count <= SHOWN {
            path
        } else {
            format!("...{}", path.chars().skip(count - SHOWN).collect::<String>())
        }
    }

    /// Reports an error in the stream being instantiated.
    pub(super) fn error(&mut self, span: Span, text: impl Into<String>) {
        self.report(Diagnostic::new(span, text));
    }

    /// Reports an error with a help line.
    pub(super) fn error_with_hint(&mut self, span: Span, text: impl Into<String>, hint: impl Into<String>) {
        self.report(Diagnostic::new(span, text).hint(hint));
    }

    /// Reports an error, prefixed with the path of the stream being instantiated.
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

    /// The result of code; a failure is reported at its place, or at `span` if it has none.
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
            error.message = format!("elaboration exceeds {steps} steps: a loop may not terminate");
            error.hint =
                Some("check the loop condition, or move long computations to `prework` or `work`".into());
            self.stopped = true;
        }
        self.report(error);
    }

    /// A shape as the user writes it, for messages.
    pub(super) fn shape_name(&self, shape: &Shape) -> String {
        if shape.is_void() { "nothing".to_owned() } else { shape.named(&self.program.structs) }
    }

    /// Reserves memory for the rest of elaboration, or reports that the limit is exceeded.
    pub(super) fn reserve(&mut self, words: u64, span: Span) -> Option<()> {
        if self.stopped {
            return None;
        }
        if self.budget.reserve(words) {
            return Some(());
        }
        let most = self.limits.words;
        let error =
            Diagnostic::new(span, format!("the streams together take more than {most} words of 4 bytes"));
        self.report(error.hint("create fewer streams or shorter arrays"));
        self.stopped = true;
        None
    }
}

/// The help line for a fault.
fn hint(fault: &str) -> Option<&'static str> {
    let hints = [
        ("is outside an array", "valid indices are 0 to `length - 1`"),
        ("but the list has", "a list needs one value for each element"),
        ("is divided by zero", "check how the divisor is computed, and from which parameters"),
    ];
    hints.iter().find(|(words, _)| fault.contains(words)).map(|(_, hint)| *hint)
}
