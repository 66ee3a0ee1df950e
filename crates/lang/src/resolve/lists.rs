//! Checks of list lengths against array lengths known at compile time.

use super::{Resolver, constant};
use crate::ast::Init;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, Shaped};
use crate::source::Span;
use crate::value::wrong_length;

impl Resolver<'_> {
    /// Reports lists that do not have one value per element. Lengths unknown here are checked during elaboration;
    /// lists on the same level must always have equal lengths.
    pub fn check_lists(&mut self, init: &Init, shape: &Shaped) -> Option<()> {
        let mut known: Vec<_> = shape.lengths.iter().map(known).collect();
        self.check_list(init, &mut known)
    }

    fn check_list(&mut self, init: &Init, known: &mut [Option<(usize, Span)>]) -> Option<()> {
        let (Init::List(inits, span), Some((length, inner))) = (init, known.split_first_mut()) else {
            return Some(());
        };
        let (required, declared_at) = *length.get_or_insert((inits.len(), *span));
        if inits.len() == required {
            return inits.iter().try_for_each(|init| self.check_list(init, inner));
        }
        let error = Diagnostic::new(*span, wrong_length(inits.len(), required));
        let given = if inits.len() < required { "too few values" } else { "too many values" };
        let error = error.label(given).other(declared_at, format!("{required} elements"));
        self.error(error.hint("arrays are rectangular; a list needs one value for each element"))
    }
}

/// A length known at compile time, and its place.
fn known(length: &Expr) -> Option<(usize, Span)> {
    let count = constant::integer(length)?;
    Some((usize::try_from(count).ok()?, length.span))
}
