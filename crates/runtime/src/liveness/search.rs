//! The search for sets of nodes that wait only for each other, while other nodes of the graph run.
//!
//! [`quiesce`](crate::liveness::quiesce) judges a graph in which all threads are about to sleep. This module finds a
//! part of a running graph that can never continue by itself, whatever the other nodes do.
//!
//! # States of a set
//!
//! | the set is | meaning | entered by | left by |
//! |---|---|---|---|
//! | a candidate | read node by node, without claims: every edge of [`waits`](crate::liveness::waits) leads to a node of the set, and no node is claimable | `candidates`, and `complete` for the other nodes of a loop that seems to be done | `confirm`, which claims its nodes; or a refused claim |
//! | held | the searching thread has the claims of all its nodes | `confirm` | `release_claims` |
//! | stuck | held, and all that makes it a candidate holds at one moment | `stuck` | growth of a channel, the end of a loop; never, if it is a deadlock |
//!
//! Only the two ends of a channel change it, so nothing outside a stuck set can make one of its nodes claimable.
//! Reading all its nodes at one moment therefore decides for good, and the claims make it one moment.
//!
//! # Protocol
//!
//! ```text
//!   searching thread                          thread that activates a node
//!   1. follows edges from a suspect, reads    1. claims the node, or is refused
//!      wait words and counters: finds a       2. moves items; sets the wait word
//!      candidate set, or a claimable node     3. releases the claim, fences,
//!   2. claims the candidates, in order of        reads its own and its neighbours' state
//!      their ids; gives up if refused         4. if refused: fences and reads the state
//!   3. reads all of them again: stuck?           again before it sleeps
//!   4. opens the cycle, or ends the loop
//!   5. releases the claims, fences, and
//!      makes the candidates ready
//! ```
//!
//! # Races, and why they cannot happen
//!
//! *A channel changes while it is judged or grown.* Both ends of a channel between two nodes of the set are held, so no
//! other thread accesses it from step 3 to step 5. Growth and the end of a loop happen in between.
//!
//! *A thread that the search has refused misses a change.* The refused thread has made or seen its change before a
//! fence; the searching thread fences after the release and reads the state (`make_ready_after_refusals`). One of the
//! two sees the other. A completed ticket that no counter shows is reported by `Body::hold` ([`node`](crate::node)).
//!
//! *Two searches refuse each other for ever.* Claims are acquired in order of the nodes' ids. Of several searches that
//! refuse each other, the one that holds the highest id was refused by no search.
//!
//! # Every stuck set is found
//!
//! One of its nodes was activated last, and the thread of that activation searches afterwards, when the set is
//! complete:
//!
//! - A worker that is awake searches within [`PERIOD`], in two rounds through all suspects. The first round may find
//!   that the set was active lately; the second one follows edges farther.
//! - A worker or dedicated thread that went to sleep searches once more, without limits, after [`PATIENCE`].
//!
//! A search that is refused a claim was refused by an activation, whose thread will search, or by another search.
//!
//! # Verdicts
//!
//! A loop without outside inputs that is done ends, as in `quiesce`, whatever waits for it: nothing else can become of it
//! ([`starve`](crate::liveness::starve)). A cycle with a full channel is opened by growth, as there. A cycle without one
//! is judged only if a live node of the graph waits for it, since otherwise it may still be cancelled. Full channels on the
//! way to it grow; if there are none, it is a deadlock, unless an input from outside its loop could end and so end the loop,
//! or the loop has none and may be done later. The latter is judged again when its last node waits; all other cycles are
//! judged when the whole graph is at rest. So the verdict does not depend on the time of the search.

use crate::error::Error;
use crate::liveness::growth::{grant, open_full};
use crate::liveness::starve::{close_held, complete, is_undecided, unread_now};
use crate::liveness::state::REACH;
use crate::liveness::waits::{Cycle, Edge, WaitGraph, describe, describe_unread, edges};
use crate::net::{Held, Net, Waiting};
use crate::sched::make_ready::make_ready;
use crate::sync::{Ordering, fence};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use thalweg_graph::NodeId;

