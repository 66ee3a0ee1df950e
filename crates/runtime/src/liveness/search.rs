//! The search for sets of nodes that wait for each other only, while the rest of the graph runs.
//!
//! [`quiesce`](crate::liveness::quiesce) judges a graph that is at rest as a whole. This module finds a part of the graph
//! that can never go on by itself, whatever the rest does.
//!
//! # Protocol
//!
//! A set of nodes is *stuck* if none of them is active or could be, and every reason why one of them waits (each edge
//! of [`waits`](crate::liveness::waits)) leads to another node of the set. Channels are changed by their two ends only,
//! so nothing outside a stuck set can make one of its nodes claimable. A look at all its nodes at one moment therefore
//! decides for good; the claims make it one moment:
//!
//! ```text
//!   searching thread                          thread that activates a node
//!   1. follows edges from a suspect, reading  1. claims the node, or is refused
//!      wait words and counters: a candidate   2. moves items; leaves its wait word
//!      set, or a node that can go on          3. releases the claim, fences,
//!   2. claims the candidates, in order of        looks at the neighbours
//!      their ids; if refused: gives up        4. if refused: a thread that is awake
//!   3. looks again at all of them: stuck?        looks again
//!   4. opens the cycle
//!   5. releases the claims, fences, and
//!      looks at the candidates: `unhold`
//! ```
//!
//! While the searching thread has all claims no other thread changes a channel between candidates, so step 3 sees one
//! state, and both ends of a channel that grows in step 4 are held. Step 5 is the duty of every holder of a claim
//! towards the threads it refused: a change that such a thread could not act on is seen by the holder's look or by its
//! own.
//!
//! **Every stuck set is found.** One of its nodes was activated last. The thread of that activation searches afterwards:
//! a worker within [`PERIOD`] while it is awake, in two rounds through all suspects, each following edges farther, of
//! which the first may find that the set was active lately; and once more without limits [`PATIENCE`] after it went to
//! sleep; a dedicated thread likewise. By then the set is complete. A search that is refused a claim was refused by an
//! activation, whose thread will search, or by another search; of several, the one that holds the highest id was
//! refused by no search.
//!
//! **The verdict.** A cycle with a full channel is opened by growth, as in `quiesce`. A cycle without one is judged only
//! if a live node of the graph waits for it, since otherwise it may yet be cancelled: full channels on the way to it
//! grow; if there are none it is a deadlock, unless an input from outside its loop could end and so end the loop. All
//! else is judged when the whole graph rests. So the verdict does not depend on when the search comes.

use crate::error::Error;
use crate::liveness::growth::{grant, open_full};
use crate::liveness::starve::unread_now;
use crate::liveness::state::REACH;
use crate::liveness::waits::{Cycle, Edge, Waits, describe, describe_unread, edges};
use crate::net::{Held, Net, Waiting};
use crate::sched::make_ready::make_ready;
use crate::sync::{Ordering, fence};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use thalweg_graph::NodeId;

/// Time between searches by workers that are awake, all of them together.
pub(crate) const PERIOD: Duration = Duration::from_millis(1);
/// Time after which a sleeping thread searches, once.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);
/// Suspects that one search starts from: two rounds through 25 times as many take 50 ms.
const SUSPECTS: usize = 2048;
/// Searches take at most one in this many units of time.
pub(crate) const SHARE: u64 = 64;
/// [`PERIOD`] in ticks.
pub(crate) fn period(ticks_per_ns: f64) -> u64 {
    (PERIOD.as_nanos() as f64 * ticks_per_ns) as u64
}

/// Searches from some suspects, if that is due at `now` (in ticks). Returns when the next search is due.
pub(crate) fn search_if_due(net: &Net<'_>, now: u64, ticks_per_ns: f64) -> u64 {
    let search = &net.liveness.search;
    let due = search.due.load(Ordering::Relaxed);
    let period = period(ticks_per_ns);
    if now < due {
        return due.min(now + period); // `u64::MAX` while another thread searches
    }
    if search.due.compare_exchange(due, u64::MAX, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return now + period; // another thread searches
    }
    let scope = Scope { reach: search.reach.load(Ordering::Relaxed), idle_only: true };
    search_some(net, SUSPECTS, scope, Some(now + period));
    let after = crate::measure::clock::ticks();
    let next = after + period.max(after.saturating_sub(now) * SHARE);
    search.due.store(next, Ordering::Relaxed);
    next
}

