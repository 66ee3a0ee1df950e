//! Messages: native code handles them before the same firings as the interpreter.

use crate::common::{Memory, agree_runs, compiled, floats, has_compiler, ints, levels};
use thalweg_lang_testgen::Choices;

/// Checks a program at all levels: prints and result are the interpreter's.
fn check(text: &str, files: &Memory, iterations: &[Option<u64>]) {
    if !has_compiler("messages") {
        return;
    }
    let seen = agree(text, files, iterations);
    let shows = |seen: &crate::common::Seen| {
        !seen.printed.is_empty() || seen.written.values().any(|items| !items.is_empty()) || seen.end.is_err()
    };
    assert!(seen.iter().any(shows), "no output:\n{text}");
}

fn agree(text: &str, files: &Memory, iterations: &[Option<u64>]) -> Vec<crate::common::Seen> {
    let runs: Vec<_> = iterations.iter().map(|iterations| (files.clone(), *iterations)).collect();
    agree_runs(&levels(text), &compiled(text), text, &runs)
}

/// A sender before a receiver, which pops another number of items, and something between them.
fn down(latency: &str, between: &str) -> String {
    format!(
        "void->void pipeline Main {{
            portal<Scale> p;
            add FileReader<int>(\"in\"); add Watch(p); {between} add Scale() to p; add FileWriter<int>(\"out\");
        }}
        int->int filter Watch(portal<Scale> p) {{
            work pop 3 push 2 {{ int a = pop(); int b = pop(); if (a % 5 == 0) p.set(a % 7, b) {latency};
                push(a); push(b + pop()); }}
        }}
        int->int filter Scale {{
            int by = 1; int more;
            work pop 3 push 1 peek 5 {{ push(by * pop() + more + peek(3)); pop(); pop(); }}
            handler set(int x, int y) {{ by = x; more += y; }}
        }}"
    )
}

#[test]
fn downstream_at_all_latencies() {
    for latency in ["", "[0:0]", "[1:1]", "[2:5]", "[:3]", "[1:]", "[40:40]", "[-1:-1]", "[-9:-2]", "[*]"] {
        check(&down(latency, ""), &ints("in", 500), &[None, Some(7), Some(0)]);
    }
}

#[test]
fn downstream_through_other_streams() {
    let streams = [
        "add int->int filter { prework push 4 { for (int i = 0; i < 4; i++) push(i); } work pop 1 push 1 { push(pop()); } };",
        "add int->int splitjoin { split roundrobin(2, 1); add Identity<int>();
            add int->int filter { work pop 3 push 2 peek 7 { push(pop()); push(pop() + peek(4)); pop(); } }; join roundrobin(3, 1); };",
        "add int->int splitjoin { split duplicate; add Identity<int>(); add Identity<int>(); join roundrobin; };",
        "add int->int feedbackloop { join roundrobin(1, 1); body int->int filter { work pop 2 push 2 { int a = pop(); push(a + pop() / 2); push(a); } };
            loop Identity<int>(); split roundrobin(1, 1); for (int i = 0; i < 3; i++) enqueue i; };",
    ];
    for stream in streams {
        for latency in ["[0:0]", "[3:3]"] {
            check(&down(latency, stream), &ints("in", 600), &[None, Some(5)]);
        }
    }
}

/// A receiver before a sender.
fn up(latency: &str, between: &str) -> String {
    format!(
        "void->void pipeline Main {{
            portal<Scale> p;
            add FileReader<int>(\"in\"); add Scale() to p; {between} add Watch(p); add FileWriter<int>(\"out\");
        }}
        int->int filter Watch(portal<Scale> p) {{
            work pop 2 push 2 {{ int a = pop(); if (a % 5 == 0) p.set(a % 7 + 1) {latency}; push(a); push(pop()); }}
        }}
        int->int filter Scale {{
            int by = 1;
            work pop 1 push 1 {{ push(by * pop() % 1000); }}
            handler set(int x) {{ by = x; }}
        }}"
    )
}

