//! Deadlocks that the last thread awake finds: a channel that is too small grows, and a true deadlock ends the run in
//! an error that names the nodes of the cycle and no others.
//!
//! Each graph is run under every policy, with one to four workers, with and without the test's own thread as the
//! reader. The thread that falls asleep last finds the deadlock; the tests vary which thread that is.

use crate::support;

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;
use support::watchdog::watch;
use thalweg::error::Deadlock;
use thalweg::{Error, Failed, Graph, Options, Report, Run, Stream, Value, input, output};

/// Every policy with one, two and four workers.
fn everywhere(check: impl Fn(&Options)) {
    for policy in thalweg::embed::policy::registry::names() {
        for threads in [1, 2, 4] {
            let options = Options::new().policy(policy).threads(threads);
            watch(format!("{options:?}"), || check(&options));
        }
    }
}

/// The names in the cycle, in alphabetical order, the deadlock and its text.
fn cycle(end: Result<Run, Failed>) -> (Vec<String>, Deadlock, String) {
    let error = end.expect_err("the run ends in a deadlock").into_error();
    let text = format!("{error:?}");
    let Error::Deadlock(deadlock) = error else { panic!("not a deadlock: {text}") };
    let mut names: Vec<String> = deadlock.waits().iter().map(|wait| wait.node().to_owned()).collect();
    names.sort();
    (names, deadlock, text)
}

/// The deadlock is between `names`, and its text names none of `others`.
fn assert_between(end: Result<Run, Failed>, names: &[&str], others: &[&str]) {
    let (found, deadlock, text) = cycle(end);
    assert_eq!(found, names, "{text}");
    assert_eq!(deadlock.over_budget(), None);
    assert!(names.iter().all(|name| text.contains(&format!("`{name}`"))), "{text}");
    assert!(!others.iter().any(|name| text.contains(&format!("`{name}`"))), "{text}");
}

/// A byte budget that suffices for every graph here except the one with channels that grow without end.
const BUDGET: usize = 1 << 16;

/// A loop that feeds back only even items: it starves after two items. The input from outside may be endless, so
/// channels into the loop grow up to the budget before the run is a deadlock.
fn starving(
    graph: &Graph<'static>,
    numbers: impl Iterator<Item = u64> + Send + 'static,
) -> Stream<'static, u64> {
    let numbers = graph.source(numbers).named("numbers");
    let (end, back) = graph.feedback([2u64]);
    let met = graph
        .kernel("meet", (input("in", numbers), input("back", back)), output("out"))
        .sequential(|(a, b), out| out.push(a.pop() + b.pop()));
    let (out, round) = graph.kernel("part", input("in", met), (output("out"), output("back"))).sequential(
        |items, (out, back)| {
            let item = items.pop();
            out.push(item);
            back.extend(item.is_multiple_of(2).then_some(item));
        },
    );
    round.feed(end);
    out
}

#[test]
fn a_starving_loop_is_named() {
    everywhere(|options| {
        let graph = Graph::new();
        let out = starving(&graph, 0..);
        out.for_each(|_| {}).named("drink");
        let end = graph.run_with(&options.clone().budget(BUDGET));
        assert_between(end, &["meet", "part"], &["drink"]);
    });
}

#[test]
fn a_starving_loop_is_named_to_a_late_reader() {
    everywhere(|options| {
        let graph = Graph::new();
        let out = starving(&graph, 0..);
        let mut outlet = out.start_with(&options.clone().budget(BUDGET)).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(outlet.by_ref().collect::<Vec<_>>(), [2, 3]);
        assert_between(outlet.finish(), &["meet", "part"], &["outlet"]);
    });
}

#[test]
fn a_starving_loop_is_named_where_a_blocking_node_is_the_last_to_sleep() {
    everywhere(|options| {
        let graph = Graph::new();
        let out = starving(&graph, 0..);
        graph.kernel("drink", input("in", out), ()).blocking().sequential(|items, ()| {
            items.pop();
            std::thread::sleep(Duration::from_millis(3));
        });
        let end = graph.run_with(&options.clone().budget(BUDGET));
        assert_between(end, &["meet", "part"], &["drink"]);
    });
}

