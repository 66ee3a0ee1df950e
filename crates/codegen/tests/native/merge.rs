//! Filters that repeat the work of others are merged, with the same results.

use crate::common::{compiled, compiler, difference, floats, has_compiler, interpreted, run_native};
use thalweg_codegen::{Cache, Config, Level, build};

const PARTS: &str = "
    float->float filter Fir(float by, int pops, int peeks) { float[peeks] h;
        init { for (int i = 0; i < peeks; i++) h[i] = by / (i + 1); }
        work pop pops push 1 peek peeks { float s = 0; for (int i = 0; i < peeks; i++) s += h[i] * peek(i);
            for (int i = 0; i < pops; i++) pop(); push(s); } }
    float->float filter Last(float first) { float last = first; work pop 1 push 1 { push(last); last = pop(); } }
    float->float filter Early() { prework push 2 { push(1); push(2); } work pop 1 push 1 { push(sin(pop() + 1)); } }
    float->float filter Several() { work pop 2 push 3 { float a = pop(); float b = pop();
        for (int i = 0; i < 3; i++) push(cos(a * i) + sqrt(abs(b))); } }
    float->complex filter Pairs() { work pop 2 push 1 { complex z; z.real = sin(pop()); z.imag = pop(); push(z); } }
    complex->float filter Parts() { work pop 2 push 4 { complex a = pop(); complex b = pop();
        push(a.real); push(a.imag); push(b.real); push(b.imag); } }
    float->float filter Subtract() { work pop 2 push 1 { push(pop() - pop()); } }
    float->float filter Shown() { work pop 1 push 1 { float x = pop(); println(sin(x) * cos(x) * tan(x)); push(x); } }
    float->float filter Chance() { work pop 1 push 1 { push(pop() + random()); } }
    float->float filter Bounded(int top) { float[8] h; init { for (int i = 0; i < 8; i++) h[i] = i; }
        work pop 1 push 1 { push(sin(h[((int) pop() + 11) % top])); } }";

const MIDDLES: [&str; 11] = [
    // Neighbours of a filter bank.
    "add splitjoin { split duplicate; for (int i = 0; i < 5; i++) add pipeline {
        add splitjoin { split duplicate; add Fir(i + 1, 1, 9); add Fir(i, 1, 9); join roundrobin; };
        add Subtract(); add Fir(i + 10, 2, 3); }; join roundrobin; };",
    // Equal pipelines that contain split-joins.
    "add splitjoin { split duplicate; for (int i = 0; i < 3; i++) add pipeline { add Fir(1, 1, 9);
        add splitjoin { split roundrobin(2, 1); add Several(); add Identity<float>(); join roundrobin(3, 1); };
        add Fir(2, 1, 4); }; join roundrobin; };",
    // Equal pipelines followed by different state.
    "add splitjoin { split duplicate; for (int i = 0; i < 3; i++) add pipeline { add Fir(1, 2, 7); add Last(i);
        add Fir(2, 1, 4); }; join roundrobin; };",
    // Filters with a `prework`, which are not merged, and filters behind them, which are where equal.
    "add splitjoin { split duplicate; for (int i = 0; i < 3; i++) add pipeline { add Early(); add Fir(3, 1, 5); };
        join roundrobin; };",
    "add splitjoin { split duplicate; add pipeline { add Fir(3, 1, 5); add Early(); }; add Fir(3, 1, 5); add Fir(3, 1, 5);
        join roundrobin; };",
    // Items of several cells.
    "add splitjoin { split duplicate; add pipeline { add Pairs(); add Parts(); }; add pipeline { add Pairs(); add Parts(); };
        join roundrobin(2); };",
    "add splitjoin { split duplicate; add Pairs(); add Pairs(); join roundrobin(2); }; add Parts();",
    // Several items in a firing, with weights that do not divide them.
    "add splitjoin { split duplicate; add Several(); add Several(); add Several(); join roundrobin(2); };",
    // Prints, random numbers and failures are never merged.
    "add splitjoin { split duplicate; add Shown(); add Shown(); join roundrobin; };",
    "add splitjoin { split duplicate; add Chance(); add Chance(); join roundrobin; };",
    "add splitjoin { split duplicate; add Bounded(8); add Bounded(20); add Bounded(20); join roundrobin; };",
];

fn agree(text: &str) {
    let compiled = compiled(text);
    let natives = [Level::Fused, Level::Vectors].map(|level| {
        build(&compiled, &Config { level, cache: Cache::None, compiler: compiler(level) })
            .unwrap_or_else(|refusal| panic!("{refusal}\n{text}"))
    });
    for length in (0..40).chain([64, 500, 9001]) {
        let files = floats("in", length);
        let meant = interpreted(&compiled, &files, None);
        for native in &natives {
            let done = run_native(native, &files, None);
            // An incomplete file is not part of the result.
            let failed = meant.end.is_err() && meant.end == done.end && meant.printed == done.printed;
            assert!(failed || meant == done, "{length} items:\n{text}\n{}", difference(&meant, &done));
        }
    }
}

#[test]
fn merged_filters_agree() {
    if !has_compiler("merged_filters_agree") {
        return;
    }
    for middle in MIDDLES {
        let text = format!(
            "void->void pipeline Main {{ add FileReader<float>(\"in\"); {middle} add FileWriter<float>(\"out\"); }} {PARTS}"
        );
        agree(&text);
    }
}

#[test]
fn merged_filters_agree_in_loops() {
    if !has_compiler("merged_filters_agree_in_loops") {
        return;
    }
    let text = format!(
        "void->void pipeline Main {{ add FileReader<float>(\"in\"); add feedbackloop {{ join roundrobin(1, 1);
            body pipeline {{ add splitjoin {{ split duplicate; add Fir(1, 1, 3); add Fir(1, 1, 3); join roundrobin; }};
                add Subtract(); add Fir(0.1, 1, 1); }};
            loop Fir(0.2, 1, 1);
            split roundrobin(1, 1); for (int i = 0; i < 6; i++) enqueue i; }};
         add FileWriter<float>(\"out\"); }} {PARTS}"
    );
    agree(&text);
}
