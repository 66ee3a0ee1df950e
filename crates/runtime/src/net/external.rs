//! External events: what happens outside of all activations and needs the graph to be acted on. Any thread injects
//! them into the run; the workers drain them.

use super::Signals;
use crate::sync::{AtomicBool, Mutex, Ordering, fence, lock};
use thalweg_graph::NodeId;

/// Something that happened to a process outside of its activations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExternalEvent {
    /// A future that is no channel operation has woken the process.
    Woken(NodeId),
    /// An end of the process, or a message lent to it, was dropped by a thread without access to the graph.
    Dropped(NodeId),
    /// The same by an unwinding thread; the operation says which end.
    Poisoned(NodeId, u64),
}

/// Events that no worker has drained yet.
#[derive(Debug)]
pub(crate) struct Injector {
    list: Mutex<Vec<ExternalEvent>>,
    any: AtomicBool,
}

impl Injector {
    pub(crate) fn new() -> Injector {
        Injector { list: Mutex::new(Vec::new()), any: AtomicBool::new(false) }
    }

    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    pub(crate) fn take(&self) -> Vec<ExternalEvent> {
        let any = self.any.swap(false, Ordering::AcqRel);
        if any { std::mem::take(&mut *lock(&self.list)) } else { Vec::new() }
    }
}

impl Signals {
    /// Injects an event. From any thread, at any time.
    ///
    /// The list is a change, and so this is the changer's side of the protocol in [`sleep`](crate::sched::sleep): a
    /// worker drains the list wherever it looks at the nodes.
    pub(crate) fn inject(&self, event: ExternalEvent) {
        lock(&self.injector.list).push(event);
        self.injector.any.store(true, Ordering::Release);
        fence(Ordering::SeqCst); // pairs with `Sleep::announce`
        if self.sleep.any_asleep() {
            self.sleep.wake_one();
        }
    }
}
