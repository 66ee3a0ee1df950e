use super::{fire, fire_within, printed};
use crate::eval::Budget;
use crate::value::Value;

#[test]
fn locals_begin_as_zero_each_time() {
    assert_eq!(printed("for (int i = 0; i < 2; i++) { int k; k += 3; println(k); }"), "3\n3\n");
    assert_eq!(printed("float[2] a; boolean b; println(a[1]); println(b);"), "0.0\nfalse\n");
}

#[test]
fn break_and_continue() {
    let body = "for (int i = 0; i < 9; i++) { if (i == 1) continue; if (i == 4) break; print(i); }";
    assert_eq!(printed(body), "023");
    assert_eq!(printed("int i; while (i < 3) { i++; if (i == 2) continue; print(i); }"), "13");
    assert_eq!(printed("int i; do { i++; if (i == 2) continue; print(i); } while (i < 3);"), "13");
    assert_eq!(printed("int i = 9; do print(i); while (false);"), "9");
    assert_eq!(
        printed("for (int i = 0; i < 2; i++) for (int j = 0; ; j++) { if (j > i) break; print(j); }"),
        "001"
    );
}

#[test]
fn return_leaves_the_firing() {
    assert_eq!(printed("while (true) { print(1); return; } print(2);"), "1");
}

#[test]
fn conditions_choose() {
    let body =
        "for (int i = 0; i < 3; i++) { if (i == 0) print(0); else if (i == 1) print(10); else print(200); }";
    assert_eq!(printed(body), "010200");
}

#[test]
fn updates_calculate_in_the_wider_type() {
    assert_eq!(
        printed("int i = 7; i /= 2; println(i); i <<= 4; println(i); i >>= 2; println(i);"),
        "3\n48\n12\n"
    );
    assert_eq!(printed("float x = 1; x += 1; x *= 3; x -= 0.5; println(x);"), "5.5\n");
}

#[test]
fn indices_of_an_updated_place_are_evaluated_once() {
    let body = "int[3] a; int i; a[i++] += 5; a[i++] = i; println(i); println(a[0]); println(a[1]);";
    assert_eq!(printed(body), "2\n5\n2\n");
}

#[test]
fn indices_are_evaluated_before_the_value() {
    let script = fire("pop 2 push 1", "int[9] a; a[pop()] = pop(); push(a[3]);", &[3, 8]);
    assert_eq!(script.pushed, [Value::Int(8)]);
}

#[test]
fn messages_carry_arguments_and_latencies() {
    let text = "
        void->void pipeline Main { portal<R> p; add F(p); add R() to p; }
        void->int filter F(portal<R> p) {
            work push 1 { p.set(4, 0.5) [1:2]; p.set(5, 1.5); p.set(6, 2.5) [*]; push(1); }
        }
        int->void filter R {
            work pop 1 { pop(); }
            handler get() { }
            handler set(int n, float x) { }
        }";
    let (done, script) = fire_within(text, Vec::new(), &mut Budget::unlimited());
    assert_eq!(done, Ok(()));
    let arguments = |n: i32, x: f32| format!("{:?}", [Value::Int(n), Value::Float(x)]);
    let expected = [
        format!("send 3.1 Some((1, 2)) {}", arguments(4, 0.5)),
        format!("send 3.1 Some((0, 0)) {}", arguments(5, 1.5)),
        format!("send 3.1 None {}", arguments(6, 2.5)),
    ];
    assert_eq!(script.log[..3], expected);
}

#[test]
fn one_latency_bound_sets_both() {
    let text = |latency: &str| {
        format!(
            "void->void pipeline Main {{ portal<R> p; add F(p); add R() to p; }}
             void->int filter F(portal<R> p) {{ int x; work push 1 {{ x = 2; p.set() {latency}; push(1); }} }}
             int->void filter R {{ work pop 1 {{ pop(); }} handler set() {{ }} }}"
        )
    };
    let sent = |latency: &str| fire_within(&text(latency), Vec::new(), &mut Budget::unlimited());
    assert_eq!(sent("[-4:]").1.log[0], "send 3.0 Some((-4, -4)) []");
    assert_eq!(sent("[:6]").1.log[0], "send 3.0 Some((6, 6)) []");
    let why = sent("[x:1]").0.expect_err("a failure");
    assert!(why.starts_with("the latency [2:1] ends before it begins"), "{why}");
}
