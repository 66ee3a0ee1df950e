//! Values that nodes return.

use crate::support;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use support::inject::{INJECTED, silence};
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, Output, Stream, Value, from_iter, input, output};

/// Every policy with one, two and three workers.
fn everywhere(check: impl Fn(&Options)) {
    for policy in thalweg::embed::policy::registry::names() {
        for threads in [1, 2, 3] {
            let options = Options::new().policy(policy).threads(threads);
            watch(format!("{options:?}"), || check(&options));
        }
    }
}

/// A hundred times with one, two and three workers, with tiny and default channels.
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
fn sinks_return_their_values() {
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
        let run = graph.run_with(options).unwrap();
        // In another order than the one in which the sinks were built.
        assert_eq!(run.take(sum).unwrap(), 1 + 299 * 300);
        assert_eq!(run.take(text).unwrap(), "012345678910");
        assert!(run.take(all).unwrap().into_iter().eq(0..300));
        assert_eq!(run.report().nodes().len(), run.into_report().graph().nodes().len());
    });
}

#[test]
fn an_empty_stream_leaves_the_initial_value() {
    everywhere(|options| {
        let none = || from_iter(0..0u64);
        assert_eq!(none().fold(7, |sum, item| sum + item).run_with(options).unwrap().into_value(), 7);
        assert_eq!(
            none().try_fold(8, |_, _| Err::<u64, _>(INJECTED)).run_with(options).unwrap().into_value(),
            8
        );
        assert!(none().collect().run_with(options).unwrap().into_value().is_empty());
        let report = none().for_each(drop).run_with(options).unwrap().into_report();
        assert_eq!(report.nodes().len(), 2);
    });
}

/// A sink that ends early counts as ended.
#[test]
fn a_sink_that_ends_early_ends_the_run() {
    let mut seen = 0;
    let sink = from_iter(0u64..).for_each(|item| {
        seen += 1;
        if item < 9 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    watch("endless", || sink.run_with(&Options::new().threads(2)).unwrap());
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
        let error = kept.named("keep").run_with(options).unwrap_err().into_error();
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
        from_iter(0..9u64).fold(0, |sum, item| if item == 5 { panic!("{INJECTED}") } else { sum + item });
    let error = sum.run().unwrap_err();
    assert_eq!(error.to_string(), format!("node `fold` panicked: {INJECTED}"));
}

/// Collected items belong to the caller; the items of a dropped output are dropped by the run.
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
        let run = graph.run_with(options).unwrap();
        assert_eq!(ledger.live(), 100);
        let kept = run.take(kept).unwrap();
        drop(late);
        assert_eq!((kept.len(), ledger.live()), (50, 50));
        drop((kept, run));
        assert_eq!(ledger.live(), 0);
    });
}

/// Values of processes and coroutines are dropped once too.
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
        let run = graph.run_with(options).unwrap();
        assert_eq!(ledger.live(), 2);
        assert_eq!(run.take(kept).unwrap().value(), 1);
        drop(late);
        assert_eq!(ledger.live(), 0);
    });
}

/// Processes with every kind of return value, with outputs and without.
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
        let run = graph.run_with(options).unwrap();
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
        let run = graph.run_with(options).unwrap();
        assert_eq!(run.take(last).unwrap(), "done");
        assert_eq!(run.take(count).unwrap(), 100);
        assert_eq!(run.take(sum).unwrap(), 49 * 50);
        assert_eq!(run.take(most).unwrap(), Some(99));
    });
}

/// A process or coroutine returns a value or an error.
#[test]
fn an_error_instead_of_a_value_fails_the_run() {
    fn ending(fails: bool, sum: u64) -> Result<Value<u64>, String> {
        if fails { Err(format!("{INJECTED} error")) } else { Ok(Value(sum)) }
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
            match graph.run_with(options) {
                Ok(run) => {
                    assert!(!fails);
                    assert_eq!(run.take(sum).unwrap(), 49 * 25);
                    assert_eq!(run.take(passed).unwrap().len(), 50);
                }
                Err(error) => {
                    assert!(fails);
                    assert_eq!(error.to_string(), format!("node `pass` failed: {INJECTED} error"));
                }
            }
        }
    });
}

#[test]
fn a_process_alone_is_run_for_its_value() {
    everywhere(|options| {
        let (value, report) = Graph::new()
            .process("alone", (), (), |(), ()| async { Value(7) })
            .run_with(options)
            .unwrap()
            .into_parts();
        assert_eq!((value, report.nodes().len()), (7, 1));
        let alone = Graph::new().kernel("alone", (), ()).blocking().coroutine(|(), ()| Value(8));
        assert_eq!(alone.run_with(options).unwrap().into_value(), 8);
    });
}

pub fn longer<'a>(longest: &'a str, word: &'a str) -> &'a str {
    if word.len() > longest.len() { word } else { longest }
}

/// Values, streams and functions may borrow from data that outlives the graph.
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
        let run = graph.run_with(options).unwrap();
        let (longest, shortest, last) = (run.take(longest), run.take(shortest), run.take(last));
        drop(run);
        assert_eq!((longest.unwrap(), shortest.unwrap(), last.unwrap()), ("graph", Some("a"), Some("nodes")));
    });
    let longest = from_iter(text.split(' ')).fold("", longer).run().unwrap().into_value();
    assert!(std::ptr::eq(longest, &text[2..7]));
}

/// The number of items that the processes below pass on: far more than their output channels hold.
const MANY: u64 = 500;

/// A sink that ends after three items.
fn three(stream: Stream<'static, u64>) {
    three_of(0, stream);
}

