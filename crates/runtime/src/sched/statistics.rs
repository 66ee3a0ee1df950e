//! The measurements of activations: a worker adds each of them to its account and to the statistics of the node.
//!
//! | what | of which activations | where |
//! |---|---|---|
//! | time, firings | all | the node's state, the worker's account |
//! | the wait before it | long waits, and a sample | [`waits`](crate::measure::waits) |
//! | service times | long ones, and a sample | [`service`](crate::measure::service) |
//! | laps | a sample | [`account`](crate::measure::account) |
//! | occupancy of channels | long ones, and a sample | [`occupancy`](crate::measure::occupancy) |
//! | an event of the timeline | all, if the run records one | [`recorder`](crate::measure::recorder) |

use crate::measure::clock::{Laps, Part, Ticks, ticks};
use crate::measure::occupancy::Occupancies;
use crate::measure::sampler::SAMPLE;
use crate::measure::service::{ALWAYS_MEASURED, Measured};
use crate::net::{ActivationContext, NO_WORKER, NodeCell};
use crate::sched::pace::Pace;
use crate::sched::worker::Worker;
use crate::sync::Ordering;
use std::sync::atomic::AtomicU64;
use thalweg_graph::{Kind, NodeId};
use thalweg_policy::{Event, Policy};
use thalweg_trace::What;

