//! External events: they happen to a process outside of its activations, on a thread that has no access to the graph.
//! Any thread injects them into the run; the workers drain them ([`injector`](crate::sched::injector)).
//!
//! # Protocol
//!
//! ```text
//!   inject (any thread)                       take (a worker)
//!   1. pushes to `list`, under its lock       1. reads `any`; false: no event
//!   2. `any` := true (Release)                2. swaps `any` to false (AcqRel)
//!   3. fence(SeqCst)                          3. takes the whole `list`, under its lock
//!   4. wakes a worker, if one is announced
//! ```
//!
//! *An event that stays in the list.* Its `any` was cleared by a worker that then takes the list. If the push (1) comes
//! before that worker takes the list, it takes the event; if it comes after, `any` becomes true (2) after the swap, and
//! the next `take` finds it. A worker that finds `any` set and the list empty loses nothing.
//!
//! *A worker that sleeps on an event.* `inject` is the changer's side of the protocol in
//! [`sleep`](crate::sched::sleep), and each worker drains after its announcement (`make_ready::any_work`).

use super::Signals;
use crate::sync::{AtomicBool, Mutex, Ordering, fence, lock};
use thalweg_graph::NodeId;

/// An event that happened to a process outside of its activations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExternalEvent {
    /// A future that is no channel operation has woken the process.
    Woken(NodeId),
    /// An end of the process, or a message lent to it, was dropped by a thread without access to the graph.
    Dropped(NodeId),
    /// An end of the process was dropped by an unwinding thread, outside of all polls. The operation identifies the
    /// end.
    Poisoned(NodeId, u64),
}

/// Events that no worker has drained yet.
#[derive(Debug)]
pub(crate) struct Injector {
    list: Mutex<Vec<ExternalEvent>>,
    /// Whether the list may hold an event. Read before each decision of a worker, so that no lock is taken.
    any: AtomicBool,
}

impl Injector {
    /// An injector without events.
    pub(crate) fn new() -> Injector {
        Injector { list: Mutex::new(Vec::new()), any: AtomicBool::new(false) }
    }

    /// Whether there may be an event.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Takes all events. Each is returned to one caller.
    pub(crate) fn take(&self) -> Vec<ExternalEvent> {
        let any = self.any.swap(false, Ordering::AcqRel);
        if any { std::mem::take(&mut *lock(&self.list)) } else { Vec::new() }
    }
}

impl Signals {
    /// Injects an event, and wakes a worker if one sleeps. From any thread, at any time; without effect after the run.
    pub(crate) fn inject(&self, event: ExternalEvent) {
        lock(&self.injector.list).push(event);
        self.injector.any.swap(true, Ordering::Release); // one order with the swaps of `take`
        fence(Ordering::SeqCst); // pairs with `Sleep::announce`
        if self.sleep.any_asleep() {
            self.sleep.wake_one();
        }
    }
}
