//! Unknown names.

use super::{MAX_ERRORS, Resolver};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::spelling::nearest;

/// The limit of names compared with an unknown one.
const MAX_NAMES: usize = 1000;

impl Resolver<'_> {
    /// The error for an unknown name, with a similar known name as suggestion.
    pub fn unknown<'n>(
        &self,
        what: &str,
        name: &str,
        span: Span,
        names: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        let error = Diagnostic::new(span, format!("cannot find {what} `{name}`")).label("not found");
        // Errors beyond the limit are dropped, so they need no suggestion.
        let limit = if self.diagnostics.len() < 2 * MAX_ERRORS { MAX_NAMES } else { 0 };
        match nearest(name, names.take(limit)) {
            Some(similar) => error.hint(format!("did you mean `{similar}`?")),
            None => error,
        }
    }

    /// Reports an unknown variable.
    pub fn unknown_variable<T>(&mut self, name: &str, span: Span) -> Option<T> {
        let names = self.frames.iter().rev().flat_map(|frame| frame.names());
        let mut error =
            self.unknown("variable", name, span, names.chain(self.tables.globals.keys().copied()));
        if self.tables.streams.contains_key(name) {
            error = error.label("this is a stream").hint("create streams with `add`, `body` or `loop`");
        }
        let globals = self.ast.globals.iter().flat_map(|block| &block.fields);
        if let Some(global) = globals.map(|field| &field.name).find(|global| global.text == name) {
            return self.error(with_late_declaration(error, global.span));
        }
        let reported = self.diagnostics.len();
        self.error::<()>(error);
        if self.diagnostics.len() > reported {
            for frame in &mut self.frames {
                frame.code.note_unknown(name, reported);
            }
        }
        None
    }

    /// Amends earlier errors about a name in this scope with the place of its late declaration.
    pub fn amend_early_uses(&mut self, name: &str, span: Span) {
        for at in self.code().early_uses(name) {
            let error = self.diagnostics[at].clone();
            self.diagnostics[at] = with_late_declaration(error, span);
        }
    }
}

/// Adds the place of a declaration that follows the use.
fn with_late_declaration(error: Diagnostic, declared: Span) -> Diagnostic {
    error.other(declared, "declared here, after its use").hint("move the declaration before the use")
}
