//! What nodes return, and what is said of graphs that were not built as they should be.

mod support;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;
use support::inject::{PLANTED, silence};
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::graph::Fault;
use thalweg::{
    BuildError, Error, Finished, Graph, Options, Output, Stream, Value, from_iter, input, output, window,
};

/// Every policy with one, two and three workers.
fn everywhere(check: impl Fn(&Options)) {
    for policy in thalweg::policy::registry::names() {
        for threads in [1, 2, 3] {
            let options = Options::new().policy(policy).threads(threads);
            watch(format!("{options:?}"), || check(&options));
        }
    }
}

/// A hundred times with one, two and three workers, with tiny and usual channels.
fn repeatedly(check: impl Fn(&Options)) {
    for threads in [1, 2, 3] {
        for round in 0..100 {
            let options = Options::new().threads(threads);
            let options = if round % 2 == 0 { options.capacity(1) } else { options };
            watch(format!("round {round}, {options:?}"), || check(&options));
        }
    }
}

#[test]
fn sinks_give_their_values() {
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = graph.source(0..300u64);
        let (a, b) = numbers.kernel("copy", (output("a"), output("b"))).parallel(|items, (a, b)| {
            let item = items.pop();
            a.push(item);
            b.push(item);
        });
        let (c, d) = a.kernel("copy", (output("a"), output("b"))).sequential(|items, (a, b)| {
            let item = items.pop();
            a.push(item);
            b.push(item);
        });
        let text = b.take(11).fold(String::new(), |text, item| text + &item.to_string());
        let sum =
            c.par_map(|item| 2 * item).try_fold(1, |sum: u64, item| sum.checked_add(item).ok_or("many"));
        let all = d.collect();
        let run = graph.run(options).unwrap();
        // In another order than they were made in.
        assert_eq!(run.take(sum).unwrap(), 1 + 299 * 300);
        assert_eq!(run.take(text).unwrap(), "012345678910");
        assert!(run.take(all).unwrap().into_iter().eq(0..300));
        assert_eq!(run.report().nodes.len(), run.into_report().graph.nodes().len());
    });
}

#[test]
fn what_gives_nothing_leaves_the_first_value() {
    everywhere(|options| {
        let none = || from_iter(0..0u64);
        assert_eq!(none().fold(7, |sum, item| sum + item).run(options).unwrap().0, 7);
        assert_eq!(none().try_fold(8, |_, _| Err::<u64, _>(PLANTED)).run(options).unwrap().0, 8);
        assert_eq!(none().collect().run(options).unwrap().0, []);
        let ((), report) = none().for_each(drop).run(options).unwrap();
        assert_eq!(report.nodes.len(), 2);
    });
}