#[test]
fn upstream_at_all_latencies() {
    for latency in ["", "[0:0]", "[1:1]", "[2:6]", "[-4:-4]", "[40:40]", "[*]"] {
        check(&up(latency, ""), &ints("in", 500), &[None, Some(7)]);
        let ahead = "add int->int filter { work pop 1 push 1 peek 9 { push(pop() + peek(7)); } };";
        check(&up(latency, ahead), &ints("in", 500), &[None, Some(7)]);
        let wide = "add int->int filter { work pop 6 push 6 { for (int i = 0; i < 6; i++) push(pop()); } };";
        check(&up(latency, wide), &ints("in", 500), &[None, Some(7)]);
    }
}

#[test]
fn a_message_that_comes_too_late() {
    let text = "void->void pipeline Main {
            portal<Count> p;
            add Count() to p;
            add splitjoin { split duplicate; add int->void filter { work pop 4 { for (int i = 0; i < 4; i++) pop(); } };
                add Watch(p); join roundrobin(0, 1); };
            add int->void filter { work pop 1 { println(pop()); } };
        }
        void->int filter Count { int i; work push 1 { push(i++); } handler jump(int k) { i = k; } }
        int->int filter Watch(portal<Count> p) { work pop 1 push 1 { int x = pop(); if (x == 5) p.jump(40) [0:0]; push(x); } }";
    check(text, &Memory::default(), &[Some(1), Some(2), Some(9)]);
}

