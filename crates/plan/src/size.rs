//! Claim lengths and channel capacities.
//!
//! The rule is DANBI's (section IV-A): where a producer generates at most P items at once and a consumer takes at
//! most C items at once, a queue holds max(P T, C T) items for T threads, so that all threads can work on it. "At
//! once" means a claim here: a run of firings. We allocate twice as much, for each thread one claim in progress
//! and one that waits, because the paper's speculative scheduling keeps a queue half full (section III-A3, double
//! buffering), and so half of the queue must hold that many items.

use crate::{Raised, Wishes};
use thalweg_graph::{Channel, ChannelId, GraphData, Item, Kind, Node, NodeId, Rate};

/// The most items that a claim moves through a port by default. A claim costs tens of nanoseconds, so this amortises
/// the cost even for items that take a nanosecond each.
const CLAIM_ITEMS: usize = 512;
/// The most bytes that a claim moves through a port by default: a part of the first-level cache.
const CLAIM_BYTES: usize = 4 << 10;
/// Claims that a channel has room for, for each thread.
const CLAIMS_PER_THREAD: usize = 2;
/// The most bytes of a channel's buffer, unless a single firing needs more.
const CHANNEL_BYTES: usize = 1 << 20;

/// Items that a firing moves. A dynamic rate counts as one item.
fn items_per_firing(rate: Rate) -> usize {
    rate.fixed().unwrap_or(1) as usize
}

/// The most firings in a claim of `node`, by default.
pub(crate) fn claim_length(node: &Node) -> usize {
    let inputs = node.inputs.iter().map(|p| (p.item, items_per_firing(p.pop)));
    let outputs = node.outputs.iter().map(|p| (p.item, items_per_firing(p.push)));
    let ports = inputs.chain(outputs).filter(|(_, rate)| *rate > 0);
    ports.map(|(item, rate)| claim_items(item) / rate).min().unwrap_or(1).max(1)
}

fn claim_items(item: Item) -> usize {
    (CLAIM_BYTES / item.bytes.max(1)).clamp(1, CLAIM_ITEMS)
}

/// The rates of a channel. A dynamic rate counts as one item.
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
        let pop = items_per_firing(input.pop);
        Rates {
            push: items_per_firing(output.push),
            pop,
            peek: pop.max(input.peek as usize),
            initial: channel.link.initial,
        }
    }

    /// The smallest capacity into which every single firing fits.
    fn min_capacity(&self) -> usize {
        self.peek.max(self.push).max(self.initial).max(1)
    }

    /// The capacity with room for two firings of each side in addition to the initial items.
    fn double_buffered(&self) -> usize {
        let consumer = self.peek.saturating_add(self.pop);
        let producer = self.push.saturating_mul(2);
        consumer.saturating_add(producer).saturating_add(self.initial)
    }
}

/// The smallest capacity of `channel` into which every single firing fits.
pub(crate) fn min_capacity(graph: &GraphData, channel: &Channel) -> usize {
    Rates::of(graph, channel).min_capacity()
}

/// The capacities of all channels, and those set by the user that had to be raised.
pub(crate) struct Sizes {
    pub capacities: Vec<usize>,
    pub raised: Vec<Raised>,
}

/// Chooses the capacity of every channel of `graph`.
pub(crate) fn capacities(graph: &GraphData, wishes: &Wishes, run: &[usize], threads: usize) -> Sizes {
    let mut sizes = Sizes { capacities: Vec::with_capacity(graph.channels().len()), raised: Vec::new() };
    for id in graph.channel_ids() {
        let channel = graph.channel(id);
        let rates = Rates::of(graph, channel);
        let Some(asked) = channel.link.capacity.or(wishes.capacity) else {
            let capacity = if has_process(graph, channel) {
                let fit = PROCESS_BYTES / channel.item.bytes.max(1);
                fit.clamp(PROCESS_MIN_CAPACITY, PROCESS_CAPACITY).max(rates.double_buffered())
            } else {
                kernel_capacity(channel, &rates, run, threads)
            };
            sizes.capacities.push(capacity);
            continue;
        };
        let given = asked.max(rates.min_capacity());
        if given > asked {
            sizes.raised.push(Raised { channel: id, asked, given });
        }
        sizes.capacities.push(given);
    }
    if let Some(budget) = wishes.budget {
        shrink_to(graph, wishes, budget / 2, &mut sizes.capacities);
    }
    sizes
}

