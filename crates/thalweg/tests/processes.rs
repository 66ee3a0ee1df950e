//! Kahn processes: they share channels with kernels, compute the same result under every policy and capacity, and fail
//! if they try to find out whether a channel is empty.

use crate::support;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use support::inject::{INJECTED, silence};
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, Rx, Stream, Tx, input, output};

/// Every policy, 1 to 4 workers, tiny and default channels.
fn everywhere(check: impl Fn(&Options)) {
    for policy in thalweg::embed::policy::registry::names() {
        for threads in [1, 2, 4] {
            for capacity in [Some(1), Some(2), Some(3), None] {
                let options = Options::new().policy(policy).threads(threads);
                let options = capacity.map_or(options.clone(), |items| options.capacity(items));
                watch(format!("{options:?}"), || check(&options));
            }
        }
    }
}

fn count(graph: &Graph<'static>, name: &str, to: u64) -> Stream<'static, u64> {
    graph.process(name, (), output("out"), move |(), mut out| async move {
        for i in 0..to {
            out.send(i).await;
        }
    })
}

#[test]
fn the_network_of_the_paper_computes_its_formula() {
    // o = 2 i1 + i2, Figure 1: one process doubles, one adds.
    everywhere(|options| {
        let graph = Graph::new();
        let (one, two) = (count(&graph, "one", 500), count(&graph, "two", 500));
        let doubled = graph.process("double", input("in", one), output("out"), |mut rx, mut tx| async move {
            while let Some(i) = rx.recv().await {
                tx.send(2 * i).await;
            }
        });
        let sums = graph.process(
            "add",
            (input("a", doubled), input("b", two)),
            output("out"),
            |(mut a, mut b): (Rx<u64>, Rx<u64>), mut tx| async move {
                while let (Some(a), Some(b)) = (a.recv().await, b.recv().await) {
                    tx.send(a + b).await;
                }
            },
        );
        let items: Vec<u64> = sums.start_with(options).unwrap().collect();
        assert_eq!(items, (0..500).map(|i| 3 * i).collect::<Vec<_>>());
    });
}

#[test]
fn processes_and_kernels_share_a_graph() {
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = count(&graph, "numbers", 1000);
        let squares =
            graph.kernel("square", input("in", numbers), output("out").push(1)).parallel(|items, out| {
                let item = items.pop();
                out.push(item * item);
            });
        let pairs = graph.process("pair", input("in", squares), output("out"), |mut rx, mut tx| async move {
            while let (Some(a), Some(b)) = (rx.recv().await, rx.recv().await) {
                tx.send(a + b).await;
            }
        });
        let items: Vec<u64> = pairs.start_with(options).unwrap().collect();
        assert_eq!(items, (0..500u64).map(|i| 4 * i * i + (2 * i + 1).pow(2)).collect::<Vec<_>>());
    });
}

#[test]
fn a_ring_passes_its_token() {
    everywhere(|options| {
        let (graph, rounds, nodes) = (Graph::new(), 20u64, 10);
        let (end, mut stream) = graph.feedback([]);
        let last = Arc::new(AtomicUsize::new(0));
        let seen = last.clone();
        stream =
            graph.process("first", input("in", stream), output("out"), move |mut rx, mut tx| async move {
                tx.send(0u64).await;
                for _ in 0..rounds {
                    let token: u64 = rx.recv().await.unwrap();
                    seen.store(token as usize, Ordering::Relaxed);
                    tx.send(token + 1).await;
                }
            });
        for i in 1..nodes {
            stream = graph.process(
                &format!("p{i}"),
                input("in", stream),
                output("out"),
                |mut rx, mut tx| async move {
                    while let Some(token) = rx.recv().await {
                        tx.send(token + 1).await;
                    }
                },
            );
        }
        stream.feed(end);
        graph.run_with(options).unwrap();
        assert_eq!(last.load(Ordering::Relaxed) as u64, rounds * nodes - 1);
    });
}

