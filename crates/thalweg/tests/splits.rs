//! Operators that split a stream and join streams: `partition`, `tee`, `deal`, `interleave`, `concat`.

use crate::support;

use std::sync::Arc;
use support::inject::{INJECTED, silence};
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, Stream, from_iter};

/// Every combination of threads and capacities, each under a watchdog.
fn everywhere(check: impl Fn(&Options)) {
    for threads in [1, 2, 8] {
        for capacity in [1, 2, 7, 64, 1000] {
            let options = Options::new().threads(threads).capacity(capacity);
            watch(format!("{options:?}"), || check(&options));
        }
    }
}

const COUNTS: [u64; 8] = [0, 1, 2, 3, 9, 10, 11, 5000];

#[test]
fn a_partition_has_each_item_once_and_in_order() {
    everywhere(|options| {
        for count in COUNTS {
            let graph = Graph::new();
            let (thirds, others) = graph.source(0..count).partition(|n| n % 3 == 0);
            let (thirds, others) = (thirds.collect(), others.collect());
            let run = graph.run_with(options).unwrap();
            assert!(run.take(thirds).unwrap().into_iter().eq((0..count).filter(|n| n % 3 == 0)));
            assert!(run.take(others).unwrap().into_iter().eq((0..count).filter(|n| n % 3 != 0)));
        }
    });
}

#[test]
fn both_streams_of_a_tee_have_all_items() {
    everywhere(|options| {
        for count in COUNTS {
            let (a, b) = from_iter(0..count).tee();
            let pairs = a.map(|n| n + 1).zip(b).collect();
            let pairs = pairs.run_with(options).unwrap().into_value();
            assert!(pairs.into_iter().eq((0..count).map(|n| (n + 1, n))));
        }
    });
}

/// The streams of a deal, by the definition: the rounds are laid out one after the other.
fn dealt(count: u64, weights: &[usize]) -> Vec<Vec<u64>> {
    let round = weights.iter().enumerate().flat_map(|(at, weight)| std::iter::repeat_n(at, *weight));
    let mut streams = vec![Vec::new(); weights.len()];
    (0..count).zip(round.cycle()).for_each(|(n, at)| streams[at].push(n));
    streams
}

fn check_deal<const N: usize>(weights: [usize; N], count: u64, options: &Options) {
    let graph = Graph::new();
    let outputs = graph.source(0..count).deal(weights).map(Stream::collect);
    let run = graph.run_with(options).unwrap();
    let streams: Vec<Vec<u64>> = outputs.into_iter().map(|output| run.take(output).unwrap()).collect();
    assert_eq!(streams, dealt(count, &weights), "{weights:?}, {count} items");
}

/// A deal whose streams are joined again gives back the stream, whatever its last round has.
fn check_inverse<const N: usize>(weights: [usize; N], count: u64, options: &Options) {
    let graph = Graph::new();
    let streams = graph.source(0..count).deal(weights);
    let items = graph.interleave(weights, streams).collect().run_with(options).unwrap().into_value();
    assert!(items.into_iter().eq(0..count), "{weights:?}, {count} items");
}

/// The streams of a deal are what they must be, and give back the whole stream.
fn check_weights<const N: usize>(weights: [usize; N], count: u64, options: &Options) {
    check_deal(weights, count, options);
    check_inverse(weights, count, options);
}

#[test]
fn a_deal_delivers_the_last_round_and_interleave_is_its_inverse() {
    everywhere(|options| {
        for count in COUNTS {
            check_weights([1], count, options);
            check_weights([1, 2, 1], count, options);
            check_weights([3, 1, 4, 1, 5, 9, 2, 6], count, options);
            check_weights([1; 70], count, options);
            check_weights([1, 1000], count, options);
            check_weights([usize::MAX, 1], count, options);
            check_weights([usize::MAX, usize::MAX], count, options);
        }
    });
}

/// The first stream has two items: the third round, which needs another one, does not begin.
#[test]
fn an_interleave_ends_where_a_stream_ends() {
    everywhere(|options| {
        let graph = Graph::new();
        let streams = [graph.source(0..2u64), graph.source(100..)];
        let items = graph.interleave([1, 2], streams).collect().run_with(options).unwrap().into_value();
        assert_eq!(items, [0, 100, 101, 1, 102, 103]);
        let graph = Graph::new();
        let streams = [graph.source(0..), graph.source(100..103u64)];
        let items = graph.interleave([1, 2], streams).collect().run_with(options).unwrap().into_value();
        assert_eq!(items, [0, 100, 101, 1, 102]);
    });
}