/// The factor by which a channel may widen.
const MAX_WIDENING: usize = 16;

/// The capacity up to which the run may widen a channel, which is the number of slots to allocate. It is `capacity`
/// where the run may not widen the channel.
///
/// The dedicated thread of a blocking node sleeps while its channel is full or empty. The capacity with which
/// sleeping costs little depends on the time that items take, which is only known during the run: see `dedicated` in
/// the runtime. A channel keeps its capacity if the user has set a capacity, a budget or a weight.
pub fn max_capacity(graph: &GraphData, id: ChannelId, wishes: &Wishes, capacity: usize) -> usize {
    let channel = graph.channel(id);
    let asked = channel.link.capacity.or(wishes.capacity).or(wishes.budget).is_some();
    let is_dedicated = |node: NodeId| graph.node(node).blocking;
    if asked
        || channel.link.weighed
        || has_process(graph, channel)
        || !(is_dedicated(channel.from.0) || is_dedicated(channel.to.0))
    {
        return capacity;
    }
    let most = CHANNEL_BYTES / channel.item.bytes.max(1);
    capacity.saturating_mul(MAX_WIDENING).min(most).max(capacity)
}

/// Messages that a channel of a process holds by default (Nornir, section 5.1).
const PROCESS_CAPACITY: usize = 64;
/// The most bytes that such a channel holds by default, so that large messages stay in a first-level cache. It holds
/// at least [`PROCESS_MIN_CAPACITY`] messages nevertheless, so that one context switch serves several.
const PROCESS_BYTES: usize = 16 << 10;
/// See [`PROCESS_BYTES`].
const PROCESS_MIN_CAPACITY: usize = 8;

/// Whether one of the ends is a process.
fn has_process(graph: &GraphData, channel: &Channel) -> bool {
    [channel.from.0, channel.to.0].into_iter().any(|node| graph.node(node).kind == Kind::Process)
}

/// The capacity of a channel between kernels: twice max(P T, C T), at least [`Rates::double_buffered`], at most
/// [`CHANNEL_BYTES`].
fn kernel_capacity(channel: &Channel, rates: &Rates, run: &[usize], threads: usize) -> usize {
    let produced = rates.push.saturating_mul(run[channel.from.0.index()]);
    let consumed = rates.pop.saturating_mul(run[channel.to.0.index()]).saturating_add(rates.peek - rates.pop);
    let claim = produced.max(consumed);
    let wanted =
        claim.saturating_mul(threads.saturating_mul(CLAIMS_PER_THREAD)).saturating_add(rates.initial);
    let least = rates.double_buffered();
    let most = least.max(CHANNEL_BYTES / channel.item.bytes.max(1));
    wanted.clamp(least, most)
}

/// Shrinks the capacities that the user has not set until all buffers together fit into `bytes`, or as far as single
/// firings allow. Callers pass half of the run's budget. The other half is for growth and for the heap memory that
/// items own.
fn shrink_to(graph: &GraphData, wishes: &Wishes, bytes: usize, capacities: &mut [usize]) {
    if wishes.capacity.is_some() {
        return;
    }
    let size = |id: usize, capacity: usize| graph.channels()[id].item.bytes as u128 * capacity as u128;
    let is_chosen = |id: usize| graph.channels()[id].link.capacity.is_none();
    let sum = |chosen: bool| -> u128 {
        let channels = capacities.iter().enumerate().filter(|(id, _)| is_chosen(*id) == chosen);
        channels.map(|(id, capacity)| size(id, *capacity)).sum()
    };
    let (chosen, set_by_user) = (sum(true), sum(false));
    let left = (bytes as u128).saturating_sub(set_by_user);
    if chosen <= left {
        return;
    }
    for (id, capacity) in capacities.iter_mut().enumerate().filter(|(id, _)| is_chosen(*id)) {
        // The result fits into `usize`: `left` is less than `chosen` here, so `share` is at most `capacity`.
        let share = (*capacity as u128).saturating_mul(left) / chosen;
        *capacity = (share as usize).max(Rates::of(graph, &graph.channels()[id]).min_capacity());
    }
}
