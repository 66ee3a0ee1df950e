//! Names that mean nothing.

use super::{MAX_ERRORS, Resolver};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::spelling::nearest;

/// More names are not compared with one.
const MAX_NAMES: usize = 1000;

impl Resolver<'_> {
    /// An error about a name that means nothing, with the name that was probably meant.
    pub fn unknown<'n>(
        &self,
        what: &str,
        name: &str,
        span: Span,
        names: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        let error = Diagnostic::new(span, format!("there is no {what} `{name}`")).label("not found");
        // What is reported beyond the bound is not read.
        let patience = if self.diagnostics.len() < 2 * MAX_ERRORS { MAX_NAMES } else { 0 };
        match nearest(name, names.take(patience)) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        }
    }

    /// Reports a variable that there is not.
    pub fn unknown_variable<T>(&mut self, name: &str, span: Span) -> Option<T> {
        let names = self.frames.iter().rev().flat_map(|frame| frame.names());
        let mut error =
            self.unknown("variable", name, span, names.chain(self.tables.globals.keys().copied()));
        if self.tables.streams.contains_key(name) {
            error = error.label("this is a stream").hint("streams are made with `add`, `body` and `loop`");
        }
        let globals = self.ast.globals.iter().flat_map(|block| &block.fields);
        if let Some(global) = globals.map(|field| &field.name).find(|global| global.text == name) {
            return self.error(late(error, global.span));
        }
        let reported = self.diagnostics.len();
        self.error::<()>(error);
        if self.diagnostics.len() > reported {
            for frame in &mut self.frames {
                frame.code.misses(name, reported);
            }
        }
        None
    }

    /// A variable is declared here; where it was used before, it is told so.
    pub fn comes_late(&mut self, name: &str, span: Span) {
        for at in self.code().missed(name) {
            let error = self.diagnostics[at].clone();
            self.diagnostics[at] = late(error, span);
        }
    }
}

/// An error about a name that is declared only after it is used.
fn late(error: Diagnostic, declared: Span) -> Diagnostic {
    error.other(declared, "declared here, after that").hint("a variable is declared before it is used")
}
