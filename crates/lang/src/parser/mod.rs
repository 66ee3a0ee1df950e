//! Tokens to a syntax tree by recursive descent, with one function per production.
//!
//! A function that cannot continue reports one error and returns `Failed`; the caller that reads a list (the
//! program, a filter's body, a block) resumes at the next element, which `recover` finds. A missing token such as
//! `;` and a misspelt keyword (`misspelt`) are reported, and parsing continues as if the text were right. Lookahead
//! and nesting are bounded, so parsing any text takes linear time and little stack.

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

/// The limit of nested braces, brackets, parentheses and statements together. A chain of `else if` is one level.
pub const MAX_DEPTH: u32 = 200;

/// The limit of the height of an expression tree. Chains such as `a.b.c` count; binary operators that follow each other, as in
/// `a + b + c`, are one level.
pub const MAX_HEIGHT: u32 = 512;

/// The limit of reported errors.
pub const MAX_ERRORS: usize = 100;

/// A production failed; the error has been reported.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// Parses all files of a program into one tree. Parts that could not be read are reported and left out.
pub fn parse(sources: &Sources) -> (Program, Vec<Diagnostic>) {
    let mut program = Program::default();
    let mut diagnostics = Vec::new();
    for (number, source) in sources.files().iter().enumerate() {
        let mut errors = parse_file(number as u32, source, &mut program);
        errors.sort_by_key(|error| error.span.start());
        diagnostics.extend(errors);
    }
    diagnostics.truncate(MAX_ERRORS);
    (program, diagnostics)
}

fn parse_file(number: u32, source: &Source, program: &mut Program) -> Vec<Diagnostic> {
    if u32::try_from(source.text.len()).is_err() {
        let nowhere = Span::new(number, 0, 0);
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

/// The parser state for one file.
struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The index of the current token.
    at: usize,
    /// The current nesting depth.
    depth: u32,
    /// Whether the parser is inside a filter.
    in_filter: bool,
    /// Whether the last element was a statement outside code; adjacent ones are not reported again.
    in_stray_code: bool,
    /// The token of the last failure; a second error there would follow from the first.
    failed_at: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>, diagnostics: Vec<Diagnostic>) -> Parser<'a> {
        Parser {
            text,
            tokens,
            at: 0,
            depth: 0,
            in_filter: false,
            in_stray_code: false,
            failed_at: None,
            diagnostics,
        }
    }
}
