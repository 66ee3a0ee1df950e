//! What may stand where in filters.

use crate::common::{accepted, refused, with_code, with_filter};

#[test]
fn loops_are_left_from_inside() {
    accepted(&with_code("while (true) { if (true) break; continue; }"));
    refused(&with_code("break;"), &["`break` outside of a loop"]);
    refused(&with_code("while (true) { } continue;"), &["`continue` outside of a loop"]);
}

#[test]
fn items_are_moved_by_work() {
    let filter = |body: &str| with_filter(&format!("float->float filter Test() {{ {body} }}"));
    let work = "work pop 1 push 1 { push(pop()); }";
    accepted(&filter(
        "prework push 1 { push(0); } work pop 2 push 1 { f(); } void f() { push(pop() + pop()); }",
    ));
    refused(&filter(&format!("init {{ push(1); }} {work}")), &["`push` in `init`"]);
    refused(&filter(&format!("float x = pop(); {work}")), &["`pop` in a declaration"]);
    refused(&filter(&format!("handler h() {{ peek(0); }} {work}")), &["`peek` in a message handler"]);
    refused("void->void pipeline Main { push(1); }", &["`push` in the code of a composite"]);
    refused(
        &format!("helper H {{ void f() {{ pop(); }} }} {}", with_code("")),
        &["`pop` in a helper function: it belongs to no filter"],
    );
}

#[test]
fn void_sides_carry_nothing() {
    let make = |body: &str| {
        format!(
            "void->void pipeline Main {{ add Make(); add FileWriter<int>(\"out\"); }} void->int filter Make() {{ {body} }}"
        )
    };
    accepted(&make("work push 1 { push(1); }"));
    refused(&make("work push 1 { push(pop()); }"), &["`pop` in a filter whose input is `void`"]);
    let sink = |body: &str| {
        format!(
            "void->void pipeline Main {{ add FileReader<int>(\"in\"); add Take(); }} int->void filter Take() {{ {body} }}"
        )
    };
    accepted(&sink("work pop 1 { println(pop()); }"));
    refused(&sink("work pop 1 { push(pop()); }"), &["`push` in a filter whose output is `void`"]);
}

#[test]
fn iterations_are_counted_where_there_are_some() {
    accepted(&with_code("int n = iter();"));
    refused(
        &with_filter(
            "float->float filter Test() { init { int n = iter(); } work pop 1 push 1 { push(pop()); } }",
        ),
        &["`iter()` outside of a filter's work"],
    );
}

#[test]
fn a_filter_has_one_work() {
    let filter = |body: &str| with_filter(&format!("float->float filter Test() {{ {body} }}"));
    let work = "work pop 1 push 1 { push(pop()); }";
    accepted(&filter(&format!("init {{ }} prework {{ }} {work}")));
    refused(&filter(&format!("{work} {work}")), &["a filter has one `work`"]);
    refused(&filter(&format!("init {{ }} init {{ }} {work}")), &["a filter has one `init`"]);
    refused(&filter(&format!("prework {{ }} prework {{ }} {work}")), &["a filter has one `prework`"]);
    refused(&filter("int x;"), &["a filter without `work`"]);
}

#[test]
fn pushed_items_are_of_the_outputs_type() {
    accepted(&with_filter("float->float filter Test() { work pop 1 push 1 { pop(); push(1); } }"));
    refused(
        &with_filter("float->float filter Test() { work pop 1 push 1 { push(pop() + 2i); } }"),
        &["a `float` is wanted here, not a `complex`"],
    );
}

#[test]
fn streams_are_made_by_composites_only() {
    refused(&with_code("add Make();"), &["`add` cannot stand here"]);
    refused(&with_code("split duplicate;"), &["`split` cannot stand here"]);
    refused(&with_code("enqueue 1;"), &["`enqueue` cannot stand here"]);
}