/// Searches from every suspect, without limits.
pub(crate) fn sweep(net: &Net<'_>) {
    search_some(net, usize::MAX, Scope::ALL, None);
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
struct Scope {
    /// Nodes visited from one suspect at most.
    reach: usize,
    /// Whether a node that was active since the previous search counts as going on. If it is stuck all the same, the
    /// next search finds it.
    idle_only: bool,
}

impl Scope {
    const ALL: Scope = Scope { reach: usize::MAX, idle_only: false };
}

/// Searches from the next suspects, `most` at most, and from none after `until` (in ticks).
fn search_some(net: &Net<'_>, most: usize, scope: Scope, until: Option<u64>) {
    let suspects = &net.liveness.search.suspects;
    let (mut live, mut dead, mut exceeded) = (HashSet::new(), false, false);
    for at in 0..most.min(suspects.len()) {
        if net.stopped() || until.is_some_and(|until| crate::measure::clock::ticks() > until) {
            break;
        }
        // A search from all suspects does not share the position: another may have passed suspects that it has not
        // examined yet.
        let at = if until.is_some() { net.liveness.search.next.fetch_add(1, Ordering::Relaxed) } else { at };
        match search_from(net, suspects[at % suspects.len()], scope, &mut live) {
            Verdict::Dead => dead = true,
            Verdict::LimitExceeded => exceeded = true,
            Verdict::Fine | Verdict::Grown | Verdict::Moved => {}
        }
    }
    if exceeded {
        net.liveness.search.reach.store(scope.reach.saturating_mul(2), Ordering::Relaxed);
    }
    if dead {
        search_from_ends(net);
    }
}

/// Searches for a stuck set that a node waits for, and opens it or fails the run.
pub(crate) fn suspect(net: &Net<'_>, node: NodeId) {
    if search_from(net, node, Scope::ALL, &mut HashSet::new()) == Verdict::Dead {
        search_from_ends(net);
    }
}

/// [`suspect`] for a node that a worker has noted, with limits, and only if the node was not active since it was noted
/// or searched from last. Nodes found to go on are added to `live`, which further calls skip.
pub(crate) fn suspect_of_worker(net: &Net<'_>, node: NodeId, live: &mut HashSet<NodeId>) {
    if was_active(net, node) {
        return;
    }
    let scope = Scope { reach: REACH, idle_only: false };
    if search_from(net, node, scope, live) == Verdict::Dead {
        search_from_ends(net);
    }
}

/// Searches from the ends of the graph: a stuck set was found that no live node waited for, but such a node may have
/// been searched from before the set was stuck.
fn search_from_ends(net: &Net<'_>) {
    let mut live = HashSet::new();
    net.liveness.search.ends.iter().for_each(|end| _ = search_from(net, *end, Scope::ALL, &mut live));
}

/// The result of a search from one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// The node can go on, or will be judged later.
    Fine,
    /// A channel has grown.
    Grown,
    /// It is stuck for good, and no live node is among the nodes of its set.
    Dead,
    /// A node was active between the two looks.
    Moved,
    /// The search visited as many nodes as it may.
    LimitExceeded,
}

fn search_from(net: &Net<'_>, node: NodeId, scope: Scope, live: &mut HashSet<NodeId>) -> Verdict {
    let mut look = || {
        if !waits(net, node) {
            return Verdict::Fine;
        }
        match candidates(net, node, scope, live) {
            Ok(Some(candidates)) => confirm(net, candidates),
            Ok(None) => Verdict::Fine,
            Err(LimitExceeded) => Verdict::LimitExceeded,
        }
    };
    // The active thread may have been refused a search of its own by this one: search once more.
    match look() {
        Verdict::Moved => look(),
        verdict => verdict,
    }
}

/// Whether the node was active since it was asked for last.
fn was_active(net: &Net<'_>, node: NodeId) -> bool {
    let activations = net.node(node).state.activations.load(Ordering::Relaxed);
    net.liveness.search.was_active(node, activations)
}

/// Whether the node seems to wait for others of the graph, by a quick look.
fn waits(net: &Net<'_>, node: NodeId) -> bool {
    let cell = &net.cells.nodes[node.index()];
    let waits = match cell.state.wait.read() {
        Waiting::Never | Waiting::Foreign => false,
        Waiting::Ready => !cell.needs.is_empty(),
        _ => true,
    };
    waits && rests(net, node)
}

/// Whether an activation of the node would do nothing.
pub(crate) fn rests(net: &Net<'_>, node: NodeId) -> bool {
    let cell = &net.cells.nodes[node.index()];
    let claimable = cell.state.satisfied(net, node) && net.missing(node).is_none();
    cell.body.is_some() && !cell.state.is_done() && !claimable && !cell.state.unstuck(net, node)
}

/// The search visited as many nodes as it may, or the run has stopped.
struct LimitExceeded;

