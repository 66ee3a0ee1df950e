//! The shared half of a node: what any thread may read of it.

use crate::channel::Meter;
use crate::channel::operation::{channel, sends};
use crate::net::Net;
use crate::net::wait::{Wait, Waiting, waited_by};
use crate::sched::ready::Tokens;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use thalweg_graph::NodeId;

/// No worker's number.
pub(crate) const NO_WORKER: u32 = u32::MAX;

/// The node's thread does not nap.
pub(crate) const NO_NAP: usize = usize::MAX;

/// No publication of this output is stuck.
pub(crate) const UNSTUCK: usize = usize::MAX;

/// The shared half of a node.
#[derive(Debug)]
pub(crate) struct NodeState {
    pub(crate) wait: Wait,
    pub(crate) done: AtomicBool,
    /// No live end of the graph can be reached from the node any more.
    pub(crate) cancelled: AtomicBool,
    /// It was live, and its component's count no longer includes it: see [`dead`](crate::liveness::dead).
    pub(crate) counted_dead: AtomicBool,
    /// A neighbour has ended: the node must look, whatever it waits for.
    pub(crate) alert: AtomicBool,
    /// A worker has noted that it waits for room: see [`suspects`](crate::liveness::suspects).
    pub(crate) suspected: AtomicBool,
    /// A dedicated thread is asleep, or about to be, until this node's wait is over.
    pub(crate) dozing: AtomicBool,
    /// The counter that ends a nap of that thread early; no nap, [`NO_NAP`].
    pub(crate) nap: AtomicUsize,
    /// The worker that activated the node last; none yet, [`NO_WORKER`].
    pub(crate) last: AtomicU32,
    /// Activations by another worker than the one before.
    pub(crate) moves: AtomicU64,
    /// Used where the policy is notified.
    pub(crate) tokens: Tokens,
    /// Nanoseconds a firing takes, smoothed, times 16.
    pub(crate) pace: AtomicU32,
    /// What follows from it: firings of an activation in the upper half, of a slice in the lower.
    pub(crate) batch: AtomicU64,
    pub(crate) firings: AtomicU64,
    pub(crate) activations: AtomicU64,
    pub(crate) busy: AtomicU64,
    /// Of a parallel node.
    parallel: Option<Box<ParallelState>>,
}

/// The shared half of a parallel node, beside what all have.
#[derive(Debug)]
struct ParallelState {
    /// For each output: the head at which a stuck publication can go on.
    stuck: Box<[AtomicUsize]>,
    /// The node may have something to do that the wait word does not show: a completed ticket whose worker found
    /// the retirement held by a search, or released bytes that a claim may wait for.
    unsettled: AtomicBool,
    /// Tickets retired.
    retired: Arc<CachePadded<AtomicUsize>>,
}

impl NodeState {
    /// Of a node that is one thread's at a time.
    pub(crate) fn single() -> NodeState {
        NodeState::new(1)
    }

    /// Of a parallel node with `outputs` outputs, for `workers` workers.
    pub(crate) fn parallel(outputs: usize, workers: usize) -> NodeState {
        let parallel = ParallelState {
            stuck: (0..outputs).map(|_| AtomicUsize::new(UNSTUCK)).collect(),
            unsettled: AtomicBool::new(false),
            retired: Arc::new(CachePadded::new(AtomicUsize::new(0))),
        };
        NodeState { parallel: Some(Box::new(parallel)), ..NodeState::new(workers) }
    }

    /// With at most `tokens` tokens.
    fn new(tokens: usize) -> NodeState {
        NodeState {
            wait: Wait::new(),
            done: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            counted_dead: AtomicBool::new(false),
            alert: AtomicBool::new(false),
            suspected: AtomicBool::new(false),
            dozing: AtomicBool::new(false),
            nap: AtomicUsize::new(NO_NAP),
            last: AtomicU32::new(NO_WORKER),
            moves: AtomicU64::new(0),
            tokens: Tokens::new(tokens),
            pace: AtomicU32::new(0),
            batch: AtomicU64::new(0),
            firings: AtomicU64::new(0),
            activations: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            parallel: None,
        }
    }

    /// For each output of a parallel node: the head at which a stuck publication can go on.
    pub(crate) fn stuck(&self) -> &[AtomicUsize] {
        self.parallel.as_ref().map_or(&[], |parallel| &parallel.stuck)
    }

    /// Makes a parallel node claimable, whatever it waits for.
    pub(crate) fn look_again(&self) {
        if let Some(unsettled) = self.unsettled() {
            unsettled.store(true, Ordering::Release);
        }
    }

