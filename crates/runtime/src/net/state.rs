//! The shared half of a node: its state that any thread may read.
//!
//! # Fields
//!
//! | field | written by | ordering | pairs with, or why |
//! |---|---|---|---|
//! | `wait` | the thread that activates, under the node's claim | see [`wait`](super::wait) | |
//! | `done` | the thread that ends the node, once | `Release` / `Acquire` | a thread that sees it sees all that the node did |
//! | `cancelled` | the thread that cancels the node, before `alert` | `Relaxed` | ordered by `alert`: an activation that takes the alert sees it |
//! | `counted_dead` | the thread that takes the node off its component's count | `AcqRel` swap | exactly one thread gets false |
//! | `alert` | set by any thread; cleared by the thread that activates, before the body reads its channels | `Release` (`Relaxed` under the sleep lock) / `AcqRel` swap | the activation sees what the alerting thread did |
//! | `suspected` | a worker that leaves the node waiting for room, and a search | `Relaxed` | the fences in [`suspects`](crate::liveness::suspects) |
//! | `dozing`, `nap` | the node's dedicated thread | `Relaxed` | the fences in [`dedicated`](crate::sched::dedicated) and `make_ready::changed` |
//! | `last` | the worker that activates; for a pinned node once, by compare-and-swap from [`NO_WORKER`] | `Relaxed` | a worker number, with no data behind it |
//! | `tokens` | the threads that acquire and release tokens | see [`ready`](crate::sched::ready) | |
//! | `pace`, `batch` | workers, after an activation | `Relaxed` | estimates: a lost update is harmless |
//! | `firings`, `activations`, `busy`, `moves` | the holder of the node's only token by a store, other threads by `fetch_add` | `Relaxed` | statistics; the report reads them after the threads were joined |
//! | `since` | the thread that has activated the node, after the activation | `Relaxed` | a statistic, and the beginning of the node's wait: see [`waits`](crate::measure::waits) |
//! | `observed` | set by the thread that begins an interval of one of its channels; cleared by a thread that ends it | `Relaxed` | a hint: see [`occupancy`](crate::measure::occupancy) |
//! | `waits` | the thread that begins an activation, by `fetch_add` | `Relaxed` | statistics |
//! | `stuck` | the holder of the node's retirement | `Relaxed` | the fence before a changer reads which workers sleep |
//! | `unsettled` | set by any thread; cleared by the thread that activates | `Release` / `Acquire` swap | the activation sees what the flag reports |
//! | `waiting` | the worker that queues or takes a firing, under the queue's mutex | `Relaxed` | the fences before a thread examines the node: see `node/turns.rs` |
//! | `suspended`, `ready`, `held` | the worker that suspends or resumes a ticket | `Relaxed` | the window's `stage`, which is stored after and loaded before, orders the writers; the fences before a thread examines the node order the readers: see `node/suspend.rs` |
//! | `inside`, `lacked` | each worker that begins or ends an activation; the last one that leaves | `Relaxed` | statistics |
//! | `retired` | the holder of the node's retirement | `Release` / `Acquire` | see [`window`](crate::node::window) |
//!
//! # When a node has something to do
//!
//! [`Net::actionable`] combines the fields. A reader may get a wrong answer while another thread activates the node;
//! that thread is awake and checks the node again after its last write and a fence, so no wake-up is lost
//! ([`sleep`](crate::sched::sleep), [`ready`](crate::sched::ready)).

use crate::channel::Meter;
use crate::channel::operation::{channel, sends};
use crate::measure::waits::OtherWaits;
use crate::net::wait::{Wait, Waiting, channel_of, waited_by};
use crate::net::{Need, Net};
use crate::sched::ready::Tokens;
use crate::sync::{AtomicBool, AtomicUsize, CachePadded, Ordering};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use thalweg_graph::{ChannelId, NodeId};
use thalweg_trace::Cause;

/// The value of `last` for a node that no worker has activated.
pub(crate) const NO_WORKER: u32 = u32::MAX;

/// The value of `nap` while the node's thread does not nap.
pub(crate) const NO_NAP: usize = usize::MAX;

