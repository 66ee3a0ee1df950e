//! Native code does what the interpreter does, bit for bit: a program for each construct.

use crate::common::{Memory, agree, floats, has_compiler, ints};

/// A program with a source of integers and a printer around a stream.
fn around_int(stream: &str) -> String {
    format!(
        "void->void pipeline Main {{ add Count(); add Middle(); add Show(); }}
         void->int filter Count() {{ int n; work push 1 {{ push(n); n = n * 5 + 3; }} }}
         int->void filter Show() {{ work pop 1 {{ println(pop()); }} }}
         {stream}"
    )
}

fn around_float(stream: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<float>(\"in\"); add Middle(); add FileWriter<float>(\"out\"); }}
         {stream}"
    )
}

fn check(text: &str, files: &Memory, iterations: Option<u64>) {
    let seen = agree(text, files, iterations);
    assert!(
        !seen.printed.is_empty() || !seen.written.is_empty() || seen.end.is_err(),
        "nothing to see:\n{text}"
    );
}

macro_rules! agrees {
    ($($name:ident: $text:expr, $files:expr, $iterations:expr;)*) => {$(
        #[test]
        fn $name() {
            if has_compiler(stringify!($name)) {
                check(&$text, &$files, $iterations);
            }
        }
    )*};
}

agrees! {
    too_few_items: around_int("int->int filter Middle() { int n; work pop 1 push 1 { int x = pop(); for (int i = 0; i < (n == 7 ? 0 : 1); i++) push(x); n++; } }"),
        Memory::default(), Some(40);
    one_item_too_many: around_int("int->int filter Middle() { int n; work pop 1 push 1 { int x = pop(); for (int i = 0; i < (n == 7 ? 2 : 1); i++) push(x); n++; } }"),
        Memory::default(), Some(40);
    one_item_too_few_of_a_range: around_int("int->int filter Middle() { int n; work pop [2, 3] push 1 { int x = pop(); if (n < 5) x += pop(); push(x); n++; } }"),
        Memory::default(), Some(40);
    state_and_prints: around_int("int->int filter Middle() { int sum; work pop 1 push 1 { sum += pop(); push(sum % 1000); } }"),
        Memory::default(), Some(40);
    integer_arithmetic: around_int("int->int filter Middle() { work pop 2 push 8 {
            int a = pop() * 77777; int b = (pop() & 7) - 3;
            push(a + b); push(a - b); push(a * 65537); push(b == 0 ? 1 : a / b); push(b == 0 ? 2 : a % b);
            push(a << b); push(a >> b); push(~a ^ b | 5); } }"),
        Memory::default(), Some(40);
    comparisons_and_conditions: around_int("int->int filter Middle() { work pop 2 push 1 {
            int a = pop() % 7; int b = pop() % 5; int r = 0;
            if (a < b && b != 2 || a == 3) r = 1; else if (a >= b) { r = 2; } 
            boolean c = a <= b; if (!c) r += 10; while (r > 3) r -= 2; do { r++; } while (r < 2);
            push(r); } }"), Memory::default(), Some(60);
    loops_with_ways_out: around_int("int->int filter Middle() { work pop 4 push 2 {
            int sum = 0; int odd = 0;
            for (int i = 0; i < 4; i++) { int x = pop(); if (x % 3 == 0) continue; sum += x; if (sum > 50) odd++; }
            for (int i = 10; i > 0; i -= 3) { if (i == odd + 3) break; sum += i; }
            push(sum); push(odd); } }"), Memory::default(), Some(60);
    pops_on_some_ways: around_int("int->int filter Middle() { work pop 3 push 2 {
            int a = pop(); int b = 0;
            if (a % 2 == 0) { b = pop(); push(b); } else { push(a); b = pop() + 1; }
            int c = a > b ? pop() : 5 - pop(); push(c + b); } }"), Memory::default(), Some(60);
    order_of_evaluation: around_int("int->int filter Middle() { work pop 4 push 4 {
            push(peek(0) + 10 * pop() + 100 * peek(0)); push(pop() - pop() * 1000);
            int k = 5; k += k++ + 1; push(k); int[3] a; int i = 0; a[i++] = i; a[i] = i++ + i; push(a[0] * 10 + a[1] + pop()); } }"),
        Memory::default(), Some(30);
    functions: around_int("int->int filter Middle() { int calls;
            int square(int x) { calls++; return x * x; }
            int early(int x) { if (x < 0) return -x; for (int i = 0; i < 9; i++) { if (i * i > x) return i; } return x; }
            int sum(int[4] v) { int s = 0; for (int i = 0; i < 4; i++) s += v[i]; return s; }
            void give(int x) push 1 { push(x); }
            int take() pop 1 { return pop() % 50; }
            work pop 2 push 4 { int[4] v; int x = take() - 25; for (int i = 0; i < 4; i++) v[i] = square(x + i);
              push(sum(v)); push(early(x)); give(calls); push(early(take()) + square(2)); } }"),
        Memory::default(), Some(40);
    arrays: around_int("int->int filter Middle() { int[3][4] grid; int at;
            work pop 2 push 3 { int x = pop(); int[4] row; row[x & 3] = pop(); row[(x + 1) & 3] += 5;
              grid[at] = row; at = (at + 1) % 3; int[3][4] copy = grid; copy[0][1]++;
              push(copy[0][1]); push(grid[2][x & 3] - grid[1][3]); int s = 0;
              for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) s = s * 3 + grid[i][j]; push(s); } }"),
        Memory::default(), Some(40);
    bits: "void->void pipeline Main { add FileReader<int>(\"in\"); add Split(); add Mix(); add FileWriter<bit>(\"out\"); }
            int->bit filter Split() { work pop 1 push 8 { int x = pop(); for (int i = 0; i < 8; i++) push((bit)((x >> i) & 1)); } }
            bit->bit filter Mix() { work pop 2 push 2 { bit a = pop(); bit b = pop(); push(a ^ b); push(~a & b | 1 & a); } }",
        ints("in", 50), None;
    structures: "struct Pair { int key; float value; float[2] more; }
            void->void pipeline Main { add FileReader<float>(\"in\"); add Make(); add Swap(); add Use(); add FileWriter<float>(\"out\"); }
            float->Pair filter Make() { int n; work pop 1 push 1 { Pair p; p.key = n++; p.value = pop(); p.more[1] = p.value * 2; push(p); } }
            Pair->Pair filter Swap() { Pair last; work pop 1 push 1 { Pair p = pop(); push(last); last = p; } }
            Pair->float filter Use() { work pop 1 push 3 { Pair p = pop(); push(p.key); push(p.value); push(p.more[0] - p.more[1]); } }",
        floats("in", 33), None;
    complex_numbers: "void->void pipeline Main { add FileReader<float>(\"in\"); add Make(); add Use(); add FileWriter<float>(\"out\"); }
            float->complex filter Make() { work pop 2 push 1 { complex z; z.real = pop(); z.imag = pop(); z = z * z; push(z + 1i); } }
            complex->float filter Use() { complex sum; work pop 1 push 4 { complex z = pop(); complex q = z / (sum + 1); sum = sum - z;
                if (z == q) push(1); else push(2); push(abs(z)); push(q.real); push(sum.imag); } }",
        floats("in", 66), None;
    functions_of_floats: around_float("float->float filter Middle() { work pop 2 push 20 { float x = pop() / 8; float y = pop();
            push(sin(x)); push(cos(x)); push(tan(x)); push(exp(x)); push(log(abs(x) + 0.1)); push(sqrt(abs(y))); push(atan2(y, x));
            push(pow(abs(x), 1.7)); push(floor(y)); push(ceil(y)); push(round(y)); push(rint(y)); push(max(x, y)); push(min(x, y));
            push((int)(y * 1e9)); push(sinh(x)); push(tanh(x)); push(y - x); push(log10(abs(y) + 1)); push(abs((int)y)); } }"),
        floats("in", 80), None;
    peeking: around_float("float->float filter Middle() { float[16] h; init { for (int i = 0; i < 16; i++) h[i] = 1.0 / (i + 1); }
            work pop 1 push 1 peek 16 { float s = 0; for (int i = 0; i < 16; i++) s += peek(i) * h[i]; pop(); push(s); } }"),
        floats("in", 1000), None;
    peeking_and_taking_several: around_float("float->float filter Middle() {
            work pop 3 push 2 peek 7 { float s = 0; for (int i = 0; i < 7; i++) s += peek(6 - i) * i; push(s); for (int i = 0; i < 3; i++) pop(); push(-s); } }"),
        floats("in", 1000), None;
    a_duplicate_of_peeking_filters: around_float("float->float splitjoin Middle { split duplicate; for (int i = 1; i < 5; i++) add Window(i * 3); join roundrobin; }
            float->float filter Window(int n) { work pop 1 push 1 peek n { float s = n; for (int i = 0; i < n; i++) s = s * 0.5 + peek(i); push(s); pop(); } }"),
        floats("in", 500), None;
    round_robins: around_float("float->float splitjoin Middle { split roundrobin(2, 1, 3); add A(); add Identity<float>(); add B(); join roundrobin(1, 2, 3); }
            float->float filter A() { work pop 2 push 1 { push(pop() - pop()); } }
            float->float filter B() { work pop 1 push 1 peek 2 { push(pop() * peek(0)); } }".replace("join roundrobin(1, 2, 3)", "join roundrobin(1, 1, 3)").as_str()),
        floats("in", 700), None;
    splitters_within_splitters: around_float("float->float splitjoin Middle { split roundrobin(4); add Inner(); add Half(); join roundrobin(2); }
            float->float splitjoin Inner { split roundrobin; add Identity<float>(); add Neg(); join roundrobin(2); }
            float->float filter Half() { work pop 1 push 1 { push(pop() / 2); } }
            float->float filter Neg() { work pop 2 push 2 { push(-pop()); push(pop()); } }"),
        floats("in", 700), None;
    weights_that_do_not_fit_the_rates: around_float("float->float splitjoin Middle { split roundrobin(3, 5); add Five(); add Three(); join roundrobin(63, 100); }
            float->float filter Five() { work pop 5 push 7 peek 6 { for (int i = 0; i < 7; i++) push(peek(i % 6) + i); for (int i = 0; i < 5; i++) pop(); } }
            float->float filter Three() { work pop 3 push 4 { float a = pop(); float b = pop(); push(a); push(b); push(a * b); push(pop()); } }"),
        floats("in", 3000), None;
    a_transposition: around_float("float->float pipeline Middle { add splitjoin { split roundrobin; for (int i = 0; i < 8; i++) add Scale(i); join roundrobin(8); }; add Scale(3); }
            float->float filter Scale(int k) { work pop 1 push 1 { push(pop() * k); } }"),
        floats("in", 1000), None;
    a_feedback_loop: around_float("float->float feedbackloop Middle { join roundrobin(1, 1); body Mix(); loop Decay(0.5); split roundrobin(1, 1);
                for (int i = 0; i < 5; i++) enqueue i * 1.5; }
            float->float filter Mix() { work pop 2 push 2 { float a = pop(); float b = pop(); push(a + b); push(a - b); } }
            float->float filter Decay(float by) { work pop 1 push 1 { push(pop() * by); } }"),
        floats("in", 300), None;
    numbers_of_fibonacci: "void->void pipeline Main { add Fib(); add Show(); }
            void->int feedbackloop Fib { join roundrobin(0, 1); body Add(); loop Identity<int>(); split duplicate; enqueue 0; enqueue 1; }
            int->int filter Add() { work pop 1 push 1 peek 2 { push(peek(0) + peek(1)); pop(); } }
            int->void filter Show() { work pop 1 { println(pop()); } }", Memory::default(), Some(30);
    prework: around_float("float->float pipeline Middle { add Delay(7); add Echo(); }
            float->float filter Delay(int n) { prework push n { for (int i = 0; i < n; i++) push(i); } work pop 1 push 1 { push(pop()); } }
            float->float filter Echo() { float last; prework pop 1 push 2 peek 3 { last = peek(2); push(pop()); push(last); } work pop 2 push 1 { push(pop() + last * pop()); } }"),
        floats("in", 300), None;
    random_numbers: "void->void pipeline Main { add Noise(); add Noise2(); add Show(); }
            void->float filter Noise() { work push 1 { push(random()); } }
            float->float filter Noise2() { work pop 1 push 1 { push(pop() + random() * 2); } }
            float->void filter Show() { work pop 1 { println(\"x = \" + pop()); } }", Memory::default(), Some(30);
    executions: around_int("int->int filter Middle() { work pop 1 push 1 { push(pop() * 0 + iter()); } }"), Memory::default(), Some(30);
    executions_after_prework: around_int("int->int filter Middle() { prework push 1 { push(-7 + iter()); } work pop 1 push 1 { push(pop() * 0 + iter()); } }"), Memory::default(), Some(30);
    several_that_print: "void->void pipeline Main { add Source(); add Tell(1); add Tell(2); }
            void->int filter Source() { int n; work push 3 { println(\"source \" + n); push(n); push(n + 1); push(n + 2); n++; } }
            int->int filter Tell(int k) { work pop 1 push 1 peek 2 { println(k + \": \" + peek(1)); push(pop()); } }".replace("add Tell(2); }", "add Tell(2); add End(); } int->void filter End() { work pop 2 { print(pop()); print(true); println(pop()); } }").as_str(),
        Memory::default(), Some(9);
    an_index_outside: around_int("int->int filter Middle() { int[5] a; work pop 1 push 1 { a[pop() % 7] = 2; push(a[0]); } }"), Memory::default(), Some(100);
    a_native_function: around_int("native Lib { int f(int x); } int->int filter Middle() { work pop 1 push 1 { int x = pop(); if (x % 7 == 5) x = Lib.f(pop() + x) + 1; push(x); } }"), Memory::default(), Some(100);
    a_division_by_zero: around_int("int->int filter Middle() { work pop 1 push 1 { push(100 / (pop() % 4 - 2)); } }"), Memory::default(), Some(100);
    a_window_that_is_left: around_int("int->int filter Middle() { work pop 1 push 1 peek 4 { push(peek(peek(0) % 6)); pop(); } }"), Memory::default(), Some(100);
    items_that_are_not_given: around_int("int->int filter Middle() { work pop 2 push 1 { if (pop() % 5 != 1) push(pop()); } }"), Memory::default(), Some(100);
    items_that_are_not_taken: around_int("int->int filter Middle() { work pop 2 push 1 { if (pop() % 5 != 1) pop(); push(1); } }"), Memory::default(), Some(100);
    an_array_as_an_item: around_float("float->float pipeline Middle { add Pack(); add Turn(); add Unpack(); }
            float->float[4] filter Pack() { work pop 4 push 1 { float[4] v; for (int i = 0; i < 4; i++) v[i] = pop(); push(v); } }
            float[4]->float[4] filter Turn() { work pop 1 push 1 peek 2 { float[4] a = peek(1); float[4] b = pop(); b[2] = a[0]; push(b); } }
            float[4]->float filter Unpack() { work pop 1 push 4 { float[4] v = pop(); for (int i = 3; i >= 0; i--) push(v[i]); } }"),
        floats("in", 100), None;
    globals_and_tables: around_int("static { int[8] box = {3, 1, 4, 1, 5, 9, 2, 6}; int mask = 7; }
            int->int filter Middle() { int[4] own = {9, 8, 7, 6}; work pop 1 push 2 { int x = pop(); int[3] local = {5, 6, 7}; push(box[x & mask] + own[x & 3]); push(box[3] + local[(x & mask) % 3]); } }"),
        Memory::default(), Some(50);
    ternaries_without_branches: around_float("float->float filter Middle() { work pop 1 push 2 { float x = pop(); push(x > 0 ? x : -x); int k = (int)x; if (k > 3) { x = x * 2; k = 1; } else if (k < -3) x = 1; push(x + k); } }"),
        floats("in", 500), None;
    vectors_of_floats: around_float("float->float filter Middle() { work pop 3 push 3 { float3 v = float3(pop(), pop(), pop()); float3 w = v * v + v; v.y = w.x; push(v.x); push(v.y - w.z); w = w / v; push(w.y); } }"),
        floats("in", 300), None;
    a_longer_loop_with_items: around_float("float->float filter Middle() { work pop 40 push 40 { float s = 0; for (int i = 0; i < 20; i++) { s += pop() * pop(); push(s); push(i); } } }"),
        floats("in", 400), None;
    windows_far_apart: around_float("float->float filter Middle() { work pop 19 push 1 peek 45 { int best = 3; float most = 0;
            for (int lag = 3; lag < 20; lag++) { float s = 0; for (int i = lag; i < 45; i++) s += peek(i) * peek(i - lag); if (s > most) { most = s; best = lag; } }
            push(most * best); for (int i = 0; i < 19; i++) pop(); } }"),
        floats("in", 2000), None;
    windows_whose_iterations_need_each_other: around_float("float->float filter Middle() { work pop 19 push 2 peek 45 { float s = 0; float k = 1;
            for (int lag = 0; lag < 9; lag++) { float t = 0; for (int i = 0; i < 30; i++) { t += peek(i + lag) * k; s += t; } if (t > k) k = k * -0.5; }
            push(s); push(k); for (int i = 0; i < 19; i++) pop(); } }"),
        floats("in", 2000), None;
    windows_of_iterations_of_one_length: around_float("float->float filter Middle() { work pop 19 push 2 peek 45 { float s = 0; float last = 0;
            for (int lag = 0; lag < 10; lag++) { float t = lag; float u = 0; for (int i = 5; i < 35; i++) { t += peek(i) * peek(i + lag); u = u * 0.5 - peek(i) * lag; } s = s * 0.5 + t; last = u; }
            push(s); push(last); for (int i = 0; i < 19; i++) pop(); } }"),
        floats("in", 2000), None;
    windows_of_integers: around_int("int->int filter Middle() { work pop 10 push 2 peek 17 { int a = 0; int b = 0;
            for (int i = 0; i < 17; i++) for (int j = i; j < 17; j++) { a += peek(j) * peek(i); b = b ^ (peek(j - i) + i); } push(a); push(b); for (int i = 0; i < 10; i++) pop(); } }"),
        Memory::default(), Some(200);
    differences_that_may_be_negative: around_int("int->int filter Middle() { work pop 4 push 1 peek 12 { int s = 0;
            for (int k = 0; k < 4; k++) { int m = k; for (int i = m; i < 12; i++) { m = m + i % 2; s += peek(i - k) - i * m; } for (int i = 2; i < 6; i++) s += peek(i - k + 2); } push(s); for (int i = 0; i < 4; i++) pop(); } }"),
        Memory::default(), Some(50);
    a_difference_that_is_negative: around_int("int->int filter Middle() { work pop 1 push 1 peek 9 { int s = 0; int m = 1; for (int i = m; i < 9; i++) { m = (m * 3 + pop() % 2) % 8; s += peek(0); } push(s + peek(m - 7)); } }".replace("pop() % 2", "peek(i) % 2").replace("push(s + peek(m - 7))", "for (int i = m; i < 9; i++) { int k = i - m; m = 8; s += peek(k); } push(s); pop()").as_str()),
        Memory::default(), Some(50);
    sources_side_by_side: "void->void pipeline Main { add splitjoin { split roundrobin(0); add S(1); add S(10); join roundrobin(2, 1); }; add Show(); }
            void->int filter S(int k) { int n; work push 1 { push(n); n += k; } }
            int->void filter Show() { work pop 3 { println(pop() + pop() * 100 + pop()); } }", Memory::default(), Some(20);
}

/// A feedback loop with this many items on its way back, in which nodes move other numbers of items.
fn a_loop(items: u32, forward: &str, back: &str) -> String {
    around_float(&format!(
        "float->float feedbackloop Middle {{ join roundrobin(2, 1); body Forward(); loop Back(); split roundrobin(2, 1);
            for (int i = 0; i < {items}; i++) enqueue i * 0.25; }}
         float->float filter Forward() {{ {forward} }}
         float->float filter Back() {{ {back} }}"
    ))
}

agrees! {
    a_loop_of_many_items: a_loop(1000, "work pop 3 push 3 { float a = pop(); float b = pop(); float c = pop(); push(a + 0.5 * c); push(b - c); push(a * 0.25 + c * 0.5); }",
        "work pop 1 push 1 { push(0.9 * pop()); }"), floats("in", 5000), None;
    a_loop_of_some_items: a_loop(40, "float s; work pop 3 push 3 { float a = pop(); s = s * 0.5 + a; float b = pop(); float c = pop(); push(s); push(b - c); push(c * 0.5 + s); }",
        "work pop 2 push 2 peek 5 { push(0.9 * pop() + peek(2)); push(0.1 * pop()); }"), floats("in", 5000), None;
    a_loop_of_few_items: a_loop(6, "work pop 3 push 3 { float a = pop(); float b = pop(); float c = pop(); push(a + 0.5 * c); push(b - c); push(a * 0.25 + c * 0.5); }",
        "work pop 2 push 2 peek 4 { push(0.9 * pop() + peek(1)); push(0.1 * pop()); }"), floats("in", 5000), None;
    a_loop_that_fails: a_loop(100, "float[9] t; work pop 3 push 3 { float a = pop(); t[(int)(a * 0.8) & 15] = a; push(t[1]); push(pop()); push(pop() * 0.5 + a); }",
        "work pop 1 push 1 { push(0.9 * pop()); }").replace("add FileWriter<float>(\"out\");", "add float->void filter { work pop 1 { pop(); } };"), floats("in", 5000), None;
    a_loop_that_prints: a_loop(100, "work pop 3 push 3 { float a = pop(); println(a); push(a); push(pop()); push(pop() * 0.5 + a); }",
        "work pop 1 push 1 { push(0.9 * pop()); }"), floats("in", 300), None;
}

/// What is known of a bound when the loop begins may change in its iterations.
#[test]
fn bounds_that_a_loop_changes() {
    let loops = [
        "int v = 8; for (int i = 0; i < v % 3; i++) { v = a[i]; s = s * 10 + v % 10; }",
        "int v = 4; for (int i = 0; i <= v; i++) { if (a[i & 3] % 3 == i) v = 2; s += a[i & 3] * i; }",
        "int v = 2; for (int i = 6; i > v; i -= 2) { v += a[i & 3] & 1; s = s * 7 + i; }",
        "int v = 300; for (int i = 0; i < v; i++) { s += i * a[i & 3]; if (s % 5 == 1) v = v - 9; }",
        "int v = 5; for (int i = 0; i < v; i++) { s = s * 3 + i; for (int j = 0; j < i; j++) v = v - (a[j & 3] & 1); }",
        "for (int i = 0; i < most; i++) { s = s * 3 + i; if (a[i & 3] % 4 == 0) most = most - 1; } most = 6;",
    ];
    for ends in loops.iter().filter(|_| has_compiler("bounds_that_a_loop_changes")) {
        let text = format!(
            "void->void pipeline Main {{ add FileReader<int>(\"in\"); add Middle(); add FileWriter<int>(\"out\"); }}
             int->int filter Middle {{ int most = 6; work pop 4 push 1 {{ int s = 0; int[4] a;
                for (int i = 0; i < 4; i++) a[i] = pop() & 1023; {ends} push(s); }} }}"
        );
        agree(&text, &ints("in", 400), None);
    }
}
