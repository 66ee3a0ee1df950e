//! Jobs of callers outside of runs, and of firings.

use super::{call_members, parallel, parallel_while, team_size};
use crate::build::in_team::tests::{in_team_of, in_teams};
use crate::{Graph, Loop, Options, Schedule, par_for};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const ALL: [Schedule; 5] =
    [Schedule::Static, Schedule::Dynamic, Schedule::Guided, Schedule::Split, Schedule::Hybrid];

/// Counts the calls for each number below `count`.
pub(super) fn counts(count: usize) -> Vec<AtomicUsize> {
    (0..count).map(|_| AtomicUsize::new(0)).collect()
}

pub(super) fn each_is(counts: &[AtomicUsize], times: usize) -> bool {
    counts.iter().all(|count| count.load(Ordering::Relaxed) == times)
}

/// Waits for a flag that another thread sets; false after a time that only a failure takes.
pub(super) fn comes(flag: &AtomicBool) -> bool {
    becomes(|| flag.load(Ordering::Acquire))
}

/// Waits until a condition is true; false after a time that only a failure takes.
fn becomes(condition: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !condition() {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn every_schedule_calls_the_body_once_for_each_number() {
    in_teams(|| {
        for schedule in ALL {
            for (count, grain) in [(0, 1), (1, 1), (7, 3), (10_000, 1), (10_000, 64)] {
                let calls = counts(count);
                for round in 1..=3 {
                    let add = |at: usize| _ = calls[at].fetch_add(1, Ordering::Relaxed);
                    Loop::new().schedule(schedule).grain(grain).for_each(0..count, add);
                    assert!(each_is(&calls, round), "{schedule:?} {count} {grain}");
                }
            }
        }
    });
}

#[test]
fn another_thread_joins_a_job_outside_of_a_run() {
    // With one core the pool has no thread, and the caller does all.
    let others_join = team_size() > 1;
    let (other, own) = (AtomicBool::new(false), std::thread::current().id());
    parallel(2, &|member| {
        assert!(member < team_size());
        match std::thread::current().id() == own {
            true => assert!(!others_join || comes(&other), "the pool has a thread for the job"),
            false => other.store(true, Ordering::Release),
        }
    });
    assert_eq!(other.into_inner(), others_join);
}

/// Each member of a pinned team runs on the CPU of its place.
#[test]
#[cfg(target_os = "linux")]
fn a_team_is_pinned_at_its_places() {
    let here = thalweg_machine::Machine::here();
    for threads in 1..=here.threads() {
        let places = here.places(threads);
        let is_at_its_place = |member: usize| {
            assert_eq!(rustix::thread::sched_getcpu(), places.cpus()[member] as usize, "member {member}");
        };
        let domains = crate::in_team(&Options::new().pinned_at(&places), || {
            let begun = AtomicUsize::new(0);
            parallel(threads, &|member| {
                is_at_its_place(member);
                begun.fetch_add(1, Ordering::Relaxed);
                assert!(becomes(|| begun.load(Ordering::Relaxed) >= threads), "all members join");
            });
            super::team_domains()
        });
        assert_eq!(domains.unwrap().as_deref(), Some(places.domains()));
    }
}

#[test]
fn members_leave_a_job_and_are_called_again() {
    in_team_of(2, an_item_goes_to_and_fro);
    if team_size() > 1 {
        an_item_goes_to_and_fro();
    }
}

fn an_item_goes_to_and_fro() {
    // Between the caller and another thread, each of which leaves in between.
    let (turn, own) = (AtomicUsize::new(0), std::thread::current().id());
    let calls = counts(2);
    let mine = || usize::from(std::thread::current().id() != own);
    let part = |_| {
        let mine = mine();
        calls[mine].fetch_add(1, Ordering::Relaxed);
        let at = turn.load(Ordering::Acquire);
        if at < 20 && at % 2 == mine {
            if at % 4 == 0 {
                std::thread::sleep(Duration::from_millis(1)); // The other thread sleeps.
            }
            turn.store(at + 1, Ordering::Release);
            call_members();
            let begun = Instant::now();
            // The caller alone must not leave: the job would be over.
            while turn.load(Ordering::Acquire) == at + 1 && at < 19 {
                assert!(begun.elapsed() < Duration::from_secs(20), "the other thread comes");
                std::thread::yield_now();
            }
        }
    };
    let more = || turn.load(Ordering::Acquire) < 20 && turn.load(Ordering::Acquire) % 2 == mine();
    parallel_while(2, &part, &more);
    assert_eq!(turn.into_inner(), 20);
    assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) >= 10));
}

