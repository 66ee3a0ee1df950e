//! Limits on items in flight, in sections with dynamic rates: the bound, its growth, and the sections that are refused.

use crate::support;

use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use support::runner::for_each;
use support::section::{Measured, Step, needs_one_item_a_firing, run, slack, steps};
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, Stream, input, output};

/// Longer than any part of a passing test takes.
const WAIT: Duration = Duration::from_secs(20);

fn options(threads: usize) -> Options {
    Options::new().threads(threads)
}

/// Every policy at several thread counts.
fn configs() -> impl Iterator<Item = (String, Options)> {
    thalweg::embed::policy::registry::names().flat_map(|policy| {
        [1, 2, 4]
            .into_iter()
            .map(move |threads| (format!("{policy} at {threads} threads"), options(threads).policy(policy)))
    })
}

const MANY: Step = Step::Many { most: 3, workers: None };
const TWO_TO_THREE: Step = Step::Fixed { parallel: false, pop: 2, peek: 2, push: 3 };

/// Runs a section with every configuration, with long channels and with short ones.
fn for_every_config(steps: &[Step], most: usize, check: impl Fn(&Measured)) {
    for (config, options) in configs() {
        for capacity in [Some(1), Some(200)] {
            let what = format!("{steps:?}, limit {most}, channels of {capacity:?} items, {config}");
            let run = watch(what.clone(), || run(steps, (500, 7), most, capacity, &options));
            assert_eq!(run.results, run.expected, "{what}");
            check(&run);
        }
    }
}

#[test]
fn no_more_than_the_limit_are_in_flight() {
    for most in [1, 5] {
        for_every_config(&[MANY], most, |run| {
            assert!(run.most <= most, "{} in flight", run.most);
            assert!(!run.has_grown());
        });
    }
    let run = run(&[MANY], (500, 7), 1000, Some(200), &options(1));
    assert!(run.most > 5, "the test must observe items in flight");
}

#[test]
fn several_nodes_may_have_dynamic_rates() {
    let two = [MANY, Step::Map { parallel: true }, MANY, Step::Paths, MANY];
    for_every_config(&two, 4, |run| {
        assert!(run.most <= 4, "{} in flight", run.most);
        assert!(!run.has_grown());
    });
}

#[test]
fn static_rates_between_dynamic_ones_are_counted() {
    for_every_config(&[MANY, TWO_TO_THREE, MANY], 4, |run| {
        let limit = run.limit("limit");
        assert!(run.most <= limit + 2, "{} in flight, limit {limit}", run.most);
    });
}

#[test]
fn sections_with_dynamic_rates_can_be_nested() {
    let inner = Step::Inner { most: 2, steps: vec![MANY] };
    for_every_config(&[inner.clone(), MANY], 5, |run| {
        assert!(run.most <= 5, "{} in flight", run.most);
        assert!(!run.has_grown());
        let graph = run.report.graph();
        let node = graph.nodes().iter().find(|node| node.name() == "par_flat_map").unwrap();
        let ports: Vec<&str> = node.outputs().iter().map(|port| port.name()).collect();
        assert_eq!(ports, ["out", "tally", "tally-2"]);
    });
    for_every_config(&[Step::Inner { most: 7, steps: vec![inner] }], 3, |run| assert!(run.most <= 3));
}

/// The tally channels do not stop a section before its tokens do: the last stage holds the first item back until as
/// many items as the limit allows have passed the parallel nodes, one of them or two.
#[test]
fn the_limit_is_reached() {
    let reached = |most: usize, twice: bool, options: &Options| {
        let passed = &AtomicUsize::new(0);
        let first_waits = move |item: usize| {
            let start = Instant::now();
            while item == 0 && passed.load(Ordering::SeqCst) < most && start.elapsed() < WAIT {
                std::thread::sleep(Duration::from_micros(50));
            }
            item
        };
        let section = thalweg::from_iter(0..3 * most).capacity(1).in_flight(most, |items| {
            let items = items.capacity(1).par_flat_map(|item| [item]);
            let items = if twice { items.capacity(most).par_flat_map(|item| [item]) } else { items };
            let items = items.capacity(1).map(move |item| {
                passed.fetch_add(1, Ordering::SeqCst);
                item
            });
            items.capacity(most).map(first_waits).capacity(1)
        });
        let start = Instant::now();
        let count = section.fold(0, |count, _| count + 1).run_with(options).unwrap().into_value();
        assert_eq!(count, 3 * most);
        start.elapsed() < WAIT
    };
    for twice in [false, true] {
        assert!(reached(5000, twice, &options(2)));
        assert!(reached(32, twice, &options(2).capacity(1)));
    }
}

