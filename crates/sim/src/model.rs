//! Models: a graph, with a cost for each firing and a gain for each port.

use thalweg_graph::{ChannelId, GraphData, InPort, Item, Kind, Link, Node, NodeId, OutPort, Rate};
use thalweg_plan::MAX_CARRIED;
use thalweg_policy::random::mix;

/// Items that a firing moves through a port, on average: `items` in `firings`.
///
/// A whole ratio is a static rate. Any other is a dynamic rate, and its items are spread evenly: after `n` firings
/// `floor(n items / firings)` items have moved. So two ports of the same ratio move an item in the same firings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio {
    /// Items moved by [`Ratio::firings`] firings.
    pub items: u32,
    /// The number of firings that move [`Ratio::items`] items.
    pub firings: u32,
}

impl Ratio {
    /// One item at every firing.
    pub const ONE: Ratio = Ratio { items: 1, firings: 1 };

    /// `items` in `firings`.
    pub fn new(items: u32, firings: u32) -> Ratio {
        Ratio { items, firings: firings.max(1) }
    }

    /// Items that the firing with this ticket moves.
    pub fn at(self, ticket: u64) -> usize {
        let after = |n: u64| n * u64::from(self.items) / u64::from(self.firings);
        (after(ticket + 1) - after(ticket)) as usize
    }

    /// The maximum that one firing moves.
    pub fn max(self) -> usize {
        self.items.div_ceil(self.firings) as usize
    }

    /// The rate that a graph declares for it.
    pub fn rate(self) -> Rate {
        if self.items.is_multiple_of(self.firings) {
            Rate::Static((self.items / self.firings).into())
        } else {
            Rate::Dynamic
        }
    }
}

/// The cost of a firing, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// Equal for all firings.
    Fixed(u64),
    /// From a third of this to ten times this, with few long firings: a bounded Pareto distribution, drawn from the
    /// ticket, so that the cost of a firing is the same under every policy.
    Tailed(u64),
    /// An exponential distribution with this mean, drawn from the ticket. Nodes of different streams have independent costs.
    Exponential {
        /// The mean, in ticks.
        mean: u64,
        /// The number of the stream.
        stream: u64,
    },
    /// Even between `mean - spread` and `mean + spread`, drawn from the ticket.
    Spread {
        /// The mean, in ticks.
        mean: u64,
        /// The greatest difference from it.
        spread: u64,
        /// The number of the stream.
        stream: u64,
    },
}

impl Cost {
    /// The cost of the firing with this ticket.
    pub fn at(self, ticket: u64) -> u64 {
        match self {
            Cost::Fixed(ticks) => ticks,
            Cost::Tailed(ticks) => tailed(ticks as f64, ticket) as u64,
            Cost::Spread { mean, spread, stream } => {
                mean - spread + (unit(mix(stream) ^ ticket) * 2.0 * spread as f64).round() as u64
            }
            Cost::Exponential { mean, stream } => {
                (-(1.0 - unit(mix(stream) ^ ticket)).ln() * mean as f64).round() as u64
            }
        }
    }
}

/// A bounded Pareto distribution of index 1, between a third of `scale` and ten times `scale`.
fn tailed(scale: f64, ticket: u64) -> f64 {
    let (low, high) = (scale / 3.0, scale * 10.0);
    low / (1.0 - unit(ticket) * (1.0 - low / high))
}

/// A number of the interval from 0 to 1, without 1, that is drawn from `seed`.
fn unit(seed: u64) -> f64 {
    (mix(seed) >> 11) as f64 / (1u64 << 53) as f64
}

/// The behaviour of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeModel {
    /// The cost of its firings.
    pub cost: Cost,
    /// Firings of a source before it ends. Other nodes end with their input.
    pub firings: u64,
    /// The firings of each burst of a source with a thread of its own ([`Model::starving`]).
    pub bursts: Vec<u64>,
    /// By input: items popped.
    pub pops: Vec<Ratio>,
    /// By output: items pushed.
    pub pushes: Vec<Ratio>,
}

