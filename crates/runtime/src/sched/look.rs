//! How the results of ended firings reach their consumers while a long firing runs.
//!
//! A worker publishes at the end of a slice or claim, and notifies the policy of the consumers of a process at the end of
//! its turn. If the next firing of the slice is long, the results before it would wait for its end. So while a worker
//! sleeps, it *looks* at the activations of the others every [`LOOK`]: it publishes what their ended firings have pushed,
//! by the marks of their cursors ([`Marks`](crate::channel::Marks)), and makes the neighbours ready.
//!
//! | node | what the thread that fires leaves for the looker |
//! |---|---|
//! | sequential kernel | a mark after each firing of a slice |
//! | parallel kernel | a mark after each firing of a claim |
//! | process, coroutine | each message is in the channel when it is sent; its consumer has no token yet |
//! | any node with a weighed output, if it is sequential | nothing: it publishes after each firing |
//! | any node with a thread of its own | nothing: that thread makes consumers ready after each change |
//!
//! One sleeping worker is the looker ([`sleep`](crate::sched::sleep)). A worker that is awake while others sleep and none
//! of them is the looker cuts its slices to one firing ([`Worker::watched`]), and appoints a looker if that goes on.
//!
//! A worker without work that stays awake does not look. So under `auto` a worker does not wait for the turn of its items again
//! and again while nothing moves ([`auto`](thalweg_policy::auto)): it takes other work, and then sleeps.
//!
//! An earlier design published after each firing. It cost 3 % of a chain without work: the consumer's reads of the tail
//! made each publication a cache miss. A mark lies in a cache line that only a looker reads, and costs a store. It must not
//! take the address of a cursor's field, nor have a function call beside it in the inner loop: either keeps the cursor in
//! memory, which cost 10 to 80 %.

use crate::measure::clock::ticks;
use crate::measure::cpu_time::Measurement;
use crate::measure::occupancy::Occupancies;
use crate::net::Net;
use crate::sched::ending::fail_panic;
use crate::sched::make_ready::{any_node, make_ready};
use crate::sched::sleep::{NextLook, Sleep};
use crate::sched::worker::Worker;
use crate::sync::{Ordering, fence};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use thalweg_graph::{Kind, NodeId};
use thalweg_policy::{Policy, WorkerId};

/// The time between two looks.
pub(crate) const LOOK: Duration = Duration::from_micros(800);
/// While a long activation brings nothing new, looks take at most one part in this many of a core, the wake-ups of the
/// looker included: these cost 2 to 25 us, by machine.
const SHARE: u32 = 110;
/// The number of looks at one activation that bring nothing new, after which [`SHARE`] counts.
const QUIET: u32 = 16;
/// The same where all activations are of roaming sources, after which the looker rests. At least two: see
/// [`roaming`](crate::sched::roaming).
const QUIET_OUTSIDE: u32 = 3;
/// The greatest number of nodes that a looker examines for a policy that scans.
const MAX_CHECKED: usize = 256;
/// The number of cut slices after which a worker appoints a looker. A worker that runs a few activations between sleeps
/// needs none.
const MAX_CUT: u32 = 64;

/// The activations under way at a look, as a sum that differs if they do; 0 if there are none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct UnderWay(u64);

impl UnderWay {
    /// Adds the activation of a node that has ended this number of activations.
    pub(crate) fn add(&mut self, node: NodeId, ended: u64) {
        self.0 = self.0.wrapping_mul(31).wrapping_add((u64::from(node.0) + 1) << 32 ^ ended);
    }

    /// Widens the run, if any activations are under way and they are those of the look before.
    pub(crate) fn widen_if_unchanged(self, before: UnderWay, sleep: &Sleep) {
        if self == before && self.0 != 0 {
            sleep.widen();
        }
    }
}

/// A worker that sleeps and looks at the activations of the others.
pub(crate) struct Looker<'a> {
    net: &'a Net<'a>,
    me: WorkerId,
    /// The activations under way at the latest look.
    seen: UnderWay,
    /// Looks since one has brought something new.
    quiet: u32,
    /// The processor time of this thread since the latest look.
    spent: Measurement,
}

