//! Threads of their own: nodes that wait for the outside world in their firings.

use crate::channel::Meter;
use crate::coroutine::leave_node;
use crate::liveness::search;
use crate::measure::clock::{ticks, ticks_per_ns};
use crate::net::{By, Cx, NO_NAP, Net, Waiting};
use crate::sched::ending::fail_panic;
use crate::sched::make_ready::{changed_outside, make_all_ready};
use crate::sched::sleep::{ParkOutcome, Sleeper};
use crate::sync::{Ordering, fence};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use thalweg_graph::{ChannelId, Kind, NodeId};
use thalweg_policy::Event;

/// Operations of a process in an activation at most.
const OPERATIONS: usize = 1 << 14;

/// Nanoseconds of firings after which a kernel publishes that waits for nothing outside.
const SLICE_NS: f64 = 10_000.0;
/// Firings of such a slice at most, and slices of an activation.
const SLICE: usize = 256;
const SLICES: usize = 16;

/// Runs one node until it ends or the run does. A blocking node publishes after every firing: what
/// comes from outside must not wait for more to come. Others, which have a thread only because the
/// run is one-to-one, publish by the time their firings take.
pub(crate) fn run(net: &Net<'_>, node: NodeId, sleeper: Sleeper, deadline: Option<(Instant, Duration)>) {
    let cell = &net.cells.nodes[node.index()];
    let Some(body) = &cell.body else { return };
    let mut rest = Rest::default();
    let slices = !net.topology.graph.node(node).blocking && cell.kind != Kind::Process;
    let mut slice = 1;
    let mut cx = Cx::new(net, By::Dedicated);
    while !net.stopped() && !cell.state.is_done() {
        let alerted = cell.state.alert.swap(false, Ordering::AcqRel);
        let budget = match cell.kind {
            // A process without a live consumer never waits: it must return here to see that.
            Kind::Process => OPERATIONS,
            _ if slices => slice * SLICES,
            _ => usize::MAX,
        };
        cx.begin(node, &cell.state, (budget, slice), alerted);
        let from = ticks();
        let event = catch_unwind(AssertUnwindSafe(|| body.activate(&mut cx)));
        cell.state.firings.fetch_add(cx.fired as u64, Ordering::Relaxed);
        cell.state.activations.fetch_add(1, Ordering::Relaxed);
        let spent = ticks().saturating_sub(from);
        cell.state.busy.fetch_add(spent, Ordering::Relaxed);
        if slices && cx.fired > 0 {
            let each = spent as f64 / ticks_per_ns() / cx.fired as f64;
            slice = ((SLICE_NS / each.max(1.0)) as usize).clamp(1, SLICE);
        }
        if net.sched.ready.notifies() || cell.kind == Kind::Process {
            changed_outside(net, node);
        }
        match event {
            Ok(Event::Empty(_) | Event::Full(_) | Event::Waiting) => rest.take(net, node, sleeper, deadline),
            Ok(Event::Refused) => {
                // A searcher has the node for a moment: what was to be seen is still to be seen.
                if alerted {
                    cell.state.alert.store(true, Ordering::Release);
                }
                std::thread::yield_now();
            }
            Ok(_) => {}
            Err(panic) => fail_panic(net, node, panic),
        }
    }
    leave_node(net, node);
    if net.sleep.retire(|| crate::liveness::quiesce::examine(net)) {
        make_all_ready(net);
    }
}

