//! Native runs that would never end can be stopped, in the middle of a firing too.

use crate::common::{Memory, Seen, compiled, compiler, has_compiler, ints, see_with};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use thalweg_codegen::{Cache, Config, Level, Mode, Native, Split, Threads, build};
use thalweg_lang::interpret::{Options, Stop, Surroundings};

/// Runs a program at a level until it is interrupted after 100 ms; returns its prints and the number of items
/// written.
fn stopped(text: &str, files: &Memory, kind: (Level, usize)) -> (String, usize) {
    stopped_in(Mode::Hybrid, text, files, kind)
}

/// Like [`stopped`], in a mode.
fn stopped_in(mode: Mode, text: &str, files: &Memory, (level, threads): (Level, usize)) -> (String, usize) {
    let config = Config { level, cache: Cache::None, compiler: compiler(level) };
    let native = build(&compiled(text), &config).unwrap().in_mode(mode);
    let (seen, since) = interrupted(&native, files, threads);
    assert_eq!(seen.end, Err(Stop::Interrupted), "{mode:?}, {level:?}:\n{text}");
    assert!(since < SOON, "{mode:?}, {level:?}: {since:?} after it was stopped\n{text}");
    (seen.printed, seen.written.values().map(Vec::len).sum())
}

/// The longest time that a program may continue after an interruption.
const SOON: Duration = Duration::from_secs(20); // for a busy machine

/// A run that is interrupted after 100 ms, and how long it continues after that.
fn interrupted(native: &Native, files: &Memory, threads: usize) -> (Seen, Duration) {
    interrupted_on(native, files, &Threads::new(threads))
}

fn interrupted_on(native: &Native, files: &Memory, threads: &Threads) -> (Seen, Duration) {
    let stop = Arc::new(AtomicBool::new(false));
    let later = stop.clone();
    let clock = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        later.store(true, Ordering::Relaxed);
        Instant::now()
    });
    let mut files = files.clone();
    let written = files.written.clone();
    let seen = see_with(&mut files, &written, |around| {
        let stop = stop.clone();
        let interrupted = Box::new(move || stop.load(Ordering::Relaxed));
        native.run_on(threads, Options::default(), Surroundings { interrupted, ..around })
    });
    let since = clock.join().unwrap().elapsed();
    (seen, since)
}

const KINDS: [(Level, usize); 4] =
    [(Level::Plain, 1), (Level::Fused, 1), (Level::Vectors, 1), (Level::Vectors, 2)];

#[test]
fn endless_loops() {
    let loops = [
        "while (true) { x = x * 3 + 1; }",
        "do { x++; } while (x != 0 || true);",
        "for (;;) { if (x % 2 == 0) continue; x += 2; }",
        "for (int i = 0; i < 1000000; i++) for (int j = 0; j < 1000000 + (x & 1); j++) for (int k = 0; k < 1000000; k++) x = x * j + k;",
        "for (int i = 0; i < 1000000; i++) for (int j = 0; j < 1000000; j++) for (int k = 0; k < 100; k++) x = x * j ^ k;",
    ];
    for ends in loops.iter().filter(|_| has_compiler("endless_loops")) {
        let text = format!(
            "void->void pipeline Main {{ add Count(); add Hang(); add FileWriter<int>(\"out\"); }}
             void->int filter Count {{ int n; work push 1 {{ push(n++); }} }}
             int->int filter Hang {{ int x = 1; work pop 1 push 1 {{ int n = pop(); if (n == 3) {{ {ends} }} push(n + x); }} }}"
        );
        for kind in KINDS {
            let (printed, written) = stopped(&text, &Memory::default(), kind);
            assert!(printed.is_empty() && written <= 3, "{kind:?}: {written} items\n{text}");
        }
    }
}

#[test]
fn long_recursions() {
    let text = "void->void pipeline Main { add Count(); add Tree(); add FileWriter<int>(\"out\"); }
        void->int filter Count { int n; work push 1 { push(n++); } }
        int->int filter Tree { int f(int n) { if (n < 2) return 1; return f(n - 1) + f(n - 2); } work pop 1 push 1 { push(f(pop() * 70)); } }";
    for kind in KINDS.into_iter().filter(|_| has_compiler("long_recursions")) {
        assert!(stopped(text, &Memory::default(), kind).1 <= 1);
    }
}