/// The value of `stuck` for an output without a stuck publication.
pub(crate) const UNSTUCK: usize = usize::MAX;

/// The shared half of a node.
#[derive(Debug)]
pub(crate) struct NodeState {
    /// The condition that the node waits for.
    pub(crate) wait: Wait,
    /// The node has ended. Never cleared.
    pub(crate) done: AtomicBool,
    /// No live end of the graph can be reached from the node any more. Never cleared.
    pub(crate) cancelled: AtomicBool,
    /// Its loop has been ended: the node goes on until its inputs have ended, also if it is cancelled or no consumer is left.
    /// Never cleared. See [`starve`](crate::liveness::starve).
    pub(crate) drains: AtomicBool,
    /// The node was live, and its component's count no longer includes it: see [`dead`](crate::liveness::dead).
    pub(crate) counted_dead: AtomicBool,
    /// A neighbour has ended, or a foreign future has woken the process: the node must be activated, whatever it waits
    /// for.
    pub(crate) alert: AtomicBool,
    /// A worker has noted that the node waits for room: see [`suspects`](crate::liveness::suspects).
    pub(crate) suspected: AtomicBool,
    /// The node's dedicated thread sleeps, or is about to, until the node's wait is over.
    pub(crate) dozing: AtomicBool,
    /// The occupancy of a channel of the node is being measured.
    pub(crate) observed: std::sync::atomic::AtomicBool,
    /// The value of a channel's counter that ends a nap of that thread early, or [`NO_NAP`].
    pub(crate) nap: AtomicUsize,
    /// The worker that activated the node last, or [`NO_WORKER`]. Where the policy scans, only pinned nodes have one.
    pub(crate) last: AtomicU32,
    /// Activations by another worker than the previous one.
    pub(crate) moves: AtomicU64,
    /// Used only where the policy is notified.
    pub(crate) tokens: Tokens,
    /// The time of a firing, smoothed, in sixteenths of a nanosecond; 0 if it is not known.
    pub(crate) pace: AtomicU32,
    /// The limits of an activation that follow from the pace: the budget in the upper half, the slice in the lower,
    /// both in firings; 0 if there are none yet.
    pub(crate) batch: AtomicU64,
    /// Firings so far; for a process operations.
    pub(crate) firings: AtomicU64,
    /// Activations so far that have fired; for a dedicated node all activations.
    pub(crate) activations: AtomicU64,
    /// The time of all stamped activations, in ticks.
    pub(crate) busy: AtomicU64,
    /// The end of the latest stamped activation, in ticks; 0 if there was none.
    pub(crate) since: AtomicU64,
    /// The times for which the node waited for something other than a channel.
    pub(crate) waits: OtherWaits,
    /// Present for a parallel node.
    parallel: Option<Box<ParallelState>>,
}

/// The part of the shared half that only a parallel node has.
#[derive(Debug)]
struct ParallelState {
    /// By output: the head at which a stuck publication can continue, or [`UNSTUCK`].
    stuck: Box<[AtomicUsize]>,
    /// The node may have something to do that the wait word does not show: a completed ticket whose worker found
    /// the retirement held by a search, or released bytes that a claim may wait for.
    unsettled: AtomicBool,
    /// Suspended tickets, and those of them that may continue at once.
    suspended: AtomicUsize,
    ready: AtomicUsize,
    /// By slot of the window: its ticket is suspended, and not ready.
    held: Box<[AtomicBool]>,
    /// By output, in runs whose firings wait for their tickets: queued firings that leave by it next. Empty in other runs.
    waiting: Box<[AtomicUsize]>,
    /// Tickets are published in any order.
    unordered: bool,
    /// Tickets retired. Shared with the node's reorder window, which writes it.
    retired: Arc<CachePadded<AtomicUsize>>,
    /// Workers in activations of the node: see [`waits`](crate::measure::waits).
    inside: AtomicU32,
    /// What the node lacked when the last of them left, packed; 0 for nothing.
    lacked: AtomicU64,
}

