//! Items that firings move through the ports of a node.

use super::{ChannelId, Flat, NodeId};

/// Which execution of a filter; splitters and joiners behave the same in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Firing {
    /// The first: `prework` if there is one.
    First,
    /// Any other: `work`.
    Later,
}

impl Flat {
    /// Items that a firing pops from an input port; 0 if the node has no such port. `None` if firings decide how many
    /// items they pop or peek: then only the firing itself can determine when it ends.
    pub fn pop(&self, node: NodeId, port: usize, firing: Firing) -> Option<u64> {
        let Some(port) = self.node(node).inputs().get(port) else { return Some(0) };
        match (firing, port.first()) {
            (Firing::First, Some(first)) => first.pop().fixed(),
            _ => port.pop().fixed(),
        }
    }

    /// Items required on an input port for a firing to start.
    pub fn peek(&self, node: NodeId, port: usize, firing: Firing) -> u64 {
        let Some(port) = self.node(node).inputs().get(port) else { return 0 };
        match (firing, port.first()) {
            (Firing::First, Some(first)) => first.peek(),
            _ => port.peek(),
        }
    }

    /// Items that a firing pushes to an output port, 0 if the node has no such port; `None` if firings decide.
    pub fn push(&self, node: NodeId, port: usize, firing: Firing) -> Option<u64> {
        let Some(port) = self.node(node).outputs().get(port) else { return Some(0) };
        match (firing, port.first()) {
            (Firing::First, Some(first)) => first.fixed(),
            _ => port.push().fixed(),
        }
    }

    /// Whether one end of a channel has a dynamic rate.
    pub fn is_dynamic(&self, channel: ChannelId) -> bool {
        let channel = self.channel(channel);
        [Firing::First, Firing::Later].into_iter().any(|firing| {
            self.push(channel.from().0, channel.from().1, firing).is_none()
                || self.pop(channel.to().0, channel.to().1, firing).is_none()
        })
    }
}
