//! Adversarial programs.

use crate::common::{accepted, resolved, with_code};
use proptest::prelude::*;
use std::fmt::Write;

#[test]
fn deep_expressions_are_resolved_on_a_small_stack() {
    let sum = vec!["1"; 400].join(" + ");
    let nested = format!("{}1{}", "(".repeat(150), ")".repeat(150));
    let choices = format!("{}1{}", "(true ? ".repeat(60), " : 2)".repeat(60));
    let blocks = format!("{}int b = 1;{}", "{".repeat(150), "}".repeat(150));
    for code in
        [format!("int a = {sum};"), format!("int a = {nested};"), format!("int a = {choices};"), blocks]
    {
        accepted(&with_code(&code));
    }
}

#[test]
fn streams_inside_streams_capture_through_all() {
    let depth = 60;
    let open = "add pipeline { ".repeat(depth);
    let close = "}".repeat(depth);
    let filter = "add void->int filter { work push 1 { push(n); } };";
    accepted(&format!(
        "void->void pipeline Main {{ int n = 2; {open} {filter} {close} add FileWriter<int>(\"out\"); }}"
    ));
}

#[test]
fn chains_of_lengths_are_bounded() {
    let mut params = String::from("int[1] a0");
    for at in 1..500 {
        let _ = write!(params, ", int[a{}[0]] a{at}", at - 1);
    }
    let text = format!(
        "void->void pipeline Main {{ add FileReader<int>(\"in\"); add FileWriter<int>(\"out\"); }}
         void->int pipeline Test({params}) {{ add void->int filter {{ work push 1 {{ push(a499[0]); }} }}; }}"
    );
    let errors = resolved(&text).expect_err("the chain is too long");
    assert!(errors[0].message.contains("depends on a chain of more than"), "{}", errors[0].message);
}

#[test]
fn long_chains_of_structures_are_checked_iteratively() {
    let mut text = String::from("struct S0 { int a; }");
    for at in 1..20_000 {
        let _ = write!(text, " struct S{at} {{ S{} a; }}", at - 1);
    }
    accepted(&format!("{text} {}", with_code("S19999 s;")));
}

#[test]
fn many_errors_are_cut_off() {
    let code = "nothing = missing; ".repeat(5000);
    assert_eq!(
        resolved(&with_code(&code)).expect_err("unknown names").len(),
        thalweg_lang::resolve::MAX_ERRORS
    );
}

#[test]
fn an_empty_program_is_refused() {
    assert_eq!(resolved("").expect_err("no stream").len(), 1);
}

/// Tokens and fragments of programs.
fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "x",
        "y",
        "f",
        "S",
        "P",
        "Test",
        "int",
        "float",
        "bit",
        "complex",
        "float2",
        "void",
        "1",
        "0",
        "2.5",
        "2i",
        "true",
        "\"s\"",
        "pop()",
        "peek(1)",
        "push(1);",
        "iter()",
        "x = 1;",
        "y += x;",
        "x++;",
        "add P();",
        "split duplicate;",
        "join roundrobin;",
        "body",
        "loop",
        "enqueue 1;",
        "if (x)",
        "while (y)",
        "for (int i = 0; i < 2; i++)",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ",",
        "=",
        "+",
        "*",
        "%",
        "<<",
        "==",
        "&&",
        "?",
        ":",
        ".",
        "->",
        "filter",
        "pipeline",
        "splitjoin",
        "feedbackloop",
        "work pop 1 push 1 {",
        "init {",
        "handler h(int x) {",
        "struct S { int a; S2 b; }",
        "portal<Test> p;",
        "p.h(1) [1:2];",
        "return x;",
        "break;",
        "int x;",
        "float[x] y;",
        "println(x);",
        "sin(x)",
        "-",
        "!",
        "~",
        "(int)",
        "to p",
        "static { int G = 1; }",
        "int->int filter P {",
        "void->void pipeline Main {",
    ])
}

proptest! {
    /// The resolver accepts or rejects every tree without a panic. (The parser omits invalid syntax from the tree, so
    /// the rest reaches the resolver.)
    #[test]
    fn nothing_panics(words in prop::collection::vec(word(), 0..120)) {
        let text = words.join(" ");
        let (program, _) = thalweg_lang::parse(&thalweg_lang::Sources::of("test.str", &text));
        if let Err(errors) = thalweg_lang::resolve::resolve(&program) {
            let sources = thalweg_lang::Sources::of("test.str", &text);
            for error in errors {
                prop_assert!(!error.render(&sources, false).is_empty());
            }
        }
    }
}