/// The outcome of a starved loop does not depend on channel capacities: the loop ends if it has consumed all items
/// from outside, and is a deadlock if some are left.
#[test]
fn a_starving_loop_ends_if_it_has_consumed_all_items_from_outside() {
    everywhere(|options| {
        for (capacity, items) in [(1, 2), (3, 2), (100, 2), (1, 3), (3, 3), (100, 3), (1, 50), (100, 50)] {
            let graph = Graph::new();
            let out = starving(&graph, 0..items);
            let mut outlet = out.start_with(&options.clone().capacity(capacity)).unwrap();
            assert_eq!(outlet.by_ref().collect::<Vec<_>>(), [2, 3]);
            match outlet.finish() {
                Ok(_) => assert_eq!(items, 2),
                end => {
                    assert_ne!(items, 2);
                    let (found, deadlock, text) = cycle(end);
                    assert_eq!(found, ["meet", "part"], "{text}");
                    assert_eq!(deadlock.unread().unwrap().channel(), "numbers.out -> meet.in", "{text}");
                }
            }
        }
    });
}

/// Two nodes in a cycle with one item; one of them needs two. Beside them runs a chain that ends.
#[test]
fn a_cycle_without_a_source_is_named() {
    everywhere(|options| {
        let graph = Graph::new();
        let honest = graph.source(0..100u64).named("honest");
        honest.for_each(|_| {}).named("content");
        let (end, back) = graph.feedback([1u64]);
        let ping = graph
            .kernel("ping", input("in", back), output("out"))
            .sequential(|items, out| out.push(items.pop()));
        let (pong, out) = graph
            .kernel("pong", input("in", ping).pop(2), (output("back"), output("out")))
            .parallel(|items, (back, out)| {
                back.extend([items.pop(), items.pop()]);
                out.push(0);
            });
        pong.feed(end);
        out.for_each(|_| {}).named("never");
        let end = graph.run_with(options);
        assert_between(end, &["ping", "pong"], &["honest", "content", "never"]);
    });
}

/// Two branches that are joined again. One holds its items back until it has a hundred, while the other's channel has
/// room for four.
fn skewed(items: u64) -> (Graph<'static>, Stream<'static, u64>) {
    let graph = Graph::new();
    let numbers = graph.source(0..items).named("numbers");
    let (a, b) =
        graph.kernel("fan", input("in", numbers), (output("a"), output("b"))).sequential(|items, (a, b)| {
            let item = items.pop();
            a.push(item);
            b.push(item);
        });
    let mut kept = Vec::new();
    let late = graph.kernel("hoard", input("in", a), output("out")).sequential(move |items, out| {
        kept.push(items.pop());
        if kept.len() == 100 {
            out.extend(kept.drain(..));
        }
    });
    let ins = (input("late", late), input("soon", b));
    let sums = graph
        .kernel("meet", ins, output("out"))
        .parallel(|(late, soon), out| out.push(late.pop() + soon.pop()));
    (graph, sums)
}

/// The channel that had to grow has grown to at most about twice the capacity it needs.
fn assert_grown(report: &Report) {
    let names = |channel| report.graph().channel_name(channel);
    let last = report.growths().last().expect("four items of room are too few");
    assert!(report.growths().iter().all(|growth| growth.to() == 2 * growth.from()), "{:?}", report.growths());
    assert!(report.growths().iter().any(|growth| names(growth.channel()) == "fan.b -> meet.soon"));
    assert!((96..256).contains(&last.to()), "{:?}", report.growths());
    assert!(report.to_string().contains("fan.b -> meet.soon"));
}

fn sums(items: u64) -> Vec<u64> {
    (0..items).map(|item| 2 * item).collect()
}

#[test]
fn a_channel_that_is_too_small_grows_and_is_reported() {
    everywhere(|options| {
        let (graph, stream) = skewed(500);
        let got = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let to = got.clone();
        stream.for_each(move |sum| to.lock().unwrap().push(sum)).named("sums");
        let report = graph.run_with(&options.clone().capacity(4)).unwrap().into_report();
        assert_eq!(*got.lock().unwrap(), sums(500));
        assert_grown(&report);
    });
}

