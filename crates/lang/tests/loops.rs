//! Feedback loops with dynamic rates that deadlock or let queues grow without bound.

use crate::common;

use common::{Run, run, run_within};
use thalweg_lang::interpret::{RunLimits, Stop};
use thalweg_lang::value::Value;

/// A feedback loop between a source and a printing sink.
fn around(inside: &str, rest: &str) -> String {
    format!(
        "void->void pipeline Main {{
            add void->int filter {{ int n; work push 1 {{ push(n++); }} }};
            add Loop();
            add int->void filter {{ work pop 1 {{ println(pop()); }} }};
        }}
        int->int feedbackloop Loop {{ {inside} }} {rest}"
    )
}

/// A body that combines an input item with a fed back one, and a loop that drops some items.
const MIX: &str =
    "int->int filter Mix { work pop 2 push [1, 2] { int x = pop(); int y = pop(); push(x * 10 + y % 2); } }
    int->int filter Even() { work pop 1 push [0, 1] { int x = pop(); if (x % 4 != 3) push(x); } }";

fn deadlock(run: &Run) -> (&str, usize) {
    let Err(Stop::Fault(fault)) = &run.end else { panic!("expected a deadlock, found {:?}", run.end) };
    (&fault.message, fault.others.len())
}

#[test]
fn a_loop_without_initial_items_is_a_deadlock() {
    let text = around("join roundrobin(1, 1); body Mix(); loop Even(); split duplicate;", MIX);
    for iterations in [Some(1), Some(5), None] {
        let run = run(&text, iterations, &[]);
        let expected = "deadlock of streams that wait for each other: `Main.Loop.join` needs 1 more item from \
                     `Main.Loop.Even`, `Main.Loop.Even` needs 1 more item from `Main.Loop.split`, \
                     `Main.Loop.split` needs 1 more item from `Main.Loop.Mix`, `Main.Loop.Mix` needs 2 more items \
                     from `Main.Loop.join`";
        assert_eq!(deadlock(&run), (expected, 2));
        assert_eq!(run.printed, "");
    }
}

#[test]
fn a_loop_that_dries_up_is_a_deadlock() {
    let text = around(
        "join roundrobin(1, 1); body Mix(); loop Even(); split duplicate; enqueue 1;",
        &MIX.replace("% 4 != 3", "< 40"),
    );
    let run = run(&text, Some(100), &[]);
    assert!(
        deadlock(&run).0.contains("`Main.Loop.join` needs 1 more item from `Main.Loop.Even`"),
        "{:?}",
        run.end
    );
    assert_eq!(run.printed, "1\n11\n21\n31\n41\n");
}

#[test]
fn a_loop_that_waits_in_the_middle_of_a_firing_is_a_deadlock() {
    let text = around(
        "join roundrobin(1, 1); body Greedy(); loop Identity<int>(); split duplicate; enqueue 1; enqueue 2;",
        "int->int filter Greedy { int n; work pop * push 1 { int s = 0; n += 2; for (int i = 0; i < n; i++) s += pop(); push(s); } }",
    );
    let run = run(&text, Some(100), &[]);
    assert!(
        deadlock(&run).0.contains("`Main.Loop.Greedy` needs 1 more item from `Main.Loop.join`"),
        "{:?}",
        run.end
    );
    assert_eq!(run.printed, "1\n6\n");
}

#[test]
fn a_loop_without_input_that_cannot_begin_is_a_deadlock() {
    let text = "void->void pipeline Main {
        add void->int feedbackloop {
            join roundrobin(0, 1);
            body int->int filter { work pop 1 push [1, 2] { int x = pop(); push(x); push(x); } };
            loop Identity<int>();
            split roundrobin(1, 1);
        };
        add int->void filter { work pop 1 { println(pop()); } };
    }";
    let run = run(text, Some(3), &[]);
    assert!(deadlock(&run).0.contains("`Main.feedbackloop.join` needs 1 more item"), "{:?}", run.end);
}

#[test]
fn the_end_of_input_is_no_deadlock() {
    let text = around(
        "join roundrobin(1, 1); body Mix(); loop Even(); split duplicate; enqueue 1;",
        &MIX.replace("% 4 != 3", ">= 0"),
    )
    .replace("void->int filter { int n; work push 1 { push(n++); } }", "FileReader<int>(\"in\")");
    let input: Vec<Value> = (0..5).map(Value::Int).collect();
    for iterations in [None, Some(3), Some(9)] {
        let run = run(&text, iterations, &[("in", input.clone())]);
        assert!(run.end.is_ok() && run.printed.starts_with("1\n11\n21\n"), "{:?}", run.end);
    }
}

#[test]
fn a_queue_without_consumption_reaches_the_budget() {
    let limits = RunLimits { bytes: 100_000, ..RunLimits::default() };
    let never = around(
        "join roundrobin(1, 1); body Mix(); loop Idle(); split roundrobin(1, 1); enqueue 1;",
        "int->int filter Mix { work pop 2 push [1, 2] { int x = pop(); push(x); push(pop() + 1); } }
         int->int filter Idle { work pop [0, 1] push [0, 1] { } }",
    );
    let ever = around(
        "join roundrobin(1, 1); body Mix(); loop Twice(); split roundrobin(1, 1); enqueue 1;",
        "int->int filter Mix { work pop 2 push [1, 2] { int x = pop(); push(x); push(pop() + 1); } }
         int->int filter Twice { work pop 1 push * { int x = pop(); push(x); push(x); } }",
    );
    let inside = around(
        "join roundrobin(1, 1); body Mix(); loop Identity<int>(); split roundrobin(1, 1); enqueue 1;",
        "int->int filter Mix { work pop 2 push * { int x = pop(); while (true) push(x); } }",
    );
    for (text, queue) in [
        (never, "the queue from `Main.filter` to `Main.Loop.join`"),
        (ever, "the queue from `Main.Loop.Twice` to `Main.Loop.join`"),
        (inside, "the queue from `Main.Loop.Mix` to `Main.Loop.split`"),
    ] {
        let run = run_within(&text, None, &[], limits);
        let (message, _) = deadlock(&run);
        assert!(
            message.contains(queue) && message.contains("budget of all queues is 100000 bytes"),
            "{message}"
        );
    }
}
