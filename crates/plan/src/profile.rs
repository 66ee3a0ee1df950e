//! What runs have measured, as far as a plan or a model uses it.

use crate::Fingerprint;
use std::fmt;
use std::time::Duration;
use thalweg_analysis::Balance;
use thalweg_graph::{Channel, Footprint, GraphData, NodeId, Rate, shown};

/// The measurements of one or several runs of a graph, by node and channel: plain data, from which
/// [`Plan::with_profile`](crate::Plan::with_profile) makes the next plan. A report makes one (`Report::profile`).
///
/// Entries that are missing count as zero, so the profile of another graph leads to a bad plan and never to a wrong
/// one.
///
/// ```
/// use std::time::Duration;
/// use thalweg_plan::{NodeProfile, Profile};
///
/// let run = |firings, ms, variance| {
///     let node = NodeProfile::new(firings, Duration::from_millis(ms)).with_variance(variance);
///     Profile::new(Duration::from_millis(ms), vec![node], Vec::new())
/// };
/// // 1000 firings of 1 us that take equally long, and 1000 of 3 us.
/// let mut both = run(1000, 1, 0.0);
/// both.merge(&run(1000, 3, 0.0))?;
/// let node = both.nodes()[0];
/// assert_eq!((node.firings(), node.mean_ns(), node.variance()), (2000, 2000.0, Some(1e6)));
/// # Ok::<(), thalweg_plan::OtherGraph>(())
/// ```
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Profile {
    graph: Fingerprint,
    wall: Duration,
    nodes: Vec<NodeProfile>,
    channels: Vec<ChannelProfile>,
}

/// The measurements of a node.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct NodeProfile {
    firings: u64,
    busy: Duration,
    variance: Option<f64>,
    state: Footprint,
}

/// The measurements of a channel.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct ChannelProfile {
    items: u64,
    bytes: u64,
}

impl Profile {
    /// The profile of a run that took `wall`: nodes and channels by their ids.
    pub fn new(wall: Duration, nodes: Vec<NodeProfile>, channels: Vec<ChannelProfile>) -> Profile {
        Profile { graph: Fingerprint::default(), wall, nodes, channels }
    }

    /// The same measurements, as those of this graph: [`merge`](Self::merge) refuses those of another one.
    pub fn of_graph(self, graph: &GraphData) -> Profile {
        Profile { graph: Fingerprint::of(graph), ..self }
    }

    /// Wall time, summed over the runs.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// The nodes, by id.
    pub fn nodes(&self) -> &[NodeProfile] {
        &self.nodes
    }

    /// The channels, by id.
    pub fn channels(&self) -> &[ChannelProfile] {
        &self.channels
    }

    /// Adds the measurements of another run of the graph.
    ///
    /// # Errors
    /// The other profile is of another graph; this one has not changed.
    pub fn merge(&mut self, other: &Profile) -> Result<(), OtherGraph> {
        if self.graph != other.graph {
            return Err(OtherGraph { first: self.graph, second: other.graph });
        }
        self.wall = self.wall.saturating_add(other.wall);
        self.nodes.resize(self.nodes.len().max(other.nodes.len()), NodeProfile::default());
        self.channels.resize(self.channels.len().max(other.channels.len()), ChannelProfile::default());
        self.nodes.iter_mut().zip(&other.nodes).for_each(|(node, more)| *node = node.and(more));
        for (channel, more) in self.channels.iter_mut().zip(&other.channels) {
            channel.items = channel.items.saturating_add(more.items);
            channel.bytes = channel.bytes.saturating_add(more.bytes);
        }
        Ok(())
    }

    /// The profile of a graph that never ran, from what it declares: one steady state of each part that static rates relate,
    /// with the declared times.
    ///
    /// # Errors
    /// A node declares no time, or the firings do not follow from the rates.
    pub fn declared(graph: &GraphData) -> Result<Profile, Undeclared> {
        let undeclared = |id: &NodeId| graph.declared_time(*id).is_none();
        if let Some(node) = graph.node_ids().find(undeclared) {
            return Err(Undeclared::Time { node: graph.node(node).name().to_string() });
        }
        let dynamic = graph.channel_ids().find(|id| {
            let (from, to) = (graph.channel(*id).from(), graph.channel(*id).to());
            let rates = [graph.node(from.0).outputs()[from.1].push(), graph.node(to.0).inputs()[to.1].pop()];
            rates.contains(&Rate::Dynamic)
        });
        if let Some(channel) = dynamic {
            return Err(Undeclared::Rate { channel: graph.channel_name(channel) });
        }
        steady_state(graph).ok_or(Undeclared::Unbalanced)
    }