/// A sink that ends early has its value all the same.
#[test]
fn a_sink_that_ends_early_is_done() {
    let mut seen = 0;
    let sink = from_iter(0u64..).for_each(|item| {
        seen += 1;
        if item < 9 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    watch("endless", || sink.run(&Options::new().threads(2)).unwrap());
    assert_eq!(seen, 10);
}

#[test]
fn an_error_of_a_fold_fails_the_run() {
    everywhere(|options| {
        let ledger = Ledger::new();
        let (graph, make) = (Graph::new(), ledger.clone());
        let items = graph.source((0u64..).map(move |item| Counted::make(item, &make)));
        let kept = items.try_fold(Vec::new(), |mut kept, item| {
            if kept.len() == 20 {
                return Err("twenty are enough");
            }
            kept.push(item);
            Ok(kept)
        });
        let other = graph.source(0..10u64).collect();
        let error = kept.named("keep").run(options).unwrap_err();
        assert_eq!(error.to_string(), "node `keep` failed: twenty are enough");
        assert!(matches!(error, Error::Node { .. }));
        drop(other);
        assert_eq!(ledger.live(), 0);
    });
}

#[test]
fn a_panic_in_a_fold_fails_the_run() {
    silence();
    let sum =
        from_iter(0..9u64).fold(0, |sum, item| if item == 5 { panic!("{PLANTED}") } else { sum + item });
    let error = sum.run(&Options::new()).unwrap_err();
    assert_eq!(error.to_string(), format!("node `fold` panicked: {PLANTED}"));
}

/// Items that were collected belong to the caller; those of an output that was dropped go with the run.
#[test]
fn values_are_dropped_once() {
    everywhere(|options| {
        let ledger = Ledger::new();
        let graph = Graph::new();
        let source = || {
            let make = ledger.clone();
            graph.source((0..50).map(move |item| Counted::make(item, &make)))
        };
        let (kept, dropped, late) = (source().collect(), source().collect(), source().collect());
        drop(dropped);
        let run = graph.run(options).unwrap();
        assert_eq!(ledger.live(), 100);
        let kept = run.take(kept).unwrap();
        drop(late);
        assert_eq!((kept.len(), ledger.live()), (50, 50));
        drop((kept, run));
        assert_eq!(ledger.live(), 0);
    });
}

/// The same with processes and coroutines, which have their values before they are dropped.
#[test]
fn values_of_processes_are_dropped_once() {
    everywhere(|options| {
        let ledger = Ledger::new();
        let graph = Graph::new();
        let (a, b, c) = (ledger.clone(), ledger.clone(), ledger.clone());
        let kept = graph.process("kept", (), (), |(), ()| async move { Value(Counted::make(1, &a)) });
        let dropped = graph.process("dropped", (), (), |(), ()| async move { Value(Counted::make(2, &b)) });
        let late = graph.coroutine("late", (), (), move |(), ()| Value(Counted::make(3, &c)));
        drop(dropped);
        let run = graph.run(options).unwrap();
        assert_eq!(ledger.live(), 2);
        assert_eq!(run.take(kept).unwrap().value(), 1);
        drop(late);
        assert_eq!(ledger.live(), 0);
    });
}

/// All kinds of ends of a process, with streams and without.
#[test]
fn processes_return_values() {
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = graph.process("numbers", (), output("out"), |(), mut tx| async move {
            for item in 0..100u64 {
                tx.send(item).await;
            }
            Ok::<(), String>(())
        });
        let (passed, count) = graph.process("pass", numbers, output("out"), |mut rx, mut tx| async move {
            let mut count = 0;
            while let Some(item) = rx.recv().await {
                tx.send(item).await;
                count += 1;
            }
            Value(count)
        });
        let outs = (output("even"), output("odd"));
        let ((even, odd), largest) =
            graph.process("part", passed, outs, |mut rx, (mut a, mut b)| async move {
                let mut largest = None;
                while let Some(item) = rx.recv().await {
                    largest = largest.max(Some(item));
                    if item % 2 == 0 { a.send(item).await } else { b.send(item).await }
                }
                Ok::<_, String>(Value(largest))
            });
        let sum: Output<'_, u64> = graph.process("sum", even, (), |mut rx, ()| async move {
            let mut sum = 0;
            while let Some(item) = rx.recv().await {
                sum += item;
            }
            Value(sum)
        });
        let outs: Vec<_> = (0..3).map(|i| output(&format!("out{i}"))).collect();
        let (thirds, text) = graph.process("deal", odd, outs, |mut rx, mut txs| async move {
            let mut text = String::new();
            while let Some(item) = rx.recv().await {
                txs[item as usize % 3].send(item).await;
                text.push_str(if item % 3 == 0 { "|" } else { "." });
            }
            Value(text)
        });
        let thirds: Vec<_> = thirds.into_iter().map(Stream::collect).collect();
        let run = graph.run(options).unwrap();
        assert_eq!(run.take(count).unwrap(), 100);
        assert_eq!(run.take(largest).unwrap(), Some(99));
        assert_eq!(run.take(sum).unwrap(), 49 * 50);
        assert_eq!(run.take(text).unwrap(), format!(".|{}", "..|".repeat(16)));
        for (third, items) in thirds.into_iter().enumerate() {
            let expected = (0..100).filter(|item| item % 2 == 1 && item % 3 == third as u64);
            assert!(run.take(items).unwrap().into_iter().eq(expected));
        }
    });
}

#[test]
fn coroutines_return_values() {
    everywhere(|options| {
        let graph = Graph::new();
        let (numbers, last) = graph.coroutine("numbers", (), output("out"), |(), mut tx| {
            (0..100u64).for_each(|item| tx.send(item));
            Value("done")
        });
        let outs = (output("even"), output("odd"));
        let ((even, odd), count) = graph.coroutine("part", numbers, outs, |rx, (mut a, mut b)| {
            let mut count = 0u64;
            for item in rx {
                if item % 2 == 0 {
                    a.send(item)
                } else {
                    b.send(item)
                }
                count += 1;
            }
            Ok::<_, String>(Value(count))
        });
        let sum: Output<'_, u64> = graph.coroutine("sum", even, (), |rx, ()| Value(rx.sum()));
        let most = odd.kernel("most", ()).coroutine(|rx, ()| Value(rx.max()));
        let run = graph.run(options).unwrap();
        assert_eq!(run.take(last).unwrap(), "done");
        assert_eq!(run.take(count).unwrap(), 100);
        assert_eq!(run.take(sum).unwrap(), 49 * 50);
        assert_eq!(run.take(most).unwrap(), Some(99));
    });
}

/// A process or coroutine that may fail, and has a value only where it does not.
#[test]
fn an_error_of_what_returns_a_value_fails_the_run() {
    fn ending(fails: bool, sum: u64) -> Result<Value<u64>, String> {
        if fails { Err(format!("{PLANTED} error")) } else { Ok(Value(sum)) }
    }

    everywhere(|options| {
        for (fails, stackful) in [(false, false), (true, false), (false, true), (true, true)] {
            let graph = Graph::new();
            let numbers = graph.source(0..50u64);
            let (passed, sum) = if stackful {
                graph.coroutine("pass", numbers, output("out"), move |rx, mut tx| {
                    let mut sum = 0;
                    for item in rx {
                        tx.send(item);
                        sum += item;
                    }
                    ending(fails, sum)
                })
            } else {
                graph.process("pass", numbers, output("out"), move |mut rx, mut tx| async move {
                    let mut sum = 0;
                    while let Some(item) = rx.recv().await {
                        tx.send(item).await;
                        sum += item;
                    }
                    ending(fails, sum)
                })
            };
            let passed = passed.collect();
            match graph.run(options) {
                Ok(run) => {
                    assert!(!fails);
                    assert_eq!(run.take(sum).unwrap(), 49 * 25);
                    assert_eq!(run.take(passed).unwrap().len(), 50);
                }
                Err(error) => {
                    assert!(fails);
                    assert_eq!(error.to_string(), format!("node `pass` failed: {PLANTED} error"));
                }
            }
        }
    });
}