/// The framing function decides on several firings at a time, the first of which leaves no room for the others.
#[test]
fn an_interleave_keeps_its_place_where_its_output_has_no_room() {
    for threads in [1, 2, 8] {
        watch(format!("{threads} threads"), || {
            let graph = Graph::new();
            let parts = [0, 5000].map(|first| graph.source(first..first + 5000u64).capacity(1000));
            let joined = graph.interleave([1, 1], parts).capacity(10).collect();
            let items = joined.run_with(&Options::new().threads(threads)).unwrap().into_value();
            assert!(items.into_iter().eq((0..5000).flat_map(|n| [n, n + 5000])), "{threads} threads");
        });
    }
}

/// The loop has one item, and a deal of whole rounds would need two.
#[test]
fn a_deal_in_a_loop_does_not_wait_for_its_round() {
    everywhere(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback([0u64]);
        let [out, next] = back.map(|n| n + 1).deal([1, 1]);
        let (again, out) = out.tee();
        graph.interleave([1, 1], [again, next]).take(20).feed(end);
        let items = out.collect().run_with(options).unwrap().into_value();
        assert_eq!(items, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21]);
    });
}

#[test]
fn concat_has_the_first_stream_and_then_the_other() {
    everywhere(|options| {
        for (a, b) in [(0, 0), (0, 5), (5, 0), (3, 4), (3000, 2000)] {
            let graph = Graph::new();
            let all = graph.source(0..a).concat(graph.source(0..b)).collect();
            assert!(all.run_with(options).unwrap().into_value().into_iter().eq((0..a).chain(0..b)));
        }
    });
}

/// The second stream waits in its channel until the first has ended.
#[test]
fn both_streams_of_a_concat_may_come_from_one_node() {
    everywhere(|options| {
        let (even, odd) = from_iter(0..3000u64).partition(|n| n % 2 == 0);
        let (items, report) = even.concat(odd).collect().run_with(options).unwrap().into_parts();
        assert!(items.into_iter().eq((0..3000).step_by(2).chain((1..3000).step_by(2))));
        assert!(!report.growths().is_empty());
        let (a, b) = from_iter(0..3000u64).tee();
        let items = a.concat(b).collect().run_with(options).unwrap().into_value();
        assert!(items.into_iter().eq((0..3000).chain(0..3000)));
        let graph = Graph::new();
        let [a, b, c] = graph.source(0..3000u64).deal([2, 1, 1]);
        let items = a.concat(b).concat(c).collect().run_with(options).unwrap().into_value();
        assert!(items.into_iter().eq(dealt(3000, &[2, 1, 1]).concat()));
    });
}

/// A budget that does not hold the second stream is an error, not a hang.
#[test]
fn a_concat_beyond_the_budget_fails() {
    watch("budget", || {
        let (even, odd) = from_iter(0..1_000_000u64).partition(|n| n % 2 == 0);
        let error = even
            .concat(odd)
            .collect()
            .run_with(&Options::new().threads(2).budget(100_000))
            .unwrap_err()
            .into_error();
        assert!(matches!(&error, Error::Deadlock(deadlock) if deadlock.over_budget().is_some()), "{error}");
    });
}

