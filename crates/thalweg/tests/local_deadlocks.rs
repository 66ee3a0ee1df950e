//! Circles that wait while the rest of the graph runs on: opened or named, without a rest of the whole.
//!
//! Beside each circle something runs that ends only once the circle's end has been heard of, so a
//! circle that is found by the whole's rest alone is not found.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, Report, Rx, Stream, Tx, input, output};

/// Every policy with one, two and four workers, and a thread for each node; and what runs beside,
/// which is nothing that keeps a worker busy where the policy may give that all its time.
fn everywhere(check: impl Fn(&Options, Beside)) {
    for policy in thalweg::policy::registry::names() {
        let fair = thalweg::policy::registry::is_fair(policy) == Some(true);
        for (threads, beside) in [1, 2, 4].into_iter().flat_map(|n| [(n, Beside::Busy), (n, Beside::Waiting)])
        {
            if fair || beside == Beside::Waiting {
                let options = Options::new().policy(policy).threads(threads);
                watch(format!("{beside:?} {options:?}"), || check(&options, beside));
            }
        }
    }
    let options = Options::new().threads(1).one_to_one();
    watch(format!("{options:?}"), || check(&options, Beside::Busy));
}

/// What runs beside: a worker's whole time, or a thread that waits for the world outside.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Beside {
    Busy,
    Waiting,
}

fn run_beside(graph: &Graph<'static>, beside: Beside, over: Arc<AtomicBool>) {
    let numbers = (0u64..).take_while(move |_| {
        if beside == Beside::Waiting {
            std::thread::sleep(Duration::from_micros(200));
        }
        !over.load(Ordering::Relaxed)
    });
    let numbers = match beside {
        Beside::Busy => graph.source(numbers).named("beside"),
        Beside::Waiting => graph.source(numbers).blocking().named("beside"),
    };
    numbers.for_each(|_| ()).named("beside.sink");
}

/// Gives `MANY` on one channel and then one on another; who reads wants the one first.
const MANY: u64 = 100;

