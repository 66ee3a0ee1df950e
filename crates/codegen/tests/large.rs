//! Locals that no stack has room for.

mod common;

use common::{Memory, agree, agree_runs, compiled, has_compiler, ints};
use thalweg_codegen::Level;

/// Twelve megabytes in one filter, a third of one in each of two.
const FILTERS: &str = "
    int->int filter Huge { work pop 1 push 2 {
        int[3000000] all; int x = pop();
        all[(x & 2047) * 1400] = x; all[2999999] = 7;
        push(all[(x & 2047) * 1400] + all[2999999]); push(all[x & 1023]); } }
    int->int filter Wide(int by) { work pop 4 push 4 {
        int[90000] a; float[300] b;
        for (int i = 0; i < 4; i++) { a[i * 22000 + by] = peek(i); b[i * 70] = peek(i) * 0.5; }
        for (int i = 0; i < 4; i++) push(a[(3 - i) * 22000 + by] * by + (int)b[i * 70] + pop()); } }";

fn around(middle: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<int>(\"in\"); {middle} add FileWriter<int>(\"out\"); }} {FILTERS}"
    )
}

#[test]
fn of_static_rates() {
    if has_compiler("of_static_rates") {
        let seen = agree(&around("add Wide(3); add Huge(); add Wide(5);"), &ints("in", 40), None);
        assert_eq!(seen.written["out"].len(), 80);
    }
}

#[test]
fn of_siblings() {
    if has_compiler("of_siblings") {
        let siblings = "add splitjoin { split roundrobin(4); for (int i = 0; i < 4; i++) add Wide(i); join roundrobin(4); };";
        agree(&around(siblings), &ints("in", 640), None);
    }
}

#[test]
fn of_a_firing_that_waits() {
    if has_compiler("of_a_firing_that_waits") {
        let text = around(
            "add int->int filter { work pop * push * { int[1000000] all; int n = pop() & 7;
                for (int i = 0; i < n; i++) all[i * 100000] = pop(); for (int i = 0; i < n; i++) push(all[i * 100000] - i); } };
             add Wide(1);",
        );
        let runs: Vec<(Memory, _)> = vec![(ints("in", 20), None)];
        agree_runs(&[Level::Vectors], &compiled(&text), &text, &runs);
    }
}