#[test]
fn a_call_without_a_job_has_no_effect() {
    call_members();
    parallel_while(1, &|_| call_members(), &|| false);
}

#[test]
fn callers_on_several_threads_do_not_disturb_each_other() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let calls = counts(500);
                    par_for(0..500, |at| _ = calls[at].fetch_add(1, Ordering::Relaxed));
                    assert!(each_is(&calls, 1));
                }
            });
        }
    });
}

#[test]
fn loops_nest() {
    in_teams(|| {
        let calls = counts(8 * 8 * 8);
        let call = |at: usize| _ = calls[at].fetch_add(1, Ordering::Relaxed);
        par_for(0..8, |a| par_for(0..8, |b| par_for(0..8, |c| call((a * 8 + b) * 8 + c))));
        assert!(each_is(&calls, 1));
    });
}

#[test]
fn a_panic_continues_on_the_caller_after_all_calls_are_done() {
    in_teams(panics_continue);
}

fn panics_continue() {
    for schedule in ALL {
        for planted in [0, 499, 999] {
            let inside = AtomicUsize::new(0);
            let body = |at: usize| {
                inside.fetch_add(1, Ordering::Relaxed);
                let panics = at == planted;
                inside.fetch_sub(1, Ordering::Relaxed);
                assert!(!panics, "planted");
            };
            let run = || Loop::new().schedule(schedule).for_each(0..1000, body);
            let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
            assert!(crate::panic_message(&*payload).contains("planted"));
            assert_eq!(inside.load(Ordering::Relaxed), 0);
        }
    }
    par_for(0..10, |_| ());
}

#[test]
fn a_firing_uses_the_workers_of_its_run_and_no_other_thread() {
    let options = Options::new().threads(3);
    let graph = Graph::new();
    let sums = graph.source(0..20usize).par_map(|number| {
        assert_eq!(team_size(), 3);
        let calls = counts(200);
        par_for(0..200, |at| {
            let name = std::thread::current().name().map(str::to_owned);
            assert_ne!(name.as_deref(), Some("thalweg team"), "a thread of the process's team");
            calls[at].fetch_add(1, Ordering::Relaxed);
        });
        assert!(each_is(&calls, 1));
        Loop::new().reduce(0..number + 1, 0, |range, sum| range.sum::<usize>() + sum, |a, b| a + b)
    });
    let sums = sums.collect();
    let sums = graph.run_with(&options).unwrap().take(sums).unwrap();
    assert!(sums.into_iter().eq((0..20).map(|number| number * (number + 1) / 2)));
}

