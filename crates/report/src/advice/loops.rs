//! Loops with too few items in flight: their nodes take turns instead of working at the same time.

use super::{Evidence, Finding, FindingKind};
use std::time::Duration;
use thalweg_analysis::components;
use thalweg_graph::{ChannelId, NodeId};
use thalweg_trace::units;

/// The nodes of a starved loop have this share of the wall time together: there is always about one at work.
const BUSY: f64 = 0.5;

/// Or each of them waits on average for this share of the wall time for items of the loop.
const WAITED: f64 = 0.4;

/// A loop with a node that is busier than this is bounded by the node.
const SERIAL: f64 = 0.8;

/// Workers that idle less than this have enough other work.
const IDLE: f64 = 0.2;

/// Nodes of a loop that are examined: more would not be a loop that a user can name.
const NODES: usize = 10_000;

impl Evidence<'_> {
    /// A finding for each loop whose nodes mostly wait for each other's items.
    pub(super) fn starved_loops(&self) -> Vec<Finding> {
        if self.threads() < 2 || self.breakdown()[3] < IDLE {
            return Vec::new();
        }
        let components = components(self.graph());
        let loops = components.iter().filter(|nodes| nodes.len() <= NODES);
        loops.filter_map(|nodes| self.starved_loop(nodes, |node| components.of(node))).collect()
    }

    fn starved_loop(&self, nodes: &[NodeId], component: impl Fn(NodeId) -> usize) -> Option<Finding> {
        let channels = self.inside(nodes, &component);
        // A node that feeds itself has nothing to wait for but its own firings.
        if channels.is_empty() || nodes.len() < 2 {
            return None;
        }
        let count = nodes.len() as f64;
        // Without a sample of each channel it is not known that few items are in the loop.
        let queued = channels.iter().map(|id| self.channels()[id.index()].mean()).sum::<Option<f64>>()?;
        let most = nodes.iter().map(|node| self.load(*node)).fold(0.0, f64::max);
        if queued >= count || most >= SERIAL {
            return None;
        }
        let times = |of: fn(&thalweg_trace::ChannelReport) -> Duration| -> Duration {
            channels.iter().map(|id| of(&self.channels()[id.index()])).sum()
        };
        let (items, room) = (times(|c| c.consumer_waited()), times(|c| c.producer_waited()));
        let busy: f64 = nodes.iter().map(|node| self.load(*node)).sum();
        let waited = self.share(items) / count;
        let initial = channels.iter().map(|id| self.graph().channel(*id).link().initial());
        let initial = initial.fold(0, usize::saturating_add);
        let alternate = busy >= BUSY && initial < nodes.len();
        if room > items || !(alternate || waited >= WAITED) {
            return None;
        }
        Some(self.describe(nodes, &channels, busy, items, initial))
    }

    fn describe(
        &self,
        nodes: &[NodeId],
        channels: &[ChannelId],
        busy: f64,
        items: Duration,
        initial: usize,
    ) -> Finding {
        let what = format!("the loop of {} has few items in flight", self.quoted_all(nodes));
        let s = if initial == 1 { "" } else { "s" };
        let mut evidence = format!(
            "{initial} initial item{s} for {} nodes, which are busy for {} of the wall time together",
            nodes.len(),
            units::percent(busy)
        );
        if !items.is_zero() {
            evidence += &format!(" and wait {} for each other's items", units::time(items));
        }
        let back = channels.iter().find(|id| self.graph().channel(**id).link().initial() > 0);
        let place = back.map_or("its feedback".to_owned(), |id| self.quoted_channel(*id));
        let help = format!(
            "give {place} more initial items, at least {}, if the algorithm allows it; or merge the nodes of the loop \
             into one",
            nodes.len()
        );
        Finding::new(FindingKind::StarvedLoop, what, evidence, help).at(nodes).through(channels)
    }

    /// The channels between nodes of one component.
    fn inside(&self, nodes: &[NodeId], component: &impl Fn(NodeId) -> usize) -> Vec<ChannelId> {
        let outputs = nodes.iter().flat_map(|node| self.graph().node(*node).outputs().iter());
        let ids = outputs.filter_map(|port| port.channel());
        let inside = |id: &ChannelId| {
            let channel = self.graph().channel(*id);
            component(channel.from().0) == component(channel.to().0)
        };
        ids.filter(inside).collect()
    }
}