impl ParallelState {
    /// Whether the ticket, which is the only one of its slot, is suspended and not ready.
    fn held_slot(&self, ticket: usize) -> &AtomicBool {
        &self.held[ticket & (self.held.len() - 1)]
    }
}

impl NodeState {
    /// The state of a node that one thread activates at a time: a sequential kernel or a process.
    pub(crate) fn single() -> NodeState {
        NodeState::new(1)
    }

    /// The state of a parallel node with `outputs` outputs, tallies included, and a window of `tickets` tickets, a power of
    /// two, for `workers` workers.
    pub(crate) fn parallel(outputs: usize, tickets: usize, workers: usize, unordered: bool) -> NodeState {
        let parallel = ParallelState {
            suspended: AtomicUsize::new(0),
            ready: AtomicUsize::new(0),
            held: (0..tickets).map(|_| AtomicBool::new(false)).collect(),
            waiting: Box::default(),
            unordered,
            stuck: (0..outputs).map(|_| AtomicUsize::new(UNSTUCK)).collect(),
            unsettled: AtomicBool::new(false),
            retired: Arc::new(CachePadded::new(AtomicUsize::new(0))),
            inside: AtomicU32::new(0),
            lacked: AtomicU64::new(0),
        };
        NodeState { parallel: Some(Box::new(parallel)), ..NodeState::new(workers) }
    }

    /// The state of a parallel node whose firings wait for their tickets.
    pub(crate) fn with_waits(mut self) -> NodeState {
        if let Some(parallel) = &mut self.parallel {
            parallel.waiting = parallel.stuck.iter().map(|_| AtomicUsize::new(0)).collect();
        }
        self
    }

    /// The state of a node with `tokens` tokens that no thread has activated.
    fn new(tokens: usize) -> NodeState {
        NodeState {
            wait: Wait::new(),
            done: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            drains: AtomicBool::new(false),
            counted_dead: AtomicBool::new(false),
            alert: AtomicBool::new(false),
            suspected: AtomicBool::new(false),
            dozing: AtomicBool::new(false),
            observed: std::sync::atomic::AtomicBool::new(false),
            nap: AtomicUsize::new(NO_NAP),
            last: AtomicU32::new(NO_WORKER),
            moves: AtomicU64::new(0),
            tokens: Tokens::new(tokens),
            pace: AtomicU32::new(0),
            batch: AtomicU64::new(0),
            firings: AtomicU64::new(0),
            activations: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            since: AtomicU64::new(0),
            waits: OtherWaits::default(),
            parallel: None,
        }
    }

    /// By output of a parallel node: the head at which a stuck publication can continue, or [`UNSTUCK`]. Empty for
    /// another node.
    pub(crate) fn stuck(&self) -> &[AtomicUsize] {
        self.parallel.as_ref().map_or(&[], |parallel| &parallel.stuck)
    }

    /// Makes a parallel node claimable, whatever it waits for. The caller then fences and makes the node ready, or is
    /// about to end an activation of it.
    pub(crate) fn look_again(&self) {
        if let Some(unsettled) = self.unsettled() {
            unsettled.store(true, Ordering::Release);
        }
    }

    /// The flag of a parallel node that [`NodeState::look_again`] sets.
    pub(crate) fn unsettled(&self) -> Option<&AtomicBool> {
        self.parallel.as_ref().map(|parallel| &parallel.unsettled)
    }

    /// A worker begins an activation of the node. Whether no other worker is in one: always true for a node that one
    /// thread activates at a time. An estimate, for statistics.
    #[inline]
    pub(crate) fn enter(&self) -> bool {
        self.parallel.as_ref().is_none_or(|parallel| parallel.inside.fetch_add(1, Ordering::Relaxed) == 0)
    }

