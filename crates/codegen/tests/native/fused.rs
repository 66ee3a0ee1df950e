//! Filters between which no items remain are fused, and do what the interpreter does.

use crate::common::{
    Memory, agree_at, compiled, difference, floats, has_compiler, interpreted, ints, run_on,
};
use thalweg_codegen::{Cache, Config, Level, Threads, build, source};
use thalweg_lang::value::Value;

/// A program around a stream.
fn around(ty: &str, stream: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<{ty}>(\"in\"); add Middle(); add FileWriter<{ty}>(\"out\"); }}
         {stream}
         float->float filter Fir(int k, int taps, int pops) {{ float[taps] h; init {{ for (int i = 0; i < taps; i++) h[i] = 1.0 / (i + k + 1) - 0.2; }}
            work pop pops push 1 peek taps {{ float s = 0; for (int i = 0; i < taps; i++) s += h[i] * peek(i); push(s); for (int i = 0; i < pops; i++) pop(); }} }}
         float->float filter Difference(float by) {{ work pop 2 push 1 {{ push((pop() - pop()) * by); }} }}
         float->float filter Sum(int n) {{ work pop n push 1 {{ float s = 0; for (int i = 0; i < n; i++) s += pop(); push(s); }} }}"
    )
}

/// The number of filters in each kernel.
fn kernels(text: &str) -> Vec<usize> {
    let made = source(&compiled(text), Level::Vectors).unwrap();
    let steady = made.split("static void steady_").nth(1).unwrap().split("\n}").next().unwrap();
    let before = |at: &str| at.rsplit("/* ").next().unwrap().parse().ok();
    let parts: Vec<&str> = steady.split(" fused filters */").collect();
    parts[..parts.len() - 1].iter().filter_map(|part| before(part)).collect()
}

/// Checks the kernels, and the interpreter's bits.
fn check(name: &str, wanted: &[usize], text: &str, files: &Memory) {
    assert_eq!(kernels(text), wanted, "{text}");
    if has_compiler(name) {
        let seen = agree_at(&[Level::Vectors], &compiled(text), text, &[(files.clone(), None)]).remove(0);
        assert!(seen.end.is_ok() && seen.written.values().any(|items| !items.is_empty()), "{text}");
    }
}

/// Differences of neighbours in a filter bank, and their sum.
fn bank(bands: usize, taps: usize) -> String {
    let stream = format!(
        "float->float pipeline Middle {{
            add splitjoin {{ split duplicate;
                for (int i = 0; i < {bands}; i++) add pipeline {{
                    add splitjoin {{ split duplicate; add Fir(i + 1, {taps}, 1); add Fir(i, {taps}, 1); join roundrobin; }};
                    add Difference(i + 0.5); }};
                join roundrobin; }};
            add Sum({bands}); }}"
    );
    around("float", &stream)
}

#[test]
fn a_bank_and_its_sum() {
    for (bands, items) in [(3, 300), (10, 301), (30, 997)] {
        let text = bank(bands, 24);
        // Filters, their outputs for neighbours, differences, and the sum.
        check("a_bank_and_its_sum", &[3 * bands + 1], &text, &floats("in", items));
    }
}

#[test]
fn inputs_that_end_anywhere() {
    let text = bank(4, 17);
    for items in [16, 17, 18, 31, 32, 33, 34, 47, 48, 49, 63, 64, 65, 95, 96, 97] {
        let files = floats("in", items);
        if has_compiler("inputs_that_end_anywhere") {
            agree_at(&[Level::Vectors], &compiled(&text), &text, &[(files.clone(), None)]);
        }
    }
}

/// A filter bank at an eighth of the rate, filters that restore the rate, and the sum.
fn expanders() -> String {
    let stream = "float->float pipeline Middle { add splitjoin { split duplicate;
            for (int i = 0; i < 8; i++) add pipeline { add Fir(i, 32, 8); add Spread(i); }; join roundrobin; }; add Sum(8); }
        float->float filter Spread(int k) { float[32] h; init { for (int i = 0; i < 32; i++) h[i] = 0.3 - 1.0 / (2 * i + k + 1); }
            work pop 1 push 8 peek 4 { for (int p = 0; p < 8; p++) { float s = 0; for (int i = 0; i < 4; i++) s += h[p + 8 * i] * peek(3 - i); push(s); } pop(); } }";
    around("float", stream)
}

