//! Rates against types, and against the items that code moves.

use crate::common::{accepted, refused, with_filter};

fn filter(rates: &str, code: &str) -> String {
    with_filter(&format!(
        "float->float filter Test() {{ int n = 2; work {rates} {{ {code} }} void f() {{ push(1); }} }}"
    ))
}

#[test]
fn items_are_moved_only_with_nonzero_rates() {
    accepted(&filter("pop 1 push 1", "push(pop());"));
    accepted(&filter("peek 2 push 1", "push(peek(1));"));
    accepted(&filter("pop * push [1, *]", "while (pop() > 0) push(1);"));
    refused(&filter("pop 1 push 0", "push(pop());"), &["`push` in `Test`, but its `push` rate is 0"]);
    refused(&filter("pop 0 push 1", "push(pop());"), &["`pop` in `Test`, but its `pop` rate is 0"]);
    refused(&filter("pop 0 push 1", "push(peek(0));"), &["`peek` in `Test`, but its `peek` rate is 0"]);
    // The effects of called functions count.
    refused(&filter("pop 1 push 0", "pop(); f();"), &["`push` in `Test`, but its `push` rate is 0"]);
}

#[test]
fn prework_has_rates_of_its_own() {
    let prework = |rates: &str, code: &str| {
        with_filter(&format!(
            "float->float filter Test() {{ prework {rates} {{ {code} }} work pop 1 push 1 {{ push(pop()); }} }}"
        ))
    };
    accepted(&prework("peek 3", "float x = peek(2);"));
    accepted(&prework("push 2", "push(0); push(0);"));
    refused(&prework("", "push(0);"), &["`push` in `Test`, but its `push` rate is 0"]);
}

#[test]
fn non_void_ends_need_rates() {
    refused(&filter("push 1", "push(1);"), &["`Test` pops nothing, but its input is `float`"]);
    refused(&filter("pop 1", "pop();"), &["`Test` pushes nothing, but its output is `float`"]);
    // An explicit 0 is accepted.
    accepted(&filter("pop 0 push 1", "push(1);"));
    let source = |rates: &str| {
        format!(
            "void->void pipeline Main {{ add Make(); add FileWriter<int>(\"out\"); }}
             void->int filter Make() {{ work {rates} {{ push(1); }} }}"
        )
    };
    accepted(&source("push 1 pop 0"));
    refused(&source("push 1 pop 1"), &["`Make` consumes items, but its input is `void`"]);
}

#[test]
fn counted_items_fit_static_rates() {
    accepted(&filter("pop 2 push 2", "push(pop()); for (int i = 0; i < 1; i++) push(pop());"));
    accepted(&filter("pop 1 push 2", "float x = pop(); push(x); if (x > 0) push(1); else push(2);"));
    accepted(&filter("pop n push 1", "push(pop());"));
    // Items that the body does not pop are dropped.
    accepted(&filter("pop 3 push 1", "push(pop());"));
    accepted(&filter("pop 1 push 2", "push(pop()); f();"));
    refused(
        &filter("pop 1 push 2", "push(pop());"),
        &["the push rate of `Test` is declared as 2, but its body pushes 1"],
    );
    refused(
        &filter("pop 1 push 1", "push(pop() + pop());"),
        &["the pop rate of `Test` is declared as 1, but its body pops 2"],
    );
    refused(
        &filter("pop 1 push 3", "push(pop()); if (n) push(1);"),
        &["the push rate of `Test` is declared as 3, but its body pushes at most 2"],
    );
    refused(
        &filter("pop 1 push 1", "push(pop()); push(1); while (n) push(1);"),
        &["the push rate of `Test` is declared as 1, but its body pushes at least 2"],
    );
}

#[test]
fn counted_items_fit_ranges() {
    for (rates, code) in [
        ("pop 1 push [1, 2]", "push(pop()); if (n) push(1);"),
        ("pop [1, 2] push 1", "push(pop());"),
        ("pop [0, 1] push 1", "push(1);"),
        ("pop [1, *] push [0, *]", "for (int i = 0; i < n; i++) push(pop());"),
        ("pop [n, n + 1] push 1", "push(1);"),
        ("pop 1 push [1, n]", "push(pop()); push(1); push(2);"),
        ("pop * push 1", "push(1);"),
    ] {
        accepted(&filter(rates, code));
    }
    for (rates, code, message) in [
        (
            "pop 1 push [1, 2]",
            "pop(); push(1); push(2); push(3);",
            "push rate of `Test` is declared as from 1 to 2, but its body pushes 3",
        ),
        (
            "pop [1, 2] push 1",
            "push(1);",
            "pop rate of `Test` is declared as from 1 to 2, but its body pops 0",
        ),
        (
            "pop 1 push [2, *]",
            "push(pop());",
            "push rate of `Test` is declared as 2 or more, but its body pushes 1",
        ),
        (
            "pop [0, 1] push 1",
            "push(pop() + pop());",
            "pop rate of `Test` is declared as from 0 to 1, but its body pops 2",
        ),
        (
            "pop [2, 4, 8] push 1",
            "if (n) pop(); push(1);",
            "pop rate of `Test` is declared as from 2 to 8, but its body pops at most 1",
        ),
        (
            "pop 1 push [n, 1]",
            "push(1); push(2); pop(); while (n) push(3);",
            "push rate of `Test` is declared as 1 or less, but its body pushes at least 2",
        ),
    ] {
        refused(&filter(rates, code), &[&format!("the {message}")]);
    }
}

