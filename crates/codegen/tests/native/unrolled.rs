//! Blocks in lanes do what the interpreter does, bit for bit: each pattern, with remainders of all sizes.

use crate::common::{Memory, agree, agree_each, compiled, floats, has_compiler, ints};
use thalweg_codegen::{Level, source};

/// A program around a stream, with items of a type.
fn around(ty: &str, streams: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<{ty}>(\"in\"); add Middle(); add FileWriter<{ty}>(\"out\"); }}
         {streams}"
    )
}

/// Checks a program part of which runs in lanes.
fn check(text: &str, files: &Memory) {
    let c = source(&compiled(text), Level::Vectors).unwrap();
    assert!(c.contains("blocks_0_0("), "no part of it runs in lanes:\n{text}");
    let seen = agree(text, files, None);
    assert!(seen.written.values().any(|items| !items.is_empty()), "no output:\n{text}");
}

macro_rules! agrees {
    ($($name:ident: $text:expr, $files:expr;)*) => {$(
        #[test]
        fn $name() {
            if has_compiler(stringify!($name)) {
                check(&$text, &$files);
            }
        }
    )*};
}

const SUMS: &str = "float->float filter Sums(int n) { work pop n push n {
    for (int k = 0; k < n; k++) { float s = k; for (int i = 0; i < n; i++) s += peek(i) * (0.1 * i + k); push(s); }
    for (int i = 0; i < n; i++) pop(); } }";

const FFT: &str = "complex->complex pipeline Middle { add Order(16); for (int m = 2; m <= 16; m *= 2) add Pairs(m); }
    complex->complex pipeline Order(int n) {
        add splitjoin { split roundrobin; add Identity<complex>(); add Identity<complex>(); join roundrobin(n / 2); };
        if (n > 4) add Order(n / 2); }
    complex->complex filter Pairs(int m) {
        complex[m / 2] w;
        init { for (int i = 0; i < m / 2; i++) { w[i].real = cos(2 * pi * i / m); w[i].imag = sin(2 * pi * i / m); } }
        work pop m push m {
            complex[m / 2] second;
            for (int i = 0; i < m / 2; i++) { complex even = peek(i); complex odd = w[i] * peek(m / 2 + i);
                push(even + odd); second[i] = even - odd; }
            for (int i = 0; i < m / 2; i++) push(second[i]);
            for (int i = 0; i < m; i++) pop(); } }";

const TURNED: &str = "int->int pipeline Middle { for (int i = 0; i < 3; i++) { add Order(); add Mix(); } }
    int->int filter Order() { work pop 6 push 6 { for (int i = 0; i < 6; i++) push(peek((i * 5 + 1) % 6)); for (int i = 0; i < 6; i++) pop(); } }
    int->int filter Mix() { work pop 2 push 2 { int a = pop(); int b = pop();
    push((((a >> 5) & 0x07FFFFFF) | (a << 27)) ^ ((b << 1) | ((b >> 31) & 1)));
    push((((a >> 5) & 0x03FFFFFF) | (a << 27)) + (((b >> 3) & 0x1FFFFFFF) | (a << 29)) - ((0x7FFFFFFF & (b >> 1)) | (b << 30))); } }";

const SORT: &str = "int->int pipeline Sort(int n, boolean up) {
        if (n > 2) add splitjoin { split roundrobin(n / 2); add Sort(n / 2, true); add Sort(n / 2, false); join roundrobin(n / 2); };
        add Merge(n, up); }
    int->int pipeline Merge(int n, boolean up) {
        if (n == 2) add Compare(up);
        else {
            add splitjoin { split roundrobin(n / 2); add Identity<int>(); add Identity<int>(); join roundrobin; };
            add Compare(up);
            add splitjoin { split roundrobin; add Identity<int>(); add Identity<int>(); join roundrobin(n / 2); };
            add Merge(n / 2, up); } }
    int->int filter Compare(boolean up) { work pop 2 push 2 { int a = pop(); int b = pop();
        push(up ? min(a, b) : max(a, b)); push(up ? max(a, b) : min(a, b)); } }";

