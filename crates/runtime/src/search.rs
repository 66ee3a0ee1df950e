//! Circles that wait while the rest of the graph runs.
//!
//! `quiesce` judges a graph that rests as a whole. Here a part is found that can never go on by
//! itself, whatever the rest does: nodes that wait for each other only.
//!
//! # Protocol
//!
//! A set of nodes is *stuck* if none of them is active or could be, and every reason why any of
//! them waits (each edge of [`waits`](crate::waits)) leads to another of the set. Channels are
//! changed by their two ends only, so nothing outside can set a stuck set going, and no look at a
//! moment's state can be wrong about one if it is right about all of its nodes at once. That is what
//! claims are for:
//!
//! ```text
//!   searcher                                  who activates a node
//!   1. follows edges from a suspect, reading  1. claims the node, or is refused
//!      wait words and counters: a candidate   2. moves items; leaves its wait word
//!      set, or somebody who can go on         3. gives the claim back, fences,
//!   2. claims the candidates, in order of        looks at its neighbours
//!      their ids; refused: gives up           4. refused: somebody awake looks again
//!   3. looks again at all of them: stuck?
//!   4. opens the circle
//!   5. gives the claims back, fences, and
//!      looks at the candidates: `unhold`
//! ```
//!
//! While the searcher has all claims nobody else changes any of the candidates' channels, so step 3
//! sees one state, and both ends of a channel that grows in step 4 are held. Step 5 is what whoever
//! holds a claim owes to those it refused: a change it kept somebody from acting on is seen by its
//! look or by theirs.
//!
//! **Every stuck set is found.** One of its nodes was activated last. After that activation its
//! thread looks (a worker within [`PERIOD`] while it is awake, through two turns of all suspects, farther
//! and farther, the first of which may find that the set was active lately; once more, to the end, [`PATIENCE`] after it fell asleep; a dedicated thread the same),
//! and then the set is complete. A
//! searcher that is refused gave up to an activation, whose thread will look; or to another
//! searcher. Of several, the one that holds the highest id was refused by no searcher.
//!
//! **What is said of it.** A circle with a full channel is opened by growth, as `quiesce` does. One
//! without is looked at further only if something that the run is for waits for it, as otherwise it
//! may be cancelled yet: full channels on the way to it grow, and without any it is a deadlock,
//! where no input from outside its loop could end, and so end the loop.
//! What is not said here is said when all rests. So what is said does not depend on when.

use crate::error::Error;
use crate::growth::{feed, open_full};
use crate::net::Net;
use crate::node::{Held, NodeState, Waiting};
use crate::starve::unread_now;
use crate::sync::{AtomicUsize, Ordering, fence};
use crate::waits::{Circle, Edge, Waits, describe, describe_unread, edges};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;
use thalweg_graph::{GraphData, NodeId};

/// Time between looks of workers that are awake, all of them together.
pub(crate) const PERIOD: Duration = Duration::from_millis(1);
/// Time after which a sleeping thread looks, once.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);
/// Suspects that one look begins with: twice round so many in 25 periods each is found in 50 ms.
const SUSPECTS: usize = 2048;
/// A look takes at most this share of the time.
pub(crate) const SHARE: u64 = 64;
/// Nodes that the way from a suspect leads to at most, at first: in a graph of a million, all that wait
/// may wait for one that runs. Where it leads to more, twice as many the next time.
const REACH: usize = 1024;

/// The state of the search, shared by all threads of a run.
#[derive(Debug)]
pub(crate) struct Search {
    /// Nodes that may be in a circle, and those that the run is for.
    suspects: Box<[NodeId]>,
    /// The suspect that the next look begins with.
    next: AtomicUsize,
    /// Ticks of the next look.
    due: AtomicU64,
    /// Nodes that a look follows the way of a suspect to, at most: see [`REACH`].
    reach: AtomicUsize,
    /// By node: its activations when it was looked at last, the low bits.
    seen: Box<[AtomicU32]>,
    /// Candidate sets looked at under their claims.
    searches: AtomicUsize,
    /// Those that the run is for.
    ends: Box<[NodeId]>,
}

