//! The budget of queues. With `M`, the most that the interpreter's order holds, `2 M` suffices, at any number of threads, batch,
//! mode and policy. Where native code fires in the interpreter's order, `M` suffices and less than `M` fails. Elsewhere less
//! than `M` may suffice; it fails for the programs of which a test says so.

use crate::common::{Memory, Seen, compiled, difference, has_compiler, ints, run_on, see};
use std::sync::Arc;
use thalweg_codegen::{Cache, Compiler, Config, Level, Mode, Native, Threads, build};
use thalweg_lang::Compiled;
use thalweg_lang::interpret::{Options, RunLimits, interpret_measured};

/// A source of as many numbers as the run has iterations.
const COUNT: &str = "void->int filter Count() { int n; work push 1 { push(n++); } }";

/// Each number becomes `K` numbers or, of every `every`, `rare`; with state, so that there are no copies.
fn grow(name: &str, often: &str) -> String {
    format!(
        "int->int filter {name} {{ int z; work pop 1 push [0, *] {{ int x = pop(); z = z + x; int k = {often}; \
         for (int i = 0; i < k; i++) {{ z = z * 5 + i; push(z); }} }} }}"
    )
}

fn main_of(filters: &str, more: &str) -> String {
    format!(
        "void->void pipeline Main {{ add Count(); {filters} add FileWriter<int>(\"out\"); }} {COUNT} {more}"
    )
}

const SUM: &str = "int->int filter Sum(int n) { int s; work pop [1, *] push 1 { s = s + pop(); \
     for (int i = 0; i < n - 1; i++) s = s * 3 + pop(); push(s); } }";

/// What the interpreter writes, and the most bytes that its queues hold.
fn measured(compiled: &Arc<Compiled>, files: &Memory, iterations: Option<u64>, bytes: u64) -> (Seen, u64) {
    let (options, mut most) = (Options { iterations, ..Options::default() }, 0);
    let limits = RunLimits { bytes, ..RunLimits::default() };
    let seen = see(files, |around| {
        let (end, held) = interpret_measured(compiled, options, limits, around);
        most = held;
        end
    });
    (seen, most)
}

fn native(compiled: &Arc<Compiled>) -> Native {
    let compiler = Compiler::find().map(|found| found.flag("-O1"));
    let config = Config { level: Level::Vectors, cache: Cache::None, compiler };
    build(compiled, &config).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// A program, with what the interpreter does and holds.
struct Measured<'a> {
    native: Native,
    files: &'a Memory,
    iterations: Option<u64>,
    meant: &'a Seen,
    most: u64,
}

impl Measured<'_> {
    fn run(&self, threads: &Threads) -> Seen {
        run_on(&self.native, threads, self.files, self.iterations)
    }

    fn within(mut self, bytes: u64) -> Self {
        self.native = self.native.within(bytes as usize);
        self
    }

    /// Checks that a run with little budget has the interpreter's output, or fails for the budget. Returns whether it fails.
    fn is_refused(&self, threads: &Threads, what: &str) -> bool {
        let done = self.run(threads);
        let Err(why) = &done.end else {
            assert!(done == *self.meant, "{what}: {}", difference(self.meant, &done));
            return false;
        };
        assert!(format!("{why:?}").contains("budget of all queues is"), "{what}: {why:?}");
        true
    }

    /// In the interpreter's order, at any number of threads, `M` suffices and less fails. If the queues hold `M` within a
    /// firing of a node of static rates, native code counts what they hold after that firing, without the bytes that it has
    /// popped.
    fn check_in_order(mut self, popped: u64) -> Self {
        for mode in [Mode::Hybrid, Mode::OsThread, Mode::Demand, Mode::Sequential] {
            self.native = self.native.in_mode(mode);
            let options = Options { iterations: self.iterations, ..Options::default() };
            if self.native.in_order(options).is_none() {
                continue;
            }
            for (bytes, fits) in
                [(self.most, true), (self.most - popped, true), (self.most - popped - 1, false)]
            {
                self = self.within(bytes);
                for threads in [1, 2, 8] {
                    let what = format!("{bytes} bytes of {}, {mode:?}, {threads} threads", self.most);
                    assert_eq!(self.is_refused(&Threads::new(threads), &what), !fits, "{what}");
                }
            }
        }
        self
    }
}

/// Runs a program at all settings with `2 M`, which suffices, and with less than `M`, which fails.
///
/// On up to `exact` threads `M - 1` fails where regions go in the interpreter's order; elsewhere, half of `M` is checked. It
/// need not fail if a node of static rates stands between filters of dynamic rates, nor on several threads if the run comes to
/// `M` in its last batch, which the driver finishes in an order that may hold less.
fn check(test: &str, text: &str, iterations: Option<u64>, exact: usize) {
    check_with(test, text, iterations, exact, 0);
}