agrees! {
    rows_and_columns: around("float", &format!("float->float pipeline Middle {{ add Sums(5);
            add splitjoin {{ split roundrobin; for (int i = 0; i < 5; i++) add Sums(5); join roundrobin; }}; }} {SUMS}")),
        floats("in", 25 * 75 + 7);
    rows_that_are_no_multiple_of_lanes: around("float", &format!("float->float pipeline Middle {{ add Sums(23); add Sums(23); }} {SUMS}")),
        floats("in", 23 * 37);
    rows_of_three: around("float", &format!("float->float pipeline Middle {{ for (int i = 0; i < 5; i++) {{ add Sums(3); add Turn(); }} }}
            float->float filter Turn() {{ work pop 3 push 3 {{ push(peek(2)); push(peek(0)); push(peek(1)); pop(); pop(); pop(); }} }} {SUMS}")),
        floats("in", 3 * 100 + 1);
    rows_of_two_four_and_eight: around("float", &format!("float->float pipeline Middle {{ for (int i = 0; i < 4; i++) {{ add Sums(2); add Sums(8); add Sums(4); }} }} {SUMS}")),
        floats("in", 8 * 77);
    a_transform_of_complex_numbers: around("complex", FFT), Memory { any: Some(16 * 45 + 3), ..Memory::default() };
    sorting: around("int", &format!("int->int pipeline Middle {{ add Sort(8, true); }} {SORT}")),
        ints("in", 8 * 61);
    blocks_that_overlap: around("float", &format!("float->float pipeline Middle {{ add Window(); add Sums(12); add Sums(12); }}
            float->float filter Window() {{ work pop 6 push 12 peek 12 {{ for (int i = 0; i < 12; i++) push(peek(i)); for (int i = 0; i < 6; i++) pop(); }} }} {SUMS}")),
        floats("in", 6 * 83 + 5);
    bits_that_are_turned: around("int", TURNED),
        ints("in", 6 * 83);
    conditions: around("int", "int->int pipeline Middle { add Deal(); add Choose(); add Deal(); }
            int->int filter Deal() { work pop 9 push 9 { for (int i = 0; i < 9; i++) push(peek((i * 4) % 9)); for (int i = 0; i < 9; i++) pop(); } }
            int->int filter Choose() { work pop 3 push 3 { int a = pop(); int b = pop(); int c = pop(); int[2] r; boolean most = a > b && a > c;
                if (a > b) { r[0] = a - b; if (c > 7) r[1] = c / 7; else r[1] = c % 5; } else { r[1] = 5; a = most ? b : c; }
                if (!most) b = b ^ c; push(a + r[0]); push(b - r[1]); push((int)((float)c / 3) + (most ? 1 : 0)); } }"),
        ints("in", 9 * 67);
    tables: around("int", "int->int pipeline Middle { add Look(5); add Look(40); add Look(16); add Look(64); add Look(300); add Look(2); }
            int->int filter Look(int n) { int[n] t; init { for (int i = 0; i < n; i++) t[i] = (i + 3) * 7919 * (i + n); }
                work pop 2 push 2 { int a = pop(); int b = pop(); int at = a ^ b >> 3; int k = at & 2147483647;
                    push(b + t[k % n]); push(a - t[(k / n) % n]); } }"),
        ints("in", 2 * 109);
    tables_of_floats: around("float", "float->float pipeline Middle { add Look(7); add Turn(); add Look(50); }
            float->float filter Turn() { work pop 6 push 6 { for (int i = 0; i < 6; i++) push(peek(5 - i)); for (int i = 0; i < 6; i++) pop(); } }
            float->float filter Look(int n) { float[n] t; boolean[n] u; init { for (int i = 0; i < n; i++) { t[i] = i * 0.7 - 3; u[i] = i % 3 == 0; } }
                work pop 3 push 3 { float a = pop(); float b = pop(); float c = pop(); int k = ((int)(a * 10)) & 1048575;
                    push(t[k % n] + b); push(u[k % n] ? a : c); push(a * b - c); } }"),
        floats("in", 6 * 71);
    bits: around("bit", "bit->bit pipeline Middle { add Mix(); add Turn(); add Mix(); }
            bit->bit filter Turn() { work pop 20 push 20 { for (int i = 0; i < 20; i++) push(peek((i * 7) % 20)); for (int i = 0; i < 20; i++) pop(); } }
            bit->bit filter Mix() { work pop 4 push 4 { bit a = pop(); bit b = pop(); bit c = pop(); bit d = pop();
                push(a ^ b & c); push(~a | d); push(a ^ d ^ 1); push((a == b) ? c : d); } }"),
        Memory { any: Some(20 * 55), ..Memory::default() };
    products_of_matrices: around("float", "float->float pipeline Middle {
            add splitjoin { split roundrobin(12, 12); add Repeat(4, 3); add pipeline { add Transpose(4, 3); add Repeat(12, 3); }; join roundrobin(4); };
            add float->float filter { work pop 8 push 1 { float s = 0; for (int i = 0; i < 4; i++) s += peek(i) * peek(4 + i); for (int i = 0; i < 8; i++) pop(); push(s); } }; }
            float->float splitjoin Repeat(int n, int times) { split duplicate; for (int i = 0; i < times; i++) add Identity<float>(); join roundrobin(n); }
            float->float splitjoin Transpose(int r, int c) { split roundrobin; for (int i = 0; i < c; i++) add Identity<float>(); join roundrobin(r); }"),
        floats("in", 24 * 59);
    products_of_matrices_whose_rows_are_lanes: around("float", "float->float pipeline Middle {
            add splitjoin { split roundrobin(96, 512); add Repeat(16, 32); add pipeline { add Transpose(16, 32); add Repeat(512, 6); }; join roundrobin(16); };
            add float->float filter { work pop 32 push 1 { float s = 0; for (int i = 0; i < 16; i++) s += peek(i) * peek(16 + i) - i; for (int i = 0; i < 32; i++) pop(); push(s); } }; }
            float->float splitjoin Repeat(int n, int times) { split duplicate; for (int i = 0; i < times; i++) add Identity<float>(); join roundrobin(n); }
            float->float splitjoin Transpose(int r, int c) { split roundrobin; for (int i = 0; i < c; i++) add Identity<float>(); join roundrobin(r); }"),
        floats("in", 608 * 19);
    groups_between_filters_with_state: around("float", &format!("float->float pipeline Middle {{ add Sums(9); add Keep(); add Sums(7); add Sums(7); add Keep(); }}
            float->float filter Keep() {{ float last; work pop 1 push 1 {{ float x = pop(); push(x - last * 0.5); last = x; }} }} {SUMS}")),
        floats("in", 63 * 43 + 11);
    a_group_before_a_window: around("float", &format!("float->float pipeline Middle {{ add Sums(10); add Sums(10);
            add float->float filter {{ work pop 1 push 1 peek 6 {{ push(peek(5) - peek(0)); pop(); }} }}; add Sums(10); add Sums(5); }} {SUMS}")),
        floats("in", 10 * 91 + 3);
    a_feedback_loop_beside: around("float", &format!("float->float splitjoin Middle {{ split roundrobin(12, 2);
            add pipeline {{ add Sums(12); add Sums(6); }};
            add feedbackloop {{ join roundrobin(1, 1); body Mix(); loop Identity<float>(); split roundrobin(1, 1); enqueue 1.5; }};
            join roundrobin(12, 2); }}
            float->float filter Mix() {{ work pop 2 push 2 {{ float a = pop(); float b = pop(); push(a + b * 0.5); push(a - b * 0.25); }} }} {SUMS}")),
        floats("in", 14 * 71);
    a_first_firing_that_is_another: around("float", &format!("float->float pipeline Middle {{ add Late(); add Sums(8); add Sums(16); }}
            float->float filter Late() {{ prework push 3 {{ push(1); push(2); push(3); }} work pop 1 push 1 {{ push(pop()); }} }} {SUMS}")),
        floats("in", 16 * 47);
    delays_that_are_split: around("complex", "complex->complex splitjoin Middle { split roundrobin; for (int i = 0; i < 3; i++) add pipeline { add Silence(4 + i); add Turn(i);
                add Turn(2); }; join roundrobin; }
            complex->complex filter Silence(int n) { prework push n { for (int i = 0; i < n; i++) push(i); } work pop 1 push 1 { push(pop()); } }
            complex->complex filter Turn(int by) { work pop 6 push 6 peek 10 { for (int i = 0; i < 6; i++) push((peek((i * 5) % 6) + peek(i + 4) * (by + 1i)) * (0.25 * i)); for (int i = 0; i < 6; i++) pop(); } }"),
        Memory { any: Some(18 * 83 + 11), ..Memory::default() };
    what_is_only_moved: around("float", &format!("float->float pipeline Middle {{ add Sums(18);
            add float->float filter {{ work pop 18 push 18 {{ push(3.5); for (int i = 1; i < 18; i++) push(peek(18 - i)); for (int i = 0; i < 18; i++) pop(); }} }};
            add splitjoin {{ split roundrobin(3, 15); add Sums(3); add Identity<float>(); join roundrobin(3, 15); }}; }} {SUMS}")),
        floats("in", 18 * 53);
}

#[test]
fn delays_before_splitters_and_joiners() {
    if has_compiler("delays_before_splitters_and_joiners") {
        let text = around(
            "int",
            "int->int pipeline Middle { add Late(4, 1); add splitjoin { split roundrobin(2, 1); add Late(0, 5);
                add pipeline { add Late(2, 3); add Window(); add Late(1, 40); }; join roundrobin(2, 2); };
                add Late(0, 7); add splitjoin { split duplicate; add Late(0, 2); add Late(3, 1); join roundrobin; }; }
            int->int filter Late(int pops, int pushes) { prework pop pops push pushes { int s = 5; for (int i = 0; i < pops; i++) s += pop();
                for (int i = 0; i < pushes; i++) push(s - i); } work pop 3 push 3 { for (int i = 0; i < 3; i++) push(pop()); } }
            int->int filter Window() { work pop 3 push 6 peek 8 { for (int i = 0; i < 6; i++) push(peek(i) - peek(7)); for (int i = 0; i < 3; i++) pop(); } }",
        );
        agree_each(&text, &[0, 3, 7, 8, 41, 400, 5000].map(|count| ints("in", count)));
    }
}

#[test]
fn rotations_are_one_operation() {
    let c = source(&compiled(&around("int", TURNED)), Level::Vectors).unwrap();
    let turns = |by: &str| c.matches(&format!(" << {by} | (VU)")).count();
    assert!(turns("27") > 0 && turns("27") == turns("1"), "{c}");
    assert_eq!(
        c.matches("(VI)((VU)").count(),
        turns("27") + turns("1"),
        "similar expressions are no rotations"
    );
}

#[test]
fn more_than_one_call() {
    if has_compiler("more_than_one_call") {
        let text = around(
            "int",
            "int->int pipeline Middle { for (int i = 0; i < 3; i++) { add Turn(i); add Compare(); } }
            int->int filter Turn(int by) { work pop 4 push 4 { for (int i = 0; i < 4; i++) push(peek((i * 3 + by) % 4));
                for (int i = 0; i < 4; i++) pop(); } }
            int->int filter Compare() { work pop 2 push 2 { int a = pop(); int b = pop(); push(min(a, b)); push(max(a, b)); } }",
        );
        check(&text, &ints("in", 4 * 20_000 + 3));
    }
}

#[test]
fn remainders_of_all_sizes() {
    if has_compiler("remainders_of_all_sizes") {
        let text =
            around("float", &format!("float->float pipeline Middle {{ add Sums(6); add Sums(6); }} {SUMS}"));
        agree_each(&text, &(0..40).map(|blocks| floats("in", 6 * blocks + 1)).collect::<Vec<_>>());
    }
}

#[test]
fn remainders_of_blocks_without_loops() {
    if has_compiler("remainders_of_blocks_without_loops") {
        let text = around("int", &format!("int->int pipeline Middle {{ add Sort(32, true); }} {SORT}"));
        let c = source(&compiled(&text), Level::Vectors).unwrap();
        assert!(c.contains("straight_0_0("), "the block has loops");
        let sizes = [0, 1, 2, 15, 16, 17, 31, 32, 33, 40].map(|blocks| ints("in", 32 * blocks + 5));
        agree_each(&text, &sizes);
    }
}