    /// The busy time of a node, in nanoseconds; 0 if the profile lacks the node.
    pub(crate) fn busy_ns(&self, node: usize) -> u64 {
        let busy = self.nodes.get(node).map_or(Duration::ZERO, |node| node.busy);
        u64::try_from(busy.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl NodeProfile {
    /// A node that has fired this often, for this time in its code, summed over all workers.
    pub fn new(firings: u64, busy: Duration) -> NodeProfile {
        NodeProfile { firings, busy, variance: None, state: Footprint::default() }
    }

    /// Sets what is known of the memory that the firings use again and again.
    pub fn with_state(self, state: Footprint) -> NodeProfile {
        NodeProfile { state, ..self }
    }

    /// What is known of the memory that the firings use again and again.
    pub fn state(&self) -> Footprint {
        self.state
    }

    /// Sets the variance of the time of a firing, in square nanoseconds. One that is negative or no number is none.
    pub fn with_variance(mut self, variance: f64) -> NodeProfile {
        self.variance = (variance >= 0.0 && variance.is_finite()).then_some(variance);
        self
    }

    /// Firings done.
    pub fn firings(&self) -> u64 {
        self.firings
    }

    /// Time in the node's code, summed over all workers.
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// The mean time of a firing, in nanoseconds; 0 if there was none.
    pub fn mean_ns(&self) -> f64 {
        if self.firings == 0 { 0.0 } else { self.busy.as_secs_f64() * 1e9 / self.firings as f64 }
    }

    /// The variance of the time of a firing, in square nanoseconds, if firings were measured one by one. Firings shorter than
    /// 100 ns are measured in blocks; of those it is the variance of a block's mean.
    pub fn variance(&self) -> Option<f64> {
        self.variance
    }

    /// Both nodes' firings together.
    fn and(&self, other: &NodeProfile) -> NodeProfile {
        let firings = self.firings.saturating_add(other.firings);
        let both = NodeProfile::new(firings, self.busy.saturating_add(other.busy))
            .with_state(self.state.max(other.state));
        let squares = |node: &NodeProfile| {
            let of_one = node.variance? + node.mean_ns().powi(2);
            (node.firings > 0).then_some((of_one * node.firings as f64, node.firings as f64))
        };
        match (squares(self), squares(other)) {
            (Some((a, n)), Some((b, m))) => {
                both.with_variance(((a + b) / (n + m) - both.mean_ns().powi(2)).max(0.0))
            }
            // The firings of one profile alone were measured one by one: its variance stands for both.
            (Some(_), None) => NodeProfile { variance: self.variance, ..both },
            (None, _) => NodeProfile { variance: other.variance, ..both },
        }
    }
}

impl ChannelProfile {
    /// A channel that has carried these items, of this many bytes together.
    pub fn new(items: u64, bytes: u64) -> ChannelProfile {
        ChannelProfile { items, bytes }
    }

    /// Items published.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// Their bytes: by the user's weight function if there is one, otherwise by the size of the type.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// One steady state of a graph whose times and rates are all declared. `None` if there is none, or a number is too large.
fn steady_state(graph: &GraphData) -> Option<Profile> {
    let nodes: Vec<NodeId> = graph.node_ids().collect();
    let balance = Balance::of(graph);
    let firings = balance.repetitions(&nodes).filter(|_| balance.faults().is_empty())?;
    let node = |id: &NodeId| {
        let times = u32::try_from(firings[id.index()]).ok()?;
        let busy = graph.declared_time(*id)?.checked_mul(times)?;
        Some(NodeProfile::new(times.into(), busy).with_state(graph.footprint(*id)))
    };
    let channel = |channel: &Channel| {
        let (from, port) = channel.from();
        let push = graph.node(from).outputs()[port].push().fixed()?;
        let items = push.checked_mul(firings[from.index()])?;
        Some(ChannelProfile::new(items, items.checked_mul(channel.item().bytes() as u64)?))
    };
    let channels = graph.channels().iter().map(channel).collect::<Option<_>>()?;
    let nodes = nodes.iter().map(node).collect::<Option<_>>()?;
    Some(Profile::new(Duration::ZERO, nodes, channels).of_graph(graph))
}

/// Why [`Profile::declared`] makes no profile.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undeclared {
    /// A node does not declare the time of a firing.
    Time {
        /// Its name.
        node: String,
    },
    /// The items of a channel do not follow from the rates of its ends.
    Rate {
        /// Its name.
        channel: String,
    },
    /// The rates contradict each other, or a steady state has more firings than can be counted.
    Unbalanced,
}

impl fmt::Display for Undeclared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undeclared::Time { node } => write!(
                f,
                "node `{}` declares no time of a firing\nhelp: declare it with `firing_time`",
                shown(node)
            ),
            Undeclared::Rate { channel } => write!(
                f,
                "channel `{}` has a dynamic rate\nhelp: declare `push` and `pop` of its ends",
                shown(channel)
            ),
            Undeclared::Unbalanced => {
                f.write_str("the rates have no steady state, or one of too many firings")
            }
        }
    }
}