    /// The worker has ended the activation that [`NodeState::enter`] began. If it was the last worker in the node,
    /// `lack` says what the node lacks now: its wait word says so only after a refused claim.
    #[inline]
    pub(crate) fn leave(&self, lack: impl FnOnce() -> Option<Need>) {
        if let Some(parallel) = &self.parallel
            && parallel.inside.fetch_sub(1, Ordering::Relaxed) == 1
        {
            let packed = match lack() {
                None => 0,
                Some(Need::Items(channel, _)) => u64::from(channel.0) << 2 | 1,
                Some(Need::Room(channel, _)) => u64::from(channel.0) << 2 | 2,
            };
            parallel.lacked.store(packed, Ordering::Relaxed);
        }
    }

    /// What a parallel node lacked when the last worker left it, if that is known.
    pub(crate) fn lacked(&self) -> Option<Cause> {
        let packed = self.parallel.as_ref()?.lacked.load(Ordering::Relaxed);
        let channel = ChannelId((packed >> 2) as u32);
        match packed & 3 {
            1 => Some(Cause::Items(channel)),
            2 => Some(Cause::Room(channel)),
            _ => None,
        }
    }

    /// The number of tickets that a parallel node has retired.
    pub(crate) fn retired(&self) -> Option<&Arc<CachePadded<AtomicUsize>>> {
        self.parallel.as_ref().map(|parallel| &parallel.retired)
    }

    /// The worker that activated the node last, as far as it is noted: see the field `last`.
    #[inline]
    pub(crate) fn last_worker(&self) -> Option<usize> {
        let last = self.last.load(Ordering::Relaxed);
        (last != NO_WORKER).then_some(last as usize)
    }

