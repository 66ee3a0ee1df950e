//! Types that anonymous streams omit are inferred from their surroundings.

use crate::common::{accepted, refused};

const PARTS: &str = "
    void->int filter Ints() { work push 1 { push(1); } }
    int->int filter Pass(int n) { work pop 1 push 1 { push(pop() + n); } }
    int->float filter Half() { work pop 1 push 1 { push(pop() / 2.0); } }
    void->float filter Floats() { work push 1 { push(1.5); } }
    float->void filter Show() { work pop 1 { println(pop()); } }
    void->int[2] filter Pairs() { work push 1 { int[2] pair; push(pair); } }
    int[2]->void filter ShowPairs() { work pop 1 { int[2] x = pop(); println(x[1]); } }
    void->int[n] filter Rows(int n) { work push 1 { int[n] row; push(row); } }
    int[n]->void filter ShowRows(int n) { work pop 1 { int[n] x = pop(); println(x[0]); } }";

fn main(code: &str) -> String {
    format!("void->void pipeline Main {{ {code} }} {PARTS}")
}

/// The inferred types of the anonymous filters, in order.
#[track_caller]
fn found(code: &str) -> Vec<String> {
    let program = accepted(&main(code)).to_string();
    let filters = program.lines().filter(|line| line.starts_with("filter filter#"));
    filters.map(|line| line.replace(" -> ", "->").rsplit(' ').next().unwrap_or_default().to_owned()).collect()
}

const SAME: &str = "add filter { work pop 1 push 1 { push(pop()); } }";
const ENDS: &str = "add filter { work pop 1 { println(pop()); } }";

#[test]
fn types_come_from_neighbours() {
    assert_eq!(found(&format!("add Ints(); {SAME} add Half(); add Show();")), ["int->int"]);
    assert_eq!(found(&format!("add Floats(); {ENDS}")), ["float->void"]);
    assert_eq!(found("add filter { work push 1 { push(2); } } add Half(); add Show();"), ["void->int"]);
}

#[test]
fn loop_bodies_infer_types_around_the_back_edge() {
    assert_eq!(
        found(&format!("add Floats(); for (int i = 0; i < 2; i++) {SAME} add Show();")),
        ["float->float"]
    );
    assert_eq!(
        found(&format!("add Floats(); int i; while (i++ < 2) {{ {SAME} }} {ENDS}")),
        ["float->float", "float->void"]
    );
    assert_eq!(
        found(&format!("add Floats(); for (int i = 0; i < 2; i++) {{ add Identity<float>(); }} {ENDS}")),
        ["float->void"]
    );
    assert_eq!(
        found(&format!("add Floats(); do {{ {{ {SAME} }} if (true) break; }} while (true); add Show();")),
        ["float->float"]
    );
}

#[test]
fn branches_meet() {
    assert_eq!(found(&format!("add Floats(); if (1 < 2) {SAME} add Show();")), ["float->float"]);
    assert_eq!(
        found(&format!("add Ints(); if (1 < 2) add Half(); else {{ add Half(); }} {ENDS}")),
        ["float->void"]
    );
    assert_eq!(
        found(&format!(
            "add Ints(); if (1 < 2) {{ add Half(); {ENDS} return; }} {SAME} add Half(); add Show();"
        )),
        ["float->void", "int->int"]
    );
    refused(
        &main(&format!("add Ints(); if (1 < 2) add Half(); else add Pass(1); {ENDS}")),
        &["cannot infer the input type of this filter"],
    );
}

#[test]
fn composites_infer_types_from_their_children() {
    let split = |children: &str| format!("add splitjoin {{ split duplicate; {children} join roundrobin; }}");
    assert_eq!(
        found(&format!("{} {ENDS}", split("add Ints(); add Ints();").replace("duplicate", "roundrobin(0)"))),
        ["int->void"]
    );
    assert_eq!(
        found(&format!("add Ints(); {} {ENDS}", split("add Pass(1); add Identity();"))),
        ["int->void"]
    );
    assert_eq!(found(&format!("add Floats(); add pipeline {{ {SAME} }} add Show();")), ["float->float"],);
    let twice = split(&format!("{SAME} {SAME}"));
    assert_eq!(found(&format!("add Ints(); {twice} {twice} add Half(); add Show();")), ["int->int"; 4]);
    let half = format!("add pipeline {{ {SAME} add Half(); }}");
    assert_eq!(found(&format!("add Ints(); {} {ENDS}", split(&half))), ["int->int", "float->void"]);
}

#[test]
fn feedback_loops_infer_types_from_their_ends() {
    let round = |types: &str| {
        format!(
            "add {types} feedbackloop {{ join roundrobin(1, 1);
                body filter {{ work pop 2 push 2 {{ push(pop()); push(pop()); }} }} loop Identity<float>;
                split roundrobin(1, 1); enqueue 1; }}"
        )
    };
    let pass = format!("add pipeline {{ {SAME} }}");
    assert_eq!(
        found(&format!("add Floats(); {pass} {} {ENDS}", round(""))),
        ["float->float", "float->float", "float->void"]
    );
    assert_eq!(
        found(&format!("add Floats(); {} {ENDS}", round("float->float"))),
        ["float->float", "float->void"]
    );
    let program = accepted(&main(&format!("add Floats(); {} {ENDS}", round("")))).to_string();
    assert!(program.contains("enqueue 1f") || program.contains("enqueue float(1)"), "{program}");
}

#[test]
fn conflicting_types_are_not_inferred() {
    refused(
        &main(&format!("add Ints(); {SAME} {SAME} add Show();")),
        &["cannot infer the output type of this filter", "cannot infer the input type of this filter"],
    );
    refused(
        &main(&format!("add filter {{ work push 1 {{ push(1); }} }} {ENDS}")),
        &["cannot infer the output type of this filter", "cannot infer the input type of this filter"],
    );
    assert_eq!(found(&format!("add Floats(); {SAME} {SAME} add Show();")), ["float->float"; 2]);
}

#[test]
fn inferred_types_need_equal_lengths() {
    let pass = "add filter { work pop 1 push 1 { push(pop()); } }";
    assert_eq!(found(&format!("add Pairs(); {pass} add ShowPairs();")).len(), 1);
    refused(
        &main(&format!("add Rows(3); {pass} add ShowRows(3);")),
        &["cannot infer the input type of this filter"],
    );
    // The length is a variable of another stream, unknown at the place of inference.
    let inner = "add pipeline { int m = 2; add void->int[m] filter { work push 1 { int[m] x; push(x); } } }";
    refused(
        &main(&format!("{inner} {pass} add ShowRows(2);")),
        &["cannot infer the input type of this filter"],
    );
    let beside = "int m = 2; add void->int[m] filter { work push 1 { int[m] x; push(x); } }";
    assert_eq!(found(&format!("{beside} for (int i = 0; i < 2; i++) {pass} add ShowRows(2);")).len(), 2);
}
