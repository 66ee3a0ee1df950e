//! Ends of channels, and messages lent out, that are used or dropped elsewhere than in the process they
//! belong to: on other threads, in other processes and runs, in kernels.
//!
//! In all of these graphs some process awaits a [`Gate`] that only a process opens which such a drop
//! sets going: whoever is not told of the drop waits for ever.

mod support;

use std::any::Any;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;
use support::gate::Gate;
use support::inject::silence;
use support::watchdog::watch;
use thalweg::graph::{GraphData, NodeId};
use thalweg::policy::{
    Decision, Event, Host, Needs, Policy, WorkerId,
    work_stealing::{Place, WorkStealing},
};
use thalweg::{Error, Finished, Graph, Message, Options, Report, Rx, Stream, Tx, input, output};

type Gift = Box<dyn Any + Send>;

/// Fair policies that look and such that are told, with one worker and two, and threads of their own.
fn everywhere(what: &str, make: impl Fn(&Gate) -> Graph<'static>) {
    for policy in ["auto", "random", "partition", "ws-last"] {
        for threads in [1, 2] {
            let options = Options::new().policy(policy).threads(threads).capacity(1);
            for options in [options.clone(), options.one_to_one()] {
                run(what, &options, &make).unwrap();
            }
        }
    }
}

fn run(what: &str, options: &Options, make: impl Fn(&Gate) -> Graph<'static>) -> Result<Report, Error> {
    watch(format!("{what}: {options:?}"), || make(&Gate::default()).run(options).map(Finished::into_report))
}

/// Drops something on a thread of its own, when its owner surely waits.
fn drop_later(what: impl Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(3));
        drop(what);
    })
}

/// Until the others have done all they can.
async fn pause() {
    let gate = Gate::default();
    let open = gate.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(3));
        open.open();
    });
    gate.await;
}

/// A process that has something to do until the gate is open: while it has, nobody looks at the resting
/// graph, and finds there what he was not told of.
fn busy(graph: &Graph<'static>, gate: &Gate) {
    let gate = gate.clone();
    graph.process("busy", (), (), |(), ()| {
        std::future::poll_fn(move |cx| {
            cx.waker().wake_by_ref();
            if gate.is_open() { Poll::Ready(()) } else { Poll::Pending }
        })
    });
}

/// Opens a gate when it is dropped: with a process that ends, or is cancelled because nobody hears it.
struct Opens(Gate);