#[test]
fn a_process_alone_is_run_for_its_value() {
    everywhere(|options| {
        let (value, report) =
            Graph::new().process("alone", (), (), |(), ()| async { Value(7) }).run(options).unwrap();
        assert_eq!((value, report.nodes.len()), (7, 1));
        let alone = Graph::new().kernel("alone", (), ()).blocking().coroutine(|(), ()| Value(8));
        assert_eq!(alone.run(options).unwrap().0, 8);
    });
}

fn longer<'a>(longest: &'a str, word: &'a str) -> &'a str {
    if word.len() > longest.len() { word } else { longest }
}

/// Values, streams and functions borrow from what outlives the graph.
#[test]
fn values_may_borrow() {
    let text = String::from("a graph is what its nodes are");
    let floor = 3;
    everywhere(|options| {
        let graph: Graph<'_> = Graph::new();
        let words: Stream<'_, &str> = graph.source(text.split(' '));
        let (first, second) = words.kernel("copy", (output("a"), output("b"))).sequential(|words, (a, b)| {
            let word: &str = words.pop();
            a.push(word);
            b.push(word);
        });
        let longest: Output<'_, &str> = first.fold("", longer);
        let (long, shortest) =
            graph.process("shortest", second, output("long"), |mut rx, mut tx| async move {
                let mut shortest: Option<&str> = None;
                while let Some(word) = rx.recv().await {
                    if word.len() > floor {
                        tx.send(word).await;
                    }
                    shortest = Some(shortest.filter(|shortest| shortest.len() <= word.len()).unwrap_or(word));
                }
                Value(shortest)
            });
        let last = graph.coroutine("last", long, (), |rx, ()| Value(rx.last()));
        let run = graph.run(options).unwrap();
        let (longest, shortest, last) = (run.take(longest), run.take(shortest), run.take(last));
        drop(run);
        assert_eq!((longest.unwrap(), shortest.unwrap(), last.unwrap()), ("graph", Some("a"), Some("nodes")));
    });
    let (longest, _) = from_iter(text.split(' ')).fold("", longer).run(&Options::new()).unwrap();
    assert!(std::ptr::eq(longest, &text[2..7]));
}

#[test]
fn an_output_of_another_graph_is_an_error() {
    let (one, two) = (Graph::new(), Graph::new());
    let (first, second) = (one.source(0..3u64).collect(), two.source(3..6u64).collect());
    let third = two.process("three", (), (), |(), ()| async { Value(3) });
    let run = one.run(&Options::new()).unwrap();
    let error = run.take(second).unwrap_err();
    assert!(matches!(error, Error::ForeignOutput));
    assert!(error.to_string().contains("an output of another graph"), "{error}");
    assert!(run.take(third).unwrap_err().to_string().contains("an output of another graph"));
    // The run is as it was.
    assert_eq!(run.take(first).unwrap(), [0, 1, 2]);
}

/// The other ways to a finished run.
#[test]
fn every_way_to_run_gives_the_values() {
    let take = |run: Finished, sum| assert_eq!(run.take(sum).unwrap(), 45);
    let options = Options::new().threads(2);
    let make = || {
        let graph = Graph::new();
        let sum = graph.source(0..10u64).fold(0, |sum, item| sum + item);
        (graph, sum)
    };
    let (graph, sum) = make();
    take(graph.build().unwrap().run(&options).unwrap(), sum);
    let (graph, sum) = make();
    take(graph.build().unwrap().prepare(&options).unwrap().run().unwrap(), sum);
    let (graph, sum) = make();
    take(graph.run_under(&thalweg::policy::RandomStealing, &options).unwrap(), sum);
    let (graph, sum) = make();
    let mut outlet = graph.source(0..100u64).start(&options).unwrap();
    assert!(outlet.by_ref().eq(0..100));
    take(outlet.finish().unwrap(), sum);
    // And where the outlet has not read all.
    let (graph, sum) = make();
    let mut outlet = graph.source(0u64..).start(&options).unwrap();
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
    assert_eq!((longest, run.report().nodes.len()), ("bb", 4));
}

/// Items that the processes below pass on: far more than the channels behind them hold.
const MANY: u64 = 500;

/// Takes three items and leaves.
fn three(stream: Stream<'static, u64>) {
    three_of(0, stream);
}