/// A graph with the numbers that a run in virtual time needs.
#[derive(Clone, Debug)]
pub struct Model {
    /// The graph.
    pub graph: GraphData,
    /// By node: its behaviour.
    pub nodes: Vec<NodeModel>,
    /// The capacity of channels that do not set one.
    pub capacity: usize,
    /// Whether items own memory or are large, so that workers carry them on: see [`Model::heavy`].
    pub heavy: bool,
}

impl Model {
    /// A model without nodes.
    pub fn new() -> Model {
        Model { graph: GraphData::new(), nodes: Vec::new(), capacity: 256, heavy: false }
    }

    /// The same model with another capacity for channels that do not set one.
    pub fn capacity(mut self, items: usize) -> Model {
        self.capacity = items;
        self
    }

    /// The same model with items that own memory, or are large: workers are to carry them on, if the graph has at most
    /// 64 channels. Set [`Settings::transfer`](crate::Settings::transfer) to the cost of moving one.
    pub fn heavy(mut self) -> Model {
        self.heavy = true;
        self
    }

    /// Whether workers are to carry items on.
    pub(crate) fn carries(&self) -> bool {
        self.heavy && (1..=MAX_CARRIED).contains(&self.graph.channels().len())
    }

    /// Adds a sequential source that ends after `firings`.
    pub fn source(&mut self, name: &str, firings: u64, cost: Cost) -> NodeId {
        self.add(Node::sequential(name), firings, cost)
    }

    /// Adds a source with a thread of its own that starves the workers: it publishes items in bursts, and the next
    /// burst arrives when no worker has work. The end of the source is an arrival, too.
    ///
    /// Arrivals come in rounds, until a round makes some node claimable. In round `i` every such source publishes its
    /// burst `i`, in order of node ids; after the last burst of all, each round ends one source. A burst must fit
    /// into the source's channels.
    pub fn starving(&mut self, name: &str, bursts: &[u64]) -> NodeId {
        let id = self.add(Node::sequential(name), bursts.iter().sum(), Cost::Fixed(0));
        *self.graph.node_mut(id).blocking_mut() = true;
        self.nodes[id.index()].bursts = bursts.to_vec();
        id
    }

    /// The arrivals of starving sources: for each round, the sources and the firings of their bursts; 0 firings for
    /// the end.
    pub fn arrivals(&self) -> Vec<Vec<(NodeId, u64)>> {
        let sources = || self.graph.node_ids().filter(|id| self.graph.node(*id).blocking());
        let bursts = |id: NodeId| &self.nodes[id.index()].bursts;
        let rounds = sources().map(|id| bursts(id).len()).max().unwrap_or(0);
        let round = |i: usize| sources().filter_map(move |id| Some((id, *bursts(id).get(i)?))).collect();
        (0..rounds).map(round).chain(sources().map(|id| vec![(id, 0)])).collect()
    }

    /// Adds a sequential node.
    pub fn sequential(&mut self, name: &str, cost: Cost) -> NodeId {
        self.add(Node::sequential(name), 0, cost)
    }

    /// Adds a parallel node.
    pub fn parallel(&mut self, name: &str, cost: Cost) -> NodeId {
        self.add(Node::parallel(name), 0, cost)
    }

    fn add(&mut self, node: Node, firings: u64, cost: Cost) -> NodeId {
        self.nodes.push(NodeModel {
            cost,
            firings,
            bursts: Vec::new(),
            pops: Vec::new(),
            pushes: Vec::new(),
        });
        self.graph.add(node)
    }

    /// Connects two nodes by a channel; a firing pushes, and a firing pops, one item.
    pub fn join(&mut self, from: NodeId, to: NodeId) -> ChannelId {
        self.join_rated((from, Ratio::ONE), (to, Ratio::ONE), Link::default())
    }

