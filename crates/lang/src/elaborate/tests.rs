//! Elaboration of programs to streams or errors.

mod composites;
mod errors;
mod filters;
mod limits;
mod mismatches;
mod order;

use super::{Limits, elaborate_within};
use crate::tree::{Tree, describe};
use crate::{Diagnostic, Sources, hir, parser, resolve};

fn shown(errors: &[Diagnostic], sources: &Sources) -> String {
    errors.iter().map(|error| error.render(sources, false)).collect()
}

/// The resolved program, and its elaboration within limits.
pub(super) fn made_within(text: &str, limits: &Limits) -> (hir::Program, Result<Tree, String>) {
    let sources = Sources::of("test.str", text);
    let (parsed, errors) = parser::parse(&sources);
    assert!(errors.is_empty(), "{}", shown(&errors, &sources));
    let program = resolve::resolve(&parsed).unwrap_or_else(|errors| panic!("{}", shown(&errors, &sources)));
    let tree = elaborate_within(&program, limits).map_err(|errors| shown(&errors, &sources));
    (program, tree)
}

/// The elaborated streams.
pub(super) fn made(text: &str) -> Tree {
    made_within(text, &Limits::default()).1.unwrap_or_else(|errors| panic!("{errors}"))
}

/// The elaborated streams as text.
pub(super) fn described(text: &str) -> String {
    let (program, tree) = made_within(text, &Limits::default());
    describe(&tree.unwrap_or_else(|errors| panic!("{errors}")), &program)
}

/// The errors of elaboration.
pub(super) fn errors(text: &str) -> String {
    made_within(text, &Limits::default()).1.expect_err("errors")
}

/// A source of integers, a sink of integers, and a filter between them.
pub(super) const ENDS: &str = "
void->int filter S { work push 1 { push(1); } }
int->void filter T { work pop 1 { pop(); } }
int->int filter F { work pop 1 push 1 { push(pop()); } }
";
