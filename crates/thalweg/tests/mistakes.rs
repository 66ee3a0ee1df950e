//! Mistakes in building graphs: errors that name nodes and ports, and the drop of refused graphs.

use crate::support;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::embed::graph::Fault;
use thalweg::error::BuildError;
use thalweg::{Error, Graph, Options, Output, Stream, Value, input, output, window};

/// Numbers that set `ran` when they are pulled.
fn noted(ran: &Arc<AtomicBool>) -> impl Iterator<Item = u64> + Send + 'static {
    let ran = ran.clone();
    (0..10u64).inspect(move |_| ran.store(true, Ordering::Relaxed))
}

#[test]
fn a_stream_without_a_consumer_is_refused_before_anything_runs() {
    let ran = Arc::new(AtomicBool::new(false));
    let refused = |ended: Result<(), Error>, ports: &[&str]| {
        let Err(Error::Build(refused)) = ended else { panic!("not refused: {ended:?}") };
        let faults = refused.faults();
        let expected = ports.iter().map(|port| Fault::DanglingOutput { output: (*port).to_owned() });
        assert_eq!(faults, expected.collect::<Vec<_>>());
        for (fault, port) in faults.iter().zip(ports) {
            let text = fault.to_string();
            assert!(text.contains(&format!("output `{port}`")) && text.contains("`discard`"), "{text}");
        }
        assert!(!ran.load(Ordering::Relaxed));
    };
    let make = || {
        let graph = Graph::new();
        let numbers = graph.source(noted(&ran)).named("numbers");
        let (even, odd) =
            numbers.kernel("part", (output("even"), output("odd"))).sequential(|items, (even, odd)| {
                let item = items.pop();
                if item % 2 == 0 { even.push(item) } else { odd.push(item) }
            });
        (graph, even, odd)
    };
    let options = Options::new();

    let (graph, even, odd) = make();
    drop((even, odd));
    refused(graph.run_with(&options).map(drop).map_err(Error::from), &["part.even", "part.odd"]);
    let (graph, even, odd) = make();
    let _odd = odd.par_map(|item| item).named("last");
    even.discard();
    refused(graph.run_with(&options).map(drop).map_err(Error::from), &["last.out"]);
    let (_graph, even, odd) = make();
    let all = even.collect();
    drop(odd);
    refused(all.run_with(&options).map(drop).map_err(Error::from), &["part.odd"]);
    let (_graph, even, odd) = make();
    drop(odd);
    refused(even.start_with(&options).map(drop), &["part.odd"]);
    let (graph, ..) = make();
    _ = graph.source(noted(&ran)).named("alone");
    refused(graph.build().map(drop).map_err(Error::from), &["part.even", "part.odd", "alone.out"]);

    // The correct graph runs.
    let (_graph, even, odd) = make();
    odd.discard();
    assert_eq!(even.collect().run_with(&options).unwrap().into_value(), [0, 2, 4, 6, 8]);
    assert!(ran.load(Ordering::Relaxed));
}

#[test]
fn a_feedback_channel_that_is_left_open_is_refused() {
    let graph = Graph::new();
    let (_back, items) = graph.feedback([1u64]);
    items.for_each(drop).named("end");
    let error = format!("{:?}", graph.run().unwrap_err());
    assert!(
        error.contains("input `end.in` is connected to nothing\nhelp: close its feedback channel"),
        "{error}"
    );
}

fn faults<T>(built: Result<T, BuildError>) -> Vec<Fault> {
    built.map(drop).expect_err("not refused").faults().to_vec()
}