#[test]
fn expanders_and_their_sum() {
    check("expanders_and_their_sum", &[9], &expanders(), &floats("in", 3001));
}

#[test]
fn zeros_of_either_sign() {
    // Zeros on their own, numbers that underflow in a product, and others between them.
    let items = (0..3001).map(|i| match (i / 97) % 3 {
        0 => [0.0, -0.0][i % 2],
        1 => [f32::MIN_POSITIVE, -f32::MIN_POSITIVE][i % 2] / 8_388_608.0,
        _ => [-0.0, 1.5, -1.5, 0.0][i % 4],
    });
    let mut files = Memory::default();
    files.given.insert("in".into(), items.map(Value::Float).collect());
    check("zeros_of_either_sign", &[9], &expanders(), &files);
    check("zeros_of_either_sign", &[13], &bank(4, 17), &files);
}

/// A filter bank; peeking filters read its outputs in parallel.
fn smoothed(bands: usize) -> String {
    let stream = format!(
        "float->float splitjoin Middle {{ split duplicate; for (int i = 0; i < {bands}; i++) add pipeline {{
            add splitjoin {{ split duplicate; add Fir(i + 1, 20, 1); add Fir(i, 20, 1); join roundrobin; }};
            add Difference(2); add Fir(3 + i % 2, 30, 25); }}; join roundrobin; }}"
    );
    around("float", &stream)
}

#[test]
fn input_of_members_is_interleaved() {
    for bands in [4, 8, 11, 16] {
        let text = smoothed(bands);
        assert_eq!(kernels(&text), [3 * bands]);
        check("input_of_members_is_interleaved", &[3 * bands], &text, &floats("in", 2003));
    }
}

#[test]
fn several_firings_in_one() {
    let stream = "float->float pipeline Middle { add splitjoin { split duplicate; add Fir(1, 24, 1); add Fir(2, 24, 1); join roundrobin(2); };
        add Turn(); add Sum(2); }
        float->float filter Turn() { work pop 4 push 4 { push(peek(3) * 2); push(peek(0)); float a = peek(1); if (a > 0) push(a - peek(2)); else push(a + peek(2)); push(pop()); pop(); pop(); pop(); } }";
    check("several_firings_in_one", &[4], &around("float", stream), &floats("in", 1999));
}

#[test]
fn integers_wrap_in_fused_filters() {
    let stream = "int->int pipeline Middle { add splitjoin { split duplicate; for (int i = 0; i < 5; i++) add Mix(i); join roundrobin; }; add Fold(); }
        int->int filter Mix(int k) { work pop 1 push 1 peek 40 { int s = k; for (int i = 0; i < 40; i++) s = s * 31 + (peek(i) ^ (k * i)); push(s); pop(); } }
        int->int filter Fold() { work pop 5 push 1 { int s = 1; for (int i = 0; i < 5; i++) s = s * 7 - pop(); push(s); } }";
    check("integers_wrap_in_fused_filters", &[6], &around("int", stream), &ints("in", 700));
}

#[test]
fn on_threads() {
    if !has_compiler("on_threads") {
        return;
    }
    for text in [bank(6, 40), smoothed(9)] {
        let (program, files) = (compiled(&text), floats("in", 20_000));
        let config = Config { level: Level::Vectors, cache: Cache::None, compiler: None };
        let native = build(&program, &config).unwrap();
        let meant = interpreted(&program, &files, None);
        for (count, batch) in [(2, Some(1)), (2, Some(3)), (3, Some(50)), (2, None)] {
            let threads = Threads::new(count).batch(batch);
            let done = run_on(&native, &threads, &files, None);
            assert!(meant == done, "{threads:?}: {text}\n{}", difference(&meant, &done));
        }
    }
}
