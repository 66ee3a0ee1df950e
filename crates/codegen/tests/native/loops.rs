//! Feedback loops with dynamic rates that deadlock, or exceed their budget: reported like by the interpreter.

use crate::common::{Memory, Seen, agree_runs, compiled, compiler, has_compiler, ints, levels, run_on};
use thalweg_codegen::{Cache, Config, Threads, build};

fn around(inside: &str, rest: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<int>(\"in\"); add Loop(); add Show(); }}
         int->void filter Show() {{ work pop 1 {{ println(pop()); }} }}
         int->int feedbackloop Loop {{ {inside} }} {rest}"
    )
}

/// Runs that all agree; the last one has no limit of iterations.
fn agree(text: &str) -> Seen {
    let compiled = compiled(text);
    let runs = [0, 1, 2, 5, 100].map(|iterations| (ints("in", 40), Some(iterations)));
    let whole = [(ints("in", 40), None)];
    let runs: Vec<(Memory, Option<u64>)> = runs.into_iter().chain(whole).collect();
    agree_runs(&levels(text), &compiled, text, &runs).pop().expect("a run")
}

macro_rules! deadlocks {
    ($($name:ident: $inside:expr, $rest:expr, $why:expr;)*) => {$(
        #[test]
        fn $name() {
            if has_compiler(stringify!($name)) {
                let seen = agree(&around($inside, $rest));
                let why = format!("{:?}", seen.end.expect_err("a deadlock"));
                assert!(why.contains("deadlock of streams") && why.contains($why), "{why}");
            }
        }
    )*};
}

deadlocks! {
    nothing_is_enqueued: "join roundrobin(1, 1); body Mix(); loop Even(); split duplicate;",
        "int->int filter Mix { work pop 2 push [1, 2] { int x = pop(); int y = pop(); push(x * 10 + y % 2); } }
         int->int filter Even() { work pop 1 push [0, 1] { int x = pop(); if (x % 4 != 3) push(x); } }",
        "`Main.Loop.Mix` needs 2 more items from `Main.Loop.join`";
    it_dries_up: "join roundrobin(1, 1); body Mix(); loop Some(); split duplicate; enqueue 1; enqueue 2;",
        "int->int filter Mix { work pop 2 push 1 { int x = pop(); push(x + pop()); } }
         int->int filter Some() { int n; work pop 1 push [0, 1] { int x = pop(); n++; if (n < 20) push(x); } }",
        "`Main.Loop.join` needs 1 more item from `Main.Loop.Some`";
    in_the_middle_of_a_firing: "join roundrobin(1, 1); body Greedy(); loop Identity<int>(); split duplicate; enqueue 1; enqueue 2; enqueue 3;",
        "int->int filter Greedy { int n; work pop * push 1 { int s = 0; n += 1; for (int i = 0; i < n; i++) s += pop(); push(s); } }",
        "from `Main.Loop.join`";
    a_window_in_the_middle_of_a_firing: "join roundrobin(1, 1); body Far(); loop Identity<int>(); split roundrobin(1, 1); enqueue 1; enqueue 2; enqueue 3;",
        "int->int filter Far { int n; work pop * push * { n++; int x = pop(); push(x); push(pop() + peek(n)); } }",
        "from `Main.Loop.join`";
    a_loop_in_a_loop: "join roundrobin(1, 1); body Inner(); loop Identity<int>(); split duplicate; enqueue 1; enqueue 1;",
        "int->int feedbackloop Inner { join roundrobin(2, 1); body Add(); loop Few(); split duplicate; enqueue 7; }
         int->int filter Add { work pop 3 push 1 { push(pop() + pop() + pop()); } }
         int->int filter Few { int n; work pop 1 push [0, 1] { int x = pop(); n++; if (n < 9) push(x); } }",
        "`Main.Loop.Inner.join` needs 1 more item from `Main.Loop.Inner.Few`";
}

#[test]
fn loops_that_end_with_their_input_end_well() {
    if !has_compiler("loops_that_end_with_their_input_end_well") {
        return;
    }
    for body in [
        "int->int filter Mix { work pop 2 push 1 { int x = pop(); push(x + pop()); } }",
        "int->int filter Mix { work pop * push 1 { int x = pop(); push(x + pop()); } }",
    ] {
        let seen = agree(&around(
            "join roundrobin(1, 1); body Mix(); loop Same(); split duplicate; enqueue 1; enqueue 2;",
            &format!("{body} int->int filter Same() {{ work pop 1 push [0, 1] {{ push(pop()); }} }}"),
        ));
        assert!(seen.end.is_ok() && seen.printed.lines().count() == 40, "{seen:?}");
    }
}

#[test]
fn a_growing_loop_fails_with_the_name_of_its_queue() {
    if !has_compiler("a_growing_loop_fails_with_the_name_of_its_queue") {
        return;
    }
    let text = around(
        "join roundrobin(1, 1); body Mix(); loop Twice(); split roundrobin(1, 1); enqueue 1;",
        "int->int filter Mix { work pop 2 push 2 { int x = pop(); push(x); push(pop() + 1); } }
         int->int filter Twice { work pop 1 push * { int x = pop(); push(x); push(x); } }",
    );
    for level in levels(&text) {
        let config = Config { level, cache: Cache::None, compiler: compiler(level) };
        let native = build(&compiled(&text), &config).unwrap_or_else(|refusal| panic!("{refusal}"));
        let seen = run_on(&native.within(30_000), &Threads::new(1), &ints("in", 100_000), None);
        let why = format!("{:?}", seen.end.expect_err("a queue without bounds"));
        assert!(why.contains("the queue from `Main.Loop.Twice` to `Main.Loop.join` holds"), "{why}");
    }
}
