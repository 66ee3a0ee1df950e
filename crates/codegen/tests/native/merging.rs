//! Functions that differ only in numbers are merged, with the same results.

use crate::common::{
    Memory, compiled, compiler, difference, floats, has_compiler, interpreted, levels, run_native, run_on,
};
use thalweg_codegen::{Cache, Config, Threads, build_as_long};

fn agrees(text: &str, files: &Memory, iterations: Option<u64>) {
    let compiled = compiled(text);
    let meant = interpreted(&compiled, files, iterations);
    assert!(meant.end.is_ok(), "{:?}", meant.end);
    for level in levels(text) {
        let config = Config { level, cache: Cache::None, compiler: compiler(level) };
        let native = build_as_long(&compiled, &config).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
        let one = run_native(&native, files, iterations);
        assert!(meant == one, "at {level:?}:\n{text}\n{}", difference(&meant, &one));
        let two = run_on(&native, &Threads::new(2), files, iterations);
        assert!(meant == two, "at {level:?} on two threads:\n{text}\n{}", difference(&meant, &two));
    }
}

/// Arrays of several lengths, tables, negative numbers, names that look like numbered ones, windows, state.
const FILTERS: &str = "
    float->float filter Window(int n, int by) {
        float[n] taps;
        init { for (int i = 0; i < n; i++) taps[i] = i * 0.5 - n; }
        work pop 1 push 1 peek n {
            float known = 0; float sum = 0;
            for (int i = 0; i < n; i++) { known += peek(i) * taps[i]; sum += peek(n - 1 - i) * (i - by); }
            pop(); push(known * 0.001 + sum * by);
        }
    }
    float->float filter Turn(int n) {
        work pop n push n {
            float[n] all;
            for (int i = 0; i < n; i++) all[n - 1 - i] = pop() - n;
            for (int i = 0; i < n; i++) push(all[(i * 3 + 1) % n] + all[i]);
        }
    }
    float->float filter Count(int first, int step) {
        int known = first; int[20] last;
        work pop 1 push 1 { known = (known * 5 + step) & 1023; last[known % 20] += step; push(pop() + last[(known + 7) % 20]); }
    }";

#[test]
fn recursive_functions() {
    let text = "void->void pipeline Main { add FileReader<float>(\"in\"); for (int i = 0; i < 6; i++) add Tree(i * 3, 7 - i); add FileWriter<float>(\"out\"); }
        float->float filter Tree(int a, int b) {
            float grow(int n, float x) { if (n < b) return x + a; float y = grow(n - 1 - (a & 1), x * 0.5); return y + grow(n - b, x - a) * n; }
            work pop 1 push 1 { float x = pop(); push(grow(((int) x & 7) + b, x)); } }";
    if has_compiler("recursive_functions") {
        agrees(text, &floats("in", 300), None);
    }
}

#[test]
fn a_chain_of_functions() {
    let text = format!(
        "void->void pipeline Main {{ add FileReader<float>(\"in\");
            for (int i = 0; i < 6; i++) {{ add Window(40 + 3 * i, i - 2); add Turn(30 + 2 * i); add Count(i - 3, 2 - i); }}
            add FileWriter<float>(\"out\"); }} {FILTERS}"
    );
    if has_compiler("a_chain_of_functions") {
        agrees(&text, &floats("in", 90_000), Some(2));
    }
}

/// All kinds of floats: whole and not, negative, large and small, and zero with a sign.
#[test]
fn functions_that_differ_in_floats() {
    let text = "void->void pipeline Main { add FileReader<float>(\"in\");
            float by = 0.1; for (int i = 0; i < 7; i++) { add Scale(by, i - 2.5, -0.0 * i); by = by * -37.5; }
            for (int i = 0; i < 7; i++) add Scale(1.0, i, 1.0 / (1 << 20) / (1 << 20) * i);
            add FileWriter<float>(\"out\"); }
        float->float filter Scale(float by, float more, float least) { float last;
            work pop 1 push 1 peek 3 { float x = (peek(0) + peek(2) * 0.25) * by + more; pop();
                if (x > by || x < -more) last = last * 0.5 - x / more; push(max(x * 0.001, least) + last * least); } }";
    if has_compiler("functions_that_differ_in_floats") {
        agrees(text, &floats("in", 3000), None);
    }
}

#[test]
fn functions_in_branches() {
    let text = format!(
        "void->void pipeline Main {{ add FileReader<float>(\"in\");
            add splitjoin {{ split duplicate; for (int i = 0; i < 5; i++) add pipeline {{ add Window(33 + i, -i); add Count(i, i - 9); }};
                join roundrobin; }};
            add FileWriter<float>(\"out\"); }} {FILTERS}"
    );
    if has_compiler("functions_in_branches") {
        agrees(&text, &floats("in", 3000), None);
    }
}

#[test]
fn functions_with_dynamic_rates() {
    let text = format!(
        "void->void pipeline Main {{ add FileReader<float>(\"in\");
            for (int i = 2; i < 7; i++) {{ add Drop(i, i - 4); add Count(i, 3); }}
            add FileWriter<float>(\"out\"); }}
         float->float filter Drop(int by, int more) {{ int n; work pop * push * {{
            float known = pop(); n++; if (n % by != 0) push(known + more); else for (int i = 0; i < by; i++) push(pop() * i - more); }} }}
         {FILTERS}"
    );
    if has_compiler("functions_with_dynamic_rates") {
        agrees(&text, &floats("in", 5000), None);
    }
}

#[test]
fn functions_that_receive_messages() {
    let text = format!(
        "void->void pipeline Main {{ portal<Scale> p; add FileReader<float>(\"in\"); add Watch(p);
            for (int i = 0; i < 4; i++) {{ add Scale(i * 7 - 9) to p; add Count(i, i + 2); }}
            add FileWriter<float>(\"out\"); }}
         float->float filter Watch(portal<Scale> p) {{ int n; work pop 1 push 1 {{ n++; if (n % 5 == 0) p.set(n, n & 7) [1:1]; push(pop()); }} }}
         float->float filter Scale(int first) {{ int by; init {{ by = first; }} work pop 1 push 1 {{ push(pop() * by + first); }}
            handler set(int x, int y) {{ by = x * first - y; }} }}
         {FILTERS}"
    );
    if has_compiler("functions_that_receive_messages") {
        agrees(&text, &floats("in", 700), None);
    }
}