impl Search {
    pub(crate) fn new(graph: &GraphData) -> Search {
        let mut suspects = thalweg_analysis::deadlock_candidates(graph);
        let is_end = |node: &NodeId| crate::useful::is_end(graph.node(*node));
        let is_on = !suspects.is_empty();
        let ends = graph.node_ids().filter(is_end).filter(|_| is_on);
        let ends: Vec<NodeId> = ends.collect();
        suspects.extend(&ends);
        suspects.sort_unstable();
        suspects.dedup();
        Search {
            suspects: suspects.into(),
            next: AtomicUsize::new(0),
            due: AtomicU64::new(0),
            reach: AtomicUsize::new(REACH),
            seen: (0..if is_on { graph.nodes().len() } else { 0 }).map(|_| AtomicU32::new(0)).collect(),
            searches: AtomicUsize::new(0),
            ends: ends.into(),
        }
    }

    /// Whether the graph has no node that the run is for.
    pub(crate) fn has_no_ends(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether there is anything to look for.
    pub(crate) fn is_on(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Whether the node was active since it was asked of last.
    fn was_active(&self, node: NodeId, state: &NodeState) -> bool {
        let activations = state.activations.load(Ordering::Relaxed) as u32;
        self.seen[node.index()].swap(activations, Ordering::Relaxed) != activations
    }

    /// Candidate sets that were looked at under their claims so far.
    pub(crate) fn searches(&self) -> usize {
        self.searches.load(Ordering::Relaxed)
    }
}

/// [`PERIOD`] in ticks.
pub(crate) fn period(ticks_per_ns: f64) -> u64 {
    (PERIOD.as_nanos() as f64 * ticks_per_ns) as u64
}

/// A look at some suspects, if one is due at `now` (in ticks); when the next one is.
pub(crate) fn look(net: &Net<'_>, now: u64, ticks_per_ns: f64) -> u64 {
    let search = &net.search;
    let due = search.due.load(Ordering::Relaxed);
    let period = period(ticks_per_ns);
    if now < due {
        return due.min(now + period); // it has no end while somebody looks
    }
    if search.due.compare_exchange(due, u64::MAX, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return now + period; // another one looks
    }
    let scope = Scope { reach: search.reach.load(Ordering::Relaxed), idle_only: true };
    look_at(net, SUSPECTS, scope, Some(now + period));
    let after = crate::clock::ticks();
    let next = after + period.max(after.saturating_sub(now) * SHARE);
    search.due.store(next, Ordering::Relaxed);
    next
}

/// A look at every suspect.
pub(crate) fn sweep(net: &Net<'_>) {
    look_at(net, usize::MAX, Scope::ALL, None);
}

/// How far a look goes.
#[derive(Clone, Copy, Debug)]
struct Scope {
    /// Nodes that the way of one suspect is followed to at most.
    reach: usize,
    /// Whether who was active since the look before is taken for one that goes on: if it is stuck all
    /// the same, the next look finds it so.
    idle_only: bool,
}

impl Scope {
    const ALL: Scope = Scope { reach: usize::MAX, idle_only: false };
}

/// Looks at the next suspects, so many at most, and none after `until` (in ticks).
fn look_at(net: &Net<'_>, most: usize, scope: Scope, until: Option<u64>) {
    let suspects = &net.search.suspects;
    let (mut live, mut unwanted, mut far) = (HashSet::new(), false, false);
    for at in 0..most.min(suspects.len()) {
        if net.stopped() || until.is_some_and(|until| crate::clock::ticks() > until) {
            break;
        }
        // Who looks at all does so by itself: another may be passing by what it has not come to.
        let at = if until.is_some() { net.search.next.fetch_add(1, Ordering::Relaxed) } else { at };
        match looks(net, suspects[at % suspects.len()], scope, &mut live) {
            Verdict::Unwanted => unwanted = true,
            Verdict::Far => far = true,
            Verdict::Fine | Verdict::Grown | Verdict::Moved => {}
        }
    }
    if far {
        net.search.reach.store(scope.reach.saturating_mul(2), Ordering::Relaxed);
    }
    if unwanted {
        look_at_ends(net);
    }
}

/// Looks for a stuck set that a node waits for, and opens or names it.
pub(crate) fn suspect(net: &Net<'_>, node: NodeId) {
    if looks(net, node, Scope::ALL, &mut HashSet::new()) == Verdict::Unwanted {
        look_at_ends(net);
    }
}

/// The same for one that a worker has noted, not far and only if it was not active since it was noted
/// or looked at last. Those found `live` need not be looked at again.
pub(crate) fn suspect_of_worker(net: &Net<'_>, node: NodeId, live: &mut HashSet<NodeId>) {
    if net.search.was_active(node, &net.nodes[node.index()].state) {
        return;
    }
    let scope = Scope { reach: REACH, idle_only: false };
    if looks(net, node, scope, live) == Verdict::Unwanted {
        look_at_ends(net);
    }
}

/// Something is stuck that was not wanted when it was looked at: who waits for it may have been
/// looked at before it was stuck.
fn look_at_ends(net: &Net<'_>) {
    let mut live = HashSet::new();
    net.search.ends.iter().for_each(|end| _ = looks(net, *end, Scope::ALL, &mut live));
}

/// What is to be said of a node after a look at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// Nothing.
    Fine,
    /// A channel of it has grown.
    Grown,
    /// It is stuck for good, and nothing that the run is for is among those it waits for.
    Unwanted,
    /// Somebody was active there between the looks.
    Moved,
    /// Its way leads farther than was looked.
    Far,
}

fn looks(net: &Net<'_>, node: NodeId, scope: Scope, live: &mut HashSet<NodeId>) -> Verdict {
    let mut look = || {
        if !waits(net, node) {
            return Verdict::Fine;
        }
        match candidates(net, node, scope, live) {
            Ok(Some(candidates)) => confirm(net, candidates),
            Ok(None) => Verdict::Fine,
            Err(Far) => Verdict::Far,
        }
    };
    // Whoever was active may have been refused a look of his own by this one: so once more.
    match look() {
        Verdict::Moved => look(),
        verdict => verdict,
    }
}

/// Whether the node looks as if it waited for others of the graph; a quick look.
fn waits(net: &Net<'_>, node: NodeId) -> bool {
    let cell = &net.nodes[node.index()];
    let waits = match cell.state.wait.read() {
        Waiting::Never | Waiting::Foreign => false,
        Waiting::Ready => !cell.needs.is_empty(),
        _ => true,
    };
    waits && rests(net, node)
}

/// Whether an activation of the node would be in vain.
pub(crate) fn rests(net: &Net<'_>, node: NodeId) -> bool {
    let cell = &net.nodes[node.index()];
    let claimable = cell.state.satisfied(net, node) && net.missing(node).is_none();
    cell.body.is_some() && !cell.state.is_done() && !claimable && !cell.state.unstuck(net, node)
}

/// The way leads to more nodes than were to be looked at, or the run has stopped.
struct Far;

/// All that a node waits for, and what that waits for, if none of it can go on. Those on the way to
/// one that can are `live`: no other look need come this way.
fn candidates(
    net: &Net<'_>,
    start: NodeId,
    scope: Scope,
    live: &mut HashSet<NodeId>,
) -> Result<Option<BTreeMap<NodeId, Vec<Edge>>>, Far> {
    let mut found: BTreeMap<NodeId, Vec<Edge>> = BTreeMap::new();
    // The way from the start to the node looked at: each with the edges not followed yet.
    let mut way: Vec<(NodeId, usize)> = Vec::new();
    let mut next = Some(start);
    loop {
        if let Some(node) = next.take().filter(|node| !found.contains_key(node)) {
            let active = || scope.idle_only && net.search.was_active(node, &net.nodes[node.index()].state);
            let edges = match live.contains(&node) || !rests(net, node) || active() {
                true => Vec::new(),
                false => edges(net, node),
            };
            if edges.is_empty() {
                live.extend(way.iter().map(|(node, _)| *node));
                return Ok(None);
            }
            if found.len() >= scope.reach || (found.len().is_multiple_of(REACH) && net.stopped()) {
                // Not known to be, but for this look: it need not come here again.
                live.extend(found.keys());
                return Err(Far);
            }
            found.insert(node, edges);
            way.push((node, 0));
        }
        let Some((node, followed)) = way.last_mut() else { return Ok(Some(found)) };
        match found[node].get(*followed) {
            Some(edge) => {
                *followed += 1;
                next = Some(edge.to);
            }
            None => _ = way.pop(),
        }
    }
}

/// Claims the candidates and looks again; what is stuck is opened, or fails the run.
fn confirm(net: &Net<'_>, candidates: BTreeMap<NodeId, Vec<Edge>>) -> Verdict {
    let mut held: Vec<(NodeId, Box<dyn Held + '_>)> = Vec::new();
    for node in candidates.keys() {
        let body = net.nodes[node.index()].body.as_ref().expect("candidates have one");
        match body.hold(&net.nodes[node.index()].state) {
            Ok(hold) => held.push((*node, hold)),
            Err(missed) => {
                unhold(net, held);
                look_after(net, *node, missed);
                return Verdict::Moved;
            }
        }
    }
    net.search.searches.fetch_add(1, Ordering::Relaxed);
    let mut opened = Ok(Verdict::Moved);
    while let Some(stuck) = stuck(net, &held) {
        // SAFETY: this thread holds the claims of all nodes of the set, and they are at rest.
        opened = unsafe { open(net, &stuck) };
        // Who lacks room on two channels lacks it still when one has grown.
        if !matches!(opened, Ok(Verdict::Grown)) {
            break;
        }
    }
    unhold(net, held);
    opened.unwrap_or_else(|error| {
        net.fail(error);
        Verdict::Fine
    })
}

/// What all nodes of a set wait for that this thread holds, if none of it is outside the set.
fn stuck(net: &Net<'_>, held: &[(NodeId, Box<dyn Held + '_>)]) -> Option<BTreeMap<NodeId, Vec<Edge>>> {
    let now: BTreeMap<NodeId, Vec<Edge>> = held
        .iter()
        .filter(|(node, _)| rests(net, *node))
        .map(|(node, _)| (*node, edges(net, *node)))
        .collect();
    let closed = |edges: &Vec<Edge>| !edges.is_empty() && edges.iter().all(|edge| now.contains_key(&edge.to));
    (now.len() == held.len() && now.values().all(closed)).then_some(now)
}

