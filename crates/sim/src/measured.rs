//! The model of a graph that has run, or that declares its times.

use crate::{Cost, Model, NodeModel, Ratio};
use thalweg_analysis::gcd;
use thalweg_graph::{ChannelId, GraphData, NodeId, Rate};
use thalweg_plan::Profile;

impl Model {
    /// The model of a graph with the times of a profile: each firing takes its node's mean, in nanoseconds for ticks, and a source
    /// fires as often as there. A port of dynamic rate moves the profile's items, evenly spread over the node's firings. What the
    /// profile lacks takes no time.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_plan::{ChannelProfile, NodeProfile, Profile};
    /// use thalweg_sim::{Model, Settings, run, shapes};
    ///
    /// let graph = shapes::chain(2, 1).graph;
    /// let node = NodeProfile::new(1000, Duration::from_micros(50));
    /// let channel = ChannelProfile::new(1000, 8000);
    /// let model = Model::of_profile(&graph, &Profile::new(Duration::ZERO, vec![node; 2], vec![channel]));
    /// let report = run(&thalweg_policy::Auto, &model, &Settings::default()).unwrap();
    /// assert_eq!((report.firings, report.busy), (vec![1000; 2], vec![100_000]));
    /// ```
    pub fn of_profile(graph: &GraphData, profile: &Profile) -> Model {
        let nodes = graph.node_ids().map(|id| behaviour(graph, profile, id)).collect();
        Model { graph: graph.clone(), nodes, ..Model::new() }
    }
}

fn behaviour(graph: &GraphData, profile: &Profile, id: NodeId) -> NodeModel {
    let (node, measured) = (graph.node(id), profile.nodes().get(id.index()).copied().unwrap_or_default());
    let moved = |rate: Rate, channel: Option<ChannelId>| match rate {
        Rate::Static(items) => Ratio::new(u32::try_from(items).unwrap_or(u32::MAX), 1),
        Rate::Dynamic => {
            let carried = channel.and_then(|id| profile.channels().get(id.index()));
            ratio(carried.map_or(0, |channel| channel.items()), measured.firings())
        }
    };
    NodeModel {
        cost: Cost::Fixed(measured.mean_ns().round() as u64),
        firings: measured.firings(),
        bursts: Vec::new(),
        pops: node.inputs().iter().map(|port| moved(port.pop(), port.channel())).collect(),
        pushes: node.outputs().iter().map(|port| moved(port.push(), port.channel())).collect(),
    }
}

/// These items in these firings, rounded where 32 bits do not hold both.
fn ratio(items: u64, firings: u64) -> Ratio {
    let divisor = gcd(items, firings).max(1);
    let (items, firings) = (items / divisor, firings / divisor);
    let shift = 32_u32.saturating_sub((items | firings).leading_zeros());
    Ratio::new((items >> shift) as u32, (firings >> shift) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_fit_into_32_bits() {
        assert_eq!(ratio(6, 4), Ratio::new(3, 2));
        assert_eq!(ratio(0, 0), Ratio::new(0, 1));
        let large = ratio(3 << 40 | 1, 1 << 40);
        assert_eq!(large.items / large.firings, 3);
    }
}
