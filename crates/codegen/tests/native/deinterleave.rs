//! Windows that advance by several positions, and firings that are no multiple of the lanes.

use crate::common::{Memory, compiled, difference, floats, has_compiler, interpreted, ints, run_native};
use thalweg_codegen::{Cache, Config, Level, build, source};

const FILTERS: &str = "
    float->float filter Fir(int pops, int peeks) { float[peeks] h;
        init { for (int i = 0; i < peeks; i++) h[i] = 1.0 / (i + 1); }
        work pop pops push 1 peek peeks { float s = 0; for (int i = 0; i < peeks; i++) s += h[i] * peek(i);
            for (int i = 0; i < pops; i++) pop(); push(s); } }
    float->float filter Both(int pops, int peeks) { work pop pops push 3 peek peeks {
        float s = 0; float t = 1; for (int i = peeks - 1; i > 0; i--) { s += peek(i) * i; if (s > t) t = t + peek(i - 1); }
        for (int i = 0; i < pops; i++) pop(); push(s); push(t); push(s - t); } }
    int->int filter Mix(int pops, int peeks) { work pop pops push 1 peek peeks { int s = 0;
        for (int i = 0; i < peeks; i++) s = s * 5 + peek(i); s += iter() * 0; for (int i = 0; i < pops; i++) pop(); push(s); } }
    int->int filter Hash(int pops, int peeks) { work pop pops push 1 peek peeks { int s = peek(peeks - 1);
        for (int i = 0; i < peeks; i++) s = s * 5 + peek(i) + peek(peeks / 2); for (int i = 0; i < pops; i++) pop(); push(s); } }";

/// Checks a stream of an item type, and whether items are deinterleaved.
fn agree(ty: &str, middle: &str, deinterleaved: bool, files: impl Fn(usize) -> Memory) {
    let text = format!(
        "void->void pipeline Main {{ add FileReader<{ty}>(\"in\"); {middle} add FileWriter<{ty}>(\"out\"); }} {FILTERS}"
    );
    let compiled = compiled(&text);
    let text_of_c = source(&compiled, Level::Vectors).unwrap();
    // Where windows advance far, blocks in lanes may be better still.
    let (is_deinterleaved, in_blocks) =
        (text_of_c.contains(" deinterleaved["), text_of_c.contains("blocks_0"));
    assert!(if deinterleaved { is_deinterleaved || in_blocks } else { !is_deinterleaved }, "{middle}");
    let config = Config { level: Level::Vectors, cache: Cache::None, compiler: None };
    let native = build(&compiled, &config).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
    for length in [0, 1, 63, 64, 65, 130, 131, 333, 1000, 1001, 1024, 2047, 5000, 9001, 20_011] {
        let meant = interpreted(&compiled, &files(length), None);
        let done = run_native(&native, &files(length), None);
        assert!(meant == done, "{length} items:\n{middle}\n{}", difference(&meant, &done));
    }
}

#[test]
fn windows_of_any_stride() {
    if !has_compiler("windows_of_any_stride") {
        return;
    }
    let float =
        |middle: &str, deinterleaved| agree("float", middle, deinterleaved, |length| floats("in", length));
    float("add Fir(2, 64);", true);
    float("add Fir(3, 31);", true);
    float("add Fir(8, 33);", true);
    float("add Fir(9, 64);", true);
    float("add Both(5, 40); add Fir(3, 13);", true);
    float("add Fir(17, 90);", true);
    // Items are apart in a splitter's input.
    float(
        "add splitjoin { split roundrobin; for (int i = 0; i < 3; i++) add Fir(4, 50 + i); join roundrobin; };",
        true,
    );
    // Items that are read once, or are consecutive, are not deinterleaved.
    float("add Fir(50, 64);", false);
    float("add Fir(1, 64);", false);
}

#[test]
fn windows_of_integers() {
    if !has_compiler("windows_of_integers") {
        return;
    }
    agree("int", "add Hash(6, 30);", true, |length| ints("in", length));
    agree("int", "add Mix(6, 30);", false, |length| ints("in", length));
    agree(
        "int",
        "add splitjoin { split roundrobin(1, 3); add Hash(2, 9); add Hash(6, 40); join roundrobin; };",
        true,
        |length| ints("in", length),
    );
}

#[test]
fn remaining_firings() {
    if !has_compiler("remaining_firings") {
        return;
    }
    for push in [1, 2, 9] {
        let text = format!(
            "void->void pipeline Main {{ add FileReader<float>(\"in\"); add Many(); add FileWriter<float>(\"out\"); }}
             float->float filter Many() {{ work pop 1 push {push} {{ float x = pop(); float y = x * x + 1;
                for (int i = 0; i < {push}; i++) push(y * i - x / y); }} }}"
        );
        let compiled = compiled(&text);
        let config = Config { level: Level::Vectors, cache: Cache::None, compiler: None };
        let native = build(&compiled, &config).unwrap();
        for iterations in (0..150).chain([4000, 4001, 4017]) {
            let files = floats("in", 5000);
            let meant = interpreted(&compiled, &files, Some(iterations));
            let done = run_native(&native, &files, Some(iterations));
            assert!(meant == done, "{iterations} times {push}\n{}", difference(&meant, &done));
        }
    }
}