/// The sources are endless, so a node that does not end keeps the run from its end. Every item is dropped once.
#[test]
fn nodes_end_with_their_readers() {
    let programs: [fn(Stream<'static, Counted>) -> Stream<'static, Counted>; 5] = [
        |items| {
            let (a, b) = items.partition(|item| item.value() % 2 == 0);
            a.take(5).concat(b.take(5))
        },
        |items| {
            let (a, b) = items.tee();
            a.take(3).concat(b.take(7))
        },
        |items| {
            let graph = items.graph();
            let [a, b, c] = items.deal([1, 2, 1]);
            graph.interleave([1, 1, 1], [a.take(4), b.take(9), c])
        },
        |items| {
            let (a, b) = items.tee();
            a.concat(b).take(9)
        },
        |items| {
            let graph = items.graph();
            let [a, b] = items.deal([1, 2]);
            graph.interleave([2, 1], [a, b]).take(50)
        },
    ];
    everywhere(|options| {
        for (number, program) in programs.iter().enumerate() {
            let ledger = Ledger::new();
            let make = ledger.clone();
            let items = from_iter((0..).map(move |value| Counted::make(value, &make)));
            let items = program(items).collect().run_with(options).unwrap().into_value();
            let values: Vec<u64> = items.iter().map(Counted::value).collect();
            let expected: Vec<u64> = match number {
                0 => vec![0, 2, 4, 6, 8, 1, 3, 5, 7, 9],
                1 => vec![0, 1, 2, 0, 1, 2, 3, 4, 5, 6],
                2 => vec![0, 1, 3, 4, 2, 7, 8, 5, 11, 12, 6, 15],
                3 => (0..9).collect(),
                _ => {
                    let (ones, twos) = ((0..).step_by(3), (0..).filter(|n| n % 3 > 0));
                    let (mut ones, mut twos) = (ones, twos);
                    let next = |i: u64| if i % 3 < 2 { ones.next() } else { twos.next() };
                    (0..50).filter_map(next).collect()
                }
            };
            assert_eq!(values, expected, "program {number}");
            drop(items);
            assert_eq!(ledger.live(), 0, "program {number}");
        }
    });
}

/// Streams of items that are dropped once although the functions of the user panic.
#[test]
fn panics_fail_the_run_and_lose_no_item() {
    silence();
    everywhere(|options| {
        let ledger = Ledger::new();
        let make = ledger.clone();
        let items = from_iter((0..500).map(move |value| Counted::make(value, &make)));
        let (a, b) = items.partition(|item| match item.value() {
            333 => panic!("{INJECTED} test"),
            value => value % 2 == 0,
        });
        let graph = a.graph();
        let [a, c] = a.deal([2, 1]);
        let error =
            graph.interleave([1, 1, 2], [a, c, b]).collect().run_with(options).unwrap_err().into_error();
        assert_eq!(error.to_string(), format!("node `partition` panicked: {INJECTED} test"));
        assert_eq!(ledger.live(), 0);
        let clones = Arc::new(());
        let make = clones.clone();
        let items = from_iter(0..500).map(move |n| Bad(n, make.clone()));
        let (a, b) = items.tee();
        let error = a.concat(b).collect().run_with(options).unwrap_err().into_error();
        assert_eq!(error.to_string(), format!("node `tee` panicked: {INJECTED} clone"));
        assert_eq!(Arc::strong_count(&clones), 1);
    });
}

/// The clone of one of them panics.
#[derive(Debug)]
struct Bad(u64, Arc<()>);

impl Clone for Bad {
    fn clone(&self) -> Bad {
        assert!(self.0 != 77, "{INJECTED} clone");
        Bad(self.0, self.1.clone())
    }
}

#[test]
fn weights_of_zero_are_refused() {
    let error = |refused: Result<thalweg::Run, thalweg::Failed>| refused.unwrap_err().to_string();
    let graph = Graph::new();
    graph.source(0..10u64).deal([1, 0]).into_iter().for_each(Stream::discard);
    let wrong = "the graph cannot be run: node `deal` cannot have `weights` [1, 0]: each must be at least 1";
    assert_eq!(error(graph.run()), wrong);
    let graph = Graph::new();
    let [] = graph.source(0..10u64).deal([]);
    let wrong = "the graph cannot be run: node `deal` cannot have no `weights`: at least 1 is needed";
    assert_eq!(error(graph.run()), wrong);
    let graph = Graph::new();
    graph.interleave([0, 0], [graph.source(0..10u64), graph.source(0..10u64)]).discard();
    let wrong =
        "the graph cannot be run: node `interleave` cannot have `weights` [0, 0]: each must be at least 1";
    assert_eq!(error(graph.run()), wrong);
    let graph = Graph::new();
    graph.interleave([], [] as [Stream<'_, u64>; 0]).discard();
    let wrong = "the graph cannot be run: node `interleave` cannot have no `weights`: at least 1 is needed";
    assert_eq!(error(graph.run()), wrong);
}