#[test]
fn messages_are_written_and_read_in_place() {
    everywhere(|options| {
        let graph = Graph::new();
        let blocks = graph.process("fill", (), output("out"), |(), mut tx| async move {
            for i in 0..100 {
                tx.send_with(|place| place.write([i; 256])).await;
            }
        });
        let sums = graph.process("sum", input("in", blocks), output("out"), |mut rx, mut tx| async move {
            while let Some(block) = rx.recv_ref().await {
                let sum = block.iter().sum::<u64>();
                drop(block);
                tx.send(sum).await;
            }
        });
        let items: Vec<u64> = sums.start_with(options).unwrap().collect();
        assert_eq!(items, (0..100).map(|i| 256 * i).collect::<Vec<_>>());
    });
}

/// A sender cannot observe that its receiver left: sends succeed, and every message is dropped.
#[test]
fn a_sender_does_not_observe_that_its_receiver_left() {
    everywhere(|options| {
        let (ledger, graph) = (Ledger::new(), Graph::new());
        let make = ledger.clone();
        let (items, done) = graph.process(
            "send",
            (),
            (output("items"), output("done")),
            move |(), (mut tx, mut done): (Tx<Counted>, Tx<u64>)| async move {
                for i in 0..300 {
                    tx.send(Counted::make(i, &make)).await;
                }
                done.send(300).await;
            },
        );
        graph.process("leave", input("in", items), (), |mut rx, ()| async move {
            for i in 0..5 {
                assert_eq!(rx.recv().await.unwrap().value(), i);
            }
        });
        let got: Vec<u64> = done.start_with(options).unwrap().collect();
        assert_eq!(got, [300]);
        assert_eq!(ledger.live(), 0);
    });
}

/// An endless process that no receiver depends on any more is cancelled.
#[test]
fn an_endless_process_ends_with_its_last_receiver() {
    everywhere(|options| {
        let graph = Graph::new();
        let endless = count(&graph, "endless", u64::MAX);
        let passed =
            graph.process("pass", input("in", endless), output("out"), |mut rx, mut tx| async move {
                while let Some(i) = rx.recv().await {
                    tx.send(i).await;
                }
            });
        graph.process("leave", input("in", passed), (), |mut rx, ()| async move {
            for i in 0..5 {
                assert_eq!(rx.recv().await, Some(i));
            }
        });
        graph.run_with(options).unwrap();
    });
}