    /// The flag of a parallel node that [`NodeState::look_again`] sets.
    pub(crate) fn unsettled(&self) -> Option<&AtomicBool> {
        self.parallel.as_ref().map(|parallel| &parallel.unsettled)
    }

    /// Tickets retired, of a parallel node.
    pub(crate) fn retired(&self) -> Option<&Arc<CachePadded<AtomicUsize>>> {
        self.parallel.as_ref().map(|parallel| &parallel.retired)
    }

    /// The worker that activated the node last, if any has.
    #[inline]
    pub(crate) fn last_worker(&self) -> Option<usize> {
        let last = self.last.load(Ordering::Relaxed);
        (last != NO_WORKER).then_some(last as usize)
    }

    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The alert, which is over with this.
    #[inline]
    pub(crate) fn take_alert(&self) -> bool {
        self.alert.load(Ordering::Relaxed) && self.alert.swap(false, Ordering::AcqRel)
    }

    /// Whether a process that workers run waits for what the operation at the other end of a channel brings, and has
    /// it; or was alerted. If it waits for anything else, the thread that brings that notifies of it.
    #[inline]
    pub(crate) fn satisfied_by(&self, net: &Net<'_>, node: NodeId, operation: u64) -> bool {
        let what = self.wait.what.load(Ordering::Acquire);
        if what as u64 == waited_by(operation) {
            return self.counter_reached(net, operation) || self.satisfied_slow(net, node);
        }
        let maybe = what >> 3 == channel(operation).index() || self.alert.load(Ordering::Relaxed);
        maybe && self.satisfied_slow(net, node)
    }

    /// Whether a process waits for what an operation at the other end of a channel brings.
    #[inline]
    pub(crate) fn waits_for(&self, operation: u64) -> bool {
        self.wait.what.load(Ordering::Acquire) as u64 == waited_by(operation)
    }

    /// Whether the counter that the operation moves has come as far as is waited for.
    #[inline]
    fn counter_reached(&self, net: &Net<'_>, operation: u64) -> bool {
        let (meter, until) = (net.meter(channel(operation)), self.wait.until.load(Ordering::Relaxed));
        let now = if sends(operation) { meter.tail() } else { meter.head() };
        now >= until
    }

    /// Whether a process that has come to wait in an operation surely still does.
    #[inline]
    pub(crate) fn still_waits(&self, net: &Net<'_>, operation: u64) -> bool {
        let (meter, other) = (net.meter(channel(operation)), operation ^ 1);
        let is_over = if sends(operation) { meter.gone() } else { meter.ended() };
        self.waits_for(other)
            && !is_over
            && !self.alert.load(Ordering::Relaxed)
            && !self.counter_reached(net, other)
    }

    #[cold]
    #[inline(never)]
    fn satisfied_slow(&self, net: &Net<'_>, node: NodeId) -> bool {
        self.satisfied(net, node) && !self.is_done()
    }

    /// Whether the node has what it waits for, or was alerted.
    #[inline]
    pub(crate) fn satisfied(&self, net: &Net<'_>, node: NodeId) -> bool {
        if self.alert.load(Ordering::Relaxed) {
            return !self.is_done();
        }
        match self.wait.read() {
            Waiting::Ready => true,
            Waiting::Items { channel, until } => {
                let meter = net.meter(channel);
                meter.tail() >= until || meter.ended()
            }
            Waiting::Room { channel, until } => {
                let meter = net.meter(channel);
                meter.head() >= until || meter.gone()
            }
            Waiting::Bytes { channel } => {
                let meter = net.meter(channel);
                meter.light() || meter.gone()
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

    /// Whether a nap until the counter is `until` is over: see `dedicated::WaitStrategy`.
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

    /// Whether a publication waits for room.
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck().iter().any(|stuck| stuck.load(Ordering::Relaxed) != UNSTUCK)
    }

    /// Whether a stuck publication can go on, or there may be one that no thread has tried.
    pub(crate) fn unstuck(&self, net: &Net<'_>, node: NodeId) -> bool {
        let Some(parallel) = &self.parallel else { return false };
        if parallel.unsettled.load(Ordering::Relaxed) {
            return true;
        }
        parallel.stuck.iter().zip(net.outputs(node)).any(|(stuck, channel)| {
            let until = stuck.load(Ordering::Relaxed);
            until != UNSTUCK && {
                let meter = net.meter(*channel);
                meter.head() >= until || meter.gone()
            }
        })
    }
}