/// An item without results leaves at the end of its firing.
#[test]
fn an_item_without_results_leaves() {
    for (config, options) in configs() {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (begun, ended) = (&begun, &ended);
        let nothing = thalweg::from_iter(0..2000usize).in_flight(3, |items| {
            let items = items.map(|item| {
                let so_far = begun.fetch_add(1, Ordering::SeqCst) + 1;
                assert!(so_far - ended.load(Ordering::SeqCst) <= 3);
                item
            });
            items.capacity(100).par_filter_map(|_| {
                ended.fetch_add(1, Ordering::SeqCst);
                None::<u64>
            })
        });
        let (nothing, report) = watch(config, || nothing.collect().run_with(&options).unwrap()).into_parts();
        assert!(nothing.is_empty());
        assert_eq!(report.nodes()[2].firings(), 2000);
    }
}

#[test]
fn a_limit_grows_where_a_node_after_a_dynamic_rate_needs_more() {
    let windows = Step::Fixed { parallel: false, pop: 10, peek: 10, push: 1 };
    for_every_config(&[Step::Many { most: 1, workers: None }, windows.clone()], 3, |run| {
        assert!(run.has_grown());
        assert!(run.limit("limit") < 100);
    });
    for_every_config(&[MANY, windows, MANY], 1, |run| assert!(run.has_grown()));
}

/// The section waits for a stream that a full channel before the section's entry holds back.
#[test]
fn other_channels_grow_before_a_limit_does() {
    for (config, options) in configs() {
        let graph = Graph::new();
        let copy = graph.source(0..3000u64).kernel("copy", (output("a").push(1), output("b").push(1)));
        let (a, b) = copy.sequential(|items, (a, b)| {
            let item = items.pop();
            a.push(item);
            b.push(item);
        });
        let late = b.capacity(8).filter(|x| *x >= 1000);
        let pairs = a.capacity(8).in_flight(5, |a| a.par_flat_map(|x| [x]).zip(late)).collect();
        let run = watch(config.clone(), || graph.run_with(&options).unwrap());
        let growths = run.report().growths();
        assert!(!growths.is_empty(), "{config}");
        assert!(
            !growths.iter().any(|growth| run.report().graph().channel(growth.channel()).link().limits()),
            "{config}"
        );
        assert_eq!(run.take(pairs).unwrap().len(), 2000);
    }
}

