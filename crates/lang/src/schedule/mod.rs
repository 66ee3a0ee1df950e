//! Scheduling: static regions, their repetitions and schedules, and channel capacities.
//!
//! ```text
//!  flat ──net──▶ channel rates ──balance──▶ relative firings ──partition──▶ regions
//!                                     each region ──init, simulate──▶ initialisation, steady state, buffers
//! ```
//!
//! A *steady state* leaves the number of items on each channel within a region unchanged. The *initialisation*
//! before it makes that possible. Channels between regions are queues without a static bound.

mod balance;
mod cursor;
mod init;
mod loops;
mod net;
mod part;
mod partition;
mod ratio;
mod room;
mod sets;
mod simulate;
mod strong;
mod text;

pub use cursor::Cursor;
pub use room::{MAX_HELD, fits};

use crate::Diagnostic;
use crate::flat::{ChannelId, Flat, NodeId};
use crate::tree::Tree;
use net::{ChannelRates, Line};
use part::Part;
use simulate::State;

/// The schedules of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The regions, each after its producers, except across feedback.
    pub regions: Vec<Region>,
    /// For each channel, by id, the most items that it holds if the phases of its region run in order. `None` for a
    /// channel between regions.
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

impl Schedule {
    /// For each node, by id, its region.
    pub fn region_of(&self) -> Vec<usize> {
        let count = self.regions.iter().map(|region| region.nodes.len()).sum();
        let mut region_of = vec![0; count];
        for (number, region) in self.regions.iter().enumerate() {
            region.nodes.iter().for_each(|node| region_of[node.0 as usize] = number);
        }
        region_of
    }
}

/// Schedules a graph.
///
/// # Errors
/// Rates that do not balance, feedback loops with too few items, and numbers that are too large; all errors found,
/// each once.
pub fn schedule(flat: &Flat, tree: &Tree) -> Result<Schedule, Vec<Diagnostic>> {
    let channel_rates = net::channel_rates(flat);
    let lines: Vec<Line> = channel_rates.iter().filter_map(line).collect();
    let balance = balance::balance(flat, &channel_rates, &lines)?;
    let regions = partition::partition(flat.nodes().len(), &channel_rates);
    let mut schedule = Schedule { regions: Vec::new(), buffers: vec![None; flat.channels().len()] };
    let mut errors = Vec::new();
    for (nodes, lines) in with_lines(regions, &lines) {
        let Some(repetitions) = balance.repetitions(&nodes) else {
            errors.push(balance::too_many_firings(flat, nodes[0]));
            continue;
        };
        let prework = nodes.iter().map(|node| has_prework(flat, tree, *node)).collect();
        match region(flat, Part::new(nodes, repetitions, prework, lines), &mut schedule.buffers) {
            Ok(region) => schedule.regions.push(region),
            Err(error) => errors.push(*error),
        }
    }
    if errors.is_empty() { Ok(schedule) } else { Err(errors) }
}

fn line(channel: &ChannelRates) -> Option<Line> {
    if let ChannelRates::Static(line) = channel { Some(*line) } else { None }
}

/// Each region with the lines inside it, renumbered to its nodes.
fn with_lines(regions: Vec<Vec<usize>>, lines: &[Line]) -> Vec<(Vec<usize>, Vec<Line>)> {
    let count = regions.iter().map(Vec::len).sum();
    let mut places = vec![(0, 0); count];
    for (region, nodes) in regions.iter().enumerate() {
        nodes.iter().enumerate().for_each(|(place, node)| places[*node] = (region, place));
    }
    let mut inside = vec![Vec::new(); regions.len()];
    for line in lines {
        let (from, to) = (places[line.from], places[line.to]);
        if from.0 == to.0 {
            inside[from.0].push(Line { from: from.1, to: to.1, ..*line });
        }
    }
    regions.into_iter().zip(inside).collect()
}

fn has_prework(flat: &Flat, tree: &Tree, node: usize) -> bool {
    let Some(filter) = flat.filter(NodeId(node as u32)) else { return false };
    tree.filters.get(filter.0 as usize).is_some_and(|filter| filter.prework.is_some())
}

/// The schedules of one region.
fn region(flat: &Flat, part: Part, buffers: &mut [Option<u64>]) -> Result<Region, Box<Diagnostic>> {
    let (init, steady, most) = phases(&part).map_err(|stuck| loops::explain(flat, &part, stuck))?;
    for (line, most) in part.lines.iter().zip(most) {
        let size = u64::try_from(most).map_err(|_| too_many_items(flat, line.id))?;
        buffers[line.id.0 as usize] = Some(size);
    }
    let nodes = part.nodes.iter().map(|node| NodeId(*node as u32)).collect();
    Ok(Region { nodes, repetitions: part.repetitions, init, steady })
}

/// Initialisation, steady state, and the maximum of items on each line.
type Phases = (Vec<Phase>, Vec<Phase>, Vec<u128>);

fn phases(part: &Part) -> Result<Phases, simulate::Stuck> {
    let mut state = State::new(part);
    let init = init::initialise(part, &mut state)?;
    let steady = state.fire_all(&part.repetitions)?;
    Ok((init, steady, state.most().to_vec()))
}

/// An error at a node.
fn node_error(flat: &Flat, node: usize, message: String) -> Diagnostic {
    Diagnostic::new(flat.span(NodeId(node as u32)), message)
}

fn too_many_items(flat: &Flat, channel: ChannelId) -> Box<Diagnostic> {
    let channel = flat.channel(channel);
    let (from, to) = (&flat.node(channel.from.0).name, &flat.node(channel.to.0).name);
    let message = format!("the channel from `{from}` to `{to}` must hold 2^64 items or more");
    let hint = "choose rates and weights with larger common factors";
    Box::new(node_error(flat, channel.from.0.index(), message).hint(hint))
}
