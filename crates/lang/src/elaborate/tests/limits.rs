use super::{ENDS, Limits, made_within};
use insta::assert_snapshot;

fn small() -> Limits {
    Limits { steps: 20_000, words: 160_000, streams: 100, depth: 20 }
}

fn stopped(text: &str) -> String {
    made_within(&format!("{ENDS} {text}"), &small()).1.expect_err("errors")
}

#[test]
fn recursion_without_end_names_the_stream() {
    assert_snapshot!(stopped(
        "int->int pipeline A(int n) { add F(); add B(n + 1); }
        int->int pipeline B(int n) { add A(n); }
        void->void pipeline Main { add S(); add A(0); add T(); }"
    ));
}

#[test]
fn recursion_that_doubles_stops_at_the_number_of_streams() {
    assert_snapshot!(stopped(
        "int->int pipeline A(int n) { add F(); if (n > 0) { add A(n - 1); add A(n - 1); } }
        void->void pipeline Main { add S(); add A(15); add T(); }"
    ));
}

#[test]
fn endless_loops_stop() {
    assert_snapshot!(stopped("void->void pipeline Main { add S(); while (true) { int x; } add T(); }"));
    assert_snapshot!(stopped(
        "int->int filter G(int n) { int k; init { while (n > 0) k++; } work pop 1 push 1 { push(pop()); } }
        void->void pipeline Main { add S(); add G(0); add G(1); add G(2); add T(); }"
    ));
}

#[test]
fn endless_add_exhausts_the_budget() {
    assert_snapshot!(stopped("void->void pipeline Main { add S(); while (true) add F(); add T(); }"));
}

#[test]
fn endless_loops_stop_at_the_default_limit() {
    let text = format!(
        "{ENDS} void->void pipeline Main {{ int i = 0; while (i < 3) i = i * 2; add S(); add T(); }}"
    );
    let message = made_within(&text, &Limits::default()).1.expect_err("an endless loop");
    assert!(message.contains("elaboration exceeds 100000000 steps"), "{message}");
}

#[test]
fn an_exhausted_budget_is_reported_once() {
    let message = stopped(
        "void->void pipeline Main { add S(); for (int i = 0; i < 90; i++)
            add int->int filter { int[2000] q; work pop 1 push 1 { push(pop()); } }; add T(); }",
    );
    assert_eq!(message.matches("Error").count(), 1, "{message}");
}

#[test]
fn fields_take_room() {
    assert_snapshot!(stopped(
        "int->int filter G(int n) { int[n][1000] a; work pop 1 push 1 { push(pop() + a[0][0]); } }
        void->void pipeline Main { add S(); for (int i = 1; i < 50; i++) add G(i); add T(); }"
    ));
}

#[test]
fn default_limits_allow_deep_recursion() {
    let text = format!(
        "{ENDS} int->int pipeline A(int n) {{ add F(); if (n > 0) add A(n - 1); }}
        void->void pipeline Main {{ add S(); add A(490); add T(); }}"
    );
    let (_, tree) = made_within(&text, &Limits::default());
    assert_eq!(tree.map(|tree| tree.filters.len()), Ok(493));
}