/// A future is dropped in place: its locals may point to each other.
/// A process that has ended its stream goes on: its failure comes at any timing, and all it has to do is done.
#[test]
fn a_process_that_has_ended_its_stream_is_not_cancelled() {
    silence();
    let seen = Arc::new(AtomicUsize::new(0));
    for round in 0..20 {
        everywhere(|options| {
            for fails in [true, false] {
                let (graph, seen) = (Graph::new(), seen.clone());
                seen.store(0, Ordering::Relaxed);
                let count = seen.clone();
                let source = graph.source(0..9u64);
                let process = graph.process("ends", source, output::<u64>("out"), move |mut rx, tx| {
                    drop(tx);
                    async move {
                        while let Some(item) = rx.recv().await {
                            assert!(!fails || item < 5, "{INJECTED}");
                            count.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
                process.discard();
                assert_eq!(graph.run_with(options).is_err(), fails, "round {round}");
                assert_eq!(seen.load(Ordering::Relaxed), if fails { 5 } else { 9 });
            }
        });
    }
}

#[test]
fn a_cancelled_process_is_dropped_in_place() {
    /// Counts drops of its borrowers; its own drop adds the count to the total.
    struct Counter(AtomicUsize, Arc<AtomicUsize>);

    impl Drop for Counter {
        fn drop(&mut self) {
            self.1.fetch_add(self.0.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    struct Borrower<'a>(&'a Counter);

    impl Drop for Borrower<'_> {
        fn drop(&mut self) {
            self.0.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    everywhere(|options| {
        let (drops, graph) = (Arc::new(AtomicUsize::new(0)), Graph::new());
        let total = drops.clone();
        let endless = graph.process("endless", (), output("out"), move |(), mut tx| async move {
            let counter = Counter(AtomicUsize::new(0), total);
            let _borrower = Borrower(&counter);
            for i in 0u64.. {
                tx.send(i).await;
            }
        });
        graph.process("leave", input("in", endless), (), |mut rx, ()| async move {
            for i in 0..5 {
                assert_eq!(rx.recv().await, Some(i));
            }
        });
        graph.run_with(options).unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// A network without sinks is run for its side effects: all of its processes run to their ends.
#[test]
fn a_ring_without_a_sink_is_not_cancelled() {
    everywhere(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback([]);
        let ended = Arc::new(AtomicUsize::new(0));
        let one = ended.clone();
        let there = graph.process("one", input("in", back), output("out"), move |rx, mut tx| async move {
            tx.send(1u64).await;
            drop((rx, tx));
            one.fetch_add(1, Ordering::Relaxed);
        });
        let two = ended.clone();
        let again =
            graph.process("two", input("in", there), output("out"), move |mut rx, mut tx| async move {
                while let Some(i) = rx.recv().await {
                    tx.send(i).await;
                }
                two.fetch_add(1, Ordering::Relaxed);
            });
        again.feed(end);
        graph.run_with(options).unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_deadlock_names_the_processes_of_its_cycle() {
    everywhere(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback::<u64>([]);
        let there = graph.process("hen", input("egg", back), output("hen"), |mut rx, mut tx| async move {
            while let Some(egg) = rx.recv().await {
                tx.send(egg).await;
            }
        });
        let again = graph.process("egg", input("hen", there), output("egg"), |mut rx, mut tx| async move {
            while let Some(hen) = rx.recv().await {
                tx.send(hen).await;
            }
        });
        again.feed(end);
        match graph.run_with(options).map_err(Error::from) {
            Err(Error::Deadlock(deadlock)) => {
                let mut names: Vec<_> = deadlock.waits().iter().map(|wait| wait.node()).collect();
                names.sort_unstable();
                assert_eq!(names, ["egg", "hen"]);
            }
            other => panic!("{other:?}"),
        }
    });
}

/// A channel that is too small for the network grows.
#[test]
fn an_artificial_deadlock_is_resolved() {
    everywhere(|options| {
        let graph = Graph::new();
        let (a, b) = graph.process(
            "send",
            (),
            (output("a"), output("b")),
            |(), (mut a, mut b): (Tx<u64>, Tx<u64>)| async move {
                for i in 0..200 {
                    a.send(i).await;
                }
                for i in 0..200 {
                    b.send(i).await;
                }
            },
        );
        let sums = graph.process(
            "add",
            (input("b", b), input("a", a)),
            output("out"),
            |(mut b, mut a): (Rx<u64>, Rx<u64>), mut tx| async move {
                while let (Some(b), Some(a)) = (b.recv().await, a.recv().await) {
                    tx.send(a + b).await;
                }
            },
        );
        let items: Vec<u64> = sums.start_with(options).unwrap().collect();
        assert_eq!(items, (0..200).map(|i| 2 * i).collect::<Vec<_>>());
    });
}

/// Runs a process with two inputs and one output that panics, and returns the run's error.
fn failure<P>(body: impl FnOnce(Rx<u64>, Rx<u64>) -> P + Send + 'static) -> String
where
    P: Future<Output = ()> + Send + 'static,
{
    silence();
    let graph = Graph::new();
    let (one, two) = (count(&graph, "one", 3), count(&graph, "two", 3));
    let slow = graph
        .source(std::iter::repeat_with(|| std::thread::sleep(Duration::from_millis(2))).take(3))
        .blocking()
        .named("slow");
    let late = graph.kernel("late", (input("in", two), input("when", slow)), output("out")).sequential(
        |(items, when), out| {
            when.pop();
            out.push(items.pop());
        },
    );
    let out = graph.process(
        "culprit",
        (input("a", one), input("late", late)),
        output::<u64>("out"),
        |(a, late), tx| async move {
            body(a, late).await;
            drop(tx);
        },
    );
    out.for_each(drop).named("sink");
    let end = watch("failure", || graph.run_with(&Options::new().threads(2)));
    let error = end.expect_err("the process is refused its operation").to_string();
    assert!(error.contains("node `culprit` panicked"), "{error}");
    error
}

/// Polls a future once, with the waker of the process.
struct Once<F>(Pin<Box<F>>);

impl<F: Future> Future for Once<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.0.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => Poll::Ready(None),
        }
    }
}

fn once<F: Future>(future: F) -> Once<F> {
    Once(Box::pin(future))
}

#[test]
fn a_process_cannot_find_out_whether_a_channel_is_empty() {
    let error = failure(|mut a, mut late| async move {
        // No item has arrived yet, which the result of the poll would show.
        if once(late.recv()).await.is_none() {
            a.recv().await;
        }
    });
    assert!(error.contains("while another one was pending"), "{error}");
    let error = failure(|_a, mut late| async move {
        once(late.recv()).await;
    });
    assert!(error.contains("was dropped"), "{error}");
}

#[test]
fn an_operation_needs_the_waker_of_its_process() {
    let error = failure(|mut a, _late| async move {
        let receive = pin!(a.recv());
        let _ = receive.poll(&mut Context::from_waker(Waker::noop()));
    });
    assert!(error.contains("another waker"), "{error}");
}

#[test]
fn a_future_that_registers_no_waker_is_detected() {
    let error = failure(|_a, _late| std::future::pending());
    assert!(error.contains("without registering its waker"), "{error}");
}

/// A wake in the middle of a poll is not lost if a channel operation then waits. The receive here never completes; only
/// the second poll drops it, which is the expected error.
#[test]
fn a_process_that_wakes_itself_is_polled_again() {
    silence();
    let graph = Graph::new();
    let (end, back) = graph.feedback::<u64>([]);
    let out = graph.process("restless", input("in", back), output("out"), |mut rx, tx| async move {
        let (mut polls, mut receive) = (0, Box::pin(rx.recv()));
        std::future::poll_fn(|cx| {
            polls += 1;
            cx.waker().wake_by_ref();
            if polls == 2 { Poll::Ready(()) } else { receive.as_mut().poll(cx).map(drop) }
        })
        .await;
        drop(tx);
    });
    out.feed(end);
    let error = watch("restless", || graph.run()).unwrap_err().to_string();
    assert!(error.contains("was dropped"), "{error}");
}

/// Ready after some milliseconds: another thread wakes the task.
struct Timer {
    ready: Arc<AtomicUsize>,
    started: bool,
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.ready.load(Ordering::Acquire) == 1 {
            return Poll::Ready(());
        }
        if !std::mem::replace(&mut self.started, true) {
            let (ready, waker) = (self.ready.clone(), cx.waker().clone());
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(3));
                ready.store(1, Ordering::Release);
                waker.wake();
            });
        }
        Poll::Pending
    }
}

#[test]
fn foreign_futures_are_waited_for() {
    for policy in thalweg::embed::policy::registry::names() {
        for threads in [1, 2] {
            let graph = Graph::new();
            let ticks = graph.process("clock", (), output("out"), |(), mut tx| async move {
                for i in 0..10 {
                    Timer { ready: Arc::default(), started: false }.await;
                    tx.send(i).await;
                }
            });
            let options = Options::new().policy(policy).threads(threads);
            let items: Vec<u64> = watch("timer", || ticks.start_with(&options).unwrap().collect());
            assert_eq!(items, (0..10).collect::<Vec<_>>());
        }
    }
}

/// The name of this thread as the operating system reports it; "own" where that is not available.
fn thread_name() -> String {
    std::fs::read_to_string("/proc/thread-self/comm").map_or("own".into(), |name| name.trim_end().into())
}

#[test]
fn a_blocking_process_has_a_thread_of_its_own() {
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = count(&graph, "numbers", 50);
        let named = graph.kernel("own", input("in", numbers), output("out")).blocking().process(
            |mut rx, mut tx| async move {
                while rx.recv().await.is_some() {
                    tx.send(thread_name()).await;
                }
            },
        );
        let names: Vec<String> = named.start_with(options).unwrap().collect();
        assert_eq!(names, vec!["own"; 50]);
    });
}

#[test]
fn a_process_fails_with_its_error() {
    silence();
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = count(&graph, "numbers", 50);
        graph.process("strict", input("in", numbers), (), |mut rx, ()| async move {
            while let Some(i) = rx.recv().await {
                if i == 7 {
                    return Err("seven");
                }
            }
            Ok(())
        });
        let error = graph.run_with(options).unwrap_err();
        assert_eq!(error.to_string(), "node `strict` failed: seven");
    });
}

/// A process that fails must not end its stream: the receiver would take the items so far for all of them, and
/// complete a file, for example.
#[test]
fn a_failure_does_not_end_a_stream() {
    for round in 0..400 {
        let panics = round % 2 == 0;
        let graph = Graph::new();
        let fail = move |(), mut tx: Tx<u64>| async move {
            tx.send(1).await;
            if panics {
                silence();
                panic!("on purpose");
            }
            Err::<(), _>("on purpose")
        };
        let numbers = graph.process("fails", (), output("out"), fail);
        let observed = Arc::new(AtomicUsize::new(0));
        let end = observed.clone();
        let listen = move |mut rx: Rx<u64>, ()| async move {
            while rx.recv().await.is_some() {}
            end.fetch_add(1, Ordering::Relaxed);
        };
        graph.process("listens", input("in", numbers), (), listen);
        let threads = 1 + round % 3;
        let options = Options::new().threads(threads);
        let options = if round % 5 == 0 { options.thread_per_node() } else { options };
        graph.build().unwrap().run_with(&options).unwrap_err();
        assert_eq!(observed.load(Ordering::Relaxed), 0, "round {round}");
    }
}

#[test]
fn a_waker_may_be_used_by_reference_on_another_thread() {
    let graph = Graph::new();
    let body = |(), mut tx: Tx<u64>| async move {
        let mut polled = false;
        std::future::poll_fn(|cx| {
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(());
            }
            let waker = cx.waker();
            std::thread::scope(|scope| scope.spawn(|| waker.wake_by_ref()).join().unwrap());
            Poll::Pending
        })
        .await;
        tx.send(7).await;
    };
    let out = graph.process("woken", (), output("out"), body);
    let mut seen = 0;
    out.for_each(|item| seen += item).named("sink");
    watch("woken from another thread", || graph.run().unwrap());
    assert_eq!(seen, 7);
}

