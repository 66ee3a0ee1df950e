//! Channel capacities.
//!
//! The rule is DANBI's (section IV-A): where a producer generates at most P items at once and a consumer takes at
//! most C items at once, a queue holds max(P T, C T) items for T threads, so that all threads can work on it. "At
//! once" means a claim here: a run of firings. We allocate twice as much, for each thread one claim in progress
//! and one that waits, because the paper's speculative scheduling keeps a queue half full (section III-A3, double
//! buffering), and so half of the queue must hold that many items.

use super::Given;
use super::cache::first_level;
use crate::wishes::Capacity;
use crate::{Plan, Raised, Wishes};
use thalweg_graph::{Channel, GraphData, Kind, Rate};

/// Maximum number of channels of a graph whose workers carry items on: a worker that takes new input looks at all of them.
pub const MAX_CARRIED: usize = 64;
/// Claims that a channel has room for, for each thread.
const CLAIMS_PER_THREAD: usize = 2;
/// The most bytes of a channel's buffer, unless a single firing needs more.
pub(crate) const CHANNEL_BYTES: usize = 1 << 20;

/// Items that a firing moves. A dynamic rate counts as one item.
pub(crate) fn items_per_firing(rate: Rate) -> usize {
    rate.fixed().map_or(1, items)
}