/// The ticks from which on every activation updates its node's pace: the update costs little beside it. Of shorter
/// activations one in 16 does.
const LONG_ACTIVATION: Ticks = 4096;
impl<P: Policy> Worker<'_, P> {
    /// Begins the laps of a sampled activation. The time since `before` counts as the scheduler's.
    #[cold]
    pub(super) fn begin_sample(&mut self, before: Ticks) -> Laps {
        let start = ticks();
        self.account.scheduler_sample(start.saturating_sub(before), self.host.stealing.take().unwrap_or(0));
        Laps::start(start, SAMPLE)
    }

    /// Adds the laps of a sampled activation to the account, and what the node's channels hold to the timeline, if the run
    /// records one. It ended at `after`.
    #[cold]
    pub(super) fn end_sample(&mut self, cx: &mut ActivationContext<'_>, after: Ticks) {
        if let Some(laps) = &mut cx.laps {
            laps.lap(Part::Queue);
            self.account.lap_sample(laps);
        }
        // They ended before `after`, which is the time of the next events.
        self.move_parts();
        if let Some(recorder) = &mut self.host.recorder {
            for channel in cx.net.inputs(cx.node).iter().chain(cx.net.outputs(cx.node)) {
                recorder.fill(after, *channel, cx.net.meter(*channel).items());
            }
        }
    }

    /// Notes the waits of the firing that an activation has ended, where firings wait for their tickets. Returns `before`, the
    /// beginning of the activation, without the time for which it has stalled: that is neither the node's time nor its pace.
    #[inline]
    pub(super) fn note_tickets(&mut self, cx: &mut ActivationContext<'_>, before: Ticks) -> Ticks {
        let Some(waits) = &cx.tickets else { return before };
        self.host.ticket_waits = Some(waits.ended());
        let stalled = waits.stalled();
        if stalled > 0 && self.host.recorder.is_some() {
            self.record_stalls(cx);
        }
        before + stalled
    }

    /// Adds the stalls of an activation to the timeline, behind the parts in loops and task graphs of the firings before them.
    #[cold]
    fn record_stalls(&mut self, cx: &mut ActivationContext<'_>) {
        self.move_parts();
        let node = cx.node;
        for (from, to) in cx.tickets.iter_mut().flat_map(|waits| waits.take_spans()) {
            self.record(from, What::Stall { node, ns: to.saturating_sub(from) });
        }
    }

    /// Notes this worker as the one that activated the node last, and counts a move if it was another. Only where the
    /// policy is notified; where it scans, only pinned nodes have a latest worker (`NodeCell::try_pin`).
    #[inline]
    pub(super) fn note_move(&self, cell: &NodeCell<'_>, node: NodeId) {
        let (last, me) = (cell.state.last.load(Ordering::Relaxed), self.host.worker as u32);
        if last == me {
            return;
        }
        cell.state.last.store(me, Ordering::Relaxed);
        if self.host.carries && cell.kind == Kind::Process {
            self.note_pushes(node);
        }
        if last != NO_WORKER && cell.kind != Kind::Parallel {
            // A load and a store suffice: this worker holds the node's only token, so it is the only writer.
            let moves = cell.state.moves.load(Ordering::Relaxed);
            cell.state.moves.store(moves + 1, Ordering::Relaxed);
        }
    }

    /// Notes that what the process sends from here on comes from this worker, which holds the process's token. A kernel does so
    /// under its claim.
    #[cold]
    fn note_pushes(&self, node: NodeId) {
        let net = self.host.net;
        for meter in net.outputs(node).iter().map(|channel| net.meter(*channel)) {
            if let Some(origins) = meter.origins() {
                origins.note(meter.tail_here(), Some(self.host.worker));
            }
        }
    }

    /// Adds an activation to the worker's account and to the node's statistics. Before the token is released.
    #[inline(always)]
    pub(super) fn note(
        &mut self,
        cx: &mut ActivationContext<'_>,
        cell: &NodeCell<'_>,
        event: Event,
        span: (Ticks, Ticks),
    ) {
        let account = &mut self.account;
        account.busy += span.1.saturating_sub(span.0);
        account.activations += 1;
        account.refused += u64::from(event == Event::Refused);
        // A parallel node has a token for each worker, and a policy that scans has no tokens: then other workers may
        // write too.
        self.note_firings(cx, cell, event, span, self.notified && cell.kind != Kind::Parallel);
    }

    /// Adds an activation to the node's statistics, and updates its pace. `exclusive` says that this worker is the only
    /// writer, because it holds the node's only token; otherwise each addition is a read-modify-write.
    #[inline(always)]
    pub(crate) fn note_firings(
        &mut self,
        cx: &mut ActivationContext<'_>,
        cell: &NodeCell<'_>,
        event: Event,
        (before, after): (Ticks, Ticks),
        exclusive: bool,
    ) {
        if self.config.stamped {
            if cell.state.observed.load(Ordering::Relaxed) {
                Occupancies::end(cx.net, cx.node, after);
            }
            if event != Event::Refused {
                cell.state.since.store(after, Ordering::Relaxed);
            }
            // A node with one token is not parallel.
            if !exclusive {
                cell.state.leave(|| cx.net.missing(cx.node));
            }
        }
        if after.saturating_sub(before) > self.measured_above {
            self.measure(cx, event, (before, after));
        }
        let spent = after.saturating_sub(before);
        self.note_waiting(cell, cx.fired, spent);
        // A process may work for long without a message.
        if cx.fired + cx.pieces == 0 && spent <= ALWAYS_MEASURED {
            return;
        }
        let add = |counter: &AtomicU64, more: u64| match exclusive {
            true => counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed),
            false => _ = counter.fetch_add(more, Ordering::Relaxed),
        };
        add(&cell.state.firings, cx.fired as u64);
        add(&cell.state.activations, 1);
        if spent > 0 {
            add(&cell.state.busy, spent);
        }
        // A budget of 1 is that of a node without a pace. Without time stamps the pace is never known, and the limits
        // are those of the plan (`Options::untimed` implies `counted`).
        if self.config.stamped
            && self.config.pace == Pace::Timed
            && cx.fired > 0
            && (spent > LONG_ACTIVATION || cx.budget == 1 || (spent > 0 && self.sampler.is_frequent()))
        {
            self.set_pace(cell, cx, spent);
        }
    }

    /// Adds a stamped activation to the timeline, and to the service times of its node if it is long or a sample.
    #[cold]
    #[inline(never)]
    pub(super) fn measure(
        &mut self,
        cx: &mut ActivationContext<'_>,
        event: Event,
        (before, after): (Ticks, Ticks),
    ) {
        self.move_parts();
        if let Some(recorder) = &mut self.host.recorder {
            // Stalls are parts of it.
            let began = before.saturating_sub(cx.stalled());
            recorder.activation(cx.node, cx.fired, event, (began, after));
        }
        let (laps, fired, spent) = (cx.laps.take(), cx.fired, after.saturating_sub(before));
        Occupancies::begin_after(cx.net, cx.node, after, spent, laps.as_ref().map(|laps| laps.weight));
        let always = spent > ALWAYS_MEASURED;
        if !(always || laps.is_some() && fired > 0) {
            return;
        }
        let ns = |ticks: Ticks| ticks as f64 / self.ticks_per_ns;
        let firing = laps.filter(|_| fired > 0).map(|laps| {
            let each = laps.measured.map(|(of, spent)| cx.dilated(ns(spent)) / of as f64);
            (
                each.unwrap_or(ns(laps.application) / fired as f64),
                (fired as u64).saturating_mul(u64::from(SAMPLE)),
            )
        });
        let measured = Measured { ns: ns(spent), fired, always, firing };
        self.account.services.add(cx.net.cells.nodes.len(), cx.node, measured);
    }

    /// Moves this worker's parts in loops and task graphs to the timeline, if the run records one.
    pub(super) fn move_parts(&mut self) {
        #[cfg(not(loom))]
        if let (Some(recorder), Some(tally)) = (&mut self.host.recorder, &self.host.net.team.tally) {
            tally.move_events(self.host.worker, None, recorder);
        }
    }

    /// Adds an event to the timeline, if the run records one. Lengths are in ticks.
    pub(super) fn record(&mut self, at: Ticks, what: What) {
        if let Some(recorder) = &mut self.host.recorder {
            recorder.add(at, what);
        }
    }
}
