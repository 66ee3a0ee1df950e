//! The meaning of programs: each rule of section 4 of the language with an example.

use crate::common;

use common::{lines, run};
use thalweg_lang::interpret::Stop;
use thalweg_lang::value::Value;
use thalweg_lang::{Sources, compile};

/// The lines that `work` prints in a filter with the input 1, 2, 3, ...
fn prints(fields: &str, work: &str, iterations: u64) -> Vec<String> {
    let text = format!(
        "void->void pipeline Main {{ add Count(); add Show(); }}
         void->int filter Count {{ int i; work push 1 {{ i++; push(i); }} }}
         int->void filter Show {{ {fields} work pop 1 {{ {work} }} }}"
    );
    lines(&text, iterations)
}

/// The printed value of an expression.
fn shows(expr: &str) -> String {
    prints("", &format!("pop(); println({expr});"), 1).remove(0)
}

/// The output of `stages` for the input 1, 2, 3, ...
fn through(stages: &str, rest: &str, iterations: u64) -> Vec<i32> {
    let text = format!(
        "void->void pipeline Main {{ add Count(); {stages} add Show(); }}
         void->int filter Count {{ int i; work push 1 {{ i++; push(i); }} }}
         int->void filter Show {{ work pop 1 {{ println(pop()); }} }}
         {rest}"
    );
    lines(&text, iterations).iter().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn integers_wrap_and_divide_toward_zero() {
    assert_eq!(shows("2147483647 + 2"), "-2147483647");
    assert_eq!((shows("-7 / 3"), shows("-7 % 3")), ("-2".into(), "-1".into()));
    assert_eq!((shows("-8 >> 1"), shows("0xFFFFFFFF")), ("-4".into(), "-1".into()));
}

#[test]
fn precedence_differs_from_c() {
    assert_eq!((shows("1|2&4"), shows("1<<2+1")), ("0".into(), "5".into()));
}

#[test]
fn floats_have_32_bits() {
    assert_eq!(shows("16777216.0 + 1.0 == 16777216.0"), "true");
    assert_eq!(
        (shows("1/2"), shows("3/2*2.0"), shows("(int)(-2.7)")),
        ("0".into(), "2.0".into(), "-2".into())
    );
    assert_eq!(shows("0.1"), "0.1");
}

#[test]
fn max_min_and_abs_keep_the_type() {
    assert_eq!(
        (shows("max(2,3)"), shows("min(2.5,3)"), shows("abs(-3)")),
        ("3".into(), "2.5".into(), "3".into())
    );
}

#[test]
fn operands_are_evaluated_from_left_to_right() {
    let rest = "int->int filter Mix {
        work pop 2 push 1 peek 3 { push(peek(0) + 10 * pop() + 100 * peek(0) + 1000 * pop()); }
    }";
    assert_eq!(through("add Mix();", rest, 2), [2211, 4433]);
    assert_eq!(prints("", "pop(); int k = 5; k += k++ + 1; println(k);", 1), ["11"]);
}

#[test]
fn logic_stops_early() {
    let counted = "int n; boolean up() { n++; return true; }";
    assert_eq!(prints(counted, "pop(); boolean b = false && up() || true || up(); println(n);", 1), ["0"]);
}

#[test]
fn locals_start_as_zero_in_each_iteration() {
    let work = "pop(); for (int i = 0; i < 2; i++) { int[2] a; println(a[i]); a[1] = 7; }";
    assert_eq!(prints("", work, 1), ["0", "0"]);
}

#[test]
fn arrays_and_structures_are_values() {
    let text = "struct Pair { int a; int[2] b; }
        void->void pipeline Main { add One(); add Two(); }
        void->Pair filter One {
            Pair p;
            work push 2 { p.b[1] = 5; push(p); p.b[1] = 6; Pair q = p; q.a = 1; push(p); }
        }
        Pair->void filter Two { work pop 1 { Pair p = pop(); println(p.a); println(p.b[1]); } }";
    assert_eq!(lines(text, 1), ["0", "5", "0", "6"]);
}

#[test]
fn complex_numbers_multiply() {
    let work = "pop(); complex z; z.real = 3; z.imag = 4; z = z * z; println(z.real); println(z.imag);";
    assert_eq!(prints("", work, 1), ["-7.0", "24.0"]);
}

#[test]
fn fields_then_init_then_prework_then_work() {
    let fields = "int a = 2; int b; init { b = a * 10; } prework pop 1 { println(b + pop()); b++; }";
    assert_eq!(prints(fields, "println(b + 100 * pop());", 3)[..3], ["21", "221", "321"]);
}