impl Drop for Opens {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// A process that sends ten messages; its end opens the gate.
fn ten(graph: &Graph<'static>, gate: &Gate) -> Stream<'static, u64> {
    let opens = Opens(gate.clone());
    graph.process("ten", (), output("out"), |(), mut tx| async move {
        let _opens = opens;
        for i in 0..10 {
            tx.send(i).await;
        }
    })
}

/// A process that receives all there is and then opens the gate.
fn listen(graph: &Graph<'static>, stream: Stream<'static, u64>, gate: &Gate) {
    let gate = gate.clone();
    graph.process("listen", input("in", stream), (), |mut rx, ()| async move {
        while rx.recv().await.is_some() {}
        gate.open();
    });
}

/// The first message of an end that lives as long as the program.
async fn lent(rx: Rx<u64>) -> Message<'static, u64> {
    Box::leak(Box::new(rx)).recv_ref().await.expect("there is one")
}

#[test]
fn a_sending_end_dropped_on_another_thread_ends_its_stream() {
    everywhere("sending end", |gate| {
        let (graph, open) = (Graph::new(), gate.clone());
        let out = graph.process("owner", (), output("out"), |(), mut tx| async move {
            tx.send(1).await;
            drop_later(tx);
            open.await;
        });
        listen(&graph, out, gate);
        graph
    });
}

#[test]
fn a_receiving_end_dropped_on_another_thread_frees_its_sender() {
    everywhere("receiving end", |gate| {
        let (graph, open) = (Graph::new(), gate.clone());
        let stream = ten(&graph, gate);
        graph.process("owner", input("in", stream), (), |mut rx, ()| async move {
            rx.recv().await;
            drop_later(rx);
            open.await;
        });
        graph
    });
}

/// Two messages: the second finds room when the first, which was lent out, is taken.
fn two(graph: &Graph<'static>, gate: &Gate) -> Stream<'static, u64> {
    let gate = gate.clone();
    graph.process("two", (), output("out"), |(), mut tx| async move {
        tx.send(1).await;
        tx.send(2).await;
        gate.open();
    })
}

#[test]
fn a_message_dropped_on_another_thread_makes_room() {
    for weighed in [false, true] {
        everywhere("message", |gate| {
            let (graph, open) = (Graph::new(), gate.clone());
            let stream = two(&graph, gate);
            let stream = if weighed { stream.weigh(|_| 100) } else { stream };
            graph.process("owner", input("in", stream), (), |rx, ()| async move {
                drop_later(lent(rx).await);
                open.await;
            });
            graph
        });
    }
}

/// By weight alone: there are places enough.
#[test]
fn a_weighed_message_dropped_on_another_thread_makes_room() {
    let options = Options::new().threads(2).capacity(8).budget(2000);
    let report = run("by weight", &options, |gate| {
        let (graph, open) = (Graph::new(), gate.clone());
        let stream = two(&graph, gate).weigh(|_| 1 << 20);
        graph.process("owner", input("in", stream), (), |rx, ()| async move {
            drop_later(lent(rx).await);
            open.await;
        });
        graph
    });
    assert_eq!(report.unwrap().channels[0].items, 2);
}

/// An owner that gives away what it has to `taker`, and waits at the gate.
fn give_away(graph: &Graph<'static>, gate: &Gate, kind: usize) -> Stream<'static, Gift> {
    let (open, stream) = (gate.clone(), if kind == 2 { two(graph, gate) } else { ten(graph, gate) });
    let (out, gifts) = graph.process(
        "owner",
        input("in", stream),
        (output("out"), output("gifts")),
        move |rx, (tx, mut gifts): (Tx<u64>, Tx<Gift>)| async move {
            let (mut kept, mut others): (Vec<Gift>, Vec<Gift>) = (Vec::new(), Vec::new());
            match kind {
                0 => _ = (others.push(Box::new(tx)), kept.push(Box::new(rx))),
                1 => _ = (others.push(Box::new(rx)), kept.push(Box::new(tx))),
                _ => _ = (others.push(Box::new(lent(rx).await)), kept.push(Box::new(tx))),
            }
            pause().await;
            for gift in others {
                gifts.send(gift).await;
            }
            open.await;
            drop(kept);
        },
    );
    // For the sending end the listener opens the gate; else it just listens.
    let heard = if kind == 0 { gate.clone() } else { Gate::default() };
    listen(graph, out, &heard);
    gifts
}

#[test]
fn what_another_process_drops_is_told_of() {
    for kind in 0..3 {
        everywhere(&format!("gift {kind}"), |gate| {
            let (graph, open) = (Graph::new(), gate.clone());
            busy(&graph, gate);
            let gifts = give_away(&graph, gate, kind);
            graph.process("taker", input("in", gifts), (), |mut rx, ()| async move {
                drop(rx.recv().await);
                open.await;
            });
            graph
        });
    }
}

#[test]
fn what_a_kernel_drops_is_told_of() {
    for kind in 0..3 {
        everywhere(&format!("gift {kind} to a kernel"), |gate| {
            let graph = Graph::new();
            busy(&graph, gate);
            let gifts = give_away(&graph, gate, kind);
            gifts.for_each(drop).named("taker");
            graph
        });
    }
}

/// An end that the closure takes and the future does not: it is dropped before the run begins.
#[test]
fn what_is_dropped_before_the_run_begins_is_told_of() {
    everywhere("before", |gate| {
        let (graph, open, opens) = (Graph::new(), gate.clone(), Opens(gate.clone()));
        let stream = graph.process("endless", (), output("out"), |(), mut tx| async move {
            let _opens = opens;
            for i in 0.. {
                tx.send(i).await;
            }
        });
        graph.process("owner", input("in", stream), (), |_unused, ()| async move {
            open.await;
        });
        graph
    });
}

/// A process that ends leaves nothing open: what is still somewhere is of no use to anybody.
#[test]
fn ends_that_outlive_their_process_end_with_it() {
    for sending in [true, false] {
        everywhere("forgotten", |gate| {
            let (graph, open) = (Graph::new(), gate.clone());
            let never = Gate::default();
            let stream = ten(&graph, if sending { &never } else { gate });
            let out = graph.process("owner", input("in", stream), output("out"), move |rx, tx| async move {
                std::mem::forget((rx, tx));
            });
            listen(&graph, out, if sending { gate } else { &never });
            graph.process("waits", (), (), |(), ()| open);
            graph
        });
    }
}

/// A message whose guard is forgotten is dropped with its end, once, wherever that is.
#[test]
fn a_forgotten_message_is_dropped_with_its_end_elsewhere() {
    let (made, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (counts, counted) = (dropped.clone(), made.clone());
    let (begun, elsewhere) = mpsc::channel();
    let report = run("forgotten message", &Options::new().threads(2).capacity(1), |gate| {
        let (graph, open, opens) = (Graph::new(), gate.clone(), Opens(gate.clone()));
        let (counts, counted, begun) = (counts.clone(), counted.clone(), begun.clone());
        let out = graph.process("three", (), output("out"), |(), mut tx| async move {
            let _opens = opens;
            for _ in 0..3 {
                counted.fetch_add(1, Ordering::Relaxed);
                tx.send(Counts(counts.clone())).await;
            }
        });
        graph.process("owner", input("in", out), (), |mut rx, ()| async move {
            std::mem::forget(rx.recv_ref().await);
            begun.send(drop_later(rx)).unwrap();
            open.await;
        });
        graph
    });
    report.unwrap();
    // The others learn that the end is gone before all that was in it is.
    elsewhere.recv().unwrap().join().unwrap();
    // The third may never have been made.
    let made = made.load(Ordering::Relaxed);
    assert_eq!((made >= 2, dropped.load(Ordering::Relaxed)), (true, made));
}

/// The process that gets an end by a message, and uses it, fails with the end's name.
#[test]
fn an_end_used_in_another_process_is_refused_by_name() {
    silence();
    let error = run("another's", &Options::new(), |_| {
        let graph = Graph::new();
        let (out, gifts) = graph.process(
            "owner",
            (),
            (output("out"), output("gifts")),
            |(), (tx, mut gifts): (Tx<u64>, Tx<Tx<u64>>)| async move { gifts.send(tx).await },
        );
        graph.process("taker", input("in", gifts), (), |mut rx, ()| async move {
            rx.recv().await.expect("one").send(1).await;
        });
        out.for_each(drop).named("sink");
        graph
    });
    let error = error.unwrap_err().to_string();
    for part in ["node `taker`", "sending end", "owner.out -> sink.in", "`owner`"] {
        assert!(error.contains(part), "{error}: {part}");
    }
}

/// Processes of two runs may have the same place in their graphs.
#[test]
fn an_end_used_in_another_run_is_refused() {
    silence();
    let open = Gate::default();
    let (give, take) = mpsc::channel();
    let one = Graph::new();
    let out = one.process("owner", (), output("out"), move |(), tx| async move {
        give.send(tx).unwrap();
        open.await;
    });
    out.for_each(drop).named("sink");
    let one = std::thread::spawn(move || one.run(&Options::new()));
    let mut tx = take.recv().unwrap();
    let two = Graph::new();
    let out = two.process("thief", (), output::<u64>("out"), move |(), own| async move {
        tx.send(1).await;
        drop(own);
    });
    out.for_each(drop).named("sink");
    let error = watch("another run", || two.run(&Options::new())).unwrap_err().to_string();
    assert!(error.contains("node `thief`") && error.contains("another run"), "{error}");
    // And what the thief's panic has dropped is not the end of a stream.
    let error = watch("its own run", || one.join().unwrap()).unwrap_err().to_string();
    assert!(error.contains("node `owner`") && error.contains("owner.out -> sink.in"), "{error}");
}

/// An operation on another thread is refused there; what its panic drops is no end of a stream.
#[test]
fn a_thread_that_panics_with_an_end_fails_the_run() {
    silence();
    for round in 0..20 {
        let heard = Arc::new(AtomicU64::new(0));
        let ends = heard.clone();
        let error = run("panics", &Options::new().threads(1 + round % 2), |gate| {
            let (graph, open, ends) = (Graph::new(), gate.clone(), ends.clone());
            let out = graph.process("owner", (), output("out"), |(), mut tx| async move {
                std::thread::spawn(move || {
                    silence();
                    let mut send = std::pin::pin!(tx.send(1));
                    let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
                    let _ = std::future::Future::poll(send.as_mut(), cx);
                });
                open.await;
            });
            graph.process("listen", input("in", out), (), |mut rx, ()| async move {
                while rx.recv().await.is_some() {}
                ends.fetch_add(1, Ordering::Relaxed);
            });
            graph
        });
        let error = error.unwrap_err().to_string();
        for part in ["node `owner`", "sending end", "owner.out -> listen.in"] {
            assert!(error.contains(part), "{error}: {part}");
        }
        assert_eq!(heard.load(Ordering::Relaxed), 0);
    }
}

/// What a run gives that is made inside of a poll.
fn inner() -> u64 {
    let (sum, inner) = (Mutex::new(0), Graph::new());
    let out = inner.process("inner", (), output("out"), |(), mut tx| async move {
        tx.send(7).await;
    });
    out.for_each(|item: u64| *sum.lock().unwrap() += item).named("sink");
    inner.run(&Options::new().threads(1)).unwrap();
    sum.into_inner().unwrap()
}

/// A process drops its end, makes a run, and fails: nobody has heard an end meanwhile.
#[test]
fn a_run_inside_of_a_poll_ends_no_stream_of_the_outer_one() {
    silence();
    let heard = Arc::new(AtomicU64::new(0));
    let ends = heard.clone();
    let error = run("nested", &Options::new().threads(2).policy("random"), |_| {
        let (graph, ends) = (Graph::new(), ends.clone());
        let out = graph.process("owner", (), output::<u64>("out"), |(), tx| async move {
            drop(tx);
            let sum = inner();
            std::thread::sleep(Duration::from_millis(20));
            silence();
            assert_ne!(sum, 7, "on purpose");
        });
        graph.process("listen", input("in", out), (), |mut rx, ()| async move {
            while rx.recv().await.is_some() {}
            ends.fetch_add(1, Ordering::Relaxed);
        });
        graph
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("on purpose"), "{error}");
    assert_eq!(heard.load(Ordering::Relaxed), 0);
}

/// Work stealing, at whose start something is dropped elsewhere: when the tokens are made, and before the
/// policy has looked for them.
struct Late(WorkStealing, Mutex<Option<Gift>>);

impl Policy for Late {
    type Local = <WorkStealing as Policy>::Local;
    type Shared = ();

    fn needs(&self, graph: &GraphData) -> Needs {
        self.0.needs(graph)
    }

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Self::Local {
        let claimable = |host: &H| -> Vec<NodeId> {
            host.graph().node_ids().filter(|node| host.claimable(*node)).collect()
        };
        if let Some(gift) = self.1.lock().unwrap().take() {
            let with_tokens = claimable(host);
            std::thread::spawn(|| drop(gift)).join().unwrap();
            assert_eq!(claimable(host), with_tokens, "what has no token yet is told of after the start");
        }
        self.0.start(worker, host)
    }

    fn ready<H: Host>(&self, me: &mut Self::Local, node: NodeId, host: &mut H) {
        self.0.ready(me, node, host);
    }

    fn next<H: Host>(&self, me: &mut Self::Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        self.0.next(me, last, host)
    }
}

#[test]
fn what_is_dropped_while_a_policy_begins_is_told_once() {
    for threads in [1, 2, 4] {
        let (graph, given) = (Graph::new(), Arc::new(Mutex::new(None)));
        let give = given.clone();
        let out = graph.process("owner", (), output::<u64>("out"), move |(), tx| {
            *give.lock().unwrap() = Some(Box::new(tx) as Gift);
            async {}
        });
        let doubled = graph.kernel("double", input("in", out), output("out")).parallel(|items, doubled| {
            while let Some(item) = items.try_pop() {
                doubled.push(2 * item);
            }
        });
        doubled.for_each(|_| ()).named("count");
        let options = Options::new().threads(threads);
        let prepared = graph.build().unwrap().prepare(&options).unwrap();
        let gift = given.lock().unwrap().take();
        assert!(gift.is_some(), "the end is there before the run");
        let policy = Late(WorkStealing::new(Place::Last), Mutex::new(gift));
        watch(format!("{threads} threads"), || prepared.run_under(&policy).unwrap());
    }
}