#[test]
fn the_section_may_end_before_its_input() {
    for (config, options) in configs() {
        let many = |items: Stream<'static, u64>| items.par_flat_map(|x| 0..x % 4);
        let first = thalweg::from_iter(0u64..).in_flight(4, many).take(50).collect();
        let first = watch(format!("after, {config}"), || first.run_with(&options).unwrap()).into_value();
        assert_eq!(first, (0..).flat_map(|x| 0..x % 4).take(50).collect::<Vec<u64>>());
        let mut left = 20;
        let first = thalweg::from_iter(0u64..).in_flight(4, |items| {
            many(items).kernel("some", output("out").push(1)).sequential(move |items, out| {
                out.push(items.pop());
                left -= 1;
                if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        });
        let first = first.collect();
        let first = watch(format!("inside, {config}"), || first.run_with(&options).unwrap()).into_value();
        assert_eq!(first, (0..).flat_map(|x| 0..x % 4).take(20).collect::<Vec<u64>>());
    }
}

/// The window takes the last item only as its second one, so what the first node's last firing has become is never
/// complete, and the sums of the tallies end before the last node's last firing does.
#[test]
fn a_firing_goes_on_when_no_node_reads_its_tally() {
    for (config, options) in configs() {
        let all = thalweg::from_iter(0..3u64).in_flight(9, |items| {
            let firsts = items.par_flat_map(|item| [item; 2]).windows(2, 1, |pair| pair[0]);
            firsts.par_flat_map(|item| [item]).par_flat_map(|item| {
                (0..5u64).map(move |i| {
                    std::thread::sleep(Duration::from_millis(2));
                    5 * item + i
                })
            })
        });
        let all = watch(config, || all.collect().run_with(&options).unwrap()).into_value();
        let expected = [0, 0, 1, 1, 2].into_iter().flat_map(|item| (0..5).map(move |i| 5 * item + i));
        assert_eq!(all, expected.collect::<Vec<u64>>());
    }
}

#[test]
fn a_failure_in_a_section_drops_every_item_once() {
    for threads in 1..=3 {
        let held = Arc::new(());
        let item = held.clone();
        let failed = thalweg::from_iter((0..1000).map(move |i| (i, item.clone())))
            .in_flight(8, |items| {
                items.par_flat_map(|(i, item)| {
                    assert!(i != 700, "at 700");
                    vec![item; i % 4]
                })
            })
            .collect()
            .run_with(&options(threads))
            .unwrap_err()
            .into_error();
        assert_eq!(failed.to_string(), "node `par_flat_map` panicked: at 700");
        assert_eq!(Arc::strong_count(&held), 1);
    }
}

/// Three sums circulate in a loop; a section in the loop adds the next number to each.
#[test]
fn a_section_may_lie_in_a_loop() {
    let mut sums = [1, 2, 3];
    let expected: Vec<u64> = (0..500u64)
        .map(|i| {
            let at = (i % 3) as usize;
            sums[at] += 2 * i;
            sums[at]
        })
        .collect();
    for (config, options) in configs() {
        let graph = Graph::new();
        let (back, before) = graph.feedback([1, 2, 3u64]);
        let halves = |(sum, i): (u64, u64)| [sum + i, i];
        let sums = before
            .zip(graph.source(0..500u64))
            .in_flight(2, |pairs| pairs.par_flat_map(halves).windows(2, 2, |halves| halves[0] + halves[1]));
        let (out, round) = sums.kernel("copy", (output("out").push(1), output("round").push(1))).sequential(
            |sums, (out, round)| {
                let sum = sums.pop();
                out.push(sum);
                round.push(sum);
            },
        );
        round.feed(back);
        let out = out.collect();
        let run = watch(config, || graph.run_with(&options).unwrap());
        assert_eq!(run.take(out).unwrap(), expected);
    }
}

#[test]
fn a_loop_whose_section_drops_an_item_is_a_deadlock() {
    for (config, options) in configs() {
        let graph = Graph::new();
        let (back, before) = graph.feedback([0u64]);
        let sums = before
            .zip(graph.source(0..5000u64))
            .in_flight(2, |pairs| pairs.par_filter_map(|(sum, i)| (i < 300).then_some(sum + i)));
        let (out, round) = sums.kernel("copy", (output("out").push(1), output("round").push(1))).sequential(
            |sums, (out, round)| {
                let sum = sums.pop();
                out.push(sum);
                round.push(sum);
            },
        );
        round.feed(back);
        out.discard();
        let failed = watch(config.clone(), || graph.run_with(&options).unwrap_err()).into_error();
        let Error::Deadlock(deadlock) = &failed else { panic!("{config}: {failed}") };
        let unread = deadlock.unread().map(|unread| unread.channel());
        assert_eq!(unread, Some("source.out -> zip.in1"), "{config}: {failed}");
    }
}

/// Items split until they are 0. Only a starved loop shows that no more items will come.
#[test]
fn a_loop_with_a_section_ends_when_it_starves() {
    for (config, options) in configs() {
        let graph = Graph::new();
        let (back, again) = graph.feedback([]);
        let ins = (input("new", graph.source(0..40u64)), input("again", again));
        let all = graph.kernel("enter", ins, output("out").push(1)).framed(|(new, again)| {
            Ok(match new.peek(0)? {
                Some(_) => Some([1, 0]),
                None => again.peek(0)?.map(|_| [0, 1]),
            })
        });
        let all = all.sequential(|(new, again), out| {
            out.push(new.try_pop().unwrap_or_else(|| again.try_pop().expect("one of the two has an item")));
        });
        let parts = all
            .in_flight(3, |items| items.par_flat_map(|x: u64| [x / 2, x / 3].into_iter().take(x as usize)));
        let (out, round) =
            parts.kernel("leave", (output("out"), output("round"))).sequential(|parts, (out, round)| {
                match parts.pop() {
                    0 => out.push(()),
                    part => round.push(part),
                }
            });
        round.feed(back);
        let zeros = out.fold(0, |zeros, ()| zeros + 1);
        let run = watch(config, || graph.run_with(&options).unwrap());
        fn count(x: u64) -> u64 {
            [x / 2, x / 3].into_iter().take(x as usize).map(|x| if x == 0 { 1 } else { count(x) }).sum()
        }
        assert_eq!(run.take(zeros).unwrap(), (0..40).map(count).sum::<u64>());
    }
}

#[derive(Clone, Debug)]
struct Case {
    steps: Vec<Step>,
    items: (u32, u64),
    most: usize,
    capacity: Option<usize>,
    threads: usize,
    policy: &'static str,
    one_to_one: bool,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let policies: Vec<_> = thalweg::embed::policy::registry::names().collect();
    let config = (1..=4usize, prop::sample::select(policies), prop::bool::weighted(0.1), any::<u64>());
    let items = (0..=120u32, any::<u64>());
    let capacity = prop_oneof![Just(None), (1..=6usize).prop_map(Some)];
    (steps(), items, 1..=8usize, capacity, config).prop_map(
        |(steps, items, most, capacity, (threads, policy, one_to_one, seed))| Case {
            steps,
            items,
            most,
            capacity,
            threads,
            policy,
            one_to_one,
            seed,
        },
    )
}

#[test]
fn random_sections_keep_their_limits() {
    for_each(20, case(), |case| {
        let options = options(case.threads).policy(case.policy).seed(case.seed);
        let options = if case.one_to_one { options.thread_per_node() } else { options };
        let run =
            watch(format!("{case:#?}"), || run(&case.steps, case.items, case.most, case.capacity, &options));
        prop_assert_eq!(&run.results, &run.expected);
        let (most, limit) = (run.most, run.limit("limit") + slack(&case.steps));
        prop_assert!(most <= limit, "{} in flight, limit {}", most, limit);
        prop_assert!(!run.has_grown() || !needs_one_item_a_firing(&case.steps), "a limit grew");
        Ok(())
    });
}

/// The message with which a section is refused.
fn refused<U: Send + 'static>(section: impl FnOnce(Stream<'static, u64>) -> Stream<'static, U>) -> String {
    let limited = thalweg::from_iter(0..10u64).in_flight(3, section).named("limit");
    let refused = limited.discard_and_run();
    let rest = refused.strip_prefix("the graph cannot be run: node `limit` cannot have `in_flight`: ");
    rest.unwrap_or_else(|| panic!("{refused}")).to_owned()
}

