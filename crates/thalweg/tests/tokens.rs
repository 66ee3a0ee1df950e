//! `Options::tokens`: the limit between source and sink, results, plans, and the graphs that are refused.

use crate::support;

use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::runner::for_each;
use support::section::{Measured, Step, needs_one_item_a_firing, run_with_tokens, slack, steps};
use support::watchdog::watch;
use thalweg::plan::Plan;
use thalweg::prelude::ReportExt;
use thalweg::{Error, Graph, Options, Output, Stream, Value, input, output};

/// Every policy at several thread counts.
fn configs() -> impl Iterator<Item = (String, Options)> {
    thalweg::embed::policy::registry::names().flat_map(|policy| {
        [1, 2, 8].into_iter().map(move |threads| {
            (format!("{policy} at {threads} threads"), Options::new().threads(threads).policy(policy))
        })
    })
}

const MANY: Step = Step::Many { most: 3, workers: None };

#[test]
fn no_more_than_the_tokens_are_in_flight() {
    let mut reached = 0;
    for tokens in [1, 2, 7] {
        for steps in
            [vec![Step::Map { parallel: true }, Step::Paths], vec![MANY, Step::Map { parallel: false }, MANY]]
        {
            for (config, options) in configs() {
                for capacity in [Some(1), None] {
                    let what =
                        format!("{steps:?}, {tokens} tokens, channels of {capacity:?} items, {config}");
                    let run =
                        watch(what.clone(), || run_with_tokens(&steps, (300, 7), tokens, capacity, &options));
                    assert_eq!(run.results, run.expected, "{what}");
                    assert!(run.most <= tokens, "{} in flight: {what}", run.most);
                    assert!(!run.has_grown(), "{what}");
                    reached = reached.max(run.most);
                }
            }
        }
    }
    assert_eq!(reached, 7, "the tokens are used");
}

/// Before the entry and after the exit wait at most as many items each.
#[test]
fn the_source_is_not_far_ahead_of_the_sink() {
    for tokens in [1, 2, 7] {
        for (config, options) in configs() {
            let (made, taken, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            let items = (0..2000u64).inspect(|_| {
                let ahead = made.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
                most.fetch_max(ahead, Ordering::SeqCst);
            });
            let all = Graph::new().source(items).par_map(|x| x).for_each(|_| {
                taken.fetch_add(1, Ordering::SeqCst);
            });
            watch(config.clone(), || all.run_with(&options.tokens(tokens)).unwrap());
            assert!(
                most.load(Ordering::SeqCst) <= 3 * tokens,
                "{most:?} ahead with {tokens} tokens, {config}"
            );
        }
    }
}

#[derive(Clone, Debug)]
struct Case {
    steps: Vec<Step>,
    items: (u32, u64),
    tokens: usize,
    capacity: Option<usize>,
    options: (usize, &'static str, bool, Option<usize>),
}

fn case() -> impl Strategy<Value = Case> {
    let policies: Vec<_> = thalweg::embed::policy::registry::names().collect();
    let capacity = || prop_oneof![Just(None), (1..=6usize).prop_map(Some)];
    let options = (1..=4usize, prop::sample::select(policies), prop::bool::weighted(0.1), capacity());
    (steps(), (0..=120u32, any::<u64>()), 1..=9usize, capacity(), options).prop_map(
        |(steps, items, tokens, capacity, options)| Case { steps, items, tokens, capacity, options },
    )
}

#[test]
fn random_chains_have_the_same_results_with_tokens() {
    for_each(20, case(), |case| {
        let (threads, policy, one_to_one, capacity) = case.options;
        let options = Options::new().threads(threads).policy(policy);
        let options = capacity.iter().fold(options, |options, items| options.capacity(*items));
        let options = if one_to_one { options.thread_per_node() } else { options };
        let run: Measured = watch(format!("{case:#?}"), || {
            run_with_tokens(&case.steps, case.items, case.tokens, case.capacity, &options)
        });
        prop_assert_eq!(&run.results, &run.expected);
        let exit =
            run.report.graph().nodes().iter().rfind(|node| node.name().starts_with("in_flight")).unwrap();
        let limit = if run.has_grown() { run.limit(exit.name()) } else { case.tokens };
        let limit = limit + slack(&case.steps);
        prop_assert!(run.most <= limit, "{} in flight, limit {}", run.most, limit);
        prop_assert!(!run.has_grown() || !needs_one_item_a_firing(&case.steps), "a limit grew");
        Ok(())
    });
}

/// The ends may be processes, wait for the outside, hold initial items, weigh items, or be outside of the graph.
#[test]
fn any_node_can_be_the_source_or_the_sink() {
    let expected: Vec<u64> = (0..100).map(|x| 3 * x).collect();
    for (config, options) in configs() {
        let options = options.tokens(2);
        watch(config.clone(), || {
            let graph = Graph::new();
            let numbers = graph.process("numbers", (), output("out"), |(), mut tx| async move {
                for i in 0..100u64 {
                    tx.send(i).await;
                }
            });
            let tripled = numbers.capacity(50).par_map(|x| 3 * x);
            let all: Output<'_, Vec<u64>> = graph.process("all", tripled, (), |mut rx, ()| async move {
                let mut all = Vec::new();
                while let Some(item) = rx.recv().await {
                    all.push(item);
                }
                Value(all)
            });
            let run = graph.run_with(&options).unwrap();
            assert_eq!(run.take(all).unwrap(), expected, "{config}");

            let graph = Graph::new();
            let (back, numbers) = graph.feedback([0u64, 1]);
            graph.source(2..100u64).blocking().feed(back);
            let tripled = numbers.par_map(|x| vec![x; 3]).weigh(Vec::len);
            let all = tripled.fold(Vec::new(), |mut all, x| {
                all.push(x.iter().sum::<u64>());
                all
            });
            assert_eq!(
                all.run_with(&options.clone().budget(4096)).unwrap().into_value(),
                expected,
                "{config}"
            );

            let outlet = Graph::new().source(0..100u64).par_map(|x| 3 * x).start_with(&options).unwrap();
            assert_eq!(outlet.collect::<Vec<_>>(), expected, "{config}");
        });
    }
}