#[test]
fn prework_has_rates_of_its_own() {
    let rest = "int->int filter Late {
        prework push 2 { push(-1); push(-2); }
        work pop 1 push 1 { push(pop()); }
    }";
    assert_eq!(through("add Late();", rest, 3)[..5], [-1, -2, 1, 2, 3]);
}

#[test]
fn unpopped_items_of_a_static_rate_are_dropped() {
    let rest = "int->int filter Every { work pop 3 push 1 { push(pop()); } }";
    assert_eq!(through("add Every();", rest, 3), [1, 4, 7]);
}

#[test]
fn a_window_is_at_least_the_pop_rate() {
    let rest = "int->int filter Two { work pop 2 peek 1 push 1 { push(10 * pop() + pop()); } }";
    assert_eq!(through("add Two();", rest, 2), [12, 34]);
}

#[test]
fn iter_counts_executions_of_work() {
    assert_eq!(
        prints("prework pop 1 { pop(); println(iter()); }", "pop(); println(iter());", 2)[..3],
        ["0", "0", "1"]
    );
}

#[test]
fn windows_exceed_the_pop_rate() {
    let rest = "int->int filter Sum(int n) {
        work pop 1 push 1 peek n { int s = 0; for (int i = 0; i < n; i++) s += peek(i); pop(); push(s); }
    }";
    assert_eq!(through("add Sum(3);", rest, 3), [6, 9, 12]);
}

#[test]
fn split_joins_deal_by_weights() {
    let stages = |split: &str, join: &str| {
        format!(
            "add int->int splitjoin {{
                split {split};
                for (int k = 1; k <= 2; k++)
                    add int->int filter {{ work pop 1 push 1 {{ push(100 * k + pop()); }} }};
                join {join};
            }};"
        )
    };
    let output = |split, join, iterations| through(&stages(split, join), "", iterations);
    assert_eq!(output("roundrobin", "roundrobin()", 2), [101, 202, 103, 204]);
    assert_eq!(output("duplicate", "roundrobin(1)", 2), [101, 201, 102, 202]);
    assert_eq!(output("roundrobin(2,1)", "roundrobin(2,1)", 1), [101, 102, 203]);
    assert_eq!(output("roundrobin(2)", "roundrobin(2)", 1), [101, 102, 203, 204]);
}

#[test]
fn a_weight_of_zero_carries_nothing() {
    let text = "void->void pipeline Main {
        add void->int splitjoin {
            split roundrobin(0);
            for (int k = 1; k <= 2; k++) add void->int filter { work push 1 { push(k); } };
            join roundrobin(2, 1);
        };
        add int->void filter { work pop 1 { println(pop()); } };
    }";
    assert_eq!(lines(text, 2), ["1", "1", "2", "1", "1", "2"]);
}

#[test]
fn feedback_loops_start_with_enqueued_items() {
    let text = "void->void feedbackloop Main {
        join roundrobin(0, 1);
        body int->int filter { work pop 1 push 1 { int x = pop(); println(x); push(x + 10); } };
        loop Identity<int>();
        split roundrobin(0, 1);
        for (int i = 0; i < 3; i++) enqueue i;
    }";
    assert_eq!(lines(text, 5), ["0", "1", "2", "10", "11"]);
}

#[test]
fn streams_recur_and_capture_enclosing_variables() {
    let rest = "int->int pipeline Add(int depth) {
        int step = depth * 10;
        add int->int filter { work pop 1 push 1 { push(pop() + step); } };
        if (depth > 1) add Add(depth - 1);
    }";
    assert_eq!(through("add Add(3);", rest, 2), [61, 62]);
}

#[test]
fn statics_are_visible_everywhere() {
    let text = "static { int N = 3; float[N] table; init { for (int i = 0; i < N; i++) table[i] = i / 2.0; } }
        void->void pipeline Main { add void->float filter { work push N { for (int i = 0; i < N; i++) push(table[i]); } };
            add float->void filter { work pop 1 { println(pop()); } }; }";
    assert_eq!(lines(text, 1), ["0.0", "0.5", "1.0"]);
}

#[test]
fn dynamic_filters_wait_within_a_firing() {
    let rest = "int->int filter Runs {
        int last; int count;
        work pop * push * {
            int x = pop();
            int n = 1;
            while (peek(0) / 3 == x / 3) { pop(); n++; }
            push(n);
        }
    }";
    assert_eq!(through("add Runs();", rest, 10), [2, 3, 3]);
}

