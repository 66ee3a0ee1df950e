//! What a run returns: its value and its report, or its error, the report until then and a prefix of its value.

use crate::outputs::longer;
use crate::support;

use std::num::ParseIntError;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::inject::{INJECTED, silence};
use thalweg::error::Deadlock;
use thalweg::{Error, Failed, Graph, Options, Run, Stream, Value, from_iter, output};

/// A stream whose item 700 fails.
fn failing() -> Stream<'static, u64> {
    from_iter(0..1000u64).try_par_map(|n| if n == 700 { Err("700") } else { Ok(n) })
}

/// At any number of threads the value of a failed run is that of a prefix of the items.
#[test]
fn a_failed_run_has_a_prefix_of_its_value() {
    for threads in [1, 2, 8] {
        let options = Options::new().threads(threads);
        let failed = failing().collect().run_with(&options).unwrap_err();
        let items = failed.partial().expect("what has arrived").clone();
        assert!(items.len() <= 700 && items.iter().copied().eq(0..items.len() as u64), "{items:?}");
        assert_eq!(failed.error().node(), Some("try_par_map"));
        assert!(failed.report().expect("the run has begun").nodes()[0].firings() > 0);
        assert_eq!(failed.into_partial(), Some(items));

        let failed = failing().fold((0, 0), |(count, sum), n| (count + 1, sum + n)).run_with(&options);
        let (count, sum) = *failed.unwrap_err().partial().expect("the sum of a prefix");
        assert!(count <= 700 && sum == (0..count).sum::<u64>(), "{count} {sum}");
    }
}

/// Each output of a graph has its part; one of another graph has none.
#[test]
fn a_failed_graph_has_the_values_of_its_outputs() {
    let graph = Graph::new();
    let (even, odd) = graph
        .source(0..1000u64)
        .try_map(|n| if n == 700 { Err("700") } else { Ok(n) })
        .partition(|n| n.is_multiple_of(2));
    let (even, odd) = (even.collect(), odd.collect());
    let failed = graph.run_with(&Options::new().threads(2)).unwrap_err();
    let (even, odd) = (failed.take(even).unwrap(), failed.take(odd).unwrap());
    assert!(even.iter().copied().eq((0..).step_by(2).take(even.len())) && even.len() <= 350);
    assert!(odd.iter().copied().eq((1..).step_by(2).take(odd.len())) && odd.len() <= 350);
    let foreign = from_iter(0..3u64).collect();
    assert_eq!(failed.take(foreign), None);
}

#[test]
fn an_output_of_another_graph_is_an_error() {
    let (one, two) = (Graph::new(), Graph::new());
    let (first, second) = (one.source(0..3u64).collect(), two.source(3..6u64).collect());
    let third = two.process("three", (), (), |(), ()| async { Value(3) });
    let run = one.run().unwrap();
    let error = run.take(second).unwrap_err();
    assert!(matches!(error, Error::ForeignOutput));
    assert!(error.to_string().contains("an output of another graph"), "{error}");
    assert!(run.take(third).unwrap_err().to_string().contains("an output of another graph"));
    // The failed calls have not changed the run.
    assert_eq!(run.take(first).unwrap(), [0, 1, 2]);
}

/// The other functions that return a finished run.
#[test]
fn every_way_to_run_returns_the_values() {
    let take = |run: Run, sum| assert_eq!(run.take(sum).unwrap(), 45);
    let options = Options::new().threads(2);
    let make = || {
        let graph = Graph::new();
        let sum = graph.source(0..10u64).fold(0, |sum, item| sum + item);
        (graph, sum)
    };
    let (graph, sum) = make();
    take(graph.build().unwrap().run_with(&options).unwrap(), sum);
    let (graph, sum) = make();
    take(graph.build().unwrap().prepare(&options).unwrap().run().unwrap(), sum);
    let (graph, sum) = make();
    let run = graph.run_under(&thalweg::embed::policy::RandomStealing, &options).unwrap();
    assert_eq!(run.report().policy(), "RandomStealing");
    take(run, sum);
    let (graph, sum) = make();
    let mut outlet = graph.source(0..100u64).start_with(&options).unwrap();
    assert!(outlet.by_ref().eq(0..100));
    take(outlet.finish().unwrap(), sum);
    // An outlet that has not read all items.
    let (graph, sum) = make();
    let mut outlet = graph.source(0u64..).start_with(&options).unwrap();
    assert_eq!(outlet.next(), Some(0));
    take(outlet.finish().unwrap(), sum);
    // In a scope the graph may borrow; a value may leave it, and so may the finished run.
    let words = [String::from("a"), String::from("bb"), String::from("c")];
    let (longest, run) = thalweg::scope(|scope| {
        let graph = Graph::new();
        let longest = graph.source(words.iter().map(String::as_str)).fold("", longer);
        let mut outlet = scope.start(graph.source(words.iter().map(String::len)), &options).unwrap();
        assert!(outlet.by_ref().eq([1, 2, 1]));
        let run = outlet.finish().unwrap();
        (run.take(longest).unwrap(), run)
    });
    assert_eq!((longest, run.report().nodes().len()), ("bb", 4));
}

