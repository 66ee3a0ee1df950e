//! Claim lengths and channel capacities.
//!
//! The rule is DANBI's (section IV-A): where a producer generates at most P items at once and a
//! consumer takes at most C at once, a queue holds max(P T, C T) items for T threads, so that all
//! threads can work on it. "At once" is a claim here: a run of firings. We give twice that, one
//! claim in work and one waiting for each thread, because a queue that the paper's speculative
//! scheduling keeps half full (section III-A3, double buffering) must have that much in its half.

use crate::{Raised, Wishes};
use thalweg_graph::{Channel, ChannelId, GraphData, Item, Kind, Node, NodeId, Rate};

/// Items a claim moves at most through a port by default. It spreads the cost of a claim (tens of
/// nanoseconds) thin enough for items of a nanosecond each.
const CLAIM_ITEMS: usize = 512;
/// Bytes a claim moves through a port by default: a part of the first-level cache.
const CLAIM_BYTES: usize = 4 << 10;
/// Claims that a channel has room for, for each thread.
const CLAIMS_PER_THREAD: usize = 2;
/// Bytes of a channel's buffer at most, where single firings need no more.
const CHANNEL_BYTES: usize = 1 << 20;

/// What a firing moves by this rate, a dynamic one counted as one item.
fn at_once(rate: Rate) -> usize {
    rate.fixed().unwrap_or(1) as usize
}

/// Firings of `node` in a claim at most, by default.
pub(crate) fn run(node: &Node) -> usize {
    let inputs = node.inputs.iter().map(|p| (p.item, at_once(p.pop)));
    let outputs = node.outputs.iter().map(|p| (p.item, at_once(p.push)));
    let ports = inputs.chain(outputs).filter(|(_, rate)| *rate > 0);
    ports.map(|(item, rate)| claim_items(item) / rate).min().unwrap_or(1).max(1)
}

fn claim_items(item: Item) -> usize {
    (CLAIM_BYTES / item.bytes.max(1)).clamp(1, CLAIM_ITEMS)
}

/// A channel's rates in items, dynamic ones counted as one.
struct Rates {
    push: usize,
    pop: usize,
    peek: usize,
    initial: usize,
}

impl Rates {
    fn of(graph: &GraphData, channel: &Channel) -> Rates {
        let output = &graph.node(channel.from.0).outputs[channel.from.1];
        let input = &graph.node(channel.to.0).inputs[channel.to.1];
        let pop = at_once(input.pop);
        Rates {
            push: at_once(output.push),
            pop,
            peek: pop.max(input.peek as usize),
            initial: channel.link.initial,
        }
    }

    /// The least capacity with which every single firing fits.
    fn need(&self) -> usize {
        self.peek.max(self.push).max(self.initial).max(1)
    }

    /// Room for two firings of either side, besides what is there from the start.
    fn ease(&self) -> usize {
        let consumer = self.peek.saturating_add(self.pop);
        let producer = self.push.saturating_mul(2);
        consumer.saturating_add(producer).saturating_add(self.initial)
    }
}

/// The least capacity of `channel` with which every single firing fits.
pub(crate) fn need(graph: &GraphData, channel: &Channel) -> usize {
    Rates::of(graph, channel).need()
}

/// All capacities, and those that had to be raised.
pub(crate) struct Sizes {
    pub capacities: Vec<usize>,
    pub raised: Vec<Raised>,
}

/// Sizes every channel of `graph`.
pub(crate) fn capacities(graph: &GraphData, wishes: &Wishes, run: &[usize], threads: usize) -> Sizes {
    let mut sizes = Sizes { capacities: Vec::with_capacity(graph.channels().len()), raised: Vec::new() };
    for id in graph.channel_ids() {
        let channel = graph.channel(id);
        let rates = Rates::of(graph, channel);
        let Some(asked) = channel.link.capacity.or(wishes.capacity) else {
            let rule = if has_process(graph, channel) {
                let fit = PROCESS_BYTES / channel.item.bytes.max(1);
                fit.clamp(PROCESS_LEAST, PROCESS_CHANNEL).max(rates.ease())
            } else {
                by_rule(channel, &rates, run, threads)
            };
            sizes.capacities.push(rule);
            continue;
        };
        let given = asked.max(rates.need());
        if given > asked {
            sizes.raised.push(Raised { channel: id, asked, given });
        }
        sizes.capacities.push(given);
    }
    if let Some(budget) = wishes.budget {
        fit(graph, wishes, budget / 2, &mut sizes.capacities);
    }
    sizes
}

