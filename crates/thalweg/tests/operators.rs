//! Operators that consist of several nodes: fork-join, loops, limits on items in flight.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use thalweg::{Error, Fork, Graph, Options, Stream, output};

fn options(threads: usize) -> Options {
    Options::new().threads(threads)
}

/// Numbers in no order.
fn scattered(count: u64) -> Vec<u64> {
    (0..count).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40).collect()
}

fn merge_sort(items: Stream<'_, Vec<u64>>, leaf: usize) -> Stream<'_, Vec<u64>> {
    let step = move |mut items: Vec<u64>| {
        if items.len() > leaf {
            let rest = items.split_off(items.len() / 2);
            return Fork::Split(vec![items, rest]);
        }
        items.sort_unstable();
        Fork::Done(items)
    };
    let join = |halves: Vec<Vec<u64>>| {
        let mut all = halves.concat();
        all.sort(); // merges sorted runs
        all
    };
    items.par_fork_join(8, step, join)
}

#[test]
fn merge_sort_sorts_at_any_thread_count() {
    for threads in 1..=3 {
        let inputs: Vec<Vec<u64>> = (0..40).map(|i| scattered(i * 97)).collect();
        let mut expected = inputs.clone();
        expected.iter_mut().for_each(|items| items.sort_unstable());
        let sorted = merge_sort(thalweg::from_iter(inputs), 50)
            .collect()
            .run_with(&options(threads))
            .unwrap()
            .into_value();
        assert_eq!(sorted, expected);
    }
}

/// The results spell out the tree, so they show the order in which parts are joined.
#[test]
fn parts_are_joined_in_their_order() {
    let step = |(depth, name): (u32, String)| match depth {
        0 => Fork::Done(name),
        1 => Fork::Again((0, format!("{name}'"))),
        _ => Fork::Split((0..depth).map(|i| (i, format!("{name}{i}"))).collect()),
    };
    let join = |parts: Vec<String>| format!("({})", parts.join(" "));
    for threads in 1..=3 {
        for in_flight in [1, 2, 7] {
            let items = (0..5).map(|depth| (depth, String::from("x")));
            let trees = thalweg::from_iter(items).par_fork_join(in_flight, step, join).collect();
            let trees = trees.run_with(&options(threads)).unwrap().into_value();
            assert_eq!(trees[..4], ["x", "x'", "(x0 x1')", "(x0 x1' (x20 x21'))"]);
            assert_eq!(trees[4], "(x0 x1' (x20 x21') (x30 x31' (x320 x321')))");
        }
    }
}

#[test]
fn a_split_into_no_parts_is_joined() {
    let step = |n: u32| if n == 0 { Fork::Split(Vec::new()) } else { Fork::Done(n) };
    let sums = thalweg::from_iter([0, 1, 0, 2])
        .par_fork_join(3, step, |parts: Vec<u32>| parts.iter().sum::<u32>() + 100)
        .collect()
        .run_with(&options(2))
        .unwrap()
        .into_value();
    assert_eq!(sums, [100, 1, 100, 2]);
}

#[test]
fn unfinished_parts_beyond_the_budget_are_an_error() {
    for threads in 1..=2 {
        let step = |n: u64| match n {
            0 => Fork::Done(1u64),
            _ => Fork::Split(vec![0; 1_000_000]),
        };
        let failed = thalweg::from_iter([1u64])
            .par_fork_join(4, step, |parts| parts.len() as u64)
            .named("burst")
            .collect()
            .run_with(&options(threads).budget(1 << 20))
            .unwrap_err()
            .into_error();
        let Error::Node { node, cause } = &failed else { panic!("{failed}") };
        assert_eq!(node, "burst.gate");
        assert!(cause.to_string().contains("more than the 524288 bytes that the byte budget"), "{cause}");
    }
}

#[test]
fn weights_count_against_the_budget() {
    let step = |n: u64| if n == 0 { Fork::Done(0u8) } else { Fork::Split(vec![0; 64]) };
    let run = |weight: usize| {
        thalweg::from_iter([1u64])
            .weigh(move |_| weight)
            .par_fork_join(4, step, |_| 0)
            .collect()
            .run_with(&options(2).budget(1 << 20))
    };
    assert!(run(1 << 10).is_ok());
    assert!(run(1 << 20).is_err());
}

/// Two branches of 16 MiB each, which are split at the same time. The depth-first order keeps less than 17 MiB.
#[test]
fn parts_begun_early_do_not_decide_whether_a_fork_join_fails() {
    for threads in [1, 2, 4] {
        let step = |level: u32| match level {
            0 => Fork::Split(vec![1; 2]),
            1 => Fork::Split(vec![2; 16]),
            _ => Fork::Done(1u8),
        };
        let run = |budget: usize| {
            thalweg::from_iter([0u32])
                .weigh(|level| if *level == 2 { 1 << 20 } else { 0 })
                .par_fork_join(8, step, |parts| parts.iter().sum())
                .collect()
                .run_with(&options(threads).budget(2 * budget))
        };
        assert_eq!(run(17 << 20).unwrap().into_value(), [32]);
        assert!(run(15 << 20).is_err());
    }
}

/// While a part to the right goes round for ever, the depth-first order of the parts to the left exceeds the limit.
#[test]
fn endless_parts_do_not_delay_the_error_of_the_leftmost() {
    for threads in 1..=2 {
        for in_flight in [2, 3] {
            let step = |n: u64| match n {
                0 => Fork::Split(vec![1, 2]),
                1 => Fork::Split(vec![1; 100]),
                2 => Fork::Split(vec![3; 2]),
                _ => Fork::Again(n),
            };
            let failed = thalweg::from_iter([0])
                .par_fork_join(in_flight, step, |parts: Vec<u64>| parts[0])
                .collect()
                .run_with(&options(threads).budget(1 << 20))
                .unwrap_err()
                .to_string();
            assert!(
                failed.contains("parts of item 0") && failed.contains("more than the 524288"),
                "{failed}"
            );
        }
    }
}

/// A tree of 2^18 leaves, of which only one path for each task in progress is unfolded.
#[test]
fn a_deep_tree_takes_little_memory() {
    let step = |depth: u32| if depth == 0 { Fork::Done(1u64) } else { Fork::Split(vec![depth - 1; 2]) };
    let leaves = thalweg::from_iter([18])
        .par_fork_join(4, step, |parts| parts.iter().sum())
        .fold(0, |sum, leaves| sum + leaves)
        .run_with(&options(2).budget(64 << 10))
        .unwrap()
        .into_value();
    assert_eq!(leaves, 1 << 18);
}

#[test]
fn failures_in_a_fork_join_name_it() {
    let step = |n: u32| if n == 7 { panic!("seven") } else { Fork::Done(n) };
    let failed = thalweg::from_iter(0..10u32)
        .par_fork_join(2, step, |parts: Vec<u32>| parts.len() as u32)
        .named("fragile")
        .collect()
        .run_with(&options(2))
        .unwrap_err();
    assert_eq!(failed.to_string(), "node `fragile` panicked: seven");
}

#[test]
fn a_round_and_its_gate_take_the_name() {
    let graph = Graph::new();
    let halves = graph.source([40u32, 7]).par_iterate(2, |n| match n % 2 {
        0 => ControlFlow::Continue(n / 2),
        _ => ControlFlow::Break(n),
    });
    let halves = halves.named("halve").workers(1).collect();
    let names: Vec<String> = graph.data().nodes().iter().map(|node| node.name().to_string()).collect();
    assert_eq!(names, ["source", "halve.gate", "halve", "collect"]);
    assert_eq!(graph.run_with(&options(2)).unwrap().take(halves).unwrap(), [5, 7]);
}

/// The step of item 0 ends after the others have made all their rounds.
#[test]
fn a_long_step_that_is_unordered_does_not_delay_the_rounds_of_others() {
    const OTHERS: usize = 3;
    const ROUNDS: usize = 5;
    let rounds = AtomicUsize::new(0);
    let step = |(item, round): (usize, usize)| {
        if item == 0 {
            let start = Instant::now();
            while rounds.load(Ordering::SeqCst) < OTHERS * ROUNDS {
                assert!(start.elapsed() < Duration::from_secs(20), "{rounds:?} rounds");
                std::thread::yield_now();
            }
            return ControlFlow::Break((item, round));
        }
        rounds.fetch_add(1, Ordering::SeqCst);
        match round + 1 {
            ROUNDS => ControlFlow::Break((item, ROUNDS)),
            round => ControlFlow::Continue((item, round)),
        }
    };
    let items = thalweg::from_iter((0..=OTHERS).map(|item| (item, 0)));
    // One item in a claim, so that no other item waits behind item 0.
    let results = items
        .par_iterate(OTHERS + 1, step)
        .unordered()
        .collect()
        .run_with(&options(2).claim_length(1))
        .unwrap()
        .into_value();
    assert_eq!(results, [(0, 0), (1, ROUNDS), (2, ROUNDS), (3, ROUNDS)]);
}

/// Counts the items between two points, and their maximum.
#[derive(Default)]
struct Between {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Between {
    fn enter(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
    }

    fn leave(&self, count: usize) {
        self.now.fetch_sub(count, Ordering::SeqCst);
    }
}

/// The maximum number of items between two maps at the entry and the exit of a section.
fn most_in_flight(threads: usize, most: usize, capacity: usize) -> usize {
    let between = Between::default();
    let count = thalweg::from_iter(0..20_000u64)
        .in_flight(most, |items| {
            let items = items.map(|item| {
                between.enter();
                item
            });
            let items = items.capacity(capacity).par_map(|x| x ^ 1).capacity(capacity).map(|x| {
                between.leave(1);
                x
            });
            items.capacity(capacity)
        })
        .fold(0usize, |count, _| count + 1)
        .run_with(&options(threads))
        .unwrap();
    assert_eq!(count, 20_000);
    between.most.into_inner()
}

#[test]
fn no_more_than_the_limit_are_in_flight() {
    for threads in 1..=3 {
        assert!(most_in_flight(threads, 5, 1000) <= 5);
        assert!(most_in_flight(threads, 1, 1000) <= 1);
    }
    assert!(most_in_flight(1, 1_000_000, 1000) > 5, "the test must observe items in flight");
}

/// Three results for each two items.
#[test]
fn static_rates_in_a_section_are_counted() {
    for threads in 1..=3 {
        let between = Between::default();
        let graph = Graph::new();
        let sums = graph
            .source(0..9_999u64)
            .in_flight(4, |items| {
                let items = items.map(|item| {
                    between.enter();
                    item
                });
                let items =
                    items.capacity(500).kernel("triple", output("out").push(3)).sequential(|item, out| {
                        let item = item.pop();
                        (0..3).for_each(|i| out.push(3 * item + i));
                    });
                items.capacity(500).chunked(2, &between).capacity(500)
            })
            .collect();
        let run = graph.run_with(&options(threads)).unwrap();
        let expected: Vec<u64> = (0..9_999 * 3 / 2).map(|i| 4 * i + 1).collect();
        assert_eq!(run.take(sums).unwrap(), expected);
        assert!(between.most.into_inner() <= 4 + 2);
    }
}

trait Chunked<'env> {
    /// Sums of `size` items; with every third one, two items leave the section.
    fn chunked(self, size: u32, between: &'env Between) -> Stream<'env, u64>;
}

impl<'env> Chunked<'env> for Stream<'env, u64> {
    fn chunked(self, size: u32, between: &'env Between) -> Stream<'env, u64> {
        let mut sums = 0;
        self.windows(size, size, move |items| {
            sums += 1;
            if sums % 3 == 0 {
                between.leave(2);
            }
            items.iter().sum()
        })
    }
}

#[test]
fn a_limit_grows_where_the_section_needs_more() {
    let (sums, report) = thalweg::from_iter(0..1000u64)
        .in_flight(3, |items| items.windows(100, 1, |items| items.iter().sum::<u64>()))
        .collect()
        .run_with(&options(2))
        .unwrap()
        .into_parts();
    assert_eq!(sums.len(), 901);
    assert!(report.growths().iter().any(|growth| {
        let channel = report.graph().channel(growth.channel());
        report.graph().node(channel.to().0).name() == "in_flight"
    }));
}

#[test]
fn dynamic_rates_in_a_section_are_refused() {
    let failed = thalweg::from_iter(0..10u64)
        .in_flight(3, |items| items.filter(|x| x % 2 == 0).named("even").map(|x| x + 1))
        .named("limit")
        .collect()
        .run_with(&options(1))
        .unwrap_err()
        .to_string();
    assert!(failed.contains("node `limit` cannot have `in_flight`: `even.out`"), "{failed}");
}

#[test]
fn a_section_that_returns_another_stream_is_refused() {
    let graph = Graph::new();
    let other = graph.source(0..10u64);
    let limited = graph.source(0..10u64).in_flight(3, |items| {
        items.discard();
        other
    });
    let limited = limited.collect();
    let failed = limited.run_with(&options(1)).unwrap_err().to_string();
    assert!(failed.contains("no path of static rates"), "{failed}");
}

#[test]
fn limits_can_be_nested() {
    for threads in 1..=2 {
        let sums = thalweg::from_iter(0..1000u64)
            .in_flight(8, |items| {
                let items = items.in_flight(2, |items| items.par_map(|x| x + 1)).named("inner");
                items.windows(2, 2, |items| items.iter().sum::<u64>())
            })
            .named("outer")
            .collect()
            .run_with(&options(threads))
            .unwrap()
            .into_value();
        assert_eq!(sums, (0..500).map(|i| 4 * i + 3).collect::<Vec<u64>>());
    }
}

#[test]
fn a_limit_of_any_size_is_accepted() {
    for most in [1, 2, usize::MAX] {
        let items = thalweg::from_iter(0..100u64)
            .in_flight(most, |items| items.windows(2, 1, |items| items[1]))
            .collect()
            .run_with(&options(2))
            .unwrap()
            .into_value();
        assert_eq!(items.len(), 99);
    }
}

/// The plan knows the size of a batch, so no search for deadlocks has to make room; a size beyond all memory is none.
#[test]
fn channels_have_room_for_a_batch() {
    for (items, size) in [(1_000_000, 1000), (1_000_000, 100_000), (20_000, usize::MAX)] {
        let batches = thalweg::from_iter(0..items as u64).batch(size);
        let (sizes, report) =
            batches.map(|batch| batch.len()).collect().run_with(&options(2)).unwrap().into_parts();
        assert_eq!(sizes.iter().sum::<usize>(), items);
        assert!(sizes[..sizes.len() - 1].iter().all(|length| *length == size));
        assert!(report.growths().is_empty() || size == usize::MAX, "{size}: {:?}", report.growths());
    }
}

#[test]
fn settings_of_zero_are_refused() {
    let items = || thalweg::from_iter(0..10u64);
    let refused = [
        items()
            .in_flight(0, |items| items.map(|x| x))
            .collect()
            .run_with(&options(1))
            .unwrap_err()
            .to_string(),
        items()
            .par_iterate(0, ControlFlow::Break::<u64, u64>)
            .collect()
            .run_with(&options(1))
            .unwrap_err()
            .to_string(),
        items().par_map(|x| x).workers(0).collect().run_with(&options(1)).unwrap_err().to_string(),
        items().batch(0).collect().run_with(&options(1)).unwrap_err().to_string(),
    ];
    let node = |name: &str, what: &str| {
        format!("the graph cannot be run: node `{name}` cannot have `{what}` 0: at least 1 is needed")
    };
    assert_eq!(
        refused,
        [
            node("in_flight", "in_flight"),
            node("par_iterate", "in_flight"),
            node("par_map", "workers"),
            node("batch", "size"),
        ]
    );
}

#[test]
fn a_section_that_builds_the_graph_is_refused() {
    let graph = Graph::new();
    let limited = graph.source(0..10u64).in_flight(2, |items| {
        let graph = items.graph();
        assert!(items.graph().build().is_err());
        graph.source(0..3u64)
    });
    let refused = limited.collect().run_with(&options(1)).unwrap_err().to_string();
    assert!(refused.contains("already built"), "{refused}");
}

/// The section waits for a stream that a full channel before the section's entry holds back.
#[test]
fn other_channels_grow_before_a_limit_does() {
    let graph = Graph::new();
    let (a, b) =
        graph.source(0..3000u64).kernel("copy", (output("a"), output("b"))).sequential(|item, (a, b)| {
            let item = item.pop();
            a.push(item);
            b.push(item);
        });
    let late = b.capacity(8).filter(|x| *x >= 1000);
    let pairs = a.capacity(8).in_flight(5, |a| a.map(|x| x).zip(late)).collect();
    let run = graph.run_with(&options(2)).unwrap();
    let limit = |growth: &&thalweg::embed::trace::Growth| {
        run.report().graph().channel(growth.channel()).link().limits()
    };
    assert_eq!(run.report().growths().iter().find(limit), None);
    assert!(!run.report().growths().is_empty());
    assert_eq!(run.take(pairs).unwrap().len(), 2000);
}

#[test]
fn inconsistent_weights_do_no_harm() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let step = |n: u64| if n == 0 { Fork::Done(1u64) } else { Fork::Split(vec![n - 1; 3]) };
    let leaves = thalweg::from_iter([5u64, 3])
        .weigh(|_| CALLS.fetch_add(1, Ordering::Relaxed) * 7919 % 100)
        .par_fork_join(4, step, |parts| parts.iter().sum())
        .weigh(|_| CALLS.fetch_add(1, Ordering::Relaxed) * 104_729 % 100)
        .collect()
        .run_with(&options(2))
        .unwrap()
        .into_value();
    assert_eq!(leaves, [243, 27]);
    let all =
        thalweg::from_iter([5u64]).weigh(|_| usize::MAX).par_fork_join(4, step, |parts| parts.iter().sum());
    let refused = all.weigh(|_: &u64| usize::MAX).collect().run_with(&options(2)).unwrap_err().to_string();
    assert!(refused.contains("more than the"), "{refused}");
}

#[test]
fn parts_of_weight_zero_count_too() {
    let step = |n: u64| if n == 0 { Fork::Done(1u64) } else { Fork::Split(vec![0; 1 << 24]) };
    let refused = thalweg::from_iter([1u64])
        .weigh(|_| 0)
        .par_fork_join(4, step, |parts| parts.iter().sum())
        .collect()
        .run_with(&options(1).budget(1 << 20))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("more than the 524288"), "{refused}");
}

