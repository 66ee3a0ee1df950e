//! Local deadlocks: cycles of waiting nodes that are opened or named while the rest of the graph runs.
//!
//! Beside each cycle a load runs that ends only after the cycle was opened. So an engine that finds deadlocks only
//! when all threads sleep would not find these.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, Report, Rx, Stream, Tx, input, output};

/// Every policy with one, two and four workers, and one thread for each node; with each kind of load. An unfair
/// policy may run a busy load for ever, so it has only the waiting one.
fn everywhere(check: impl Fn(&Options, Load)) {
    for policy in thalweg::embed::policy::registry::names() {
        let fair = thalweg::embed::policy::registry::is_fair(policy) == Some(true);
        for (threads, load) in [1, 2, 4].into_iter().flat_map(|n| [(n, Load::Busy), (n, Load::Waiting)]) {
            if fair || load == Load::Waiting {
                let options = Options::new().policy(policy).threads(threads);
                watch(format!("{load:?} {options:?}"), || check(&options, load));
            }
        }
    }
    let options = Options::new().threads(1).thread_per_node();
    watch(format!("{options:?}"), || check(&options, Load::Busy));
}

/// The load beside the cycle: it keeps a worker busy, or it is a thread that sleeps most of the time.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Load {
    Busy,
    Waiting,
}

/// Adds a load that runs until `over` is set.
fn add_load(graph: &Graph<'static>, load: Load, over: Arc<AtomicBool>) {
    let numbers = (0u64..).take_while(move |_| {
        if load == Load::Waiting {
            std::thread::sleep(Duration::from_micros(200));
        }
        !over.load(Ordering::Relaxed)
    });
    let numbers = match load {
        Load::Busy => graph.source(numbers).named("load"),
        Load::Waiting => graph.source(numbers).blocking().named("load"),
    };
    numbers.for_each(|_| ()).named("load.sink");
}

/// `sender` sends `MANY` items on one channel and then one item on another; `receiver` needs the one item first.
const MANY: u64 = 100;

