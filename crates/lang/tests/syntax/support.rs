//! Helpers of the syntax tests.

use thalweg_lang::ast::Program;
use thalweg_lang::{Sources, parse};

/// Parses a text without errors.
pub fn tree(text: &str) -> Program {
    let sources = Sources::of("test.str", text);
    let (program, errors) = parse(&sources);
    let errors: Vec<String> = errors.iter().map(|error| error.render(&sources, false)).collect();
    assert!(errors.is_empty(), "{text}\n{}", errors.join("\n"));
    program
}

/// The errors of a text, as users see them.
pub fn errors(text: &str) -> String {
    let sources = Sources::of("test.str", text);
    let (_, errors) = parse(&sources);
    let rendered: Vec<String> = errors.iter().map(|error| error.render(&sources, false)).collect();
    // Lines of excerpts end in spaces.
    rendered.join("\n").lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

/// The debug text of a tree without its spans.
pub fn without_places(program: &Program) -> String {
    let text = format!("{program:?}");
    let mut parts = text.split("Span {");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |out, part| out + part.split_once('}').map_or("", |(_, rest)| rest))
}
