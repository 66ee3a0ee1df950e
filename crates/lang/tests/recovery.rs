//! Syntax errors from which the parser recovers, so that later errors are reported too.

use thalweg_lang::{Sources, compile};

/// The line and message of each error of a program.
fn reported(text: &str) -> Vec<String> {
    let sources = Sources::of("test.str", text);
    let errors = compile(&sources).expect_err("the program has errors");
    errors.iter().map(|error| format!("{}: {}", sources.position(error.span).0, error.message)).collect()
}

#[test]
fn recovery_from_misspelt_keywords() {
    let text = "void->void pipeline Main { Add A(); add C(); }
        void->int fliter A() { int x; work push 1 { push(y++); } }
        int->void filter B() { wrok pop 1 { printn(pop()); } }";
    let all = [
        "1: unknown keyword `Add`",
        "1: cannot find stream `C`",
        "2: unknown keyword `fliter`",
        "2: cannot find variable `y`",
        "3: unknown keyword `wrok`",
        "3: cannot find function `printn`",
    ];
    assert_eq!(reported(text), all);
}

#[test]
fn recovery_from_useless_statements_and_missing_semicolons() {
    let text = "void->void pipeline Main { add A(); add B(); }
        void->int filter A() { int x; work push 1 { x; push(y) } }
        int->void filter B() { work pop 1 {
            int a = 1
            a == z;
            println(pop()); } }";
    let all = [
        "2: statement with no effect",
        "2: expected `;` after `push`, found `}`",
        "2: cannot find variable `y`",
        "4: expected `;` after a declaration, found `a`",
        "5: statement with no effect",
        "5: cannot find variable `z`",
    ];
    let reported = reported(text);
    for error in all {
        assert!(reported.iter().any(|found| found == error), "{error}: {reported:?}");
    }
    assert_eq!(reported.len(), all.len());
}

#[test]
fn missing_expressions_cause_no_further_errors() {
    let text = "void->void pipeline Main { add A(); add B(); }
        void->int filter A() { int x = ; work push 1 { push(x + z); } }
        int->void filter B() { work pop 1 { 3; println(pop()); } }";
    assert_eq!(reported(text), ["2: expected an expression, found `;`", "3: statement with no effect"]);
}

#[test]
fn functions_with_names_like_keywords_are_functions() {
    let text = "void->void pipeline Main { add A(); add B(); }
        void->float filter A() { float s; void form(float2 v) { s = v.x + v.y; }
            work push 1 { form(float2(1, 2)); push(s); } }
        float->void filter B() { work pop 1 { println(pop()); } }";
    assert!(compile(&Sources::of("test.str", text)).is_ok());
}