thalweg_graph::error_type!(Undeclared);

/// Two profiles are of different graphs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OtherGraph {
    first: Fingerprint,
    second: Fingerprint,
}

impl fmt::Display for OtherGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the runs are of different graphs: {} and {}", self.first, self.second)
    }
}

thalweg_graph::error_type!(OtherGraph);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_equals_measuring_all_firings() {
        let (few, many) = ([100.0, 300.0], [200.0, 200.0, 500.0]);
        let of = |times: &[f64]| {
            let (n, sum) = (times.len() as f64, times.iter().sum::<f64>());
            let variance = times.iter().map(|time| (time - sum / n).powi(2)).sum::<f64>() / n;
            NodeProfile::new(times.len() as u64, Duration::from_nanos(sum as u64)).with_variance(variance)
        };
        let (all, merged) = (of(&[&few[..], &many].concat()), of(&few).and(&of(&many)));
        assert_eq!((merged.firings, merged.busy), (all.firings, all.busy));
        let (variance, expected) = (merged.variance.unwrap(), all.variance.unwrap());
        assert!((variance - expected).abs() < 1e-6, "{variance} {expected}");
    }

    #[test]
    fn what_one_run_lacks_the_other_has() {
        let (none, measured) =
            (NodeProfile::default(), NodeProfile::new(2, Duration::from_nanos(8)).with_variance(3.0));
        for merged in [none.and(&measured), measured.and(&none)] {
            assert_eq!(merged, measured);
        }
        assert_eq!(measured.with_variance(f64::NAN).variance, None);
        let mut few = Profile::default();
        few.merge(&Profile::new(Duration::ZERO, vec![measured], vec![ChannelProfile::new(1, 8)])).unwrap();
        assert_eq!((few.nodes(), few.channels()), (&[measured][..], &[ChannelProfile::new(1, 8)][..]));
    }

    #[test]
    fn what_a_graph_does_not_declare_is_named() {
        use thalweg_graph::{InPort, Item, Link, Node, OutPort};
        let item = Item::of::<u64>();
        let graph = |push, pops: [u32; 2], times: usize| {
            let mut graph = GraphData::new();
            let push = |name| OutPort::new(name, item).with_push(push);
            let source = graph.add(Node::sequential("source").output(push("a")).output(push("b")));
            let inputs = [("a", pops[0]), ("b", pops[1])];
            let input =
                |(name, pop): (&'static str, u32)| InPort::new(name, item).with_pop(Rate::Static(pop.into()));
            let join = Node::sequential("join").input(input(inputs[0])).input(input(inputs[1]));
            let join = graph.add(join);
            (0..2).for_each(|at| _ = graph.connect((source, at), (join, at), Link::default()).unwrap());
            [source, join][..times]
                .iter()
                .for_each(|node| graph.declare_time(*node, Duration::from_nanos(5)));
            Profile::declared(&graph)
        };
        let one = Rate::Static(1);
        assert_eq!(graph(one, [1, 1], 2).unwrap().channels()[1], ChannelProfile::new(1, 8));
        assert_eq!(graph(one, [1, 1], 1), Err(Undeclared::Time { node: "join".into() }));
        let channel = "source.a -> join.a".into();
        assert_eq!(graph(Rate::Dynamic, [1, 1], 2), Err(Undeclared::Rate { channel }));
        assert_eq!(graph(one, [1, 2], 2), Err(Undeclared::Unbalanced));
    }

    #[test]
    fn a_profile_of_another_graph_is_refused() {
        let mut graph = GraphData::new();
        graph.add(thalweg_graph::Node::sequential("clock"));
        let mut profile = Profile::default().of_graph(&graph);
        let before = profile.clone();
        let error = profile.merge(&Profile::default()).unwrap_err().to_string();
        assert!(error.contains("different graphs"), "{error}");
        assert_eq!(profile, before);
    }
}