/// As [`check`], for a program of which a firing of a node of static rates holds `M`, and has popped as many bytes.
fn check_with(test: &str, text: &str, iterations: Option<u64>, exact: usize, popped: u64) {
    if !has_compiler(test) {
        return;
    }
    let (compiled, files) = (compiled(text), ints("in", 300));
    let (meant, most) = measured(&compiled, &files, iterations, u64::MAX);
    assert!(most > 0 && meant.end.is_ok(), "{meant:?}");
    assert!(measured(&compiled, &files, iterations, most).0.end.is_ok(), "M suffices for the interpreter");
    assert!(measured(&compiled, &files, iterations, most - 1).0.end.is_err(), "less than M does not");
    let measured = Measured { native: native(&compiled), files: &files, iterations, meant: &meant, most };
    let mut native = measured.check_in_order(popped).native;
    // The batch cannot be unset, so the default comes first.
    for batch in [None, Some(7), Some(1)] {
        native = batch.into_iter().fold(native, Native::in_batches_of);
        for mode in [Mode::Hybrid, Mode::OsThread, Mode::Demand, Mode::Sequential] {
            native = native.in_mode(mode);
            let in_order = matches!(mode, Mode::Hybrid | Mode::Sequential);
            for (bytes, fits) in [(2 * most, true), (most - 1, false), (most / 2, false)] {
                native = native.within(bytes as usize);
                for (threads, policy) in [(1, "auto"), (2, "ws-last"), (8, "pss"), (8, "auto")] {
                    if bytes == most - 1 && !(in_order && threads <= exact) {
                        continue;
                    }
                    let threads = Threads::of(thalweg::Options::new().threads(threads).policy(policy));
                    let done = run_on(&native, &threads, &files, iterations);
                    let what =
                        format!("{test}: {bytes} bytes of {most}, batch {batch:?}, {mode:?}, {threads:?}");
                    if fits {
                        assert!(done == meant, "{what}: {:?}", done.end.map_err(|stop| format!("{stop:?}")));
                    } else {
                        let why = format!("{:?}", done.end.expect_err(&what));
                        assert!(why.contains("budget of all queues is"), "{what}: {why}");
                    }
                }
            }
        }
    }
}

/// The program of the report: a filter makes a thousand of each number, the next makes one of a thousand.
#[test]
fn a_filter_that_pushes_much() {
    let more = format!("{} {SUM}", grow("Grow", "1000"));
    check("a_filter_that_pushes_much", &main_of("add Grow(); add Sum(1000);", &more), Some(400), 8);
}

/// Copies on several threads execute a filter without state.
#[test]
fn a_filter_without_state_that_pushes_much() {
    let text = "void->void pipeline Main { add FileReader<int>(\"in\"); add Many(); add Few(); add FileWriter<int>(\"out\"); }
        int->int filter Many() { work pop 1 push * { int x = pop(); for (int i = 0; i < 1000; i++) push(x + i); } }
        int->int filter Few() { work pop * push 1 { int s = 0; for (int i = 0; i < 2000; i++) s += pop(); push(s); } }";
    check("a_filter_without_state_that_pushes_much", text, None, 8);
}

/// A joiner that takes from branches which push different numbers of items: a queue grows as long as the program runs.
#[test]
fn a_joiner_with_unequal_branches() {
    let more = format!("{} {}", grow("Three", "3"), grow("Two", "x % 2"));
    let split = "add splitjoin { split roundrobin(1, 1); add Three(); add Two(); join roundrobin(1, 1); };";
    check("a_joiner_with_unequal_branches", &main_of(split, &more), Some(600), 1);
}

/// A region of static rates between two filters of dynamic rates, with large rates.
#[test]
fn a_static_region_behind_a_dynamic_filter() {
    let more = format!(
        "{} {SUM} int->int filter Wide {{ work pop 30 push 700 peek 40 {{ int s = peek(35); \
         for (int i = 0; i < 30; i++) s += pop() * i; for (int i = 0; i < 700; i++) push(s + i); }} }}
         int->int filter Pair {{ work pop 2 push 1 {{ push(pop() * 3 + pop()); }} }}",
        grow("Grow", "x % 90")
    );
    let filters = "add Grow(); add Wide(); add Pair(); add Sum(77);";
    check("a_static_region_behind_a_dynamic_filter", &main_of(filters, &more), Some(400), 0);
}

