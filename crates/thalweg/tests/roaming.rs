//! Blocking sources that workers fire: those of items that own memory, under `auto`.
//!
//! Whatever a source waits for must come about, on any number of threads: an item must not wait for the next one, nor the
//! source for a worker. Otherwise these runs would not end.

use crate::support::watchdog::watch;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;
use thalweg::embed::policy::{Partition, Qes, RandomStealing};
use thalweg::policy::Policy;
use thalweg::prelude::*;
use thalweg::{Error, Report};

const THREADS: [usize; 3] = [1, 2, 4];

/// A number that firings raise, and others wait for.
#[derive(Clone, Default)]
struct Reached(Arc<AtomicU64>);

impl Reached {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn wait_for(&self, number: u64) {
        while self.0.load(Ordering::SeqCst) < number {
            sleep(Duration::from_micros(200));
        }
    }
}

fn options(threads: usize) -> Options {
    Options::new().threads(threads)
}

/// A source of text that waits at each item for which `waits` is true, until the sink has received all items before it.
fn source(
    items: u64,
    received: &Reached,
    waits: impl Fn(u64) -> bool + Send + 'static,
) -> Stream<'static, String> {
    let received = received.clone();
    let item = move |number: u64| {
        if waits(number) {
            received.wait_for(number);
        }
        number.to_string()
    };
    thalweg::from_iter((0..items).map(item)).blocking()
}

fn count(items: Stream<'static, String>, received: &Reached, options: &Options) -> Report {
    let (received, mut next) = (received.clone(), 0u64);
    let sink = items.for_each(move |item| {
        assert_eq!(item, next.to_string());
        next += 1;
        received.add();
    });
    sink.run_with(options).unwrap().into_report()
}

#[test]
fn an_item_does_not_wait_for_the_next_one() {
    let places: [&[u64]; 6] = [&[1], &[3, 4, 5], &[300], &[900, 901], &[2901], &[0, 10, 20, 700, 1400, 2900]];
    for threads in THREADS {
        for places in places {
            for stage in 0..4 {
                let received = Reached::default();
                watch(format!("{threads} threads, stage {stage}, waits at {places:?}"), || {
                    let text = source(3000, &received, move |number| places.contains(&number));
                    let text = match stage {
                        0 => text.map(|text| text),
                        1 => text.par_map(|text| text),
                        2 => text.flat_map(Some).map(|text| text),
                        _ => text.par_flat_map(Some).weigh(|text: &String| text.len()),
                    };
                    count(text, &received, &options(threads))
                });
            }
        }
    }
}

#[test]
fn sources_wait_for_each_other() {
    for threads in THREADS {
        watch(format!("{threads} threads"), || {
            let (here, there) = (Reached::default(), Reached::default());
            let graph = Graph::new();
            for (mine, other) in [(&here, &there), (&there, &here)] {
                let (mine, other) = (mine.clone(), other.clone());
                let item = move |number: u64| (other.wait_for(number), number.to_string()).1;
                let text = graph.source((0..40).map(item)).blocking();
                text.map(|text| text).for_each(move |_| mine.add());
            }
            graph.run_with(&options(threads)).unwrap();
        });
    }
}

/// Each of the plan's threads waits in a firing for an item that the source has not made, and the next worker would.
#[test]
fn a_source_is_fired_while_all_threads_wait_for_it() {
    for threads in THREADS {
        watch(format!("{threads} threads"), || {
            let made = Reached::default();
            let by_source = made.clone();
            let text = (0..1000u64).map(move |number| (by_source.add(), number.to_string()).1);
            let wait = move |text: String| {
                if text.parse::<usize>().unwrap() <= threads {
                    made.wait_for(4 * threads as u64);
                }
                text
            };
            // Claims of one firing, so that the first items are in as many firings.
            let text = thalweg::from_iter(text).blocking().par_map(wait);
            count(text, &Reached::default(), &options(threads).claim_length(1).capacity(64));
        });
    }
}

