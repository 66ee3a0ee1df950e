//! What an ended firing has pushed reaches its consumer while the next firing of the node runs, if a worker is free.
//!
//! Each test has a firing that ends only when the sink has received everything that the firings before it have pushed. If
//! those results waited for the end of the slice, the claim or the turn, the run would not end.

use crate::support::watchdog::watch;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thalweg::embed::graph::NodeId;
use thalweg::embed::policy::WorkerId;
use thalweg::embed::policy::auto;
use thalweg::embed::policy::auto::{Auto, MAX_WAITS};
use thalweg::graph::GraphData;
use thalweg::policy::{Decision, Event, Host, Needs, Policy};
use thalweg::prelude::*;
use thalweg::{Fork, output};

const ITEMS: u64 = 6000;
/// The firing that waits, one in each run: the first in a slice of unknown pace, the others in long slices. Of several in a
/// run of a parallel kernel each could keep a worker.
const SLOW: [u64; 4] = [3, 900, 2901, 5800];

/// The number of items that the sink has received, and the firing that waits for them.
#[derive(Clone)]
struct Received {
    count: Arc<AtomicU64>,
    slow: u64,
    each: u64,
}

impl Received {
    /// In the firing for `item`: waits, if it is the slow one, until the sink has received all results of the firings
    /// before it.
    fn wait(&self, item: u64) {
        while item == self.slow && self.count.load(Ordering::SeqCst) < item * self.each {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

type Items = Stream<'static, u64>;

/// Runs `stage` between a source and a sink, under several policies and numbers of threads. Each item becomes `each`
/// results.
fn passes_on(name: &str, each: u64, stage: impl Fn(Items, Received) -> Items) {
    for (policy, threads, slow) in runs() {
        watch(format!("{name}, {policy}, {threads} threads, slow firing {slow}"), || {
            let received = Received { count: Arc::default(), slow, each };
            let count = received.count.clone();
            let results = stage(thalweg::from_iter(0..ITEMS), received);
            let sink = results.for_each(move |_| _ = count.fetch_add(1, Ordering::SeqCst));
            sink.run_with(&Options::new().threads(threads).policy(policy)).unwrap();
        });
    }
}

/// The settings of the runs: under `partition` a consumer may belong to the worker that is in the long firing.
fn runs() -> impl Iterator<Item = (&'static str, usize, u64)> {
    let policies = ["auto", "qes", "pss", "random", "ws-cur", "ws-last"];
    let threads = move |policy| [2, 3].map(|threads| (policy, threads));
    policies
        .into_iter()
        .flat_map(threads)
        .flat_map(|(policy, threads)| SLOW.map(|slow| (policy, threads, slow)))
}

#[test]
fn of_sequential_kernels() {
    passes_on("map", 1, |items, received| items.map(move |n| (received.wait(n), n).1));
    passes_on("filter", 1, |items, received| items.filter(move |n| (received.wait(*n), true).1));
    passes_on("flat_map", 2, |items, received| items.flat_map(move |n| (received.wait(n), [n, n]).1));
    passes_on("framed", 1, |items, received| {
        let kernel = items.kernel("framed", output("out")).framed(|items| Ok(items.peek(0)?.map(|_| 1)));
        kernel.sequential(move |items, out| {
            let n = items.pop();
            received.wait(n);
            out.push(n);
        })
    });
    passes_on("weighed map", 1, |items, received| items.map(move |n| (received.wait(n), n).1).weigh(|_| 8));
    passes_on("two outputs", 1, |items, received| {
        let (one, other) = items.kernel("two", (output("one").push(1), output("other"))).sequential(
            move |items, (one, other)| {
                let n = items.pop();
                received.wait(n);
                one.push(n);
                if n % 2 == 0 {
                    other.push(n);
                }
            },
        );
        other.discard();
        one
    });
}

#[test]
fn of_parallel_kernels() {
    passes_on("par_map", 1, |items, received| items.par_map(move |n| (received.wait(n), n).1));
    passes_on("par_filter_map", 1, |items, received| {
        items.par_filter_map(move |n| (received.wait(n), Some(n)).1)
    });
    passes_on("par_flat_map", 3, |items, received| {
        items.par_flat_map(move |n| (received.wait(n), [n, n, n]).1)
    });
    passes_on("weighed par_map", 1, |items, received| {
        items.par_map(move |n| (received.wait(n), n).1).weigh(|_| 8)
    });
    passes_on("weighed par_filter_map", 1, |items, received| {
        items.par_filter_map(move |n| (received.wait(n), Some(n)).1).weigh(|_| 8)
    });
    passes_on("unordered, static", 1, |items, received| {
        let kernel = items.kernel("unordered", output("out").push(1)).unordered();
        kernel.parallel(move |items, out| {
            let n = items.pop();
            received.wait(n);
            out.push(n);
        })
    });
    passes_on("unordered, dynamic", 1, |items, received| {
        items.par_filter_map(move |n| (received.wait(n), Some(n)).1).unordered()
    });
    passes_on("in_flight", 1, |items, received| {
        items.in_flight(4000, |items| items.par_filter_map(move |n| (received.wait(n), Some(n)).1))
    });
}

/// Each item goes round once. A second round would be a later ticket than a firing under way, and an ordered node passes on
/// results in the order of the tickets.
#[test]
fn of_rounds() {
    for in_flight in [8, 1000] {
        passes_on(&format!("par_iterate, {in_flight} in flight"), 1, |items, received| {
            items.par_iterate(in_flight, move |n| (received.wait(n), ControlFlow::Break(n)).1)
        });
        passes_on(&format!("par_fork_join, {in_flight} in flight"), 1, |items, received| {
            items.par_fork_join(in_flight, move |n| (received.wait(n), Fork::Done(n)).1, |_| 0)
        });
    }
    passes_on("par_iterate, unordered", 1, |items, received| {
        items.par_iterate(64, move |n| (received.wait(n), ControlFlow::Break(n)).1).unordered()
    });
}

/// The policy `auto`, and what it sees in a run of items that own memory.
#[derive(Default)]
struct Observed {
    /// A firing waits.
    firing_waits: Arc<AtomicBool>,
    /// Decisions of all workers to be idle meanwhile.
    idle: AtomicU32,
    /// Those of them that the policy has made although the source was claimable: to wait for the turn of a worker's items.
    waits: AtomicU32,
    /// What node 1 lacked before any decision.
    lacks: Mutex<Vec<Event>>,
}

impl Policy for Observed {
    type Local = auto::Local;
    type Shared = ();

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> auto::Local {
        assert!(host.carries() || host.workers() == 1, "the tasks of `par_iterate` own memory");
        Auto.start(worker, host)
    }

    fn needs(&self, graph: &GraphData) -> Needs {
        Auto.needs(graph)
    }

    fn adapts(&self) -> bool {
        true
    }

    fn next<H: Host>(&self, me: &mut auto::Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        self.lacks.lock().unwrap().extend(host.lack(NodeId(1)));
        let has_input = host.claimable(NodeId(0));
        let decision = Auto.next(me, last, host);
        if decision == Decision::Idle && self.firing_waits.load(Ordering::SeqCst) {
            self.idle.fetch_add(1, Ordering::SeqCst);
            self.waits.fetch_add(has_input.into(), Ordering::SeqCst);
        }
        decision
    }
}

/// A stage's firing that waits, and says so meanwhile.
#[derive(Clone)]
struct SlowFiring {
    received: Received,
    waits: Arc<AtomicBool>,
}

impl SlowFiring {
    /// In the firing for `item`.
    fn pass(&self, item: u64) {
        if item == self.received.slow {
            self.waits.store(true, Ordering::SeqCst);
            self.received.wait(item);
            self.waits.store(false, Ordering::SeqCst);
        }
    }
}

/// Runs a stage one firing of which waits. Returns the decisions of all workers to be idle meanwhile, and how many of these
/// were made although the source was claimable.
fn idle_decisions(threads: usize, stage: impl FnOnce(Items, SlowFiring) -> Items) -> [u32; 2] {
    let policy = Observed::default();
    let received = Received { count: Arc::default(), slow: 900, each: 1 };
    let count = received.count.clone();
    let slow = SlowFiring { received, waits: policy.firing_waits.clone() };
    let results = stage(thalweg::from_iter(0..50_000u64).capacity(40_000), slow);
    let sink = results.for_each(move |_| _ = count.fetch_add(1, Ordering::SeqCst));
    sink.graph().run_under(&policy, &Options::new().threads(threads)).unwrap();
    [policy.idle, policy.waits].map(AtomicU32::into_inner)
}

/// A worker that waits for the turn of its items does not sleep, so it does not look. It waited anew before each activation
/// of the source, until the channel was full: here 100 times [`MAX_WAITS`].
#[test]
fn workers_do_not_wait_again_and_again_for_their_turn() {
    for threads in [2, 3] {
        watch(format!("{threads} threads"), || {
            let [idle, _] = idle_decisions(threads, |items, slow| {
                items.par_iterate(64, move |n| (slow.pass(n), ControlFlow::<u64, u64>::Break(n)).1)
            });
            assert!(
                idle < 16 * MAX_WAITS,
                "{idle} decisions to be idle during one firing, {threads} threads"
            );
        });
    }
}

/// A worker whose items are behind those of the worker in the long firing waits for their turn, but not for all of that firing.
#[test]
fn workers_wait_for_the_turn_of_their_items() {
    for threads in [2, 3] {
        let most = watch(format!("{threads} threads"), || {
            let mut most = 0;
            // On a machine with other load firings may be long, and no worker waits.
            for _ in 0..20 {
                let [idle, waits] = idle_decisions(threads, |items, slow| {
                    let numbers = items.map(|n| n.to_string());
                    numbers.map(move |n| {
                        let n = n.parse().expect("a number");
                        slow.pass(n);
                        n
                    })
                });
                assert!(idle < 16 * MAX_WAITS, "{idle} decisions to be idle during one firing");
                most = most.max(waits);
                if most >= MAX_WAITS {
                    break;
                }
            }
            most
        });
        assert!(most >= MAX_WAITS, "{most} decisions to wait, {threads} threads");
    }
}

/// Otherwise its items would count as waiting for the turn of their worker.
#[test]
fn a_gate_without_room_lacks_verdicts() {
    let policy = Observed::default();
    let sink = thalweg::from_iter(0..10u64).par_iterate(1, ControlFlow::<u64, u64>::Break).for_each(drop);
    let finished = sink.graph().run_under(&policy, &Options::new().threads(1).repeatable()).unwrap();
    let gate = finished.report().graph().node(NodeId(1));
    assert_eq!(gate.name(), "par_iterate.gate");
    let back = gate.inputs()[1].channel().unwrap();
    assert!(policy.lacks.into_inner().unwrap().contains(&Event::Empty(back)));
}

#[test]
fn of_processes() {
    passes_on("process", 1, |items, received| {
        let graph = items.graph();
        graph.process("process", items, output("out"), move |mut rx, mut tx| async move {
            while let Some(n) = rx.recv().await {
                received.wait(n);
                tx.send(n).await;
            }
        })
    });
    passes_on("coroutine", 1, |items, received| {
        let graph = items.graph();
        graph.coroutine("coroutine", items, output("out"), move |mut rx, mut tx| {
            while let Some(n) = rx.recv() {
                received.wait(n);
                tx.send(n);
            }
        })
    });
}

/// The items of one firing: each call of `next` is like a firing.
#[test]
fn of_iterators() {
    type Numbers = Box<dyn Iterator<Item = u64> + Send>;
    let slow = |received: Received| {
        move |_| -> Numbers {
            let received = received.clone();
            Box::new((0..ITEMS).inspect(move |n| received.wait(*n)))
        }
    };
    passes_on("flat_map", 1, |items, received| items.take(1).flat_map(slow(received)));
    passes_on("flat_map blocking", 1, |items, received| items.take(1).flat_map(slow(received)).blocking());
    passes_on("par_flat_map", 1, |items, received| items.take(1).par_flat_map(slow(received)));
    passes_on("unordered", 1, |items, received| items.take(1).par_flat_map(slow(received)).unordered());
}

/// The caller of an adaptor gets what the iterator has yielded so far.
#[test]
fn of_the_iterators_of_adaptors() {
    for slow in SLOW {
        watch(format!("slow item {slow}"), || {
            let received = Received { count: Arc::default(), slow, each: 1 };
            let count = received.count.clone();
            let numbers = (0..1).par_flat_map(move |_| {
                let received = received.clone();
                (0..ITEMS).inspect(move |n| received.wait(*n))
            });
            let numbers = numbers.options(Options::new().threads(2));
            let seen = numbers.inspect(|_| _ = count.fetch_add(1, Ordering::SeqCst)).count();
            assert_eq!(seen as u64, ITEMS);
        });
    }
}