trait Refused {
    fn discard_and_run(self) -> String;
}

impl<T: Send + 'static> Refused for Stream<'static, T> {
    fn discard_and_run(self) -> String {
        format!("{:?}", self.for_each(drop).run_with(&options(1)).unwrap_err())
    }
}

fn dynamic_rate(port: &str, detail: &str, help: &str) -> String {
    format!(
        "`{port}` between its entry and it has a dynamic rate{detail}, so that an item's descendants cannot be \
         counted\nhelp: {help}"
    )
}

const PARALLEL: &str =
    "make its node parallel, as that of `par_flat_map` is, or declare how many items it pushes";
const POP: &str = "declare how many items it pops, or end the section before it";

#[test]
fn dynamic_rates_of_other_nodes_are_refused() {
    let error = refused(|items| items.par_flat_map(|x| [x]).filter(|x| x % 2 == 0).named("even"));
    assert_eq!(error, dynamic_rate("even.out", " and its node is not parallel", PARALLEL));
    let error = refused(|items| {
        items.kernel("process", output("out")).process(|mut rx, mut tx| async move {
            while let Some(item) = rx.recv().await {
                tx.send(item).await;
            }
        })
    });
    let kernel = "write its node as a kernel with declared rates, or end the section before it";
    assert_eq!(error, dynamic_rate("process.in", "", kernel));
    let error = refused(|items| items.par_flat_map(|x| [x]).batch(3));
    assert_eq!(error, dynamic_rate("batch.in", "", POP));
    let error = refused(|items| {
        let framed = items.kernel("framed", output("out")).framed(|items| Ok(items.peek(0)?.map(|_| 1)));
        framed.parallel(|items, out| out.push(items.pop()))
    });
    assert_eq!(error, dynamic_rate("framed.in", "", POP));
    let error = refused(|items| items.par_flat_map(|x| [x]).unordered());
    assert_eq!(
        error,
        dynamic_rate("par_flat_map.out", " and its node is unordered", "leave out `unordered`")
    );
}

