//! Ends of channels and borrowed messages that are used or dropped outside the process that owns them: on other
//! threads, in other processes and runs, in kernels.
//!
//! In each of these graphs a process awaits a [`Gate`], and the process that opens the gate can only run after
//! such a drop. A drop that does not notify that process makes the run hang.

use crate::support;

use std::any::Any;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;
use support::gate::Gate;
use support::inject::silence;
use support::watchdog::watch;
use thalweg::embed::graph::NodeId;
use thalweg::embed::policy::WorkerId;
use thalweg::embed::policy::work_stealing::{Place, WorkStealing};
use thalweg::graph::GraphData;
use thalweg::node::Message;
use thalweg::policy::{Decision, Event, Host, Needs, Policy};
use thalweg::{Error, Graph, Options, Report, Run, Rx, Stream, Tx, input, output};

/// An end or a message that leaves its process.
type Moved = Box<dyn Any + Send>;

/// Fair policies that scan and fair policies that want notifications, with one and two workers and with one
/// thread for each process.
fn everywhere(what: &str, make: impl Fn(&Gate) -> Graph<'static>) {
    for policy in ["auto", "random", "partition", "ws-last"] {
        for threads in [1, 2] {
            let options = Options::new().policy(policy).threads(threads).capacity(1);
            for options in [options.clone(), options.thread_per_node()] {
                run(what, &options, &make).unwrap();
            }
        }
    }
}

fn run(what: &str, options: &Options, make: impl Fn(&Gate) -> Graph<'static>) -> Result<Report, Error> {
    watch(format!("{what}: {options:?}"), || make(&Gate::default()).run_with(options).map(Run::into_report))
        .map_err(Error::from)
}

/// Drops a value on a thread of its own, after a pause in which its owner starts to wait.
fn drop_later(what: impl Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(3));
        drop(what);
    })
}

/// Waits until the other processes can be expected to wait too.
async fn pause() {
    let gate = Gate::default();
    let open = gate.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(3));
        open.open();
    });
    gate.await;
}

/// A process that is ready until the gate is open. While it is, the graph is not quiescent, so no worker scans
/// it and finds a drop that raised no notification.
fn busy(graph: &Graph<'static>, gate: &Gate) {
    let gate = gate.clone();
    graph.process("busy", (), (), |(), ()| {
        std::future::poll_fn(move |cx| {
            cx.waker().wake_by_ref();
            if gate.is_open() { Poll::Ready(()) } else { Poll::Pending }
        })
    });
}

/// Opens a gate when it is dropped: its process ended, or was cancelled because it has no receiver.
struct OpenOnDrop(Gate);

impl Drop for OpenOnDrop {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// A process that sends ten messages and opens the gate when it ends.
fn send_ten(graph: &Graph<'static>, gate: &Gate) -> Stream<'static, u64> {
    let opens = OpenOnDrop(gate.clone());
    graph.process("ten", (), output("out"), |(), mut tx| async move {
        let _opens = opens;
        for i in 0..10 {
            tx.send(i).await;
        }
    })
}

/// A process that receives until its stream ends and then opens the gate.
fn listen(graph: &Graph<'static>, stream: Stream<'static, u64>, gate: &Gate) {
    let gate = gate.clone();
    graph.process("listen", input("in", stream), (), |mut rx, ()| async move {
        while rx.recv().await.is_some() {}
        gate.open();
    });
}

/// The first message of an end, borrowed for the rest of the program: the end is leaked.
async fn leak_first(rx: Rx<u64>) -> Message<'static, u64> {
    Box::leak(Box::new(rx)).recv_ref().await.expect("the stream has a message")
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
        let stream = send_ten(&graph, gate);
        graph.process("owner", input("in", stream), (), |mut rx, ()| async move {
            rx.recv().await;
            drop_later(rx);
            open.await;
        });
        graph
    });
}

/// A process that sends two messages. The second has room only after the first, which is borrowed, is dropped.
fn send_two(graph: &Graph<'static>, gate: &Gate) -> Stream<'static, u64> {
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
            let stream = send_two(&graph, gate);
            let stream = if weighed { stream.weigh(|_| 100) } else { stream };
            graph.process("owner", input("in", stream), (), |rx, ()| async move {
                drop_later(leak_first(rx).await);
                open.await;
            });
            graph
        });
    }
}

