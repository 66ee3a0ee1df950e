//! Tokens to a syntax tree, by recursive descent: one function for each production of the language.
//!
//! A function that cannot go on reports why, once, and answers `Failed`; whoever holds a list (the program,
//! a filter's body, a block) goes on with its next element, which `recover` finds. What is merely missing,
//! such as a `;`, is reported and taken as written, and so is a misspelt word (`misspelt`). No token is looked at
//! twice but for a fixed look ahead, and nesting is bounded, so any text is read in linear time and on a small
//! stack.

mod creator;
mod cursor;
mod expr;
mod filter;
mod item;
mod literal;
mod misspelt;
mod rates;
mod recover;
mod simple;
mod stmt;
mod stream;
mod types;
mod value;

use crate::ast::Program;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, lex};
use crate::source::{Source, Sources, Span};

/// Levels of nesting that are read: of braces, brackets, parentheses and statements together.
pub const MAX_DEPTH: u32 = 200;

/// Operators and values one inside the other that an expression may have, chains such as `a + b + c` included.
pub const MAX_HEIGHT: u32 = 512;

/// Errors that are reported; whoever has so many mends some and asks again.
pub const MAX_ERRORS: usize = 100;

/// What could not be read; why has been reported.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// Reads all files of a program into one tree. What could not be read is reported and left out, the rest is
/// there.
pub fn parse(sources: &Sources) -> (Program, Vec<Diagnostic>) {
    let mut program = Program::default();
    let mut diagnostics = Vec::new();
    for (number, source) in sources.files().iter().enumerate() {
        let mut errors = parse_file(number as u32, source, &mut program);
        errors.sort_by_key(|error| error.span.start);
        diagnostics.extend(errors);
    }
    diagnostics.truncate(MAX_ERRORS);
    (program, diagnostics)
}

fn parse_file(number: u32, source: &Source, program: &mut Program) -> Vec<Diagnostic> {
    if u32::try_from(source.text.len()).is_err() {
        let nowhere = Span { file: number, start: 0, end: 0 };
        return vec![Diagnostic::new(nowhere, "this file is larger than 4 GiB")];
    }
    let mut diagnostics = Vec::new();
    let tokens = lex(number, source, &mut diagnostics);
    diagnostics.truncate(MAX_ERRORS);
    let mut parser = Parser::new(&source.text, tokens, diagnostics);
    parser.program(program);
    let mut diagnostics = parser.diagnostics;
    for error in diagnostics.iter_mut().filter(|error| error.label.is_empty()) {
        error.label.push_str("here");
    }
    diagnostics
}

/// A file's tokens, and how far they have been read.
struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The token that is looked at.
    at: usize,
    /// How deeply what is being read is nested.
    depth: u32,
    /// Whether it is a part of a filter.
    in_filter: bool,
    /// Whether what was read last is code where none can be, of which more may follow.
    lost: bool,
    /// The token at which the last error was, where another would follow from it.
    failed_at: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>, diagnostics: Vec<Diagnostic>) -> Parser<'a> {
        Parser { text, tokens, at: 0, depth: 0, in_filter: false, lost: false, failed_at: None, diagnostics }
    }
}