#[test]
fn a_worker_without_a_node_joins_the_job_of_a_firing() {
    let (other, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let graph = Graph::new();
    let one = graph.source(0..1u8).map(|_| {
        let own = std::thread::current().id();
        parallel(2, &|_| match std::thread::current().id() == own {
            true => done.store(comes(&other), Ordering::Relaxed),
            false => other.store(true, Ordering::Release),
        });
    });
    one.for_each(|()| ());
    graph.run_with(&Options::new().threads(2)).unwrap();
    assert!(done.into_inner(), "the second worker joins, though it slept");
}

#[test]
fn a_helper_returns_to_its_run_while_a_node_has_work() {
    for schedule in ALL {
        let helped = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
        let (graph, shared) = (Graph::new(), helped.clone());
        graph.source(0..1u8).for_each(move |_| {
            let own = std::thread::current().id();
            Loop::new().schedule(schedule).grain(1).for_each(0..600, |_| {
                std::thread::sleep(Duration::from_millis(1));
                shared.0.fetch_or(std::thread::current().id() != own, Ordering::Release);
                shared.1.fetch_add(1, Ordering::Relaxed);
            });
        });
        // Each item that is taken makes room, so the source can fire again. It needs a worker.
        let mut items = graph.source(0..100u8).capacity(2).start_with(&Options::new().threads(2)).unwrap();
        assert!(comes(&helped.0), "the second worker joins");
        assert_eq!(items.by_ref().take(20).count(), 20);
        let done = helped.1.load(Ordering::Relaxed);
        assert!(done < 500, "{schedule:?}: the source waited for the loop, {done} of 600");
        assert_eq!(items.by_ref().count(), 80);
        items.finish().unwrap();
    }
}

#[test]
fn a_run_with_one_worker_executes_its_loops_on_that_worker() {
    let graph = Graph::new();
    graph.source(0..3u8).for_each(|_| {
        let own = std::thread::current().id();
        par_for(0..100, |_| assert_eq!(std::thread::current().id(), own));
    });
    graph.run_with(&Options::new().threads(1)).unwrap();
}

#[test]
fn a_panic_of_a_loop_in_a_firing_fails_the_run() {
    let graph = Graph::new();
    graph.source(0..3u8).for_each(|_| par_for(0..100, |at| assert!(at != 50, "planted")));
    let error = graph.run_with(&Options::new().threads(2)).unwrap_err();
    assert!(error.to_string().contains("planted"), "{error}");
}

#[test]
fn a_run_in_a_loop_has_workers_of_its_own() {
    let run = |number: usize| {
        let graph = Graph::new();
        let sum = graph.source(0..number).map(|item| item + team_size()).collect();
        graph.run_with(&Options::new().threads(1)).unwrap().take(sum).unwrap().into_iter().sum::<usize>()
    };
    let sums = Loop::new().collect(20, run);
    assert!(sums.into_iter().eq((0..20).map(|number| number * (number + 1) / 2)));
}

#[test]
fn reductions_are_equal_at_any_number_of_members_and_with_any_schedule() {
    let term = |at: usize| (at as f64).sin() / (at + 1) as f64;
    let sum = |schedule, grain: Option<usize>| {
        let settings = Loop::new().schedule(schedule);
        let settings = grain.map_or(settings, |grain| settings.grain(grain));
        let fold = |range: std::ops::Range<usize>, sum: f64| range.fold(sum, |sum, at| sum + term(at));
        settings.reduce(3..50_000, 0.0, fold, |a, b| a + b).to_bits()
    };
    for grain in [None, Some(1000)] {
        let one = in_team_of(1, || sum(Schedule::Hybrid, grain));
        in_teams(|| ALL.into_iter().for_each(|schedule| assert_eq!(sum(schedule, grain), one)));
    }
    assert_eq!(Loop::new().reduce(5..5, 7, |_, _| 0, |_, _| 0), 7, "the identity, of no numbers");
}

#[test]
fn chunks_and_blocks_cover_their_data() {
    in_teams(cover_their_data);
}

fn cover_their_data() {
    let mut items = vec![0u32; 1003];
    Loop::new().for_chunks(&mut items, 10, |chunk, items| items.fill(chunk as u32));
    assert!(items.iter().enumerate().all(|(at, chunk)| *chunk == at as u32 / 10));
    let cells = counts(17 * 23);
    Loop::new().for_blocks((17, 23), (4, 5), |rows, columns| {
        for row in rows {
            columns.clone().for_each(|column| _ = cells[row * 23 + column].fetch_add(1, Ordering::Relaxed));
        }
    });
    assert!(each_is(&cells, 1));
    Loop::new().for_blocks((0, 5), (1, 1), |_, _| unreachable!());
    assert_eq!(Loop::new().collect(3, |at| at.to_string()), ["0", "1", "2"]);
}

#[test]
fn more_jobs_than_slots_end_too() {
    fn nest(depth: usize, ends: &AtomicUsize) {
        match depth {
            0 => _ = ends.fetch_add(1, Ordering::Relaxed),
            _ => par_for(0..2, |_| nest(depth - 1, ends)),
        }
    }
    let ends = AtomicUsize::new(0);
    // Deeper than the arena has slots. In a team of its own: while all slots of the process's team are taken, the jobs of
    // other tests are executed by their callers alone, and some of these wait for a helper.
    in_team_of(2, || nest(18, &ends));
    assert_eq!(ends.into_inner(), 1 << 18);
}

/// The error of a coroutine that calls `within` with a function that uses an end: the same whether the operation would have
/// to wait, whether it receives or sends, and at any number of threads.
pub(super) fn error_of_using(within: impl Fn(&(dyn Fn() + Sync)) + Send + Clone + 'static) -> String {
    let error = |case| error_of_using_in(case, within.clone());
    let cases = [1, 2]
        .into_iter()
        .flat_map(|threads| [0, 1, 200].map(|items| [(threads, items, false), (threads, items, true)]));
    let mut errors: Vec<String> = cases.flatten().map(error).collect();
    errors.dedup();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

type Ends = (crate::BlockingRx<u32>, crate::BlockingTx<u32>);

fn error_of_using_in(
    (threads, items, sends): (usize, u32, bool),
    within: impl Fn(&(dyn Fn() + Sync)) + Send + 'static,
) -> String {
    use std::cell::RefCell;
    thread_local!(static HIDDEN: RefCell<Option<Ends>> = const { RefCell::new(None) });
    let succeeded = std::sync::Arc::new(AtomicUsize::new(0));
    /// Takes the ends from this thread, also when the coroutine panics: a later case would use them there.
    struct Taken;
    impl Drop for Taken {
        fn drop(&mut self) {
            HIDDEN.take();
        }
    }
    let graph = Graph::new();
    let (back, last) = graph.feedback(0..items);
    let kernel = graph.kernel("waits", crate::input("in", last.capacity(200)), crate::output("out"));
    let out = kernel.coroutine(move |rx: crate::BlockingRx<u32>, tx: crate::BlockingTx<u32>| {
        HIDDEN.set(Some((rx, tx)));
        let _taken = Taken;
        let used = || {
            let count = HIDDEN.with_borrow_mut(|ends| match ends {
                Some((_, tx)) if sends => (tx.send(1), 1).1,
                Some((rx, _)) => (rx.recv(), 1).1,
                None => 0,
            });
            succeeded.fetch_add(count, Ordering::Relaxed);
        };
        // On this thread the ends are usable. Other threads may be faster, so it takes part in one of several calls.
        while succeeded.load(Ordering::Relaxed) == 0 {
            within(&used);
        }
    });
    out.feed(back);
    graph.run_with(&Options::new().threads(threads)).expect_err("a refused operation").to_string()
}

/// The panic message of a coroutine that receives or sends inside of such a frame.
pub(super) const INSIDE: &str =
    "node `waits` panicked: an operation of a channel began inside of a parallel loop, `join`";

#[test]
fn a_coroutine_uses_no_channel_inside_a_job() {
    for error in [
        error_of_using(|used| par_for(0..64, |_| used())),
        error_of_using(|used| par_for(0..1, |_| used())),
        error_of_using(|used| Loop::new().members(1).for_each(0..64, |_| used())),
        error_of_using(|used| {
            _ = Loop::new().try_for_each(0..64, |_| {
                used();
                Ok::<(), ()>(())
            })
        }),
        error_of_using(|used| Loop::new().grain(8).reduce(0..64, (), |_, ()| used(), |(), ()| ())),
        error_of_using(|used| parallel(usize::MAX, &|_| used())),
        error_of_using(|used| par_for(0..2, |_| par_for(0..2, |_| used()))),
        error_of_using(|used| crate::in_team(&Options::new().threads(1), used).unwrap()),
    ] {
        assert!(error.contains("an operation of a channel began inside of a parallel loop"), "{error}");
        assert!(error.contains("node `"), "{error}");
    }
    assert!(error_of_using(|used| par_for(0..64, |_| used())).starts_with(INSIDE));
}

/// Before and after a job they are used as ever.
#[test]
fn a_coroutine_uses_channels_around_a_job() {
    let graph = Graph::new();
    let sums = graph.coroutine("sums", graph.source(0..50usize), crate::output("out"), |rx, mut tx| {
        for n in rx {
            let ends = AtomicUsize::new(0);
            par_for(0..n, |_| _ = ends.fetch_add(1, Ordering::Relaxed));
            tx.send(crate::join(|| ends.load(Ordering::Relaxed), || ()).0);
        }
    });
    let sums = sums.collect().run_with(&Options::new().threads(2)).unwrap().into_value();
    assert_eq!(sums, (0..50).collect::<Vec<_>>());
}

#[test]
fn a_coroutine_does_not_wait_inside_another_run() {
    let inner = |wait: &(dyn Fn() + Sync)| {
        let graph = Graph::new();
        graph.source(0..1u8).for_each(|_| wait());
        graph.run_with(&Options::new().threads(1)).unwrap();
    };
    let error = error_of_using(move |used| par_for(0..64, |_| inner(used)));
    assert!(error.contains("an operation of a channel began inside of a parallel loop"), "{error}");
    assert_eq!(super::members::place(|own| own.within), 0);
}
