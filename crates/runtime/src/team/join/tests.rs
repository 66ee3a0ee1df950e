//! Joins outside of runs, in firings, and in each other.

use super::join;
use crate::build::in_team::tests::in_team_of;
use crate::team::tests::{INSIDE, comes, counts, each_is, error_of_using};
use crate::{Graph, Options, panic_message, par_for, team_size};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// The panic of `work`.
fn panic_of(work: impl FnOnce()) -> String {
    panic_message(&*catch_unwind(AssertUnwindSafe(work)).expect_err("it panics")).to_owned()
}

/// Executes `2^depth` leaves.
fn tree(depth: usize, leaf: &(dyn Fn() + Sync)) {
    match depth {
        0 => leaf(),
        _ => _ = join(|| tree(depth - 1, leaf), || tree(depth - 1, leaf)),
    }
}

#[test]
fn results_are_those_of_both_halves_at_any_number_of_members() {
    for threads in [1, 2, 5] {
        assert_eq!(in_team_of(threads, || (team_size(), fib(20))), (threads, 6765));
    }
    for _ in 0..50 {
        assert_eq!(fib(16), 987);
    }
}

#[test]
fn five_members_execute_halves_at_the_same_time() {
    let (inside, names) = (AtomicUsize::new(0), Mutex::new(Vec::<ThreadId>::new()));
    let all_have_come = AtomicBool::new(false);
    in_team_of(5, || {
        // Each leaf waits until five threads are in leaves.
        tree(4, &|| {
            let id = std::thread::current().id();
            let mut ids = names.lock().unwrap();
            if !ids.contains(&id) {
                ids.push(id);
            }
            all_have_come.fetch_or(ids.len() == 5, Ordering::Release);
            drop(ids);
            assert!(comes(&all_have_come), "five threads come");
            inside.fetch_add(1, Ordering::Relaxed);
        });
    });
    assert_eq!(inside.into_inner(), 16);
    assert_eq!(names.into_inner().unwrap().len(), 5);
}

#[test]
fn another_thread_executes_the_second_half() {
    let own = std::thread::current().id();
    let (begun, other) = (AtomicBool::new(false), AtomicBool::new(false));
    if team_size() > 1 {
        let second = || {
            other.store(std::thread::current().id() != own, Ordering::Relaxed);
            begun.store(true, Ordering::Release);
        };
        assert!(join(|| comes(&begun), second).0, "the pool has a thread for the half");
        assert!(other.into_inner());
    }
}

#[test]
fn halves_may_borrow_and_change_data() {
    fn sort(numbers: &mut [u32]) {
        if numbers.len() < 2 {
            return;
        }
        let (pivot, mut border) = (numbers[numbers.len() - 1], 0);
        for at in 0..numbers.len() - 1 {
            if numbers[at] < pivot {
                numbers.swap(at, border);
                border += 1;
            }
        }
        let last = numbers.len() - 1;
        numbers.swap(border, last);
        let (left, right) = numbers.split_at_mut(border);
        join(|| sort(left), || sort(&mut right[1..]));
    }
    let numbers = || (0..20_000u32).map(|at| at.wrapping_mul(2_654_435_761) >> 7);
    for threads in [1, 3, 5] {
        let sorted = in_team_of(threads, || {
            let mut sorted: Vec<u32> = numbers().collect();
            sort(&mut sorted);
            sorted
        });
        let mut expected: Vec<u32> = numbers().collect();
        expected.sort_unstable();
        assert_eq!(sorted, expected);
    }
}

/// Two halves of which some panic; the second one is stolen if `is_stolen`.
fn planted(first: bool, second: bool, is_stolen: bool) -> (String, usize) {
    let (begun, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let message = panic_of(|| {
        let a = || {
            assert!(!is_stolen || comes(&begun), "the half is stolen");
            done.fetch_add(1, Ordering::Relaxed);
            assert!(!first, "first");
        };
        let b = || {
            begun.store(true, Ordering::Release);
            if is_stolen {
                std::thread::sleep(Duration::from_millis(1)); // The first half has panicked by now.
            }
            done.fetch_add(1, Ordering::Relaxed);
            assert!(!second, "second");
        };
        join(a, b);
    });
    (message, done.into_inner())
}

#[test]
fn a_panic_continues_after_both_halves_are_done_and_the_first_one_wins() {
    for is_stolen in [false, true] {
        in_team_of(if is_stolen { 2 } else { 1 }, || {
            for (first, second, expected) in
                [(true, false, "first"), (false, true, "second"), (true, true, "first")]
            {
                assert_eq!(planted(first, second, is_stolen), (expected.to_owned(), 2));
            }
            assert_eq!(fib(10), 55, "the deque is in order after panics");
        });
    }
}

/// Its drop panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in drop");
        }
    }
}

