//! Snapshots of a run: what they say of nodes that run, wait and have ended; that they may be taken from any thread at
//! any time; and the function that a run calls at its start.

use crate::support;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::gate::Gate;
use support::inject::silence;
use support::watchdog::watch;
use thalweg::trace::{Cause, NodeStatus, Snapshot};
use thalweg::{Error, Failed, Graph, Handle, Options, Run, Rx, Tx, from_iter, input, output};

/// Where runs leave their handles when they start.
#[derive(Clone, Default)]
struct Started(Arc<Mutex<Vec<Handle>>>);

impl Started {
    /// The options, with a function that leaves the run's handle here.
    fn by(&self, options: Options) -> Options {
        let handles = self.0.clone();
        options.on_start(move |run| handles.lock().unwrap().push(run.clone()))
    }

    fn all(&self) -> Vec<Handle> {
        self.0.lock().unwrap().clone()
    }

    /// Takes snapshots of the latest run until one passes the test, and returns that one. After 20 s it prints the
    /// latest one, since the watchdog is about to end the process.
    fn until(&self, test: impl Fn(&Snapshot) -> bool) -> Snapshot {
        let (began, mut shown) = (Instant::now(), false);
        loop {
            if let Some(snapshot) = self.all().last().and_then(Handle::snapshot) {
                if test(&snapshot) {
                    return snapshot;
                }
                if !shown && began.elapsed() > Duration::from_secs(20) {
                    shown = true;
                    _ = writeln!(std::io::stderr(), "{snapshot}");
                }
            }
            std::thread::yield_now();
        }
    }
}

/// What the node of this name does, in words.
fn words(snapshot: &Snapshot, name: &str) -> String {
    let ids = snapshot.graph().node_ids();
    let id = ids.into_iter().find(|id| snapshot.graph().node(*id).name() == name);
    snapshot.describe(id.unwrap_or_else(|| panic!("no node `{name}`")))
}

/// The node that this one waits for, by name.
fn blocker(snapshot: &Snapshot, name: &str) -> Option<String> {
    let id = snapshot.graph().node_ids().find(|id| snapshot.graph().node(*id).name() == name).unwrap();
    Some(snapshot.graph().node(snapshot.blocked_by(id)?).name().to_string())
}

fn is(snapshot: &Snapshot, wanted: &[(&str, &str)]) -> bool {
    wanted.iter().all(|(name, state)| words(snapshot, name) == *state)
}

/// A value that a firing waits for.
fn latch() -> (Sender<()>, Receiver<()>) {
    channel()
}

/// Runs `run` on another thread, lets `observe` watch it, and returns its result. The observer must let the run end.
fn observed<R: Send>(what: &str, run: impl FnOnce() -> R + Send, observe: impl FnOnce()) -> R {
    watch(what, || {
        std::thread::scope(|scope| {
            let run = scope.spawn(run);
            observe();
            run.join().unwrap()
        })
    })
}

#[test]
fn a_held_firing_runs_and_its_neighbours_wait_for_it() {
    // Under `partition` a node may belong to the worker that the held firing occupies.
    for policy in thalweg::embed::policy::registry::names().filter(|name| *name != "partition") {
        let (open, held) = latch();
        let started = Started::default();
        let options = started.by(Options::new().policy(policy).threads(3).capacity(4));
        let run = move || {
            let graph = Graph::new();
            let hold = move |item: u64| {
                if item == 0 {
                    held.recv().unwrap();
                }
                item
            };
            let sum = graph.source(0..1000u64).named("read").map(hold).named("hold");
            let sum = sum.fold(0, |sum, item| sum + item).named("sum");
            graph.source(0..3u64).named("short").for_each(drop).named("done");
            graph.run_with(&options).unwrap().take(sum).unwrap()
        };
        let sum = observed(policy, run, || {
            let open = open; // dropped by a panic too, so that the run ends
            let seen = started.until(|snapshot| {
                is(
                    snapshot,
                    &[
                        ("hold", "runs"),
                        ("read", "waits for room in hold.in"),
                        ("sum", "waits for items of hold.out"),
                        ("short", "has ended"),
                        ("done", "has ended"),
                    ],
                )
            });
            assert_eq!(blocker(&seen, "read").as_deref(), Some("hold"));
            assert_eq!(blocker(&seen, "sum").as_deref(), Some("hold"));
            assert_eq!(blocker(&seen, "hold"), None);
            let workers = if policy == "pools" { 5 } else { 3 };
            assert_eq!(
                (seen.workers(), seen.nodes()[0].status()),
                (workers, NodeStatus::Waits(Cause::Room(id(0))))
            );
            let (to_hold, to_sum) = (seen.channels()[0], seen.channels()[1]);
            assert_eq!((to_hold.pushed(), to_hold.items(), to_hold.capacity()), (4, 4, 4));
            assert_eq!(to_sum.pushed(), 0);
            assert!(seen.at().as_nanos() > 0);
            open.send(()).unwrap();
        });
        assert_eq!(sum, 499_500);
        assert!(started.all()[0].snapshot().is_none(), "a snapshot after the end, under {policy}");
    }
}

