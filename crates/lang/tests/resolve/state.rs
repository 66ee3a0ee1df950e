//! Detection of stateful filters.

use crate::common::{accepted, filter_of, with_filter};

fn keeps(body: &str, work: &str) -> bool {
    let text = with_filter(&format!(
        "float->float filter Test() {{ {body} work pop 1 push 1 {{ {work} push(pop()); }} }}"
    ));
    filter_of(&accepted(&text), "Test").keeps_state
}

#[test]
fn fields_that_only_init_sets_are_no_state() {
    assert!(!keeps("float[2] h; init { h[0] = 1; set(); } void set() { h[1] = 2; }", "float x = h[1];"));
}

#[test]
fn fields_that_work_changes_are_state() {
    assert!(keeps("int n;", "n = 1;"));
    assert!(keeps("int n;", "n++;"));
    assert!(keeps("int n;", "n += 2;"));
    assert!(keeps("float[2] h;", "h[0] = 1;"));
    assert!(keeps("int n; prework { n = 1; }", ""));
    assert!(keeps("int n; void set() { n = 2; } void two() { set(); }", "two();"));
    assert!(!keeps("int n; void set() { n = 2; }", ""));
}

#[test]
fn visible_effects_are_state() {
    assert!(keeps("", "println(1);"));
    assert!(keeps("", "float x = random();"));
    assert!(keeps("handler h() { }", ""));
    assert!(!keeps("", "int n = iter(); n = 2;"));
}

#[test]
fn helpers_that_print_count_and_natives_always() {
    let text = |block: &str, call: &str| {
        let filter = format!("float->float filter Test() {{ work pop 1 push 1 {{ {call} push(pop()); }} }}");
        format!("{block} {}", with_filter(&filter))
    };
    let keeps = |block, call| filter_of(&accepted(&text(block, call)), "Test").keeps_state;
    let helpers = "helper H { void say() { println(1); } void twice() { say(); } int one() { return 1; } }";
    assert!(keeps(helpers, "H.twice();"));
    assert!(!keeps(helpers, "H.one();"));
    assert!(keeps("native N { void f(); }", "N.f();"));
}