#[test]
fn a_channel_grows_for_a_late_reader() {
    everywhere(|options| {
        let (_graph, stream) = skewed(500);
        let mut outlet = stream.start_with(&options.clone().capacity(4)).unwrap();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(outlet.by_ref().collect::<Vec<_>>(), sums(500));
        assert_grown(outlet.finish().unwrap().report());
    });
}

#[test]
fn a_channel_grows_after_the_reader_has_left() {
    everywhere(|options| {
        let (graph, stream) = skewed(300);
        let (first, second) = graph
            .kernel("copy", input("in", stream), (output("first"), output("second")))
            .sequential(|items, (a, b)| {
                let item = items.pop();
                a.push(item);
                b.push(item);
            });
        let count = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let counted = count.clone();
        first
            .for_each(move |_| {
                counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            })
            .named("count");
        let outlet = second.start_with(&options.clone().capacity(4)).unwrap();
        let report = outlet.finish().unwrap().into_report();
        assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), 300);
        assert_grown(&report);
    });
}

/// A blocking source that falls asleep last must wake the workers when a channel has grown.
#[test]
fn a_channel_grows_where_the_source_is_the_last_to_sleep() {
    everywhere(|options| {
        let graph = Graph::new();
        let slow = (0..200u64).inspect(|item| {
            if item % 20 == 0 {
                std::thread::sleep(Duration::from_micros(300));
            }
        });
        let numbers = graph.source(slow).blocking().named("numbers");
        let (a, b) = graph
            .kernel("fan", input("in", numbers), (output("a").push(1), output("b").push(1)))
            .parallel(|items, (a, b)| {
                let item = items.pop();
                a.push(item);
                b.push(item);
            });
        let late = graph.kernel("hoard", input("in", a).pop(100), output("out")).sequential(|items, out| {
            (0..100).for_each(|_| out.push(items.pop()));
        });
        let sums = graph
            .kernel("meet", (input("late", late), input("soon", b)), output("out"))
            .sequential(|(a, b), out| out.push(a.pop() + b.pop()));
        sums.for_each(|_| {}).named("sums");
        let report = graph.run_with(&options.clone().capacity(4)).unwrap().into_report();
        assert_eq!(report.nodes()[0].firings(), 201);
    });
}

/// A node that sends to two others, each of which needs three items at once, over channels with room for two.
fn two_hoards(graph: &Graph<'static>, numbers: Stream<'static, u64>) -> [Stream<'static, u64>; 2] {
    let (a, b) = graph
        .kernel("fan", input("in", numbers), (output("a").push(1), output("b").push(1)))
        .sequential(|items, (a, b)| {
            let item = items.pop();
            a.push(item);
            b.push(item);
        });
    [("first", a), ("second", b)].map(|(name, items)| {
        let kernel = graph.kernel(name, input("in", items), output("sum"));
        let kernel = kernel.framed(|items| Ok(items.peek(2)?.map(|_| 3)));
        kernel.sequential(|items, out| out.push(std::iter::from_fn(|| items.try_pop()).sum::<u64>()))
    })
}

/// The last thread awake is a source that ends. It must grow both channels before it leaves: one alone lets no node
/// fire.
#[test]
fn two_channels_grow_where_the_source_ends_last() {
    everywhere(|options| {
        let graph = Graph::new();
        let late = (0..3u64)
            .chain(std::iter::once_with(|| std::thread::sleep(Duration::from_millis(3))).flat_map(|()| None));
        let numbers = graph.source(late).blocking().named("numbers");
        let got = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        for sums in two_hoards(&graph, numbers) {
            let to = got.clone();
            sums.for_each(move |sum| to.lock().unwrap().push(sum)).named("sums");
        }
        let report = graph.run_with(&options.clone().capacity(2)).unwrap().into_report();
        assert_eq!(*got.lock().unwrap(), [3, 3]);
        assert_eq!(report.growths().len(), 2, "{:?}", report.growths());
    });
}

