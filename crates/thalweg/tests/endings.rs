//! How runs end: single cases that the random tests do not reach on purpose.

use crate::support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::inject::{INJECTED, silence};
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::{Error, Graph, In, Options, Out, from_iter, input, output};

/// The run ends while its last items are still unread: the outlet must return all of them.
#[test]
fn an_outlet_returns_the_last_items_of_a_run_that_has_ended() {
    for round in 0..2000u64 {
        let options = Options::new().threads(1 + round as usize % 3);
        let outlet =
            watch("last items", || from_iter(0..round % 5).par_map(|x| x).start_with(&options).unwrap());
        assert!(outlet.eq(0..round % 5), "round {round}");
    }
}

#[test]
fn a_deadline_ends_workers_that_never_rest() {
    for threads in [1, 2] {
        let options = Options::new().threads(threads).deadline(Duration::from_millis(30));
        let start = Instant::now();
        let error =
            watch("busy", || from_iter(0u64..).for_each(|_| {}).run_with(&options).unwrap_err()).into_error();
        assert!(matches!(error, Error::Deadline(_)), "{error}");
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_deadline_ends_workers_that_sleep() {
    let options = Options::new().threads(2).deadline(Duration::from_millis(30));
    let slow = (0u64..).inspect(|_| std::thread::sleep(Duration::from_millis(20)));
    let error =
        watch("asleep", || from_iter(slow).blocking().for_each(|_| {}).run_with(&options).unwrap_err())
            .into_error();
    assert!(matches!(error, Error::Deadline(_)), "{error}");
}

#[test]
fn a_deadline_of_any_length_is_accepted() {
    let options = Options::new().deadline(Duration::MAX);
    from_iter(0..10).for_each(|_: u64| {}).run_with(&options).unwrap();
}

#[test]
fn a_run_cancelled_before_it_begins_fires_nothing() {
    let fired = Arc::new(AtomicBool::new(false));
    let note = fired.clone();
    let flow = from_iter(0..10u64).for_each(move |_| note.store(true, Ordering::Relaxed));
    let prepared = flow.graph().build().unwrap().prepare(&Options::new()).unwrap();
    prepared.handle().cancel();
    assert!(matches!(watch("cancelled", || prepared.run()).map_err(Error::from), Err(Error::Cancelled)));
    assert!(!fired.load(Ordering::Relaxed));
}

/// Passes its items on and, at the end, pushes 1000. Fails at the item `fails_at`.
fn pass_and_finish(graph: &Graph<'static>, fails_at: Option<u64>) -> thalweg::Stream<'static, u64> {
    let numbers = graph.source(0..10u64).named("numbers");
    graph.kernel("sum", input("in", numbers), output("out")).finish(|out| out.push(1000)).sequential(
        move |items, out| {
            let item = items.pop();
            if fails_at == Some(item) {
                return Err(format!("{INJECTED} error"));
            }
            out.push(item);
            Ok(())
        },
    )
}

#[test]
fn a_finishing_function_is_called_after_the_last_firing() {
    let graph = Graph::new();
    let stream = pass_and_finish(&graph, None);
    let items: Vec<u64> = stream.start().unwrap().collect();
    assert_eq!(items, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1000]);
}

#[test]
fn a_finishing_function_is_not_called_after_a_failure() {
    for _ in 0..200 {
        let graph = Graph::new();
        let stream = pass_and_finish(&graph, Some(5));
        let items: Vec<u64> = stream.start_with(&Options::new().threads(2)).unwrap().collect();
        assert!(items.iter().copied().eq(0..items.len() as u64), "{items:?}");
    }
}

#[test]
fn a_drained_source_is_finished() {
    let graph = Graph::new();
    let mut next = 0;
    let numbers = graph.kernel("numbers", (), output("out")).finish(|out| out.push(u64::MAX)).sequential(
        move |(), out| {
            out.push(next);
            next += 1;
        },
    );
    let mut outlet = numbers.start_with(&Options::new().threads(2)).unwrap();
    let handle = outlet.handle();
    assert_eq!(outlet.next(), Some(0));
    handle.drain();
    let rest: Vec<u64> = watch("drained", || outlet.by_ref().collect());
    assert_eq!(rest.last(), Some(&u64::MAX));
    assert!(rest[..rest.len() - 1].iter().copied().eq(1..rest.len() as u64));
    outlet.finish().unwrap();
}

/// A framing function that returns more items than the stream still has ends its node; these items are left over.
#[test]
fn an_incomplete_last_group_is_left_over() {
    for parallel in [false, true] {
        let ledger = Ledger::new();
        let graph = Graph::new();
        let make = ledger.clone();
        let items = graph.source((0..11u64).map(move |value| Counted::make(value, &make))).named("items");
        let kernel = graph
            .kernel("triple", input("in", items), output("out"))
            .framed(|items| Ok(items.peek(0)?.map(|_| 3)));
        let sum = |items: &mut In<Counted>, out: &mut Out<u64>| {
            out.push((0..3).map(|_| items.pop().value()).sum());
        };
        let sums = if parallel { kernel.parallel(sum) } else { kernel.sequential(sum) };
        let got = Arc::new(Mutex::new(Vec::new()));
        let to = got.clone();
        sums.for_each(move |sum| to.lock().unwrap().push(sum)).named("sums");
        let report = watch("cut", || graph.run().unwrap().into_report());
        assert_eq!(*got.lock().unwrap(), [3, 12, 21]);
        assert_eq!(report.channels()[0].leftover(), 2);
        assert_eq!(ledger.live(), 0);
    }
}

/// A framing function must respect the static rates of its ports: a port with a declared rate keeps it.
#[test]
fn a_framing_function_keeps_static_rates() {
    silence();
    for (parallel, pops) in [(false, 2), (true, 2), (false, 1), (true, 1)] {
        let graph = Graph::new();
        let (sizes, items) = (graph.source(0..10u64).named("sizes"), graph.source(0..100u64).named("items"));
        let kernel = graph
            .kernel("groups", (input("size", sizes).pop(1), input("item", items)), output("out").push(1))
            .framed(move |(sizes, _)| Ok(sizes.peek(0)?.map(|size| [pops, *size as usize])));
        let sum = |(_, items): &mut (In<u64>, In<u64>), out: &mut Out<u64>| {
            out.push(std::iter::from_fn(|| items.try_pop()).sum::<u64>());
        };
        let sums = if parallel { kernel.parallel(sum) } else { kernel.sequential(sum) };
        let mut all = 0;
        sums.for_each(|sum| all += sum).named("sums");
        let network = graph.build().unwrap();
        assert!(network.graph().to_string().contains("size pop 1, item pop *"), "{}", network.graph());
        match watch("static", || network.run()) {
            Ok(_) => assert_eq!((pops, all), (1, (0..45).sum())),
            Err(error) => {
                assert_eq!(pops, 2);
                assert!(error.to_string().contains("node `groups` panicked"), "{error}");
            }
        }
    }
}

/// The panic happens on a thread of its own while all workers are busy.
#[test]
fn a_panic_in_a_blocking_node_is_named() {
    silence();
    let error = watch("panic", || {
        let counted = from_iter(0u64..).blocking().map(|x| x).for_each(|x| assert!(x < 100, "{INJECTED}"));
        counted.named("reader").blocking().run_with(&Options::new().threads(2)).unwrap_err().into_error()
    });
    let Error::Panic { node, message } = error else { panic!("{error}") };
    assert_eq!((node.as_str(), message.as_str()), ("reader", INJECTED));
}

/// A failed run drops all items: in channels, in the state of kernels and in firings in progress.
#[test]
fn no_item_outlives_a_failed_run() {
    for round in 0..300 {
        let ledger = Ledger::new();
        let make = ledger.clone();
        let flow = from_iter((0..500u64).map(move |value| Counted::make(value, &make)))
            .par_flat_map(|item| [item].into_iter())
            .batch(7)
            .for_each(move |batch| if batch[0].value() > round { Err("enough") } else { Ok(()) });
        let options = Options::new().threads(3).capacity(1 + round as usize % 20);
        let error = watch("failed", || flow.named("sink").run_with(&options).unwrap_err()).into_error();
        assert!(matches!(&error, Error::Node { node, .. } if node == "sink"), "{error}");
        assert_eq!(ledger.live(), 0, "round {round}");
    }
}

/// Its drop panics.
struct PanicOnDrop;

impl Drop for PanicOnDrop {
    fn drop(&mut self) {
        panic!("{INJECTED} drop");
    }
}

fn assert_injected(ended: Result<(), Error>, at: &str) {
    match ended {
        Err(Error::Panic { node, message }) => {
            assert!(node == at && message.contains(INJECTED), "{node}: {message}");
        }
        other => panic!("{other:?}"),
    }
}

/// A node's state is dropped within the run. If that panics, the run fails with the node's name.
#[test]
fn a_drop_that_panics_is_a_failure_of_its_node() {
    silence();
    // The state of a source.
    let held = PanicOnDrop;
    let numbers = (0..3u64).inspect(move |_| _ = &held);
    assert_injected(from_iter(numbers).for_each(|_| {}).run().map(drop).map_err(Error::from), "source");

    // The state of a source, in a run with an outlet.
    let held = PanicOnDrop;
    let numbers = (0..3u64).inspect(move |_| _ = &held);
    let mut outlet = from_iter(numbers).start().unwrap();
    assert_eq!(outlet.by_ref().count(), 3);
    assert_injected(outlet.finish().map(drop).map_err(Error::from), "source");

    // The items in channels when a run fails: the first failure is the one reported.
    let ended = from_iter((0..3).map(|_| PanicOnDrop))
        .for_each(|item: PanicOnDrop| {
            std::mem::forget(item);
            Err::<(), _>(INJECTED)
        })
        .run_with(&Options::new().threads(1).capacity(8))
        .map_err(Error::from);
    assert!(matches!(ended, Err(Error::Node { .. })), "{ended:?}");
}

#[test]
fn options_of_zero_are_refused() {
    for options in [Options::new().threads(0), Options::new().capacity(0), Options::new().claim_length(0)] {
        let error = from_iter(0..3u64).collect().run_with(&options).unwrap_err().into_error();
        assert!(matches!(error, Error::Options(_)) && error.to_string().contains("at least 1"), "{error}");
    }
}

#[test]
fn the_largest_weight_blocks_no_channel() {
    let heavy = from_iter(0..3u64).weigh(|_| usize::MAX).par_map(|x| x);
    assert_eq!(heavy.collect().run_with(&Options::new().budget(1000)).unwrap().into_value(), [0, 1, 2]);
}

#[test]
fn an_unbounded_loop_is_refused_by_name() {
    let all = from_iter(0..3u64).par_iterate(usize::MAX, std::ops::ControlFlow::<u64, u64>::Break);
    let error = all.collect().run().unwrap_err().into_error();
    assert!(matches!(error, Error::Plan(_)) && error.to_string().contains("par_iterate"), "{error}");
}

/// The text of an error ends with its chain of causes, each of them once.
#[test]
fn an_error_names_each_cause_once() {
    #[derive(Debug)]
    struct Outer(std::io::Error);
    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("writing the log")
        }
    }
    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }
    let failing = from_iter(0..3u64).for_each(|_| Err::<(), _>(Outer(std::io::Error::other("disk full"))));
    let error = failing.run().unwrap_err();
    assert!(error.to_string().ends_with("failed: writing the log: disk full"), "{error}");
    assert!(std::error::Error::source(&error).is_none());
}
