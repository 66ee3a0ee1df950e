//! Delivery times of messages, with hand-calculated figures. A message sent in firing `n` with latency `l` (the last
//! bound of the range) is handled downstream before the first firing that needs firing `n + l` of the sender, and
//! upstream after the firings that firing `n + l` of the sender needs.

use crate::common;

use common::run;

/// The lines that a program prints, and the message of its failure, if any.
fn seen(text: &str, iterations: u64) -> (Vec<String>, Option<String>) {
    let run = run(text, Some(iterations), &[]);
    let why = run.end.err().map(|stop| match stop {
        thalweg_lang::interpret::Stop::Fault(error) => error.message,
        other => panic!("{other:?}"),
    });
    (run.printed.lines().map(str::to_owned).collect(), why)
}

/// A program in which the third firing of a filter that pushes two items sends a message to a filter that pops three.
/// Firing `m` of the receiver needs `3 m` items, which exist after 2, 3, 5, 6, 8, 9 firings of the sender.
fn down(latency: &str) -> String {
    format!(
        "void->void pipeline Main {{ portal<Rx> p; add Tx(p); add Rx() to p; }}
         void->int filter Tx(portal<Rx> p) {{ int n; work push 2 {{ n++; if (n == 3) p.set(7) {latency}; push(n); push(n); }} }}
         int->void filter Rx {{ int v; int m; work pop 3 {{ m++; println(m + \" \" + v); pop(); pop(); pop(); }} handler set(int x) {{ v = x; }} }}"
    )
}

#[test]
fn downstream() {
    for (latency, first) in [
        ("", 2),
        ("[0:0]", 2),
        ("[-1:-1]", 1), // Firing 1 needs two firings, and is over when the third begins.
        ("[1:1]", 3),
        ("[2:]", 3),
        ("[:2]", 3),
        ("[0:2]", 3),
        ("[1:3]", 4),
        ("[-3:4]", 5),
        ("[5:5]", 5),
        ("[6:6]", 6),
    ] {
        let (lines, why) = seen(&down(latency), 2);
        if first == 1 {
            assert_eq!(lines, ["1 0"], "{latency}");
            let expected_error = "`Main.Tx`, in firing 3: this message comes too late: it should be handled before firing 1 of `Main.Rx`, \
                        which has fired once; it needs a greater latency than -1";
            assert_eq!(why.as_deref(), Some(expected_error));
            continue;
        }
        let expected: Vec<_> = (1..=4).map(|m| format!("{m} {}", if m < first { 0 } else { 7 })).collect();
        assert_eq!((lines, why), (expected, None), "{latency}");
    }
}

#[test]
fn downstream_before_a_past_firing() {
    let text = |n: u32| {
        format!(
            "void->void pipeline Main {{ portal<Rx> p; add Tx(p); add Rx() to p; }}
             void->int filter Tx(portal<Rx> p) {{ int n; work push 1 {{ n++; if (n == {n}) p.set(7) [-4:-4]; push(n); }} }}
             int->void filter Rx {{ int v; work pop 1 {{ println(pop() + \" \" + v); }} handler set(int x) {{ v = x; }} }}"
        )
    };
    let (lines, why) = seen(&text(9), 12);
    assert_eq!(lines, ["1 0", "2 0", "3 0", "4 0", "5 0", "6 0", "7 0", "8 0"]);
    let expected_error = "`Main.Tx`, in firing 9: this message comes too late: it should be handled before firing 5 of `Main.Rx`, which \
                has fired 8 times; it needs a greater latency than -4";
    assert_eq!(why.as_deref(), Some(expected_error));
    // A message to a time before the first firing arrives before the first firing.
    assert_eq!(seen(&text(1), 2), (vec!["1 7".to_owned(), "2 7".to_owned()], None));
}

#[test]
fn downstream_to_a_slower_receiver() {
    // The sender fires four times per firing of the receiver, so the message is for a firing that has not begun.
    let text = "void->void pipeline Main { portal<Rx> p; add Tx(p); add Rx() to p; }
        void->int filter Tx(portal<Rx> p) { int n; work push 1 { n++; if (n == 7) p.set(7) [-2:-2]; push(n); } }
        int->void filter Rx { int v; work pop 4 { for (int i = 0; i < 4; i++) pop(); println(v); } handler set(int x) { v = x; } }";
    assert_eq!(seen(text, 3), (["0", "7", "7"].map(str::to_owned).to_vec(), None));
}

/// A program in which the second firing of a filter that pops two items sends a message upstream to a filter that
/// pushes one: firing `m` of the sender needs `2 m` firings of the receiver.
fn up(latency: &str) -> String {
    format!(
        "void->void pipeline Main {{ portal<Tx> p; add Tx() to p; add Rx(p); }}
         void->int filter Tx {{ int v; work push 1 {{ push(v); }} handler set(int x) {{ v = x; }} }}
         int->void filter Rx(portal<Tx> p) {{ int n; work pop 2 {{ n++; if (n == 2) p.set(7) {latency}; println(pop()); println(pop()); }} }}"
    )
}

#[test]
fn upstream() {
    for (latency, after) in [
        ("", 4),
        ("[0:0]", 4),
        ("[1:1]", 6),
        ("[1:]", 6),
        ("[:1]", 6),
        ("[0:2]", 8),
        ("[2:2]", 8),
        ("[-2:-2]", 8),
        ("[-2:-1]", 6),
    ] {
        let expected: Vec<_> = (1..=12).map(|m| (if m <= after { "0" } else { "7" }).to_owned()).collect();
        assert_eq!(seen(&up(latency), 6), (expected, None), "{latency}");
    }
}
