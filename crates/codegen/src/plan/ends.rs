//! How far accesses reach in their buffers.

use super::{Items, Port};

/// How far an access, or a border, reaches in its buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct End {
    pub(super) buffer: usize,
    /// Firings in a steady state, firings in a group, and the distance between groups.
    firings: i64,
    group: i64,
    by: i64,
    /// The end of the first group.
    first: i64,
}

impl End {
    pub(super) fn new(port: &Port, firings: u64) -> End {
        let Items { base, group, group_stride, stride, .. } = port.items;
        let first = base + (group - 1) * stride.abs() + port.items.reach() + 1;
        End { buffer: port.buffer, firings: firings as i64, group, by: group_stride, first }
    }

    /// The end after this many steady states.
    pub(super) fn after(&self, states: i64) -> i64 {
        (self.firings * states - 1).max(0) / self.group * self.by + self.first
    }
}