/// All nodes that a node waits for, directly or through others, if none of them can go on. Nodes on a path to one that
/// can are added to `live`, which further searches skip.
fn candidates(
    net: &Net<'_>,
    start: NodeId,
    scope: Scope,
    live: &mut HashSet<NodeId>,
) -> Result<Option<BTreeMap<NodeId, Vec<Edge>>>, LimitExceeded> {
    let mut found: BTreeMap<NodeId, Vec<Edge>> = BTreeMap::new();
    // The path from the start to the present node, each node with the number of its edges followed so far.
    let mut path: Vec<(NodeId, usize)> = Vec::new();
    let mut next = Some(start);
    loop {
        if let Some(node) = next.take().filter(|node| !found.contains_key(node)) {
            let active = || scope.idle_only && was_active(net, node);
            let edges = match live.contains(&node) || !rests(net, node) || active() {
                true => Vec::new(),
                false => edges(net, node),
            };
            if edges.is_empty() {
                live.extend(path.iter().map(|(node, _)| *node));
                return Ok(None);
            }
            if found.len() >= scope.reach || (found.len().is_multiple_of(REACH) && net.stopped()) {
                // Not known to go on, but this search need not visit them again.
                live.extend(found.keys());
                return Err(LimitExceeded);
            }
            found.insert(node, edges);
            path.push((node, 0));
        }
        let Some((node, followed)) = path.last_mut() else { return Ok(Some(found)) };
        match found[node].get(*followed) {
            Some(edge) => {
                *followed += 1;
                next = Some(edge.to);
            }
            None => _ = path.pop(),
        }
    }
}

/// Claims the candidates and looks again. Opens what is stuck, or fails the run.
fn confirm(net: &Net<'_>, candidates: BTreeMap<NodeId, Vec<Edge>>) -> Verdict {
    let mut held: Vec<(NodeId, Box<dyn Held + '_>)> = Vec::new();
    for node in candidates.keys() {
        let body = net.cells.nodes[node.index()].body.as_ref().expect("candidates have one");
        match body.hold(&net.cells.nodes[node.index()].state) {
            Ok(hold) => held.push((*node, hold)),
            Err(missed) => {
                unhold(net, held);
                make_up_for(net, *node, missed);
                return Verdict::Moved;
            }
        }
    }
    net.liveness.search.searches.fetch_add(1, Ordering::Relaxed);
    let mut opened = Ok(Verdict::Moved);
    while let Some(stuck) = stuck(net, &held) {
        // SAFETY: this thread holds the claims of all nodes of the set, and they are at rest.
        opened = unsafe { open(net, &stuck) };
        // A node that lacks room on two channels still lacks it when one has grown.
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

/// The edges of all nodes of a set that this thread holds, if none leads out of the set.
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
/// The set can never go on, and a live node waits for it.
///
/// # Safety
/// The caller holds the claims of all its nodes, and they are at rest.
unsafe fn open(net: &Net<'_>, stuck: &BTreeMap<NodeId, Vec<Edge>>) -> Result<Verdict, Error> {
    let is_live = |node: &NodeId| net.is_live_end(*node) || net.has_side_effects(*node);
    let live = net.liveness.search.ends.is_empty() || stuck.keys().any(is_live);
    let waits = Waits::new(stuck.iter().map(|(node, edges)| (*node, edges.clone())));
    // SAFETY: both ends of every channel that a node of the set waits for are nodes of the set.
    match unsafe { open_full(net, &waits) } {
        Ok(false) => {}
        Ok(true) => return Ok(Verdict::Grown),
        Err(error) if live => return Err(error),
        Err(_) => return Ok(Verdict::Dead),
    }
    if !live {
        return Ok(Verdict::Dead);
    }
    let starved: Vec<Cycle> = waits.cycles(false).collect();
    if !net.liveness.closes_loops
        && let Some((cycle, unread)) =
            starved.iter().find_map(|c| unread_now(net, &waits, c).map(|unread| (c, unread)))
    {
        return Err(Error::Deadlock(describe_unread(net, cycle, unread)));
    }
    // SAFETY: as above.
    let granted = starved.iter().any(|cycle| unsafe { grant(net, &waits, cycle) });
    if granted {
        return Ok(Verdict::Grown);
    }
    if net.liveness.closes_loops || starved.iter().any(|cycle| may_end(net, cycle[0].0)) {
        return Ok(Verdict::Fine);
    }
    Err(Error::Deadlock(describe(net, &waits.worst(starved), None)))
}

/// Whether a node's loop has inputs from outside, whose end would end the loop.
fn may_end(net: &Net<'_>, node: NodeId) -> bool {
    let components = net.components();
    let inside = |other: NodeId| components.of(other) == components.of(node);
    let members = components.members(components.of(node));
    members.iter().flat_map(|member| net.inputs(*member)).any(|input| !inside(net.ends(*input).0))
}

/// Releases the claims, and makes up for the threads that were refused meanwhile.
fn unhold(net: &Net<'_>, held: Vec<(NodeId, Box<dyn Held + '_>)>) {
    let released: Vec<NodeId> = held.into_iter().map(|(node, _)| node).collect();
    released.into_iter().for_each(|node| make_up_for(net, node, false));
}

/// Makes a node ready whose claim a search has held; `missed` says that the node has something to do which no counter
/// shows.
fn make_up_for(net: &Net<'_>, node: NodeId, missed: bool) {
    if missed {
        net.cells.nodes[node.index()].state.look_again();
    }
    fence(Ordering::SeqCst); // pairs with the changers' fences: see the protocol
    make_ready(net, node);
}