const PATHS: &str = "let the section begin after the paths have parted, or end before";

#[test]
fn a_dynamic_rate_on_one_of_several_paths_is_refused() {
    let copy = |items: Stream<'static, u64>| {
        items.kernel("copy", (output("a").push(1), output("b").push(1))).sequential(|items, (a, b)| {
            let item = items.pop();
            a.push(item);
            b.push(item);
        })
    };
    let error = refused(|items| {
        let (a, b) = copy(items);
        a.par_flat_map(|x| [x]).zip(b)
    });
    assert_eq!(error, dynamic_rate("par_flat_map.out", " and another path leads past it", PATHS));
    let error = refused(|items| {
        let split = items.kernel("split", (output("even"), output("odd")));
        let (even, odd) = split.parallel(|items, (even, odd)| {
            let item = items.pop();
            if item % 2 == 0 { even.push(item) } else { odd.push(item) }
        });
        even.zip(odd)
    });
    assert_eq!(error, dynamic_rate("split.even", " and another path leads past it", PATHS));
}

#[test]
fn a_dynamic_rate_on_a_cycle_is_refused() {
    let error = refused(|items| {
        let (back, before) = items.graph().feedback([0]);
        let (out, round) = items
            .zip(before)
            .par_flat_map(|(x, y)| [x + y])
            .named("many")
            .kernel("copy", (output("out").push(1), output("round").push(1)))
            .sequential(|items, (out, round)| {
                let item = items.pop();
                out.push(item);
                round.push(item);
            });
        round.feed(back);
        out
    });
    assert_eq!(
        error,
        dynamic_rate("many.out", " and lies on a cycle", "let the cycle be outside of the section")
    );
}

/// The node's other stream is still available after the section is built.
#[test]
fn a_node_with_a_tally_cannot_be_made_unordered_later() {
    let mut other = None;
    let limited = thalweg::from_iter(0..10u64).in_flight(3, |items| {
        let split = items.kernel("split", (output("all"), output("even")));
        let (all, even) = split.parallel(|items, (all, even)| {
            let item = items.pop();
            all.push(item);
            even.extend((item % 2 == 0).then_some(item));
        });
        other = Some(even);
        all
    });
    other.unwrap().unordered().discard();
    let error = "node `split` cannot have `unordered`: `in_flight` counts its items in order";
    assert_eq!(limited.discard_and_run(), format!("the graph cannot be run: {error}"));
}

/// A node counted by the limit has an output that leads out of the section.
#[test]
fn an_output_that_leaves_the_section_is_not_counted() {
    for (config, options) in configs() {
        let graph = Graph::new();
        let mut other = None;
        let limited = graph.source(0..1000u64).in_flight(3, |items| {
            let split = items.kernel("split", (output("tally"), output("thirds")));
            let (all, thirds) = split.parallel(|items, (all, thirds)| {
                let item = items.pop();
                all.extend(0..item % 3);
                thirds.extend(item.is_multiple_of(3).then_some(item));
            });
            other = Some(thirds);
            all
        });
        let (all, thirds) = (limited.collect(), other.unwrap().collect());
        let run = watch(config, || graph.run_with(&options).unwrap());
        assert_eq!(run.take(all).unwrap(), (0..1000).flat_map(|x| 0..x % 3).collect::<Vec<u64>>());
        assert_eq!(run.take(thirds).unwrap(), (0..1000).step_by(3).collect::<Vec<u64>>());
    }
}