/// How a thread of its own waits.
///
/// Where the other side is fast, being woken for every item costs both more than the item does. So
/// a thread that was woken soon after it fell asleep first naps the next time: it sleeps for a set time, or until
/// half of the channel has items (or room), or the other side has ended, and finds several items (or places) when it looks
/// again. Where it finds few, or the other side waiting for it, as where nodes answer each other, it gives naps up for
/// a while. An item after a pause waits for no nap; one in a stream may wait for [`NAP`]. What it gives shows
/// in the bench's `farm.*` and `small.*`, as `ours(adaptor)`.
///
/// Where half of the channel lasts less than [`LONG`], sleeping costs too much of the time. Then the thread that sleeps
/// doubles the channel's capacity, up to its slots, until half of it lasts that long.
///
/// # Protocol
///
/// The node's wait word says what it lacks as ever, so that the searches see a node that could go on as one that can,
/// and the thread counts as active. What ends the nap is the counter in `nap`. The handshake is that of
/// `doze`: the thread sets `nap`, fences, and looks at the channel's counter before it sleeps; a changer moves the
/// counter, fences, and reads `nap`. If the changer misses the nap, the thread's look sees the change.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    nap: Duration,
    /// Waits for which naps are given up, and those left of them.
    given_up: u32,
    left: u32,
    /// Waits that begin with a look.
    looks: u32,
}

/// Waits of a caller that begin with a look, and how long it is.
const LOOKS: u32 = 2;
const LOOK: Duration = Duration::from_micros(30);

/// The longest nap, the first, and the shortest worth its switches.
const NAP: Duration = Duration::from_micros(1000);
const FIRST: Duration = Duration::from_micros(100);
const SHORTEST: Duration = Duration::from_micros(25);
/// How long half of a channel should last: a hundred times what a sleep and being woken cost.
const LONG: Duration = Duration::from_micros(800);
/// Items or places that make a nap worth while.
const FEW: usize = 2;

/// What a thread finds on the one channel that its kernel waits for.
struct Found {
    channel: ChannelId,
    /// Items, or places.
    count: usize,
    capacity: usize,
    /// The other side can do nothing before this one does.
    overslept: bool,
}

impl Found {
    fn is_half(&self) -> bool {
        self.count * 2 >= self.capacity && !self.overslept
    }
}

impl Rest {
    /// For an end that a caller holds: the first items come, and a short run ends, before a thread that sleeps
    /// would be awake.
    pub(crate) fn looking() -> Rest {
        Rest { looks: LOOKS, ..Rest::default() }
    }

    /// Waits until the node's wait is over.
    pub(crate) fn take(
        &mut self,
        net: &Net<'_>,
        node: NodeId,
        sleeper: Sleeper,
        deadline: Option<(Instant, Duration)>,
    ) {
        if cfg!(loom) {
            return doze(net, node, sleeper, deadline); // a model has no clock
        }
        if self.looks > 0 {
            self.looks -= 1;
            if look(net, node) {
                return;
            }
        }
        if self.nap >= SHORTEST {
            let from = Instant::now();
            nap(net, node, sleeper, self.nap);
            let found = found(net, node);
            self.judge(found.as_ref());
            if let Some(found) = found.filter(|found| found.is_half() && from.elapsed() < LONG) {
                widen(net, &found);
            }
            if net.cells.nodes[node.index()].state.satisfied(net, node) {
                return;
            }
        }
        let from = Instant::now();
        doze(net, node, sleeper, deadline);
        self.left = self.left.saturating_sub(1);
        if from.elapsed() < FIRST && self.left == 0 && found(net, node).is_some() {
            self.nap = if self.nap < SHORTEST { FIRST } else { self.nap };
        }
    }

    /// Suits the next nap to what this one has found.
    fn judge(&mut self, found: Option<&Found>) {
        let useful = found.filter(|found| found.count >= FEW && !found.overslept);
        self.nap = match useful {
            // It was woken at a half, and much has come since.
            Some(found) if found.count * 8 > found.capacity * 7 => self.nap / 2,
            Some(found) if found.count * 8 < found.capacity * 3 => (self.nap * 2).min(NAP),
            Some(_) => self.nap,
            None => Duration::ZERO,
        };
        self.given_up = if self.nap < SHORTEST { (self.given_up * 2).clamp(16, 1 << 12) } else { 0 };
        self.left = self.given_up;
    }
}