/// A source of several numbers for each steady state, all of which the interpreter's order holds at once.
#[test]
fn a_source_with_a_large_rate() {
    let text = format!(
        "void->void pipeline Main {{ add Burst(); add Grow(); add Sum(100); add FileWriter<int>(\"out\"); }}
         void->int filter Burst {{ int n; work push 50 {{ for (int i = 0; i < 50; i++) push(n++); }} }} {} {SUM}",
        grow("Grow", "100")
    );
    check("a_source_with_a_large_rate", &text, Some(60), 8);
}

/// A feedback loop of dynamic rates.
#[test]
fn a_feedback_loop() {
    let text = "void->void pipeline Main { add FileReader<int>(\"in\"); add feedbackloop { join roundrobin(1, 1); body Mix(); loop Again(); split roundrobin(1, 1); enqueue 5; enqueue 7; enqueue 9; }; add FileWriter<int>(\"out\"); }
        int->int filter Mix() { work pop 2 push 2 { int a = pop(); int b = pop(); push(a + b); push(a - b); } }
        int->int filter Again() { work pop 1 push [1, 2] { int x = pop(); push(x / 2); if (x % 4 == 1) push(x); } }";
    check_with("a_feedback_loop", text, None, 0, 8);
}

/// Several filters print, so the order of firings is the interpreter's.
#[test]
fn filters_that_print() {
    let say = |name: &str| {
        format!(
            "int->int filter {name} {{ work pop 1 push 1 {{ int x = pop(); if (x % 97 == 0) println(x); push(x); }} }}"
        )
    };
    let more = format!("{} {SUM} {} {}", grow("Grow", "x % 40"), say("One"), say("Two"));
    check(
        "filters_that_print",
        &main_of("add One(); add Grow(); add Two(); add Sum(9);", &more),
        Some(100),
        8,
    );
}

/// A filter whose pushes jump in the middle of the run, while batches are long. That less than `M` fails is not certain here:
/// the batch under way is finished in an order that holds less.
#[test]
fn pushes_that_jump() {
    if !has_compiler("pushes_that_jump") {
        return;
    }
    let more = format!("{} {} {SUM}", grow("Grow", "x % 1000 == 700 ? 3000 : 2"), grow("Same", "1"));
    let text = main_of("add Grow(); add Same(); add Sum(50);", &more);
    suffices(&text, &Memory::default(), Some(3000), &[Some(700), Some(1)]);
}

/// Checks at these lengths of batches and that of default that `2 M` suffices, with the output of the interpreter. Less than `M`
/// may suffice, with that output too; in the interpreter's order it does not.
fn suffices(text: &str, files: &Memory, iterations: Option<u64>, batches: &[Option<u64>]) {
    let compiled = compiled(text);
    let (meant, most) = measured(&compiled, files, iterations, u64::MAX);
    assert!(most > 0 && meant.end.is_ok(), "{meant:?}");
    let measured = Measured { native: native(&compiled), files, iterations, meant: &meant, most };
    let mut measured = measured.check_in_order(0);
    measured.native = measured.native.in_mode(Mode::Hybrid);
    for bytes in [most - 1, most / 2, most / 4] {
        measured = measured.within(bytes);
        for threads in [1, 2, 8] {
            measured
                .is_refused(&Threads::new(threads), &format!("{bytes} bytes of {most}, {threads} threads"));
        }
    }
    let mut native = measured.native.within(2 * most as usize);
    let options = Options { iterations, ..Options::default() };
    assert_eq!(native.in_order(options), None, "no batches");
    for batch in [None].into_iter().chain(batches.iter().copied()) {
        native = batch.into_iter().fold(native, Native::in_batches_of);
        for (threads, policy) in [(1, "auto"), (2, "ws-last"), (2, "auto"), (8, "pss"), (8, "auto")] {
            let threads = Threads::of(thalweg::Options::new().threads(threads).policy(policy));
            let done = run_on(&native, &threads, files, iterations);
            assert!(done == meant, "batch {batch:?}, {threads:?}: {}", difference(&meant, &done));
        }
    }
}

/// Pushes one number in each firing up to number `until`, then 20,000 in each.
fn burst(name: &str, until: u32) -> String {
    format!(
        "void->int filter {name} {{ int n; work push [1, *] {{ n++; int k = n > {until} ? 20000 : 1; \
         for (int i = 0; i < k; i++) push(n + i); }} }}"
    )
}

/// Batches grow while the source pushes little. Then several of one call come to the limit in the middle of the source's
/// firings, and the firings that are due count from the first of them.
#[test]
fn a_source_whose_pushes_stay_large() {
    if !has_compiler("a_source_whose_pushes_stay_large") {
        return;
    }
    let text = format!(
        "void->void pipeline Main {{ add Burst(); add Sum(50); add FileWriter<int>(\"out\"); }} {} {SUM}",
        burst("Burst", 3000)
    );
    suffices(&text, &Memory::default(), Some(3020), &[Some(70), Some(7)]);
}

