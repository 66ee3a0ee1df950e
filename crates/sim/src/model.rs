//! What a virtual run runs: a graph, with a cost for each firing and a gain for each port.

use thalweg_graph::{ChannelId, GraphData, InPort, Item, Kind, Link, Node, NodeId, OutPort, Rate};
use thalweg_policy::random::mix;

/// Items a firing moves through a port, on average: `items` in `firings`.
///
/// A ratio that is a whole number is a static rate. Another is a dynamic one, here spread evenly:
/// after `n` firings, `floor(n items / firings)` have moved. Two ports of the same ratio so agree
/// on which firings move one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio {
    /// Items ...
    pub items: u32,
    /// ... in so many firings.
    pub firings: u32,
}

impl Ratio {
    /// One item at every firing.
    pub const ONE: Ratio = Ratio { items: 1, firings: 1 };

    /// `items` in `firings`.
    pub fn new(items: u32, firings: u32) -> Ratio {
        Ratio { items, firings: firings.max(1) }
    }

    /// Items that the firing of this ticket moves.
    pub fn at(self, ticket: u64) -> usize {
        let after = |n: u64| n * u64::from(self.items) / u64::from(self.firings);
        (after(ticket + 1) - after(ticket)) as usize
    }

    /// The most that one firing moves.
    pub fn most(self) -> usize {
        self.items.div_ceil(self.firings) as usize
    }

    /// The rate a graph would declare.
    pub fn rate(self) -> Rate {
        if self.items.is_multiple_of(self.firings) {
            Rate::Static(self.items / self.firings)
        } else {
            Rate::Dynamic
        }
    }
}

/// Ticks of one firing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// The same for all.
    Fixed(u64),
    /// From a third to ten times this, few of them long: a bounded Pareto distribution, drawn
    /// from the ticket, so that it is the same under every policy.
    Tailed(u64),
}

impl Cost {
    /// The cost of the firing of this ticket.
    pub fn at(self, ticket: u64) -> u64 {
        match self {
            Cost::Fixed(ticks) => ticks,
            Cost::Tailed(ticks) => tailed(ticks as f64, ticket) as u64,
        }
    }
}

/// Bounded Pareto between a third of `scale` and ten times it, of index 1.
fn tailed(scale: f64, ticket: u64) -> f64 {
    let (low, high) = (scale / 3.0, scale * 10.0);
    let u = (mix(ticket) >> 11) as f64 / (1u64 << 53) as f64;
    low / (1.0 - u * (1.0 - low / high))
}

/// What a node does in a virtual run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeModel {
    /// Ticks of a firing.
    pub cost: Cost,
    /// Firings of a source before it ends; others end with their input.
    pub firings: u64,
    /// Of a source on a thread of its own ([`Model::starving`]): the firings of each burst.
    pub bursts: Vec<u64>,
    /// Items taken, by input.
    pub pops: Vec<Ratio>,
    /// Items given, by output.
    pub pushes: Vec<Ratio>,
}

/// A graph with the numbers a virtual run needs.
#[derive(Clone, Debug)]
pub struct Model {
    /// The graph.
    pub graph: GraphData,
    /// By node.
    pub nodes: Vec<NodeModel>,
    /// Capacity of channels that name none.
    pub capacity: usize,
}

impl Model {
    /// A model without nodes.
    pub fn new() -> Model {
        Model { graph: GraphData::new(), nodes: Vec::new(), capacity: 256 }
    }

    /// The same model with another capacity for channels that name none.
    pub fn capacity(mut self, items: usize) -> Model {
        self.capacity = items;
        self
    }

    /// Adds a sequential source that ends after `firings`.
    pub fn source(&mut self, name: &str, firings: u64, cost: Cost) -> NodeId {
        self.add(Node::sequential(name), firings, cost)
    }

