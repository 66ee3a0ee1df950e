//! The ways to build a graph: operators and kernels build the same graph, with the same text, plan and result, and
//! mistakes are refused.

use std::panic::{AssertUnwindSafe, catch_unwind};
use thalweg::{Graph, Options, from_iter, input, output, window};

#[test]
fn operators_and_kernels_build_the_same_graph() {
    let chain = from_iter(0..100u64)
        .named("numbers")
        .capacity(32)
        .par_windows(4, 1, |window| window.as_slice().iter().sum::<u64>())
        .named("sums")
        .filter(|sum| sum % 3 != 0)
        .named("sieve")
        .for_each(|_| {})
        .named("end")
        .graph()
        .build()
        .unwrap();

    let graph = Graph::new();
    let numbers = graph.source(0..100u64).named("numbers").capacity(32);
    let sums = graph
        .kernel("sums", window("in", numbers).pop(1).peek(4), output::<u64>("out").push(1))
        .parallel(|window, out| out.push(window.as_slice().iter().sum()));
    let sieved = graph.kernel("sieve", input("in", sums), output("out")).sequential(|sums, out| {
        let sum = sums.pop();
        if sum % 3 != 0 {
            out.push(sum);
        }
    });
    sieved.for_each(|_| {}).named("end");
    let built = graph.build().unwrap();

    assert_eq!(chain.graph().to_string(), built.graph().to_string());
    let options = Options::new().threads(2);
    let (chain, built) = (chain.prepare(&options).unwrap(), built.prepare(&options).unwrap());
    assert_eq!(chain.plan().to_string(), built.plan().to_string());
    let items = |run: thalweg::Run| run.report().channels().iter().map(|c| c.items()).collect::<Vec<_>>();
    assert_eq!(items(chain.run().unwrap()), items(built.run().unwrap()));
}

/// A capacity that no machine can allocate is refused, with the name of its channel, before anything is allocated.
#[test]
fn impossible_sizes_are_refused() {
    for (flow, options) in [
        (from_iter(0..10u64).capacity(usize::MAX).for_each(drop), Options::new()),
        (from_iter(0..10u64).capacity(1 << 60).for_each(drop), Options::new()),
        (from_iter(0..10u64).for_each(drop), Options::new().capacity(usize::MAX)),
    ] {
        let error = flow.run_with(&options).unwrap_err().to_string();
        assert!(error.contains("items of 8 bytes") && error.contains(" -> "), "{error}");
    }
    let error = from_iter(0..10u64).for_each(drop).run_with(&Options::new().threads(100_000)).unwrap_err();
    assert!(error.to_string().contains("100000 threads"), "{error}");
}

/// A framing function that peeks beyond the end of its stream is called once more at the end; one that returns a
/// stale `NotYet` fails.
#[test]
fn a_framing_function_cannot_spin() {
    let graph = Graph::new();
    let items = graph.source(0..10u64).named("items");
    graph
        .kernel("far", input("in", items), ())
        .framed(|items| items.peek(usize::MAX).map(|_| None))
        .sequential(|_, ()| {});
    graph.run().unwrap();

    let graph = Graph::new();
    let (items, mut stale) = (graph.source(0..10u64).named("items"), None);
    graph
        .kernel("stale", input("in", items), ())
        .framed(move |items| match stale {
            Some(stale) => Err(stale),
            None => {
                stale = items.peek(100).err();
                items.peek(100).map(|_| None)
            }
        })
        .sequential(|_, ()| {});
    let error = graph.run().unwrap_err();
    assert!(error.to_string().contains("node `stale` panicked"), "{error}");
}

/// An iterator that waits until its caller has used the previous result.
#[test]
fn requests_may_follow_responses() {
    use thalweg::ParallelExt;
    let (tx, rx) = std::sync::mpsc::channel();
    let mut results = rx.into_iter().par_map(|x: u64| x + 1);
    for i in 0..50 {
        tx.send(i).unwrap();
        assert_eq!(results.next().unwrap(), i + 1);
    }
    drop(tx);
    assert!(results.next().is_none());
}

