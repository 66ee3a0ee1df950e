//! Rates and gains: what follows from the counts of a report.

use crate::Report;
use thalweg_graph::{ChannelId, NodeId};

impl Report {
    /// The mean rate of a channel over the run, in items per second; 0 if the wall time is 0. `channel` must be one of
    /// the graph's.
    pub fn rate(&self, channel: ChannelId) -> f64 {
        let seconds = self.wall.as_secs_f64();
        if seconds == 0.0 { 0.0 } else { self.channels[channel.index()].items as f64 / seconds }
    }

    /// The items that a node popped, over all inputs: those pushed to them less those left over. Initial items count.
    pub fn popped(&self, node: NodeId) -> u64 {
        let channels = self.graph.node(node).inputs().iter().filter_map(|port| port.channel());
        let popped = channels.map(|id| {
            let (stats, initial) = (&self.channels[id.index()], self.graph.channel(id).link().initial());
            stats.items.saturating_add(initial as u64).saturating_sub(stats.leftover)
        });
        popped.fold(0, u64::saturating_add)
    }

    /// The items that a node pushed, over all outputs.
    pub fn pushed(&self, node: NodeId) -> u64 {
        let channels = self.graph.node(node).outputs().iter().filter_map(|port| port.channel());
        channels.map(|id| self.channels[id.index()].items).fold(0, u64::saturating_add)
    }

    /// The gain of a node: items pushed for each item popped. `None` if it popped none.
    pub fn gain(&self, node: NodeId) -> Option<f64> {
        let popped = self.popped(node);
        (popped > 0).then(|| self.pushed(node) as f64 / popped as f64)
    }
}
