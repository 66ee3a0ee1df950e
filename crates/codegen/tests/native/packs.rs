//! Isomorphic filters fire together, and do what the interpreter does.

use crate::common::{Memory, agree_at, compiled, floats, has_compiler, interpreted, ints, run_native};
use thalweg_codegen::{Cache, Config, Level, build, source};

/// A program around a stream of a type.
fn around(ty: &str, stream: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<{ty}>(\"in\"); add Middle(); add FileWriter<{ty}>(\"out\"); }}
         {stream}"
    )
}

/// The number of packs.
fn packs(text: &str) -> usize {
    source(&compiled(text), Level::Vectors).unwrap().matches("isomorphic filters */").count()
}

/// Checks the least number of packs, and the interpreter's bits.
fn check(name: &str, least: usize, text: &str, files: &Memory) {
    assert!(packs(text) >= least, "{} packs:\n{text}", packs(text));
    if has_compiler(name) {
        let seen = agree_at(&[Level::Vectors], &compiled(text), text, &[(files.clone(), None)]).remove(0);
        assert!(seen.end.is_ok() && seen.written.values().any(|items| !items.is_empty()), "{text}");
    }
}

/// Filters with tables and constants of their own, each followed by a smoothing filter with a field.
fn bank(members: usize, split: &str, join: &str) -> String {
    let stream = format!(
        "float->float splitjoin Middle {{ split {split}; for (int i = 0; i < {members}; i++) add pipeline {{ add Window(i); add Smooth(i * 0.03); }}; join {join}; }}
         float->float filter Window(int k) {{ float[11] h; init {{ for (int i = 0; i < 11; i++) h[i] = 1.0 / (i + k + 1) - 0.2; }}
            work pop 5 push 2 peek 11 {{ float s = k; for (int i = 0; i < 11; i++) s += h[i] * peek(i); push(s); push(s - k * peek(3)); for (int i = 0; i < 5; i++) pop(); }} }}
         float->float filter Smooth(float a) {{ float y; work pop 1 push 1 {{ y = y * a + (1 - a) * pop(); push(y); }} }}"
    );
    around("float", &stream)
}

#[test]
fn any_number_of_members() {
    for members in [2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 33] {
        let least = if members < 4 { 0 } else { 2 };
        check("any_number_of_members", least, &bank(members, "duplicate", "roundrobin"), &floats("in", 433));
    }
}

#[test]
fn members_behind_a_round_robin_splitter() {
    let ways = [
        (1, 5, "roundrobin", "roundrobin(2)"),
        (1, 8, "roundrobin", "roundrobin"),
        (0, 8, "roundrobin(3)", "roundrobin"),
        (0, 6, "roundrobin(5)", "roundrobin(4)"),
    ];
    for (least, members, split, join) in ways {
        check(
            "members_behind_a_round_robin_splitter",
            least,
            &bank(members, split, join),
            &floats("in", 3001),
        );
    }
}

#[test]
fn input_of_any_length() {
    if !has_compiler("input_of_any_length") {
        return;
    }
    let compiled = compiled(&bank(9, "duplicate", "roundrobin"));
    let native = build(&compiled, &Config { cache: Cache::None, ..Config::default() }).unwrap();
    for items in (0..140).chain(1000..1010) {
        let files = floats("in", items);
        assert!(interpreted(&compiled, &files, None) == run_native(&native, &files, None), "{items} items");
    }
}

macro_rules! members {
    ($($name:ident: $least:expr, $ty:expr, $files:expr, $stream:expr;)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), $least, &around($ty, $stream), &$files);
        }
    )*};
}

