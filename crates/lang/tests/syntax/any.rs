//! The parser terminates on any text without a panic, and errors have locations within the text.

use proptest::prelude::*;
use thalweg_lang::parser::MAX_ERRORS;
use thalweg_lang::{Sources, parse};

/// All tokens of the language, and some invalid ones.
const TOKENS: &[&str] = &[
    "filter",
    "pipeline",
    "splitjoin",
    "feedbackloop",
    "portal",
    "to",
    "handler",
    "stateful",
    "iter",
    "add",
    "split",
    "join",
    "duplicate",
    "roundrobin",
    "body",
    "loop",
    "enqueue",
    "init",
    "prework",
    "work",
    "peek",
    "pop",
    "push",
    "boolean",
    "float",
    "bit",
    "int",
    "void",
    "double",
    "complex",
    "float2",
    "float3",
    "float4",
    "struct",
    "template",
    "native",
    "static",
    "helper",
    "if",
    "else",
    "while",
    "for",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "do",
    "pi",
    "true",
    "false",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    ".",
    ":",
    "?",
    "->",
    "=",
    "+=",
    "-=",
    "*=",
    "/=",
    "<<=",
    ">>=",
    "++",
    "--",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "&&",
    "||",
    "!",
    "~",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "x",
    "F",
    "1",
    "2.5",
    "0xFF",
    "3i",
    "'c'",
    "\"s\"",
    "\"",
    "'",
    "/*",
    "//",
    "\n",
    "#",
    "@",
    "é",
];

const PROGRAM: &str = concat!(
    include_str!("programs/filters.str"),
    include_str!("programs/statements.str"),
    include_str!("programs/portals.str"),
    include_str!("programs/expressions.str"),
    include_str!("programs/composites.str"),
);

fn check(text: &str) {
    let sources = Sources::of("test.str", text);
    let (program, errors) = parse(&sources);
    assert!(errors.len() <= MAX_ERRORS);
    for error in &errors {
        // Panics if the span is outside the text or splits a character.
        sources.text(error.span);
        error.others.iter().for_each(|(span, _)| _ = sources.text(*span));
    }
    if let Some(error) = errors.first() {
        assert!(error.render(&sources, false).contains(&error.message));
    } else {
        let printed = Sources::of("printed.str", program.to_string());
        assert_eq!(parse(&printed).1, Vec::new(), "{text}\n{}", printed.files()[0].text);
    }
}

/// The words of a text, each with the separator after it.
fn words(text: &str) -> Vec<&str> {
    text.split_inclusive([' ', '\n', '(', ')', ';', ',']).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn any_tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..200)) {
        check(&tokens.join(" "));
    }

    #[test]
    fn any_tokens_in_code(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        check(&format!("int->int filter F {{ work pop 1 {{ {} }} }} struct S {{ int a; }}", tokens.join(" ")));
    }

    #[test]
    fn words_of_a_program_shuffled(words in Just(words(PROGRAM)).prop_shuffle()) {
        check(&words.concat());
    }

    #[test]
    fn words_removed_and_inserted(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, prop::sample::select(TOKENS)), 1..8),
    ) {
        let mut words = words(PROGRAM);
        for (at, removed, inserted) in edits {
            let at = at.index(words.len());
            words.splice(at..(at + removed).min(words.len()), [inserted, " "]);
        }
        check(&words.concat());
    }

    #[test]
    fn a_file_that_ends_early(end in any::<prop::sample::Index>()) {
        let ends: Vec<usize> = PROGRAM.char_indices().map(|(at, _)| at).collect();
        check(&PROGRAM[..ends[end.index(ends.len())]]);
    }
}