/// The channel has enough slots; only the byte budget is short.
#[test]
fn a_weighed_message_dropped_on_another_thread_makes_room() {
    let options = Options::new().threads(2).capacity(8).budget(2000);
    let report = run("by weight", &options, |gate| {
        let (graph, open) = (Graph::new(), gate.clone());
        let stream = send_two(&graph, gate).weigh(|_| 1 << 20);
        graph.process("owner", input("in", stream), (), |rx, ()| async move {
            drop_later(leak_first(rx).await);
            open.await;
        });
        graph
    });
    assert_eq!(report.unwrap().channels()[0].items(), 2);
}

/// A process that sends its sending end (kind 0), its receiving end (1) or a message (2) to `taker`, and waits at the
/// gate.
fn move_away(graph: &Graph<'static>, gate: &Gate, kind: usize) -> Stream<'static, Moved> {
    let (open, stream) =
        (gate.clone(), if kind == 2 { send_two(graph, gate) } else { send_ten(graph, gate) });
    let (out, moved) = graph.process(
        "owner",
        input("in", stream),
        (output("out"), output("moved")),
        move |rx, (tx, mut moved): (Tx<u64>, Tx<Moved>)| async move {
            let (mut kept, mut others): (Vec<Moved>, Vec<Moved>) = (Vec::new(), Vec::new());
            match kind {
                0 => _ = (others.push(Box::new(tx)), kept.push(Box::new(rx))),
                1 => _ = (others.push(Box::new(rx)), kept.push(Box::new(tx))),
                _ => _ = (others.push(Box::new(leak_first(rx).await)), kept.push(Box::new(tx))),
            }
            pause().await;
            for other in others {
                moved.send(other).await;
            }
            open.await;
            drop(kept);
        },
    );
    // If the sending end is moved, the listener opens the gate; otherwise it opens a gate of no use.
    let opened = if kind == 0 { gate.clone() } else { Gate::default() };
    listen(graph, out, &opened);
    moved
}

#[test]
fn a_drop_in_another_process_is_notified() {
    for kind in 0..3 {
        everywhere(&format!("moved {kind}"), |gate| {
            let (graph, open) = (Graph::new(), gate.clone());
            busy(&graph, gate);
            let moved = move_away(&graph, gate, kind);
            graph.process("taker", input("in", moved), (), |mut rx, ()| async move {
                drop(rx.recv().await);
                open.await;
            });
            graph
        });
    }
}

#[test]
fn a_drop_in_a_kernel_is_notified() {
    for kind in 0..3 {
        everywhere(&format!("moved {kind} to a kernel"), |gate| {
            let graph = Graph::new();
            busy(&graph, gate);
            let moved = move_away(&graph, gate, kind);
            moved.for_each(drop).named("taker");
            graph
        });
    }
}

/// The closure drops an end that its future does not capture, before the run begins.
#[test]
fn a_drop_before_the_run_begins_is_notified() {
    everywhere("before", |gate| {
        let (graph, open, opens) = (Graph::new(), gate.clone(), OpenOnDrop(gate.clone()));
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

/// A process that ends closes its ends, also those that were leaked.
#[test]
fn ends_that_outlive_their_process_end_with_it() {
    for sending in [true, false] {
        everywhere("forgotten", |gate| {
            let (graph, open) = (Graph::new(), gate.clone());
            let never = Gate::default();
            let stream = send_ten(&graph, if sending { &never } else { gate });
            let out = graph.process("owner", input("in", stream), output("out"), move |rx, tx| async move {
                std::mem::forget((rx, tx));
            });
            listen(&graph, out, if sending { gate } else { &never });
            graph.process("waits", (), (), |(), ()| open);
            graph
        });
    }
}

/// If the guard of a message is forgotten, the message is dropped with its end, once, on the thread that drops the end.
#[test]
fn a_forgotten_message_is_dropped_with_its_end_on_another_thread() {
    let (made, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (counts, counted) = (dropped.clone(), made.clone());
    let (begun, threads) = mpsc::channel();
    let report = run("forgotten message", &Options::new().threads(2).capacity(1), |gate| {
        let (graph, open, opens) = (Graph::new(), gate.clone(), OpenOnDrop(gate.clone()));
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
    // The run can end before the other thread has dropped everything that the end held.
    threads.recv().unwrap().join().unwrap();
    // The run may end before the third item is created.
    let made = made.load(Ordering::Relaxed);
    assert_eq!((made >= 2, dropped.load(Ordering::Relaxed)), (true, made));
}

/// A process that receives another's end in a message and uses it fails, with the end's name.
#[test]
fn an_end_used_in_another_process_is_refused_by_name() {
    silence();
    let error = run("another's", &Options::new(), |_| {
        let graph = Graph::new();
        let (out, ends) = graph.process(
            "owner",
            (),
            (output("out"), output("ends")),
            |(), (tx, mut ends): (Tx<u64>, Tx<Tx<u64>>)| async move { ends.send(tx).await },
        );
        graph.process("taker", input("in", ends), (), |mut rx, ()| async move {
            rx.recv().await.expect("an end").send(1).await;
        });
        out.for_each(drop).named("sink");
        graph
    });
    let error = error.unwrap_err().to_string();
    for part in ["node `taker`", "sending end", "owner.out -> sink.in", "`owner`"] {
        assert!(error.contains(part), "{error}: {part}");
    }
}

/// The two processes have the same node id, in the graphs of two runs.
#[test]
fn an_end_used_in_another_run_is_refused() {
    silence();
    let open = Gate::default();
    let (send, receive) = mpsc::channel();
    let one = Graph::new();
    let out = one.process("owner", (), output("out"), move |(), tx| async move {
        send.send(tx).unwrap();
        open.await;
    });
    out.for_each(drop).named("sink");
    let one = std::thread::spawn(move || one.run());
    let mut tx = receive.recv().unwrap();
    let two = Graph::new();
    let out = two.process("thief", (), output::<u64>("out"), move |(), own| async move {
        tx.send(1).await;
        drop(own);
    });
    out.for_each(drop).named("sink");
    let error = watch("another run", || two.run()).unwrap_err().to_string();
    assert!(error.contains("node `thief`") && error.contains("another run"), "{error}");
    // The end that the thief's panic dropped does not count as the end of its stream.
    let error = watch("its own run", || one.join().unwrap()).unwrap_err().to_string();
    assert!(error.contains("node `owner`") && error.contains("owner.out -> sink.in"), "{error}");
}

/// An operation on another thread panics there. The end that this panic drops does not end its stream.
#[test]
fn a_thread_that_panics_with_an_end_fails_the_run() {
    silence();
    for round in 0..20 {
        let observed = Arc::new(AtomicU64::new(0));
        let ends = observed.clone();
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
        assert_eq!(observed.load(Ordering::Relaxed), 0);
    }
}

/// The result of a run that is nested in a poll.
fn inner() -> u64 {
    let (sum, inner) = (Mutex::new(0), Graph::new());
    let out = inner.process("inner", (), output("out"), |(), mut tx| async move {
        tx.send(7).await;
    });
    out.for_each(|item: u64| *sum.lock().unwrap() += item).named("sink");
    inner.run_with(&Options::new().threads(1)).unwrap();
    sum.into_inner().unwrap()
}

/// A process drops its end, executes a nested run, and fails: no process observes the end of the stream.
#[test]
fn a_run_nested_in_a_poll_ends_no_stream_of_the_outer_run() {
    silence();
    let observed = Arc::new(AtomicU64::new(0));
    let ends = observed.clone();
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
    assert_eq!(observed.load(Ordering::Relaxed), 0);
}

/// Work stealing; when it starts, an end is dropped on another thread, after the tokens are created and before the
/// policy has looked for them.
struct DropAtStart(WorkStealing, Mutex<Option<Moved>>);

impl Policy for DropAtStart {
    type Local = <WorkStealing as Policy>::Local;
    type Shared = ();

    fn needs(&self, graph: &GraphData) -> Needs {
        self.0.needs(graph)
    }

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Self::Local {
        let claimable = |host: &H| -> Vec<NodeId> {
            host.graph().node_ids().filter(|node| host.claimable(*node)).collect()
        };
        if let Some(end) = self.1.lock().unwrap().take() {
            let with_tokens = claimable(host);
            std::thread::spawn(|| drop(end)).join().unwrap();
            assert_eq!(claimable(host), with_tokens, "a node without a token is notified after the start");
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
fn a_drop_while_a_policy_starts_is_notified_once() {
    for threads in [1, 2, 4] {
        let (graph, taken) = (Graph::new(), Arc::new(Mutex::new(None)));
        let take = taken.clone();
        let out = graph.process("owner", (), output::<u64>("out"), move |(), tx| {
            *take.lock().unwrap() = Some(Box::new(tx) as Moved);
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
        let end = taken.lock().unwrap().take();
        assert!(end.is_some(), "the closure runs before the run begins");
        let policy = DropAtStart(WorkStealing::new(Place::Last), Mutex::new(end));
        watch(format!("{threads} threads"), || prepared.run_under(&policy).unwrap());
    }
}