/// Takes the three items from `first` and leaves.
fn three_of(first: u64, stream: Stream<'static, u64>) {
    let mut seen = first;
    stream
        .for_each(move |item| {
            assert_eq!(item, seen);
            seen += 1;
            if seen < first + 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .named("three");
}

/// A consumer that leaves, and the process before it, which has a value to return, has not.
#[test]
fn a_process_with_an_output_goes_on_unheard() {
    repeatedly(|options| {
        let (graph, ended) = (Graph::new(), Arc::new(AtomicU64::new(0)));
        let numbers = graph.source(0..MANY);
        let (first, second) =
            numbers.kernel("copy", (output("a"), output("b"))).sequential(|items, (a, b)| {
                let item = items.pop();
                a.push(item);
                b.push(item);
            });
        let note = ended.clone();
        let (items, sum) = graph.process("process", first, output("out"), |mut rx, mut tx| async move {
            let mut sum = 0;
            while let Some(item) = rx.recv().await {
                tx.send(item).await;
                sum += item;
            }
            drop((rx, tx));
            note.fetch_add(1, Ordering::Relaxed);
            Value(sum)
        });
        three(items);
        let note = ended.clone();
        let (items, most) = graph.coroutine("coroutine", second, output("out"), move |rx, mut tx| {
            let most = rx.inspect(|item| tx.send(*item)).max();
            note.fetch_add(1, Ordering::Relaxed);
            Value(most)
        });
        three(items);
        let run = graph.run(options).unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 2);
        assert_eq!(run.take(sum).unwrap(), MANY * (MANY - 1) / 2);
        assert_eq!(run.take(most).unwrap(), Some(MANY - 1));
    });
}

/// An output that was dropped is one all the same.
#[test]
fn a_process_goes_on_for_an_output_that_was_dropped() {
    repeatedly(|options| {
        let (graph, sent) = (Graph::new(), Arc::new(AtomicU64::new(0)));
        let count = sent.clone();
        let (items, sum) = graph.process("process", (), output("out"), |(), mut tx| async move {
            for item in 0..MANY {
                tx.send(item).await;
                count.fetch_add(1, Ordering::Relaxed);
            }
            Value(())
        });
        drop(sum);
        three(items);
        graph.run(options).unwrap();
        assert_eq!(sent.load(Ordering::Relaxed), MANY);
    });
}

/// What gives to such a process goes on for it, and ends with it.
#[test]
fn what_a_process_with_an_output_reads_is_needed() {
    repeatedly(|options| {
        let graph = Graph::new();
        let passed = graph.source(0u64..).par_map(|item| item).map(|item| item);
        let (items, sum) = graph.process("process", passed, output("out"), |mut rx, mut tx| async move {
            let mut sum = 0;
            for _ in 0..MANY {
                let item = rx.recv().await.expect("the numbers are endless");
                tx.send(item).await;
                sum += item;
            }
            Value(sum)
        });
        three(items);
        let run = graph.run(options).unwrap();
        assert_eq!(run.take(sum).unwrap(), MANY * (MANY - 1) / 2);
    });
}

/// A loop of a gate and two members whose results leave the loop to a sink that ends early. It is cancelled
/// there, in the middle of its rounds, unless its gate, or another member, has a value to return. Gives the
/// rounds that were gone and the value, if one is returned.
fn ring(options: &Options, returning: Returning) -> (u64, Option<u64>) {
    let graph = Graph::new();
    let (rounds, ledger) = (Arc::new(AtomicU64::new(0)), Ledger::new());
    let (end, back) = graph.feedback([Counted::make(0, &ledger)]);
    let (count, make) = (rounds.clone(), ledger.clone());
    let outs = (output("out"), output("round"));
    let gate = |mut rx: thalweg::Rx<Counted>,
                (mut out, mut round): (thalweg::Tx<u64>, thalweg::Tx<Counted>)| async move {
        let mut sum = 0;
        for expected in 0..MANY {
            let Some(item) = rx.recv().await else { panic!("the loop has ended in round {expected}") };
            assert_eq!(item.value(), expected);
            out.send(expected).await;
            round.send(Counted::make(expected + 1, &make)).await;
            count.fetch_add(1, Ordering::Relaxed);
            sum += expected;
        }
        sum
    };
    let (out, round, sum) = if returning == Returning::Gate {
        let ((out, round), sum) =
            graph.process("gate", back, outs, |rx, txs| async { Value(gate(rx, txs).await) });
        (out, round, Some(sum))
    } else {
        let (out, round) = graph.process("gate", back, outs, |rx, txs| async { _ = gate(rx, txs).await });
        (out, round, None)
    };
    three(out);
    let pass = |rx: thalweg::BlockingRx<Counted>, mut tx: thalweg::BlockingTx<Counted>| {
        let mut sum = 0;
        for item in rx {
            sum += item.value();
            tx.send(item);
        }
        sum
    };
    let (round, sum) = if returning == Returning::Coroutine {
        let (round, passed) =
            graph.coroutine("pass", round, output("out"), move |rx, tx| Value(pass(rx, tx)));
        (round, Some(passed))
    } else {
        (graph.coroutine("pass", round, output("out"), move |rx, tx| _ = pass(rx, tx)), sum)
    };
    let round = round.kernel("hand", output("out")).sequential(|items, out| out.push(items.pop()));
    round.feed(end);
    let run = graph.run(options).unwrap();
    assert_eq!(ledger.live(), 0);
    (rounds.load(Ordering::Relaxed), sum.map(|sum| run.take(sum).unwrap()))
}

/// The member of a loop that returns a value.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Returning {
    None,
    Gate,
    Coroutine,
}

#[test]
fn a_loop_is_not_cancelled_before_its_value_is_there() {
    repeatedly(|options| {
        assert_eq!(ring(options, Returning::Gate), (MANY, Some(MANY * (MANY - 1) / 2)));
        assert_eq!(ring(options, Returning::Coroutine), (MANY, Some(MANY * (MANY + 1) / 2)));
    });
}