members! {
    arrays_that_are_kept: 1, "float", floats("in", 700),
        "float->float splitjoin Middle { split roundrobin; for (int i = 0; i < 11; i++) add Echo(i * 0.05); join roundrobin; }
         float->float filter Echo(float a) { float[8] line; int at; int turns; float sum;
            work pop 1 push 1 { float x = pop() + a * line[at & 7]; line[at & 7] = x; at = at + 1; turns++; sum = sum * 0.5 + x; push(sum + turns); } }";
    positions_that_differ: 1, "int", ints("in", 700),
        "int->int splitjoin Middle { split duplicate; for (int i = 0; i < 9; i++) add Ring(i); join roundrobin; }
         int->int filter Ring(int k) { int[8] line; int at = k % 5; int more;
            work pop 1 push 1 { int x = pop(); line[at & 7] = x ^ more; at = at + (x & 3) + 1; more = more * 5 + line[(x >> 2) & 7] + k; push(more); } }";
    first_firings_that_are_others: 1, "float", floats("in", 400),
        "float->float splitjoin Middle { split duplicate; for (int i = 0; i < 6; i++) add Late(i); join roundrobin; }
         float->float filter Late(int k) { float y; int n; prework pop 2 push 3 peek 4 { y = peek(3) + k; n = k; for (int i = 0; i < 3; i++) push(i * k); }
            work pop 1 push 1 peek 2 { y = y * 0.25 + peek(1) * k; n = n + 1; push(y + n + peek(0)); pop(); } }";
    executions_are_counted: 1, "float", floats("in", 400),
        "float->float splitjoin Middle { split duplicate; for (int i = 0; i < 8; i++) add Turn(i); join roundrobin; }
         float->float filter Turn(int k) { float y; work pop 1 push 1 { y = y * 0.5 + pop() * k; push(y + iter() * k); } }";
    ways_that_differ: 1, "float", floats("in", 900),
        "float->float splitjoin Middle { split duplicate; for (int i = 0; i < 10; i++) add Gate(i * 0.7 - 3, i % 3 == 0); join roundrobin; }
         float->float filter Gate(float level, boolean soft) { float held; boolean open; int runs;
            work pop 1 push 2 { float x = pop(); boolean was = open; open = x > level; if (open) { held = x; runs = 0; if (!was) runs = 7; } else { held = held * 0.9; runs++; }
              push(soft ? held : x - held); push(open && was ? runs : -runs); } }";
    tables_by_data: 1, "int", ints("in", 900),
        "int->int splitjoin Middle { split roundrobin; for (int i = 0; i < 8; i++) add Box(i); join roundrobin; }
         int->int filter Box(int k) { int[16] box; int last; init { for (int i = 0; i < 16; i++) box[i] = (i * 7 + k * 3) ^ k; }
            work pop 1 push 1 { int x = pop(); last = box[(x ^ last) & 15] + (x >> (k + 1)); push(last); } }";
    locals_of_each: 1, "float", floats("in", 900),
        "float->float splitjoin Middle { split duplicate; for (int i = 0; i < 8; i++) add Sort(i); join roundrobin; }
         float->float filter Sort(int k) { float kept; work pop 2 push 1 peek 4 { float[4] v; for (int i = 0; i < 4; i++) v[i] = peek(i) * (k + 1);
            for (int i = 0; i < 3; i++) for (int j = 0; j < 3 - i; j++) if (v[j] > v[j + 1]) { float t = v[j]; v[j] = v[j + 1]; v[j + 1] = t; }
            kept = kept * 0.5 + v[1]; push(v[2] - kept); pop(); pop(); } }";
    nested_ones: 3, "float", floats("in", 900),
        "float->float splitjoin Middle { split duplicate; for (int i = 0; i < 6; i++) add Band(i); join roundrobin; }
         float->float pipeline Band(int k) { add splitjoin { split duplicate; add Fir(2 * k + 1); add Fir(2 * k); join roundrobin; }; add Minus(k); add Smooth(k * 0.1); }
         float->float filter Fir(int k) { float[9] h; init { for (int i = 0; i < 9; i++) h[i] = 1.0 / (i * k + 1); }
            work pop 7 push 1 peek 9 { float s = 0; for (int i = 0; i < 9; i++) s += h[i] * peek(i); for (int i = 0; i < 7; i++) pop(); push(s); } }
         float->float filter Minus(int k) { work pop 2 push 1 { push((pop() - pop()) * k); } }
         float->float filter Smooth(float a) { float y; work pop 1 push 1 { y = y * a + pop(); push(y); } }";
    unequal_ones_among_them: 1, "float", floats("in", 900),
        "float->float splitjoin Middle { split duplicate; add Other(); for (int i = 0; i < 5; i++) add Smooth(i * 0.1); add Identity<float>(); for (int i = 0; i < 4; i++) add Smooth(i * 0.2); add Other(); join roundrobin; }
         float->float filter Other() { work pop 1 push 1 peek 2 { push(peek(0) - peek(1)); pop(); } }
         float->float filter Smooth(float a) { float y; work pop 1 push 1 { y = y * a + pop(); push(y); } }";
    weights_on_both_sides: 1, "float", floats("in", 1200),
        "float->float splitjoin Middle { split roundrobin(2, 2, 2, 2, 5); for (int i = 0; i < 4; i++) add Two(i * 0.3); add Rest(); join roundrobin(3, 3, 3, 3, 1); }
         float->float filter Two(float a) { float y; work pop 2 push 3 { float b = pop(); y = y * a + b; push(y); push(pop() - y); push(b); } }
         float->float filter Rest() { work pop 5 push 1 { float s = 0; for (int i = 0; i < 5; i++) s += pop(); push(s); } }";
    sources: 1, "float", floats("in", 900),
        "float->float splitjoin Middle { split roundrobin(1, 0, 0, 0, 0); add Identity<float>(); for (int i = 0; i < 4; i++) add Wave(i + 1); join roundrobin; }
         void->float filter Wave(int k) { float x = k; float v; work push 1 { v -= x * 0.01 * k; x += v; push(x); } }";
    complex_ones: 3, "complex", Memory { any: Some(700), ..Memory::default() },
        "complex->complex pipeline Middle {
            add splitjoin { split roundrobin; for (int i = 0; i < 6; i++) add Low(); join roundrobin; };
            add splitjoin { split duplicate; for (int i = 0; i < 5; i++) add pipeline { add Turn(i); add Match(i); add Keep(i * 0.1); }; join roundrobin; }; }
         complex->complex filter Low() { float[9] h; init { for (int i = 0; i < 9; i++) h[i] = 1.0 / (i + 1); }
            work pop 2 push 1 peek 9 { complex s = 0; for (int i = 0; i < 9; i++) { complex x = peek(i); s.real += x.real * h[i]; s.imag += x.imag * h[i]; } pop(); pop(); push(s); } }
         complex->complex filter Turn(int k) { complex[6] w; init { for (int i = 0; i < 6; i++) { w[i].real = cos(i * k); w[i].imag = sin(i * k); } }
            work pop 6 push 1 { complex s = 0; for (int i = 0; i < 6; i++) s += w[i] * pop(); push(s); } }
         complex->complex filter Match(int k) { complex[20] w; init { for (int i = 0; i < 20; i++) { w[i].real = cos(i * k) - 0.5; w[i].imag = sin(i + k); } }
            work pop 1 push 1 peek 20 { complex s = 0; for (int i = 0; i < 20; i++) s += w[i] * peek(i); pop(); push(s); } }
         complex->complex filter Keep(float a) { complex y; work pop 1 push 1 { y = y * a + pop(); push(y * y); } }";
}

#[test]
fn members_with_unused_fields() {
    let stream =
        "int->int splitjoin Middle { split duplicate; add A(); add B(); add A(); add B(); join roundrobin; }
        int->int filter A() { int p = 5; work pop 1 push 1 { int s = pop() * 3; push(s + 1); } }
        int->int filter B() { work pop 1 push 1 { int s = pop() * 7; push(s + 2); } }";
    check("members_with_unused_fields", 0, &around("int", stream), &ints("in", 300));
}
