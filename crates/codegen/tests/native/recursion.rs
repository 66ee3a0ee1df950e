//! Recursive functions: native code does what the interpreter does, at any depth.

use crate::common::{Memory, Seen, agree, agree_runs, compiled, has_compiler, ints, levels};

/// A program of a filter with functions between two files.
fn around(filter: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<int>(\"in\"); add Middle(); add FileWriter<int>(\"out\"); }}
         {filter}"
    )
}

fn check(text: &str, files: &Memory) -> Seen {
    check_all(text, std::slice::from_ref(files)).remove(0)
}

/// [`check`] for several files, with the program compiled once.
fn check_all(text: &str, all: &[Memory]) -> Vec<Seen> {
    let runs: Vec<_> = all.iter().map(|files| (files.clone(), None)).collect();
    let all = agree_runs(&levels(text), &compiled(text), text, &runs);
    for seen in &all {
        let writes = seen.written.values().any(|items| items.len() > 1);
        assert!(writes || seen.end.is_err(), "nothing to see:\n{text}");
    }
    all
}

macro_rules! agrees {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            if has_compiler(stringify!($name)) {
                check(&around($text), &ints("in", 120));
            }
        }
    )*};
}

agrees! {
    chains_of_functions_with_constants: "int->int filter Middle {
        int e(int n, int c) { if (n <= 0) return c; return e(n - 1, c) * 3 + n; }
        int d(int n, int c) { if (n <= 0) return c; int x = e(n, 3); return d(n - 1, c) + x; }
        int b(int n, int c) { if (n <= 0) return c; int x = d(n, 3); return b(n - 1, c) + x; }
        int a(int n, int c) { if (n <= 0) return c; int x = b(n, 3); return a(n - 1, c) + x; }
        int z(int n, int c) { if (n <= 0) return c; int x = a(n, 3); return z(n - 1, c) + x; }
        work pop 1 push 1 { push(z(pop() & 7, 1)); } }";
    sums_of_numbers: "int->int filter Middle { int sum(int n) { if (n <= 0) return 0; return n + sum(n - 1); } work pop 1 push 1 { push(sum(pop() & 63)); } }";
    calls_that_branch: "int->int filter Middle { int fib(int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); } work pop 1 push 2 { int n = pop() & 15; push(fib(n) * 3 - fib(n / 2)); push(fib(fib(n & 3) + 1)); } }";
    what_is_read_after_a_call: "int->int filter Middle { int f(int n, int k) { int a = n * k; int b = n - k; if (n < 1) return k; int c = f(n - 1, a & 7); a += c; float x = a * 0.5; boolean odd = (a & 1) == 1; int d = f(n / 2, b & 3); if (odd) d += (int) x; return a * 3 + b - c * d; }
        work pop 1 push 1 { push(f(pop() & 7, 2)); } }";
    calls_in_loops: "int->int filter Middle { int count(int n, int m) { int all = 1; for (int i = m; i < n; i += 2) { int k = i * 3; int deeper = count(n - i, m + 1); all = all * 5 + deeper + k; if (all > 5000000) break; } int j = n; while (j > 4) { j -= 3; all ^= count(j - 3, m); } return all; }
        work pop 1 push 1 { push(count(pop() & 7, 1)); } }".replace("^=", "+=").as_str();
    returns_in_the_middle_and_none: "int->int filter Middle { int f(int n) { for (int i = 0; i < n; i++) { if (i == 3) return f(n - 4) + i; if (n == 2) return f(1) * 10; } if (n == 1) return 7; }
        work pop 1 push 1 { push(f(pop() & 31)); } }";
    functions_of_each_other: "int->int filter Middle { int steps;
        boolean even(int n) { steps++; return n == 0 ? true : odd(n - 1); } boolean odd(int n) { steps += 2; if (n == 0) return false; return even(n - 1); }
        work pop 1 push 2 { int n = pop() & 127; push(even(n) ? 1 : 0); push(steps + (odd(n) ? 1 : 0)); } }";
    three_in_a_round: "int->int filter Middle { int a(int n, int x) { if (n <= 0) return x; int y = b(n - 1, x + 1); return y + c(n - 2, x); }
        int b(int n, int x) { if (n <= 0) return x * 2; return c(n - 1, x * 3) - x; } int c(int n, int x) { if (n <= 0) return -x; int y = a(n - 1, x - 1); for (int i = 0; i < 3; i++) y += a(n - 3, i); return y; }
        work pop 1 push 1 { int n = pop() & 7; push(a(n, 1) + b(n + 1, 2) * c(n, 3)); } }";
    arrays_and_structures_are_values: "struct Pair { int a; float[3] b; } int->int filter Middle {
        int sum(int[4] v, int n) { if (n < 0) return v[0] * 1000 + v[3]; v[n & 3] += n; int below = sum(v, n - 1); return below + v[n & 3]; }
        Pair turn(Pair p, int n) { Pair q; q.a = p.a + 1; for (int i = 0; i < 3; i++) q.b[i] = p.b[(i + 1) % 3]; if (n > 0) { Pair r = turn(q, n - 1); r.a += p.a * q.a; r.b[0] += q.b[1] - p.b[2]; return r; } return q; }
        work pop 2 push 3 { int[4] v; for (int i = 0; i < 4; i++) v[i] = i * 2; int n = pop() & 15; push(sum(v, n)); push(v[0] + v[1] * 10 + v[2] * 100); Pair p; p.a = n; p.b[0] = pop() & 7; p.b[2] = 1.5; Pair q = turn(p, n); push(q.a + (int) (q.b[0] * 4 + q.b[1] * 2 + q.b[2]) + p.a); } }";
    results_that_are_arrays: "int->int filter Middle { int[3] mix(int[3] v, int n) { int[3] w; if (n == 0) return w; w[n % 3] = v[(n + 1) % 3] + 1; int[3] left = mix(w, n - 1); int[3] right = mix(v, n / 2); for (int i = 0; i < 3; i++) w[i] += left[i] * 2 - right[i]; return w; }
        work pop 1 push 1 { int n = pop() & 7; int[3] v; v[1] = n; int[3] r = mix(v, n); push(r[0] + r[1] * 7 + r[2] * 49); } }";
    long_arrays: "int->int filter Middle { int deep(int n) { int[40] a; for (int i = 0; i < 40; i++) a[i] = i * n; if (n == 0) return a[39]; int x = deep(n - 1); int s = x; for (int i = 0; i < 40; i++) s = s * 3 + a[(i * n) % 40]; return s; } work pop 1 push 1 { push(deep(pop() & 31)); } }";
    lengths_that_are_handed_on: "int->int filter Middle { int largest(int n, int[n] a, int from) { if (from == n - 1) return a[from]; int rest = largest(n, a, from + 1); return rest > a[from] ? rest : a[from]; }
        work pop 4 push 2 { int[4] a; for (int i = 0; i < 4; i++) a[i] = pop() & 1023; push(largest(4, a, 0)); int[2] b; b[0] = a[3]; b[1] = a[1]; int from = a[0] & 1; push(largest(2, b, from)); } }";
    complex_numbers_and_vectors: "int->int filter Middle { complex power(complex z, int n) { if (n == 0) return 1; complex half = power(z, n / 2); if (n % 2 == 1) return half * half * z; return half * half; }
        float3 spin(float3 v, int n) { if (n == 0) return v; float3 w = spin(float3(v.y, v.z, v.x * 0.5), n - 1); return w + v; }
        work pop 1 push 2 { int n = pop() & 7; complex z = 0.5 + 1i; z = power(z + n, n); push((int) (z.real * 16 + z.imag)); float3 v = spin(float3(n, 2, 3), n); push((int) (v.x * 4 + v.y * 2 - v.z)); } }";
    items_are_moved_inside: "int->int filter Middle { int take(int n) pop 4 { if (n == 0) return 0; int x = pop(); return x + 2 * take(n - 1); } void give(int n) push 4 { if (n > 1) give(n - 1); push(n); }
        work pop 5 push 8 peek 7 { int n = pop() & 3; push(take(n)); push(peek(5 - n)); push(take(4 - n)); give(n + 1); give(4 - n); } }";
    items_in_loops_inside: "int->int filter Middle { int eat(int n) { int s = 0; for (int i = 0; i < n; i++) { s = s * 3 + pop(); s += eat(n - i - 2); } return s; } work pop 12 push 1 peek 13 { int n = peek(12) & 3; push(eat(n)); } }";
    fields_and_random_numbers: "int->int filter Middle { int[8] seen; int calls; float noise; int walk(int at, int n) { calls++; seen[at & 7]++; noise = random(); if (n == 0) return calls; int x = walk(at + (int) (noise * 8), n - 1); seen[x & 7] += at; return x + walk(at * 3, n - 2 > 0 ? n - 2 : 0) - seen[0] + (int) (noise * 100); }
        work pop 1 push 2 { int n = pop(); push(walk(n & 7, n & 7)); push(calls + seen[3]); } }";
    functions_inside_functions: "int->int filter Middle { int fib(int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); } int twice(int x) { return fib(x & 7) * 2; } int tree(int n) { int a = 0; for (int i = 0; i < n; i++) { int b = twice(i); a = a * 2 + tree(n - 1 - i) + b; } return a + fib(n & 3); }
        work pop 1 push 1 { push(tree(pop() & 7)); } }";
    some_depths_are_known: "int->int filter Middle { int power(int x, int n) { if (n == 0) return 1; return x * power(x, n - 1); } int ack(int m, int n) { if (m == 0) return n + 1; if (n == 0) return ack(m - 1, 1); return ack(m - 1, ack(m, n - 1)); }
        work pop 1 push 3 { int x = pop() & 7; push(power(x, 5)); push(power(3, x)); push(ack(2, x & 3)); } }";
    helpers_call_themselves: "helper Maths { int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); } } int->int filter Middle { work pop 2 push 1 { push(Maths.gcd(pop() & 1023, pop() & 1023)); } }";
    conditions_with_calls: "int->int filter Middle { boolean any(int n, int x) { return n > 0 && (((x >> n) & 1) == 1 || any(n - 2, x) && any(n - 1, x)) ; } work pop 1 push 1 { int x = pop(); push(any(x & 15, x) ? x : -x); } }";
    an_index_outside_in_a_call: "int->int filter Middle { int[9] a; int f(int n) { if (n > 0) return f(n - 1) + a[n]; return 1; } work pop 1 push 1 { push(f(pop() & 15)); } }";
    too_many_items_in_a_call: "int->int filter Middle { int f(int n) { if (n > 0) return f(n - 1) + pop(); return 1; } work pop 9 push 1 { int n = peek(0) & 15; push(f(n)); } }";
    state_in_a_pipeline: "int->int pipeline Middle { add Down(); add splitjoin { split duplicate; add Down(); add Identity<int>(); join roundrobin; }; add Down(); } int->int filter Down { int last; int f(int n) { last = last * 5 + n; if (n <= 0) return last; return f(n - 1) + f(n - 3); } work pop 1 push 1 peek 2 { push(f(pop() & 7) + peek(0)); } }";
}