fn id(channel: u32) -> thalweg::embed::graph::ChannelId {
    thalweg::embed::graph::ChannelId(channel)
}

#[test]
fn a_parallel_node_runs_while_a_ticket_is_under_way() {
    let (open, held) = latch();
    let (started, held) = (Started::default(), Mutex::new(held));
    let options = started.by(Options::new().threads(2));
    let run = move || {
        let hold = |item: u64| {
            if item == 2 {
                held.lock().unwrap().recv().unwrap();
            }
        };
        from_iter(0..3u64)
            .named("read")
            .par_map(hold)
            .named("hold")
            .for_each(drop)
            .run_with(&options)
            .unwrap();
    };
    observed("parallel", run, || {
        let open = open;
        started.until(|snapshot| {
            is(snapshot, &[("read", "has ended"), ("hold", "runs")]) && snapshot.channels()[1].pushed() == 2
        });
        open.send(()).unwrap();
    });
}

#[test]
fn dedicated_nodes_run_and_wait_like_others() {
    let (open, held) = latch();
    let started = Started::default();
    let options = started.by(Options::new().threads(1).capacity(4));
    let run = move || {
        let mut items = 0..6u64;
        let source = std::iter::from_fn(move || {
            (items.start != 3 || held.recv().is_ok()).then(|| items.next()).flatten()
        });
        from_iter(source)
            .blocking()
            .named("read")
            .for_each(drop)
            .blocking()
            .named("write")
            .run_with(&options)
            .unwrap();
    };
    observed("dedicated", run, || {
        let open = open;
        started.until(|snapshot| is(snapshot, &[("read", "runs"), ("write", "waits for items of read.out")]));
        drop(open);
    });
    // A full channel in front of a held sink.
    let (open, held) = latch();
    let started = Started::default();
    let options = started.by(Options::new().threads(1).capacity(4));
    let run = move || {
        let write = move |item: u64| _ = (item == 1).then(|| held.recv());
        from_iter(0..1000u64)
            .blocking()
            .named("read")
            .for_each(write)
            .blocking()
            .named("write")
            .run_with(&options)
    };
    let ran = observed("dedicated sink", run, || {
        let open = open;
        started.until(|snapshot| is(snapshot, &[("write", "runs"), ("read", "waits for room in write.in")]));
        drop(open);
    });
    ran.unwrap();
}

#[test]
fn processes_wait_for_messages_for_room_and_for_the_outside() {
    for policy in ["auto", "ws-cur", "ws-last", "partition", "qes"] {
        for one_to_one in [false, true] {
            let started = Started::default();
            let options = started.by(Options::new().policy(policy).threads(2).capacity(2));
            let options = if one_to_one { options.thread_per_node() } else { options };
            let (gate, opened) = (Gate::default(), Gate::default());
            opened.open();
            let inner = gate.clone();
            let run = move || {
                let graph = Graph::new();
                let ask = graph.process("ask", (), output("out"), |(), mut out: Tx<u64>| async move {
                    for i in 0..100 {
                        out.send(i).await;
                    }
                });
                let wait = graph.process(
                    "wait",
                    input("in", ask),
                    output("out"),
                    |mut rx: Rx<u64>, mut tx: Tx<u64>| async move {
                        while let Some(item) = rx.recv().await {
                            if item == 3 {
                                inner.clone().await;
                            }
                            tx.send(item).await;
                        }
                    },
                );
                graph.process("end", input("in", wait), (), |mut rx: Rx<u64>, ()| async move {
                    while rx.recv().await.is_some() {}
                });
                graph.run_with(&options).unwrap();
            };
            observed(policy, run, || {
                started.until(|snapshot| {
                    is(
                        snapshot,
                        &[
                            ("ask", "waits for room in wait.in"),
                            ("wait", "waits for an event outside the graph"),
                            ("end", "waits for items of wait.out"),
                        ],
                    )
                });
                gate.open();
            });
        }
    }
}