#[test]
fn panics_in_drops_of_results_and_payloads_are_contained() {
    for threads in [1, 2] {
        in_team_of(threads, || {
            let begun = AtomicBool::new(false);
            let steals = || threads == 1 || comes(&begun);
            let begins = || begun.store(true, Ordering::Release);
            // The result of one half is dropped because the other one panics.
            let second = || {
                begins();
                Bomb
            };
            assert_eq!(panic_of(|| _ = join(|| assert!(!steals(), "first"), second)), "first");
            let second = || {
                begins();
                panic!("second")
            };
            if threads == 2 {
                let first = || {
                    assert!(steals());
                    Bomb
                };
                assert_eq!(panic_of(|| _ = join::<_, _, _, ()>(first, second)), "second");
            }
            // The second panic's payload is dropped.
            let second = || -> () {
                begins();
                panic_any(Bomb)
            };
            assert_eq!(panic_of(|| _ = join(|| assert!(!steals(), "first"), second)), "first");
            // What a half has captured is dropped when it returns.
            let bomb = Bomb;
            let second = move || {
                let _bomb = bomb;
            };
            assert_eq!(panic_of(|| _ = join(|| (), second)), "in drop");
            assert_eq!(fib(10), 55);
        });
    }
}

#[test]
fn a_drop_may_join_while_its_thread_panics() {
    struct Joins(Arc<AtomicUsize>);
    impl Drop for Joins {
        fn drop(&mut self) {
            self.0.store(fib(12) as usize, Ordering::Relaxed);
        }
    }
    let result = Arc::new(AtomicUsize::new(0));
    let shared = result.clone();
    let first = move || {
        let _joins = Joins(shared);
        panic!("planted")
    };
    assert_eq!(panic_of(|| _ = join::<_, _, (), _>(first, || fib(5))), "planted");
    assert_eq!(result.load(Ordering::Relaxed), 144);
}

#[test]
fn joins_nest_deeply_on_either_side() {
    fn left(depth: usize) -> usize {
        if depth == 0 { 0 } else { join(|| left(depth - 1), || 1).0 + 1 }
    }
    fn right(depth: usize) -> usize {
        if depth == 0 { 0 } else { join(|| 1, || right(depth - 1)).1 + 1 }
    }
    let deep = || {
        for threads in [1, 2] {
            assert_eq!(in_team_of(threads, || (left(1500), right(1500))), (1500, 1500));
        }
        assert_eq!((left(5000), right(5000)), (5000, 5000));
    };
    std::thread::Builder::new().stack_size(256 << 20).spawn(deep).unwrap().join().unwrap();
}

#[test]
fn joins_and_loops_nest_in_each_other() {
    for threads in [1, 2, 5] {
        in_team_of(threads, || {
            let calls = counts(16 * 16 * 16);
            tree(4, &|| {});
            par_for(0..16, |a| {
                let row = |b: usize| {
                    par_for(0..16, |c| _ = calls[(a * 16 + b) * 16 + c].fetch_add(1, Ordering::Relaxed))
                };
                fn halves(range: std::ops::Range<usize>, leaf: &(dyn Fn(usize) + Sync)) {
                    match range.len() {
                        0 | 1 => range.for_each(leaf),
                        length => {
                            let middle = range.start + length / 2;
                            join(|| halves(range.start..middle, leaf), || halves(middle..range.end, leaf));
                        }
                    }
                }
                halves(0..16, &row);
            });
            assert!(each_is(&calls, 1), "{threads}");
        });
    }
}

#[test]
fn firings_use_the_workers_of_their_run() {
    let graph = Graph::new();
    let sums = graph.source(0..200u64).par_map(|number| {
        let check = || {
            let name = std::thread::current().name().map(str::to_owned);
            assert_ne!(name.as_deref(), Some("thalweg team"), "a thread of the process's team");
        };
        tree(3, &check);
        fib(number % 12)
    });
    let sums = sums.collect();
    let sums = graph.run_with(&Options::new().threads(5)).unwrap().take(sums).unwrap();
    assert!(
        sums.into_iter().eq((0..200).map(|number| [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89][number % 12]))
    );
}

