//! Wakers of nodes, for threads outside of the run: of foreign futures and alarms.

use super::{ExternalEvent, Signals};
use crate::sched::sleep::Sleeper;
use std::sync::Arc;
use std::task::Wake;
use thalweg_graph::NodeId;

/// Alerts a node, so that it is activated whatever it waits for. It may be used after the run has ended, and has no effect
/// then.
#[derive(Clone, Debug)]
pub(crate) struct NodeWaker {
    signals: Arc<Signals>,
    node: NodeId,
    /// The number of the node's thread, if it has one of its own.
    sleeper: Option<Sleeper>,
}

impl NodeWaker {
    /// The waker of a node; `dedicated` is the number of its own thread as a sleeper.
    pub(crate) fn new(signals: Arc<Signals>, node: NodeId, dedicated: Option<u32>) -> NodeWaker {
        NodeWaker { signals, node, sleeper: dedicated.map(|sleeper| sleeper as Sleeper) }
    }

    /// Wakes the node.
    pub(crate) fn wake_node(&self) {
        match self.sleeper {
            Some(sleeper) => self.signals.sleep.wake_dedicated(sleeper),
            None => self.signals.inject(ExternalEvent::Woken(self.node)),
        }
    }
}

impl Wake for NodeWaker {
    fn wake(self: Arc<Self>) {
        self.wake_node();
    }
}
