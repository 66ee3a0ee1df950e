//! Names and scopes.

use crate::common::{accepted, hinted, refused, resolved, with_code, with_filter};

#[test]
fn variables_are_found_in_their_scopes() {
    accepted(&with_code("int x = 1; { int y = x; x = y; } for (int i = 0; i < 2; i++) x = i;"));
    refused(&with_code("{ int x = 1; } x = 2;"), &["cannot find variable `x`"]);
    refused(&with_code("for (int i = 0; i < 2; i++) { } i = 0;"), &["cannot find variable `i`"]);
    refused(&with_code("if (true) int x = 1; else x = 2;"), &["cannot find variable `x`"]);
    refused(&with_code("int x = x;"), &["cannot find variable `x`"]);
}

#[test]
fn misspelt_names_are_corrected() {
    hinted(&with_code("int weight; wieght = 1;"), "did you mean `weight`?");
    hinted(&with_code("float x = squrt(2.0);"), "did you mean `sqrt`?");
    hinted(
        "void->void pipeline Main { add Sourc(); } void->int filter Source() { work push 1 { push(1); } }",
        "did you mean `Source`?",
    );
    hinted(&with_code("flot x;"), "did you mean `float`?");
    hinted(
        &format!("struct Pair {{ int left; int right; }} {}", with_code("Pair p; p.rigth = 1;")),
        "did you mean `right`?",
    );
}

#[test]
fn inner_variables_shadow_outer_ones() {
    accepted(&with_code("int x = 1; { float x = 2.5; }"));
    refused(&with_code("int x = 1; float x = 2.5;"), &["`x` is declared twice in one block"]);
    accepted(&with_filter(
        "float->float filter Test() { int x; work pop 1 push 1 { int x = 1; push(pop()); } }",
    ));
}

#[test]
fn locals_must_not_shadow_parameters() {
    let program = |code: &str| {
        format!(
            "void->void pipeline Main {{ add Make(3); add FileWriter<int>(\"out\"); }}
             void->int filter Make(int n) {{ work push 1 {{ {code} push(n); }} }}"
        )
    };
    accepted(&program("int m = n;"));
    refused(&program("int n = 1;"), &["`n` shadows a parameter of the stream"]);
    refused(&program("{ int n = 1; }"), &["`n` shadows a parameter of the stream"]);
}

#[test]
fn parameters_of_streams_cannot_be_changed() {
    let program = |code: &str| {
        format!(
            "void->void pipeline Main {{ add Make(3); add FileWriter<int>(\"out\"); }}
             void->int filter Make(int n) {{ work push 1 {{ {code} push(n); }} int f(int k) {{ k++; return k; }} }}"
        )
    };
    accepted(&program("f(n);"));
    let message = "cannot assign to `n`: it is a parameter of the stream";
    refused(&program("n = 1;"), &[message]);
    refused(&program("n += 1;"), &[message]);
    refused(&program("n++;"), &[message]);
}

#[test]
fn static_variables_are_assigned_only_in_their_block() {
    let program = |work: &str| {
        format!(
            "static {{ int N = 4; float[N] table; init {{ for (int i = 0; i < N; i++) table[i] = i; }} }}
             {}",
            with_filter(&format!("float->float filter Test() {{ work pop N push 1 {{ {work} }} }}"))
        )
    };
    accepted(&program("push(table[2]);"));
    refused(&program("N = 3; push(1.0);"), &["cannot assign to `N`: it is a `static` variable"]);
    refused("static { int A = B; int B = 1; } void->void pipeline Main { }", &["cannot find variable `B`"]);
}

#[test]
fn top_level_names_are_unique() {
    let main = "void->void pipeline Main { add Make(); add FileWriter<int>(\"out\"); }";
    let make = "void->int filter Make() { work push 1 { push(1); } }";
    accepted(&format!("{main} {make}"));
    refused(&format!("{main} {make} {make}"), &["the stream `Make` is declared twice"]);
    refused(
        &format!("struct S {{ int a; }} struct S {{ int b; }} {main} {make}"),
        &["the structure `S` is declared twice"],
    );
    refused(
        &format!("static {{ int a; int a; }} {main} {make}"),
        &["the static variable `a` is declared twice"],
    );
    refused(&format!("struct S {{ int a; float a; }} {main} {make}"), &["the field `a` is declared twice"]);
}

#[test]
fn names_in_a_filter_are_unique() {
    let filter = |body: &str| {
        with_filter(&format!("float->float filter Test() {{ {body} work pop 1 push 1 {{ push(pop()); }} }}"))
    };
    accepted(&filter("int a; int f() { return 1; } void g() { }"));
    refused(&filter("int a; float a;"), &["the field `a` is declared twice"]);
    refused(&filter("void f() { } int f() { return 1; }"), &["the function `f` is declared twice"]);
}

#[test]
fn fields_must_not_shadow_parameters() {
    let filter = |fields: &str| {
        format!(
            "void->void pipeline Main {{ add Make(1); add FileWriter<int>(\"out\"); }}
             void->int filter Make(int n) {{ {fields} work push 1 {{ push(n); }} }}"
        )
    };
    refused(&filter("int n;"), &["`n` shadows a parameter of the stream"]);
    hinted(&filter("int n;"), "rename one of them");
    hinted(&filter("int a; int a;"), "rename one of them");
}

#[test]
fn uses_before_declaration_report_the_declaration() {
    let later = "move the declaration before the use";
    let check = |text: &str| {
        hinted(text, later);
        let errors = resolved(text).expect_err("a use before the declaration");
        let (span, _) = errors[0].others[0];
        assert!(errors[0].span.start() < span.start() && text[span.start() as usize..].starts_with("late"));
    };
    check(&with_code("float x = late; float late = 1;"));
    check(&with_code("if (1) { float x = late; } float late = 1;"));
    check(&with_filter(
        "float->float filter Test() { int n = late; int late; work pop 1 push 1 { push(pop()); } }",
    ));
    check("static { int A = late; int late = 1; } void->void pipeline Main { }");
    check(
        "void->void pipeline Main {
            add void->int filter { work push 1 { push(late); } }; int late = 3; add FileWriter<int>(\"out\");
        }",
    );
    // In another scope it is another variable.
    for code in ["float x = late; { float late = 1; }", "{ float x = late; } { float late = 1; }"] {
        let errors = resolved(&with_code(code)).expect_err("an unknown name");
        assert!(errors.len() == 1 && errors[0].others.is_empty(), "{code}");
    }
}

#[test]
fn an_error_is_reported_once_and_checking_continues() {
    refused(
        &with_code("int a = nothing + 1; a = a + 1.5 * 2; float b = missing(a) + other; b = b;"),
        &[
            "cannot find variable `nothing`",
            "expected an `int`, found a `float`",
            "cannot find function `missing`",
            "cannot find variable `other`",
        ],
    );
    refused("Void->void pipeline Main { }", &["cannot find type `Void`"]);
    // A name declared with an unknown type is known, and its uses cause no further errors.
    refused(&with_code("Unknown x; x = 1; x.a = x[2];"), &["cannot find type `Unknown`"]);
}
