//! How long a worker waits for the turn of the items that it carries on.

use crate::auto::MAX_WAITS;

/// The waits of a worker for its turn: a bounded number of decisions in a row, and only once in vain.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Patience {
    /// Decisions in a row to wait.
    waits: u32,
    /// The latest decision was to be idle.
    is_idle: bool,
    /// What was waited for at the end of the latest wait, if that was in vain.
    in_vain: Option<u64>,
}

impl Patience {
    /// Whether the worker waits on. `behind` is a number that differs once a node that its items wait for has taken items, or
    /// `None` if none of its items wait.
    pub(crate) fn waits_for(&mut self, behind: Option<u64>) -> bool {
        if behind.is_some() && behind != self.in_vain && self.waits < MAX_WAITS {
            (self.waits, self.is_idle) = (self.waits + 1, true);
            return true;
        }
        (self.waits, self.is_idle, self.in_vain) = (0, false, behind);
        false
    }

    /// The worker does something else while it waits.
    pub(crate) fn works_meanwhile(&mut self) {
        self.is_idle = false;
    }

    /// Whether the latest decision was to be idle.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_idle
    }
}
