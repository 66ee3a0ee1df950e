//! Wraps pieces of code in programs, and checks the errors of the resolver.

use thalweg_lang::hir::{self, StreamBody};
use thalweg_lang::resolve::resolve;
use thalweg_lang::{Diagnostic, Sources, parse};

/// Resolves a program, which must be free of syntax errors.
pub fn resolved(text: &str) -> Result<hir::Program, Vec<Diagnostic>> {
    let sources = Sources::of("test.str", text);
    let (program, errors) = parse(&sources);
    assert!(errors.is_empty(), "{}", render(text, &errors));
    resolve(&program)
}

/// Errors as users see them.
pub fn render(text: &str, errors: &[Diagnostic]) -> String {
    let sources = Sources::of("test.str", text);
    errors.iter().map(|error| error.render(&sources, false)).collect()
}

/// Resolves a correct program.
#[track_caller]
pub fn accepted(text: &str) -> hir::Program {
    resolved(text).unwrap_or_else(|errors| panic!("{}", render(text, &errors)))
}

/// Asserts that the program has exactly these errors, in this order.
#[track_caller]
pub fn refused(text: &str, messages: &[&str]) {
    let errors = resolved(text).expect_err("the program is accepted");
    let found: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(found, messages, "{}", render(text, &errors));
}

/// Asserts the hint of the program's only error.
#[track_caller]
pub fn hinted(text: &str, hint: &str) {
    let errors = resolved(text).expect_err("the program is accepted");
    assert_eq!(errors.len(), 1, "{}", render(text, &errors));
    assert_eq!(errors[0].hint.as_deref(), Some(hint));
}

/// A program with the filter `Test` between a source and a sink of floats.
pub fn with_filter(filter: &str) -> String {
    format!(
        "void->void pipeline Main {{ add Make(); add Test(); add FileWriter<float>(\"out\"); }}
         void->float filter Make() {{ work push 1 {{ push(1.5); }} }}
         {filter}"
    )
}

/// A program in which `Test` pops and pushes one float and executes `code` before.
pub fn with_code(code: &str) -> String {
    with_filter(&format!("float->float filter Test() {{ work pop 1 push 1 {{ {code} push(pop()); }} }}"))
}

/// The filter of a program with this name.
pub fn filter_of<'p>(program: &'p hir::Program, name: &str) -> &'p hir::Filter {
    let stream = program.streams.iter().find(|stream| stream.name == name);
    match &stream.expect("the stream exists").body {
        StreamBody::Filter(filter) => filter,
        StreamBody::Composite(..) => panic!("{name} is not a filter"),
    }
}