impl<'a> Looker<'a> {
    pub(crate) fn new(net: &'a Net<'a>, me: WorkerId) -> Looker<'a> {
        Looker { net, me, seen: UnderWay::default(), quiet: 0, spent: Measurement::start() }
    }

    /// Looks at the activations of all other workers.
    pub(crate) fn look(&mut self) -> NextLook {
        let others = (0..self.net.threads()).filter(|worker| *worker != self.me);
        let running: Vec<NodeId> = others.filter_map(|worker| self.net.team.running[worker].node()).collect();
        let (mut seen, mut moved) = (UnderWay::default(), false);
        for node in &running {
            moved |= look_at(self.net, *node);
            seen.add(*node, self.net.node(*node).state.activations.load(Ordering::Relaxed));
        }
        let is_quiet = !moved && seen == self.seen;
        if seen == self.seen && !self.net.sched.roaming.is_empty() {
            self.excuse(&running);
        }
        let is_long =
            |node: &NodeId| self.net.node(*node).roaming.as_ref().is_some_and(|roaming| roaming.is_long());
        let is_outside = !running.is_empty() && running.iter().all(is_long);
        if !is_outside {
            // Those that wait outside are excused, which makes room for others.
            seen.widen_if_unchanged(self.seen, &self.net.sleep);
        }
        (self.seen, self.quiet) = (seen, if is_quiet { self.quiet + 1 } else { 0 });
        let spent = std::mem::replace(&mut self.spent, Measurement::start()).elapsed().total;
        if self.quiet < if is_outside { QUIET_OUTSIDE } else { QUIET } {
            return NextLook { pause: LOOK, waiting: None };
        }
        self.check();
        NextLook { pause: LOOK.max(spent * SHARE), waiting: is_outside.then_some(running.len()) }
    }

    /// The activations under way are those of the latest look. Excuses the workers that are in firings of roaming sources, and
    /// wakes this worker if no worker is left to fire such a source.
    #[cold]
    fn excuse(&self, running: &[NodeId]) {
        let net = self.net;
        for roaming in running.iter().filter_map(|node| net.node(*node).roaming.as_ref()) {
            net.sleep.excuse(|| roaming.is_found_long());
        }
        if net.sleep.wants_waking() && any_node(net, self.me) {
            net.sleep.wake_one();
        }
        if !running.is_empty() && net.idle_source().is_some() {
            net.sleep.wake_worker(self.me);
        }
    }

    /// Wakes this worker if it has work. A backstop: by the protocol of [`sleep`](crate::sched::sleep) a thread that makes
    /// work has woken a worker for it, so this finds none, but in a narrow run, where the worker then stands down again. Not
    /// in large graphs, where the examination takes long.
    fn check(&self) {
        let is_small = self.net.sched.ready.notifies() || self.net.cells.nodes.len() <= MAX_CHECKED;
        if is_small && any_node(self.net, self.me) {
            self.net.sleep.wake_worker(self.me);
        }
    }
}

/// Publishes what the node's ended firings have pushed, and makes the node and its neighbours ready. True if it published
/// something.
fn look_at(net: &Net<'_>, node: NodeId) -> bool {
    if net.stopped() {
        return false;
    }
    let Some(body) = &net.node(node).body else { return false };
    let moved = match catch_unwind(AssertUnwindSafe(|| body.publish_marked(net, node))) {
        Ok(moved) => moved,
        Err(panic) => {
            fail_panic(net, node, panic);
            return false;
        }
    };
    if moved {
        Occupancies::end(net, node, ticks());
        Occupancies::begin(net, node, ticks(), 1);
    }
    fence(Ordering::SeqCst); // pairs with `Sleep::announce` and `doze`, and with the fence of `ready`
    net.peers(node).for_each(|peer| make_ready(net, peer));
    // A ticket that was retired may have been what the node waited for.
    make_ready(net, node);
    moved
}

impl<P: Policy> Worker<'_, P> {
    /// The limits of an activation, if `batch` are those by the node's pace. With a sleeping worker and no looker the slice
    /// is one firing; a process, which has no slices, gets a budget of one operation.
    #[inline]
    pub(super) fn watched(&mut self, kind: Kind, batch: (usize, usize)) -> (usize, usize) {
        if self.host.net.sleep.is_unwatched() { self.cut(kind, batch) } else { batch }
    }

    #[cold]
    fn cut(&mut self, kind: Kind, (budget, slice): (usize, usize)) -> (usize, usize) {
        let net = self.host.net;
        self.slices_cut += 1;
        if self.slices_cut > MAX_CUT {
            self.slices_cut = 0;
            net.sleep.watch();
        }
        if kind == Kind::Process { (1, 1) } else { (budget, slice.min(1)) }
    }
}