#[test]
fn a_run_has_a_worker_for_each_roaming_source() {
    let workers = |options: Options| {
        let text = source(10, &Reached::default(), |_| false).map(|text| text);
        count(text, &Reached::default(), &options).workers().len()
    };
    assert_eq!(THREADS.map(|threads| workers(options(threads))), [2, 3, 5]);
    // The caller chooses the threads, or the policy does not carry items on: then the source has a thread of its own.
    assert_eq!(workers(options(2).policy("qes")), 2);
    assert_eq!(workers(options(2).repeatable()), 2);
    assert_eq!(workers(options(2).thread_per_node()), 2);
    assert_eq!(workers(options(2).plan_with(|_, plan| Ok(plan))), 2);
    let numbers = thalweg::from_iter(0..10u64).blocking().map(|number| number);
    assert_eq!(numbers.for_each(drop).run_with(&options(2)).unwrap().into_report().workers().len(), 2);
}

#[test]
fn a_roaming_source_ends_as_any_other() {
    for threads in THREADS {
        watch(format!("{threads} threads"), || {
            let endless = || thalweg::from_iter((0u64..).map(|number| number.to_string())).blocking();
            let first = endless()
                .map(|text| text)
                .take(5)
                .collect()
                .run_with(&options(threads))
                .unwrap()
                .into_value();
            assert_eq!(first, ["0", "1", "2", "3", "4"]);

            let late =
                thalweg::from_iter((0u64..).map(|_| (sleep(Duration::from_millis(5)), "late".to_owned()).1));
            let late = late.blocking().map(|text| text).for_each(drop);
            let error = late
                .run_with(&options(threads).deadline(Duration::from_millis(30)))
                .unwrap_err()
                .into_error();
            assert!(matches!(error, Error::Deadline(_)), "{error}");

            let fails =
                (0u64..).map(|number| if number == 700 { Err("damaged") } else { Ok(number.to_string()) });
            let fails = thalweg::from_try_iter(fails).named("read").blocking().map(|text: String| text);
            let error = fails.for_each(drop).run_with(&options(threads)).unwrap_err().to_string();
            assert!(error.contains("read") && error.contains("damaged"), "{error}");
        });
    }
}

/// The firings of other nodes wait for the source while it has no room; then a sink of its own, which needs no worker, makes
/// room.
#[test]
fn a_source_that_had_no_room_is_fired() {
    for threads in THREADS {
        watch(format!("{threads} threads"), || {
            let (made, graph) = (Reached::default(), Graph::new());
            let by_source = made.clone();
            let text = (0..200u64).map(move |number| (by_source.add(), number.to_string()).1);
            let slow = |_| sleep(Duration::from_micros(500));
            graph.source(text).blocking().for_each(slow).blocking();
            for _ in 0..=threads {
                let made = made.clone();
                graph.source((0..4).map(|n| 40 + 45 * n)).for_each(move |number| made.wait_for(number));
            }
            graph.run_with(&options(threads).capacity(8)).unwrap();
        });
    }
}

/// The source waits again and again, and then another worker is awake in the place of the one that fires it.
#[test]
fn at_most_the_threads_of_the_options_fire_other_nodes() {
    for threads in [1, 2] {
        let (now, most) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let highest = most.clone();
        let text = (0..300u64).map(|number| {
            if number % 20 == 0 {
                sleep(Duration::from_millis(3));
            }
            number.to_string()
        });
        let fire = move |text: String| {
            highest.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_micros(300));
            now.fetch_sub(1, Ordering::SeqCst);
            text
        };
        let text = thalweg::from_iter(text).blocking().par_map(fire);
        count(text, &Reached::default(), &options(threads));
        assert!(most.load(Ordering::SeqCst) <= threads as u64, "{threads} threads: {most:?}");
    }
}

/// The plan says `auto`, but the caller runs the graph under a policy without it.
#[test]
fn a_source_does_not_roam_under_a_policy_of_the_caller() {
    fn run<P: Policy>(policy: &P, threads: usize) {
        watch(format!("{threads} threads, {}", std::any::type_name::<P>()), || {
            let graph = Graph::new();
            let received = Reached::default();
            let text = graph.source((0..3000u64).map(|number| number.to_string())).blocking();
            let sink = received.clone();
            text.par_map(|text| text).for_each(move |_| sink.add());
            let report = graph.run_under(policy, &options(threads)).unwrap().into_report();
            assert_eq!((received.0.load(Ordering::SeqCst), report.workers().len()), (3000, threads));
        });
    }
    for threads in THREADS {
        run(&RandomStealing, threads);
        run(&Partition::default(), threads);
        run(&Qes, threads);
    }
}