fn crossed_processes(graph: &Graph<'static>) -> Stream<'static, u64> {
    let (many, one) = graph.process(
        "giver",
        (),
        (output("many"), output("one")),
        |(), (mut many, mut one): (Tx<u64>, Tx<u64>)| async move {
            for i in 0..MANY {
                many.send(i).await;
            }
            one.send(MANY).await;
        },
    );

    graph.process(
        "taker",
        (input("many", many), input("one", one)),
        output("sum"),
        |(mut many, mut one): (Rx<u64>, Rx<u64>), mut out| async move {
            let mut sum = one.recv().await.unwrap_or(0);
            while let Some(item) = many.recv().await {
                sum += item;
            }
            out.send(sum).await;
        },
    )
}

fn crossed_kernels(graph: &Graph<'static>) -> Stream<'static, u64> {
    let numbers = graph.source(0..=MANY).named("numbers");
    let (many, one) = graph.kernel("giver", input("in", numbers), (output("many"), output("one"))).parallel(
        |items, (many, one)| match items.pop() {
            MANY => one.push(MANY),
            item => many.push(item),
        },
    );
    let ins = (input("many", many).pop(MANY as u32), input("one", one).pop(1));

    graph.kernel("taker", ins, output("sum").push(1)).sequential(|(many, one), out| {
        let mut sum = one.pop();
        while let Some(item) = many.try_pop() {
            sum += item;
        }
        out.push(sum);
    })
}

fn opened(beside: Beside, crossed: fn(&Graph<'static>) -> Stream<'static, u64>, options: &Options) -> Report {
    let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
    run_beside(&graph, beside, over.clone());
    let sum = crossed(&graph);
    sum.for_each(move |sum| {
        assert_eq!(sum, MANY * (MANY + 1) / 2);
        over.store(true, Ordering::Relaxed);
    })
    .named("heard");
    graph.run(options).unwrap().into_report()
}

#[test]
fn a_full_circle_of_processes_is_opened_beside_what_runs() {
    everywhere(|options, beside| {
        let start = Instant::now();
        let report = opened(beside, crossed_processes, &options.clone().capacity(2));
        // 2, 4, .. 128: each within the promised 50 ms, and a slow machine's pauses.
        assert_eq!(report.growths.len(), 6, "{:?}", report.growths);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    });
}

/// Its middle holds each message where it lies until it has sent it on, so it gives the place back in
/// another turn than it received in.
fn held_messages(graph: &Graph<'static>) -> Stream<'static, u64> {
    let numbers = graph.process("giver", (), output("out"), |(), mut tx| async move {
        for i in 0..=MANY {
            tx.send(i).await;
        }
    });
    let (ins, outs) = (input("in", numbers.capacity(1)), output("out"));
    let held = graph.process("holder", ins, outs, |mut rx, mut tx| async move {
        while let Some(number) = rx.recv_ref().await {
            tx.send(*number).await;
            drop(number);
        }
    });
    let (ins, outs) = (input("in", held.capacity(1)), output("sum"));

    graph.process("adder", ins, outs, |mut rx, mut tx| async move {
        let mut sum = 0;
        while let Some(number) = rx.recv().await {
            sum += number;
        }
        tx.send(sum).await;
    })
}

#[test]
fn a_place_given_back_in_a_later_turn_is_told_of() {
    everywhere(|options, beside| {
        let report = opened(beside, held_messages, options);
        assert!(report.growths.is_empty(), "{:?}", report.growths);
    });
}

/// A token that goes round a ring: everybody there waits for somebody who waits, all but one, so the
/// way from each is long and leads to no circle that waits.
fn run_ring_beside(graph: &Graph<'static>, nodes: usize, over: Arc<AtomicBool>) {
    let (back, mut ring) = graph.feedback([]);
    for _ in 0..nodes {
        let (ins, outs) = (input("in", ring), output("out"));
        ring = graph.process("pass", ins, outs, |mut rx, mut tx| async move {
            while let Some(token) = rx.recv().await {
                tx.send(token).await;
            }
        });
    }
    let (ins, outs) = (input("in", ring), output("out"));
    let out = graph.process("start", ins, outs, |mut rx, mut tx| async move {
        tx.send(0).await;
        while let Some(token) = rx.recv().await
            && !over.load(Ordering::Relaxed)
        {
            tx.send(token + 1).await;
        }
    });
    out.feed(back);
}

#[test]
fn a_full_circle_is_opened_beside_a_long_ring() {
    for (policy, threads) in [("auto", 1), ("auto", 2), ("ws-last", 4)] {
        let options = Options::new().policy(policy).threads(threads).capacity(2);
        watch(format!("{options:?}"), || {
            let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
            run_ring_beside(&graph, 20_000, over.clone());
            let sum = crossed_processes(&graph);
            sum.for_each(move |_| over.store(true, Ordering::Relaxed)).named("heard");
            let network = graph.build().unwrap();
            let start = Instant::now();
            let report = network.run(&options).unwrap().into_report();
            assert_eq!(report.growths.len(), 6, "{:?}", report.growths);
            assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        });
    }
}

#[test]
fn a_full_circle_of_kernels_is_opened_beside_what_runs() {
    everywhere(|options, beside| {
        let report = opened(beside, crossed_kernels, &options.clone().capacity(2));
        assert!(report.growths.iter().all(|growth| growth.to <= 256), "{:?}", report.growths);
    });
}

/// One channel is a circle by itself where a firing wants more than it holds.
fn hoard(graph: &Graph<'static>, name: &str, numbers: Stream<'static, u64>) -> Stream<'static, u64> {
    let kernel = graph.kernel(name, input("in", numbers), output("sum").push(1));
    let kernel = kernel.framed(|items| Ok(items.peek(MANY as usize)?.map(|_| MANY as usize + 1)));
    kernel.sequential(|items, out| out.push(std::iter::from_fn(|| items.try_pop()).sum::<u64>()))
}

/// Who gives to both needs room on both.
fn two_hoards(graph: &Graph<'static>) -> Stream<'static, u64> {
    let numbers = graph.source(0..=MANY).named("numbers");
    let outs = (output("a").push(1), output("b").push(1));
    let (a, b) = graph.kernel("fan", input("in", numbers), outs).sequential(|items, (a, b)| {
        let item = items.pop();
        a.push(item);
        b.push(item);
    });
    let (a, b) = (hoard(graph, "first", a), hoard(graph, "second", b));
    b.for_each(|_| ()).named("other");
    a
}

#[test]
fn channels_that_hold_less_than_a_firing_wants_grow_beside_what_runs() {
    everywhere(|options, beside| {
        let report = opened(beside, two_hoards, &options.clone().capacity(2));
        assert_eq!(report.growths.len(), 12, "{:?}", report.growths);
    });
}

#[test]
fn nothing_grows_without_a_circle() {
    everywhere(|options, _| {
        let graph = Graph::new();
        // A slow end of a long line, and a ladder whose rungs are all full most of the time.
        let (a, b) = graph.process(
            "fork",
            (),
            (output("a"), output("b")),
            |(), (mut a, mut b): (Tx<u64>, Tx<u64>)| async move {
                for i in 0..200 {
                    a.send(i).await;
                    b.send(i).await;
                }
            },
        );
        let sum = graph.process(
            "join",
            (input("a", a), input("b", b)),
            output("out"),
            |(mut a, mut b): (Rx<u64>, Rx<u64>), mut out| async move {
                while let (Some(a), Some(b)) = (a.recv().await, b.recv().await) {
                    out.send(a + b).await;
                }
            },
        );
        sum.for_each(|_| std::thread::sleep(Duration::from_micros(50))).named("slow");
        let report = graph.run(&options.clone().capacity(1)).unwrap().into_report();
        assert!(report.growths.is_empty(), "{:?}", report.growths);
    });
}

#[test]
fn growth_beyond_the_budget_names_the_circle() {
    everywhere(|options, beside| {
        let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        run_beside(&graph, beside, over);
        let sum = crossed_processes(&graph);
        sum.for_each(|_| ()).named("heard");
        let options = options.clone().capacity(2).budget(256);
        let error = graph.run(&options).unwrap_err();
        let Error::Deadlock(deadlock) = &error else { panic!("{error}") };
        assert_eq!(deadlock.over_budget, Some(256));
        assert_eq!(deadlock.waits.len(), 2, "{error}");
        assert!(deadlock.waits.iter().all(|wait| ["giver", "taker"].contains(&&*wait.node)), "{error}");
    });
}

/// Two that wait for each other's first message; `wanted` messages are taken of what they give.
fn shy_pair(graph: &Graph<'static>, wanted: bool, over: Option<Arc<AtomicBool>>) {
    let (end, back) = graph.feedback([]);
    let (there, out) = graph.process(
        "ping",
        input("in", back),
        (output("there"), output("out")),
        |mut rx, (mut there, mut out): (Tx<u64>, Tx<u64>)| async move {
            while let Some(item) = rx.recv().await {
                there.send(item).await;
                out.send(item).await;
            }
        },
    );
    let back = graph.process("pong", input("in", there), output("back"), |mut rx, mut tx| async move {
        while let Some(item) = rx.recv().await {
            tx.send(item).await;
        }
    });
    back.feed(end);
    let ticks = graph
        .source((0u64..).inspect(|_| std::thread::sleep(Duration::from_micros(100))))
        .blocking()
        .named("ticks");
    graph.process(
        "listener",
        (input("ticks", ticks), input("in", out)),
        (),
        move |(mut ticks, mut rx): (Rx<u64>, Rx<u64>), ()| async move {
            for _ in 0..300 {
                ticks.recv().await;
            }
            if wanted {
                rx.recv().await;
            }
            if let Some(over) = over {
                over.store(true, Ordering::Relaxed);
            }
        },
    );
}

#[test]
fn a_true_deadlock_beside_what_runs_is_named() {
    everywhere(|options, beside| {
        let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        run_beside(&graph, beside, over.clone());
        shy_pair(&graph, true, None);
        let error = graph.run(options).unwrap_err();
        let Error::Deadlock(deadlock) = &error else { panic!("{error}") };
        let mut names: Vec<&str> = deadlock.waits.iter().map(|wait| &*wait.node).collect();
        names.sort_unstable();
        assert_eq!(names, ["ping", "pong"], "{error}");
    });
}

/// What nobody waits for any more is cancelled, and that must not depend on who was first.
#[test]
fn a_deadlock_that_nobody_waits_for_is_none() {
    everywhere(|options, beside| {
        let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        run_beside(&graph, beside, over.clone());
        shy_pair(&graph, false, Some(over));
        graph.run(options).unwrap();
    });
}

/// A message that a process has in hand stays where it is while its channel grows.
#[test]
fn a_message_in_hand_outlives_the_growth_of_its_channel() {
    everywhere(|options, beside| {
        let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        run_beside(&graph, beside, over.clone());
        let (end, back) = graph.feedback([]);
        let (lists, echoed) = graph.process(
            "giver",
            input("in", back),
            (output("lists"), output("echoed")),
            |mut rx, (mut lists, mut echoed): (Tx<[u64; 21]>, Tx<u64>)| async move {
                for list in 0..40u64 {
                    lists.send(std::array::from_fn(|i| list * 21 + i as u64)).await;
                }
                drop(lists);
                while let Some(item) = rx.recv().await {
                    echoed.send(item).await;
                }
            },
        );
        let back = graph.process(
            "taker",
            input("lists", lists.capacity(2)),
            output("out"),
            |mut rx, mut tx| async move {
                while let Some(mut list) = rx.recv_ref().await {
                    // Into the channel's own storage, across awaits.
                    for item in list.iter_mut() {
                        *item += 1;
                        tx.send(*item).await;
                    }
                    let first = list[0];
                    assert!(list.iter().copied().eq(first..first + 21));
                }
            },
        );
        back.feed(end);
        let mut seen = 0;
        echoed
            .for_each(move |item| {
                seen += 1;
                assert_eq!(item, seen);
                if seen == 40 * 21 {
                    over.store(true, Ordering::Relaxed);
                }
            })
            .named("sink");
        let report = graph.run(&options.clone().capacity(2)).unwrap().into_report();
        assert!(report.growths.len() > 3, "{:?}", report.growths);
    });
}