#[test]
fn a_graph_is_built_once() {
    let options = Options::new();
    let graph = Graph::new();
    let numbers = graph.source(0..10u64);
    let (again, last) = (numbers.graph(), numbers.graph());
    let all = numbers.collect();
    let run = graph.run_with(&options).unwrap();
    assert_eq!(faults(again.build()), [Fault::Built]);
    let error = last.run_with(&options).unwrap_err();
    assert!(error.to_string().contains("the graph was already built"), "{error}");
    // Operations on handles of a built graph have no effect.
    assert_eq!(run.take(all.named("late").blocking()).unwrap().len(), 10);
    assert_eq!(run.report().graph().nodes()[1].name(), "collect");

    // Through the handle of an output, of a stream, and after a failed build.
    let graph = Graph::new();
    let (all, sum) = (graph.source(0..10u64).collect(), graph.source(0..10u64).fold(0, |sum, x| sum + x));
    assert!(all.run_with(&options).is_ok());
    assert!(
        matches!(sum.run_with(&options).map_err(Error::from), Err(Error::Build(error)) if error.faults() == [Fault::Built])
    );
    let graph = Graph::new();
    let (one, two) = (graph.source(0..10u64), graph.source(0..10u64));
    assert_eq!(faults(graph.build()).len(), 2);
    assert!(matches!(one.start_with(&options), Err(Error::Build(error)) if error.faults() == [Fault::Built]));
    assert!(
        matches!(two.collect().run_with(&options).map_err(Error::from), Err(Error::Build(error)) if error.faults() == [Fault::Built])
    );
}

/// Nodes of any kind that are added to a built graph do not run.
#[test]
fn a_built_graph_accepts_no_more_nodes() {
    let ran = Arc::new(AtomicBool::new(false));
    let graph = Graph::new();
    let (numbers, late) = (graph.source(0..10u64), graph.source(noted(&ran)));
    let (handle, (back, round)) = (numbers.graph(), graph.feedback([1u64]));
    assert!(graph.build().is_err());
    let joined = numbers.unordered().zip(late.par_map(|item| item).workers(2).named("late"));
    let sum = joined.fold(0, |sum, (a, b)| sum + a + b);
    let (text, value) = handle.process("value", round, output("out"), |_, tx| async move {
        drop(tx);
        Value(1)
    });
    text.feed(back);
    handle.source(noted(&ran)).par_iterate(3, ControlFlow::Break).named("round").discard();
    assert_eq!(faults(value.graph().build()), [Fault::Built]);
    assert!(sum.run().is_err());
    assert!(!ran.load(Ordering::Relaxed));
}

fn setting(node: &str, detail: &str) -> Fault {
    Fault::Setting { node: node.to_owned(), detail: detail.to_owned() }
}

const NOT_PARALLEL: &str = "it is not parallel";
const PARALLEL: &str = "`blocking`: it is parallel, and its firings share the workers";