#[test]
fn a_coroutine_uses_no_channel_inside_a_join() {
    for error in [
        error_of_using(|used| _ = join(used, || ())),
        // On the calling thread alone the ends are usable, and there the first half is executed.
        error_of_using(|used| _ = join(|| join(used, || ()), || fib(5))),
        error_of_using(|used| _ = join(|| crate::par_for(0..1, |_| used()), || fib(5))),
        error_of_using(|used| _ = join(|| crate::Loop::new().members(1).for_each(0..3, |_| used()), || ())),
    ] {
        assert!(error.starts_with(INSIDE), "{error}");
    }
}

#[test]
fn a_coroutine_may_join_between_its_waits() {
    for threads in [1, 2, 5] {
        let graph = Graph::new();
        let numbers = graph.source(0..50u64).capacity(2);
        let kernel = graph.kernel("joins", crate::input("in", numbers), crate::output("out"));
        let out = kernel.coroutine(|mut rx: crate::BlockingRx<u64>, mut tx: crate::BlockingTx<u64>| {
            while let Some(number) = rx.recv() {
                let (a, b) = join(|| fib(number % 10), || fib(number % 11));
                tx.send(a + b);
            }
        });
        let sums = out.collect();
        let sums = graph.run_with(&Options::new().threads(threads)).unwrap().take(sums).unwrap();
        assert!(sums.into_iter().eq((0..50).map(|number| fib(number % 10) + fib(number % 11))));
    }
}

#[test]
fn a_run_in_a_half_has_workers_of_its_own() {
    let run = |threads: usize| in_team_of(threads, || (team_size(), fib(10)));
    for outer in [1, 2, 5] {
        let results =
            in_team_of(outer, || join(|| join(|| run(1), || run(2)), || join(|| run(3), || fib(10))));
        assert_eq!(results, (((1, 55), (2, 55)), ((3, 55), 55)));
    }
}

#[test]
fn callers_on_many_threads_do_not_disturb_each_other() {
    // More sessions than a team has places for: some have no helpers.
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(fib(14), 377)));
        }
    });
}

#[test]
fn a_member_that_sleeps_wakes_for_what_is_offered_later() {
    let begun = AtomicBool::new(false);
    let (own, second) = in_team_of(2, || {
        let own = std::thread::current().id();
        let second = || {
            begun.store(true, Ordering::Release);
            std::thread::sleep(Duration::from_millis(5)); // The owner sleeps.
            let other = AtomicBool::new(false);
            join(|| comes(&other), || other.store(true, Ordering::Release)).0
        };
        let (first, second) = join(|| comes(&begun), second);
        assert!(first);
        (own, second)
    });
    assert!(second, "{own:?} executes the half of its thief");
}

#[test]
fn a_helper_returns_to_its_run_between_halves() {
    let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
    let (graph, flags) = (Graph::new(), shared.clone());
    graph.source(0..1u8).for_each(move |_| {
        let own = std::thread::current().id();
        let leaf = || {
            flags.0.fetch_or(std::thread::current().id() != own, Ordering::Release);
            std::thread::sleep(Duration::from_millis(1));
        };
        // Many short halves in one session.
        join(|| (0..400).for_each(|_| _ = join(leaf, leaf)), || ());
        flags.1.store(true, Ordering::Release);
    });
    let mut items = graph.source(0..100u8).capacity(2).start_with(&Options::new().threads(2)).unwrap();
    assert!(comes(&shared.0), "the second worker joins");
    assert_eq!(items.by_ref().take(10).count(), 10);
    assert!(!shared.1.load(Ordering::Acquire), "the source waited for the joins");
    assert_eq!(items.by_ref().count(), 90);
    items.finish().unwrap();
}

#[test]
fn panics_of_any_half_at_any_time_leave_no_half_behind() {
    for planted in 0..200 {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let leaf = || {
            let at = begun.fetch_add(1, Ordering::Relaxed);
            ended.fetch_add(1, Ordering::Relaxed);
            if at == planted {
                resume_unwind(Box::new("planted"));
            }
        };
        let result = in_team_of(5, || catch_unwind(AssertUnwindSafe(|| tree(8, &leaf))).is_err());
        assert!(result, "{planted}");
        // Each leaf is executed, since each half is.
        assert_eq!((begun.into_inner(), ended.into_inner()), (256, 256));
    }
}
