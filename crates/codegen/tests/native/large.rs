//! Locals too large for the stack.

use crate::common::{Memory, agree, agree_runs, compiled, has_compiler, ints, is_long};
use thalweg_codegen::{Level, source};

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
fn large_locals_with_static_rates() {
    if has_compiler("large_locals_with_static_rates") {
        let seen = agree(&around("add Wide(3); add Huge(); add Wide(5);"), &ints("in", 40), None);
        assert_eq!(seen.written["out"].len(), 80);
    }
}

#[test]
fn large_locals_of_members() {
    if has_compiler("large_locals_of_members") {
        let members = "add splitjoin { split roundrobin(4); for (int i = 0; i < 4; i++) add Wide(i); join roundrobin(4); };";
        agree(&around(members), &ints("in", 640), None);
    }
}

#[test]
fn large_locals_of_a_waiting_firing() {
    if has_compiler("large_locals_of_a_waiting_firing") {
        let text = around(
            "add int->int filter { work pop * push * { int[1000000] all; int n = pop() & 7;
                for (int i = 0; i < n; i++) all[i * 100000] = pop(); for (int i = 0; i < n; i++) push(all[i * 100000] - i); } };
             add Wide(1);",
        );
        let runs: Vec<(Memory, _)> = vec![(ints("in", 20), None)];
        agree_runs(&[Level::Vectors], &compiled(&text), &text, &runs);
    }
}

/// All kinds of constant numbers, in tables and in initial values of fields.
#[test]
fn long_tables() {
    if !has_compiler("long_tables") {
        return;
    }
    let look = "int->int filter Look() {
            int[16384] n; float[16384] f; boolean[16384] b; Pair[4096] p;
            init {
                for (int i = 0; i < 16384; i++) {
                    n[i] = i * 77777 - 1000000000; f[i] = (i - 8000) / 7.0 * (i % 3 - 1); b[i] = i % 5 == 2;
                    p[i / 4].n = -i; p[i / 4].x = i * 0.5; p[i / 4].b = i % 7 < 3;
                }
            }
            work pop 1 push 2 {
                int at = pop() & 16383;
                push(n[at] + (int)(f[at] * 100) + (b[at] ? 3 : 5));
                push(p[at & 4095].n * 3 + (int)p[at & 4095].x + (p[at & 4095].b ? 7 : 11));
                CHANGE
            }
        }";
    let changes = "n[at]++; f[at] = -f[at]; b[at] = !b[at]; p[at & 4095].x += 1;";
    let change = look.replace("Look", "Change").replace("CHANGE", changes);
    let text = format!(
        "struct Pair {{ int n; float x; boolean b; }}
         void->void pipeline Main {{ add FileReader<int>(\"in\"); add Look(); add Change(); add FileWriter<int>(\"out\"); }}
         {} {change}",
        look.replace("CHANGE", "")
    );
    agree(&text, &ints("in", 500), None);
    let source = source(&compiled(&text), Level::Vectors).unwrap();
    assert_eq!(source.matches("static const char").count(), 8, "some tables are not strings of bytes");
}

/// Thousands of branches and operands are no nesting.
#[test]
fn long_chains() {
    if !has_compiler("long_chains") {
        return;
    }
    let count: usize = if is_long() { 3000 } else { 1000 };
    let branches: String = (0..count)
        .map(|i| format!("{} (k == {i}) x = {};", if i == 0 { "if" } else { " else if" }, i * 3))
        .collect();
    let ints: String = (0..count).map(|i| format!(" {} k", ["+", "-", "^", "*"][i % 4])).collect();
    let floats: String = (0..count).map(|i| format!(" + {}", ["k", "0.25", "f"][i % 3])).collect();
    let truths: String = (0..count).map(|i| format!(" {} k != {i}", ["&&", "||"][i % 2])).collect();
    let text: String = (0..count).map(|i| format!(" + {}", ["k", "\",\""][i % 2])).collect();
    let text = format!(
        "void->void pipeline Main {{ add Count(); add FileWriter<float>(\"out\"); }}
         void->float filter Count() {{ int k; float f; work push 4 {{
            int x; {branches} else x = -1;
            f += 0.5;
            push(x); push(k{ints}); push(k{floats});
            if (k >= 0{truths}) push(1); else push(0);
            println(k{text});
            k += 700; }} }}"
    );
    let seen = agree(&text, &Memory::default(), Some(6));
    assert_eq!(seen.written["out"].len(), 24);
    assert_eq!(seen.printed.lines().count(), 6);
}