#[test]
fn dynamic_rates_keep_their_bounds() {
    let rest = "int->int filter Odd { work pop 1 push [0, 1] { int x = pop(); if (x % 2 == 1) push(x); } }";
    assert_eq!(through("add Odd();", rest, 6), [1, 3, 5]);
    let rest = rest.replace("push(x)", "{ push(x); push(x); }");
    let text = format!(
        "void->void pipeline Main {{ add Count(); add Odd(); add Show(); }}
         void->int filter Count {{ int i; work push 1 {{ i++; push(i); }} }}
         int->void filter Show {{ work pop 1 {{ println(pop()); }} }} {rest}"
    );
    let Err(Stop::Fault(fault)) = run(&text, Some(1), &[]).end else {
        panic!("a second push exceeds the rate")
    };
    let said = "`Main.Odd`, in firing 1: this firing pushes 2 items, but its rate says from 0 to 1";
    assert_eq!(fault.message, said);
}

#[test]
fn wrong_item_counts_report_the_firing_number() {
    let failing = |work: &str| {
        let text = format!(
            "void->void pipeline Main {{ add Count(); add Bad(); add Show(); }}
             void->int filter Count {{ int i; work push 1 {{ i++; push(i); }} }}
             int->void filter Show {{ work pop 1 {{ println(pop()); }} }} int->int filter Bad {{ {work} }}"
        );
        let Err(Stop::Fault(fault)) = run(&text, Some(9), &[]).end else { panic!("{work}") };
        // The location is in `work`, or is all of it.
        assert!(work.contains(&text[fault.span.start() as usize..fault.span.end() as usize]), "{work}");
        fault.message.replace("`Main.Bad`, in firing 3: this firing ", "")
    };
    let some = |count: u32| format!("for (int i = 0; i < (x == 3 ? {count} : 1); i++) push(x);");
    let work = |rates: &str, count| failing(&format!("work {rates} {{ int x = pop(); {} }}", some(count)));
    assert_eq!(work("pop 1 push 1", 0), "pushes 0 items, but its rate says 1");
    assert_eq!(work("pop 1 push 1", 2), "pushes more than the 1 item of its rate");
    assert_eq!(work("pop 1 push [0, 1]", 2), "pushes 2 items, but its rate says from 0 to 1");
    let pops = "work pop [2, 3] push 1 { int n = iter() == 2 ? 1 : 2; int x; for (int i = 0; i < n; i++) x = pop(); push(x); }";
    assert_eq!(failing(pops), "pops 1 item, but its rate says from 2 to 3");
    let pops = "work pop 1 push 1 { int x = pop(); if (x == 3) pop(); push(x); }";
    assert_eq!(failing(pops), "pops more than the 1 item of its rate");
    let looks = "work pop 1 push 1 { int x = pop(); if (x == 3) x = peek(x - 3); push(x); }";
    let said = failing(looks).replace("`Main.Bad`, in firing 3: ", "");
    assert_eq!(said, "`peek(0)` after 1 item was popped is outside of the window of 1");
}

#[test]
fn a_program_ends_with_its_input() {
    let text = "void->void pipeline Main {
        add FileReader<int>(\"in\");
        add int->int filter { work pop 2 push 1 peek 3 { push(peek(2)); pop(); pop(); } };
        add FileWriter<int>(\"out\");
    }";
    let ints = |numbers: &[i32]| numbers.iter().copied().map(Value::Int).collect::<Vec<_>>();
    let ended = run(text, None, &[("in", ints(&[1, 2, 3, 4, 5, 6]))]);
    assert!(ended.end.is_ok());
    assert_eq!(ended.files["out"], ints(&[3, 5]));
}

#[test]
fn messages_downstream_arrive_with_their_wave() {
    // Sent in firing 4: the receiver takes two items a firing, so that its second firing sees the wave.
    let text = |latency: &str| {
        format!(
            "void->void pipeline Main {{
                portal<Show> p;
                add Send(p);
                add Show() to p;
            }}
            void->int filter Send(portal<Show> p) {{
                int i;
                work push 1 {{ i++; if (i == 4) p.set(100) {latency}; push(i); }}
            }}
            int->void filter Show {{
                int more;
                work pop 2 {{ println(pop() + more); pop(); }}
                handler set(int x) {{ more = x; }}
            }}"
        )
    };
    assert_eq!(lines(&text(""), 4), ["1", "103", "105", "107"]);
    assert_eq!(lines(&text("[1:1]"), 4), ["1", "3", "105", "107"]);
    assert_eq!(lines(&text("[3:3]"), 4), ["1", "3", "5", "107"]);
}

