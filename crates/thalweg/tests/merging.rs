//! A merge keeps all items and each stream's order; which stream is next is anybody's guess.

mod support;

use std::sync::{Arc, Mutex};
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::{Graph, Options};

fn everywhere(check: impl Fn(&Options)) {
    for policy in thalweg::policy::registry::names() {
        for (threads, capacity) in [(1, 1), (2, 3), (4, 64)] {
            let options = Options::new().policy(policy).threads(threads).capacity(capacity);
            watch(format!("{options:?}"), || check(&options));
        }
    }
}

/// Streams of 0, 1, 2, ... items, each item with its stream's number.
fn merged(streams: u64, options: &Options) -> Vec<(u64, u64)> {
    let graph = Graph::new();
    let inputs = (0..streams).map(|stream| {
        graph.source((0..stream * 7).map(move |i| (stream, i))).named(&format!("source {stream}"))
    });
    let all = graph.merge(inputs).named("merge");
    let got = Arc::new(Mutex::new(Vec::new()));
    let into = got.clone();
    all.for_each(move |item| into.lock().unwrap().push(item)).named("sink");
    graph.run(options).unwrap();
    std::mem::take(&mut *got.lock().unwrap())
}

#[test]
fn all_items_come_each_stream_in_its_order() {
    everywhere(|options| {
        for streams in [1, 2, 10, 64] {
            let items = merged(streams, options);
            for stream in 0..streams {
                let of: Vec<u64> =
                    items.iter().filter(|(from, _)| *from == stream).map(|(_, i)| *i).collect();
                assert!(of.iter().copied().eq(0..stream * 7), "stream {stream}: {of:?}");
            }
            assert_eq!(items.len() as u64, (0..streams).map(|stream| stream * 7).sum());
        }
    });
}

/// A stream that waits for ever keeps none of the others from coming through.
#[test]
fn a_stream_that_waits_holds_nobody_up() {
    everywhere(|options| {
        let (tell, told) = std::sync::mpsc::channel::<()>();
        let graph = Graph::new();
        let waits = graph
            .source(std::iter::from_fn(move || told.recv().ok().map(|()| 1000u64)))
            .blocking()
            .named("waits");
        let goes = graph.source(0..100u64).named("goes");
        let all = graph.merge(vec![waits, goes]).named("merge");
        let (mut tell, mut seen) = (Some(tell), 0);
        // Only when all of the others have come is the waiting one let go.
        all.for_each(move |_| {
            seen += 1;
            if seen == 100 {
                tell.take();
            }
        })
        .named("sink");
        graph.run(options).unwrap();
    });
}

#[test]
fn what_is_merged_is_dropped_once() {
    let ledger = Ledger::new();
    everywhere(|options| {
        let graph = Graph::new();
        let streams = (0..3)
            .map(|stream: u64| {
                let ledger = ledger.clone();
                graph
                    .source((0..20).map(move |i| Counted::make(i, &ledger)))
                    .named(&format!("source {stream}"))
            })
            .collect::<Vec<_>>();
        let all = graph.merge(streams).named("merge");
        let mut left = 30;
        // The sink ends early: what is under way is nobody's.
        all.for_each(move |item| {
            drop(item);
            left -= 1;
            if left == 0 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        })
        .named("sink");
        graph.run(options).unwrap();
        assert_eq!(ledger.live(), 0);
    });
}
