//! Room that appears in a later activation than the receive, or on another thread: the sender is woken, also while
//! other processes never rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use thalweg::{Graph, Options, Rx, input, output};

/// Two processes that send a message to and fro until the flag is set.
fn chatter(graph: &Graph<'static>, flag: &Arc<AtomicBool>) {
    let f = flag.clone();
    let (loop_, back) = graph.feedback::<u64>([]);
    let there = graph.process("ping", input("in", back), output("out"), |mut rx, mut tx| async move {
        let mut i = 0;
        while !f.load(Ordering::Relaxed) {
            tx.send(i).await;
            i = rx.recv().await.unwrap() + 1;
        }
    });
    let here = graph.process("pong", input("in", there), output("out"), |mut rx, mut tx| async move {
        while let Some(i) = rx.recv().await {
            tx.send(i).await;
        }
    });
    here.feed(loop_);
}

/// With a deadline: a sender that is not woken would starve while other processes run.
fn options() -> Options {
    Options::new().policy("ws-cur").threads(1).deadline(Duration::from_secs(5))
}

/// The sender waits until the channel holds few enough bytes, which may take more than one receive.
#[test]
fn a_sender_that_waits_for_bytes_is_woken_when_there_are_enough() {
    let flag = Arc::new(AtomicBool::new(false));
    let graph = Graph::new();
    chatter(&graph, &flag);
    let heavy = graph.process("heavy", (), output("out"), |(), mut tx| async move {
        for _ in 0..10 {
            for _ in 0..5 {
                tx.send(1).await;
            }
            tx.send(1_000_000).await;
        }
    });
    let heavy = heavy.weigh(|i: &usize| *i);
    let tick = graph.process("tick", (), output("out"), |(), mut tx| async move {
        for i in 0..60 {
            tx.send(i).await;
        }
    });
    let tick = tick.capacity(1);
    let f = flag.clone();
    graph.process(
        "slow",
        (input("in", heavy), input("tick", tick)),
        (),
        |(mut rx, mut tick): (Rx<usize>, Rx<usize>), ()| async move {
            let mut n = 0;
            while tick.recv().await.is_some() {
                if rx.recv().await.is_some() {
                    n += 1;
                }
            }
            assert_eq!(n, 60);
            f.store(true, Ordering::Relaxed);
        },
    );
    let end = graph.run_with(&options().capacity(16).budget(100_000));
    end.unwrap();
}

#[test]
fn a_message_whose_guard_was_forgotten_wakes_the_sender() {
    [1, 2].into_iter().for_each(forgotten_with);
}

fn forgotten_with(threads: usize) {
    let flag = Arc::new(AtomicBool::new(false));
    let graph = Graph::new();
    chatter(&graph, &flag);
    let data = graph.process("data", (), output("out"), |(), mut tx| async move {
        for i in 0..100 {
            tx.send(i).await;
        }
    });
    let tick = graph.process("tick", (), output("out"), |(), mut tx| async move {
        for i in 0..200 {
            tx.send(i).await;
        }
    });
    let f = flag.clone();
    graph.process(
        "slow",
        (input("in", data), input("tick", tick)),
        (),
        |(mut rx, mut tick): (Rx<u64>, Rx<u64>), ()| async move {
            for i in 0..100 {
                tick.recv().await;
                match rx.recv_ref().await {
                    Some(m) => std::mem::forget(m),
                    None => panic!(),
                }
                tick.recv().await;
                assert_eq!(rx.recv().await, Some(i));
            }
            f.store(true, Ordering::Relaxed);
        },
    );
    let end = graph.run_with(&options().capacity(1).threads(threads));
    end.unwrap();
}

/// A run nested in a poll fails by a panic while one of its processes has borrowed a message. The outer process goes
/// on receiving.
#[test]
fn a_nested_run_that_fails_does_not_affect_the_outer_process() {
    let graph = Graph::new();
    let t = graph.process("t", (), output("out"), |(), mut tx| async move {
        for i in 0..10 {
            tx.send(i).await;
        }
    });
    let t = t.capacity(1);
    graph.process("outer", input("in", t), (), |mut rx, ()| async move {
        rx.recv().await;
        let inner = Graph::new();
        let mut last = None;
        for i in 0..5 {
            let out = inner.process(&format!("src{i}"), (), output("out"), |(), mut tx| async move {
                tx.send(1).await;
            });
            if let Some(prev) = last.replace(out) {
                inner.process(&format!("sink{i}"), input("in", prev), (), |mut rx, ()| async move {
                    while rx.recv().await.is_some() {}
                });
            }
        }
        inner.process("bad", input("in", last.unwrap()), (), |mut rx, ()| async move {
            let _m = rx.recv_ref().await;
            if _m.is_some() {
                panic!("inner");
            }
        });
        let failed = inner.run_with(&Options::new().threads(1).policy("ws-cur"));
        while rx.recv().await.is_some() {}
        assert!(failed.unwrap_err().to_string().contains("inner"));
    });
    let end = graph.run_with(&options());
    end.unwrap();
}

/// The process ends while another thread still holds its borrowed message.
#[test]
fn a_process_may_end_while_another_thread_has_its_message() {
    let flag = Arc::new(AtomicBool::new(false));
    let f = flag.clone();
    let graph = Graph::new();
    let out = graph.process("many", (), output("out"), move |(), mut tx| async move {
        let _f = OnDrop(f);
        for i in 0..5 {
            tx.send(i).await;
        }
    });
    graph.process("busy", (), (), |(), ()| {
        std::future::poll_fn(move |cx| {
            cx.waker().wake_by_ref();
            if flag.load(Ordering::Relaxed) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
    });
    graph.process("owner", input("in", out), (), |rx, ()| async move {
        let guard = Box::leak(Box::new(rx)).recv_ref().await.unwrap();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            drop(guard);
        });
    });
    let end = graph.run_with(&options().capacity(1).threads(2));
    end.unwrap();
}

struct OnDrop(Arc<AtomicBool>);
impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
