//! Queues between regions grow within a byte budget; beyond it the program fails and names the queue.

use crate::common::{Memory, Seen, compiled, compiler, has_compiler, interpreted, ints, run_on};
use thalweg_codegen::{Cache, Config, Level, Mode, Native, Threads, build};

/// Each item becomes a thousand, and two thousand become one.
const TEXT: &str = "void->void pipeline Main { add FileReader<int>(\"in\"); add Many(); add Few(); add FileWriter<int>(\"out\"); }
    int->int filter Many() { work pop 1 push * { int x = pop(); for (int i = 0; i < 1000; i++) push(x + i); } }
    int->int filter Few() { work pop * push 1 { int s = 0; for (int i = 0; i < 2000; i++) s += pop(); push(s); } }";

fn native(level: Level, bytes: usize) -> Native {
    let config = Config { level, cache: Cache::None, compiler: compiler(level) };
    build(&compiled(TEXT), &config).unwrap_or_else(|refusal| panic!("{refusal}")).within(bytes)
}

fn run(native: &Native, threads: usize, items: usize) -> Seen {
    let files: Memory = ints("in", items);
    run_on(native, &Threads::new(threads).batch((threads > 1).then_some(20)), &files, None)
}

#[test]
fn programs_fail_beyond_their_budget() {
    if !has_compiler("programs_fail_beyond_their_budget") {
        return;
    }
    for level in [Level::Plain, Level::Vectors] {
        for threads in [1, 2] {
            // 1000 items are held: the next filter pops them before the next firing.
            let fits = run(&native(level, 1 << 20).in_batches_of(20), threads, 2000);
            assert_eq!(fits.written["out"].len(), 1000, "{level:?}, {threads} threads: {:?}", fits.end);
            let small = run(&native(level, 3_999).in_batches_of(20), threads, 2000);
            let why = format!("{:?}", small.end.expect_err("queues beyond their budget"));
            let told = why.contains("the queue from `Main.Many")
                && why.contains("budget of all queues is 3999 bytes");
            assert!(told, "{level:?}, {threads} threads: {why}");
        }
    }
}

#[test]
fn batches_are_as_long_as_the_budget_allows() {
    if !has_compiler("batches_are_as_long_as_the_budget_allows") {
        return;
    }
    for (bytes, batch) in [(100_000, 1), (100_000, 1000), (1 << 20, 1000), (1 << 30, 1_000_000)] {
        for mode in [Mode::Hybrid, Mode::Sequential, Mode::Demand, Mode::OsThread] {
            let native = native(Level::Vectors, bytes).in_batches_of(batch).in_mode(mode);
            for threads in [1, 2, 8] {
                let files: Memory = ints("in", 20_000);
                let done = run_on(&native, &Threads::new(threads), &files, None);
                let what = format!("{bytes} bytes, batches of {batch}, {mode:?}, {threads} threads");
                assert_eq!(done.written.get("out").map(Vec::len), Some(10_000), "{what}: {:?}", done.end);
            }
        }
    }
}

/// The verdict does not depend on threads where the caller chooses no batch.
#[test]
fn batches_of_the_default_length_fit_into_the_budget() {
    if !has_compiler("batches_of_the_default_length_fit_into_the_budget") {
        return;
    }
    for bytes in [100_000, 1 << 20, 1 << 25] {
        for threads in [1, 2, 8] {
            let files: Memory = ints("in", 20_000);
            let done = run_on(&native(Level::Vectors, bytes), &Threads::new(threads), &files, None);
            assert_eq!(
                done.written.get("out").map(Vec::len),
                Some(10_000),
                "{bytes} bytes, {threads} threads: {:?}",
                done.end
            );
        }
    }
}

/// The filters behind a filter in its region continue before it has pushed all that it can.
#[test]
fn a_filter_may_push_more_than_its_queue_holds() {
    let text = "void->void pipeline Main { add FileReader<int>(\"in\"); add Many(); add Pairs(); add FileWriter<int>(\"out\"); }
        int->int filter Many() { int left; int x; work pop [0, 1] push 1 {
            if (left == 0) { x = pop(); left = 200001; }
            push(x + left);
            left--;
        } }
        int->int filter Pairs() { work pop 2 push 1 { push(pop() * 3 + pop()); } }";
    if has_compiler("a_filter_may_push_more_than_its_queue_holds") {
        all_agree_within(text, &ints("in", 3), 200_001, 500_000);
    }
}