    /// Adds a source on a thread of its own that lets the workers starve: it gives items in bursts,
    /// and the next burst arrives when no worker has anything to do. Its end is an arrival, too.
    ///
    /// Arrivals come in rounds, until a round makes some node claimable: in round `i` every such
    /// source gives its burst `i`, in order of nodes; after the last burst of all, each round ends
    /// one source. A burst must fit into the source's channels.
    pub fn starving(&mut self, name: &str, bursts: &[u64]) -> NodeId {
        let id = self.add(Node::sequential(name), bursts.iter().sum(), Cost::Fixed(0));
        self.graph.node_mut(id).blocking = true;
        self.nodes[id.index()].bursts = bursts.to_vec();
        id
    }

    /// Arrivals of the sources that let the workers starve: for each round, the sources, and the
    /// firings of their bursts; 0 for the end.
    pub fn arrivals(&self) -> Vec<Vec<(NodeId, u64)>> {
        let sources = || self.graph.node_ids().filter(|id| self.graph.node(*id).blocking);
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

    /// Joins two nodes by a channel of one item a firing on both sides.
    pub fn join(&mut self, from: NodeId, to: NodeId) -> ChannelId {
        self.join_rated((from, Ratio::ONE), (to, Ratio::ONE), Link::default())
    }

    /// Joins two nodes by a channel, with what a firing gives and takes.
    pub fn join_rated(
        &mut self,
        (from, push): (NodeId, Ratio),
        (to, pop): (NodeId, Ratio),
        link: Link,
    ) -> ChannelId {
        let item = Item::of::<u64>();
        let out = OutPort::new(format!("out{}", self.nodes[from.index()].pushes.len()), item);
        let inp = InPort::new(format!("in{}", self.nodes[to.index()].pops.len()), item);
        self.graph.node_mut(from).outputs.push(out.push(push.rate()));
        self.graph.node_mut(to).inputs.push(inp.pop(pop.rate()));
        self.nodes[from.index()].pushes.push(push);
        self.nodes[to.index()].pops.push(pop);
        let ports = (self.nodes[from.index()].pushes.len() - 1, self.nodes[to.index()].pops.len() - 1);
        self.graph.connect((from, ports.0), (to, ports.1), link).expect("both ports are new")
    }

    /// Makes the latest input of a node see `peek` items at each firing.
    pub fn peek(&mut self, node: NodeId, peek: u32) {
        let port = self.graph.node_mut(node).inputs.last_mut().expect("the node has an input");
        port.peek = port.peek.max(peek);
    }

    /// The capacity of a channel: as asked, and at least what one firing at either end, or the
    /// initial items, need.
    pub fn capacity_of(&self, id: ChannelId) -> usize {
        let channel = self.graph.channel(id);
        let (from, to) = (channel.from, channel.to);
        let push = self.nodes[from.0.index()].pushes[from.1].most();
        let pop = self.nodes[to.0.index()].pops[to.1].most();
        let peek = self.graph.node(to.0).inputs[to.1].peek as usize;
        let asked = channel.link.capacity.unwrap_or(self.capacity);
        asked.max(push).max(pop + peek).max(channel.link.initial)
    }

    /// Whether firings of a node may overlap.
    pub(crate) fn is_parallel(&self, node: NodeId) -> bool {
        self.graph.node(node).kind == Kind::Parallel
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
        assert_eq!((third.most(), third.rate()), (1, Rate::Dynamic));
        assert_eq!((Ratio::new(5, 2).most(), Ratio::new(4, 2).rate()), (3, Rate::Static(2)));
    }

    #[test]
    fn tailed_costs_keep_their_bounds() {
        let costs: Vec<u64> = (0..10_000).map(|ticket| Cost::Tailed(300).at(ticket)).collect();
        assert!(costs.iter().all(|c| (100..=3000).contains(c)));
        let mean = costs.iter().sum::<u64>() / 10_000;
        assert!((320..390).contains(&mean), "{mean}");
    }
}
