//! Programs with dynamic rates: native code does what the interpreter does, wherever the input ends.

use crate::common::{
    Given, Memory, agree_runs, compiled, floats, has_compiler, interpreted, ints, is_long, levels, see_with,
};
use std::io;
use thalweg_codegen::{Cache, Config, Level, Threads};
use thalweg_lang::files::{Files, Layout, Sink, Source};
use thalweg_lang::interpret::Options;
use thalweg_lang::value::Value;

/// Lengths of inputs: none, few, and some steady states.
const LENGTHS: [usize; 12] = [0, 1, 2, 3, 5, 8, 13, 31, 64, 100, 257, 1000];

/// Runs a program on inputs of many lengths, to their ends and for some iterations.
fn ends(text: &str, made: fn(&str, usize) -> Memory) {
    let compiled = compiled(text);
    let mut runs = Vec::new();
    for length in LENGTHS {
        runs.push((made("in", length), None));
    }
    for iterations in [0, 1, 2, 7, 40] {
        runs.push((made("in", 100), Some(iterations)));
    }
    let seen = agree_runs(&levels(text), &compiled, text, &runs);
    assert!(
        seen.iter().any(|seen| !seen.written.is_empty() || !seen.printed.is_empty() || seen.end.is_err()),
        "nothing to see:\n{text}"
    );
}

fn around(stream: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<int>(\"in\"); add Middle(); add FileWriter<int>(\"out\"); }}
         {stream}"
    )
}

macro_rules! agrees {
    ($($name:ident: $text:expr, $made:expr;)*) => {$(
        #[test]
        fn $name() {
            if has_compiler(stringify!($name)) {
                ends(AsRef::<str>::as_ref(&$text), $made);
            }
        }
    )*};
}