#[test]
fn prints_before_the_stop_appear() {
    let text = "void->void pipeline Main { add Count(); add Show(); }
        void->int filter Count { int n; work push 1 { push(n++); } }
        int->void filter Show { work pop 1 { int n = pop(); if (n == 5) { while (n > 0) n = (n + 1) & 63 | 1; } println(n); } }";
    for kind in KINDS.into_iter().filter(|_| has_compiler("what_is_printed")) {
        let (printed, _) = stopped(text, &Memory::default(), kind);
        if kind.1 == 1 {
            assert_eq!(printed, "0\n1\n2\n3\n4\n", "{kind:?}");
        }
    }
}

#[test]
fn endless_firings_with_dynamic_rates_and_in_handlers() {
    let dynamic = "void->void pipeline Main { add Count(); add Some(); add FileWriter<int>(\"out\"); }
        void->int filter Count { int n; work push 1 { push(n++); } }
        int->int filter Some { work pop * push * { int n = pop(); while (n > 0) { n = pop() + peek(1); if (n > 100) while (true) n++; } push(n); } }";
    let handler = "void->void pipeline Main { portal<Show> p; add Count(p); add Show() to p; }
        void->int filter Count(portal<Show> p) { int n; work push 1 { push(n++); if (n == 9) p.hang(n) [1:1]; } }
        int->void filter Show { int x; work pop 1 { println(pop() + x); } handler hang(int n) { while (n != 0) { n = n + 2; x += n; } } }";
    for text in [dynamic, handler].into_iter().filter(|_| has_compiler("dynamic_rates")) {
        for kind in KINDS {
            stopped(text, &Memory::default(), kind);
        }
    }
    if has_compiler("dynamic_rates") {
        for mode in [Mode::OsThread, Mode::Demand] {
            stopped_in(mode, dynamic, &Memory::default(), (Level::Vectors, 1));
        }
    }
}

#[test]
fn programs_whose_input_never_ends() {
    let text = "void->void pipeline Main { add Count(); add Sum(); add FileWriter<int>(\"out\"); }
        void->int filter Count { int n; work push 1 { push(n++); } }
        int->int filter Sum { int x; work pop 1000 push 1 { for (int i = 0; i < 1000; i++) x += pop(); push(x); } }";
    for kind in KINDS.into_iter().filter(|_| has_compiler("programs_whose_input_never_ends")) {
        assert!(stopped(text, &Memory::default(), kind).1 > 0);
    }
}

#[test]
fn a_filter_that_pops_no_more_and_pushes_forever() {
    let text = "void->void pipeline Main { add FileReader<int>(\"in\"); add More(); add FileWriter<int>(\"out\"); }
        int->int filter More { int k; boolean on; work pop [0, 1] push 1 { if (!on) { k = pop(); on = true; } push(k++); } }";
    for kind in KINDS.into_iter().filter(|_| has_compiler("a_filter_that_takes_no_more")) {
        assert!(stopped(text, &ints("in", 100), kind).1 > 1 << 16, "{kind:?}");
    }
}

#[test]
fn programs_of_dynamic_rates_whose_input_never_ends_in_each_mode() {
    let text = "void->void pipeline Main { add Count(); add Odd(); add FileWriter<int>(\"out\"); }
        void->int filter Count { int n; work push 1 { push(n++); } }
        int->int filter Odd { work pop 1 push [0, 1] { int x = pop(); if (x % 2 == 1) push(x); } }";
    let modes = [Mode::Hybrid, Mode::Sequential, Mode::Demand, Mode::OsThread];
    for mode in modes.into_iter().filter(|_| has_compiler("programs_of_dynamic_rates")) {
        assert!(stopped_in(mode, text, &Memory::default(), (Level::Vectors, 1)).1 > 0, "{mode:?}");
    }
}

/// A firing fills its queue beyond the budget; passing on what it has pushed would take seconds.
#[test]
fn a_thread_that_passes_on_very_many_items() {
    let text = "void->void pipeline Main { add Count(); add Same(); add FileWriter<int>(\"out\"); }
        void->int filter Count { int n; work push 1 { push(n++); } }
        int->int filter Same { work pop 1 push * { int x = pop(); while (x == 20) push(x); push(x); } }";
    if !has_compiler("a_thread_that_passes_on_very_many_items") {
        return;
    }
    let config = Config { level: Level::Vectors, cache: Cache::None, compiler: None };
    let native = build(&compiled(text), &config).unwrap().in_mode(Mode::OsThread).within(256 << 20);
    let (seen, since) = interrupted(&native, &Memory::default(), 1);
    assert!(seen.end.is_err());
    assert!(since < SOON, "{since:?} after it was stopped");
}