/// The same loop without a value, for which it need not go on.
#[test]
fn a_loop_without_a_value_is_cancelled() {
    let least = AtomicU64::new(MANY);
    repeatedly(|options| {
        let (rounds, _) = ring(options, Returning::None);
        // The third round may be cancelled at its end: the sink has left when it has sent its item.
        assert!((2..=MANY).contains(&rounds), "{rounds}");
        least.fetch_min(rounds, Ordering::Relaxed);
    });
    assert!(least.into_inner() < MANY, "it was never cancelled");
}

/// A process that was told to drain has nothing to return.
#[test]
fn a_process_that_ended_early_has_no_value() {
    let graph = Graph::new();
    let (numbers, count) = graph.process("endless", (), output("out"), |(), mut tx| async move {
        for item in 0..u64::MAX {
            tx.send(item).await;
        }
        Value(1)
    });
    let mut outlet = numbers.start(&Options::new().threads(2)).unwrap();
    assert_eq!(outlet.next(), Some(0));
    outlet.handle().drain();
    watch("drained", || outlet.by_ref().for_each(drop));
    let error = outlet.finish().unwrap().take(count).unwrap_err();
    assert!(matches!(error, Error::NoValue { .. }));
    assert_eq!(error.to_string(), "node `endless` has ended without a value");
}

/// A loop that lost its item and was closed: its processes find their inputs ended, and return what they have.
#[test]
fn a_process_of_a_closed_loop_has_its_value() {
    everywhere(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback([1u64]);
        let numbers = graph.source(0..100u64);
        let ((out, round), count) = graph.process(
            "gate",
            (input("in", numbers), input("back", back)),
            (output("out"), output("round")),
            |(mut rx, mut back), (mut out, mut round)| async move {
                let mut count = 0u64;
                while let Some(item) = rx.recv().await {
                    let Some(token) = back.recv().await else { break };
                    out.send(item).await;
                    if count < 5 {
                        round.send(token).await;
                    }
                    count += 1;
                }
                Value(count)
            },
        );
        let (round, passed) = graph.coroutine("pass", round, output("out"), |rx, mut tx| {
            let mut passed = 0u64;
            for item in rx {
                tx.send(item);
                passed += 1;
            }
            Value(passed)
        });
        round.feed(end);
        let items = out.collect();
        let run = graph.run(&options.clone().close_starved_loops()).unwrap();
        assert_eq!(run.take(items).unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!((run.take(count).unwrap(), run.take(passed).unwrap()), (6, 5));
    });
}