/// Opens a stuck set by growth, or leaves it to `quiesce`.
///
/// # Errors
/// It can never go on, and something that the run is for waits for it.
///
/// # Safety
/// The caller holds the claims of all its nodes, and they are at rest.
unsafe fn open(net: &Net<'_>, stuck: &BTreeMap<NodeId, Vec<Edge>>) -> Result<Verdict, Error> {
    let is_wanted = |node: &NodeId| net.is_live_end(*node) || net.is_for_itself(*node);
    let wanted = net.search.ends.is_empty() || stuck.keys().any(is_wanted);
    let waits = Waits::new(stuck.iter().map(|(node, edges)| (*node, edges.clone())));
    // SAFETY: both ends of every channel that something of the set waits for are nodes of the set.
    match unsafe { open_full(net, &waits) } {
        Ok(false) => {}
        Ok(true) => return Ok(Verdict::Grown),
        Err(error) if wanted => return Err(error),
        Err(_) => return Ok(Verdict::Unwanted),
    }
    if !wanted {
        return Ok(Verdict::Unwanted);
    }
    let starved: Vec<Circle> = waits.circles(false).collect();
    if !net.closes_loops
        && let Some((circle, unread)) =
            starved.iter().find_map(|c| unread_now(net, &waits, c).map(|unread| (c, unread)))
    {
        return Err(Error::Deadlock(describe_unread(net, circle, unread)));
    }
    // SAFETY: as above.
    let fed = starved.iter().any(|circle| unsafe { feed(net, &waits, circle) });
    if fed {
        return Ok(Verdict::Grown);
    }
    if net.closes_loops || starved.iter().any(|circle| may_end(net, circle[0].0)) {
        return Ok(Verdict::Fine);
    }
    Err(Error::Deadlock(describe(net, &waits.worst(starved), None)))
}

/// Whether a node's loop has inputs from outside, whose end would end it.
fn may_end(net: &Net<'_>, node: NodeId) -> bool {
    let components = net.components();
    let inside = |other: NodeId| components.of(other) == components.of(node);
    let members = components.members(components.of(node));
    members.iter().flat_map(|member| net.inputs(*member)).any(|input| !inside(net.ends(*input).0))
}

/// Gives claims back, and looks after those who were refused meanwhile.
fn unhold(net: &Net<'_>, held: Vec<(NodeId, Box<dyn Held + '_>)>) {
    let released: Vec<NodeId> = held.into_iter().map(|(node, _)| node).collect();
    released.into_iter().for_each(|node| look_after(net, node, false));
}

/// The node's claim was held by a thread that activates nothing; `missed` says that there is
/// something to be done there which counters do not show.
fn look_after(net: &Net<'_>, node: NodeId, missed: bool) {
    if missed {
        net.nodes[node.index()].state.look_again();
    }
    fence(Ordering::SeqCst); // pairs with the changers' fences: see the protocol
    net.ring_dedicated(node);
    if net.ready.is_told() {
        net.tell_outside(node);
    } else if net.sleep.any_asleep() && net.claimable(node) {
        net.rouse(node);
    }
}