/// The greatest depth allowed, and one more, with other calls around and inside.
#[test]
fn too_many_calls_fail_where_the_interpreter_fails() {
    if !has_compiler("too_many_calls") {
        return;
    }
    let filters = [
        "int f(int n) { if (n > 0) return 1 + f(n - 1); return 0; } work pop 1 push 1 { push(f(pop())); }",
        "int one(int x) { return x + 1; } int f(int n) { if (n > 0) return one(f(n - 1)); return one(0); } work pop 1 push 1 { push(f(pop())); }",
        "int f(int n) { if (n > 0) return g(n - 1); return 0; } int g(int n) { return f(n) + 1; } int h(int n) { return f(n / 2); } work pop 1 push 1 { push(h(pop())); }",
        "int f(int n) { return f(n + 1); } work pop 1 push 1 { push(f(pop())); }",
        "int f(int n) { if (n > 0) { int k = 0; for (int i = 0; i < 2; i++) { if (i == 1) k += f(n - 1); } return k + 1; } return 0; } int around(int n) { return f(n) + inside(n); } int inside(int n) { return f(n - 1); } work pop 1 push 1 { push(around(pop())); }",
    ];
    for filter in filters {
        let text = around(&format!("int->int filter Middle {{ {filter} }}"));
        let of_depth = |depth| {
            let items = [1, 50, depth, 3].map(thalweg_lang::value::Value::Int);
            Memory { given: [("in".into(), items.into())].into(), ..Memory::default() }
        };
        check_all(&text, &(996..1003).map(of_depth).collect::<Vec<_>>());
    }
    let seen = check(&around(&format!("int->int filter Middle {{ {} }}", filters[0])), &ints("in", 40));
    let end = format!("{:?}", seen.end);
    assert!(
        end.contains("`Main.Middle`, in firing") && end.contains("more than 1000 calls are nested"),
        "{end}"
    );
}

