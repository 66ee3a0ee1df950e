//! Mistakes in the syntax after which it is clear how to read on: what else is wrong is told with them.

use thalweg_lang::{Sources, compile};

/// Where and what the errors of a program are.
fn told(text: &str) -> Vec<String> {
    let sources = Sources::of("test.str", text);
    let errors = compile(&sources).expect_err("it is wrong");
    errors.iter().map(|error| format!("{}: {}", sources.position(error.span).0, error.message)).collect()
}

#[test]
fn words_that_are_misspelt_hide_nothing() {
    let text = "void->void pipeline Main { Add A(); add C(); }
        void->int fliter A() { int x; work push 1 { push(y++); } }
        int->void filter B() { wrok pop 1 { printn(pop()); } }";
    let all = [
        "1: `Add` is not a word of the language",
        "1: there is no stream `C`",
        "2: `fliter` is not a word of the language",
        "2: there is no variable `y`",
        "3: `wrok` is not a word of the language",
        "3: there is no function `printn`",
    ];
    assert_eq!(told(text), all);
}

#[test]
fn statements_that_do_nothing_and_missing_semicolons_hide_nothing() {
    let text = "void->void pipeline Main { add A(); add B(); }
        void->int filter A() { int x; work push 1 { x; push(y) } }
        int->void filter B() { work pop 1 {
            int a = 1
            a == z;
            println(pop()); } }";
    let all = [
        "2: this statement does nothing",
        "2: expected `;` after `push`, found `}`",
        "2: there is no variable `y`",
        "4: expected `;` after a declaration, found `a`",
        "5: this statement does nothing",
        "5: there is no variable `z`",
    ];
    let told = told(text);
    for error in all {
        assert!(told.iter().any(|told| told == error), "{error}: {told:?}");
    }
    assert_eq!(told.len(), all.len());
}

#[test]
fn what_is_left_out_is_not_missed() {
    let text = "void->void pipeline Main { add A(); add B(); }
        void->int filter A() { int x = ; work push 1 { push(x + z); } }
        int->void filter B() { work pop 1 { 3; println(pop()); } }";
    assert_eq!(told(text), ["2: expected an expression, found `;`", "3: this statement does nothing"]);
}

#[test]
fn functions_whose_names_are_nearly_words_are_functions() {
    let text = "void->void pipeline Main { add A(); add B(); }
        void->float filter A() { float s; void form(float2 v) { s = v.x + v.y; }
            work push 1 { form(float2(1, 2)); push(s); } }
        float->void filter B() { work pop 1 { println(pop()); } }";
    assert!(compile(&Sources::of("test.str", text)).is_ok());
}