#[test]
fn downstream_messages_for_past_firings() {
    for (every, latency) in [(9, "[-4:-4]"), (1, "[-4:-4]"), (7, "[-2:-2]"), (3, "[-n:-n + 1]")] {
        for pop in [1, 4] {
            let text = format!(
                "void->void pipeline Main {{ portal<Rx> p; add Tx(p); add Rx() to p; }}
                void->int filter Tx(portal<Rx> p) {{ int n; work push 1 {{ n++; if (n == {every}) p.set(7) {latency}; push(n); }} }}
                int->void filter Rx {{ int v; work pop {pop} {{ println(peek(0) + \" \" + v); for (int i = 0; i < {pop}; i++) pop(); }} handler set(int x) {{ v = x; }} }}"
            );
            check(&text, &Memory::default(), &[Some(3), Some(30)]);
        }
    }
}

#[test]
fn several_receivers_and_several_senders() {
    let text = |latency: &str, other: &str| {
        format!(
            "void->void pipeline Main {{
                portal<Tell> p;
                add Count(p, 3);
                add splitjoin {{ split roundrobin(1, 2);
                    add Tell(1) to p; add pipeline {{ add Count2(p, 4); add Tell(2) to p; }}; join roundrobin(1, 2); }};
                add Tell(3) to p;
                add int->void filter {{ work pop 1 {{ println(pop()); }} }};
            }}
            void->int filter Count(portal<Tell> p, int k) {{ int i; work push 1 {{ push(i++); if (i % k == 0) p.set(i) {latency}; }} }}
            int->int filter Count2(portal<Tell> p, int k) {{ int i; work pop 1 push 1 {{ push(pop()); if (i++ % k == 0) p.set(-i) {other}; }} }}
            int->int filter Tell(int me) {{ int last; work pop 1 push 1 {{ push(last + 100 * me + pop()); }} handler set(int x) {{ last = x; }} }}"
        )
    };
    // No path leads from one of the branches to the other.
    check(&text("[0:0]", "[*]"), &Memory::default(), &[Some(20)]);
    check(&text("[2:2]", "[*]"), &Memory::default(), &[Some(20)]);
}

#[test]
fn handlers_that_print_or_fail_or_send() {
    let text = |latency: &str, most: u32| {
        format!(
            "void->void pipeline Main {{
                portal<Echo> p; portal<Tell> q;
                add Count(p); add Echo(q) to p; add Tell() to q;
                add int->void filter {{ work pop 1 {{ println(pop()); }} }};
            }}
            void->int filter Count(portal<Echo> p) {{ int i; work push 2 {{ push(i); push(i * i); if (i++ % 3 == 1) p.say(i, 0.5 * i) {latency}; }} }}
            int->int filter Echo(portal<Tell> q) {{ int[{most}] seen; int n;
                work pop 1 push 1 {{ push(pop() + n); }}
                handler say(int x, float y) {{ println(\"echo \" + x + \" \" + y + \" \" + iter()); seen[x] = 1; n++; q.tell(x, y > 2) [1:1]; }} }}
            int->int filter Tell {{ int k; work pop 1 push 1 {{ push(pop() * 10 + k); }}
                handler tell(int x, boolean large) {{ if (large) println(\"tell \" + x); k = 100 / (x - 8); }} }}"
        )
    };
    for latency in ["[0:0]", "[2:2]"] {
        check(&text(latency, 5), &Memory::default(), &[Some(30)]);
        check(&text(latency, 40), &Memory::default(), &[Some(4), Some(30)]);
    }
}

#[test]
fn messages_of_arrays_and_structures() {
    let text = "struct Pair { float[3] v; int k; boolean on; }
        void->void pipeline Main {
            portal<Mix> p;
            add FileReader<float>(\"in\"); add Watch(p); add Mix() to p; add FileWriter<float>(\"out\");
        }
        float->float filter Watch(portal<Mix> p) {
            Pair own; int n;
            work pop 2 push 2 {
                float x = pop(); float y = pop(); push(x); push(y);
                if (x > y) { complex z; z = x + 1i * y; float[3][2] m; m[1][1] = x; m[2][0] = y; own.v[n % 3] = x - y; own.k = n; own.on = x > 1;
                    p.mix(own, m, z, n) [1:1]; n++; }
            }
        }
        float->float filter Mix {
            Pair last; float sum; float[3][2] m;
            work pop 1 push 1 { push(pop() * last.v[1] + last.k + sum + m[1][1] + (last.on ? 0.5 : 0.25)); }
            handler mix(Pair pair, float[3][2] given, complex z, int n) { last = pair; m = given; m[1][1] = given[2][0] + n; sum += z.real - z.imag; }
        }";
    check(text, &floats("in", 300), &[None]);
}

#[test]
fn messages_at_dynamic_rates() {
    let text = |latency: &str| {
        format!(
            "void->void pipeline Main {{
                portal<Keep> p;
                add FileReader<int>(\"in\"); add Watch(p); add Keep() to p; add FileWriter<int>(\"out\");
            }}
            int->int filter Watch(portal<Keep> p) {{ work pop 2 push 2 {{ int x = pop(); push(x); push(pop()); if (x % 5 == 2) p.set(x % 3 + 1) {latency}; }} }}
            int->int filter Keep {{ int k = 1;
                work pop 1 push * {{ int x = pop(); for (int i = 0; i < k; i++) push(x + i); }}
                handler set(int x) {{ k = x; }} }}"
        )
    };
    check(&text("[*]"), &ints("in", 400), &[None, Some(9)]);
    check(&text("[0:0]"), &ints("in", 400), &[None, Some(9)]);
    let taker = text("[*]")
        .replace("work pop 1 push * { int x = pop();", "work pop * push * { int x = pop() + pop();");
    check(&taker, &ints("in", 401), &[None, Some(9)]);
}

#[test]
fn messages_to_oneself() {
    let text = |latency: &str| {
        format!(
            "void->void pipeline Main {{ portal<Count> p; add Count(p) to p; add int->void filter {{ work pop 3 {{ println(pop() + pop() * pop()); }} }}; }}
             void->int filter Count(portal<Count> p) {{ int i; work push 1 {{ push(i++); if (i % 4 == 0) p.more(i) {latency}; }}
                handler more(int x) {{ i += x / 2; if (x < 100) p.more(x * 3) {latency}; }} }}"
        )
    };
    for latency in ["[0:0]", "[2:2]", "[-1:-1]", "[*]"] {
        check(&text(latency), &Memory::default(), &[Some(25)]);
    }
}

#[test]
fn latencies_and_arguments_that_depend_on_data() {
    let text = "void->void pipeline Main {
            portal<Scale> p;
            add FileReader<int>(\"in\"); add Watch(p); add Scale() to p; add FileWriter<int>(\"out\");
        }
        int->int filter Watch(portal<Scale> p) { work pop 1 push 1 { int x = pop() & 1023; push(x);
            if (x % 3 == 0) p.set(x++ + (x > 9 ? x++ : 2)) [x & 3:(x & 7)]; } }
        int->int filter Scale { int by; work pop 1 push 1 { push(by + pop()); } handler set(int x) { by = x; } }";
    check(text, &ints("in", 300), &[None]);
    let wrong = text.replace("[x & 3:(x & 7)]", "[x & 7:(x & 3)]");
    check(&wrong, &ints("in", 300), &[None]);
}

#[test]
fn unused_portals() {
    let text = "void->void pipeline Main { portal<Tell> p; add Tell(1) to p; add Tell2(2); add int->void filter { work pop 3 { println(pop() + pop() * pop()); } }; }
        void->int filter Tell(int k) { int i; work push 2 { println(\"first\"); push(i++); push(k); } handler set(int x) { i = x; } }
        int->int filter Tell2(int k) { work pop 1 push 1 { println(\"second\"); push(pop() + k); } }";
    check(text, &Memory::default(), &[Some(5)]);
}

/// A random line of filters, some of which send to others before or behind them.
fn random_line(choices: &mut Choices) -> String {
    let count = choices.within(3, 6);
    let (mut line, mut filters) = (String::new(), String::new());
    let receivers: Vec<u32> = (0..count).filter(|_| choices.chance(40)).collect();
    for at in 0..count {
        let (pop, push) = (choices.within(1, 4), choices.within(1, 4));
        let ahead = if choices.chance(30) { choices.within(1, 5) } else { 0 };
        let sends = choices.chance(40) && !receivers.is_empty();
        let low = [0, 0, 0, 1, 3, 9, -1, -4][choices.below(8) as usize];
        let latency = match choices.below(8) {
            0 => "[*]".to_owned(),
            1 => format!("[{low}:{low} + (i & 1)]"),
            _ => format!("[{low}:{low}]"),
        };
        let every = choices.within(2, 9);
        let send =
            if sends { format!("if (i % {every} == 0) p.set(i, x) {latency};") } else { String::new() };
        let print = if choices.chance(15) { format!("println(\"{at}: \" + x);") } else { String::new() };
        let prework = match choices.chance(15) {
            true => {
                format!("prework push {} {{ for (int k = 0; k < {}; k++) push(k); }}", 2 * push, 2 * push)
            }
            false => String::new(),
        };
        let to = if receivers.contains(&at) { " to p" } else { "" };
        line.push_str(&format!("add F{at}(p){to};\n"));
        filters.push_str(&format!(
            "int->int filter F{at}(portal<F{first}> p) {{ int i; int by = 1; int more; {prework}
                work pop {pop} push {push} peek {window} {{ int x = peek({last}) & 255; {send} {print}
                    for (int k = 0; k < {push}; k++) push(by * x + more + k); for (int k = 0; k < {pop}; k++) x += pop(); i++; }}
                handler set(int a, int b) {{ by = a & 7; more += b; {told} }} }}\n",
            first = receivers.first().copied().unwrap_or(0),
            window = pop + ahead,
            last = pop + ahead - 1,
            told = if choices.chance(10) { "println(\"set \" + a);" } else { "" },
        ));
    }
    // All filters of a portal have one type.
    for at in receivers.iter().skip(1) {
        line = line.replace(
            &format!("add F{at}(p) to p;"),
            &format!("add F{}(p) to p; add F{at}(p);", receivers[0]),
        );
    }
    format!(
        "void->void pipeline Main {{ portal<F{}> p; add FileReader<int>(\"in\");\n{line}add FileWriter<int>(\"out\"); }}\n{filters}",
        receivers.first().copied().unwrap_or(0)
    )
}

#[test]
fn random_lines() {
    let cases = std::env::var("THALWEG_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(6);
    let seed = std::env::var("THALWEG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    for seed in (seed..seed + cases).filter(|_| has_compiler("random_lines")) {
        let mut choices = Choices::seeded(seed);
        let text = random_line(&mut choices);
        let iterations = [None, Some(u64::from(choices.within(0, 30)))];
        agree(&text, &ints("in", choices.within(0, 600) as usize), &iterations);
    }
}