#[test]
fn rates_are_integers_that_are_not_negative() {
    accepted(&filter("pop n * 2 push 1 + 1", "push(pop()); push(1);"));
    refused(&filter("pop 1.5 push 1", "push(pop());"), &["expected an `int`, found a `float`"]);
    refused(&filter("pop 1 push 1 - 2", "push(pop());"), &["a rate cannot be negative"]);
}

#[test]
fn a_peek_rate_below_the_pop_rate_has_no_effect() {
    let program = accepted(&filter("pop 2 peek 1 push 1", "push(pop() + pop());"));
    assert_eq!(crate::common::filter_of(&program, "Test").work.rates.peek, None);
    let program = accepted(&filter("pop 2 peek 3 push 1", "push(pop() + peek(1));"));
    assert!(crate::common::filter_of(&program, "Test").work.rates.peek.is_some());
    refused(&filter("pop 1 peek 2 push 1", "push(pop() + peek(-1));"), &["`peek` index -1 is negative"]);
}

#[test]
fn constant_peeks_stay_in_the_window() {
    accepted(&filter("pop 1 peek 3 push 1", "push(pop() + peek(0) + peek(1));"));
    refused(
        &filter("pop 1 peek 3 push 1", "push(peek(3) + pop());"),
        &["`peek(3)` is outside the window of `Test`, which is 3 items"],
    );
    refused(
        &filter("pop 2 push 1", "push(peek(2));"),
        &["`peek(2)` is outside the window of `Test`, which is 2 items"],
    );
}

#[test]
fn pops_before_a_peek_count() {
    let beyond = |index: u32, popped: &str, window: &str| {
        format!("`peek({index})` after {popped} popped is outside the window of `Test`, which is {window}")
    };
    for (rates, code, index, popped, window) in [
        ("pop 1", "float x = pop(); push(x + peek(0));", 0, "1 item was", "1 item"),
        ("pop 1 peek 3", "push(pop() + peek(1) + peek(2));", 2, "1 item was", "3 items"),
        ("pop 2", "push(pop() - peek(0) + pop() * peek(0));", 0, "2 items were", "2 items"),
        (
            "pop 1",
            "float x; if (n) x = pop(); else { x = 2; pop(); } push(x + peek(0));",
            0,
            "1 item was",
            "1 item",
        ),
        ("pop [1, 2]", "pop(); pop(); push(peek(0));", 0, "2 items were", "2 items"),
    ] {
        refused(&filter(&format!("{rates} push 1"), code), &[&beyond(index, popped, window)]);
    }
    for (rates, code) in [
        ("pop 1", "push(peek(0) + pop());"),
        ("pop 1", "float x = 0; if (n) x = pop(); push(x + peek(0));"),
        ("pop 1", "float x = 0; if (n) { x = pop(); } else x = peek(0); push(x);"),
        ("pop 2", "float x = 0; for (int i = 0; i < n; i++) x += peek(1 - 1) + pop(); push(x);"),
        ("pop 1", "float x = n ? pop() : 0; push(x + peek(0));"),
        ("pop n", "pop(); pop(); push(peek(0));"),
        // The peek may never execute.
        ("pop 1", "float x = pop(); for (int i = 0; i < n; i++) x += peek(0); push(x);"),
        ("pop 1", "push(pop() > 0 && peek(0) > 0 ? 1 : 2);"),
        ("pop 1", "float x = pop(); if (n > 3) x += peek(0); push(x);"),
        ("pop * peek [1, 2]", "pop(); push(peek(1));"),
        ("pop 1 peek n", "pop(); push(peek(0));"),
    ] {
        accepted(&filter(&format!("{rates} push 1"), code));
    }
    // A wrong pop rate is reported as such.
    refused(
        &filter("pop 1 push 1", "pop(); push(pop() + peek(0));"),
        &["the pop rate of `Test` is declared as 1, but its body pops 2"],
    );
}

#[test]
fn peeks_stay_in_dynamic_windows() {
    accepted(&filter("pop [1, 4] push 1", "push(peek(3)); pop();"));
    accepted(&filter("pop 1 peek [1, 3] push 1", "push(peek(2)); pop();"));
    accepted(&filter("pop [1, 4] peek * push 1", "push(peek(60)); pop();"));
    accepted(&filter("pop * peek [1, 3] push 1", "push(peek(60)); pop();"));
    accepted(&filter("pop n peek 1 push 1", "push(peek(60)); pop();"));
    for (rates, window) in
        [("pop [1, 4]", 4), ("pop [1, 4] peek 2", 4), ("pop [1, 4] peek [2, 6]", 6), ("pop 1 peek [1, 3]", 3)]
    {
        refused(
            &filter(&format!("{rates} push 1"), "push(peek(6)); pop();"),
            &[&format!("`peek(6)` is outside the window of `Test`, which is {window} items")],
        );
    }
}

#[test]
fn init_cannot_call_functions_that_move_items() {
    refused(
        &with_filter(
            "float->float filter Test() { init { f(); } work pop 1 push 1 { pop(); f(); } void f() { push(1); } }",
        ),
        &["`push` in a function that `init` calls"],
    );
}

#[test]
fn function_rates_are_resolved_but_not_checked() {
    let with = |rates: &str| {
        with_filter(&format!(
            "float->float filter Test() {{ work pop 2 push 1 {{ f(); }} void f() {rates} {{ push(pop() + pop()); }} }}"
        ))
    };
    accepted(&with("pop 1 push 7"));
    refused(&with("pop m"), &["cannot find variable `m`"]);
}
