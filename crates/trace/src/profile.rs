//! What the next plan uses of a report.

use crate::{ChannelReport, NodeReport, Report};
use thalweg_graph::NodeId;
use thalweg_plan::{ChannelProfile, NodeProfile, Profile};

impl Report {
    /// The profile of the run, from which [`Plan::with_profile`](thalweg_plan::Plan::with_profile) makes a plan for the
    /// next one. Without time stamps (`Options::untimed`) all busy times are zero, and the plan is that of
    /// [`Plan::new`](thalweg_plan::Plan::new).
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_trace::Report;
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let mut report = Report::new(graph, "auto", 1);
    /// *report.nodes_mut()[0].busy_mut() = Duration::from_millis(3);
    /// assert_eq!(report.profile().nodes()[0].busy(), Duration::from_millis(3));
    /// ```
    pub fn profile(&self) -> Profile {
        let node = |(id, node): (NodeId, &NodeReport)| {
            let profile = NodeProfile::new(node.firings, node.busy).with_state(self.graph.footprint(id));
            let firing = node.service.as_ref().map(|service| &service.firing);
            firing
                .filter(|firing| !firing.is_empty())
                .map_or(profile, |firing| profile.with_variance(firing.variance()))
        };
        let channel = |channel: &ChannelReport| ChannelProfile::new(channel.items, channel.bytes);
        let nodes = self.graph.node_ids().zip(&self.nodes).map(node).collect();
        let channels = self.channels.iter().map(channel).collect();
        Profile::new(self.wall, nodes, channels).of_graph(&self.graph)
    }
}