/// Gives the worker to others so often.
async fn pause(turns: usize) {
    for _ in 0..turns {
        let mut waited = false;
        std::future::poll_fn(|cx| {
            if std::mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// A process that has dropped all its ends, beside a loop and as a member of it, has its value to return still.
#[test]
fn a_process_without_ends_goes_on_for_its_value() {
    repeatedly(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback([1u64]);
        let outs = (output("a"), output("b"), output("round"));
        let ((a, b, round), member) =
            graph.process("member", back, outs, |mut rx, (mut a, mut b, mut round)| async move {
                for _ in 0..20 {
                    let token = rx.recv().await.expect("it goes round");
                    a.send(token).await;
                    b.send(token).await;
                    round.send(token + 1).await;
                }
                drop((rx, a, b, round));
                pause(50).await;
                Value("member")
            });
        round.map(|token| token).feed(end);
        three_of(1, a);
        let beside = graph.process("beside", b, (), |mut rx, ()| async move {
            let first = rx.recv().await;
            drop(rx);
            pause(100).await;
            Value(first)
        });
        let run = graph.run(options).unwrap();
        assert_eq!((run.take(member).unwrap(), run.take(beside).unwrap()), ("member", Some(1)));
    });
}

/// Says whether anything has run.
fn noted(ran: &Arc<AtomicBool>) -> impl Iterator<Item = u64> + Send + 'static {
    let ran = ran.clone();
    (0..10u64).inspect(move |_| ran.store(true, Ordering::Relaxed))
}

#[test]
fn a_stream_without_a_consumer_is_refused_before_anything_runs() {
    let ran = Arc::new(AtomicBool::new(false));
    let refused = |ended: Result<(), Error>, ports: &[&str]| {
        let Err(Error::Build(BuildError { faults })) = ended else { panic!("not refused: {ended:?}") };
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
    refused(graph.run(&options).map(drop), &["part.even", "part.odd"]);
    let (graph, even, odd) = make();
    let _odd = odd.par_map(|item| item).named("last");
    even.discard();
    refused(graph.run(&options).map(drop), &["last.out"]);
    let (_graph, even, odd) = make();
    let all = even.collect();
    drop(odd);
    refused(all.run(&options).map(drop), &["part.odd"]);
    let (_graph, even, odd) = make();
    drop(odd);
    refused(even.start(&options).map(drop), &["part.odd"]);
    let (graph, ..) = make();
    _ = graph.source(noted(&ran)).named("alone");
    refused(graph.build().map(drop).map_err(Error::from), &["part.even", "part.odd", "alone.out"]);

    // The mend.
    let (_graph, even, odd) = make();
    odd.discard();
    assert_eq!(even.collect().run(&options).unwrap().0, [0, 2, 4, 6, 8]);
    assert!(ran.load(Ordering::Relaxed));
}

#[test]
fn a_feedback_channel_that_is_left_open_is_refused() {
    let graph = Graph::new();
    let (_back, items) = graph.feedback([1u64]);
    items.for_each(drop).named("end");
    let error = graph.run(&Options::new()).unwrap_err().to_string();
    assert!(error.contains("input `end.in` is connected to nothing: close its feedback channel"), "{error}");
}

/// What is discarded is still made.
#[test]
fn what_is_discarded_is_made_and_dropped() {
    everywhere(|options| {
        let (ledger, made) = (Ledger::new(), Arc::new(AtomicU64::new(0)));
        let (graph, make, count) = (Graph::new(), ledger.clone(), made.clone());
        let items = graph.source(0..100u64).map(move |item| {
            count.fetch_add(1, Ordering::Relaxed);
            Counted::make(item, &make)
        });
        items.discard();
        let report = graph.run(options).unwrap().into_report();
        assert_eq!((made.load(Ordering::Relaxed), ledger.live()), (100, 0));
        assert_eq!(report.graph.nodes().last().unwrap().name, "discard");
    });
}

fn faults<T>(built: Result<T, BuildError>) -> Vec<Fault> {
    built.map(drop).expect_err("not refused").faults
}

#[test]
fn a_graph_is_built_once() {
    let options = Options::new();
    let graph = Graph::new();
    let numbers = graph.source(0..10u64);
    let (again, last) = (numbers.graph(), numbers.graph());
    let all = numbers.collect();
    let run = graph.run(&options).unwrap();
    assert_eq!(faults(again.build()), [Fault::Built]);
    let error = last.run(&options).unwrap_err();
    assert!(error.to_string().contains("the graph was built already"), "{error}");
    // What is done with its handles has no effect.
    assert_eq!(run.take(all.named("late").blocking()).unwrap().len(), 10);
    assert_eq!(run.report().graph.nodes()[1].name, "collect");

    // By an output's handle, by a stream's, and after a build that failed.
    let graph = Graph::new();
    let (all, sum) = (graph.source(0..10u64).collect(), graph.source(0..10u64).fold(0, |sum, x| sum + x));
    assert!(all.run(&options).is_ok());
    assert!(matches!(sum.run(&options), Err(Error::Build(error)) if error.faults == [Fault::Built]));
    let graph = Graph::new();
    let (one, two) = (graph.source(0..10u64), graph.source(0..10u64));
    assert_eq!(faults(graph.build()).len(), 2);
    assert!(matches!(one.start(&options), Err(Error::Build(error)) if error.faults == [Fault::Built]));
    assert!(
        matches!(two.collect().run(&options), Err(Error::Build(error)) if error.faults == [Fault::Built])
    );
}

/// Nodes that were added to a graph that had been built do not run, whatever they are.
#[test]
fn a_graph_that_was_built_takes_no_more_nodes() {
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
    handle.source(noted(&ran)).par_round(3, ControlFlow::Break).named("round").discard();
    assert_eq!(faults(value.graph().build()), [Fault::Built]);
    assert!(sum.run(&Options::new()).is_err());
    assert!(!ran.load(Ordering::Relaxed));
}

fn setting(node: &str, detail: &str) -> Fault {
    Fault::Setting { node: node.to_owned(), detail: detail.to_owned() }
}

const NOT_PARALLEL: &str = "it is not parallel";
const PARALLEL: &str = "`blocking`: it is parallel, and its firings share the workers";

/// Each mistake by itself: the setting, the node's name, and nothing else.
#[test]
fn a_setting_of_the_wrong_node_is_refused_by_name() {
    type Make = fn(&Graph<'static>) -> Stream<'static, u64>;
    fn numbers(graph: &Graph<'static>) -> Stream<'static, u64> {
        graph.source(0..9u64).named("numbers")
    }
    fn kernel(
        graph: &Graph<'static>,
    ) -> thalweg::Kernel<'static, Stream<'static, u64>, thalweg::GiveSpec<u64>> {
        numbers(graph).kernel("kernel", output("out"))
    }
    let pass = "`framed`: a process takes from its inputs what it receives";
    let last = "`finish`: a process sends what is left before it ends";
    let wrong: [(Make, Fault); 15] = [
        (|g| numbers(g).unordered(), setting("numbers", &format!("`unordered`: {NOT_PARALLEL}"))),
        (|g| numbers(g).workers(2), setting("numbers", &format!("`workers`: {NOT_PARALLEL}"))),
        (|g| numbers(g).map(|x| x).unordered(), setting("map", &format!("`unordered`: {NOT_PARALLEL}"))),
        (
            |g| numbers(g).filter(|_| true).workers(1),
            setting("filter", &format!("`workers`: {NOT_PARALLEL}")),
        ),
        (|g| numbers(g).par_map(|x| x).blocking(), setting("par_map", PARALLEL)),
        (|g| numbers(g).par_round(2, ControlFlow::Break).blocking(), setting("par_round", PARALLEL)),
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
                "`finish` gives items after the last firing, so its outputs need dynamic rates: leave out `push`",
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
        let Err(Error::Build(error)) = all.run(&Options::new()) else { panic!("not refused: {fault}") };
        assert_eq!(error.faults, std::slice::from_ref(&fault));
        let Fault::Setting { node, detail } = fault else { unreachable!() };
        assert_eq!(
            error.to_string(),
            format!("the graph cannot be run\n  node `{node}` cannot have {detail}")
        );
    }

    let graph = Graph::new();
    let inputs: Vec<_> = (0..65).map(|_| graph.source(0..3u64)).collect();
    graph.merge(inputs).named("many").discard();
    let detail = "65 inputs: a merge has at most 64, so merge in two steps";
    assert_eq!(faults(graph.build()), [setting("many", detail)]);
}

/// All mistakes are reported, and not what follows from them; each with the name that its node has at last.
#[test]
fn mistakes_are_reported_together_with_final_names() {
    let graph = Graph::new();
    let early = graph.source(0..9u64).unordered().named("early");
    let middle = early.map(|x| x).workers(3).unordered().named("first").named("middle");
    let late = middle.par_round(4, ControlFlow::Break).blocking().named("late");
    let end = late.collect();
    // Settings that are right, and a stream without a consumer, which is only found where all else is well.
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

/// A name that is taken gets a suffix, and one that its node has already none.
#[test]
fn names_are_unique() {
    let graph = Graph::new();
    let one = graph.source(0..9u64).named("x").named("x");
    let two = graph.source(0..9u64).named("x");
    one.zip(two).par_round(2, ControlFlow::Break).named("x").for_each(drop).named("x");
    let network = graph.build().unwrap();
    let names: Vec<&str> = network.graph().nodes().iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["x", "x-2", "zip", "x.gate", "x-3", "x-4"]);
}

/// Settings of a node that consists of two are the parallel one's.
#[test]
fn settings_of_a_round_are_its_steps() {
    let graph = Graph::new();
    let rounds = graph.source(0..100u64).par_round(8, |item| match item % 7 {
        0 => ControlFlow::Break(item),
        _ => ControlFlow::Continue(item + 1),
    });
    let all = rounds.workers(1).unordered().capacity(3).named("seventh").collect();
    let network = graph.build().unwrap();
    let node = |name: &str| network.graph().nodes().iter().find(|node| node.name == name).unwrap().clone();
    assert_eq!((node("seventh").workers, node("seventh").unordered), (Some(1), true));
    assert_eq!((node("seventh.gate").workers, node("seventh.gate").unordered), (None, false));
    let run = network.run(&Options::new().threads(3)).unwrap();
    assert!(run.take(all).unwrap().into_iter().eq((0..100u64).map(|item| item.next_multiple_of(7))));
}

/// Streams of two graphs meet in neither, by whichever way they were brought together.
#[test]
fn streams_of_two_graphs_are_refused() {
    type Join = fn(&Graph<'static>, Stream<'static, u64>, Stream<'static, u64>);
    let ways: [(Join, &str); 6] = [
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
    for (join, port) in ways {
        let ran = Arc::new(AtomicBool::new(false));
        let (graph, foreign) = (Graph::new(), Graph::new());
        let own = graph.source(noted(&ran)).named("own");
        let other = foreign.source(noted(&ran)).named("other");
        join(&graph, own, other);
        let expected = Fault::Foreign { input: port.to_owned() };
        let text = expected.to_string();
        assert!(text.contains(&format!("input `{port}` was given a stream of another graph")), "{text}");
        assert_eq!(faults(graph.build()), [expected]);
        // The other graph has lost the stream: it is not run without.
        let Err(error) = foreign.run(&Options::new()) else { panic!("not refused") };
        assert!(error.to_string().contains("output `other.out`"), "{error}");
        assert!(!ran.load(Ordering::Relaxed));
    }
}

/// Two graphs with streams of each other, and what their sources hold.
fn mixed_up() -> (Arc<Ledger>, Graph<'static>, Graph<'static>) {
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
fn graphs_that_were_mixed_up_are_dropped_when_they_are_built() {
    let (ledger, one, two) = mixed_up();
    assert!(one.build().is_err() && two.build().is_err());
    assert_eq!(ledger.live(), 0);
}

#[test]
fn graphs_that_were_mixed_up_are_dropped_without_being_built() {
    let (ledger, one, two) = mixed_up();
    drop((one, two));
    assert_eq!(ledger.live(), 0);
}

/// What a function that weighs holds is dropped where its drop may use the graph.
#[test]
fn a_weight_that_is_replaced_is_dropped_without_the_graphs_lock() {
    struct Looks(Graph<'static>, Arc<AtomicBool>);
    impl Drop for Looks {
        fn drop(&mut self) {
            self.1.store(self.0.data().nodes().len() == 2, Ordering::Relaxed);
        }
    }

    let (graph, looked) = (Graph::new(), Arc::new(AtomicBool::new(false)));
    let looks = Looks(graph.source(0..1u64).graph(), looked.clone());
    let (back, round) = graph.feedback([1u64]);
    let round = round.weigh(|_| 1);
    let next = round.map(|item| item).weigh(move |_| looks.1.load(Ordering::Relaxed).into());
    watch("feed", || next.feed(back));
    assert!(looked.load(Ordering::Relaxed));
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
        let Err(Error::Build(error)) = graph.run(&Options::new()) else { panic!("not refused") };
        let [Fault::Feedback { detail: said, .. }, ..] = &*error.faults else { panic!("{error}") };
        assert_eq!(said, detail);
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
    let refused = graph.run(&Options::new()).unwrap_err().to_string();
    assert!(
        refused.contains(
            "the feedback channel into input `map.in` cannot have `workers`, which is a setting of a node"
        ),
        "{refused}"
    );
}

/// Handles may be used from several threads: a graph is built from all of them.
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
        let run = watch("built by threads", || graph.run(&Options::new().threads(2)).unwrap());
        for (i, sum) in (0u64..).zip(sums) {
            assert_eq!(run.take(sum).unwrap(), (0..i * 10).map(|item| item + i).sum());
        }
    }
}

/// A source that is polled while the graph is under construction would be under its lock: it is not.
#[test]
fn what_builds_a_graph_may_build_it_meanwhile() {
    let graph = Graph::new();
    let merged =
        graph.merge((0..4u64).map(|i| graph.source(i * 10..i * 10 + 10).named(&format!("from {i}"))));
    let (back, round) = graph.feedback((0..3u64).inspect(|_| graph.source(0..3u64).discard()));
    round.zip(merged).map(|(token, item)| (token + item) % 3).named("round").feed(back);
    watch("merged", || graph.run(&Options::new().deadline(Duration::from_secs(20))).unwrap());
}

/// What is added after a graph was built is not part of its run.
#[test]
fn an_output_made_after_the_graph_was_built_has_no_value() {
    for nodes in [0, 20] {
        let graph = Graph::new();
        let all = graph.source(0..3u64).collect();
        let late = all.graph();
        let run = graph.run(&Options::new()).unwrap();
        (0..nodes).for_each(|_| late.source(0..1u64).discard());
        let output = late.source(0..3u64).collect();
        assert!(output.graph().build().is_err());
        assert!(run.take(output).is_err());
        assert_eq!(run.take(all).unwrap(), [0, 1, 2]);
    }
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
    let failed = graph.run(&Options::new()).unwrap_err().to_string();
    assert_eq!(failed, "node `early` panicked: made of nothing");
    let graph = Graph::new();
    let (back, round) = graph.feedback([1u64]);
    round.weigh(|_| panic!("too heavy")).map(|x| x).feed(back);
    let failed = graph.run(&Options::new()).unwrap_err().to_string();
    assert_eq!(failed, "node `map` panicked: too heavy");
}

/// The run is for `reader` alone, which returns a value and has outputs. It leaves a loop that then starves.
#[test]
fn a_loop_starves_beside_what_returns_a_value() {
    for rounds in [0u64, 10, 100_000] {
        for threads in 1..=2 {
            let graph = Graph::new();
            let (back, tokens) = graph.feedback::<u64>([]);
            let (numbers, sent) = graph.process(
                "gate",
                tokens,
                (output("out"), output("token")),
                |mut back, (mut out, mut token)| async move {
                    for i in 0..3u64 {
                        out.send(i).await;
                    }
                    token.send(0).await;
                    token.send(0).await;
                    while back.recv().await.is_some() {}
                },
            );
            sent.map(|x| x).feed(back);
            let (own, round) = graph.feedback([0u64]);
            let (sent, value) = graph.process(
                "reader",
                (numbers, round),
                output("round"),
                move |(mut numbers, mut round), mut next| async move {
                    let mut sum = 0;
                    for _ in 0..3 {
                        sum += numbers.recv().await.unwrap_or(100);
                    }
                    drop(numbers);
                    for _ in 0..rounds {
                        let token = round.recv().await.expect("its own loop goes on");
                        next.send(token).await;
                    }
                    Value(sum)
                },
            );
            sent.map(|x| x).feed(own);
            let what = format!("{rounds} rounds, {threads} threads");
            let run = watch(&what, || graph.run(&Options::new().threads(threads)));
            assert_eq!(run.unwrap_or_else(|error| panic!("{what}: {error}")).take(value).unwrap(), 3);
        }
    }
}

#[test]
fn loops_that_wait_for_a_timer_are_not_closed() {
    let graph = Graph::new();
    let ticks = graph.process("timer", (), output("out"), |(), mut out| async move {
        for i in 0..3u64 {
            let (woken, mut started) = (Arc::new(AtomicBool::new(false)), false);
            std::future::poll_fn(|cx| {
                if woken.load(Ordering::Acquire) {
                    return std::task::Poll::Ready(());
                }
                if !std::mem::replace(&mut started, true) {
                    let (woken, waker) = (woken.clone(), cx.waker().clone());
                    std::thread::spawn(move || {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        woken.store(true, Ordering::Release);
                        waker.wake();
                    });
                }
                std::task::Poll::Pending
            })
            .await;
            out.send(i).await;
        }
    });
    let done = ticks.par_round(4, std::ops::ControlFlow::Break).collect();
    let run = graph.run(&Options::new().threads(2).close_starved_loops()).unwrap();
    assert_eq!(run.take(done).unwrap(), [0, 1, 2]);
}