/// Two sources, each with its own sink. Where the first comes to the limit, the other one fires as often as is due, not as often
/// as it has room.
#[test]
fn a_second_source_beside_one_that_comes_to_the_limit() {
    if !has_compiler("a_second_source_beside_one_that_comes_to_the_limit") {
        return;
    }
    let text = format!(
        "void->void splitjoin Main {{ split roundrobin(0); \
         add pipeline {{ add Left(); add Sum(50); add FileWriter<int>(\"left\"); }}; \
         add pipeline {{ add Right(); add Sum(50); add FileWriter<int>(\"right\"); }}; join roundrobin(0); }} {} {} {SUM}",
        burst("Left", 1000),
        burst("Right", 2000)
    );
    suffices(&text, &Memory::default(), Some(1020), &[Some(70), Some(7)]);
}

/// A region of static rates that also reads a file, which ends before the items from the source are used up.
#[test]
fn a_file_that_ends_inside() {
    if !has_compiler("a_file_that_ends_inside") {
        return;
    }
    let more = format!(
        "{} {SUM} int->int filter Wide {{ work pop 2 push 50 {{ int s = pop() + pop(); \
         for (int i = 0; i < 50; i++) push(s + i); }} }}",
        grow("Grow", "40")
    );
    let split = "add splitjoin { split roundrobin(1, 0); add Grow(); add FileReader<int>(\"in\"); join roundrobin(1, 1); };";
    let text = main_of(&format!("{split} add Wide(); add Sum(50);"), &more);
    suffices(&text, &ints("in", 300), Some(200), &[Some(7), Some(1)]);
}

/// A firing waits on a stack of its own, while a queue that was empty when that stack was made fills. Then it pushes and takes
/// the rest of its input, so that only its requests for room see the most that the queues hold.
#[test]
fn a_firing_that_waits_beside_a_full_queue() {
    let text = "void->void pipeline Main { add Burst(); add splitjoin { split duplicate; add Fill(); add Waits(); join roundrobin(200, 300); }; add FileWriter<int>(\"out\"); }
        void->int filter Burst() { int n; work push 50 { for (int i = 0; i < 50; i++) push(n++); } }
        int->int filter Fill() { int z; work pop 1 push [0, *] { int x = pop(); z += x; int k = x >= 1000 && x % 100 == 99 ? 200 : 0; for (int i = 0; i < k; i++) push(z + i); } }
        int->int filter Waits() { int z; work pop * push * { int x = pop(); z += x; for (int i = 0; i < 50; i++) z += pop(); int k = x >= 1000 ? 300 : 0; for (int i = 0; i < k; i++) push(z + i); for (int i = 0; i < 49; i++) z += pop(); } }";
    check("a_firing_that_waits_beside_a_full_queue", text, Some(40), 8);
}

/// A filter may push on at the limit, since its queue has room for as much again; but no setting lets a firing push four times
/// the budget.
#[test]
fn a_firing_that_pushes_four_times_the_budget_fails() {
    if !has_compiler("a_firing_that_pushes_four_times_the_budget_fails") {
        return;
    }
    let often = main_of("add Grow(); add Sum(1000);", &format!("{} {SUM}", grow("Grow", "1000")));
    let rare =
        main_of("add Grow(); add Sum(50);", &format!("{} {SUM}", grow("Grow", "x % 1000 == 700 ? 3000 : 2")));
    for (text, iterations, pushed) in [(often, 400, 4_000), (rare, 3000, 12_000)] {
        let (compiled, files, iterations) = (compiled(&text), Memory::default(), Some(iterations));
        let (meant, most) = measured(&compiled, &files, iterations, u64::MAX);
        assert!(most >= pushed, "{most}");
        let measured = Measured { native: native(&compiled), files: &files, iterations, meant: &meant, most };
        let mut measured = measured.within(pushed / 4 - 1);
        for batch in [None, Some(7), Some(1)] {
            measured.native = batch.into_iter().fold(measured.native, Native::in_batches_of);
            for mode in [Mode::Hybrid, Mode::OsThread, Mode::Demand, Mode::Sequential] {
                measured.native = measured.native.in_mode(mode);
                for (threads, policy) in [(1, "auto"), (2, "ws-last"), (8, "pss"), (8, "auto")] {
                    let threads = Threads::of(thalweg::Options::new().threads(threads).policy(policy));
                    let what = format!("{pushed} bytes, batch {batch:?}, {mode:?}, {threads:?}");
                    assert!(measured.is_refused(&threads, &what), "{what}");
                }
            }
        }
    }
}
