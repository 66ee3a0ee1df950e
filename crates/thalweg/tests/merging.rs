//! A merge keeps all items and the order of each stream; the order between streams is not determined.

use crate::support;

use std::sync::{Arc, Mutex};
use support::item::{Counted, Item, Ledger};
use support::watchdog::watch;
use thalweg::{Graph, Options};

fn everywhere(check: impl Fn(&Options)) {
    for policy in thalweg::embed::policy::registry::names() {
        for (threads, capacity) in [(1, 1), (2, 3), (4, 64)] {
            let options = Options::new().policy(policy).threads(threads).capacity(capacity);
            watch(format!("{options:?}"), || check(&options));
        }
    }
}

/// Merges streams of 0, 7, 14, ... items; each item carries the number of its stream.
fn merged(streams: u64, options: &Options) -> Vec<(u64, u64)> {
    let graph = Graph::new();
    let inputs = (0..streams).map(|stream| {
        graph.source((0..stream * 7).map(move |i| (stream, i))).named(&format!("source {stream}"))
    });
    let all = graph.merge(inputs).named("merge");
    let got = Arc::new(Mutex::new(Vec::new()));
    let into = got.clone();
    all.for_each(move |item| into.lock().unwrap().push(item)).named("sink");
    graph.run_with(options).unwrap();
    std::mem::take(&mut *got.lock().unwrap())
}

#[test]
fn all_items_arrive_in_the_order_of_their_stream() {
    everywhere(|options| {
        for streams in [1, 2, 10, 64] {
            let items = merged(streams, options);
            for stream in 0..streams {
                let of: Vec<u64> =
                    items.iter().filter(|(from, _)| *from == stream).map(|(_, i)| *i).collect();
                assert!(of.iter().copied().eq(0..stream * 7), "stream {stream}: {of:?}");
            }
            assert_eq!(items.len() as u64, (0..streams).map(|stream| stream * 7).sum::<u64>());
        }
    });
}

/// A stream that waits does not delay the others.
#[test]
fn a_stream_that_waits_does_not_delay_the_others() {
    everywhere(|options| {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let graph = Graph::new();
        let waits = graph
            .source(std::iter::from_fn(move || released.recv().ok().map(|()| 1000u64)))
            .blocking()
            .named("waits");
        let goes = graph.source(0..100u64).named("goes");
        let all = graph.merge(vec![waits, goes]).named("merge");
        let (mut release, mut seen) = (Some(release), 0);
        // The waiting source ends only after all items of the other have arrived.
        all.for_each(move |_| {
            seen += 1;
            if seen == 100 {
                release.take();
            }
        })
        .named("sink");
        graph.run_with(options).unwrap();
    });
}

#[test]
fn merged_items_are_dropped_once() {
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
        // The sink ends early: the run drops the items in flight.
        all.for_each(move |item| {
            drop(item);
            left -= 1;
            if left == 0 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        })
        .named("sink");
        graph.run_with(options).unwrap();
        assert_eq!(ledger.live(), 0);
    });
}
