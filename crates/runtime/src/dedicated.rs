//! Threads of their own: nodes that wait for the outside world in their firings.

use crate::clock::ticks;
use crate::net::Net;
use crate::node::{By, Cx, Waiting};
use crate::search;
use crate::sleep::{Sleeper, Woken};
use crate::sync::{Ordering, fence};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use thalweg_graph::{Kind, NodeId};
use thalweg_policy::Event;

/// Operations of a process in an activation at most.
const OPERATIONS: usize = 1 << 14;

/// Runs one node until it ends or the run does. Publishes after every firing: what comes from
/// outside must not wait for more to come.
pub(crate) fn run(net: &Net<'_>, node: NodeId, sleeper: Sleeper, deadline: Option<(Instant, Duration)>) {
    let cell = &net.nodes[node.index()];
    let Some(body) = &cell.body else { return };
    let mut rest = Rest::default();
    // A process that nobody hears any more never waits: it must come by here to be told.
    let budget = if cell.kind == Kind::Process { OPERATIONS } else { usize::MAX };
    let mut cx = Cx::new(net, By::Outsider);
    while !net.stopped() && !cell.state.is_done() {
        let alerted = cell.state.alert.swap(false, Ordering::AcqRel);
        cx.begin(node, &cell.state, (budget, 1), alerted);
        let from = ticks();
        let event = catch_unwind(AssertUnwindSafe(|| body.activate(&mut cx)));
        cell.state.firings.fetch_add(cx.fired as u64, Ordering::Relaxed);
        cell.state.activations.fetch_add(1, Ordering::Relaxed);
        cell.state.busy.fetch_add(ticks().saturating_sub(from), Ordering::Relaxed);
        if net.ready.is_told() || cell.kind == Kind::Process {
            net.changed_outside(node);
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
            Err(panic) => net.fail_panic(node, panic),
        }
    }
    net.leave_node(node);
    if net.sleep.retire(|| crate::quiesce::examine(net)) {
        net.resume();
    }
}

/// How a thread of its own waits.
///
/// Where the other side is fast, being woken for every item costs both more than the item does. So
/// a thread that was woken soon after it fell asleep first naps the next time, for a set time and
/// woken by nobody, and finds several items (or places) when it looks again. Where it finds few, or
/// the other side waiting for it, as where nodes answer each other, it gives naps up for a while.
/// An item after a pause waits for no nap; one in a stream may wait for [`NAP`]. What it gives shows
/// in the bench's `farm.*`, as `ours(adaptor)`.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    nap: Duration,
    /// Waits for which naps are given up, and those left of them.
    given_up: u32,
    left: u32,
}

/// The longest nap, the first, and the shortest worth its switches.
const NAP: Duration = Duration::from_micros(1000);
const FIRST: Duration = Duration::from_micros(100);
const SHORTEST: Duration = Duration::from_micros(25);
/// Items or places that make a nap worth while.
const FEW: usize = 2;

/// What a thread finds on the one channel that its kernel waits for.
struct Found {
    /// Items, or places.
    count: usize,
    capacity: usize,
    /// The other side can do nothing before this one does.
    overslept: bool,
}

impl Rest {
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
        if self.nap >= SHORTEST {
            std::thread::sleep(self.nap);
            let found = found(net, node);
            self.judge(found.as_ref());
            if net.nodes[node.index()].state.satisfied(net, node) {
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
            // A quarter of a channel leaves the other side three to go on with.
            Some(found) if found.count * 4 > found.capacity => self.nap / 2,
            Some(found) if found.count * 8 < found.capacity => (self.nap * 2).min(NAP),
            Some(_) => self.nap,
            None => Duration::ZERO,
        };
        self.given_up = if self.nap < SHORTEST { (self.given_up * 2).clamp(16, 1 << 12) } else { 0 };
        self.left = self.given_up;
    }
}

fn found(net: &Net<'_>, node: NodeId) -> Option<Found> {
    let cell = &net.nodes[node.index()];
    let (channel, full) = match cell.state.wait.read() {
        Waiting::Items { channel, .. } => (channel, false),
        Waiting::Room { channel, .. } => (channel, true),
        _ => return None,
    };
    let (meter, (from, to)) = (net.meter(channel), net.ends(channel));
    let (items, capacity) = (meter.items(), meter.capacity());
    let id = if full { to } else { from };
    let other = &net.nodes[id.index()];
    let active = other.body.as_ref().is_none_or(|body| body.is_held())
        || (matches!(other.state.wait.read(), Waiting::Window { .. }) && !other.state.is_stuck());
    let overslept = !active && search::rests(net, id);
    let count = if full { capacity.saturating_sub(items) } else { items };
    (cell.kind != Kind::Process).then_some(Found { count, capacity, overslept })
}

/// Sleeps until the node's wait is over.
fn doze(net: &Net<'_>, node: NodeId, sleeper: Sleeper, deadline: Option<(Instant, Duration)>) {
    let state = &net.nodes[node.index()].state;
    state.dozing.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst); // pairs with the changers' fence in `Net::changed`
    let mut looked = !net.search.is_on();
    while !state.satisfied(net, node) && !net.stopped() {
        let left = deadline.map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let patience = (!looked).then_some(search::PATIENCE);
        let timeout = [left, patience].into_iter().flatten().min();
        match net.sleep.wait_dedicated(sleeper, timeout, || crate::quiesce::examine(net)) {
            Woken::Resumed => net.resume(),
            Woken::TimedOut => match deadline {
                Some((at, given)) if Instant::now() >= at => net.fail(crate::Error::Deadline(given)),
                _ => {
                    looked = true;
                    search::suspect(net, node);
                    continue;
                }
            },
            Woken::Rung | Woken::Over => {}
        }
        break;
    }
    state.dozing.store(false, Ordering::Relaxed);
}