/// Items that a firing has popped are gone, also while it waits for more.
#[test]
fn a_firing_may_pop_more_than_its_queue_holds() {
    let text =
        "void->void pipeline Main { add FileReader<int>(\"in\"); add Sum(); add FileWriter<int>(\"out\"); }
        int->int filter Sum() { work pop * push 1 {
            int s = 0;
            for (int i = 0; i < 50000; i++) { s = s * 3 + peek(2); s += pop(); }
            push(s);
        } }";
    if has_compiler("a_firing_may_pop_more_than_its_queue_holds") {
        all_agree_within(text, &ints("in", 150_100), 3, 60_000);
    }
}

/// Positions are counted in 32 bits.
#[test]
fn an_endless_firing_fails_in_the_end() {
    if !has_compiler("an_endless_firing_fails_in_the_end") {
        return;
    }
    let text = "void->void pipeline Main { add Count(); add Sum(); add FileWriter<int>(\"out\"); }
        void->int filter Count() { int n; work push 1 { push(n++); } }
        int->int filter Sum() { work pop * push * { int s = 0; while (true) { s += pop(); if (s == 77) push(s); } } }";
    let config = Config { level: Level::Vectors, cache: Cache::None, compiler: None };
    let native = build(&compiled(text), &config).unwrap();
    let seen = run_on(&native, &Threads::new(1), &Memory::default(), Some(600_000_000));
    let why = format!("{:?}", seen.end.expect_err("a firing with too many items"));
    assert!(why.contains("`Main.Sum`") && why.contains("half a billion items in one firing"), "{why}");
}

/// Checks at every level, in every mode and on threads, that a program writes this many items within this
/// many bytes.
fn all_agree_within(text: &str, files: &Memory, items: usize, bytes: usize) {
    let program = compiled(text);
    let meant = interpreted(&program, files, None);
    assert_eq!(meant.written["out"].len(), items);
    for level in [Level::Plain, Level::Fused, Level::Vectors] {
        let config = Config { level, cache: Cache::None, compiler: compiler(level) };
        for mode in [Mode::Hybrid, Mode::Sequential, Mode::Demand, Mode::OsThread] {
            for threads in [1, 2] {
                let native = build(&program, &config).unwrap().in_mode(mode).within(bytes).in_batches_of(100);
                let threads = Threads::new(threads).batch((threads > 1).then_some(20));
                let done = run_on(&native, &threads, files, None);
                assert_eq!(done, meant, "{level:?}, {mode:?}, {threads:?}");
            }
        }
    }
}

/// `K` is so large that a batch of the usual length takes more than the default budget. The run goes on after it has taken as
/// much in total, so also where batches have grown.
#[test]
fn batches_of_very_large_firings_fit_into_the_default_budget() {
    if !has_compiler("batches_of_very_large_firings_fit_into_the_default_budget") {
        return;
    }
    let text = "static { int K = 100000; }
        void->void pipeline Main { add Count(); add Grow(); add Sum(); add FileWriter<int>(\"out\"); }
        void->int filter Count { int n; work push 1 { push(n++); } }
        int->int filter Grow { int z; work pop 1 push [0, *] { z = z + pop(); for (int i = 0; i < K; i++) { z = z * 5 + i; push(z); } } }
        int->int filter Sum { int s; work pop [1, *] push 1 { s = s + pop(); for (int i = 0; i < K - 1; i++) s = s * 3 + pop(); push(s); } }";
    let (compiled, files) = (compiled(text), Memory::default());
    let (first, meant) = (10, interpreted(&compiled, &files, Some(10)));
    let config = Config { level: Level::Vectors, cache: Cache::None, compiler: None };
    let native = build(&compiled, &config).unwrap();
    let mut all = Vec::new();
    for threads in [1, 2, 8] {
        let done = run_on(&native, &Threads::new(threads), &files, Some(3000));
        let written = done.written.get("out").unwrap_or_else(|| panic!("{threads} threads: {:?}", done.end));
        assert_eq!(
            (written.len(), &written[..first]),
            (3000, &meant.written["out"][..]),
            "{threads} threads"
        );
        all.push(done);
    }
    assert!(all[0] == all[1] && all[0] == all[2], "the number of threads decides");
}