agrees! {
    a_filter_that_drops: around("int->int filter Middle() { work pop 1 push [0, 1] { int x = pop(); if (x % 3 == 0) push(x); } }"), ints;
    a_filter_that_repeats: around("int->int filter Middle() { work pop 1 push [0, 9] { int x = pop(); for (int i = 0; i < (x & 7); i++) push(x + i); } }"), ints;
    a_filter_that_gives_without_bounds: around("int->int filter Middle() { work pop 2 push * { int n = pop() & 63; int x = pop(); while (n > 0) { push(x * n); n--; } } }"), ints;
    a_filter_that_takes_runs: around("int->int filter Middle() { work pop * push 2 { int n = pop() & 7; int sum = 0; for (int i = 0; i < n; i++) sum += pop(); push(n); push(sum); } }"), ints;
    a_filter_that_gives_while_it_waits: around("int->int filter Middle() { int total; work pop * push * { int n = pop() & 15; push(-n); for (int i = 0; i < n; i++) { int x = pop(); total += x; push(total); if (x % 5 == 0) push(i); } push(n); } }"), ints;
    a_filter_that_looks_ahead: around("int->int filter Middle() { work pop [1, 20] push 1 peek * { int n = 1; while (n < 20 && (peek(n) & 3) != 0) n++; int sum = 0; for (int i = 0; i < n; i++) sum = sum * 3 + pop(); push(sum); } }"), ints;
    a_dynamic_window_at_least: around("int->int filter Middle() { work pop * push 1 peek 4 { int s = peek(0) + peek(3); if (s % 2 == 0) pop(); pop(); push(s + peek(0)); } }"), ints;
    a_window_that_firings_decide: around("int->int filter Middle() { work pop 1 push 1 peek [1, 3] { int x = peek(0); if ((x & 7) == 3) push(peek(2)); else push(x); pop(); } }"), ints;
    a_window_without_bounds: around("int->int filter Middle() { int seen; work pop 2 push [0, 1] peek * { seen++; int n = 1; while ((peek(n) & 3) != 0) n++; if (n % 3 != 0) push(peek(n) + seen); pop(); } }"), ints;
    windows_between_static_parts: around("int->int pipeline Middle { add Wide(); add Look(); add Both(); add Look(); add Wide(); }
        int->int filter Wide() { work pop 2 push 3 peek 6 { push(pop()); push(peek(4)); push(pop()); } }
        int->int filter Look() { prework pop 1 push 2 peek [2, 9] { push(peek(peek(0) & 7)); push(pop()); } work pop 3 push 2 peek [3, 4, 7] { int n = peek(2) & 3; push(peek(n) + peek(n + 3)); push(pop()); } }
        int->int splitjoin Both { split roundrobin(1, 2); add Look(); add Identity<int>(); join roundrobin(2, 1); }"), ints;
    a_window_that_prints: around("int->int filter Middle() { work pop 1 push 1 peek [1, 2, 5] { int n = peek(0) & 3; println(n); push(peek(n)); println(pop()); } }"), ints;
    a_window_in_a_loop: around("int->int feedbackloop Middle { join roundrobin(1, 1); body Mix(); loop Again(); split roundrobin(1, 1); enqueue 5; enqueue 7; enqueue 9; }
        int->int filter Mix() { work pop 2 push 2 { int a = pop(); int b = pop(); push(a + b); push(a - b); } }
        int->int filter Again() { work pop 1 push 1 peek [1, 2] { int x = pop(); if (x % 3 == 1) push(x / 2 + peek(0)); else push(x / 2); } }"), ints;
    a_prework_that_decides_its_window: around("int->int filter Middle() { prework push 1 peek * { push(peek(peek(0) & 15)); } work pop 1 push 1 { push(pop()); } }"), ints;
    too_far_in_what_may_be_taken: around("int->int filter Middle() { work pop [1, 4] push 1 { int n = peek(0) & 7; push(peek(n)); pop(); } }"), ints;
    too_far_in_a_window: around("int->int filter Middle() { work pop [1, 4] peek [4, 6] push 1 { int n = pop() & 7; push(peek(n)); } }"), ints;
    too_far_in_a_window_that_firings_decide: around("int->int filter Middle() { work pop 2 peek [2, 9] push 1 { int n = pop() & 15; push(peek(n)); } }"), ints;
    too_far_back_in_a_window: around("int->int filter Middle() { work pop 1 push 1 peek [1, 3] { int n = pop() % 3; push(peek(n)); } }"), ints;
    what_an_unfinished_firing_gives: around("int->int pipeline Middle { add Early(); add Twice(); } int->int filter Twice() { work pop 2 push 1 { push(pop() * 3 + pop()); } }
        int->int filter Early() { work pop * push 2 { int n = peek(0) & 3; push(n); push(-n); for (int i = 0; i <= n; i++) pop(); } }"), ints;
    what_an_unfinished_firing_gives_in_a_branch: around("int->int pipeline Middle { add Both(); } int->int filter Wide() { work pop 2 push 3 peek 6 { push(pop()); push(peek(4)); push(pop()); } } int->int splitjoin Both { split roundrobin(1, 2); add Look(); add Identity<int>(); join roundrobin(2, 1); } int->int filter Look() { prework pop 1 push 2 { push(peek(0) & 7); push(pop()); } work pop [3, 3] push 2 peek * { int n = peek(2) & 3; push(peek(n) + peek(n + 3)); push(pop()); pop(); pop(); } }"), ints;
    ranges_with_average: around("int->int filter Middle() { work pop [1, 2, 4] push [0, 1, 3] { int x = pop(); if (x % 2 == 0) { push(pop()); if (x % 4 == 0) { push(pop() + pop()); push(x); } } } }"), ints;
    fixed_though_dynamic: around("int->int filter Middle() { work pop * push * { int x = pop(); push(x * 3); } }"), ints;
    two_at_a_time_though_dynamic: around("int->int filter Middle() { work pop * push * { int x = pop(); push(x); push(x - pop()); } }"), ints;
    several_in_a_row: around("int->int pipeline Middle { add Drop(3); add Sum(); add Double(); add Drop(2); add Sum(); }
        int->int filter Drop(int by) { work pop 1 push [0, 1] { int x = pop(); if (x % by != 0) push(x); } }
        int->int filter Sum() { int last; work pop 3 push 1 peek 5 { last += peek(4); push(pop() + pop() * pop() + last); } }
        int->int filter Double() { work pop * push * { int n = pop() & 3; for (int i = 0; i <= n; i++) push(pop() + i); } }"), ints;
    static_parts_between: around("int->int pipeline Middle { add Drop(); add Wide(); add Both(); add Take(); add Narrow(); }
        int->int filter Drop() { work pop 1 push [0, 1] { int x = pop(); if ((x & 3) != 0) push(x); } }
        int->int filter Wide() { work pop 2 push 3 peek 6 { push(pop()); push(peek(4)); push(pop()); } }
        int->int splitjoin Both { split roundrobin(1, 2); add Identity<int>(); add Neg(); join roundrobin(2, 1); }
        int->int filter Neg() { work pop 4 push 1 { push(pop() - pop() + pop() * pop()); } }
        int->int filter Take() { work pop * push 2 { int n = pop() & 3; int s = 0; while (n >= 0) { s += pop(); n--; } push(s); push(n); } }
        int->int filter Narrow() { work pop 4 push 1 { push(pop() ^ pop() ^ pop() ^ pop()); } }"), ints;
    floats_too: "void->void pipeline Main { add FileReader<float>(\"in\"); add Above(); add Mean(); add FileWriter<float>(\"out\"); }
        float->float filter Above() { work pop 1 push [0, 1] { float x = pop(); if (x > -3) push(x); } }
        float->float filter Mean() { work pop 1 push 1 peek 8 { float s = 0; for (int i = 0; i < 8; i++) s += peek(i) * (i * 0.3 - 1); pop(); push(s); } }", floats;
    bits_and_structures: "struct Pair { int n; float x; }
        void->void pipeline Main { add FileReader<int>(\"in\"); add Bits(); add Gather(); add Pack(); add Unpack(); add FileWriter<float>(\"out\"); }
        int->bit filter Bits() { work pop 1 push [1, 32] { int x = pop(); int n = (x & 7) + 1; for (int i = 0; i < n; i++) push((x >> i) & 1); } }
        bit->int filter Gather() { work pop * push 1 { int n = 0; while (pop()) n++; push(n); } }
        int->Pair filter Pack() { work pop [1, 3] push 1 { Pair p; p.n = pop(); p.x = p.n * 0.5; if (p.n > 2) p.x += pop(); if (p.n > 3) p.n -= pop(); push(p); } }
        Pair->float filter Unpack() { work pop 1 push [1, 2] { Pair p = pop(); push(p.x); if (p.n > 0) push(p.n); } }", ints;
    branches_of_dynamic_rates: around("int->int splitjoin Middle { split roundrobin(2, 1); add Drop(); add Repeat(); join roundrobin(1, 2); }
        int->int filter Drop() { work pop 1 push [0, 1] { int x = pop(); if (x % 3 != 0) push(x); } }
        int->int filter Repeat() { work pop 1 push [1, 3] { int x = pop(); push(x); if (x % 2 == 0) { push(-x); push(x + 1); } } }"), ints;
    branches_that_take: around("int->int splitjoin Middle { split duplicate; add Runs(3); add Runs(7); join roundrobin(1, 1); }
        int->int filter Runs(int mask) { work pop * push 1 { int n = pop() & mask; int s = n; for (int i = 0; i < n; i++) s = s * 5 + pop(); push(s); } }"), ints;
    a_dynamic_branch_and_a_static_one: around("int->int splitjoin Middle { split duplicate; add Runs(3); add Slow(); join roundrobin(1, 1); }
        int->int filter Slow() { work pop 2 push 1 peek 4 { push(peek(3) - pop()); pop(); } }
        int->int filter Runs(int mask) { work pop * push 1 { int n = pop() & mask; int s = n; for (int i = 0; i < n; i++) s = s * 5 + pop(); push(s); } }"), ints;
    prework_of_dynamic_rates: around("int->int pipeline Middle { add Skip(); add Delay(); }
        int->int filter Skip() { int n; prework pop * push [0, 9] { n = pop() & 7; for (int i = 0; i < n; i++) push(pop()); } work pop 1 push 1 { push(pop() + n); } }
        int->int filter Delay() { prework push 3 { for (int i = 0; i < 3; i++) push(i); } work pop 1 push [0, 1] { int x = pop(); if (x & 1) push(x); } }"), ints;
    prework_static_then_dynamic: around("int->int filter Middle() { int first; prework pop 3 push 1 { first = pop(); push(pop()); } work pop * push 1 peek 2 { int s = 0; while ((pop() & 3) != 0) s++; push(s + first + iter()); } }"), ints;
    two_sources: "void->void pipeline Main { add splitjoin { split roundrobin(0); add pipeline { add FileReader<int>(\"in\"); add Drop(); }; add Count(); join roundrobin(1, 2); }; add FileWriter<int>(\"out\"); }
        void->int filter Count() { int n; work push 2 { push(n); push(-n); n++; } }
        int->int filter Drop() { work pop 1 push [0, 1] { int x = pop(); if (x % 3 != 0) push(x); } }", ints;
    two_files: "void->void pipeline Main { add splitjoin { split roundrobin(0); add pipeline { add FileReader<int>(\"in\"); add Drop(); }; add FileReader<int>(\"in\"); join roundrobin(1, 2); }; add FileWriter<int>(\"out\"); }
        int->int filter Drop() { work pop 1 push [0, 1] { int x = pop(); if (x % 3 != 0) push(x); } }", ints;
    a_file_that_is_read_behind_a_queue: "void->void pipeline Main { add FileReader<int>(\"in\"); add Drop(); add splitjoin { split roundrobin(1, 0); add Keep(); add FileReader<int>(\"in\"); join roundrobin(1, 2); }; add FileWriter<int>(\"out\"); }
        int->int filter Keep() { work pop 1 push 1 { push(pop() * 3); } }
        int->int filter Drop() { work pop 1 push [0, 1] { int x = pop(); if (x % 3 != 0) push(x); } }", ints;
    prints_of_one: "void->void pipeline Main { add FileReader<int>(\"in\"); add Drop(); add Show(); }
        int->int filter Drop() { work pop 1 push [0, 1] { int x = pop(); if (x % 3 != 0) push(x); } }
        int->void filter Show() { work pop 1 { println(pop()); } }", ints;
    prints_of_several: "void->void pipeline Main { add FileReader<int>(\"in\"); add Tell(1); add Runs(); add Tell(2); add Show(); }
        int->int filter Tell(int k) { work pop 1 push 1 peek 2 { println(k + \": \" + peek(1)); push(pop()); } }
        int->int filter Runs() { work pop * push [1, 9] { int n = pop() & 7; println(\"runs \" + n); for (int i = 0; i < n; i++) { int x = pop(); println(x); push(x); } push(n); } }
        int->void filter Show() { work pop 3 { println(pop() + pop() + pop()); } }", ints;
    a_loop_of_dynamic_rates: around("int->int feedbackloop Middle { join roundrobin(1, 1); body Mix(); loop Again(); split roundrobin(1, 1); enqueue 5; enqueue 7; enqueue 9; }
        int->int filter Mix() { work pop 2 push 2 { int a = pop(); int b = pop(); push(a + b); push(a - b); } }
        int->int filter Again() { work pop 1 push [1, 2] { int x = pop(); push(x / 2); if (x % 4 == 1) push(x); } }"), ints;
    too_few_given: around("int->int filter Middle() { work pop 1 push [1, 3] { int x = pop(); for (int i = 0; i < (x & 3); i++) push(x); } }"), ints;
    too_many_taken: around("int->int filter Middle() { work pop [1, 3] push 1 { int n = pop() & 7; for (int i = 0; i < n; i++) pop(); push(n); } }"), ints;
    a_window_before_the_items: around("int->int filter Middle() { work pop * push 1 { int n = pop() % 9 - 4; push(peek(n)); } }"), ints;
    counts_in_regions_that_many_do: around("int->int pipeline Middle { add Drop(); add Weigh(); add Repeat(); add Weigh(); }
        int->int filter Drop() { work pop 1 push [0, 1] { int x = pop(); if (x % 3 != 0) push(x * 7 + iter()); } }
        int->int filter Weigh() { prework pop 1 push 1 { push(pop() + 1000); } work pop 2 push 1 peek 3 { push(pop() + peek(1) * iter()); pop(); } }
        int->int filter Repeat() { prework pop 2 push [0, 9] { push(pop()); } work pop 2 push [0, 3] peek 4 { int n = peek(3) & 3; for (int i = 0; i < n; i++) push(peek(i) + iter()); pop(); pop(); } }"), ints;
    failures_in_regions_that_many_do: around("int->int pipeline Middle { add Drop(); add Look(); add Halve(); }
        int->int filter Drop() { work pop 1 push [0, 1] { int x = pop(); if (x % 3 != 0) push(iter()); } }
        int->int filter Look() { int[90] table; init { for (int i = 0; i < 90; i++) table[i] = i * i; } work pop 1 push 1 { push(table[pop()]); } }
        int->int filter Halve() { work pop 2 push [0, 1] { int a = pop(); if (pop() != 49 * 49) push(a); } }"), ints;
    nothing_moved_for_ever: around("int->int filter Middle() { int n; work pop [0, 1] push [0, 1] { n++; if (n < 20) push(pop()); } }"), ints;
}

/// A filter that fails when it finds a number at some position of its input.
fn failing(name: &str, rates: &str, body: &str) -> String {
    format!(
        "int->int filter {name}(int at) {{ int n; int[1] a; work {rates} {{ if (n == at) a[n + 1] = 1; n++; {body} }} }}"
    )
}

/// Of several failures in one batch the one that the interpreter meets first is reported.
#[test]
fn several_failures_in_one_batch() {
    let filters = [
        failing("Plain", "pop 1 push 1", "push(pop());"),
        failing("Drop", "pop 1 push [0, 1]", "int x = pop(); if (x % 3 != 0) push(x);"),
        failing("Repeat", "pop 1 push *", "int x = pop(); for (int i = 0; i < (x & 3); i++) push(x + i);"),
        failing(
            "Take",
            "pop * push 1",
            "int s = pop(); int k = s & 3; for (int i = 0; i < k; i++) s += pop(); push(s);",
        ),
    ]
    .concat();
    let chains = [
        "add Plain({0}); add Drop({1}); add Plain({2});",
        "add Drop({0}); add Take({1}); add Repeat({2});",
        "add Repeat({0}); add Repeat({1}); add Plain({2}); add Take({2});",
        "add splitjoin { split roundrobin(2, 1); add Drop({0}); add Take({1}); join roundrobin(1, 1); }; add Plain({2});",
        "add splitjoin { split duplicate; add pipeline { add Drop({0}); add Plain({1}); }; add Plain({2}); join roundrobin(1, 2); }; add Plain({1});",
    ];
    let places = [
        [40, 20, 10],
        [20, 40, 10],
        [70, 20, 60],
        [999, 30, 31],
        [50, 999, 12],
        [33, 34, 9],
        [5000, 4000, 1000],
    ];
    for chain in chains.iter().filter(|_| has_compiler("several_failures_in_one_batch")) {
        for (i, [first, second, third]) in places.into_iter().enumerate() {
            let chain = chain.replace("{0}", &first.to_string()).replace("{1}", &second.to_string());
            let chain = chain.replace("{2}", &third.to_string());
            let text = format!(
                "void->void pipeline Main {{ add FileReader<int>(\"in\"); {chain} add FileWriter<int>(\"out\"); }} {filters}"
            );
            let runs = [(ints("in", 9000), None), (ints("in", 9000), Some(3000)), (ints("in", 25), None)];
            // Each is a program of its own to compile.
            let levels =
                if i == 0 || is_long() { &[Level::Vectors, Level::Plain][..] } else { &[Level::Vectors] };
            agree_runs(levels, &compiled(&text), &text, &runs);
        }
    }
}

/// A file that cannot be rewound.
struct Once(Given);

impl Source for Once {
    fn next(&mut self) -> io::Result<Option<Value>> {
        self.0.next()
    }

    fn rewind(&mut self) -> io::Result<bool> {
        Ok(false)
    }
}

struct Pipes(Memory);

impl Files for Pipes {
    fn source(&mut self, name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(Once(Given(self.0.given[name].clone(), 0))))
    }

    fn sink(&mut self, name: &str, item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        self.0.sink(name, item)
    }
}

/// The same where the input cannot be rewound.
#[test]
fn several_failures_with_input_from_a_pipe() {
    if !has_compiler("several_failures_with_input_from_a_pipe") {
        return;
    }
    let text = around(&format!(
        "int->int pipeline Middle {{ add Plain(4000); add Drop(2000); add Plain(1000); }} {} {}",
        failing("Plain", "pop 1 push 1", "push(pop());"),
        failing("Drop", "pop 1 push [0, 1]", "int x = pop(); if (x % 3 != 0) push(x);"),
    ));
    let (compiled, files) = (compiled(&text), ints("in", 9000));
    let meant = interpreted(&compiled, &files, None);
    let native =
        thalweg_codegen::build(&compiled, &Config { cache: Cache::None, ..Config::default() }).unwrap();
    for threads in [Threads::new(1), Threads::new(2).batch(7)] {
        let (written, mut files) = (files.written.clone(), Pipes(files.clone()));
        let done =
            see_with(&mut files, &written, |around| native.run_on(&threads, Options::default(), around));
        assert_eq!(meant.end, done.end);
    }
}

#[test]
fn a_source_of_dynamic_rates() {
    if !has_compiler("a_source_of_dynamic_rates") {
        return;
    }
    let text = "void->void pipeline Main { add Count(); add Sum(); add FileWriter<int>(\"out\"); }
        void->int filter Count() { int n; work push [0, 3] { for (int i = 0; i < n % 4; i++) push(n + i); n++; } }
        int->int filter Sum() { work pop 2 push 1 { push(pop() * 3 + pop()); } }";
    let runs: Vec<_> = [0, 1, 2, 5, 100, 10_000].map(|n| (Memory::default(), Some(n))).into();
    agree_runs(&levels(text), &compiled(text), text, &runs);
}

/// A batch makes few firings of the filters behind the queue, so these wait for more batches.
#[test]
fn filters_behind_a_queue_that_take_many_items() {
    if !has_compiler("filters_behind_a_queue_that_take_many_items") {
        return;
    }
    let text = around(
        "int->int pipeline Middle { for (int i = 0; i < 3; i++) add Same(); add Last(100); add Pairs(); add Last(9); }
        int->int filter Same() { work pop * push * { int x = pop(); push(x * 3 + 1); } }
        int->int filter Pairs() { work pop * push 1 { int s = pop(); while (s & 1) s += pop(); push(s); } }
        int->int filter Last(int n) { work pop n push 1 peek n + 1 { int s = peek(n);
            for (int i = 0; i < n; i++) s = s * 5 ^ pop(); push(s); } }",
    );
    let lengths = [4096, 9000, 20_000, 20_101].map(|length| (ints("in", length), None));
    let counted = [1, 70, 9000].map(|iterations| (ints("in", 20_101), Some(iterations)));
    let seen = agree_runs(&levels(&text), &compiled(&text), &text, &[&lengths[..], &counted].concat());
    assert!(seen.iter().any(|seen| seen.written["out"].len() > 10));
}

/// Programs of the suite with dynamic rates, on their intended inputs and on inputs that end anywhere.
#[test]
fn the_suite_agrees_on_inputs_of_any_length() {
    if !has_compiler("the_suite_agrees_on_inputs_of_any_length") {
        return;
    }
    for program in thalweg_str::PROGRAMS {
        let compiled = thalweg_lang::compile(&program.sources(&[]).unwrap()).unwrap();
        if compiled.schedule.regions.len() == 1 {
            continue;
        }
        let runs: Vec<_> = (0..300)
            .step_by(13)
            .chain([1000, 4097])
            .map(|count| (Memory { any: Some(count), small: true, ..Memory::default() }, None))
            .collect();
        agree_runs(&levels(program.name), &std::sync::Arc::new(compiled), program.name, &runs);
    }
}

/// A filter that waits in the middle of a firing has room for the rest of it, also if its queue is another one meanwhile.
#[test]
fn filters_that_wait_with_much_to_push() {
    if !has_compiler("filters_that_wait_with_much_to_push") {
        return;
    }
    let text = around(
        "int->int pipeline Middle { add Wide(1); add Wide(3); add Narrow(); }
         int->int filter Wide(int by) { work pop [1, *] push 700 { int n = pop(); push(n); int s = n * by + pop(); if (n & 1) s = s + pop(); for (int i = 0; i < 699; i++) push(s + i); } }
         int->int filter Narrow { work pop [1, *] push 1 { int s = pop(); for (int i = 0; i < 900; i++) s = s * 3 + pop(); push(s); } }",
    );
    let runs: Vec<_> = [7, 50].map(|count| (ints("in", count), None)).into();
    agree_runs(&[Level::Plain, Level::Vectors], &compiled(&text), &text, &runs);
}

/// Large locals are not shared with other filters while a filter waits in the middle of a firing.
#[test]
fn large_locals_of_waiting_filters() {
    if !has_compiler("large_locals_of_waiting_filters") {
        return;
    }
    let text = around(
        "int->int pipeline Middle { add Large(3); add Large(5); add Large(2); }
         int->int filter Large(int by) { work pop * push 2 { int[20000] all; int n = pop() & 15; for (int i = 0; i <= n; i++) { int k = (n * i * by) & 16383; all[k] += pop() + i; } int s = 0; for (int i = 0; i < 20000; i += 1) s = s * 3 + all[i]; push(s); push(n); } }",
    );
    let runs: Vec<_> = [50, 333].map(|count| (ints("in", count), None)).into();
    agree_runs(&[Level::Plain, Level::Vectors], &compiled(&text), &text, &runs);
}