#[test]
fn two_channels_grow_where_the_reader_leaves_last() {
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = graph.source(0..100u64).named("numbers");
        let (numbers, own) = graph
            .kernel("part", input("in", numbers), (output("on"), output("own")))
            .sequential(|items, (on, own)| match items.pop() {
                0 => own.push(0),
                item => on.push(item),
            });
        let count = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        for sums in two_hoards(&graph, numbers) {
            let counted = count.clone();
            sums.for_each(move |_| {
                counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            })
            .named("sums");
        }
        let mut outlet = own.start_with(&options.clone().capacity(2)).unwrap();
        assert_eq!(outlet.next(), Some(0));
        // By now the workers are expected to sleep.
        std::thread::sleep(Duration::from_millis(3));
        outlet.finish().unwrap();
        assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), 2 * 33);
    });
}

#[test]
fn growth_beyond_the_budget_is_refused_with_the_budget_in_the_text() {
    everywhere(|options| {
        let (graph, stream) = skewed(500);
        stream.for_each(|_| {}).named("sums");
        let end = graph.run_with(&options.clone().capacity(4).budget(400));
        let (names, deadlock, text) = cycle(end);
        assert_eq!(names, ["fan", "hoard", "meet"], "{text}");
        assert_eq!(deadlock.over_budget(), Some(400));
        assert!(text.contains("limit of 400 bytes, of which `"), "{text}");
        // The room is that of the longest channels, and within the budget.
        let largest = deadlock.largest();
        assert!(
            text.contains(&format!("of which `{}` has {}", largest[0].channel(), largest[0].bytes())),
            "{text}"
        );
        assert!(
            largest[0].items() > 0 && largest.iter().map(|room| room.bytes()).sum::<usize>() <= 400,
            "{text}"
        );
        assert!(largest.is_sorted_by_key(|room| std::cmp::Reverse(room.bytes())), "{text}");
    });
}

/// A loop ends when its input from outside has ended and no item is in flight, although its nodes wait for each other.
#[test]
fn a_loop_whose_input_has_ended_is_no_deadlock() {
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = graph.source(0..50u64).named("numbers");
        let (end, back) = graph.feedback([]);
        let met = graph
            .kernel("meet", (input("in", numbers), input("back", back)), output("out"))
            .framed(|(numbers, back)| match numbers.peek(0)? {
                Some(_) => Ok(Some([1, 0])),
                None => Ok(back.peek(0)?.map(|_| [0, 1])),
            })
            .sequential(|(a, b), out| {
                out.extend(a.try_pop().or_else(|| b.try_pop()));
            });
        let (out, round) = graph.kernel("halve", input("in", met), (output("out"), output("back"))).parallel(
            |items, (out, back)| {
                let item = items.pop();
                if item % 2 == 1 || item == 0 { out.push(item) } else { back.push(item / 2) }
            },
        );
        round.feed(end);
        let items: Vec<u64> = out.start_with(&options.clone().capacity(2)).unwrap().collect();
        let odd_part = |item: u64| if item == 0 { 0 } else { item >> item.trailing_zeros() };
        let mut sorted = items.clone();
        sorted.sort_unstable();
        let mut expected: Vec<u64> = (0..50).map(odd_part).collect();
        expected.sort_unstable();
        assert_eq!(sorted, expected);
        assert!(items.starts_with(&[0, 1, 3, 5, 7]), "{items:?}");
    });
}

/// Two loops starve at once, and only the later one in the graph can end: its input from outside has ended. The items
/// that its last node then pushes let the rest go on. The first loop waits for its input.
#[test]
fn a_loop_that_waits_for_another_is_no_deadlock() {
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = graph.source(0..50u64).named("numbers");
        let (first, second) = graph
            .kernel("fan", input("in", numbers), (output("first").push(1), output("second").push(1)))
            .sequential(|items, (a, b)| {
                let item = items.pop();
                a.push(item);
                b.push(item);
            });
        let rounds = first
            .par_iterate(4, |item: u64| match item % 5 {
                0 => ControlFlow::Break(item),
                _ => ControlFlow::Continue(item + 1),
            })
            .named("round");
        let few = graph.source(0..3u64).named("few");
        let (end, back) = graph.feedback([]);
        let entered = graph
            .kernel("enter", (input("in", few), input("back", back)), output("out"))
            .framed(|(few, back)| match few.peek(0)? {
                Some(_) => Ok(Some([1, 0])),
                None => Ok(back.peek(0)?.map(|_| [0, 1])),
            })
            .sequential(|(few, back), out| {
                out.extend(few.try_pop().or_else(|| back.try_pop()));
            });
        // No item is fed back; `go` receives its items when the loop has ended.
        let (go, round) = graph
            .kernel("leave", input("in", entered), (output("go"), output("back")))
            .finish(|(go, _)| go.extend(0..50))
            .sequential(|items, _| _ = items.pop());
        round.feed(end);
        let inputs = (input("go", go), input("rounds", rounds.capacity(8)), input("items", second));
        let mut met = 0;
        graph.kernel("meet", inputs, ()).sequential(|(go, rounds, items), ()| {
            let (go, round, item) = (go.pop(), rounds.pop(), items.pop());
            assert_eq!((go, round), (item, item.next_multiple_of(5)));
            met += 1;
        });
        graph.run_with(&options.clone().capacity(2)).unwrap().into_report();
        assert_eq!(met, 50);
    });
}

