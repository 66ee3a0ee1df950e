//! StreamIt: from source text to a graph of filters, and the interpreter that defines what programs mean.
//!
//! ```text
//!  text ──lexer, parser──▶ ast ──resolve──▶ hir ──elaborate──▶ tree ──flatten──▶ flat ──schedule──▶ interpret
//!        syntax               names, types      stream instances  filters,        firing order
//!                                                                  channels        and counts
//! ```
//!
//! Each arrow is a module and reports errors as [`Diagnostic`]s; each form can be printed. [`compile`] runs all
//! passes.

pub mod ast;
pub mod diagnostic;
pub mod elaborate;
pub mod eval;
pub mod files;
pub mod flat;
pub mod hir;
pub mod interpret;
pub mod lexer;
pub mod messages;
pub mod parser;
pub mod picture;
pub mod resolve;
pub mod schedule;
pub mod source;
mod spelling;
pub mod tree;
pub mod value;

pub use diagnostic::Diagnostic;
pub use parser::parse;
pub use source::{Sources, Span};

/// A program that can be run: every form after the syntax tree.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    /// Names and types resolved.
    pub program: hir::Program,
    /// The stream instances.
    pub tree: tree::Tree,
    /// The graph of filters, splitters and joiners: a graph of the engine.
    pub flat: flat::Flat,
    /// The order and number of firings.
    pub schedule: schedule::Schedule,
    /// The [`Sources::digest`] of the source texts.
    pub digest: [u8; 32],
}

/// Compiles a program.
///
/// # Errors
/// The errors that can be found in one run: errors of one pass hide those of later passes. The exception is a
/// syntax error from which the parser recovered without dropping text; resolution still runs after it.
pub fn compile(sources: &Sources) -> Result<Compiled, Vec<Diagnostic>> {
    compile_within(sources, &elaborate::Limits::default())
}

/// Merges syntax errors with later errors, in source order; a place that has a syntax error keeps only that one.
fn merge_errors(mut errors: Vec<Diagnostic>, more: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let reported: Vec<Span> = errors.iter().map(|error| error.span).collect();
    errors.extend(more.into_iter().filter(|error| !reported.contains(&error.span)));
    errors.sort_by_key(|error| (error.span.file(), error.span.start()));
    errors.truncate(parser::MAX_ERRORS);
    errors
}

/// Compiles a program, with limits on the work of elaboration.
///
/// # Errors
/// As [`compile`].
pub fn compile_within(sources: &Sources, limits: &elaborate::Limits) -> Result<Compiled, Vec<Diagnostic>> {
    let (syntax, errors) = parse(sources);
    if errors.iter().any(|error| !error.recovered) {
        return Err(errors);
    }
    let program = resolve::resolve(&syntax);
    if !errors.is_empty() {
        return Err(merge_errors(errors, program.err().unwrap_or_default()));
    }
    let program = program?;
    let tree = elaborate::elaborate_within(&program, limits)?;
    tree::check_writers(&tree)?;
    let mut flat = flat::flatten(&tree);
    messages::record(&program, &tree, &mut flat);
    let schedule = schedule::schedule(&flat)?;
    schedule::fits(&flat, &tree.structs, &schedule).map_err(|error| vec![error])?;
    let compiled = Compiled { program, tree, flat, schedule, digest: sources.digest() };
    messages::check(&compiled)?;
    Ok(compiled)
}
