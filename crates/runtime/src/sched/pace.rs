//! The length of an activation.
//!
//! A node's `pace` is the smoothed time of a firing; its `batch` follows from the pace and holds the two limits of an
//! activation: the *budget*, in firings, and the *slice*, the firings after which it publishes. Workers write both
//! `Relaxed` and may overwrite each other: any value is a valid limit. `batch` packs the limits into one word, so that
//! a reader gets two that belong together.
//!
//! Where workers carry items on, an activation also ends where the items of another worker begin, a sequential node publishes
//! once in an activation, and a batch is at most what a parallel consumer takes in one claim.

use crate::measure::clock::Ticks;
use crate::net::{ActivationContext, NodeCell};
use crate::sched::widen;
use crate::sched::width::LONG_FIRING_NS;
use crate::sched::worker::Worker;
use crate::sync::Ordering;
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_policy::Policy;
use thalweg_policy::auto::batch_limit;

/// The target time of an activation of a sequential node, in nanoseconds.
const ACTIVATION_NS: u64 = 50_000;
/// The target time after which an activation of a sequential node publishes, in nanoseconds.
const SLICE_NS: u64 = 15_000;
/// The target time of a claim of a parallel node, in nanoseconds.
const CLAIM_NS: u64 = 60_000;
/// The least target time of a claim of a parallel node, in nanoseconds. A shorter one costs more than it gains, however
/// few items there are to share.
const MIN_CLAIM_NS: u64 = 5_000;
/// How an activation's length is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// By the measured time of a firing.
    Timed,
    /// By count, without a clock, so that a run of one worker can be repeated exactly.
    Counted,
}

impl<P: Policy> Worker<'_, P> {
    /// The budget of the node's next activation, and its slice: see the documentation of the module. In firings.
    #[inline]
    pub(crate) fn batch(&self, cell: &NodeCell<'_>, node: NodeId) -> (usize, usize) {
        let (budget, slice) = self.batch_of_any(cell, node);
        if self.config.shares && cell.kind == Kind::Parallel {
            let slice = self.host.net.topology.plan.claim_for(node, self.host.worker, slice);
            return (budget, slice);
        }
        (budget, slice)
    }

    /// [`Worker::batch`], of whichever worker.
    #[inline]
    fn batch_of_any(&self, cell: &NodeCell<'_>, node: NodeId) -> (usize, usize) {
        match cell.state.batch.load(Ordering::Relaxed) {
            0 => self.first_batch(cell, node),
            batch => {
                let (budget, slice) = ((batch >> 32) as usize, (batch & u64::from(u32::MAX)) as usize);
                let is_parallel = cell.kind == Kind::Parallel;
                let slice = match self.config.shares && is_parallel {
                    true => self.host.net.topology.plan.longest_claim(node, slice),
                    false => slice,
                };
                let divides = is_parallel && !self.host.carries;
                (budget, if divides { self.claim_size(cell, node, slice) } else { slice })
            }
        }
    }

    /// The maximum number of firings of a claim of a parallel node: half of a worker's equal share of the items that have arrived,
    /// so that all workers end at about the same time, but no less than [`MIN_CLAIM_NS`] of work. This is guided
    /// self-scheduling (Polychronopoulos and Kuck, 1987) with half of its share.
    #[inline(never)] // once for a claim; inlined it would slow the activations of processes
    fn claim_size(&self, cell: &NodeCell<'_>, node: NodeId, slice: usize) -> usize {
        let pace = u64::from(cell.state.pace.load(Ordering::Relaxed));
        let net = self.host.net;
        let least = MIN_CLAIM_NS * 16 / pace.max(1);
        if self.config.pace == Pace::Counted || slice as u64 <= least {
            return slice;
        }
        let items = net.inputs(node).iter().map(|input| net.meter(*input).items()).min();
        let workers = net.sleep.pools().map_or(net.threads(), |pools| pools.size_of(node.index()));
        let share = items.map_or(usize::MAX, |items| items / (2 * workers.max(1)));
        slice.min(share.max(least as usize)).max(1)
    }

    /// The limits of a node that has no `batch` yet: one firing, to measure its pace; or by the plan, without a clock.
    #[cold]
    #[inline(never)]
    fn first_batch(&self, cell: &NodeCell<'_>, node: NodeId) -> (usize, usize) {
        if self.config.pace == Pace::Timed {
            return (1, 1);
        }
        let (plan, graph) = (&self.host.net.topology.plan, &self.host.net.topology.graph);
        let claim = |node: NodeId| plan.claim_lengths()[node.index()].clamp(1, 1 << 29);
        let mut budget = (claim(node) * 4).min(plan.batch().max(1));
        let mut slice = claim(node).min(budget);
        if self.host.carries {
            let limit = batch_limit(graph, node, |consumer| Some(claim(consumer) as u64));
            slice = slice.min(usize::try_from(limit).unwrap_or(usize::MAX));
            budget = if cell.kind == Kind::Sequential { slice } else { budget };
        }
        cell.state.batch.store((budget as u64) << 32 | slice as u64, Ordering::Relaxed);
        (budget, slice)
    }

    /// Updates the node's pace, in sixteenths of a nanosecond for each firing, and the limits that follow from it.
    ///
    /// In a dilated run the pace is that of the firings alone, so claims are as long as in another run.
    ///
    /// The new pace is three parts old and one part measured. A measurement counts for at most eight times the old
    /// pace, so an outlier raises the pace by less than a factor of 3.
    #[cold]
    pub(super) fn set_pace(&self, cell: &NodeCell<'_>, cx: &ActivationContext<'_>, spent: Ticks) {
        let state = &cell.state;
        let spent = spent.saturating_sub(cx.slept());
        let each = ((spent as f64 / self.ticks_per_ns) * 16.0 / cx.fired as f64) as u64 + 1;
        let old = u64::from(state.pace.load(Ordering::Relaxed));
        let pace = if old == 0 { each } else { (old * 3 + each.min(old * 8)) / 4 }.max(1);
        state.pace.store(pace.min(u64::from(u32::MAX)) as u32, Ordering::Relaxed);
        // Of an activation that is long as a whole: what precedes a firing counts for it, and so do the caches that its first
        // ones fill.
        let is_long = spent as f64 >= 10.0 * LONG_FIRING_NS as f64 * self.ticks_per_ns;
        if is_long && each.min(old) >= LONG_FIRING_NS * 16 && self.config.adapts {
            cx.net.sleep.widen();
        }
        let plan = &cx.net.topology.plan;
        let claim = (plan.claim_lengths()[cx.node.index()] as u64).clamp(1, u64::from(u32::MAX));
        let batch = (plan.batch() as u64).clamp(1, u64::from(u32::MAX));
        let budget = (ACTIVATION_NS * 16 / pace).clamp(1, batch);
        let time = if cell.kind == Kind::Parallel { CLAIM_NS } else { SLICE_NS };
        // A worker that carries its items on has them in its cache for the whole slice, and publishes once.
        let carries = self.host.carries && cell.kind == Kind::Sequential;
        let slice = (time * 16 / pace).clamp(1, if carries { batch } else { claim.min(batch) });
        let slice = if self.host.carries { slice.min(self.claimed_at_once(cx)) } else { slice };
        let budget = if carries { slice } else { budget };
        state.batch.store(budget << 32 | slice, Ordering::Relaxed);
        widen::note_node(cx.net, cx.node, cell);
    }
}

