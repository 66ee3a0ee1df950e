//! From the thread that reads to the graph: batches in groups.

use std::future::{Future, poll_fn};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::group::Group;

/// A thread that reads puts batches in; a node of the graph takes what it finds, and waits for the first without a thread. The
/// window bounds the batches in it.
///
/// No wake-up is lost, as with an [inbox](crate::inbox::Inbox).
pub(super) struct Handover<X>(Mutex<State<X>>);

struct State<X> {
    batches: Group<X>,
    ended: bool,
    /// Of the node that waits.
    waker: Option<Waker>,
}

impl<X> Handover<X> {
    pub fn new() -> Handover<X> {
        Handover(Mutex::new(State { batches: Group::new(), ended: false, waker: None }))
    }

    pub fn push(&self, batch: X) {
        let mut state = self.lock();
        state.batches.push(batch);
        wake(state);
    }

    /// No batch comes any more.
    pub fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        wake(state);
    }

    /// The first batches, at most this number; `None` at the end.
    pub fn take(&self, most: usize) -> impl Future<Output = Option<Group<X>>> {
        poll_fn(move |cx| {
            let mut state = self.lock();
            if !state.batches.is_empty() {
                return Poll::Ready(Some(state.batches.split(most)));
            }
            if state.ended {
                return Poll::Ready(None);
            }
            state.waker = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    fn lock(&self) -> MutexGuard<'_, State<X>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes the node if it waits, after the lock.
fn wake<X>(mut state: MutexGuard<'_, State<X>>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;
    use thalweg::{Graph, output};

    #[test]
    fn a_node_gets_all_batches_in_order() {
        let handover = Arc::new(Handover::new());
        let taken = handover.clone();
        let graph = Graph::new();
        let groups = graph.process("take", (), output("out"), |(), mut out| async move {
            while let Some(group) = taken.take(3).await {
                out.send(group).await;
            }
        });
        let batches = groups.flat_map(|mut group| std::iter::from_fn(move || group.pop())).collect();
        let all = thread::scope(|scope| {
            scope.spawn(|| {
                (0..1000).for_each(|batch| handover.push(batch));
                handover.end();
            });
            batches.run().unwrap().into_value()
        });
        assert!(all.into_iter().eq(0..1000));
    }
}