/// Nodes that reach no reader any more are cancelled, also in loops and with endless sources.
#[test]
fn endless_sources_end_with_their_last_reader() {
    everywhere(|options| {
        let items = thalweg::from_iter(0u64..).take(5).collect().run_with(options).unwrap().into_value();
        assert_eq!(items, [0, 1, 2, 3, 4]);
        let step = |item: u64| {
            if item.is_multiple_of(3) { ControlFlow::Break(item) } else { ControlFlow::Continue(item + 1) }
        };
        let items = thalweg::from_iter(0u64..)
            .par_iterate(4, step)
            .take(5)
            .collect()
            .run_with(options)
            .unwrap()
            .into_value();
        assert_eq!(items, [0, 3, 3, 3, 6]);
    });
}

/// An endless loop, built by hand, is cancelled too, although its nodes keep each other's channels open.
#[test]
fn an_endless_loop_ends_with_its_last_reader() {
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = graph.source(0u64..).named("numbers");
        let (end, back) = graph.feedback([0u64]);
        let ins = (input("in", numbers), input("back", back));
        let (out, round) =
            graph.kernel("sum", ins, (output("out"), output("back"))).sequential(|(a, b), (out, back)| {
                let sum = a.pop() + b.pop();
                out.push(sum);
                back.push(sum);
            });
        round.feed(end);
        let mut outlet = out.start_with(options).unwrap();
        assert_eq!(outlet.by_ref().take(4).collect::<Vec<_>>(), [0, 1, 3, 6]);
        outlet.finish().unwrap();
    });
}

/// Only `reader` is live: it returns a value, and it has outputs. It drops its input from a loop, which then starves.
#[test]
fn a_loop_starves_beside_a_process_that_returns_a_value() {
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
                        let token = round.recv().await.expect("the reader's own loop never ends");
                        next.send(token).await;
                    }
                    Value(sum)
                },
            );
            sent.map(|x| x).feed(own);
            let what = format!("{rounds} rounds, {threads} threads");
            let run = watch(&what, || graph.run_with(&Options::new().threads(threads)));
            assert_eq!(run.unwrap_or_else(|error| panic!("{what}: {error}")).take(value).unwrap(), 3);
        }
    }
}

#[test]
fn loops_that_wait_for_a_timer_are_not_closed() {
    let graph = Graph::new();
    let ticks = graph.process("timer", (), output("out"), |(), mut out| async move {
        for i in 0..3u64 {
            // The waker of the latest poll; `None` once the time is over.
            let timer = Arc::new(Mutex::new(Some(None::<Waker>)));
            let at_end = timer.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                if let Some(waker) = at_end.lock().unwrap().take().flatten() {
                    waker.wake();
                }
            });
            std::future::poll_fn(|cx| match &mut *timer.lock().unwrap() {
                Some(waker) => {
                    *waker = Some(cx.waker().clone());
                    Poll::Pending
                }
                None => Poll::Ready(()),
            })
            .await;
            out.send(i).await;
        }
    });
    let done = ticks.par_iterate(4, ControlFlow::Break).collect();
    let run = graph.run_with(&Options::new().threads(2).close_starved_loops()).unwrap();
    assert_eq!(run.take(done).unwrap(), [0, 1, 2]);
}
