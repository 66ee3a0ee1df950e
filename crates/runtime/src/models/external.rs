//! [`Injector`](crate::net::Injector): an event that any thread injects reaches a worker.

use super::check;
use crate::net::{ExternalEvent, Signals};
use loom::thread;
use std::sync::Arc;
use thalweg_graph::NodeId;

/// Two threads inject an event each while a worker drains. After both have returned, a last drain has what is left.
///
/// Mutations that fail: `inject` that sets `any` before it pushes; `take` that
/// clears `any` after it has taken the list.
#[test]
fn loom_each_injected_event_is_taken_once() {
    check(|| {
        let signals = Arc::new(Signals::new((1, 1), 2));
        let inject = |node| {
            let signals = signals.clone();
            thread::spawn(move || signals.inject(ExternalEvent::Woken(NodeId(node))))
        };
        let threads = [inject(0), inject(1)];
        let mut taken = signals.injector.take().len();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        taken += signals.injector.take().len();
        assert_eq!(taken, 2);
        assert!(!signals.injector.any());
    });
}