#[test]
fn a_merge_waits_for_any_input() {
    let (open, held) = latch();
    let started = Started::default();
    let options = started.by(Options::new().threads(2));
    let run = move || {
        let graph = Graph::new();
        let held = std::iter::from_fn(move || held.recv().ok().map(|()| 1u64));
        let streams = vec![graph.source(held).blocking(), graph.source(0..2u64)];
        graph.merge(streams).named("merge").for_each(drop).named("end");
        graph.run_with(&options).unwrap();
    };
    observed("merge", run, || {
        let open = open;
        let seen = started.until(|snapshot| is(snapshot, &[("merge", "waits for an item on any input")]));
        assert_eq!(blocker(&seen, "merge"), None);
        drop(open);
    });
}

#[test]
fn the_reader_of_an_outlet_blocks_its_producer_and_waits_for_it() {
    watch("outlet", || {
        let started = Started::default();
        let (open, held) = latch();
        let hold = move |item: u64| {
            if item == 50 {
                held.recv().unwrap();
            }
            item
        };
        let options = started.by(Options::new().threads(1).capacity(4));
        let mut outlet =
            from_iter(0..100u64).named("count").map(hold).named("hold").start_with(&options).unwrap();
        let seen = started.until(|snapshot| blocker(snapshot, "hold").as_deref() == Some("outlet"));
        assert_eq!(words(&seen, "outlet"), "runs");
        let handle = outlet.handle();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| outlet.by_ref().sum::<u64>());
            started.until(|snapshot| {
                let waits = "waits for items of hold.out";
                is(snapshot, &[("hold", "runs"), ("outlet", waits)])
            });
            open.send(()).unwrap();
            assert_eq!(reader.join().unwrap(), 4950);
        });
        outlet.finish().unwrap();
        assert!(handle.snapshot().is_none());
    });
}

/// Four threads take snapshots of whatever run is on, while runs that borrow begin and end: by the caller, under a
/// policy of the caller's own, on a scope's threads, cancelled, failed. Counts of one run never fall.
#[test]
fn snapshots_at_any_time_disturb_no_run() {
    let (started, stop, taken) = (Started::default(), AtomicBool::new(false), AtomicUsize::new(0));
    let observe = || {
        while !stop.load(Ordering::Relaxed) {
            let Some(run) = started.all().last().cloned() else { continue };
            let mut last: Option<Snapshot> = None;
            while let Some(now) = run.snapshot() {
                taken.fetch_add(1, Ordering::Relaxed);
                assert_eq!((now.nodes().len(), now.channels().len()), (4, 3));
                if let Some(last) = &last {
                    let pairs = now.nodes().iter().zip(last.nodes());
                    assert!(pairs.into_iter().all(|(now, then)| now.firings() >= then.firings()));
                    assert!(
                        now.at() >= last.at() && now.since(last).channels().iter().all(|rate| *rate >= 0.0)
                    );
                }
                assert!(now.channels().iter().all(|channel| channel.items() <= channel.capacity()));
                last = Some(now);
            }
        }
    };
    silence();
    watch("hammer", || {
        std::thread::scope(|scope| {
            // Also if the runs fail, so that the scope ends.
            struct Stop<'a>(&'a AtomicBool);
            impl Drop for Stop<'_> {
                fn drop(&mut self) {
                    self.0.store(true, Ordering::Relaxed);
                }
            }
            let _stop = Stop(&stop);
            (0..4).for_each(|_| _ = scope.spawn(observe));
            let began = Instant::now();
            // Fewer where each takes long, as under Valgrind.
            for round in (0..600u64).take_while(|_| began.elapsed() < Duration::from_secs(10)) {
                let borrowed: Vec<u64> = (0..50 + round % 100).collect();
                let seen = AtomicUsize::new(0);
                let count = |item: &u64| {
                    assert!(round % 7 != 3 || *item != 40, "injected");
                    seen.fetch_add(1, Ordering::Relaxed);
                    *item
                };
                let options = started.by(Options::new().threads(1 + round as usize % 3).capacity(8));
                if started.all().len() > 100 {
                    started.0.lock().unwrap().clear();
                }
                let all = borrowed.len();
                let ran: Result<Run, Failed> = match round % 4 {
                    0 => thalweg::scope(|scope| {
                        let mut outlet = scope.start(
                            from_iter(borrowed.iter()).map(count).par_map(|item| item + 1),
                            &options,
                        )?;
                        let _first = outlet.next();
                        outlet.finish()
                    }),
                    1 => {
                        let end =
                            from_iter(borrowed.iter()).map(count).par_map(|item| item + 1).for_each(drop);
                        end.graph().run_under(&thalweg::embed::policy::RandomStealing, &options)
                    }
                    2 => {
                        let end =
                            from_iter(borrowed.iter()).map(count).par_map(|item| item + 1).for_each(drop);
                        let prepared = end.graph().prepare(&options)?;
                        assert!(prepared.handle().snapshot().is_none());
                        prepared.run()
                    }
                    _ => {
                        let end =
                            from_iter(borrowed.iter()).map(count).par_map(|item| item + 1).for_each(drop);
                        end.graph().run_with(&options)
                    }
                };
                match ran.map_err(Error::from) {
                    Err(Error::Panic { .. }) => assert_eq!(round % 7, 3),
                    Err(other) => panic!("{other}"),
                    Ok(_) if round % 4 != 0 => assert_eq!(seen.into_inner(), all),
                    Ok(_) => {}
                }
                let last = started.all().pop();
                assert!(last.is_none_or(|run| run.snapshot().is_none()));
            }
            Ok::<(), Error>(())
        })
        .unwrap();
    });
    assert!(taken.into_inner() > 0);
}