/// A number of items. The largest where it exceeds what this machine counts: no capacity is then enough.
fn items(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
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
        let output = &graph.node(channel.from().0).outputs()[channel.from().1];
        let input = &graph.node(channel.to().0).inputs()[channel.to().1];
        let pop = items_per_firing(input.pop());
        Rates {
            push: items_per_firing(output.push()),
            pop,
            peek: pop.max(items(input.peek())),
            initial: channel.link().initial(),
        }
    }

    /// With room for the most items that a firing with a dynamic rate may pop, if that is declared and they take at most
    /// [`CHANNEL_BYTES`]. A channel with less room grows when the firing needs it, by a search for deadlocks.
    fn with_bounds(self, graph: &GraphData, channel: &Channel) -> Rates {
        let (node, port) = channel.to();
        let bounds = graph.node(node).inputs()[port].bounds();
        let Some(most) = bounds.and_then(|bounds| bounds.most()) else { return self };
        let most = items(most);
        let fits = most <= CHANNEL_BYTES / channel.item().bytes().max(1);
        Rates { peek: if fits { self.peek.max(most) } else { self.peek }, ..self }
    }

    /// The smallest capacity into which every single firing fits.
    fn min_capacity(&self) -> usize {
        self.peek.max(self.push).max(self.initial).max(1)
    }

    /// `factor` times the items of a firing of each thread, at least those of one firing.
    fn firings_per_thread(&self, factor: f64, threads: usize) -> usize {
        let firings = self.push.max(self.pop).saturating_mul(threads);
        ((firings as f64 * factor).ceil() as usize).max(self.min_capacity()) // saturates
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

/// The capacity with which a channel of items that own memory begins: room for `firings` firings of either end, and for
/// two of each, besides the initial items.
pub(super) fn first_room(graph: &GraphData, channel: &Channel, firings: usize) -> usize {
    let rates = Rates::of(graph, channel).with_bounds(graph, channel);
    let claims = rates.push.max(rates.pop).saturating_mul(firings).saturating_add(rates.initial);
    rates.double_buffered().max(claims)
}

/// Chooses the capacity of every channel, and says which capacities set by the user had to be raised.
pub(super) fn decide(given: &Given<'_>, so_far: &Plan) -> (Vec<usize>, Vec<Raised>) {
    let Given { graph, wishes, .. } = *given;
    if given.units.is_some() {
        // The compiler sizes buffers.
        let least = graph.channels().iter().map(|channel| min_capacity(graph, channel));
        return (least.collect(), Vec::new());
    }
    let (claims, threads) = (&so_far.claim_lengths, so_far.threads);
    let mut raised = Vec::new();
    let mut capacities = Vec::with_capacity(graph.channels().len());
    for id in graph.channel_ids() {
        let channel = graph.channel(id);
        let rates = Rates::of(graph, channel);
        let wish = || {
            wishes.capacity.map(|wish| match wish {
                Capacity::Items(items) => items,
                Capacity::Firings(factor) => rates.firings_per_thread(factor, threads),
            })
        };
        let Some(asked) = channel.link().capacity().or_else(wish) else {
            let rates = rates.with_bounds(graph, channel);
            let capacity = if has_process(graph, channel) {
                let fit = first_level(wishes) / CACHE_PARTS / channel.item().bytes().max(1);
                let carries = graph.channels().len() <= MAX_CARRIED;
                let most = if carries { CARRIED_CAPACITY } else { PROCESS_CAPACITY };
                fit.clamp(PROCESS_MIN_CAPACITY, most).max(rates.double_buffered())
            } else {
                kernel_capacity(channel, &rates, claims, threads)
            };
            capacities.push(capacity);
            continue;
        };
        let given = asked.max(rates.min_capacity());
        if given > asked {
            raised.push(Raised { channel: id, asked, given });
        }
        capacities.push(given);
    }
    if let Some(budget) = wishes.budget {
        shrink_to(graph, wishes, budget / 2, &mut capacities);
    }
    (capacities, raised)
}

/// Messages that a channel of a process holds by default (Nornir, section 5.1).
const PROCESS_CAPACITY: usize = 64;
/// The same where workers carry items on: a batch of one worker, and the next one. With 64 messages of 90 bytes, three
/// processes on two threads took 1.1 to 1.35 times as long; with 512 or 1024 as long.
const CARRIED_CAPACITY: usize = 256;
/// The part of the first-level cache that such a channel holds by default, as a divisor (16 KiB of 32), so that large
/// messages stay in the cache. It holds at least [`PROCESS_MIN_CAPACITY`] messages nevertheless, so that one context switch
/// serves several.
const CACHE_PARTS: usize = 2;
/// See [`CACHE_PARTS`].
const PROCESS_MIN_CAPACITY: usize = 8;

/// Whether one of the ends is a process.
pub(crate) fn has_process(graph: &GraphData, channel: &Channel) -> bool {
    [channel.from().0, channel.to().0].into_iter().any(|node| graph.node(node).kind() == Kind::Process)
}

/// The capacity of a channel between kernels: twice max(P T, C T), at least [`Rates::double_buffered`], at most
/// [`CHANNEL_BYTES`].
fn kernel_capacity(channel: &Channel, rates: &Rates, claims: &[usize], threads: usize) -> usize {
    let produced = rates.push.saturating_mul(claims[channel.from().0.index()]);
    let consumed =
        rates.pop.saturating_mul(claims[channel.to().0.index()]).saturating_add(rates.peek - rates.pop);
    let claim = produced.max(consumed);
    let wanted =
        claim.saturating_mul(threads.saturating_mul(CLAIMS_PER_THREAD)).saturating_add(rates.initial);
    let least = rates.double_buffered();
    let most = least.max(CHANNEL_BYTES / channel.item().bytes().max(1));
    wanted.clamp(least, most)
}

/// Shrinks the capacities that the user has not set until all buffers together fit into `bytes`, or as far as single
/// firings allow. Callers pass half of the run's budget. The other half is for growth and for the heap memory that
/// items own.
fn shrink_to(graph: &GraphData, wishes: &Wishes, bytes: usize, capacities: &mut [usize]) {
    if wishes.capacity.is_some() {
        return;
    }
    let size = |id: usize, capacity: usize| graph.channels()[id].item().bytes() as u128 * capacity as u128;
    let is_chosen = |id: usize| graph.channels()[id].link().capacity().is_none();
    let sum = |chosen: bool| -> u128 {
        let channels = capacities.iter().enumerate().filter(|(id, _)| is_chosen(*id) == chosen);
        channels.map(|(id, capacity)| size(id, *capacity)).fold(0, u128::saturating_add)
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