fn crossed_processes(graph: &Graph<'static>) -> Stream<'static, u64> {
    let (many, one) = graph.process(
        "sender",
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
        "receiver",
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
    let (many, one) = graph.kernel("sender", input("in", numbers), (output("many"), output("one"))).parallel(
        |items, (many, one)| match items.pop() {
            MANY => one.push(MANY),
            item => many.push(item),
        },
    );
    let ins = (input("many", many).pop(MANY as u32), input("one", one).pop(1));

    graph.kernel("receiver", ins, output("sum").push(1)).sequential(|(many, one), out| {
        let mut sum = one.pop();
        while let Some(item) = many.try_pop() {
            sum += item;
        }
        out.push(sum);
    })
}

/// Runs a cycle beside a load that ends when the cycle's sum has arrived.
fn run_beside_load(
    load: Load,
    cycle: fn(&Graph<'static>) -> Stream<'static, u64>,
    options: &Options,
) -> Report {
    let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
    add_load(&graph, load, over.clone());
    let sum = cycle(&graph);
    sum.for_each(move |sum| {
        assert_eq!(sum, MANY * (MANY + 1) / 2);
        over.store(true, Ordering::Relaxed);
    })
    .named("sink");
    graph.run_with(options).unwrap().into_report()
}

#[test]
fn a_full_cycle_of_processes_is_opened_beside_a_load() {
    everywhere(|options, load| {
        let start = Instant::now();
        let report = run_beside_load(load, crossed_processes, &options.clone().capacity(2));
        // 2, 4, .. 128: six growths of at most 50 ms each, and room for a slow machine.
        assert_eq!(report.growths().len(), 6, "{:?}", report.growths());
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    });
}

/// The middle process borrows each message until it has sent its value on, so it frees the slot in a later activation
/// than the one in which it received the message.
fn held_messages(graph: &Graph<'static>) -> Stream<'static, u64> {
    let numbers = graph.process("sender", (), output("out"), |(), mut tx| async move {
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
fn a_slot_freed_in_a_later_activation_wakes_the_sender() {
    everywhere(|options, load| {
        let report = run_beside_load(load, held_messages, options);
        assert!(report.growths().is_empty(), "{:?}", report.growths());
    });
}

/// A ring of processes with one token. All processes but one wait for their predecessor, so the chain of waits from
/// each is long, but it is not a cycle.
fn add_ring(graph: &Graph<'static>, nodes: usize, over: Arc<AtomicBool>) {
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
fn a_full_cycle_is_opened_beside_a_long_ring() {
    for (policy, threads) in [("auto", 1), ("auto", 2), ("ws-last", 4)] {
        let options = Options::new().policy(policy).threads(threads).capacity(2);
        watch(format!("{options:?}"), || {
            let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
            add_ring(&graph, 20_000, over.clone());
            let sum = crossed_processes(&graph);
            sum.for_each(move |_| over.store(true, Ordering::Relaxed)).named("sink");
            let network = graph.build().unwrap();
            let start = Instant::now();
            let report = network.run_with(&options).unwrap().into_report();
            assert_eq!(report.growths().len(), 6, "{:?}", report.growths());
            assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        });
    }
}

#[test]
fn a_full_cycle_of_kernels_is_opened_beside_a_load() {
    everywhere(|options, load| {
        let report = run_beside_load(load, crossed_kernels, &options.clone().capacity(2));
        assert!(report.growths().iter().all(|growth| growth.to() <= 256), "{:?}", report.growths());
    });
}

/// A node that needs more items for a firing than its channel holds: a cycle of one channel.
fn hoard(graph: &Graph<'static>, name: &str, numbers: Stream<'static, u64>) -> Stream<'static, u64> {
    let kernel = graph.kernel(name, input("in", numbers), output("sum").push(1));
    let kernel = kernel.framed(|items| Ok(items.peek(MANY as usize)?.map(|_| MANY as usize + 1)));
    kernel.sequential(|items, out| out.push(std::iter::from_fn(|| items.try_pop()).sum::<u64>()))
}

/// A node with two outputs needs room on both.
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
fn channels_smaller_than_a_firing_grow_beside_a_load() {
    everywhere(|options, load| {
        let report = run_beside_load(load, two_hoards, &options.clone().capacity(2));
        assert_eq!(report.growths().len(), 12, "{:?}", report.growths());
    });
}

#[test]
fn nothing_grows_without_a_cycle() {
    everywhere(|options, _| {
        let graph = Graph::new();
        // Two channels between two processes, and a slow sink: all channels are full most of the time.
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
        let report = graph.run_with(&options.clone().capacity(1)).unwrap().into_report();
        assert!(report.growths().is_empty(), "{:?}", report.growths());
    });
}

#[test]
fn growth_beyond_the_budget_names_the_cycle() {
    everywhere(|options, load| {
        let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        add_load(&graph, load, over);
        let sum = crossed_processes(&graph);
        sum.for_each(|_| ()).named("sink");
        let options = options.clone().capacity(2).budget(256);
        let error = graph.run_with(&options).unwrap_err().into_error();
        let Error::Deadlock(deadlock) = &error else { panic!("{error}") };
        assert_eq!(deadlock.over_budget(), Some(256));
        assert_eq!(deadlock.waits().len(), 2, "{error}");
        assert!(deadlock.waits().iter().all(|wait| ["sender", "receiver"].contains(&wait.node())), "{error}");
    });
}

/// Two processes that wait for each other's first message, and a listener that ends after 300 ticks. If `wanted`, the
/// listener then waits for a message of the two.
fn deadlocked_pair(graph: &Graph<'static>, wanted: bool, over: Option<Arc<AtomicBool>>) {
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
fn a_true_deadlock_beside_a_load_is_named() {
    everywhere(|options, load| {
        let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        add_load(&graph, load, over.clone());
        deadlocked_pair(&graph, true, None);
        let error = graph.run_with(options).unwrap_err().into_error();
        let Error::Deadlock(deadlock) = &error else { panic!("{error}") };
        let mut names: Vec<&str> = deadlock.waits().iter().map(|wait| wait.node()).collect();
        names.sort_unstable();
        assert_eq!(names, ["ping", "pong"], "{error}");
    });
}

/// Processes that no live node waits for are cancelled, whether the deadlock or the end of the listener comes first.
#[test]
fn a_deadlock_of_dead_nodes_is_not_reported() {
    everywhere(|options, load| {
        let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        add_load(&graph, load, over.clone());
        deadlocked_pair(&graph, false, Some(over));
        graph.run_with(options).unwrap();
    });
}

/// A borrowed message stays valid while its channel grows.
#[test]
fn a_borrowed_message_outlives_the_growth_of_its_channel() {
    everywhere(|options, load| {
        let (graph, over) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        add_load(&graph, load, over.clone());
        let (end, back) = graph.feedback([]);
        let (lists, echoed) = graph.process(
            "sender",
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
            "receiver",
            input("lists", lists.capacity(2)),
            output("out"),
            |mut rx, mut tx| async move {
                while let Some(mut list) = rx.recv_ref().await {
                    // Writes to the channel's storage, across awaits.
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
        let report = graph.run_with(&options.clone().capacity(2)).unwrap().into_report();
        assert!(report.growths().len() > 3, "{:?}", report.growths());
    });
}