#[test]
fn a_node_can_take_a_snapshot_of_its_own_run_and_of_a_nested_one() {
    watch("from a node", || {
        let (outer, inner) = (Started::default(), Started::default());
        let (own, nested) = (outer.clone(), inner.clone());
        let options = outer.by(Options::new().threads(2));
        let fire = move |item: u64| {
            let seen = own.all()[0].snapshot().unwrap();
            assert_eq!(words(&seen, "fire"), "runs");
            let options = nested.by(Options::new().threads(2));
            let sum = from_iter(0..item).fold(0, |sum, i| sum + i).run_with(&options).unwrap().into_value();
            assert!(nested.all().last().unwrap().snapshot().is_none());
            assert!(own.all()[0].snapshot().is_some());
            sum
        };
        let sums = from_iter(0..20u64).map(fire).named("fire").collect();
        assert_eq!(sums.run_with(&options).unwrap().into_value().len(), 20);
        assert_eq!((outer.all().len(), inner.all().len()), (1, 20));
    });
}

#[test]
fn the_run_begins_after_its_start_function() {
    let fired = Arc::new(AtomicUsize::new(0));
    let seen = fired.clone();
    let (caller, calls) = (std::thread::current().id(), Arc::new(AtomicUsize::new(0)));
    let counted = calls.clone();
    let options = Options::new().threads(2).on_start(move |run| {
        counted.fetch_add(1, Ordering::Relaxed);
        assert_eq!(std::thread::current().id(), caller);
        let snapshot = run.snapshot().unwrap();
        assert!(snapshot.nodes().iter().all(|node| node.firings() == 0));
        assert_eq!(words(&snapshot, "read"), "is ready");
        assert_eq!(words(&snapshot, "end"), "waits for items of read.out");
        assert_eq!(seen.load(Ordering::Relaxed), 0);
        run.cancel();
    });
    let count = move |_| _ = fired.fetch_add(1, Ordering::Relaxed);
    let ran =
        from_iter(0..10).named("read").for_each(count).named("end").run_with(&options).map_err(Error::from);
    assert!(matches!(ran, Err(Error::Cancelled)));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn a_panic_of_the_start_function_continues_in_the_caller_and_leaves_no_run_behind() {
    silence();
    watch("panic at the start", || {
        let handles = Started::default();
        let left = handles.clone();
        let options = Options::new().threads(2).on_start(move |run| {
            left.0.lock().unwrap().push(run.clone());
            panic!("injected at the start");
        });
        let run = || from_iter(0..10).for_each(drop).run_with(&options);
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(*panic.downcast::<&str>().unwrap(), "injected at the start");
        // The iterator of an outlet ends, and its end has the panic.
        let mut outlet = from_iter(0..10).start_with(&options).unwrap();
        assert_eq!(outlet.next(), None);
        assert!(catch_unwind(AssertUnwindSafe(|| outlet.finish())).is_err());
        assert!(handles.all().iter().all(|run| run.is_over() && run.snapshot().is_none()));
    });
}