/// A failure names its stage or the iterator. The panic of a stage that returns no errors names the stage if its run
/// is refused.
#[test]
fn adaptors_name_what_panicked() {
    use thalweg::ParallelExt;
    let text = |error: thalweg::Error| error.to_string();
    let last =
        |results: Vec<Result<u64, thalweg::Error>>| text(results.into_iter().last().unwrap().unwrap_err());
    let fail = |x: u64| if x == 3 { panic!("three") } else { x };
    let map = last((0..9).try_par_map(move |x| Ok::<_, thalweg::Error>(fail(x))).collect());
    assert_eq!(map, "node `try_par_map` panicked: three");
    let iterator = last((0..9).map(fail).try_par_map(Ok::<_, thalweg::Error>).collect());
    assert_eq!(iterator, "node `iterator` panicked: three");

    let refused = |mut results: thalweg::Ordered<'static, u64>, name: &str| {
        results = results.options(Options::new().capacity(usize::MAX));
        let panic = catch_unwind(AssertUnwindSafe(|| results.next())).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains(&format!("source.out -> {name}.in")), "{text}");
    };
    refused((0..9).par_map(fail), "par_map");
    refused((0..9).par_filter_map(move |x| Some(fail(x))), "par_filter_map");
    refused((0..9).par_flat_map(move |x| Some(fail(x))), "par_flat_map");
}

/// Options have an effect in a scope too: no run starts before the first call of `next`.
#[test]
fn scoped_adaptors_take_options() {
    let numbers = [1u64, 2, 3];
    let nonsense = || Options::new().policy("nonsense");
    let error = thalweg::scope(|scope| {
        let results = scope.try_par_map(numbers.iter(), |x| Ok::<_, thalweg::Error>(x + 1));
        results.options(nonsense()).next().unwrap()
    });
    assert!(error.unwrap_err().to_string().contains("nonsense"));
    let panic = thalweg::scope(|scope| {
        let mut results = scope.par_map(numbers.iter(), |x| x + 1).options(nonsense());
        catch_unwind(AssertUnwindSafe(|| results.next())).unwrap_err()
    });
    assert!(panic.downcast_ref::<String>().unwrap().contains("nonsense"));
}

#[test]
fn a_parallel_kernel_is_not_blocking() {
    let graph = Graph::new();
    let items = graph.source(0..10u64).named("items");
    let kernel = graph.kernel("both", input("in", items), ()).blocking();
    kernel.parallel(|items, ()| _ = items.try_pop());
    let error = graph.build().unwrap_err().to_string();
    assert!(error.contains("node `both` cannot have `blocking`: it is parallel"), "{error}");
}

#[test]
fn two_ports_with_one_name_are_refused() {
    let graph = Graph::new();
    let (a, b) = (graph.source(0..10u64).named("a"), graph.source(0..10u64).named("b"));
    graph
        .kernel("zip", (input("in", a), input("in", b)), ())
        .sequential(|(a, b), ()| assert_eq!(a.pop(), b.pop()));
    let error = graph.build().unwrap_err().to_string();
    assert!(error.contains("node `zip` has two inputs or two outputs named `in`"), "{error}");
}

#[test]
fn a_stream_of_another_graph_is_refused() {
    let (graph, other) = (Graph::new(), Graph::new());
    let items = other.source(0..10u64).named("items");
    graph.kernel("end", input("in", items), ()).sequential(|items, ()| _ = items.pop());
    let error = graph.build().unwrap_err().to_string();
    assert!(error.contains("input `end.in` is connected to a stream of another graph"), "{error}");
}

#[test]
fn a_feedback_channel_cannot_be_closed_with_another() {
    let graph = Graph::new();
    let ((one, _first), (_two, second)) = (graph.feedback([1u64]), graph.feedback([2]));
    second.feed(one);
    let error = graph.build().unwrap_err().to_string();
    let expected = "a feedback channel cannot be closed: it was given the stream of a feedback channel";
    assert!(error.contains(expected), "{error}");
}
