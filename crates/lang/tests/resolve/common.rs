//! Programs around pieces of code, and what is said about them.

use thalweg_lang::hir::{self, StreamBody};
use thalweg_lang::resolve::resolve;
use thalweg_lang::{Diagnostic, Sources, parse};

/// The program, or what is wrong with it; it must be right in its syntax.
pub fn resolved(text: &str) -> Result<hir::Program, Vec<Diagnostic>> {
    let sources = Sources::of("test.str", text);
    let (program, errors) = parse(&sources);
    assert!(errors.is_empty(), "{}", render(text, &errors));
    resolve(&program)
}

/// What is said, as a user reads it.
pub fn render(text: &str, errors: &[Diagnostic]) -> String {
    let sources = Sources::of("test.str", text);
    errors.iter().map(|error| error.render(&sources, false)).collect()
}

/// The program, which must be right.
#[track_caller]
pub fn accepted(text: &str) -> hir::Program {
    resolved(text).unwrap_or_else(|errors| panic!("{}", render(text, &errors)))
}

/// Asserts that exactly these things are wrong, in this order.
#[track_caller]
pub fn refused(text: &str, messages: &[&str]) {
    let errors = resolved(text).expect_err("it is accepted");
    let found: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(found, messages, "{}", render(text, &errors));
}

/// Asserts what is proposed about the one thing that is wrong.
#[track_caller]
pub fn hinted(text: &str, hint: &str) {
    let errors = resolved(text).expect_err("it is accepted");
    assert_eq!(errors.len(), 1, "{}", render(text, &errors));
    assert_eq!(errors[0].hint.as_deref(), Some(hint));
}

/// A program with one filter of interest, between others that make and take floats.
pub fn with_filter(filter: &str) -> String {
    format!(
        "void->void pipeline Main {{ add Make(); add Test(); add FileWriter<float>(\"out\"); }}
         void->float filter Make() {{ work push 1 {{ push(1.5); }} }}
         {filter}"
    )
}

/// The same with a filter of these statements, which takes and gives one float; the last one pushes.
pub fn with_code(code: &str) -> String {
    with_filter(&format!("float->float filter Test() {{ work pop 1 push 1 {{ {code} push(pop()); }} }}"))
}

/// A filter of a program, by its name.
pub fn filter_of<'p>(program: &'p hir::Program, name: &str) -> &'p hir::Filter {
    let stream = program.streams.iter().find(|stream| stream.name == name);
    match &stream.expect("there is such a stream").body {
        StreamBody::Filter(filter) => filter,
        StreamBody::Composite(..) => panic!("{name} is no filter"),
    }
}
