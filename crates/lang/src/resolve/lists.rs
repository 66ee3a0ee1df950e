//! Lists of first values against lengths that are known here.

use super::{Resolver, constant};
use crate::ast::Init;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, Shaped};
use crate::source::Span;
use crate::value::wrong_length;

impl Resolver<'_> {
    /// Whether each list has a value for each element; reports where not. Lengths that are not known here are
    /// looked at when they are, but that lists beside each other are as long as each other is seen here always.
    pub fn check_lists(&mut self, init: &Init, shape: &Shaped) -> Option<()> {
        let mut known: Vec<_> = shape.lengths.iter().map(known).collect();
        self.check_list(init, &mut known)
    }

    fn check_list(&mut self, init: &Init, known: &mut [Option<(usize, Span)>]) -> Option<()> {
        let (Init::List(inits, span), Some((length, inner))) = (init, known.split_first_mut()) else {
            return Some(());
        };
        let (wanted, said) = *length.get_or_insert((inits.len(), *span));
        if inits.len() == wanted {
            return inits.iter().try_for_each(|init| self.check_list(init, inner));
        }
        let error = Diagnostic::new(*span, wrong_length(inits.len(), wanted));
        let given = if inits.len() < wanted { "too few values" } else { "too many values" };
        let error = error.label(given).other(said, format!("{wanted} elements"));
        self.error(error.hint("arrays are rectangular, and a list has one value for each element"))
    }
}

/// A length that is known without executing anything, and where it stands.
fn known(length: &Expr) -> Option<(usize, Span)> {
    let count = constant::integer(length)?;
    Some((usize::try_from(count).ok()?, length.span))
}
