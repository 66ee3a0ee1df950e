//! Runs that last microseconds, one after the other, at once and nested: all take their threads from one pool, and
//! most end before a requested thread has started.

use crate::support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use support::watchdog::watch;
use thalweg::{Options, ParallelExt, from_iter};

fn options(threads: usize) -> Options {
    Options::new().threads(threads)
}

/// The sum of the numbers below `items`, by a run that borrows from this function.
fn sum(items: u64, options: &Options) -> u64 {
    let mut sum = 0;
    from_iter(0..items).par_map(|i| i + 1).for_each(|i| sum += i - 1).run_with(options).unwrap();
    sum
}

#[test]
fn thousands_of_runs_in_a_row() {
    watch("in a row", || {
        for round in 0..3000u64 {
            let (items, threads) = (round % 40, 1 + round as usize % 5);
            assert_eq!(sum(items, &options(threads)), items * items.saturating_sub(1) / 2);
        }
    });
}

#[test]
fn every_policy_completes_small_runs() {
    watch("policies", || {
        for policy in thalweg::embed::policy::registry::names() {
            for round in 0..100 {
                assert_eq!(sum(round, &options(4).policy(policy)), round * round.saturating_sub(1) / 2);
            }
        }
    });
}

#[test]
fn adaptors_in_a_row_some_dropped_early() {
    watch("adaptors", || {
        for round in 0..1500u64 {
            let (items, threads) = (round % 30, 1 + round as usize % 4);
            let mapped = (0..items).par_map(|i| i * 3).options(options(threads));
            assert!(mapped.eq((0..items).map(|i| i * 3)));
            let mut endless = (0u64..).par_map(|i| i * 3).options(options(threads));
            let taken = endless.by_ref().take(items as usize);
            assert!(taken.eq((0..items).map(|i| i * 3)));
        }
    });
}

#[test]
fn many_callers_at_once() {
    watch("at once", || {
        std::thread::scope(|scope| {
            for caller in 0..8u64 {
                scope.spawn(move || {
                    for round in 0..200 {
                        let items = caller + round % 20;
                        assert_eq!(sum(items, &options(3)), items * items.saturating_sub(1) / 2);
                    }
                });
            }
        });
    });
}

/// Runs nested in firings, so deep that they would exhaust a pool of fixed size.
#[test]
fn runs_can_be_nested() {
    fn nested(depth: u64) -> u64 {
        if depth == 0 {
            return 1;
        }
        let total = AtomicU64::new(0);
        let flow = from_iter(0..2u64).par_map(|_| nested(depth - 1));
        flow.for_each(|leaves| _ = total.fetch_add(leaves, Ordering::Relaxed)).run_with(&options(2)).unwrap();
        total.into_inner()
    }
    watch("nested", || assert_eq!(nested(8), 256));
}

/// A function that waits until another item is in progress: the second worker comes although the first, blocked in its
/// firing, requests no worker.
#[test]
fn a_second_worker_comes_while_the_first_is_in_a_firing() {
    watch("meeting", || {
        for _ in 0..50 {
            let barrier = std::sync::Barrier::new(2);
            let mut seen = 0;
            let flow = from_iter(0..2u64).par_map(|_| _ = barrier.wait()).for_each(|()| seen += 1);
            flow.run_with(&options(2)).unwrap();
            assert_eq!(seen, 2);
        }
    });
}

/// The deadline ends the run although the only worker needed so far is in a firing.
#[test]
fn a_deadline_passes_during_a_long_firing() {
    watch("deadline", || {
        let flow = from_iter(0..1u64).map(|_| std::thread::sleep(Duration::from_millis(300)));
        let error = flow
            .for_each(|()| ())
            .run_with(&options(2).deadline(Duration::from_millis(20)))
            .unwrap_err()
            .into_error();
        assert!(matches!(error, thalweg::Error::Deadline(_)), "{error}");
    });
}

#[test]
fn a_worker_that_never_started_counts_as_idle() {
    let report =
        from_iter(0..1u64).par_map(|i| i).for_each(|_| ()).run_with(&options(8)).unwrap().into_report();
    assert_eq!(report.workers().len(), 8);
    let of = |worker: &thalweg::trace::WorkerReport| {
        worker.application() + worker.queue() + worker.scheduler() + worker.idle() + worker.preempted()
    };
    // One item does not need the last of eight workers.
    let (last, wall) = (&report.workers()[7], report.wall());
    assert_eq!((last.activations(), last.application()), (0, Duration::ZERO));
    assert_eq!(last.idle(), of(last));
    assert!(last.idle() <= wall + wall / 10 && last.idle() >= wall / 4, "{:?} of {wall:?}", last.idle());
}

/// A pool thread keeps no pinning of an earlier run: it may use the cores of the caller.
#[test]
#[cfg(target_os = "linux")]
fn pinning_ends_with_the_run() {
    fn cores() -> String {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap_or_default().to_owned()
    }
    let all = cores();
    for _ in 0..50 {
        sum(200, &options(2).pinned());
        let flow = from_iter(0..64u64).par_map(|_| {
            std::thread::sleep(Duration::from_micros(50));
            cores()
        });
        flow.for_each(|cores| assert_eq!(cores, all)).run_with(&options(2)).unwrap();
        assert_eq!(cores(), all);
    }
}