/// In a job an operation is refused, whichever thread polls it: that depends on timing.
#[test]
fn an_operation_in_a_job_is_refused() {
    fn poll<F: Future>(future: F, waker: &Waker) -> bool {
        pin!(future).poll(&mut Context::from_waker(waker)).is_ready()
    }
    for threads in [1, 2] {
        for job in ["join", "loop", "send in a loop"] {
            silence();
            let graph = Graph::new();
            let numbers = graph.source(0..9u64);
            let out =
                graph.process("culprit", numbers, output("out"), move |mut rx: Rx<u64>, mut tx| async move {
                    std::future::poll_fn(|cx| {
                        let waker = cx.waker();
                        let ends = Mutex::new((&mut rx, &mut tx));
                        // The lock is poisoned if the other half of the job was refused first.
                        let lock = || ends.lock().unwrap_or_else(|poison| poison.into_inner());
                        let receive = || poll(lock().0.recv(), waker);
                        match job {
                            "join" => _ = thalweg::join(receive, || ()),
                            "loop" => thalweg::par_for(0..2, |_| _ = receive()),
                            _ => thalweg::par_for(0..2, |n| _ = poll(lock().1.send(n as u64), waker)),
                        }
                        Poll::Ready(())
                    })
                    .await;
                });
            out.for_each(drop);
            let options = Options::new().threads(threads);
            let error = watch("job", || graph.run_with(&options)).expect_err("refused").to_string();
            let is_refused =
                error.contains("began inside of") || error.contains("outside of its process's poll");
            assert!(is_refused && error.contains("node `culprit` panicked"), "{job}: {error}");
        }
    }
}
