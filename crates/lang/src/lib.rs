//! StreamIt: from source text to a graph of filters, and the interpreter that says what programs mean.
//!
//! ```text
//!  text ──lexer, parser──▶ ast ──resolve──▶ hir ──elaborate──▶ tree ──flatten──▶ flat ──schedule──▶ interpret
//!        what was written       names, types      which streams      filters,        who fires,
//!                                                 there are          channels        how often
//! ```
//!
//! Each arrow is a module, and reports what is wrong as [`Diagnostic`]s; each form can be printed.
//! [`compile`] goes all the way.

pub mod ast;
pub mod diagnostic;
pub mod elaborate;
pub mod eval;
pub mod files;
pub mod flat;
pub mod generate;
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

/// A program that can be run: all forms after the syntax tree.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    /// Names and types resolved.
    pub program: hir::Program,
    /// The streams that there are.
    pub tree: tree::Tree,
    /// The graph of filters, splitters and joiners.
    pub flat: flat::Flat,
    /// Who fires when, and how often.
    pub schedule: schedule::Schedule,
    /// Of the texts that it was made from, as [`Sources::digest`].
    pub digest: [u8; 32],
}

/// Compiles a program.
///
/// # Errors
/// What is wrong with it, as far as it can be seen at once: errors of one arrow hide those of the next, but for
/// mistakes in the syntax after which it was clear how to read on.
pub fn compile(sources: &Sources) -> Result<Compiled, Vec<Diagnostic>> {
    compile_within(sources, &elaborate::Limits::default())
}

/// Errors of the syntax and what else is wrong, in the order of the text; of one place the first is told.
fn together(mut errors: Vec<Diagnostic>, more: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let told: Vec<Span> = errors.iter().map(|error| error.span).collect();
    errors.extend(more.into_iter().filter(|error| !told.contains(&error.span)));
    errors.sort_by_key(|error| (error.span.file, error.span.start));
    errors.truncate(parser::MAX_ERRORS);
    errors
}

/// Compiles a program that may do so much while its streams are made.
///
/// # Errors
/// What is wrong with it, as with [`compile`].
pub fn compile_within(sources: &Sources, limits: &elaborate::Limits) -> Result<Compiled, Vec<Diagnostic>> {
    let (syntax, errors) = parse(sources);
    if errors.iter().any(|error| !error.mended) {
        return Err(errors);
    }
    let program = resolve::resolve(&syntax);
    if !errors.is_empty() {
        return Err(together(errors, program.err().unwrap_or_default()));
    }
    let program = program?;
    let tree = elaborate::elaborate_within(&program, limits)?;
    tree::check_writers(&tree)?;
    let flat = flat::flatten(&tree);
    let schedule = schedule::schedule(&flat, &tree)?;
    schedule::fits(&flat, &tree.structs, &schedule).map_err(|error| vec![error])?;
    let compiled = Compiled { program, tree, flat, schedule, digest: sources.digest() };
    messages::check(&compiled)?;
    Ok(compiled)
}