#[test]
fn what_has_not_begun_or_has_failed_itself_has_no_value() {
    silence();
    let refused = from_iter(0..3u64).collect().run_with(&Options::new().policy("fifo")).unwrap_err();
    assert!(refused.report().is_none() && refused.partial().is_none());
    assert!(refused.error().help().unwrap().starts_with("known policies are"), "{refused:?}");
    let own = from_iter(0..9u64).fold(0, |sum, n| if n == 5 { panic!("{INJECTED}") } else { sum + n });
    assert_eq!(own.run().unwrap_err().into_partial(), None);
    let graph = Graph::new();
    let waits = graph.process("waits", failing(), (), |mut numbers, ()| async move {
        while numbers.recv().await.is_some() {}
        Value(1)
    });
    assert_eq!(waits.run().unwrap_err().partial(), None);
}

/// The items of a value that is not taken are dropped with the failure, whose drop contains their panics.
#[test]
fn a_failure_drops_its_value_once() {
    static LIVE: AtomicUsize = AtomicUsize::new(0);
    struct Item(u64);
    impl Drop for Item {
        fn drop(&mut self) {
            LIVE.fetch_sub(1, Ordering::Relaxed);
            assert!(self.0 != 3, "{INJECTED}");
        }
    }
    silence();
    let items = || {
        failing().map(|n| {
            LIVE.fetch_add(1, Ordering::Relaxed);
            Item(n)
        })
    };
    let one = Options::new().threads(1).capacity(1);
    let error: Error = items().collect().run_with(&one).err().expect("item 700 fails").into();
    assert_eq!((error.node(), LIVE.load(Ordering::Relaxed)), (Some("try_par_map"), 0));
    drop(items().collect().run_with(&one));
    assert_eq!(LIVE.load(Ordering::Relaxed), 0);
}

#[test]
fn a_failure_is_an_error_of_any_kind() {
    fn ours() -> Result<u64, Error> {
        Ok(*failing().fold(0, |sum, n| sum + n).run()?)
    }
    fn boxed() -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
        Ok(failing().fold(0, |sum, n| sum + n).run()?.into_value())
    }
    assert_eq!(ours().unwrap_err().to_string(), "node `try_par_map` failed: 700");
    assert_eq!(boxed().unwrap_err().to_string(), "node `try_par_map` failed: 700");
    let parsed = from_iter(["1", "x"]).try_map(|word| word.parse::<u32>()).collect();
    let error = parsed.run().unwrap_err().into_error();
    assert!(error.downcast_ref::<std::io::Error>().is_none());
    let error = error.downcast::<std::io::Error>().unwrap_err();
    assert!(error.downcast::<ParseIntError>().is_ok());
}

/// One line says what has happened, `help` what to do, and `{:?}` both.
#[test]
fn errors_print_on_one_line() {
    let graph = Graph::new();
    let (back, last) = graph.feedback([2u64]);
    graph.source(0..9u64).zip(last).map(|(a, b)| a + b).filter(|sum| sum % 2 == 0).feed(back);
    let deadlock = graph.run().unwrap_err().into_error();
    assert!(matches!(&deadlock, Error::Deadlock(Deadlock { .. })), "{deadlock}");
    let graph = Graph::new();
    let split = graph.source(0..9u64).kernel("split", (output::<u64>("a"), output::<u64>("b")));
    _ = split.sequential(|_, _| ());
    let refused: Result<Run, Failed> = graph.run();
    for error in [deadlock, refused.unwrap_err().into_error()] {
        let line = error.to_string();
        assert!(!line.contains('\n'), "{line}");
        match error.help() {
            Some(help) => assert_eq!(format!("{error:?}"), format!("{line}\nhelp: {help}")),
            None => assert_eq!(format!("{error:?}"), line),
        }
    }
}

/// A state that the sink's function was changing when it failed is not the state after a prefix.
#[test]
fn a_state_that_was_being_changed_is_no_partial_value() {
    silence();
    let two = Options::new().threads(2);
    let failed = from_iter(0..9u64).for_each_with(Vec::new(), |items, n| {
        items.push(n);
        if n == 5 { Err("5") } else { Ok(()) }
    });
    assert_eq!(failed.run_with(&two).unwrap_err().into_partial(), None);
    let groups =
        from_iter(0..9u64).fold_by_key(|n| assert!(*n < 5, "{INJECTED}"), || 0, |count, _| count + 1);
    assert_eq!(groups.run_with(&two).unwrap_err().into_partial(), None);
}