/// A plan may say any length of batches; a packet has a bounded number of them nevertheless.
#[test]
fn batches_of_any_length_in_a_plan() {
    if !has_compiler("batches_of_any_length_in_a_plan") {
        return;
    }
    let text = "void->void pipeline Main { add Count(); add Some(); add Slow(); add FileWriter<int>(\"out\"); }
        void->int filter Count { int n; work push 1 { push(n++); } }
        int->int filter Some { work pop 1 push [0, 2] { int x = pop(); if (x % 3 != 0) push(x); } }
        int->int filter Slow { int s; work pop 1 push 1 { s = s * 7 + pop(); for (int i = 0; i < 50; i++) s = s * 5 + i; push(s); } }";
    let mut native = build(&compiled(text), &Config { cache: Cache::None, ..Config::default() }).unwrap();
    let mut plan = native.plan(&Threads::new(2).split(Split::Filters)).unwrap();
    *plan.batch_mut() = u32::MAX as usize;
    let threads = Threads::of(thalweg::Options::new().plan(plan));
    for mode in [Mode::Hybrid, Mode::OsThread] {
        native = native.in_mode(mode);
        let (seen, since) = interrupted_on(&native, &Memory::default(), &threads);
        assert_eq!(seen.end, Err(Stop::Interrupted), "{mode:?}");
        assert!(since < SOON, "{mode:?}: {since:?} after it was stopped");
        assert!(seen.written.values().any(|items| !items.is_empty()), "{mode:?}: batches came to an end");
    }
}

/// Prints of which the first one of at least `from` bytes interrupts the run, and the bytes that are printed after it.
struct Interrupting {
    from: usize,
    interrupted: Arc<AtomicBool>,
    at: Arc<OnceLock<Instant>>,
    after: Arc<AtomicUsize>,
}

impl std::io::Write for Interrupting {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.interrupted.load(Ordering::Relaxed) {
            self.after.fetch_add(bytes.len(), Ordering::Relaxed);
        }
        if bytes.len() >= self.from {
            self.at.get_or_init(Instant::now);
            self.interrupted.store(true, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What the batches under way have printed is dropped, and those that have not begun are not executed.
#[test]
fn prints_of_batches_under_way_are_dropped() {
    if !has_compiler("prints_of_batches_under_way_are_dropped") {
        return;
    }
    let text = |rate| {
        format!(
            "void->void pipeline Main {{ add Count(); add Mix(); add Show(); }}
             void->int filter Count {{ int n; work push 1 {{ push(n++); }} }}
             int->int filter Mix {{ work pop 1 push {rate} {{ int x = pop(); for (int i = 0; i < 500; i++) x = x * 5 + i; push(x); }} }}
             int->void filter Show {{ work pop 1 {{ println(pop()); }} }}"
        )
    };
    for (rate, threads) in [("1", 1), ("1", 8), ("1", 100), ("[0, 1]", 1), ("[0, 1]", 8)] {
        let config = Config { cache: Cache::None, ..Config::default() };
        let native = build(&compiled(&text(rate)), &config).unwrap();
        let (at, after) = (Arc::new(OnceLock::new()), Arc::new(AtomicUsize::new(0)));
        let stop = Arc::new(AtomicBool::new(false));
        // The first steady states are those of one thread, which prints each line by itself.
        let from = if threads > 1 { 100 } else { 1 };
        let out = Interrupting { from, interrupted: stop.clone(), at: at.clone(), after: after.clone() };
        let around = Surroundings {
            files: &mut Memory::default(),
            out: Box::new(out),
            interrupted: Box::new(move || stop.load(Ordering::Relaxed)),
            progress: &mut |_| {},
        };
        let split = if threads == 100 { Split::Auto } else { Split::Filters };
        let plan = native.plan(&Threads::new(threads).split(split)).unwrap();
        let threads_of = Threads::of(thalweg::Options::new().plan(plan));
        let end = native.run_on(&threads_of, Options::default(), around);
        let (since, after) = (at.get().expect("it prints").elapsed(), after.load(Ordering::Relaxed));
        assert_eq!(end, Err(Stop::Interrupted), "{rate}, {threads} threads");
        assert!(after == 0, "{rate}, {threads} threads: {after} bytes printed after the interrupt");
        assert!(since < SOON, "{rate}, {threads} threads: {since:?} after the interrupt");
    }
}
