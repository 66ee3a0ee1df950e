//! A graph in a firing takes workers of the run only while it has work for them.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};
use thalweg_runtime::{Graph, output};
use thalweg_tasks::{StaticGraph, TaskOptions};

/// Waits until the condition holds; panics after a time that only a failure takes.
fn wait_until(holds: impl Fn() -> bool, what: &str) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_worker_returns_to_its_run_and_comes_again() {
    // Nodes 1 and 2 need two workers, then node 3 needs the second one for another node of the run, and nodes 4 and 5 need
    // both again.
    let (begun, event, fired) = (AtomicU32::new(0), AtomicBool::new(false), AtomicBool::new(false));
    let waker = Mutex::new(None::<Waker>);
    let both = |count| {
        begun.fetch_add(1, Ordering::Relaxed);
        wait_until(|| begun.load(Ordering::Relaxed) >= count, "the other worker joins");
    };
    let caller = OnceLock::new();
    let is_caller = || caller.get() == Some(&std::thread::current().id());
    let task = |node: u32| match node {
        // The other worker joins, finds nothing, and leaves for the first time.
        0 => std::thread::sleep(Duration::from_millis(5)),
        1 | 2 => {
            both(2);
            if is_caller() {
                std::thread::sleep(Duration::from_millis(5)); // So that it has node 3.
            }
        }
        // The caller's own firing lasts, so its thread does not return.
        3 if is_caller() => {
            event.store(true, Ordering::Release);
            wait_until(|| waker.lock().unwrap().is_some(), "the process waits");
            waker.lock().unwrap().take().unwrap().wake();
            wait_until(|| fired.load(Ordering::Relaxed), "the other worker returns to its run");
        }
        4 | 5 => both(4),
        _ => {}
    };
    let graph = Graph::new();
    graph.source(0..1).for_each(|_| {
        caller.set(std::thread::current().id()).expect("one firing");
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5)];
        let counts = StaticGraph::from_edges(6, edges)
            .run_with(&TaskOptions::new().members(2), task)
            .expect("no cycle");
        assert_eq!(counts.total().nodes(), 6);
        event.store(true, Ordering::Release);
        wait_until(|| waker.lock().unwrap().is_some() || fired.load(Ordering::Relaxed), "the process waits");
        waker.lock().unwrap().take().into_iter().for_each(Waker::wake);
    });
    let waits = graph.process("waits", (), output::<u8>("out"), |(), mut tx| {
        let (event, waker) = (&event, &waker);
        async move {
            poll_fn(|context| {
                *waker.lock().unwrap() = Some(context.waker().clone());
                if event.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            tx.send(1).await;
        }
    });
    waits.for_each(|_| fired.store(true, Ordering::Relaxed));
    graph.run_with(&thalweg_runtime::Options::new().threads(2)).unwrap();
    assert!(fired.into_inner());
}