#[test]
fn calls_at_dynamic_rates() {
    if !has_compiler("calls_at_dynamic_rates") {
        return;
    }
    let filters = [
        "work pop * push * { int n = pop() & 7; push(tree(n)); } int tree(int n) { if (n < 1) return 1; int x = pop(); push(x); int left = tree(n - 1 - (x & 1)); return left + x; }",
        "int depth; work pop * push [1, 40] { depth = 0; nest(pop() & 3); push(depth); } void nest(int n) { depth += n; int k = peek(n) & 3; for (int i = 0; i < k; i++) { int x = pop(); if (x % 3 == 0 && n > 0) { nest(n - 1); push(x - n); } } }",
        "work pop 1 push [0, 20] { give(pop() & 15); } void give(int n) { if (n > 3) { push(n); give(n / 2); push(-n); give(n - 3); } }",
    ];
    for filter in filters {
        let text = around(&format!("int->int filter Middle {{ {filter} }}"));
        let runs: Vec<_> = [0, 1, 2, 3, 7, 20, 64, 333].map(|count| (ints("in", count), None)).into();
        let compiled = compiled(&text);
        let seen = agree_runs(&levels(&text), &compiled, &text, &runs);
        assert!(
            seen.iter().any(|seen| seen.written.values().any(|items| items.len() > 20) || seen.end.is_err())
        );
    }
}

#[test]
fn calls_that_print_and_send() {
    if !has_compiler("calls_that_print_and_send") {
        return;
    }
    let prints = "void->void pipeline Main { add int->int filter { work push 1 { push(iter()); } }; add Show(); }
        int->void filter Show { void f(int n) { if (n > 0) { print(n + \" \"); f(n / 2); f(n - 3); println(iter()); } } work pop 1 { f(pop()); } }".replace("add int->int filter", "add void->int filter");
    agree(&prints, &Memory::default(), Some(12));
    let sends = "void->void pipeline Main { portal<Show> p; add Count(p); add Show() to p; }
        void->int filter Count(portal<Show> p) { int n; void tell(int k) { if (k > 2) { p.more(k) [1:1]; tell(k / 2); } } work push 1 { n++; tell(n); push(n); } }
        int->void filter Show { int x; work pop 1 { println(pop() + x); } handler more(int k) { x += fib(k & 7); } int fib(int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); } }";
    agree(sends, &Memory::default(), Some(12));
    let deep = sends.replace("k & 7", "k + 995");
    agree(&deep.replace("return fib(n - 1) + fib(n - 2)", "return fib(n - 1)"), &Memory::default(), Some(12));
}