/// Two items are in the sink's channel when the run starts: they have no tokens, and free none.
#[test]
fn initial_items_before_the_sink_take_no_token() {
    for (config, options) in configs() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let graph = Graph::new();
        let (back, before) = graph.feedback([7u64, 8]);
        let begun = graph.source(0..50u64).map(|x| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            x
        });
        let ended = begun.par_map(|x| x).map(|x| {
            now.fetch_sub(1, Ordering::SeqCst);
            x
        });
        ended.feed(back);
        let all = before.collect();
        let all = watch(config.clone(), || all.run_with(&options.tokens(1)).unwrap()).into_value();
        assert_eq!(all, [7, 8].into_iter().chain(0..50).collect::<Vec<_>>(), "{config}");
        assert_eq!(most.load(Ordering::SeqCst), 1, "{config}");
    }
}

#[test]
fn a_source_beside_its_sink_and_loops_between_them_are_sections() {
    for (config, options) in configs() {
        let options = options.tokens(3);
        watch(config.clone(), || {
            let all = Graph::new().source(0..50u64).collect().run_with(&options).unwrap();
            assert_eq!(*all, (0..50).collect::<Vec<_>>(), "{config}");
            let graph = Graph::new();
            let (back, before) = graph.feedback([0u64]);
            let (out, next) = before
                .zip(graph.source(0..50u64))
                .map(|(sum, x)| sum + x)
                .kernel("copy", (output("out").push(1), output("next").push(1)))
                .sequential(|sums, (out, next)| {
                    let sum = sums.pop();
                    out.push(sum);
                    next.push(sum);
                });
            next.feed(back);
            let sums = out.collect().run_with(&options).unwrap();
            assert_eq!(*sums, (0..50).map(|x| x * (x + 1) / 2).collect::<Vec<u64>>(), "{config}");
        });
    }
}

fn chain() -> Output<'static, Vec<u64>> {
    Graph::new().source(0..100u64).par_flat_map(|x| [x; 2]).named("twice").collect()
}

#[test]
fn a_plan_with_tokens_is_for_runs_with_tokens() {
    let options = Options::new().threads(2);
    let report = chain().run_with(&options.clone().tokens(5)).unwrap().into_parts().1;
    let text = report.plan_text();
    for name in ["in_flight.entry", "in_flight"] {
        assert!(text.contains(name), "{text}");
        assert!(report.graph().nodes().iter().any(|node| node.name() == name && node.outputs().len() <= 2));
    }
    let plan = Plan::read(&text, report.graph()).unwrap();
    let with = |options: Options| chain().run_with(&options.plan(plan.clone()));
    assert_eq!(with(Options::new().tokens(5)).unwrap().len(), 200);
    let refused = with(Options::new()).unwrap_err().into_error();
    assert!(matches!(refused, Error::Plan(_)), "{refused}");
    let plain = chain().run_with(&options).unwrap().into_parts().1;
    assert_eq!(plain.graph().nodes().len() + 2, report.graph().nodes().len());
}