    /// Connects two nodes by a channel, with the ratios that a firing pushes and pops.
    pub fn join_rated(
        &mut self,
        (from, push): (NodeId, Ratio),
        (to, pop): (NodeId, Ratio),
        link: Link,
    ) -> ChannelId {
        let item = Item::of::<u64>();
        let out = OutPort::new(format!("out{}", self.nodes[from.index()].pushes.len()), item);
        let inp = InPort::new(format!("in{}", self.nodes[to.index()].pops.len()), item);
        self.graph.node_mut(from).outputs_mut().push(out.with_push(push.rate()));
        self.graph.node_mut(to).inputs_mut().push(inp.with_pop(pop.rate()));
        self.nodes[from.index()].pushes.push(push);
        self.nodes[to.index()].pops.push(pop);
        let ports = (self.nodes[from.index()].pushes.len() - 1, self.nodes[to.index()].pops.len() - 1);
        self.graph.connect((from, ports.0), (to, ports.1), link).expect("both ports are new")
    }

    /// Sets the peek rate of the input that was added last to a node, if it is less.
    pub fn peek(&mut self, node: NodeId, peek: u32) {
        let port = self.graph.node_mut(node).inputs_mut().last_mut().expect("the node has an input");
        *port.peek_mut() = port.peek().max(peek.into());
    }

    /// The capacity of a channel: as set, and at least what one firing at either end, or the initial items, need.
    pub fn capacity_of(&self, id: ChannelId) -> usize {
        let (pop, peek) = self.needs_of(id);
        let set = self.graph.channel(id).link().capacity().unwrap_or(self.capacity);
        self.fitted(id, set.max(pop.saturating_add(peek)))
    }

    /// The capacity `set`, or what one firing at either end of the channel, or its initial items, need.
    pub(crate) fn fitted(&self, id: ChannelId, set: usize) -> usize {
        let channel = self.graph.channel(id);
        let push = self.nodes[channel.from().0.index()].pushes[channel.from().1].max();
        let (pop, peek) = self.needs_of(id);
        set.max(push).max(pop).max(peek).max(channel.link().initial())
    }

    /// The items that a firing of the channel's consumer pops, and those that it peeks at.
    fn needs_of(&self, id: ChannelId) -> (usize, usize) {
        let (node, port) = self.graph.channel(id).to();
        let peek = usize::try_from(self.graph.node(node).inputs()[port].peek()).unwrap_or(usize::MAX);
        (self.nodes[node.index()].pops[port].max(), peek)
    }

    /// Whether a node is parallel.
    pub(crate) fn is_parallel(&self, node: NodeId) -> bool {
        self.graph.node(node).kind() == Kind::Parallel
    }
}

impl Default for Model {
    fn default() -> Model {
        Model::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_spread_evenly() {
        let third = Ratio::new(1, 3);
        let moved: Vec<usize> = (0..6).map(|ticket| third.at(ticket)).collect();
        assert_eq!(moved, [0, 0, 1, 0, 0, 1]);
        assert_eq!((third.max(), third.rate()), (1, Rate::Dynamic));
        assert_eq!((Ratio::new(5, 2).max(), Ratio::new(4, 2).rate()), (3, Rate::Static(2)));
    }

    #[test]
    fn exponential_costs_have_their_mean_and_variance_and_streams_differ() {
        let costs = |stream| (0..100_000).map(move |i| Cost::Exponential { mean: 1000, stream }.at(i) as f64);
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / 100_000.0;
        let (first, second) = (mean(&mut costs(1)), mean(&mut costs(2)));
        let variance = mean(&mut costs(1).map(|cost| (cost - first).powi(2)));
        let covariance = mean(&mut costs(1).zip(costs(2)).map(|(a, b)| (a - first) * (b - second)));
        assert!((first - 1000.0).abs() < 15.0 && (second - 1000.0).abs() < 15.0, "{first}, {second}");
        assert!((variance / 1e6 - 1.0).abs() < 0.05, "{variance}");
        assert!(covariance.abs() / 1e6 < 0.02, "{covariance}");
    }

    #[test]
    fn tailed_costs_stay_within_their_bounds() {
        let costs: Vec<u64> = (0..10_000).map(|ticket| Cost::Tailed(300).at(ticket)).collect();
        assert!(costs.iter().all(|c| (100..=3000).contains(c)));
        let mean = costs.iter().sum::<u64>() / 10_000;
        assert!((320..390).contains(&mean), "{mean}");
    }
}