/// The next items of a node with one input, when an activation begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextItems {
    channel: ChannelId,
    /// The index of the first one.
    first: usize,
    /// The head of the channel.
    head: usize,
}

impl<P: Policy> Worker<'_, P> {
    /// The limit of a batch that is carried on: see [`batch_limit`]. By the latest limits of the parallel consumers.
    fn claimed_at_once(&self, cx: &ActivationContext<'_>) -> u64 {
        batch_limit(&cx.net.topology.graph, cx.node, |consumer| {
            // The slice, or 0 before the consumer has a pace.
            let slice = cx.net.node(consumer).state.batch.load(Ordering::Relaxed) & u64::from(u32::MAX);
            (slice > 0).then_some(slice)
        })
    }

    /// The next items of a node whose input channel logs where they come from.
    #[inline]
    pub(super) fn next_items(&self, node: NodeId) -> Option<NextItems> {
        let net = self.host.net;
        let &[channel] = net.inputs(node) else { return None };
        let is_process = |node: NodeId| net.node(node).kind == Kind::Process;
        if !self.host.carries && (is_process(node) || is_process(net.ends(channel).0)) {
            return None; // the worker that runs the producer counts
        }
        let meter = net.meter(channel);
        let origins = meter.origins()?;
        let head = meter.head();
        Some(NextItems { channel, first: origins.next_index(head), head })
    }

    /// The limits of an activation, reduced so that it ends where the items of another worker begin, if workers carry
    /// items on. A process finds that place itself.
    #[inline]
    pub(super) fn up_to_another(
        &self,
        kind: Kind,
        next: Option<NextItems>,
        (budget, slice): (usize, usize),
    ) -> (usize, usize) {
        let carried = next.filter(|_| self.host.carries && kind != Kind::Process);
        let run = carried.and_then(|next| Some(self.host.net.meter(next.channel).origins()?.run(next.first)));
        let most = run.map_or(usize::MAX, |run| run.firings);
        (budget.min(most), slice.min(most))
    }

    /// Counts those of the items that an activation of `fired` firings has taken which another worker has pushed. An
    /// estimate for a parallel node of which another worker has claimed items at the same time.
    #[inline]
    pub(super) fn count_crossed(&self, next: NextItems, fired: usize) {
        let meter = self.host.net.meter(next.channel);
        let Some(origins) = meter.origins().filter(|_| fired > 0) else { return };
        let items = match origins.items(fired) {
            // Of a process, whose firings are operations; or that depends on the firing.
            0 => meter.head().saturating_sub(next.head),
            items => items,
        };
        let foreign = origins.foreign(next.first, items, self.host.worker);
        if foreign > 0 {
            meter.count_crossed(foreign);
        }
    }
}