/// Time between two searches by workers that are awake, all workers together.
pub(crate) const PERIOD: Duration = Duration::from_millis(1);
/// Time after which a thread that sleeps wakes and searches, once.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);
/// The greatest number of suspects that one search starts from. Two rounds through 25 times as many take 50 ms.
const SUSPECTS: usize = 2048;
/// Searches take at most one part in this many of a worker's time.
pub(crate) const SHARE: u64 = 64;
/// [`PERIOD`] in ticks.
pub(crate) fn period(ticks_per_ns: f64) -> u64 {
    (PERIOD.as_nanos() as f64 * ticks_per_ns) as u64
}

/// Searches from the next suspects, if a search is due at `now` and no other thread searches. Returns the time at which
/// to call again. All times are in ticks.
pub(crate) fn search_if_due(net: &Net<'_>, now: u64, ticks_per_ns: f64) -> u64 {
    let search = &net.liveness.search;
    let due = search.due.load(Ordering::Relaxed);
    let period = period(ticks_per_ns);
    if now < due {
        return due.min(now + period); // `due` is `u64::MAX` while another thread searches
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

/// Searches from every suspect, without limits: for a thread that has slept for [`PATIENCE`].
pub(crate) fn sweep(net: &Net<'_>) {
    search_some(net, usize::MAX, Scope::ALL, None);
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
struct Scope {
    /// The greatest number of nodes visited from one suspect.
    reach: usize,
    /// Whether a node that was active since the previous search counts as running. If it is stuck nevertheless, the
    /// next search finds it.
    idle_only: bool,
}

impl Scope {
    const ALL: Scope = Scope { reach: usize::MAX, idle_only: false };
}

/// Searches from at most `most` suspects: from all, in order, if `until` is `None`; otherwise from the next ones of the
/// shared position, and from none after the time `until` (in ticks).
fn search_some(net: &Net<'_>, most: usize, scope: Scope, until: Option<u64>) {
    let suspects = &net.liveness.search.suspects;
    let (mut live, mut dead, mut exceeded) = (HashSet::new(), false, false);
    for at in 0..most.min(suspects.len()) {
        if net.stopped() || until.is_some_and(|until| crate::measure::clock::ticks() > until) {
            break;
        }
        // A search from all suspects does not use the shared position, which another thread may have moved past
        // suspects that this search must examine.
        let at = if until.is_some() { net.liveness.search.next.fetch_add(1, Ordering::Relaxed) } else { at };
        match search_from(net, suspects[at % suspects.len()], scope, &mut live) {
            Verdict::Dead => dead = true,
            Verdict::LimitExceeded => exceeded = true,
            Verdict::Fine | Verdict::Opened | Verdict::Moved => {}
        }
    }
    if exceeded {
        net.liveness.search.reach.store(scope.reach.saturating_mul(2), Ordering::Relaxed);
    }
    if dead {
        search_from_ends(net);
    }
}

/// Searches, without limits, for a stuck set that a node waits for; opens it or fails the run.
pub(crate) fn suspect(net: &Net<'_>, node: NodeId) {
    if search_from(net, node, Scope::ALL, &mut HashSet::new()) == Verdict::Dead {
        search_from_ends(net);
    }
}

/// [`suspect`] for a node that a worker has noted, with limits, and only if the node was not active since the previous
/// search from it. Nodes on a path to a running node are added to `live`, which further calls skip.
pub(crate) fn suspect_of_worker(net: &Net<'_>, node: NodeId, live: &mut HashSet<NodeId>) {
    if was_active(net, node) {
        return;
    }
    let scope = Scope { reach: REACH, idle_only: false };
    if search_from(net, node, scope, live) == Verdict::Dead {
        search_from_ends(net);
    }
}

/// Searches from the ends of the graph. Called after a stuck set was found that no live node of its own waits in: an
/// end that waits for the set may have been searched from before the set was stuck.
fn search_from_ends(net: &Net<'_>) {
    let mut live = HashSet::new();
    net.liveness.search.ends.iter().for_each(|end| _ = search_from(net, *end, Scope::ALL, &mut live));
}

/// The result of a search from one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// The node can continue, or will be judged when the graph is at rest.
    Fine,
    /// A channel has grown or a loop has ended, so a node of the set is claimable.
    Opened,
    /// The set is stuck for good, and none of its nodes is live.
    Dead,
    /// The candidates were not stuck when they were held, or a claim was refused.
    Moved,
    /// The search visited as many nodes as its scope allows.
    LimitExceeded,
}

/// Searches for a stuck set that a node waits for, and opens it. Fails the run if the set is a deadlock.
fn search_from(net: &Net<'_>, node: NodeId, scope: Scope, live: &mut HashSet<NodeId>) -> Verdict {
    let mut search = || {
        if !waits(net, node) {
            return Verdict::Fine;
        }
        match candidates(net, node, scope, live) {
            Ok(Some(mut candidates)) => {
                complete(net, &mut candidates);
                confirm(net, candidates)
            }
            Ok(None) => Verdict::Fine,
            Err(LimitExceeded) => Verdict::LimitExceeded,
        }
    };
    // The thread that was active in between may itself search, and this thread's claims may refuse it: search once more
    // in its place.
    match search() {
        Verdict::Moved => search(),
        verdict => verdict,
    }
}

/// Whether the node was active since the previous call for it, by any thread.
fn was_active(net: &Net<'_>, node: NodeId) -> bool {
    let activations = net.node(node).state.activations.load(Ordering::Relaxed);
    net.liveness.search.was_active(node, activations)
}

/// Whether the node seems to wait for other nodes of the graph. A cheap check without claims.
fn waits(net: &Net<'_>, node: NodeId) -> bool {
    let cell = &net.cells.nodes[node.index()];
    let waits = match cell.state.wait.read() {
        _ if cell.state.has_waiting() => true,
        Waiting::Never | Waiting::Foreign | Waiting::Timed { .. } => false,
        // A node of static rates may lack something that its wait word does not name: see `Net::missing`.
        Waiting::Ready => !cell.needs.is_empty(),
        _ => true,
    };
    waits && rests(net, node)
}

/// Whether an activation of the node would do nothing. Exact if the caller holds the node's claim; otherwise a hint.
pub(crate) fn rests(net: &Net<'_>, node: NodeId) -> bool {
    let cell = &net.cells.nodes[node.index()];
    let claimable =
        cell.state.satisfied(net, node) && net.missing(node).is_none() && !cell.state.has_waiting();
    cell.body.is_some() && !cell.state.is_done() && !claimable && !cell.state.unstuck(net, node)
}

/// The search visited as many nodes as its scope allows, or the run has stopped.
struct LimitExceeded;

/// All nodes that `start` waits for, directly or through others, with their edges; `None` if one of them can continue.
/// Nodes on a path to such a node are added to `live`, which further searches skip. Holds no claims: the nodes may
/// change while they are read, so the caller confirms the result.
///
/// # Errors
/// The scope is exceeded.
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
                // These nodes are not known to run. Further searches with the same scope would only exceed it again.
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

/// Claims the candidates, reads them again, and opens the set as long as it is stuck. Fails the run if it is a
/// deadlock.
fn confirm(net: &Net<'_>, candidates: BTreeMap<NodeId, Vec<Edge>>) -> Verdict {
    let mut held: Vec<(NodeId, Box<dyn Held + '_>)> = Vec::new();
    // In order of the ids: see the module.
    for node in candidates.keys() {
        let body = net.cells.nodes[node.index()].body.as_ref().expect("candidates have one");
        match body.hold(&net.cells.nodes[node.index()].state) {
            Ok(hold) => held.push((*node, hold)),
            Err(is_unsettled) => {
                release_claims(net, held);
                make_ready_after_refusals(net, *node, is_unsettled);
                return Verdict::Moved;
            }
        }
    }
    net.liveness.search.searches.fetch_add(1, Ordering::Relaxed);
    let mut opened = Ok(Verdict::Moved);
    while let Some(stuck) = stuck(net, &held) {
        // SAFETY: `held` has the claims of all nodes of the set until `release_claims` below, and `stuck` has just
        // found that none of them is claimable.
        opened = unsafe { open(net, &stuck) };
        // Once more after growth: a node that lacks room on two channels lacks it on the other one still.
        if !matches!(opened, Ok(Verdict::Opened)) {
            break;
        }
    }
    release_claims(net, held);
    opened.unwrap_or_else(|error| {
        net.fail(error);
        Verdict::Fine
    })
}

/// The edges of all nodes of a set that this thread holds, if the set is stuck: no node is claimable, each waits for a
/// node, and no edge leads out of the set.
fn stuck(net: &Net<'_>, held: &[(NodeId, Box<dyn Held + '_>)]) -> Option<BTreeMap<NodeId, Vec<Edge>>> {
    let now: BTreeMap<NodeId, Vec<Edge>> = held
        .iter()
        .filter(|(node, _)| rests(net, *node))
        .map(|(node, _)| (*node, edges(net, *node)))
        .collect();
    let closed = |edges: &Vec<Edge>| !edges.is_empty() && edges.iter().all(|edge| now.contains_key(&edge.to));
    (now.len() == held.len() && now.values().all(closed)).then_some(now)
}

/// Opens a stuck set by growth or the end of a loop, or leaves it to `quiesce`. See the module for the verdicts.
///
/// # Errors
/// The set can never continue, and a live node waits for it.
///
/// # Safety
/// The caller holds the claims of all nodes of the set during the call, and none of them is claimable.
unsafe fn open(net: &Net<'_>, stuck: &BTreeMap<NodeId, Vec<Edge>>) -> Result<Verdict, Error> {
    if close_held(net, stuck) {
        return Ok(Verdict::Opened);
    }
    let is_live = |node: &NodeId| net.is_live_end(*node) || net.has_side_effects(*node);
    let live = net.liveness.search.ends.is_empty() || stuck.keys().any(is_live);
    let waits = WaitGraph::new(stuck.iter().map(|(node, edges)| (*node, edges.clone())));
    // SAFETY: a full channel of `waits` leads from a node of the set to another one, as no edge leads out of a stuck
    // set. The caller holds both, so no other thread accesses the channel or activates its producer before the release
    // of the claims, which orders the growth before the next activation.
    match unsafe { open_full(net, &waits) } {
        Ok(false) => {}
        Ok(true) => return Ok(Verdict::Opened),
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
    // SAFETY: as above; `grant` grows only full channels of `waits`.
    let granted = starved.iter().any(|cycle| unsafe { grant(net, &waits, cycle) });
    if granted {
        return Ok(Verdict::Opened);
    }
    let is_open = |node: NodeId| may_end(net, node) || is_undecided(net, stuck, node);
    if net.liveness.closes_loops || starved.iter().any(|cycle| is_open(cycle[0].0)) {
        return Ok(Verdict::Fine);
    }
    Err(Error::Deadlock(describe(net, &waits.worst(starved), None)))
}

/// Whether the loop of a node has inputs from outside: their end would end the loop.
fn may_end(net: &Net<'_>, node: NodeId) -> bool {
    let components = net.components();
    let inside = |other: NodeId| components.of(other) == components.of(node);
    let members = components.members(components.of(node));
    members.iter().flat_map(|member| net.inputs(*member)).any(|input| !inside(net.ends(*input).0))
}

/// Releases the claims of all nodes, and then makes the nodes ready.
fn release_claims(net: &Net<'_>, held: Vec<(NodeId, Box<dyn Held + '_>)>) {
    // All claims before the first node is made ready: a woken thread may need several of the nodes.
    let released: Vec<NodeId> = held.into_iter().map(|(node, _)| node).collect();
    released.into_iter().for_each(|node| make_ready_after_refusals(net, node, false));
}

/// Makes a node ready after a search has held, or tried to hold, its claims: other threads may have been refused.
/// `is_unsettled` says that such a thread may have left something undone which no counter shows.
fn make_ready_after_refusals(net: &Net<'_>, node: NodeId, is_unsettled: bool) {
    if is_unsettled {
        net.cells.nodes[node.index()].state.look_again();
    }
    fence(Ordering::SeqCst); // after the release; pairs with the fences of the refused threads, see the module
    make_ready(net, node);
}
