//! Statements and declarations allowed in filters.

use crate::common::{accepted, refused, with_code, with_filter};

#[test]
fn loops_are_left_from_inside() {
    accepted(&with_code("while (true) { if (true) break; continue; }"));
    refused(&with_code("break;"), &["`break` outside of a loop"]);
    refused(&with_code("while (true) { } continue;"), &["`continue` outside of a loop"]);
}

#[test]
fn only_work_moves_items() {
    let filter = |body: &str| with_filter(&format!("float->float filter Test() {{ {body} }}"));
    let work = "work pop 1 push 1 { push(pop()); }";
    accepted(&filter(
        "prework push 1 { push(0); } work pop 2 push 1 { f(); } void f() { push(pop() + pop()); }",
    ));
    refused(&filter(&format!("init {{ push(1); }} {work}")), &["`push` in `init`"]);
    refused(&filter(&format!("float x = pop(); {work}")), &["`pop` in a declaration"]);
    refused(&filter(&format!("handler h() {{ peek(0); }} {work}")), &["`peek` in a message handler"]);
    refused("void->void pipeline Main { push(1); }", &["`push` in a pipeline, splitjoin or feedbackloop"]);
    refused(
        &format!("helper H {{ void f() {{ pop(); }} }} {}", with_code("")),
        &["`pop` in a helper function, which belongs to no filter"],
    );
}

#[test]
fn void_ends_carry_no_items() {
    let make = |body: &str| {
        format!(
            "void->void pipeline Main {{ add Make(); add FileWriter<int>(\"out\"); }} void->int filter Make() {{ {body} }}"
        )
    };
    accepted(&make("work push 1 { push(1); }"));
    refused(&make("work push 1 { push(pop()); }"), &["`pop` in a filter with input type `void`"]);
    let sink = |body: &str| {
        format!(
            "void->void pipeline Main {{ add FileReader<int>(\"in\"); add Take(); }} int->void filter Take() {{ {body} }}"
        )
    };
    accepted(&sink("work pop 1 { println(pop()); }"));
    refused(&sink("work pop 1 { push(pop()); }"), &["`push` in a filter with output type `void`"]);
}

#[test]
fn iter_is_allowed_only_in_firings() {
    accepted(&with_code("int n = iter();"));
    refused(
        &with_filter(
            "float->float filter Test() { init { int n = iter(); } work pop 1 push 1 { push(pop()); } }",
        ),
        &["`iter()` outside the code of a firing"],
    );
}

#[test]
fn a_filter_has_one_work() {
    let filter = |body: &str| with_filter(&format!("float->float filter Test() {{ {body} }}"));
    let work = "work pop 1 push 1 { push(pop()); }";
    accepted(&filter(&format!("init {{ }} prework {{ }} {work}")));
    refused(&filter(&format!("{work} {work}")), &["duplicate `work` in a filter"]);
    refused(&filter(&format!("init {{ }} init {{ }} {work}")), &["duplicate `init` in a filter"]);
    refused(&filter(&format!("prework {{ }} prework {{ }} {work}")), &["duplicate `prework` in a filter"]);
    refused(&filter("int x;"), &["a filter without `work`"]);
}

#[test]
fn pushed_items_have_the_output_type() {
    accepted(&with_filter("float->float filter Test() { work pop 1 push 1 { pop(); push(1); } }"));
    refused(
        &with_filter("float->float filter Test() { work pop 1 push 1 { push(pop() + 2i); } }"),
        &["expected a `float`, found a `complex`"],
    );
}

#[test]
fn only_composites_create_streams() {
    refused(&with_code("add Make();"), &["`add` is not allowed here"]);
    refused(&with_code("split duplicate;"), &["`split` is not allowed here"]);
    refused(&with_code("enqueue 1;"), &["`enqueue` is not allowed here"]);
}