#[test]
fn messages_need_a_path() {
    let text = |sent: &str| {
        format!(
            "void->void pipeline Main {{
                portal<Gain> p;
                add void->int filter {{ int n; work push 1 {{ push(n++); }} }};
                add int->int splitjoin {{ split duplicate; add Send(p); add Gain() to p; join roundrobin; }};
                add int->void filter {{ work pop 1 {{ println(pop()); }} }};
            }}
            int->int filter Send(portal<Gain> p) {{ work pop 1 push 1 {{ if (peek(0) == 1) {{ {sent} }} push(pop()); }} }}
            int->int filter Gain {{ int g; work pop 1 push 1 {{ push(pop() + g); }} handler set(int x) {{ g = x; }} }}"
        )
    };
    let errors = compile(&Sources::of("test.str", text("p.set(5);"))).unwrap_err();
    let words = "`Main.splitjoin.Send` sends a message that cannot arrive: no stream connects \
                 this filter and `Main.splitjoin.Gain`";
    assert!(errors.len() == 1 && errors[0].message.contains(words), "{}", errors[0].message);
    // A message without a latency needs no path.
    assert_eq!(lines(&text("p.set(5) [*];"), 3), ["0", "0", "1", "6", "2", "7"]);
}

#[test]
fn messages_need_static_rates_on_their_path() {
    let text = |rate: &str, sent: &str| {
        format!(
            "void->void pipeline Main {{
                portal<Gain> up;
                portal<Gain> down;
                add Count();
                add Gain() to up;
                add int->int filter Some {{ work pop 1 push {rate} {{ push(pop()); }} }};
                add Send(up, down);
                add Gain() to down;
                add int->void filter {{ work pop 1 {{ println(pop()); }} }};
            }}
            void->int filter Count {{ int n; work push 1 {{ push(n++); }} }}
            int->int filter Send(portal<Gain> up, portal<Gain> down) {{
                work pop 1 push 1 {{ if (peek(0) == -1) {{ {sent} }} push(pop()); }}
            }}
            int->int filter Gain {{ int g; work pop 1 push 1 {{ push(pop() + g); }} handler set(int x) {{ g = x; }} }}"
        )
        .replace("filter Some {", "filter {")
    };
    for sent in ["up.set(5) [1:1];", "down.set(5);", "up.set(5) [*];"] {
        assert_eq!(lines(&text("1", sent), 2), ["0", "1"]);
    }
    // Rates after the dynamic channel do not matter, and a message without a latency needs no path.
    for sent in ["down.set(5);", "up.set(5) [*];"] {
        assert_eq!(lines(&text("[0, 1]", sent), 2), ["0", "1"]);
    }
    let errors = compile(&Sources::of("test.str", text("[0, 1]", "up.set(5) [1:1];"))).unwrap_err();
    let words = "`Main.Send` sends a message that cannot arrive: a message with a latency needs static rates along \
                 its route, but those between `Main.filter` and `Main.Send` are dynamic";
    assert!(errors.len() == 1 && errors[0].message == words, "{}", errors[0].message);
}

#[test]
fn messages_upstream_arrive_after_their_wave() {
    let text = |latency: &str| {
        format!(
            "void->void pipeline Main {{
                portal<Count> p;
                add Count() to p;
                add Identity<int>();
                add Show(p);
            }}
            void->int filter Count {{
                int i;
                work push 1 {{ i++; push(i); }}
                handler jump(int start) {{ i = start; }}
            }}
            int->void filter Show(portal<Count> p) {{
                work pop 1 {{ int x = pop(); println(x); if (x == 2) p.jump(50) {latency}; }}
            }}"
        )
    };
    assert_eq!(lines(&text("[0:0]"), 4), ["1", "2", "51", "52"]);
    assert_eq!(lines(&text("[2:2]"), 6), ["1", "2", "3", "4", "51", "52"]);
}

#[test]
fn faults_name_the_filter_and_the_firing() {
    let text = "void->void pipeline Main {
        add void->int filter Bad { int[3] a; int i; work push 1 { push(a[i]); i++; } };
        add int->void filter { work pop 1 { pop(); } };
    }"
    .replace("filter Bad", "filter");
    let Err(Stop::Fault(fault)) = run(&text, Some(9), &[]).end else { panic!("an index is too large") };
    assert!(fault.message.contains("`Main.filter`, in firing 4"), "{}", fault.message);
    assert!(fault.message.contains("index 3") && fault.message.contains("length 3"), "{}", fault.message);
}
