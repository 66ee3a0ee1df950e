//! Operators with several results for an item, whose iterators are endless or long: they are bounded, and end when their
//! results are not wanted.

use crate::support::watchdog::watch;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use thalweg::prelude::*;

/// The operators, each with the iterators that `results` makes for the items.
fn operators<I>(items: u64, results: fn(u64) -> I) -> Vec<(&'static str, Stream<'static, u64>)>
where
    I: Iterator<Item = u64> + Send + 'static,
{
    let source = || thalweg::from_iter(0..items);
    vec![
        ("flat_map", source().flat_map(results)),
        ("blocking", source().flat_map(results).blocking()),
        ("par_flat_map", source().par_flat_map(results)),
        ("one worker", source().par_flat_map(results).workers(1)),
        ("unordered", source().par_flat_map(results).unordered()),
        ("weighed", source().par_flat_map(results).weigh(|_| 100)),
        ("in flight", source().in_flight(3, |items| items.par_flat_map(results))),
    ]
}

fn for_each_run<I>(items: u64, results: fn(u64) -> I, check: impl Fn(&str, Stream<'static, u64>, Options))
where
    I: Iterator<Item = u64> + Send + 'static,
{
    for threads in [1, 2, 3] {
        for policy in ["auto", "qes", "random", "ws-cur", "partition"] {
            for (name, stream) in operators(items, results) {
                let name = format!("{name}, {policy}, {threads} threads");
                let options = Options::new().threads(threads).policy(policy).budget(1 << 20);
                watch(name.clone(), || check(&name, stream, options));
            }
        }
    }
}

#[test]
fn a_consumer_that_leaves_ends_endless_iterators() {
    for_each_run(
        8,
        |n| (0..).map(move |k| n * 1000 + k),
        |name, results, options| {
            let taken = results.take(500).collect().run_with(&options).unwrap().into_value();
            if !name.starts_with("unordered") {
                assert_eq!(taken, (0..500).collect::<Vec<_>>(), "{name}");
            }
        },
    );
}

#[test]
fn a_deadline_ends_endless_iterators() {
    for_each_run(
        8,
        |n| n..,
        |name, results, options| {
            let run = results
                .for_each(|_| ())
                .run_with(&options.deadline(Duration::from_millis(20)))
                .map_err(thalweg::Error::from);
            assert!(matches!(run, Err(thalweg::Error::Deadline(_))), "{name}: {run:?}");
        },
    );
}

#[test]
fn a_cancel_ends_endless_iterators() {
    for (name, results) in operators(8, |n| n..) {
        watch(name, || {
            let outlet = results.start_with(&Options::new().threads(2)).unwrap();
            std::thread::sleep(Duration::from_millis(5));
            outlet.handle().cancel();
            assert!(matches!(outlet.finish().map_err(thalweg::Error::from), Err(thalweg::Error::Cancelled)));
        });
    }
}

/// The results of iterators that are fast, and then slow: pieces of many results have begun when a result takes long.
fn fast_then_slow(first: u64, slow: &'static AtomicUsize) -> impl Iterator<Item = u64> + Send + 'static {
    (first..).inspect(move |n| {
        if n - first >= 300_000 {
            slow.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
        }
    })
}

#[test]
fn a_consumer_that_leaves_ends_iterators_at_their_next_result() {
    static SLOW: AtomicUsize = AtomicUsize::new(0);
    for threads in [1, 2, 3] {
        for (name, results) in operators(3, |n| fast_then_slow(n, &SLOW)) {
            let before = Arc::new(AtomicUsize::new(0));
            let at_last = before.clone();
            let taken = results
                .take(300_010)
                .for_each(move |_| at_last.store(SLOW.load(Ordering::Relaxed), Ordering::Relaxed));
            watch(name, || taken.run_with(&Options::new().threads(threads)).unwrap());
            // Each of three iterators has one result under way, and may see late that the consumer has left.
            let asked = SLOW.load(Ordering::Relaxed) - before.load(Ordering::Relaxed);
            assert!(asked < 100, "{name}, {threads} threads: {asked} more results");
        }
    }
}

#[test]
fn a_deadline_ends_iterators_that_have_become_slow() {
    static SLOW: AtomicUsize = AtomicUsize::new(0);
    for threads in [1, 2, 3] {
        for (name, results) in operators(3, |n| fast_then_slow(n, &SLOW)) {
            SLOW.store(0, Ordering::Relaxed);
            let options = Options::new().threads(threads).deadline(Duration::from_millis(100));
            let run =
                watch(name, || results.for_each(|_| ()).run_with(&options)).map_err(thalweg::Error::from);
            assert!(matches!(run, Err(thalweg::Error::Deadline(_))), "{name}: {run:?}");
            // On each of three threads a hundred before the deadline, and 256 until a busy worker looks at the clock.
            let asked = SLOW.load(Ordering::Relaxed);
            assert!(asked < 1500, "{name}, {threads} threads: {asked} slow results");
        }
    }
}

#[test]
fn a_cancel_ends_iterators_that_have_become_slow() {
    static SLOW: AtomicUsize = AtomicUsize::new(0);
    for (name, results) in operators(3, |n| fast_then_slow(n, &SLOW)) {
        SLOW.store(0, Ordering::Relaxed);
        let before = watch(name, || {
            let outlet = results.start_with(&Options::new().threads(2)).unwrap();
            let handle = outlet.handle();
            // The outlet reads all results, so that none waits for room.
            let reader = std::thread::spawn(move || outlet.count());
            while SLOW.load(Ordering::Relaxed) < 3 {
                std::thread::yield_now();
            }
            handle.cancel();
            let before = SLOW.load(Ordering::Relaxed);
            reader.join().unwrap();
            before
        });
        let asked = SLOW.load(Ordering::Relaxed) - before;
        assert!(asked < 100, "{name}: {asked} more results");
    }
}

/// While the consumer waits, iterators are asked for a bounded number of results.
#[test]
fn endless_iterators_are_held_by_the_room_of_their_channel() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let endless = |_| std::iter::repeat_with(|| ASKED.fetch_add(1, Ordering::Relaxed) as u64);
    for_each_run(64, endless, |name, results, options| {
        ASKED.store(0, Ordering::Relaxed);
        let asked = Arc::new(AtomicUsize::new(0));
        let most = asked.clone();
        let sink = results.capacity(16).take(1).for_each(move |_| {
            // The other worker has time to fill whatever it may.
            std::thread::sleep(Duration::from_millis(3));
            most.store(ASKED.load(Ordering::Relaxed), Ordering::Relaxed);
        });
        sink.run_with(&options).unwrap();
        // By item of the window at most a channel of 16 results and a piece, which grows from one result. Inside of a
        // section the channel has the capacity that the plan chooses. Without a bound there would be a million in that time.
        let (asked, limit) = (asked.load(Ordering::Relaxed), 40_000);
        assert!(asked < limit, "{name}: {asked}");
    });
}

/// Counts its drop, and says after each item that it has no further one.
struct Liar(u64, Arc<AtomicUsize>);

impl Iterator for Liar {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 = self.0.checked_sub(1)?;
        Some(self.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(0))
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_wrong_hint_of_an_iterator_loses_no_result() {
    for capacity in [1, 1000] {
        let source = || thalweg::from_iter(0..3);
        let liar = |_| Liar(1000, Arc::default());
        for results in [source().flat_map(liar), source().par_flat_map(liar)] {
            let results = results
                .capacity(capacity)
                .collect()
                .run_with(&Options::new().threads(2))
                .unwrap()
                .into_value();
            assert_eq!(results.len(), 3000);
        }
    }
}

/// A run that goes on for long must not keep the files that an iterator has open.
#[test]
fn an_iterator_without_readers_is_dropped_before_the_run_ends() {
    for parallel in [false, true] {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (seen, made) = (dropped.clone(), dropped.clone());
        let graph = Graph::new();
        let endless = move |_| Liar(u64::MAX, made.clone());
        let source = graph.source(0..1);
        let results = if parallel { source.par_flat_map(endless) } else { source.flat_map(endless) };
        results.take(3).discard();
        // Another part of the graph, which waits for the drop.
        graph.source(0..1).for_each(move |_| {
            watch(format!("parallel: {parallel}"), || {
                while seen.load(Ordering::SeqCst) == 0 {
                    std::thread::sleep(Duration::from_micros(100));
                }
            });
        });
        graph.run_with(&Options::new().threads(2)).unwrap();
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    }
}
