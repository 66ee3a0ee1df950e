//! Coroutines: processes written as plain closures behave as processes written as futures, are pinned to one
//! worker, and are unwound if the run ends before they do.

use crate::support;

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{ThreadId, current};
use support::inject::silence;
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::embed::graph::{Kind, NodeId};
use thalweg::embed::policy::{End, WorkerId};
use thalweg::graph::GraphData;
use thalweg::node::{BlockingRx, BlockingTx};
use thalweg::policy::{Decision, Event, Host, Needs, Policy};
use thalweg::{Error, Graph, Options, Stream, input, output};

/// Every policy, 1 to 4 workers or one thread for each process, tiny and default channels.
fn everywhere(check: impl Fn(&Options)) {
    for policy in thalweg::embed::policy::registry::names() {
        for threads in [1, 2, 3, 4] {
            for capacity in [Some(1), Some(3), None] {
                let options = Options::new().policy(policy).threads(threads);
                let options = capacity.map_or(options.clone(), |items| options.capacity(items));
                watch(format!("{options:?}"), || check(&options));
            }
        }
        let own = Options::new().policy(policy).threads(1).thread_per_node();
        watch(format!("{own:?}"), || check(&own));
    }
}

fn count(graph: &Graph<'static>, name: &str, to: u64) -> Stream<'static, u64> {
    graph.coroutine(name, (), output("out"), move |(), mut out| {
        for i in 0..to {
            out.send(i);
        }
    })
}

#[test]
fn processes_coroutines_and_kernels_mix() {
    everywhere(|options| {
        let graph = Graph::new();
        let numbers = count(&graph, "numbers", 600);
        let doubled =
            graph.process("double", input("in", numbers), output("out"), |mut rx, mut tx| async move {
                while let Some(i) = rx.recv().await {
                    tx.send(2 * i).await;
                }
            });
        let squares =
            graph.kernel("square", input("in", doubled), output("out").push(1)).parallel(|items, out| {
                let item = items.pop();
                out.push(item * item);
            });
        let pairs = graph.coroutine("pair", input("in", squares), output("out"), |mut rx, mut tx| {
            while let (Some(a), Some(b)) = (rx.recv(), rx.recv()) {
                tx.send(a + b);
            }
        });
        let items: Vec<u64> = pairs.start_with(options).unwrap().collect();
        let squares: Vec<u64> = (0..600u64).map(|i| 4 * i * i).collect();
        assert_eq!(items, squares.chunks(2).map(|pair| pair[0] + pair[1]).collect::<Vec<_>>());
    });
}

#[test]
fn a_ring_passes_its_token() {
    everywhere(|options| {
        let (graph, rounds, nodes) = (Graph::new(), 20u64, 10);
        let (end, mut stream) = graph.feedback([]);
        let last = Arc::new(AtomicUsize::new(0));
        let seen = last.clone();
        stream = graph.coroutine("first", input("in", stream), output("out"), move |mut rx, mut tx| {
            tx.send(0u64);
            for _ in 0..rounds {
                let token: u64 = rx.recv().unwrap();
                seen.store(token as usize, Ordering::Relaxed);
                tx.send(token + 1);
            }
        });
        for i in 1..nodes {
            let name = format!("p{i}");
            stream = graph.coroutine(&name, input("in", stream), output("out"), |rx, mut tx| {
                rx.for_each(|token| tx.send(token + 1));
            });
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
        let blocks = graph.coroutine("fill", (), output("out"), |(), mut tx| {
            for i in 0..100 {
                tx.send_with(|place| place.write([i; 256]));
            }
        });
        let sums = graph.coroutine("sum", input("in", blocks), output("out"), |mut rx, mut tx| {
            while let Some(block) = rx.recv_ref() {
                let sum = block.iter().sum::<u64>();
                drop(block);
                tx.send(sum);
            }
        });
        let items: Vec<u64> = sums.start_with(options).unwrap().collect();
        assert_eq!(items, (0..100).map(|i| 256 * i).collect::<Vec<_>>());
    });
}

/// Panics if another thread than its creator uses or drops it.
struct Pinned(Rc<Cell<u64>>, ThreadId);

impl Pinned {
    fn new() -> Pinned {
        Pinned(Rc::new(Cell::new(0)), current().id())
    }

    fn add(&self, item: u64) -> u64 {
        assert_eq!(self.1, current().id());
        self.0.set(self.0.get() + item);
        self.0.get()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        assert_eq!(self.1, current().id());
    }
}

const STAGES: usize = 8;
const ITEMS: u64 = 300;

/// A chain of running sums. Each coroutine holds a value that is not `Send`; any worker may run the kernels between.
fn pinned_sums(graph: &Graph<'static>) -> Stream<'static, u64> {
    let mut stream = count(graph, "numbers", ITEMS);
    for stage in 0..STAGES {
        let passed = graph
            .kernel(&format!("pass{stage}"), input("in", stream), output("out").push(1))
            .parallel(|items, out| out.push(items.pop() % 1000));
        let name = format!("sum{stage}");
        stream = graph.coroutine(&name, input("in", passed), output("out"), |rx, mut tx| {
            let sum = Pinned::new();
            for item in rx {
                tx.send(sum.add(item));
            }
        });
    }
    stream
}

fn expected_sums() -> Vec<u64> {
    let mut items: Vec<u64> = (0..ITEMS).collect();
    for _ in 0..STAGES {
        let mut sum = 0;
        items.iter_mut().for_each(|item| {
            sum += *item % 1000;
            *item = sum;
        });
    }
    items
}

/// A value on the stack of a waiting coroutine is used and dropped by the thread that created it, whichever workers
/// run the nodes around it.
#[test]
fn a_value_that_is_not_send_stays_on_its_thread() {
    everywhere(|options| {
        let graph = Graph::new();
        let stream = pinned_sums(&graph);
        assert_eq!(stream.start_with(options).unwrap().collect::<Vec<_>>(), expected_sums());
    });
}

/// A user-defined policy that ignores affinity: the first free worker takes a process.
#[derive(Default)]
struct IgnoresAffinity {
    processes: Mutex<VecDeque<NodeId>>,
    wrong: AtomicUsize,
}

impl Policy for IgnoresAffinity {
    type Local = WorkerId;
    type Shared = ();

    fn needs(&self, _graph: &GraphData) -> Needs {
        Needs::Notifications
    }

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> WorkerId {
        if worker == 0 {
            let nodes: Vec<NodeId> = host.graph().node_ids().filter(|node| host.claimable(*node)).collect();
            self.processes.lock().unwrap().extend(nodes);
        }
        worker
    }

    fn ready<H: Host>(&self, me: &mut WorkerId, node: NodeId, host: &mut H) {
        match host.graph().node(node).kind() {
            Kind::Process => self.processes.lock().unwrap().push_back(node),
            _ => host.push((*me + 1) % host.workers(), node),
        }
    }

    fn next<H: Host>(&self, me: &mut WorkerId, _last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        let process = self.processes.lock().unwrap().pop_front();
        if let Some(last) = process.and_then(|node| host.last_worker(node)) {
            self.wrong.fetch_add(usize::from(last != *me), Ordering::Relaxed);
        }
        let stolen = |host: &mut H| (0..host.workers()).find_map(|worker| host.steal(worker));
        let node = process.or_else(|| host.pop(End::Oldest)).or_else(|| stolen(host));
        node.map_or(Decision::Idle, Decision::Activate)
    }
}

#[test]
fn a_policy_may_ignore_affinity() {
    // Whether a worker is handed a process that is pinned to another one depends on timing. So the runs are
    // repeated until it happens, at most 500 times.
    let wrong = |_| {
        [(1, 3), (2, 1), (2, 64), (4, 1), (4, 64)].map(|(threads, capacity)| {
            let (graph, seen) = (Graph::new(), Arc::new(Mutex::new(Vec::new())));
            let (stream, items) = (pinned_sums(&graph), seen.clone());
            stream.for_each(move |item| items.lock().unwrap().push(item)).named("collect");
            let options = Options::new().threads(threads).capacity(capacity);
            let prepared = graph.build().unwrap().prepare(&options).unwrap();
            let policy = IgnoresAffinity::default();
            watch(format!("{options:?}"), || prepared.run_under(&policy).unwrap());
            assert_eq!(*seen.lock().unwrap(), expected_sums());
            policy.wrong.load(Ordering::Relaxed)
        })
    };
    assert!((0..500).flat_map(wrong).any(|wrong| wrong > 0), "no worker was handed a process of another one");
}

#[test]
fn a_sender_does_not_observe_that_its_receiver_left() {
    everywhere(|options| {
        let (ledger, graph) = (Ledger::new(), Graph::new());
        let make = ledger.clone();
        let (items, done) = graph.coroutine(
            "send",
            (),
            (output("items"), output("done")),
            move |(), (mut tx, mut done): (BlockingTx<Counted>, BlockingTx<u64>)| {
                for i in 0..300 {
                    tx.send(Counted::make(i, &make));
                }
                done.send(300);
            },
        );
        graph.coroutine("leave", input("in", items), (), |rx, ()| {
            rx.take(5).enumerate().for_each(|(i, item)| assert_eq!(item.value(), i as u64));
        });
        let got: Vec<u64> = done.start_with(options).unwrap().collect();
        assert_eq!(got, [300]);
        assert_eq!(ledger.live(), 0);
    });
}

/// A coroutine that no receiver depends on any more is cancelled inside its loop, and its values are dropped.
#[test]
fn an_endless_closure_ends_with_its_last_receiver() {
    everywhere(|options| {
        let (ledger, graph) = (Ledger::new(), Graph::new());
        let (make, own) = (ledger.clone(), ledger.clone());
        let endless = graph.coroutine("endless", (), output("out"), move |(), mut tx| {
            let _kept = Counted::make(0, &own);
            for i in 0.. {
                tx.send(Counted::make(i, &make));
            }
        });
        graph.coroutine("leave", input("in", endless), (), |rx, ()| {
            assert_eq!(rx.take(5).map(|item| item.value()).sum::<u64>(), 10);
        });
        graph.run_with(options).unwrap();
        assert_eq!(ledger.live(), 0);
    });
}

fn echo(graph: &Graph<'static>, name: &str, stream: Stream<'static, u64>) -> Stream<'static, u64> {
    graph.coroutine(name, input("in", stream), output("out"), |rx, mut tx| {
        rx.for_each(|item: u64| tx.send(item));
    })
}

#[test]
fn a_deadlock_names_the_processes_of_its_cycle() {
    everywhere(|options| {
        let graph = Graph::new();
        let (end, back) = graph.feedback([]);
        let hen = echo(&graph, "hen", back);
        let egg = echo(&graph, "egg", hen);
        egg.feed(end);
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

#[test]
fn an_artificial_deadlock_is_resolved() {
    everywhere(|options| {
        let graph = Graph::new();
        let (a, b) = graph.coroutine(
            "send",
            (),
            (output("a"), output("b")),
            |(), (mut a, mut b): (BlockingTx<u64>, BlockingTx<u64>)| {
                (0..200).for_each(|i| a.send(i));
                (0..200).for_each(|i| b.send(i));
            },
        );
        let sums = graph.coroutine("add", (input("b", b), input("a", a)), output("out"), |(b, a), mut tx| {
            b.zip(a).for_each(|(b, a)| tx.send(a + b));
        });
        let items: Vec<u64> = sums.start_with(options).unwrap().collect();
        assert_eq!(items, (0..200).map(|i| 2 * i).collect::<Vec<_>>());
    });
}

/// Its drop receives until the stream ends, and sends each item on.
struct Last(BlockingRx<Counted>, BlockingTx<Counted>);

impl Drop for Last {
    fn drop(&mut self) {
        for item in &mut self.0 {
            self.1.send(item);
        }
    }
}

/// An endless stream of counted items, through a stage that would have to wait in a drop. Both coroutines hold a
/// counted item of their own.
fn endless(graph: &Graph<'static>, ledger: &Arc<Ledger>) -> Stream<'static, Counted> {
    let (make, own, kept) = (ledger.clone(), ledger.clone(), ledger.clone());
    let items = graph.coroutine("make", (), output("out"), move |(), mut tx| {
        let _kept = Counted::make(0, &own);
        for i in 0.. {
            tx.send(Counted::make(i, &make));
        }
    });
    let pass = move |rx, tx: BlockingTx<Counted>| {
        let (_kept, mut last) = (Counted::make(0, &kept), Last(rx, tx));
        while let Some(item) = last.0.recv() {
            last.1.send(item);
        }
    };
    graph.coroutine("pass", input("in", items), output("out"), pass)
}

/// Connects [`endless`] to a process that returns `end()` after some items, and returns the run's error.
fn failing(options: &Options, end: fn() -> Result<(), String>) -> Error {
    silence();
    let (ledger, graph) = (Ledger::new(), Graph::new());
    let items = endless(&graph, &ledger);
    graph.coroutine("culprit", input("in", items), (), move |rx, ()| {
        let kept: Vec<Counted> = rx.take(10).collect();
        assert_eq!(kept.len(), 10);
        end()
    });
    let error = graph.run_with(options).expect_err("the run fails");
    assert_eq!(ledger.live(), 0, "after {error}");
    error.into_error()
}

#[test]
fn a_failure_unwinds_the_other_coroutines() {
    everywhere(|options| {
        let error = failing(options, || Err("enough".into()));
        assert!(matches!(&error, Error::Node { node, .. } if node == "culprit"), "{error}");
        let error = failing(options, || panic!("too much"));
        let is_panic = |error: &Error| matches!(error, Error::Panic { node, message } if node == "culprit" && message == "too much");
        assert!(is_panic(&error), "{error}");
    });
}

/// A caught panic is not reported. An uncaught one drops a value that would have to wait in its drop.
#[test]
fn a_panic_is_reported_once_although_drops_use_ends() {
    silence();
    for options in [Options::new().threads(1), Options::new().threads(2)] {
        let (ledger, graph) = (Ledger::new(), Graph::new());
        let items = endless(&graph, &ledger);
        let passed = graph.coroutine("culprit", input("in", items), output("out"), |rx, tx| {
            let mut last = Last(rx, tx);
            let caught = std::panic::catch_unwind(|| panic!("caught"));
            assert!(caught.is_err() && last.0.recv().is_some());
            if caught.is_err() {
                panic!("uncaught");
            }
        });
        passed.for_each(drop).named("sink");
        let error = watch("a panic", || graph.run_with(&options)).unwrap_err().into_error();
        assert!(matches!(&error, Error::Panic { message, .. } if message == "uncaught"), "{error}");
        assert_eq!(ledger.live(), 0);
    }
}

#[test]
fn a_cancelled_run_drops_all_items() {
    everywhere(|options| {
        let (ledger, graph) = (Ledger::new(), Graph::new());
        let items = endless(&graph, &ledger);
        let mut outlet = items.start_with(options).unwrap();
        assert!(outlet.by_ref().take(20).map(|item| item.value()).eq(0..20));
        outlet.handle().cancel();
        assert!(matches!(outlet.finish().map_err(Error::from), Err(Error::Cancelled)));
        assert_eq!(ledger.live(), 0);
    });
}

#[test]
fn a_coroutine_that_never_ran_is_dropped() {
    let (ledger, graph) = (Ledger::new(), Graph::new());
    let kept = Counted::make(0, &ledger);
    graph.coroutine("idle", (), (), move |(), ()| drop(kept));
    let prepared = graph.build().unwrap().prepare(&Options::new()).unwrap();
    assert_eq!(ledger.live(), 1);
    drop(prepared);
    assert_eq!(ledger.live(), 0);
}

/// A coroutine that catches its own unwinding is unwound again at its next operation.
#[test]
fn a_caught_unwinding_is_repeated() {
    silence();
    let (ledger, graph, caught) = (Ledger::new(), Graph::new(), Arc::new(AtomicUsize::new(0)));
    let items = endless(&graph, &ledger);
    let count = caught.clone();
    graph.coroutine("stubborn", input("in", items), (), move |mut rx, ()| {
        let mut receive = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| rx.recv())).is_err();
        (0..3).for_each(|_| while !receive() {});
        count.fetch_add(1, Ordering::Relaxed);
    });
    let prepared = graph.build().unwrap().prepare(&Options::new().threads(2)).unwrap();
    let handle = prepared.handle();
    let run = std::thread::spawn(move || watch("stubborn", || prepared.run()));
    std::thread::sleep(std::time::Duration::from_millis(20));
    handle.cancel();
    assert!(matches!(run.join().unwrap().map_err(Error::from), Err(Error::Cancelled)));
    assert_eq!((caught.load(Ordering::Relaxed), ledger.live()), (1, 0));
}

/// An end used outside its coroutine panics with a message, and is dropped.
#[test]
fn ends_work_only_in_their_own_coroutine() {
    thread_local!(static LOST: Cell<Option<BlockingRx<u64>>> = const { Cell::new(None) });
    silence();
    let graph = Graph::new();
    let (one, two) = (count(&graph, "one", 3), count(&graph, "two", 3));
    let done = graph.coroutine("loses", input("in", one), output("done"), |rx, mut tx| {
        LOST.set(Some(rx));
        tx.send(());
    });
    let ends = (input("in", two), input("when", done));
    graph.coroutine("finds", ends, (), |(_rx, mut when): (BlockingRx<u64>, BlockingRx<()>), ()| {
        when.recv();
        LOST.take().expect("both coroutines run on one thread").recv();
    });
    let error = watch("lost", || graph.run_with(&Options::new().threads(1))).unwrap_err();
    assert!(error.to_string().contains("another process"), "{error}");
    let graph = Graph::new();
    let one = count(&graph, "one", 3);
    graph.coroutine("loses", input("in", one), (), |rx, ()| LOST.set(Some(rx)));
    graph.run_with(&Options::new().threads(1)).unwrap();
    let outside = std::panic::catch_unwind(|| LOST.take().expect("the run used this thread").recv());
    let message = text(outside.expect_err("an end outside of all coroutines panics"));
    assert!(message.contains("outside"), "{message}");
}

fn text(panic: Box<dyn std::any::Any + Send>) -> String {
    panic.downcast_ref::<&str>().map_or_else(String::new, |text| (*text).to_owned())
}

/// A run nested in a coroutine, on the coroutine's stack, has coroutines of its own.
#[test]
fn a_run_can_be_nested_in_a_coroutine() {
    let graph = Graph::new();
    let numbers = count(&graph, "numbers", 20);
    let sums =
        graph.kernel("sums", input("in", numbers), output("out")).stack(1 << 20).coroutine(|rx, mut tx| {
            for to in rx {
                let inner = Graph::new();
                let numbers = count(&inner, "numbers", to);
                let sum = Arc::new(Mutex::new(0));
                let result = sum.clone();
                numbers.for_each(move |item| *result.lock().unwrap() += item).named("sum");
                inner.run_with(&Options::new().threads(1)).unwrap();
                tx.send(*sum.lock().unwrap());
            }
        });
    let got: Vec<u64> = watch("inner", || sums.start_with(&Options::new().threads(2)).unwrap().collect());
    assert_eq!(got, (0..20u64).map(|to| to * to.saturating_sub(1) / 2).collect::<Vec<_>>());
}

/// Ten thousand stacks at once.
#[test]
fn ten_thousand_coroutines_wait_at_once() {
    for threads in [1, 2] {
        let graph = Graph::new();
        let mut stream = count(&graph, "numbers", 5);
        for i in 0..10_000 {
            stream = echo(&graph, &format!("p{i}"), stream);
        }
        let options = Options::new().threads(threads).capacity(1);
        let got: Vec<u64> = watch("a chain", || stream.start_with(&options).unwrap().collect());
        assert_eq!(got, [0, 1, 2, 3, 4]);
    }
}

/// A task graph is a job: an operation in one of its tasks is refused, whether it would have to wait or not.
#[test]
fn an_operation_in_a_task_is_refused() {
    use std::cell::RefCell;
    use thalweg::tasks::{StaticGraph, TaskOptions};
    thread_local!(static HIDDEN: RefCell<Option<BlockingRx<u64>>> = const { RefCell::new(None) });
    silence();
    for (items, members) in [(0, 1), (9, 1), (0, 2), (9, 2)] {
        let graph = Graph::new();
        let numbers = graph.source(0..items).capacity(16);
        graph.coroutine("tasks", numbers, (), move |rx: BlockingRx<u64>, ()| {
            HIDDEN.set(Some(rx));
            let mut chain = StaticGraph::from_edges(20, (1..20).map(|n| (n - 1, n)));
            let receive = |_| HIDDEN.with_borrow_mut(|rx| _ = rx.as_mut().map(BlockingRx::recv));
            let result = chain.run_with(&TaskOptions::new().members(members), receive);
            HIDDEN.take();
            result.map(drop).map_err(|error| error.to_string())
        });
        let error = graph.run_with(&Options::new().threads(1)).unwrap_err().to_string();
        assert!(error.contains("began inside of a parallel loop, `join`, a task graph or a run"), "{error}");
    }
}