/// By how much a channel may widen.
const WIDER: usize = 16;

/// Slots to allocate for a channel: `capacity`, or more where the run may widen the channel.
///
/// A thread of its own, as a blocking node has, sleeps where its channel is full or empty. How large the channel must
/// be for sleeping to cost little follows from the time that items take, which only the run shows: see `dedicated` in
/// the runtime. Channels for which the user gave a capacity, a budget or weights keep their capacity.
pub fn widest(graph: &GraphData, id: ChannelId, wishes: &Wishes, capacity: usize) -> usize {
    let channel = graph.channel(id);
    let asked = channel.link.capacity.or(wishes.capacity).or(wishes.budget).is_some();
    let own = |node: NodeId| graph.node(node).blocking;
    if asked
        || channel.link.weighed
        || has_process(graph, channel)
        || !(own(channel.from.0) || own(channel.to.0))
    {
        return capacity;
    }
    let most = CHANNEL_BYTES / channel.item.bytes.max(1);
    capacity.saturating_mul(WIDER).min(most).max(capacity)
}

/// Messages a channel of a process holds by default (Nornir, section 5.1).
const PROCESS_CHANNEL: usize = 64;
/// Bytes of such a channel by default, where its messages are large: what goes through it stays in
/// a first-level cache. No fewer than [`PROCESS_LEAST`] messages, so that a switch serves several.
const PROCESS_BYTES: usize = 16 << 10;
/// See [`PROCESS_BYTES`].
const PROCESS_LEAST: usize = 8;

/// Whether a process is at either end.
fn has_process(graph: &GraphData, channel: &Channel) -> bool {
    [channel.from.0, channel.to.0].into_iter().any(|node| graph.node(node).kind == Kind::Process)
}

/// max(P T, C T) within the window from [`Rates::ease`] to [`CHANNEL_BYTES`].
fn by_rule(channel: &Channel, rates: &Rates, run: &[usize], threads: usize) -> usize {
    let produced = rates.push.saturating_mul(run[channel.from.0.index()]);
    let consumed = rates.pop.saturating_mul(run[channel.to.0.index()]).saturating_add(rates.peek - rates.pop);
    let claim = produced.max(consumed);
    let wanted =
        claim.saturating_mul(threads.saturating_mul(CLAIMS_PER_THREAD)).saturating_add(rates.initial);
    let least = rates.ease();
    let most = least.max(CHANNEL_BYTES / channel.item.bytes.max(1));
    wanted.clamp(least, most)
}

/// Shrinks the capacities that no user gave until all buffers together fit into `bytes`, or as far
/// as single firings allow. Callers pass half of a run's budget: the rest is for growth and for
/// what the items point to.
fn fit(graph: &GraphData, wishes: &Wishes, bytes: usize, capacities: &mut [usize]) {
    if wishes.capacity.is_some() {
        return;
    }
    let size = |id: usize, capacity: usize| graph.channels()[id].item.bytes as u128 * capacity as u128;
    let free = |id: usize| graph.channels()[id].link.capacity.is_none();
    let sum = |ours: bool| -> u128 {
        let chosen = capacities.iter().enumerate().filter(|(id, _)| free(*id) == ours);
        chosen.map(|(id, capacity)| size(id, *capacity)).sum()
    };
    let (ours, theirs) = (sum(true), sum(false));
    let left = (bytes as u128).saturating_sub(theirs);
    if ours <= left {
        return;
    }
    for (id, capacity) in capacities.iter_mut().enumerate().filter(|(id, _)| free(*id)) {
        // Cannot overflow: `ours` holds the product of this capacity and its item's size.
        let share = (*capacity as u128).saturating_mul(left) / ours;
        *capacity = (share as usize).max(Rates::of(graph, &graph.channels()[id]).need());
    }
}