    /// Whether the node has ended. `Acquire` pairs with the store in `ending::ended`.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Whether the node is cancelled, and does not drain. An activation that has taken the alert that follows the flag sees it;
    /// another reader may see it late.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) && !self.drains()
    }

    /// Whether the loop of the node has been ended, and the node drains. Set while no thread activates a node of the loop, so
    /// `Relaxed` suffices.
    #[inline]
    pub(crate) fn drains(&self) -> bool {
        self.drains.load(Ordering::Relaxed)
    }

    /// Clears the alert; true if it was set. Called by the thread that activates, before the body reads its channels.
    /// The load avoids a read-modify-write in the common case.
    #[inline]
    pub(crate) fn take_alert(&self) -> bool {
        self.alert.load(Ordering::Relaxed) && self.alert.swap(false, Ordering::AcqRel)
    }

    /// Whether a process that workers run has what it waits for, because of this operation at the other end of one of
    /// its channels, or was alerted. False if the process waits for something else: then the thread that brings that
    /// notifies the policy. The caller has fenced since the operation.
    ///
    /// The common case reads the wait word and one counter; [`NodeState::satisfied`] decides the others, such as a
    /// stream that has ended.
    #[inline]
    pub(crate) fn satisfied_by(&self, net: &Net<'_>, node: NodeId, operation: u64) -> bool {
        let what = self.wait.what.load(Ordering::Acquire);
        if what as u64 == waited_by(operation) {
            return self.counter_reached(net, operation) || self.satisfied_slow(net, node);
        }
        let maybe = channel_of(what) == channel(operation).index() || self.alert.load(Ordering::Relaxed);
        maybe && self.satisfied_slow(net, node)
    }

    /// Whether a process waits for the items or the room that this operation at the other end of a channel brings.
    #[inline]
    pub(crate) fn waits_for(&self, operation: u64) -> bool {
        self.wait.what.load(Ordering::Acquire) as u64 == waited_by(operation)
    }

    /// Whether the counter that the operation moves has reached the value that the process waits for. Meaningful only
    /// after [`NodeState::waits_for`] has returned true.
    #[inline]
    fn counter_reached(&self, net: &Net<'_>, operation: u64) -> bool {
        let (meter, until) = (net.meter(channel(operation)), self.wait.until.load(Ordering::Relaxed));
        let now = if sends(operation) { meter.tail() } else { meter.head() };
        now >= until
    }

    /// Whether a process that waits in `operation`, its own, certainly still waits. False means that it must be
    /// checked. The caller has ended its activation, and has fenced since it released the token.
    #[inline]
    pub(crate) fn still_waits(&self, net: &Net<'_>, operation: u64) -> bool {
        let (meter, other) = (net.meter(channel(operation)), operation ^ 1);
        let is_over = if sends(operation) { meter.gone() } else { meter.ended() };
        self.waits_for(other)
            && !is_over
            && !self.alert.load(Ordering::Relaxed)
            && !self.counter_reached(net, other)
    }

    /// [`NodeState::satisfied`] for a process that has not ended.
    #[cold]
    #[inline(never)]
    fn satisfied_slow(&self, net: &Net<'_>, node: NodeId) -> bool {
        self.satisfied(net, node) && !self.is_done()
    }

    /// Whether the node has what its wait word names, or was alerted. The word names one condition; [`Net::missing`]
    /// finds others. An input that has ended, or an output whose consumer has left, satisfies a wait too: the
    /// activation must see that.
    #[inline]
    pub(crate) fn satisfied(&self, net: &Net<'_>, node: NodeId) -> bool {
        if self.alert.load(Ordering::Relaxed) {
            return !self.is_done();
        }
        match self.wait.read() {
            Waiting::Ready => true,
            Waiting::Items { channel, until } | Waiting::Timed { channel, until } => {
                let meter = net.meter(channel);
                meter.tail() >= until || meter.ended()
            }
            Waiting::Room { channel, until } => {
                let meter = net.meter(channel);
                meter.head() >= until || meter.gone()
            }
            Waiting::Bytes { channel } => {
                let meter = net.meter(channel);
                meter.is_below_byte_limit() || meter.gone()
            }
            Waiting::Window { retired: wanted } => {
                self.retired().is_some_and(|retired| retired.load(Ordering::Acquire) >= wanted)
            }
            Waiting::Any { inputs } => {
                net.any_input(node, inputs, |meter: &Meter| meter.items() > 0 || meter.ended())
            }
            Waiting::Never | Waiting::Foreign => false,
        }
    }

    /// Whether a nap that ends when the channel's counter reaches `until` is over: see `dedicated::WaitStrategy`.
    pub(crate) fn nap_is_over(&self, net: &Net<'_>, until: usize) -> bool {
        let over = match self.wait.read() {
            Waiting::Items { channel, .. } => {
                let meter = net.meter(channel);
                meter.tail() >= until || meter.ended()
            }
            Waiting::Room { channel, .. } => {
                let meter = net.meter(channel);
                meter.head() >= until || meter.gone()
            }
            _ => true,
        };
        over || self.alert.load(Ordering::Relaxed)
    }

    /// Whether a publication of a parallel node waits for room.
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck().iter().any(|stuck| stuck.load(Ordering::Relaxed) != UNSTUCK)
    }

    /// Counts a ticket that its worker is about to suspend: before the window says so, since from then on another worker may
    /// resume it. The caller examines the node at the end of its activation, after a fence, as a thread does that retires
    /// a ticket or makes room.
    pub(crate) fn count_suspended(&self, ticket: usize, ready: bool) {
        let Some(parallel) = &self.parallel else { return };
        parallel.suspended.fetch_add(1, Ordering::Relaxed);
        match ready {
            true => _ = parallel.ready.fetch_add(1, Ordering::Relaxed),
            false => parallel.held_slot(ticket).store(true, Ordering::Relaxed),
        }
    }

    /// Counts a ticket that a worker has resumed, and that was ready or not.
    pub(crate) fn count_resumed(&self, ticket: usize, was_ready: bool) {
        let Some(parallel) = &self.parallel else { return };
        match was_ready {
            true => _ = parallel.ready.fetch_sub(1, Ordering::Relaxed),
            false => parallel.held_slot(ticket).store(false, Ordering::Relaxed),
        }
        parallel.suspended.fetch_sub(1, Ordering::Relaxed);
    }

    /// Suspended tickets of a parallel node.
    pub(crate) fn suspended(&self) -> usize {
        self.parallel.as_ref().map_or(0, |parallel| parallel.suspended.load(Ordering::Relaxed))
    }

    /// Whether a suspended ticket of a parallel node may continue: it is ready; or it may publish, and its output has room;
    /// or its items are not wanted any more.
    fn may_resume(&self, net: &Net<'_>, node: NodeId) -> bool {
        self.suspended() > 0
            && (self.has_ready_ticket()
                || self.is_cancelled()
                || self.held_output(net, node).is_some_and(|channel| net.meter(channel).has_room())
                || net.unheard(node))
    }

    /// Whether a suspended ticket of a parallel node may continue at once.
    pub(crate) fn has_ready_ticket(&self) -> bool {
        self.parallel.as_ref().is_some_and(|parallel| parallel.ready.load(Ordering::Relaxed) > 0)
    }

    /// Whether a suspended ticket of a parallel node may publish, once there is room.
    pub(crate) fn has_first_ticket(&self) -> bool {
        self.parallel.as_ref().is_some_and(|parallel| match parallel.unordered {
            true => parallel.suspended.load(Ordering::Relaxed) > parallel.ready.load(Ordering::Relaxed),
            false => {
                let first = parallel.retired.load(Ordering::Acquire);
                parallel.held_slot(first).load(Ordering::Relaxed)
            }
        })
    }

    /// The output on which a suspended ticket of a parallel node may publish, once there is room.
    fn held_output(&self, net: &Net<'_>, node: NodeId) -> Option<ChannelId> {
        self.has_first_ticket().then(|| net.outputs(node)[0])
    }

    /// The output for which a suspended ticket of a parallel node waits, since it is full.
    pub(crate) fn held_by(&self, net: &Net<'_>, node: NodeId) -> Option<ChannelId> {
        let channel = self.held_output(net, node)?;
        (!net.meter(channel).has_room()).then_some(channel)
    }

    /// Counts a firing that is about to be queued, and that leaves by `port` next: see `node/turns.rs`.
    pub(crate) fn count_waiting(&self, port: usize) {
        let Some(parallel) = &self.parallel else { return };
        parallel.waiting[port].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a firing that was taken from the queue.
    pub(crate) fn count_taken(&self, port: usize) {
        let Some(parallel) = &self.parallel else { return };
        parallel.waiting[port].fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether firings of a parallel node are queued: then it issues no ticket, whatever its wait word says.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        let waiting = self.parallel.as_ref().map_or(&[][..], |parallel| &parallel.waiting);
        waiting.iter().any(|waiting| waiting.load(Ordering::Relaxed) > 0)
    }

    /// Whether a queued firing of a parallel node may leave by its port. `has_room` says whether the head of an output's
    /// channel has reached a position, or its consumer has left.
    pub(crate) fn may_leave(&self, has_room: impl Fn(usize, usize) -> bool) -> bool {
        let Some(parallel) = &self.parallel else { return false };
        let mut ports = parallel.waiting.iter().zip(&parallel.stuck).enumerate();
        ports.any(|(port, (waiting, stuck))| {
            waiting.load(Ordering::Relaxed) > 0 && {
                let until = stuck.load(Ordering::Relaxed);
                until == UNSTUCK || has_room(port, until)
            }
        })
    }

    /// Whether an activation of a parallel node would do something that its wait word does not show: continue a stuck
    /// publication, a suspended ticket or a queued firing, or handle what `unsettled` reports.
    pub(crate) fn unstuck(&self, net: &Net<'_>, node: NodeId) -> bool {
        let Some(parallel) = &self.parallel else { return false };
        if parallel.unsettled.load(Ordering::Relaxed) || self.may_resume(net, node) {
            return true;
        }
        let has_room = |port: usize, until: usize| {
            let meter = net.meter(net.outputs(node)[port]);
            meter.head() >= until || meter.gone()
        };
        let is_unstuck = |(port, stuck): (usize, &AtomicUsize)| {
            let until = stuck.load(Ordering::Relaxed);
            until != UNSTUCK && has_room(port, until)
        };
        match parallel.waiting.is_empty() {
            // No firing waits for a ticket, and any worker continues a stuck publication.
            true => parallel.stuck.iter().enumerate().any(is_unstuck),
            // A worker that has a firing publishes it itself: only a queued one makes the node claimable.
            false => self.may_leave(has_room),
        }
    }
}
