//! StreamIt: from source text to a graph of filters, and the interpreter that says what programs mean.
//!
//! ```text
//!  text ──lexer, parser──▶ ast ──resolve──▶ hir ──elaborate──▶ tree ──flatten──▶ flat ──schedule──▶ interpret
//!        what was written       names, types      which streams      filters,        who fires,
//!                                                 there are          channels        how often
//! ```
//!
//! Each arrow is a module, and reports what is wrong as [`Diagnostic`]s; each form can be printed.

pub mod ast;
pub mod diagnostic;
pub mod eval;
pub mod files;
pub mod flat;
pub mod hir;
pub mod lexer;
pub mod parser;
pub mod picture;
pub mod resolve;
pub mod schedule;
pub mod source;
pub mod tree;
pub mod value;

pub use diagnostic::Diagnostic;
pub use parser::parse;
pub use source::{Sources, Span};