#[test]
fn the_budget_is_shared_by_the_gates() {
    let step = |n: u64| if n == 0 { Fork::Done(0u64) } else { Fork::Split(vec![0; 1 << 20]) };
    let refused = thalweg::from_iter([1u64])
        .par_fork_join(4, step, |parts| parts.iter().sum())
        .par_iterate(2, ControlFlow::Break)
        .collect()
        .run_with(&options(1).budget(1 << 20))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("more than the 262144"), "{refused}");
}

#[test]
fn zero_items_can_be_taken() {
    let (taken, report) =
        thalweg::from_iter(0u64..).take(0).collect().run_with(&options(2)).unwrap().into_parts();
    assert_eq!(taken, Vec::<u64>::new());
    assert_eq!(report.nodes()[1].firings(), 0);
}

/// `back_b` is closed before its stream has a consumer.
#[test]
fn settings_of_feedback_channels_stay() {
    let graph = Graph::new();
    let (back_a, a) = graph.feedback([3u64]);
    let (back_b, b) = graph.feedback([]);
    a.map(|x| x).capacity(7).weigh(|_| 1000).feed(back_b);
    let (out, next) = b.kernel("count", (output("out"), output("next"))).sequential(|item, (out, next)| {
        let item = item.pop();
        out.push(item);
        if item > 0 {
            next.push(item - 1)
        }
        if item > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    next.feed(back_a);
    let items = out.collect();
    let links: Vec<_> = graph.data().channels().iter().map(|channel| *channel.link()).collect();
    assert!(
        links.iter().any(|link| link.capacity() == Some(7) && link.weighed() && link.feedback()),
        "{links:?}"
    );
    let run = graph.run_with(&options(2)).unwrap();
    assert!(run.report().channels().iter().any(|channel| channel.bytes() == 4000));
    assert_eq!(run.take(items).unwrap(), [3, 2, 1, 0]);
}
