//! The firings of a parallel node that wait for their tickets: [`Settings::ticket_wait`](crate::Settings::ticket_wait).
//!
//! The same protocol as in the engine (`runtime/src/node/turns.rs`): a firing is computed, and then leaves by each output in
//! turn. There it waits for its ticket, then for room. A worker whose firing must wait for its ticket exchanges it for the
//! oldest queued one; if the output is full it queues the firing, and its activation ends.

use std::collections::VecDeque;

/// A computed firing that has not left all outputs.
#[derive(Debug)]
pub(crate) struct Firing {
    /// The number of its run in the node.
    pub(crate) run: u64,
    /// The output that it leaves by next.
    pub(crate) port: usize,
    /// How often it was not its turn since it was computed, or was last suspended for room, at all outputs together.
    pub(crate) waits: u64,
}

impl Firing {
    pub(crate) fn new(run: u64) -> Firing {
        Firing { run, port: 0, waits: 0 }
    }
}

/// The turns of a node, and its queued firings.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// By output: the run whose turn it is.
    pub(crate) turn: Vec<u64>,
    pub(crate) queue: VecDeque<Firing>,
}

impl Turns {
    /// The turns of a node with this number of outputs, before the first firing.
    pub(crate) fn new(outputs: usize) -> Turns {
        Turns { turn: vec![0; outputs], queue: VecDeque::new() }
    }

    /// Exchanges a firing for the oldest queued one, if there is one.
    pub(crate) fn exchange(&mut self, firing: Firing) -> Firing {
        match self.queue.pop_front() {
            None => firing,
            Some(oldest) => {
                self.queue.push_back(firing);
                oldest
            }
        }
    }

    /// The outputs that queued firings leave by next, each with the run whose turn it is there, and whether that one is queued.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (usize, u64, bool)> + '_ {
        let is_queued =
            |port: usize, run: u64| self.queue.iter().any(|firing| (firing.port, firing.run) == (port, run));
        let ports = self.turn.iter().copied().enumerate();
        let waiting = ports.filter(|(port, _)| self.queue.iter().any(|firing| firing.port == *port));
        waiting.map(move |(port, run)| (port, run, is_queued(port, run)))
    }
}