/// Each mistake alone: the error names the setting and the node, and nothing else.
#[test]
fn a_setting_of_the_wrong_node_is_refused_by_name() {
    type Make = fn(&Graph<'static>) -> Stream<'static, u64>;
    fn numbers(graph: &Graph<'static>) -> Stream<'static, u64> {
        graph.source(0..9u64).named("numbers")
    }
    fn kernel(
        graph: &Graph<'static>,
    ) -> thalweg::Kernel<'static, Stream<'static, u64>, thalweg::node::PushSpec<u64>> {
        numbers(graph).kernel("kernel", output("out"))
    }
    let pass = "`framed`: a process pops from its inputs by receiving";
    let last = "`finish`: a process sends its last items before it ends";
    let wrong: [(Make, Fault); 15] = [
        (|g| numbers(g).unordered(), setting("numbers", &format!("`unordered`: {NOT_PARALLEL}"))),
        (|g| numbers(g).workers(2), setting("numbers", &format!("`workers`: {NOT_PARALLEL}"))),
        (|g| numbers(g).map(|x| x).unordered(), setting("map", &format!("`unordered`: {NOT_PARALLEL}"))),
        (
            |g| numbers(g).filter(|_| true).workers(1),
            setting("filter", &format!("`workers`: {NOT_PARALLEL}")),
        ),
        (|g| numbers(g).par_map(|x| x).blocking(), setting("par_map", PARALLEL)),
        (|g| numbers(g).par_iterate(2, ControlFlow::Break).blocking(), setting("par_iterate", PARALLEL)),
        (
            |g| kernel(g).unordered().sequential(|items, out| out.push(items.pop())),
            setting("kernel", &format!("`unordered`: {NOT_PARALLEL}")),
        ),
        (
            |g| kernel(g).workers(3).sequential(|items, out| out.push(items.pop())),
            setting("kernel", &format!("`workers`: {NOT_PARALLEL}")),
        ),
        (|g| kernel(g).blocking().parallel(|items, out| out.push(items.pop())), setting("kernel", PARALLEL)),
        (
            |g| kernel(g).finish(|out| out.push(1)).parallel(|items, out| out.push(items.pop())),
            setting("kernel", "`finish`: it is parallel, and has no last firing to finish after"),
        ),
        (
            |g| {
                let kernel = numbers(g).kernel("kernel", output("out").push(1)).finish(|out| out.push(1));
                kernel.sequential(|items, out| out.push(items.pop()))
            },
            setting(
                "kernel",
                "`finish` pushes items after the last firing, so its outputs need dynamic rates: leave out `push`",
            ),
        ),
        (
            |g| kernel(g).framed(|_| Ok(Some(1))).process(|rx, tx| async { drop((rx, tx)) }),
            setting("kernel", pass),
        ),
        (|g| kernel(g).finish(|_| ()).coroutine(|rx, tx| drop((rx, tx))), setting("kernel", last)),
        (
            |g| kernel(g).unordered().process(|rx, tx| async { drop((rx, tx)) }),
            setting("kernel", &format!("`unordered`: {NOT_PARALLEL}")),
        ),
        (
            |g| {
                numbers(g).discard();
                g.kernel("kernel", (), output("out")).parallel(|(), out| out.push(1))
            },
            setting("kernel", "`parallel`: it has no input, whose items the firings follow"),
        ),
    ];
    for (make, fault) in wrong {
        let graph = Graph::new();
        let all = make(&graph).collect();
        let Err(Error::Build(error)) = all.run().map_err(Error::from) else { panic!("not refused: {fault}") };
        assert_eq!(error.faults(), std::slice::from_ref(&fault));
        let Fault::Setting { node, detail } = fault else { unreachable!() };
        assert_eq!(error.to_string(), format!("the graph cannot be run: node `{node}` cannot have {detail}"));
    }

    let graph = Graph::new();
    let inputs: Vec<_> = (0..65).map(|_| graph.source(0..3u64)).collect();
    graph.merge(inputs).named("many").discard();
    let detail = "65 inputs: a merge has at most 64, so merge in two steps";
    assert_eq!(faults(graph.build()), [setting("many", detail)]);
}

/// All mistakes are reported, without follow-up errors; each with the final name of its node.
#[test]
fn mistakes_are_reported_together_with_final_names() {
    let graph = Graph::new();
    let early = graph.source(0..9u64).unordered().named("early");
    let middle = early.map(|x| x).workers(3).unordered().named("first").named("middle");
    let late = middle.par_iterate(4, ControlFlow::Break).blocking().named("late");
    let end = late.collect();
    // Valid settings, and a stream without a consumer, which is only reported if there is no other mistake.
    let end = end.blocking().named("end");
    let _open = graph.source(0..9u64).named("open").blocking();
    let expected = [
        setting("early", &format!("`unordered`: {NOT_PARALLEL}")),
        setting("middle", &format!("`workers`: {NOT_PARALLEL}")),
        setting("middle", &format!("`unordered`: {NOT_PARALLEL}")),
        setting("late", PARALLEL),
    ];
    assert_eq!(faults(end.graph().build()), expected);

    let graph = Graph::new();
    let zipped = graph.source(0..9u64).zip(Graph::new().source(0..9u64)).named("pairs");
    zipped.for_each(drop);
    assert_eq!(faults(graph.build()), [Fault::Foreign { input: "pairs.in1".to_owned() }]);
}

/// A name that another node has gets a suffix; naming a node by its own name again adds none.
#[test]
fn names_are_unique() {
    let graph = Graph::new();
    let one = graph.source(0..9u64).named("x").named("x");
    let two = graph.source(0..9u64).named("x");
    one.zip(two).par_iterate(2, ControlFlow::Break).named("x").for_each(drop).named("x");
    let network = graph.build().unwrap();
    let names: Vec<&str> = network.graph().nodes().iter().map(|node| node.name()).collect();
    assert_eq!(names, ["x", "x-2", "zip", "x.gate", "x-3", "x-4"]);
}

/// Settings of an operator that consists of two nodes apply to the parallel one.
#[test]
fn settings_of_a_round_apply_to_its_step() {
    let graph = Graph::new();
    let rounds = graph.source(0..100u64).par_iterate(8, |item| match item % 7 {
        0 => ControlFlow::Break(item),
        _ => ControlFlow::Continue(item + 1),
    });
    let all = rounds.workers(1).unordered().capacity(3).named("seventh").collect();
    let network = graph.build().unwrap();
    let node = |name: &str| network.graph().nodes().iter().find(|node| node.name() == name).unwrap().clone();
    assert_eq!((node("seventh").workers(), node("seventh").unordered()), (Some(1), true));
    assert_eq!((node("seventh.gate").workers(), node("seventh.gate").unordered()), (None, false));
    let run = network.run_with(&Options::new().threads(3)).unwrap();
    assert!(run.take(all).unwrap().into_iter().eq((0..100u64).map(|item| item.next_multiple_of(7))));
}

/// Every way to join streams of two graphs is refused, in both graphs.
#[test]
fn streams_of_two_graphs_are_refused() {
    type Join = fn(&Graph<'static>, Stream<'static, u64>, Stream<'static, u64>);
    let joins: [(Join, &str); 6] = [
        (|_, own, other| own.zip(other).discard(), "zip.in1"),
        (|graph, own, other| graph.merge([own, other]).discard(), "merge.in1"),
        (
            |graph, own, other| {
                let kernel = graph.kernel("add", (input("own", own), input("other", other).pop(2)), ());
                kernel.sequential(|(own, other), ()| _ = own.pop() + other.pop() + other.pop());
            },
            "add.other",
        ),
        (
            |graph, own, other| {
                let kernel = graph.kernel("look", (own, window("other", other).peek(2)), ());
                kernel.parallel(|(own, other), ()| _ = own.pop() + other[0]);
            },
            "look.other",
        ),
        (
            |graph, own, other| {
                graph.process("read", (own, other), (), |ends, ()| async { drop(ends) });
            },
            "read.in1",
        ),
        (
            |graph, own, other| {
                _ = graph.coroutine("read", vec![own, other], (), |ends, ()| Value(ends.len()));
            },
            "read.in1",
        ),
    ];
    for (join, port) in joins {
        let ran = Arc::new(AtomicBool::new(false));
        let (graph, foreign) = (Graph::new(), Graph::new());
        let own = graph.source(noted(&ran)).named("own");
        let other = foreign.source(noted(&ran)).named("other");
        join(&graph, own, other);
        let expected = Fault::Foreign { input: port.to_owned() };
        let text = expected.to_string();
        assert!(
            text.contains(&format!("input `{port}` is connected to a stream of another graph")),
            "{text}"
        );
        assert_eq!(faults(graph.build()), [expected]);
        // The other graph has lost its stream, so it is refused too.
        let Err(error) = foreign.run() else { panic!("not refused") };
        assert!(error.to_string().contains("output `other.out`"), "{error}");
        assert!(!ran.load(Ordering::Relaxed));
    }
}

/// Two graphs with streams of each other, and a ledger of the items that their sources hold.
fn mixed_graphs() -> (Arc<Ledger>, Graph<'static>, Graph<'static>) {
    let ledger = Ledger::new();
    let (one, two) = (Graph::new(), Graph::new());
    let source = |graph: &Graph<'static>| {
        let make = Counted::make(1, &ledger);
        graph.source((0..10u64).map(move |item| item + make.value()))
    };
    source(&one).zip(source(&two)).discard();
    source(&two).zip(source(&one)).discard();
    assert_eq!(ledger.live(), 4);
    (ledger, one, two)
}

#[test]
fn mixed_graphs_are_dropped_when_they_are_built() {
    let (ledger, one, two) = mixed_graphs();
    assert!(one.build().is_err() && two.build().is_err());
    assert_eq!(ledger.live(), 0);
}

#[test]
fn mixed_graphs_are_dropped_without_being_built() {
    let (ledger, one, two) = mixed_graphs();
    drop((one, two));
    assert_eq!(ledger.live(), 0);
}

/// The values captured by a weight function are dropped while the graph is not locked: their drop may use the graph.
#[test]
fn a_replaced_weight_is_dropped_without_the_lock_of_the_graph() {
    struct ReadOnDrop(Graph<'static>, Arc<AtomicBool>);
    impl Drop for ReadOnDrop {
        fn drop(&mut self) {
            self.1.store(self.0.data().nodes().len() == 2, Ordering::Relaxed);
        }
    }

    let (graph, dropped) = (Graph::new(), Arc::new(AtomicBool::new(false)));
    let captured = ReadOnDrop(graph.source(0..1u64).graph(), dropped.clone());
    let (back, round) = graph.feedback([1u64]);
    let round = round.weigh(|_| 1);
    let next = round.map(|item| item).weigh(move |_| captured.1.load(Ordering::Relaxed).into());
    watch("feed", || next.feed(back));
    assert!(dropped.load(Ordering::Relaxed));
}

#[test]
fn a_feedback_channel_is_closed_with_a_stream_of_its_graph() {
    let foreign = "cannot be closed: it was given a stream of another graph";
    let own = "cannot be closed: it was given the stream of a feedback channel: pass that through a node";
    for (own_graph, detail) in [(false, foreign), (true, own)] {
        let graph = Graph::new();
        let (back, round) = graph.feedback([1u64]);
        round.for_each(drop);
        let (_open, stream) = if own_graph { graph.feedback([2]) } else { Graph::new().feedback([2]) };
        stream.feed(back);
        let Err(Error::Build(error)) = graph.run().map_err(Error::from) else { panic!("not refused") };
        let [Fault::Feedback { detail: found, .. }, ..] = error.faults() else { panic!("{error}") };
        assert_eq!(found, detail);
        assert!(
            error.to_string().contains(&format!("the feedback channel into input `for_each.in` {detail}")),
            "{error}"
        );
    }
}

#[test]
fn a_setting_of_a_feedback_channels_missing_producer_is_refused() {
    let graph = Graph::new();
    let (back, round) = graph.feedback([1u64]);
    round.workers(2).map(|item| item).feed(back);
    let refused = graph.run().unwrap_err().to_string();
    assert!(
        refused
            .contains("the feedback channel into input `map.in` cannot have `workers`, a setting of a node"),
        "{refused}"
    );
}

/// Several threads build one graph through its handles.
#[test]
fn a_graph_is_built_by_several_threads() {
    for _ in 0..50 {
        let graph = Graph::new();
        let sums: Vec<Output<'_, u64>> = std::thread::scope(|scope| {
            let spawn = |i: u64| {
                let own = graph.source(0..i * 10);
                scope.spawn(move || {
                    own.par_map(move |item| item + i).named("add").capacity(4).fold(0, |sum, item| sum + item)
                })
            };
            let threads: Vec<_> = (0..6).map(spawn).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let run = watch("built by threads", || graph.run_with(&Options::new().threads(2)).unwrap());
        for (i, sum) in (0u64..).zip(sums) {
            assert_eq!(run.take(sum).unwrap(), (0..i * 10).map(|item| item + i).sum::<u64>());
        }
    }
}

/// Iterators passed to `merge` and `feedback` may add nodes to the same graph: they are not polled under its lock.
#[test]
fn iterators_passed_to_a_graph_may_add_nodes_to_it() {
    let graph = Graph::new();
    let merged =
        graph.merge((0..4u64).map(|i| graph.source(i * 10..i * 10 + 10).named(&format!("from {i}"))));
    let (back, round) = graph.feedback((0..3u64).inspect(|_| graph.source(0..3u64).discard()));
    round.zip(merged).map(|(token, item)| (token + item) % 3).named("round").feed(back);
    watch("merged", || graph.run_with(&Options::new().deadline(Duration::from_secs(20))).unwrap());
}

#[test]
fn a_function_that_makes_a_process_may_panic() {
    let graph = Graph::new();
    graph.process("early", (), (), |(), ()| {
        if std::hint::black_box(true) {
            panic!("made of nothing");
        }
        async {}
    });
    let failed = graph.run().unwrap_err().to_string();
    assert_eq!(failed, "node `early` panicked: made of nothing");
    let graph = Graph::new();
    let (back, round) = graph.feedback([1u64]);
    round.weigh(|_| panic!("too heavy")).map(|x| x).feed(back);
    let failed = graph.run().unwrap_err().to_string();
    assert_eq!(failed, "node `map` panicked: too heavy");
}
