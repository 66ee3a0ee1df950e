//! Rates against types, and against what is done.

use crate::common::{accepted, refused, with_filter};

fn filter(rates: &str, code: &str) -> String {
    with_filter(&format!(
        "float->float filter Test() {{ int n = 2; work {rates} {{ {code} }} void f() {{ push(1); }} }}"
    ))
}

#[test]
fn items_are_moved_only_where_rates_allow_some() {
    accepted(&filter("pop 1 push 1", "push(pop());"));
    accepted(&filter("peek 2 push 1", "push(peek(1));"));
    accepted(&filter("pop * push [1, *]", "while (pop() > 0) push(1);"));
    refused(&filter("pop 1 push 0", "push(pop());"), &["`push` where the rates of `Test` allow none"]);
    refused(&filter("pop 0 push 1", "push(pop());"), &["`pop` where the rates of `Test` allow none"]);
    refused(&filter("pop 0 push 1", "push(peek(0));"), &["`peek` where the rates of `Test` allow none"]);
    // What functions do that are called counts.
    refused(&filter("pop 1 push 0", "pop(); f();"), &["`push` where the rates of `Test` allow none"]);
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
    refused(&prework("", "push(0);"), &["`push` where the rates of `Test` allow none"]);
}

#[test]
fn sides_that_are_not_void_have_rates() {
    refused(&filter("push 1", "push(1);"), &["`Test` takes nothing, but its input is `float`"]);
    refused(&filter("pop 1", "pop();"), &["`Test` gives nothing, but its output is `float`"]);
    // A 0 that is written is meant.
    accepted(&filter("pop 0 push 1", "push(1);"));
    let source = |rates: &str| {
        format!(
            "void->void pipeline Main {{ add Make(); add FileWriter<int>(\"out\"); }}
             void->int filter Make() {{ work {rates} {{ push(1); }} }}"
        )
    };
    accepted(&source("push 1 pop 0"));
    refused(&source("push 1 pop 1"), &["`Make` takes items, but its input is `void`"]);
}

#[test]
fn counts_that_are_seen_fit_the_rates() {
    accepted(&filter("pop 2 push 2", "push(pop()); for (int i = 0; i < 1; i++) push(pop());"));
    accepted(&filter("pop 1 push 2", "float x = pop(); push(x); if (x > 0) push(1); else push(2);"));
    accepted(&filter("pop n push 1", "push(pop());"));
    // The rest of what is declared is dropped.
    accepted(&filter("pop 3 push 1", "push(pop());"));
    accepted(&filter("pop 1 push 2", "push(pop()); f();"));
    refused(&filter("pop 1 push 2", "push(pop());"), &["the push rate of `Test` is 2, but it gives 1"]);
    refused(
        &filter("pop 1 push 1", "push(pop() + pop());"),
        &["the pop rate of `Test` is 1, but it takes 2"],
    );
    refused(
        &filter("pop 1 push 3", "push(pop()); if (n) push(1);"),
        &["the push rate of `Test` is 3, but it gives at most 2"],
    );
    refused(
        &filter("pop 1 push 1", "push(pop()); push(1); while (n) push(1);"),
        &["the push rate of `Test` is 1, but it gives at least 2"],
    );
}

#[test]
fn counts_that_are_seen_fit_ranges() {
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
            "push rate of `Test` is from 1 to 2, but it gives 3",
        ),
        ("pop [1, 2] push 1", "push(1);", "pop rate of `Test` is from 1 to 2, but it takes 0"),
        ("pop 1 push [2, *]", "push(pop());", "push rate of `Test` is 2 or more, but it gives 1"),
        ("pop [0, 1] push 1", "push(pop() + pop());", "pop rate of `Test` is from 0 to 1, but it takes 2"),
        (
            "pop [2, 4, 8] push 1",
            "if (n) pop(); push(1);",
            "pop rate of `Test` is from 2 to 8, but it takes at most 1",
        ),
        (
            "pop 1 push [n, 1]",
            "push(1); push(2); pop(); while (n) push(3);",
            "push rate of `Test` is 1 or less, but it gives at least 2",
        ),
    ] {
        refused(&filter(rates, code), &[&format!("the {message}")]);
    }
}

#[test]
fn rates_are_integers_that_are_not_negative() {
    accepted(&filter("pop n * 2 push 1 + 1", "push(pop()); push(1);"));
    refused(&filter("pop 1.5 push 1", "push(pop());"), &["an `int` is wanted here, not a `float`"]);
    refused(&filter("pop 1 push 1 - 2", "push(pop());"), &["a rate cannot be negative"]);
}

#[test]
fn what_is_taken_is_looked_at_whatever_is_said() {
    let program = accepted(&filter("pop 2 peek 1 push 1", "push(pop() + pop());"));
    assert_eq!(crate::common::filter_of(&program, "Test").work.rates.peek, None);
    let program = accepted(&filter("pop 2 peek 3 push 1", "push(pop() + peek(1));"));
    assert!(crate::common::filter_of(&program, "Test").work.rates.peek.is_some());
    refused(
        &filter("pop 1 peek 2 push 1", "push(pop() + peek(-1));"),
        &["what has been taken cannot be looked at any more"],
    );
}

#[test]
fn looks_ahead_that_are_known_stay_in_the_window() {
    accepted(&filter("pop 1 peek 3 push 1", "push(pop() + peek(0) + peek(1));"));
    refused(
        &filter("pop 1 peek 3 push 1", "push(peek(3) + pop());"),
        &["`peek(3)` where `Test` can look at 3 items"],
    );
    refused(&filter("pop 2 push 1", "push(peek(2));"), &["`peek(2)` where `Test` can look at 2 items"]);
}

#[test]
fn what_was_popped_before_a_look_counts() {
    let beyond = |index: u32, popped: &str, window: &str| {
        format!("`peek({index})` after {popped} popped, where `Test` can look at {window}")
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
        // It may never come to that.
        ("pop 1", "float x = pop(); for (int i = 0; i < n; i++) x += peek(0); push(x);"),
        ("pop 1", "push(pop() > 0 && peek(0) > 0 ? 1 : 2);"),
        ("pop 1", "float x = pop(); if (n > 3) x += peek(0); push(x);"),
        ("pop * peek [1, 2]", "pop(); push(peek(1));"),
        ("pop 1 peek n", "pop(); push(peek(0));"),
    ] {
        accepted(&filter(&format!("{rates} push 1"), code));
    }
    // What is wrong for itself is told as that.
    refused(
        &filter("pop 1 push 1", "pop(); push(pop() + peek(0));"),
        &["the pop rate of `Test` is 1, but it takes 2"],
    );
}

#[test]
fn looks_ahead_stay_in_windows_of_dynamic_rates() {
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
            &[&format!("`peek(6)` where `Test` can look at {window} items")],
        );
    }
}

#[test]
fn init_moves_nothing_by_functions_either() {
    refused(
        &with_filter(
            "float->float filter Test() { init { f(); } work pop 1 push 1 { pop(); f(); } void f() { push(1); } }",
        ),
        &["`push` in a function that `init` calls"],
    );
}

#[test]
fn rates_of_functions_are_resolved_and_not_held_against_them() {
    let with = |rates: &str| {
        with_filter(&format!(
            "float->float filter Test() {{ work pop 2 push 1 {{ f(); }} void f() {rates} {{ push(pop() + pop()); }} }}"
        ))
    };
    accepted(&with("pop 1 push 7"));
    refused(&with("pop m"), &["there is no variable `m`"]);
}
