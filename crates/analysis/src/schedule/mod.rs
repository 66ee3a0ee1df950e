//! Schedules of static regions: an initialisation, a steady state, and the capacities that they need.
//!
//! ```text
//!  graph ──balance──▶ relative firings ──regions──▶ regions
//!                            each region ──init, state, rounds──▶ initialisation, steady state, buffers
//! ```
//!
//! A *steady state* leaves the number of items on each channel within a region unchanged. The *initialisation* before
//! it makes that possible: it fires what has a first firing of its own, and fills the windows. Channels between regions
//! are queues without a static bound, and are taken to hold what a firing needs.
//!
//! Feedback channels are those against the order of the nodes (`order.rs`): of their ids where that is a data-flow order
//! but for channels marked as feedback.

mod cursor;
mod init;
mod needed;
mod part;
mod rounds;
mod state;
mod text;

pub use cursor::Cursor;

use crate::order::Order;
use crate::rates::rates;
use crate::{Balance, RateFault, regions};
use part::{Line, Part};
use state::{State, Stuck};
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// The schedules of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The regions, each after its producers, except across feedback.
    pub regions: Vec<Region>,
    /// For each channel, by id, the most items that it holds if the phases of its region run in order. `None` for a
    /// channel between regions, and for one that never carries items.
    pub buffers: Vec<Option<u64>>,
}

/// Nodes with a common schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its nodes, in data-flow order.
    pub nodes: Vec<NodeId>,
    /// Firings of each node in a steady state; 0 for nodes that no items reach, behind a weight of 0.
    pub repetitions: Vec<u64>,
    /// The initialisation, executed once before the steady states.
    pub init: Vec<Phase>,
    /// A steady state.
    pub steady: Vec<Phase>,
}

/// A phase of a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Consecutive firings of a node; its very first firing is its `prework`, if it has one.
    Fire(NodeId, u64),
    /// Repeats phases; nested at most twice.
    Repeat(u64, Vec<Phase>),
}

/// Why a graph has no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unschedulable {
    /// The rates of a channel are inconsistent.
    Rates(RateFault),
    /// The node would have to fire 2^64 times or more in a steady state, or another of its region.
    TooManyFirings {
        /// The node.
        node: NodeId,
    },
    /// The nodes of a loop wait for each other.
    Loop {
        /// The feedback channel that lacks items.
        channel: ChannelId,
        /// The least number of initial items with which the region has a schedule. `None` if other loops around or
        /// inside this one lack items too.
        needed: Option<u64>,
    },
    /// The phases are too many to be useful.
    TooLong {
        /// A node of the loop.
        node: NodeId,
    },
    /// The channel would have to hold 2^64 items or more.
    TooManyItems {
        /// The channel.
        channel: ChannelId,
    },
}

impl Schedule {
    /// For each node, by id, its region.
    pub fn region_of(&self) -> Vec<usize> {
        let count = self.regions.iter().map(|region| region.nodes.len()).sum();
        let mut region_of = vec![0; count];
        for (number, region) in self.regions.iter().enumerate() {
            region.nodes.iter().for_each(|node| region_of[node.index()] = number);
        }
        region_of
    }
}

/// Schedules a graph.
///
/// ```
/// use thalweg_analysis::schedule::{Phase, schedule};
/// use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort, Rate};
///
/// let item = Item::of::<u8>();
/// let mut graph = GraphData::new();
/// let source = graph.add(Node::sequential("source").output(OutPort::new("out", item).with_push(Rate::Static(1))));
/// let sum = graph.add(Node::parallel("sum").input(InPort::new("in", item).with_pop(Rate::Static(2)).with_peek(5)));
/// graph.connect((source, 0), (sum, 0), Link::default()).unwrap();
///
/// let schedule = schedule(&graph).unwrap();
/// assert_eq!(schedule.regions[0].init, [Phase::Fire(source, 3)]);
/// assert_eq!(schedule.regions[0].steady, [Phase::Fire(source, 2), Phase::Fire(sum, 1)]);
/// assert_eq!(schedule.buffers, [Some(5)]);
/// ```
///
/// # Errors
/// The faults of the rates; or else, for each region without a schedule, the reason.
pub fn schedule(graph: &GraphData) -> Result<Schedule, Vec<Unschedulable>> {
    let balance = Balance::of(graph);
    if !balance.faults().is_empty() {
        return Err(balance.faults().iter().cloned().map(Unschedulable::Rates).collect());
    }
    let order = Order::of(graph);
    let mut scheduler = Scheduler { graph, position: vec![0; graph.nodes().len()] };
    let mut schedule = Schedule { regions: Vec::new(), buffers: vec![None; graph.channels().len()] };
    let mut errors = Vec::new();
    for region in regions(graph) {
        let mut nodes = region.nodes;
        nodes.sort_by_key(|node| order.place(*node));
        match scheduler.region(&balance, nodes, &region.channels, &mut schedule.buffers) {
            Ok(region) => schedule.regions.push(region),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(schedule) } else { Err(errors) }
}

struct Scheduler<'a> {
    graph: &'a GraphData,
    /// For each node of the region at hand, by id, its place there.
    position: Vec<usize>,
}

impl Scheduler<'_> {
    /// The schedules of one region.
    fn region(
        &mut self,
        balance: &Balance,
        nodes: Vec<NodeId>,
        channels: &[ChannelId],
        buffers: &mut [Option<u64>],
    ) -> Result<Region, Unschedulable> {
        let repetitions = balance.repetitions(&nodes);
        let repetitions = repetitions.ok_or(Unschedulable::TooManyFirings { node: nodes[0] })?;
        let part = self.part(nodes, repetitions, channels);
        let (init, steady, most) = phases(&part).map_err(|stuck| needed::explain(&part, stuck))?;
        for (line, most) in part.lines.iter().zip(most) {
            let size = u64::try_from(most).map_err(|_| Unschedulable::TooManyItems { channel: line.id })?;
            buffers[line.id.index()] = Some(size);
        }
        Ok(Region { nodes: part.nodes, repetitions: part.repetitions, init, steady })
    }

    fn part(&mut self, nodes: Vec<NodeId>, repetitions: Vec<u64>, channels: &[ChannelId]) -> Part {
        nodes.iter().enumerate().for_each(|(place, node)| self.position[node.index()] = place);
        let line = |id: &ChannelId| {
            let channel = self.graph.channel(*id);
            let (from, to) = (channel.from().0.index(), channel.to().0.index());
            let rates = rates(self.graph, *id).expect("a region's channels are static");
            let initial = channel.link().initial() as u64;
            Line { id: *id, from: self.position[from], to: self.position[to], rates, initial }
        };
        let lines = channels.iter().map(line).collect();
        let prework = nodes.iter().map(|node| self.graph.has_prework(*node)).collect();
        Part::new(nodes, repetitions, prework, lines)
    }
}

/// Initialisation, steady state, and the maximum of items on each line.
type Phases = (Vec<Phase>, Vec<Phase>, Vec<u128>);

fn phases(part: &Part) -> Result<Phases, Stuck> {
    let mut state = State::new(part);
    let init = init::initialise(part, &mut state)?;
    let steady = state.fire_all(&part.repetitions)?;
    Ok((init, steady, state.most().to_vec()))
}
