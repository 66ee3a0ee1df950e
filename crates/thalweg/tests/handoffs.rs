//! Direct handoff: a process hands the worker to the process that it woke, without a decision of the policy. Other
//! nodes still run, and the order is the one in which the policy would have run the processes.

use crate::support;

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use support::watchdog::watch;
use thalweg::embed::policy::record::Log;
use thalweg::embed::policy::{Recorded, registry};
use thalweg::policy::Policy;
use thalweg::{Error, Graph, Options, Prepared, Rx, Stream, Tx, input, output};

/// The policies that allow direct handoff, up to a number of activations.
const WITH_HANDOFF: [&str; 3] = ["ws-cur", "ws-last", "auto"];

/// Each of these policies with one worker and two, accounted and not.
fn everywhere(check: impl Fn(&Options)) {
    for policy in WITH_HANDOFF {
        for threads in [1, 2] {
            let options = Options::new().policy(policy).threads(threads).capacity(1);
            for options in [options.clone(), options.untimed()] {
                watch(format!("{options:?}"), || check(&options));
            }
        }
    }
}

/// Two processes that send a message to and fro until `stop` is set.
fn pair(graph: &Graph<'static>, name: &str, stop: &Arc<AtomicBool>) {
    let (back, answers) = graph.feedback([]);
    let stop = stop.clone();
    let calls = graph.process(
        &format!("{name} calls"),
        input("in", answers),
        output("out"),
        move |mut rx, mut tx| async move {
            let mut value = 0;
            while !stop.load(Ordering::Relaxed) {
                tx.send(value).await;
                value = rx.recv().await.unwrap();
            }
        },
    );
    let answers = graph.process(
        &format!("{name} answers"),
        input("in", calls),
        output("out"),
        |mut rx, mut tx| async move {
            while let Some(value) = rx.recv().await {
                tx.send(value + 1).await;
            }
        },
    );
    answers.feed(back);
}

fn source(graph: &Graph<'static>, messages: u64) -> Stream<'static, u64> {
    graph.process("source", (), output("out"), move |(), mut tx| async move {
        for i in 0..messages {
            tx.send(i).await;
        }
    })
}

#[test]
fn a_pipeline_runs_beside_pairs_that_never_rest() {
    everywhere(|options| {
        let (graph, stop) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        pair(&graph, "one", &stop);
        pair(&graph, "two", &stop);
        let stream = source(&graph, 300);
        graph.process("sink", input("in", stream), (), move |mut rx, ()| async move {
            for i in 0..300 {
                assert_eq!(rx.recv().await, Some(i));
            }
            stop.store(true, Ordering::Relaxed);
        });
        graph.run_with(options).unwrap();
    });
}

#[test]
fn a_process_woken_from_outside_runs_beside_a_pair_that_never_rests() {
    everywhere(|options| {
        let (graph, stop) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        pair(&graph, "pair", &stop);
        graph.process("sleeper", (), (), move |(), ()| async move {
            let (woken, mut begun) = (Arc::new(AtomicBool::new(false)), false);
            poll_fn(|cx| {
                if woken.load(Ordering::Acquire) {
                    return Poll::Ready(());
                }
                if !std::mem::replace(&mut begun, true) {
                    let (woken, waker) = (woken.clone(), cx.waker().clone());
                    std::thread::spawn(move || {
                        std::thread::sleep(Duration::from_millis(3));
                        woken.store(true, Ordering::Release);
                        waker.wake();
                    });
                }
                Poll::Pending
            })
            .await;
            stop.store(true, Ordering::Relaxed);
        });
        graph.run_with(options).unwrap();
    });
}

#[test]
fn a_pair_that_never_rests_ends_at_the_deadline() {
    everywhere(|options| {
        let (graph, stop) = (Graph::new(), Arc::new(AtomicBool::new(false)));
        pair(&graph, "pair", &stop);
        let options = options.clone().deadline(Duration::from_millis(20));
        let error = graph.run_with(&options).unwrap_err().into_error();
        assert!(matches!(error, Error::Deadline(_)), "{error}");
    });
}

/// The number of the stage that ran, for each message.
type Order = Arc<Mutex<Vec<usize>>>;

/// Pipelines of several lengths that are joined, and a ring. Each stage records its number for each message.
fn network(order: &Order) -> Graph<'static> {
    let graph = Graph::new();
    let stage = |graph: &Graph<'static>, number: usize, stream: Stream<'static, u64>| {
        let order = order.clone();
        graph.process(
            &format!("stage {number}"),
            input("in", stream),
            output("out"),
            move |mut rx, mut tx| async move {
                while let Some(value) = rx.recv().await {
                    order.lock().unwrap().push(number);
                    tx.send(value).await;
                }
            },
        )
    };
    let (back, round) = graph.feedback([0, 1]);
    let round = (10..15).fold(round, |stream, number| stage(&graph, number, stream));
    let (round, left) = graph.process(
        "taker",
        input("in", round),
        (output("back"), output("out")),
        |mut rx, (mut back, mut out): (Tx<u64>, Tx<u64>)| async move {
            for _ in 0..400 {
                let value = rx.recv().await.unwrap();
                back.send(value + 1).await;
                out.send(value).await;
            }
        },
    );
    round.feed(back);
    let right = source(&graph, 250);
    let right = (20..23).fold(right, |stream, number| stage(&graph, number, stream));
    let left = stage(&graph, 30, left);
    graph.process(
        "sink",
        (input("left", left), input("right", right)),
        (),
        |(mut left, mut right): (Rx<u64>, Rx<u64>), ()| async move {
            while left.recv().await.is_some() {
                right.recv().await;
            }
        },
    );
    graph
}

/// Runs a network twice: under a policy, and under the same policy without direct handoff, which `Recorded` disables.
struct Twice<'a>(&'a dyn Fn() -> Prepared<'static>);

impl registry::Visit for Twice<'_> {
    type Out = usize;

    fn visit<P: Policy>(self, policy: &P) -> usize {
        (self.0)().run_under(policy).unwrap();
        let log = Log::new();
        (self.0)().run_under(&Recorded::new(policy, &log)).unwrap();
        log.take().len()
    }
}

#[test]
fn the_order_is_the_one_that_the_policy_would_have_chosen() {
    for policy in WITH_HANDOFF {
        let order = Order::default();
        let options = Options::new().threads(1).capacity(1).repeatable();
        let prepare = || {
            order.lock().unwrap().push(0); // separates the runs
            network(&order).build().unwrap().prepare(&options).unwrap()
        };
        let decisions = watch(policy, || registry::dispatch(policy, Twice(&prepare)).unwrap());
        assert!(decisions > 1_000, "{decisions}");
        let order = order.lock().unwrap();
        let mut runs = order[1..].split(|stage| *stage == 0);
        let (handed_off, decided) = (runs.next().unwrap(), runs.next().unwrap());
        assert!(decided.len() > 1_000, "{}", decided.len());
        assert_eq!(handed_off, decided, "{policy}");
    }
}
