//! `batch`, `batch_timeout` and `unbatch`.

use crate::support;

use std::sync::mpsc;
use std::time::{Duration, Instant};
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, from_iter, output};

fn everywhere(check: impl Fn(&Options)) {
    for threads in [1, 2, 8] {
        for capacity in [1, 2, 7, 64, 1000] {
            let options = Options::new().threads(threads).capacity(capacity);
            watch(format!("{options:?}"), || check(&options));
        }
    }
}

#[test]
fn batches_have_their_size_and_unbatch_is_the_inverse() {
    everywhere(|options| {
        for count in [0, 1, 6, 7, 8, 1000] {
            for size in [1, 7, 300] {
                let items: Vec<u64> = (0..count).collect();
                let batches =
                    from_iter(items.clone()).batch(size).collect().run_with(options).unwrap().into_value();
                assert!(batches.iter().map(Vec::as_slice).eq(items.chunks(size)));
                let again = from_iter(batches).unbatch().collect().run_with(options).unwrap().into_value();
                assert_eq!(again, items);
            }
        }
    });
}

/// The run ends with the seventh item of an endless batch.
#[test]
fn unbatch_ends_with_its_reader() {
    everywhere(|options| {
        let ledger = Ledger::new();
        let make = ledger.clone();
        let items = from_iter([(0..).map(move |value| Counted::make(value, &make))]).unbatch();
        let items = items.take(7).collect().run_with(options).unwrap().into_value();
        assert!(items.iter().map(Counted::value).eq(0..7));
        drop(items);
        assert_eq!(ledger.live(), 0);
    });
}

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn batches_with_a_timeout_have_all_items_in_order() {
    everywhere(|options| {
        for count in [0, 1, 6, 7, 8, 1000] {
            for (size, time) in [(1, HOUR), (7, Duration::ZERO), (7, Duration::from_micros(20)), (300, HOUR)]
            {
                let batches = from_iter(0..count as u64).batch_timeout(size, time).collect();
                let batches = batches.run_with(options).unwrap().into_value();
                assert!(batches.iter().all(|batch| (1..=size).contains(&batch.len())));
                assert!(batches.concat().into_iter().eq(0..count as u64));
            }
        }
    });
}

/// No time passes, so the borders are those of `batch`; and the run ends with its last item, not with an alarm.
#[test]
fn without_a_timeout_batches_have_their_size() {
    everywhere(|options| {
        for time in [HOUR, Duration::MAX] {
            let items: Vec<u64> = (0..1000).collect();
            let batches = from_iter(items.clone()).batch_timeout(7, time).collect();
            assert!(
                batches.run_with(options).unwrap().into_value().iter().map(Vec::as_slice).eq(items.chunks(7))
            );
        }
    });
}

/// A source that sends its next items when a batch with those before has come: only time completes the batches.
fn answered(sizes: &'static [usize]) -> (impl Iterator<Item = u64> + Send, mpsc::Sender<usize>) {
    let (batches, came) = mpsc::channel();
    let mut asked = 0;
    let rounds = sizes.iter().enumerate().flat_map(move |(round, size)| {
        while asked > 0 {
            asked -= came.recv().unwrap();
        }
        asked = *size;
        (0..*size).map(move |i| (round * 100 + i) as u64)
    });
    (rounds, batches)
}

#[test]
fn a_batch_goes_on_when_its_time_has_passed() {
    const SIZES: &[usize] = &[1, 3, 1, 1, 40, 2];
    let run = |options: &Options, own_thread: bool| {
        let (items, batches) = answered(SIZES);
        let all = from_iter(items).blocking().batch_timeout(1000, Duration::from_millis(2));
        let all = if own_thread { all.blocking() } else { all };
        let sent = all.map(move |batch| {
            batches.send(batch.len()).unwrap();
            batch
        });
        let (all, report) = sent.unbatch().collect().run_with(options).unwrap().into_parts();
        let expected =
            SIZES.iter().enumerate().flat_map(|(at, n)| (0..*n).map(move |i| (at * 100 + i) as u64));
        assert!(all.into_iter().eq(expected));
        assert!(report.graph().nodes().iter().any(|node| node.name() == "batch_timeout" && node.timed()));
    };
    everywhere(|options| {
        run(options, false);
        run(options, true);
        run(&options.clone().thread_per_node(), false);
    });
    for policy in thalweg::embed::policy::registry::names() {
        let options = Options::new().threads(2).policy(policy);
        watch(format!("{options:?}"), || run(&options, false));
    }
}