/// The whole text of the error with which tokens are refused.
fn refused<T: Send + 'static>(items: Stream<'static, T>) -> String {
    let failed =
        items.for_each(drop).run_with(&Options::new().threads(1).tokens(3)).unwrap_err().into_error();
    assert!(matches!(failed, Error::Options(_)), "{failed:?}");
    format!("{failed:?}")
}

fn numbers() -> Stream<'static, u64> {
    Graph::new().source(0..10u64)
}

#[test]
fn dynamic_rates_are_refused_by_name() {
    let text = |port: &str, why: &str, help: &str| {
        format!(
            "`tokens`: `{port}` between the source and the sink has a dynamic rate{why}, so that an item's descendants \
             cannot be counted\nhelp: {help}limit a part of the graph with `in_flight`"
        )
    };
    let parallel =
        "make its node parallel, as that of `par_flat_map` is, or declare how many items it pushes, or ";
    let error = refused(numbers().filter(|x| x % 2 == 0).named("even").map(|x| x));
    assert_eq!(error, text("even.out", " and its node is not parallel", parallel));
    let error = refused(numbers().par_filter_map(Some).named("any").unordered());
    assert_eq!(error, text("any.out", " and its node is unordered", "leave out `unordered`, or "));
    let error = refused(numbers().kernel("process", output("out")).process(|mut rx, mut tx| async move {
        while let Some(item) = rx.recv().await {
            tx.send(item).await;
        }
    }));
    let kernel = "write its node as a kernel with declared rates, or ";
    assert_eq!(error, text("process.in", "", kernel));
    let (a, b) = numbers().tee();
    let error = refused(a.par_flat_map(|x| [x]).named("some").zip(b));
    assert_eq!(error, text("some.out", " and another path leads past it", ""));
}

#[test]
fn other_graphs_are_refused_by_name() {
    let text = |many: &str| {
        format!(
            "`tokens` limits the items between one source and one sink, and the graph has {many}\n\
             help: leave out `tokens`, and limit a part of the graph with `in_flight`"
        )
    };
    let first = numbers().named("first");
    let second = first.graph().source(0..10u64).named("second");
    assert_eq!(refused(first.zip(second)), text("2 sources: `first`, `second`"));

    let (a, b) = numbers().map(|x| x).tee();
    a.discard();
    assert_eq!(refused(b), text("2 sinks: `discard`, `for_each`"));

    let graph = Graph::new();
    let (a, b) = graph
        .kernel("split", (), (output::<u64>("a"), output::<u64>("b")))
        .sequential(|(), _| std::ops::ControlFlow::<()>::Break(()));
    assert_eq!(refused(a.zip(b)), text("2 outputs of its source: `split.a`, `split.b`"));

    let (a, b) = numbers().map(|x| x).tee();
    let graph = a.graph();
    graph.kernel("last", (input("a", a), input("b", b)), ()).sequential(|(a, b), ()| {
        a.pop();
        b.pop();
    });
    let error = graph.run_with(&Options::new().tokens(1)).unwrap_err().into_error();
    assert_eq!(format!("{error:?}"), text("2 inputs of its sink: `last.a`, `last.b`"));

    let graph = Graph::new();
    let (back, items) = graph.feedback([3u64]);
    items.par_map(|x| x).feed(back);
    let error = graph.run_with(&Options::new().tokens(1)).unwrap_err().into_error();
    assert_eq!(format!("{error:?}"), text("no source"));

    let none = chain().run_with(&Options::new().tokens(0)).unwrap_err().into_error();
    assert_eq!(format!("{none:?}"), "tokens 0: at least 1 is needed\nhelp: leave it out for the default");
}

/// What a refused run had is dropped once, and quietly.
#[test]
fn a_refused_graph_drops_its_items() {
    let held = std::sync::Arc::new(());
    let item = held.clone();
    let items = Graph::new().source((0..3).map(move |_| item.clone()));
    refused(items.filter(|_| true));
    assert_eq!(std::sync::Arc::strong_count(&held), 1);
}