/// A sink that ends after three items, of which `first` is the first.
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

/// A process with a value to return is not cancelled when the consumer of its stream has left.
#[test]
fn a_process_with_a_value_outlives_its_consumer() {
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
        let run = graph.run_with(options).unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 2);
        assert_eq!(run.take(sum).unwrap(), MANY * (MANY - 1) / 2);
        assert_eq!(run.take(most).unwrap(), Some(MANY - 1));
    });
}

/// A process goes on for its value, although the output for the value was dropped.
#[test]
fn a_process_goes_on_for_a_dropped_output() {
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
        graph.run_with(options).unwrap();
        assert_eq!(sent.load(Ordering::Relaxed), MANY);
    });
}

/// The nodes before a process with a value to return go on until it ends.
#[test]
fn the_producers_of_a_process_with_a_value_are_live() {
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
        let run = graph.run_with(options).unwrap();
        assert_eq!(run.take(sum).unwrap(), MANY * (MANY - 1) / 2);
    });
}

/// A loop of a gate and two other nodes, with a sink outside the loop that ends early. Then the loop is cancelled in
/// the middle of its rounds, unless the gate or another member has a value to return. Returns the number of rounds and
/// the value, if there is one.
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
            let Some(item) = rx.recv().await else { panic!("the loop ended in round {expected}") };
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
    let pass = |rx: thalweg::node::BlockingRx<Counted>, mut tx: thalweg::node::BlockingTx<Counted>| {
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
    let run = graph.run_with(options).unwrap();
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
fn a_loop_with_a_value_is_not_cancelled() {
    repeatedly(|options| {
        assert_eq!(ring(options, Returning::Gate), (MANY, Some(MANY * (MANY - 1) / 2)));
        assert_eq!(ring(options, Returning::Coroutine), (MANY, Some(MANY * (MANY + 1) / 2)));
    });
}

/// The same loop without a value.
#[test]
fn a_loop_without_a_value_is_cancelled() {
    let least = AtomicU64::new(MANY);
    repeatedly(|options| {
        let (rounds, _) = ring(options, Returning::None);
        // The third round may be cancelled at its end: the sink leaves after the third item.
        assert!((2..=MANY).contains(&rounds), "{rounds}");
        least.fetch_min(rounds, Ordering::Relaxed);
    });
    assert!(least.into_inner() < MANY, "the loop was never cancelled");
}

/// A process that was ended by a drain returns no value.
#[test]
fn a_process_that_ended_early_has_no_value() {
    let graph = Graph::new();
    let (numbers, count) = graph.process("endless", (), output("out"), |(), mut tx| async move {
        for item in 0..u64::MAX {
            tx.send(item).await;
        }
        Value(1)
    });
    let mut outlet = numbers.start_with(&Options::new().threads(2)).unwrap();
    assert_eq!(outlet.next(), Some(0));
    outlet.handle().drain();
    watch("drained", || outlet.by_ref().for_each(drop));
    let error = outlet.finish().unwrap().take(count).unwrap_err();
    assert!(matches!(error, Error::NoValue { .. }));
    assert_eq!(error.to_string(), "node `endless` has ended without a value");
}

/// A loop that lost its item is closed: its processes observe the end of their inputs and return their values.
#[test]
fn the_processes_of_a_closed_loop_return_their_values() {
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
        let run = graph.run_with(&options.clone().close_starved_loops()).unwrap();
        assert_eq!(run.take(items).unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!((run.take(count).unwrap(), run.take(passed).unwrap()), (6, 5));
    });
}

/// Yields the worker `times` times.
async fn pause(times: usize) {
    for _ in 0..times {
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

/// A process that has dropped all its ends still returns its value, inside a loop and outside.
#[test]
fn a_process_without_ends_goes_on_for_its_value() {
    repeatedly(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback([1u64]);
        let outs = (output("a"), output("b"), output("round"));
        let ((a, b, round), member) =
            graph.process("member", back, outs, |mut rx, (mut a, mut b, mut round)| async move {
                for _ in 0..20 {
                    let token = rx.recv().await.expect("the loop goes on");
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
        let run = graph.run_with(options).unwrap();
        assert_eq!((run.take(member).unwrap(), run.take(beside).unwrap()), ("member", Some(1)));
    });
}

/// A node that is added after the graph was built is not part of its run.
#[test]
fn an_output_made_after_the_graph_was_built_has_no_value() {
    for nodes in [0, 20] {
        let graph = Graph::new();
        let all = graph.source(0..3u64).collect();
        let late = all.graph();
        let run = graph.run().unwrap();
        (0..nodes).for_each(|_| late.source(0..1u64).discard());
        let output = late.source(0..3u64).collect();
        assert!(output.graph().build().is_err());
        assert!(run.take(output).is_err());
        assert_eq!(run.take(all).unwrap(), [0, 1, 2]);
    }
}

/// `discard` drops items, which are still produced.
#[test]
fn discarded_items_are_produced_and_dropped() {
    everywhere(|options| {
        let (ledger, made) = (Ledger::new(), Arc::new(AtomicU64::new(0)));
        let (graph, make, count) = (Graph::new(), ledger.clone(), made.clone());
        let items = graph.source(0..100u64).map(move |item| {
            count.fetch_add(1, Ordering::Relaxed);
            Counted::make(item, &make)
        });
        items.discard();
        let report = graph.run_with(options).unwrap().into_report();
        assert_eq!((made.load(Ordering::Relaxed), ledger.live()), (100, 0));
        assert_eq!(report.graph().nodes().last().unwrap().name(), "discard");
    });
}