/// The items of the batch wait for an hour.
#[test]
fn a_cancel_does_not_wait_for_a_batch() {
    for threads in [1, 2] {
        let begun = Instant::now();
        watch("cancel", || {
            let (keeps, waits) = mpsc::channel::<u64>();
            let ledger = Ledger::new();
            let make = ledger.clone();
            let items = from_iter((0..5).chain(std::iter::from_fn(move || waits.recv().ok())));
            let items = items.blocking().map(move |value| Counted::make(value, &make));
            let batches = items.batch_timeout(10, HOUR);
            let graph = batches.graph();
            batches.discard();
            let prepared = graph.prepare(&Options::new().threads(threads)).unwrap();
            let handle = prepared.handle();
            let canceller = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(30));
                handle.cancel();
                drop(keeps);
            });
            let error = prepared.run().unwrap_err().into_error();
            assert!(matches!(error, Error::Cancelled), "{error}");
            canceller.join().unwrap();
            assert_eq!(ledger.live(), 0);
        });
        assert!(begun.elapsed() < HOUR / 100);
    }
}

/// A work-list whose items wait for a batch that no item completes: the loop neither ends before the time nor hangs.
#[test]
fn a_work_list_with_a_timeout_does_all_its_work() {
    everywhere(|options| {
        let graph = Graph::new();
        let (end, work) = graph.feedback([5u64, 3]);
        let (next, done) = work
            .batch_timeout(1000, Duration::from_micros(300))
            .unbatch()
            .kernel("halve", (output("next"), output("done")))
            .sequential(|items, (next, done)| {
                let depth = items.pop();
                done.push(depth);
                if depth > 0 {
                    next.push(depth - 1);
                    next.push(depth - 1);
                }
            });
        next.feed(end);
        let done = done
            .fold([0usize; 6], |mut count, depth| {
                count[depth as usize] += 1;
                count
            })
            .run_with(options)
            .unwrap()
            .into_value();
        assert_eq!(done, [32 + 8, 16 + 4, 8 + 2, 4 + 1, 2, 1]);
    });
}

/// The merge waits for the loop only, as its input from outside has ended; the batch brings it the item that is left.
#[test]
fn a_loop_with_a_merge_waits_for_a_batch() {
    everywhere(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback([]);
        let all = graph.merge([graph.source([3u64, 4]), back]);
        let (next, done) = all.kernel("count", (output("next"), output("done"))).sequential(
            |items, (next, done)| match items.pop() {
                0 => done.push(0u64),
                n => next.push(n - 1),
            },
        );
        next.batch_timeout(1000, Duration::from_micros(300)).unbatch().feed(end);
        assert_eq!(done.collect().run_with(options).unwrap().into_value(), [0, 0]);
    });
}

/// A cycle that waits for itself is found although a batch elsewhere waits for its time.
#[test]
fn a_deadlock_is_found_while_a_batch_waits() {
    for threads in [1, 2] {
        watch("deadlock", || {
            let graph = Graph::new();
            let (end, back) = graph.feedback([]);
            let (out, next) =
                graph.source(0..9u64).zip(back).filter_map(|(a, b): (u64, u64)| Some(a + b)).tee();
            next.feed(end);
            out.discard();
            let ticks = (0..9_000_000u64).inspect(|_| std::thread::sleep(Duration::from_millis(1)));
            let first = graph.source(ticks).blocking().filter(|n| *n == 0);
            first.batch_timeout(10, HOUR).discard();
            let error = graph.run_with(&Options::new().threads(threads)).unwrap_err().into_error();
            assert!(matches!(error, Error::Deadlock(_)), "{error}");
        });
    }
}

/// Each run leaves its alarm set when it ends.
#[test]
fn alarms_of_runs_that_have_ended_do_no_harm() {
    watch("short runs", || {
        for round in 0..2000u64 {
            let time = Duration::from_micros(round % 100);
            let batches = from_iter(0..20u64).batch_timeout(8, time).take(1).collect();
            let batches = batches.run_with(&Options::new().threads(2)).unwrap().into_value();
            assert_eq!(batches[0][0], 0);
        }
    });
}