/// Doubles the channel's capacity, as far as it has slots.
///
/// Its other end may be active. What that end waits for was computed from a smaller capacity, and holds with the
/// greater one too.
fn widen(net: &Net<'_>, found: &Found) {
    if let Some((_, slots)) = net.cells.wide.iter().find(|(channel, _)| *channel == found.channel) {
        net.meter(found.channel).raise_capacity((found.capacity * 2).min(*slots));
    }
}

/// Whether the node's wait is over soon.
fn look(net: &Net<'_>, node: NodeId) -> bool {
    let (state, from) = (&net.cells.nodes[node.index()].state, Instant::now());
    while from.elapsed() < LOOK {
        if state.satisfied(net, node) || net.stopped() {
            return true;
        }
        // What it waits for may need this core.
        std::thread::yield_now();
        (0..32).for_each(|_| std::hint::spin_loop());
    }
    false
}

/// Sleeps for a set time, or until half of the channel has items, for a consumer, or room, for a producer.
fn nap(net: &Net<'_>, node: NodeId, sleeper: Sleeper, time: Duration) {
    let state = &net.cells.nodes[node.index()].state;
    let until = match state.wait.read() {
        Waiting::Items { channel, .. } => net.meter(channel).head() + half(net.meter(channel)),
        Waiting::Room { channel, .. } => {
            let meter = net.meter(channel);
            (meter.tail() + half(meter)).saturating_sub(meter.capacity())
        }
        _ => return,
    };
    state.nap.store(until, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the changers' fence in `Net::changed`
    if !state.nap_is_over(net, until) {
        net.sleep.nap(sleeper, time);
    }
    state.nap.store(NO_NAP, Ordering::Relaxed);
}

fn half(meter: &Meter) -> usize {
    (meter.capacity() / 2).max(FEW)
}

fn found(net: &Net<'_>, node: NodeId) -> Option<Found> {
    let cell = &net.cells.nodes[node.index()];
    let (channel, full) = match cell.state.wait.read() {
        Waiting::Items { channel, .. } => (channel, false),
        Waiting::Room { channel, .. } => (channel, true),
        _ => return None,
    };
    let (meter, (from, to)) = (net.meter(channel), net.ends(channel));
    let (items, capacity) = (meter.items(), meter.capacity());
    let id = if full { to } else { from };
    let other = &net.cells.nodes[id.index()];
    let active = other.body.as_ref().is_none_or(|body| body.is_held())
        || (matches!(other.state.wait.read(), Waiting::Window { .. }) && !other.state.is_stuck());
    let overslept = !active && search::rests(net, id);
    let count = if full { capacity.saturating_sub(items) } else { items };
    (cell.kind != Kind::Process).then_some(Found { channel, count, capacity, overslept })
}

/// Sleeps until the node's wait is over.
fn doze(net: &Net<'_>, node: NodeId, sleeper: Sleeper, deadline: Option<(Instant, Duration)>) {
    let state = &net.cells.nodes[node.index()].state;
    state.dozing.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the changers' fence in `Net::changed`
    let mut looked = !net.liveness.search.is_on();
    while !state.satisfied(net, node) && !net.stopped() {
        let left = deadline.map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let patience = (!looked).then_some(search::PATIENCE);
        let timeout = [left, patience].into_iter().flatten().min();
        match net.sleep.wait_dedicated(sleeper, timeout, || crate::liveness::quiesce::examine(net)) {
            ParkOutcome::Resumed => make_all_ready(net),
            ParkOutcome::TimedOut => match deadline {
                Some((at, given)) if Instant::now() >= at => net.fail(crate::Error::Deadline(given)),
                _ => {
                    looked = true;
                    search::suspect(net, node);
                    continue;
                }
            },
            ParkOutcome::Rung | ParkOutcome::Over => {}
        }
        break;
    }
    state.dozing.store(false, Ordering::Relaxed);
}
