//! Data-flow order with hysteresis: ours, and the default.
//!
//! A graph that contains processes is run by [`work_stealing`] instead, with the placement that keeps communicating
//! processes together ([`Place::Near`]), which carries items on too. For kernels:
//!
//! A worker stays at its node while that pays, because a long activation amortises its claim and keeps the
//! node's state and channels in cache. Otherwise it follows the data:
//!
//! - budget spent: to the consumer of an output that is over half full (of a short channel, as soon as it has an
//!   item), else to the producer of a parallel node's input that is nearly empty, else stay,
//! - output full: to the consumer; input empty: to the producer,
//! - each only if that node is claimable and its *readiness* is more than a sliver; else to the node of the graph
//!   with the highest readiness.
//!
//! *Readiness* is the smaller of a node's input fill and output room, at most one half: a node with half its input
//! and half its room is as good as any. Of equally ready nodes one that the plan gives to this worker is taken, if there
//! is one, and else the farthest downstream, so that the graph drains before it fills. Channels thus tend to be half
//! full, as under DANBI's PSS (section III-A3), but without its randomness: workers at different nodes diverge because
//! they see different fills.
//!
//! A worker examines the nodes in windows of 64, from a random window on, and stops at the first window with a
//! claimable node. [`Decision::Idle`] means that no node at all was claimable, or that the worker waits (below).
//!
//! # Carrying items on
//!
//! To move an item that owns memory to another worker costs its cache lines, and the memory is freed on another thread
//! than it was allocated on. With glibc such a free takes the lock of the other thread's arena, and leaves each thread
//! with small blocks that share a cache line with blocks of the other, for the rest of the program: two threads were 2 to 3
//! times slower than one. And a batch that is used at once is still in the cache: one worker took 1.6 times as long as a loop
//! for blocks of 256 KiB, which it made until a channel was half full. So if some items own memory or are large
//! ([`Measurements::carries`]), a worker goes on with the items that it has pushed, as a worker of a TBB pipeline does with
//! its token (Navarro et al., *Load Balancing Using Work-stealing for Pipeline Parallelism*, Figure 5b):
//!
//! 1. to the consumer of the node that it has activated, if the next items there are its own, else it stays at that node,
//!    else it goes to the nearest node upstream, under the same condition, else to any node under that condition;
//! 2. if none of these is possible though items of its own wait for their turn, it waits for a moment; after a moment in vain
//!    not again before one of the nodes that they wait for has taken items;
//! 3. it takes new input: a source;
//! 4. it takes what another worker has pushed, as above by readiness. If it has waited in vain, this comes before 3, so that
//!    items do not accumulate.
//!
//! The host ends an activation where the items of another worker begin. So workers pass a sequential node on to each other
//! in the order of their items, and run in parallel because they are at different batches. Integers and the like are not
//! worth waiting for: there the rules at the beginning hold.
//!
//! Without the second rule each collision at a sequential node leaves one more batch in the channel before it, and none is
//! ever taken away, until the channel is full and most items cross.
//!
//! The turn may be that of a worker in a long firing, which no moment outlasts. A worker that waited anew before each
//! activation of a source took up to 50 ms to fill a channel. That worker did not sleep meanwhile, and only a worker that
//! sleeps passes on what the long firing holds up.
//!
//! Where firings are long beside the moves of their items ([`Measurements::waits`]), a worker does not wait either: instead of 2
//! to 4 it takes the readiest node, which may be a source. A wait would last as long as a firing.
//!
//! A node with several inputs has its turns by the first one. Items there that wait for those of another input, or for room,
//! have no turn to wait for: a worker that waited for them would keep the others from what they need.
//!
//! [`Measurements::carries`]: crate::Measurements::carries
//! [`Measurements::waits`]: crate::Measurements::waits
//!
//! Fair: one decision in [`FAIR_EVERY`] goes to the next claimable node in round-robin order.

use crate::patience::Patience;
use crate::pick::{consumer, if_claimable, inputs, outputs, producer};
use crate::readiness::{Ranks, Sources, WINDOW, fullest_output, readiness};
use crate::work_stealing::{self, Place, WorkStealing};
use crate::{Decision, Event, Host, Needs, Policy, WorkerId};
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId};

/// Of this many decisions of a worker, one is round-robin. Prime, so that it does not fall into step with a
/// period of the graph.
pub const FAIR_EVERY: u32 = 61;

/// The least readiness of a neighbour to which a worker moves while another node is readier.
const SLIVER: f64 = 0.125;

/// Output fill above which the consumer comes first.
const HALF_FULL: f64 = 0.5;

/// Input fill below which the producer of a parallel node comes first.
const LOW_FILL: f64 = 0.375;

/// Capacity in items up to which a channel is short.
const SHORT_CAPACITY: usize = 32;

/// Maximum number of decisions in a row to wait for the turn of a worker's own items. The host yields the core between two,
/// so this is a fraction of a millisecond where each thread has a core, longer than a batch needs in most stages. With 64,
/// and a turn of the round-robin among them, a fifth of the lines of a JSON parser crossed to another worker; with 400 and
/// none, one in 100. No bound by the clock: where threads share cores, one of 0.5 ms doubled what crossed.
pub const MAX_WAITS: u32 = 400;

/// Maximum number of nodes upstream among which a worker looks for items of its own. Bounds the walk in a loop.
const MAX_UPSTREAM: usize = 16;

/// The policy `auto`.
#[derive(Clone, Copy, Default, Debug)]
pub struct Auto;

/// State of one worker.
#[derive(Clone, Debug)]
pub enum Local {
    /// In a graph of kernels.
    DataFlow(DataFlow),
    /// In a graph that contains processes.
    WorkStealing(work_stealing::Local),
}

/// State of one worker in a graph of kernels.
#[derive(Clone, Debug)]
pub struct DataFlow {
    worker: WorkerId,
    /// Whether the worker carries its items on.
    carries: bool,
    /// Waits for nodes that must take items of this worker next.
    patience: Patience,
    /// The order of nodes that are equally ready.
    ranks: Ranks,
    /// Decisions until the next round-robin one.
    until_fair: u32,
    /// The index at which the next round-robin decision begins its search.
    cursor: usize,
}

/// The policy of graphs that contain processes.
const WORK_STEALING: WorkStealing = WorkStealing::new(Place::Near);

fn has_processes(graph: &GraphData) -> bool {
    graph.nodes().iter().any(|node| node.kind() == Kind::Process)
}

impl Policy for Auto {
    type Local = Local;
    type Shared = ();

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Local {
        match has_processes(host.graph()) {
            true => Local::WorkStealing(WORK_STEALING.start(worker, host)),
            false => Local::DataFlow(DataFlow::new(worker, host)),
        }
    }

    fn needs(&self, graph: &GraphData) -> Needs {
        if has_processes(graph) { Needs::Notifications } else { Needs::Scans }
    }

    #[inline(always)]
    fn ready<H: Host>(&self, me: &mut Local, node: NodeId, host: &mut H) {
        if let Local::WorkStealing(me) = me {
            WORK_STEALING.ready(me, node, host);
        }
    }

    #[inline(always)]
    fn handoffs(&self, me: &mut Local, followed: u32) -> u32 {
        match me {
            Local::WorkStealing(me) => WORK_STEALING.handoffs(me, followed),
            Local::DataFlow(_) => 0,
        }
    }

    fn adapts(&self) -> bool {
        true
    }

    fn stand_down<H: Host>(&self, me: &mut Local, host: &mut H) {
        if let Local::WorkStealing(me) = me {
            WORK_STEALING.stand_down(me, host);
        }
    }

    #[inline(always)]
    fn next<H: Host>(&self, me: &mut Local, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        match me {
            Local::WorkStealing(me) => WORK_STEALING.next(me, last, host),
            Local::DataFlow(me) => me.next(last, host),
        }
    }
}

impl DataFlow {
    fn new<H: Host>(worker: WorkerId, host: &H) -> DataFlow {
        let nodes = host.graph().nodes().len();
        let workers = host.plan().workers(host.graph());
        let is_mine = |node: NodeId| workers.of(node) == Some(worker);
        let planned = match workers.is_empty() {
            true => Vec::new(),
            false => host.graph().node_ids().map(is_mine).collect(),
        };
        DataFlow {
            worker,
            carries: host.carries(),
            patience: Patience::default(),
            ranks: Ranks::new(host.graph(), planned),
            until_fair: FAIR_EVERY,
            cursor: worker * nodes / host.workers().max(1),
        }
    }

    fn next<H: Host>(&mut self, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        if self.carries {
            return self.carry(last, host);
        }
        let pick = self.round_robin(host).or_else(|| follow(last, host));
        pick.or_else(|| self.ranks.readiest(Sources::Rated, host)).map_or(Decision::Idle, Decision::Activate)
    }

    /// The decision of a worker that carries its items on: see the module.
    fn carry<H: Host>(&mut self, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        // A worker that waits asks often, and these questions are no turns of the round-robin.
        let fair = if self.patience.is_waiting() { None } else { self.round_robin(host) };
        if let Some(fair) = fair {
            return Decision::Activate(fair);
        }
        let near = last.and_then(|(node, _)| self.go_on(node, host));
        let own = near.or_else(|| self.any_own(host));
        let waits = host.waits();
        let behind = if waits && own.is_none() { waiting(host) } else { None };
        if self.patience.waits_for(behind) {
            return Decision::Idle;
        }
        let sources = match behind {
            _ if !waits => Sources::Rated,
            Some(_) => Sources::Last,
            None => Sources::First,
        };
        own.or_else(|| self.ranks.readiest(sources, host)).map_or(Decision::Idle, Decision::Activate)
    }

    /// The node at which the worker goes on with items of its own: the consumer of what `node` has pushed, else `node`
    /// itself, else the nearest node upstream. Not a source.
    fn go_on<H: Host>(&self, node: NodeId, host: &H) -> Option<NodeId> {
        let graph = host.graph();
        let is_own = |to: NodeId| origin(to, host).is_none_or(|worker| worker == self.worker);
        let with_own =
            |to: NodeId| if_claimable(host, to).filter(|to| !graph.node(*to).is_source() && is_own(*to));
        let next = fullest_output(node, host).filter(|(_, fill)| *fill > 0.0);
        let next = next.and_then(|(channel, _)| with_own(consumer(graph, channel)));
        let here = || with_own(node);
        let upstream = || {
            let nodes =
                std::iter::successors(Some(node), |node| Some(producer(graph, inputs(graph, *node).next()?)));
            nodes.skip(1).take(MAX_UPSTREAM).find_map(with_own)
        };
        next.or_else(here).or_else(upstream)
    }

    /// The claimable node farthest downstream whose next items are this worker's own.
    fn any_own<H: Host>(&self, host: &H) -> Option<NodeId> {
        let is_own = |node: &NodeId| origin(*node, host) == Some(self.worker) && host.claimable(*node);
        host.graph().node_ids().filter(is_own).max_by_key(|node| self.ranks.depth(*node))
    }
}

/// The worker that has pushed the next item of a node's first input.
pub(crate) fn origin<S, H: Host<S>>(node: NodeId, host: &H) -> Option<WorkerId> {
    inputs(host.graph(), node).next().and_then(|channel| host.origin(channel))
}

/// Whether items of this worker wait for their turn: in the first input of a node that lacks neither items nor room.
pub fn any_waiting<S, H: Host<S>>(host: &H) -> bool {
    with_waiting(host).next().is_some()
}

/// The channels in which items of this worker wait for their turn.
fn with_waiting<S, H: Host<S>>(host: &H) -> impl Iterator<Item = ChannelId> {
    let graph = host.graph();
    graph.channel_ids().filter(move |channel| {
        let to = consumer(graph, *channel);
        host.any_waiting(*channel) && inputs(graph, to).next() == Some(*channel) && host.lack(to).is_none()
    })
}

/// If items of this worker wait for their turn: a sum that differs once a node that they wait for has taken items.
pub(crate) fn waiting<H: Host>(host: &H) -> Option<u64> {
    let taken = |channel| host.traffic(channel).wrapping_sub(host.occupancy(channel).items as u64);
    let sums = with_waiting(host).map(|channel| taken(channel).wrapping_add(channel.index() as u64));
    sums.reduce(|sum, next| sum.wrapping_mul(31).wrapping_add(next))
}

/// The neighbour that the data leads to, or the node itself, if it is claimable and ready by more than a sliver.
fn follow<H: Host>(last: Option<(NodeId, Event)>, host: &H) -> Option<NodeId> {
    let (node, event) = last?;
    let ready = |to: NodeId| if_claimable(host, to).filter(|&to| readiness(to, host) >= SLIVER);
    match event {
        Event::Empty(channel) => ready(producer(host.graph(), channel)),
        Event::Full(channel) => ready(consumer(host.graph(), channel)),
        Event::Budget => drain(node, host)
            .and_then(ready)
            .or_else(|| refill(node, host).and_then(ready))
            .or_else(|| ready(node)),
        Event::Waiting | Event::Done | Event::Refused => None,
    }
}

/// The consumer of the fullest output, if that is over half full. Of a short channel one item suffices: the items of
/// a short channel are few and heavy, and are best used while they are in the cache.
fn drain<H: Host>(node: NodeId, host: &H) -> Option<NodeId> {
    let leads = |channel: ChannelId, fill: f64| {
        fill > HALF_FULL || (fill > 0.0 && host.occupancy(channel).capacity <= SHORT_CAPACITY)
    };
    let (channel, _) = fullest_output(node, host).filter(|(channel, fill)| leads(*channel, *fill))?;
    Some(consumer(host.graph(), channel))
}

/// The producer of a parallel node's input that is nearly empty. To refill an input before it is empty keeps the
/// other workers of the node busy while one of them runs the producer.
fn refill<H: Host>(node: NodeId, host: &H) -> Option<NodeId> {
    let graph = host.graph();
    let low = |channel: &ChannelId| host.occupancy(*channel).fill() < LOW_FILL;
    let channel = inputs(graph, node).filter(|_| graph.node(node).kind() == Kind::Parallel).find(low)?;
    Some(producer(graph, channel))
}

/// The maximum number of firings in a batch that is carried on: as many as each parallel consumer of the node takes items of
/// in one claim, at least 1. `claim` is the number of firings in a claim of a parallel node, if it is known. A dynamic rate
/// counts as one item.
///
/// A worker takes its items at a consumer before another worker takes the next ones there. If it needed several claims for
/// them, the workers would run the consumer in turns instead of at the same time.
pub fn batch_limit(graph: &GraphData, node: NodeId, claim: impl Fn(NodeId) -> Option<u64>) -> u64 {
    let limit = |id: ChannelId| {
        let channel = graph.channel(id);
        let (from, to) = (graph.node(channel.from().0), graph.node(channel.to().0));
        let claim = claim(channel.to().0).filter(|_| to.kind() == Kind::Parallel)?;
        let push = from.outputs()[channel.from().1].push().fixed().unwrap_or(1);
        let pop = to.inputs()[channel.to().1].pop().fixed().unwrap_or(1);
        Some((claim.saturating_mul(pop) / push.max(1)).max(1))
    };
    outputs(graph, node).filter_map(limit).min().unwrap_or(u64::MAX)
}

impl DataFlow {
    /// Once in [`FAIR_EVERY`] calls: the next claimable node in round-robin order, of at most a window.
    fn round_robin<H: Host>(&mut self, host: &H) -> Option<NodeId> {
        self.until_fair -= 1;
        if self.until_fair > 0 {
            return None;
        }
        self.until_fair = FAIR_EVERY;
        let nodes = self.ranks.nodes();
        let window = (0..nodes.min(WINDOW)).map(|i| (self.cursor + i) % nodes);
        let found = window.map(|i| NodeId(i as u32)).find(|&n| host.claimable(n));
        self.cursor = found.map_or(self.cursor + WINDOW, |n| n.index() + 1) % nodes;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;
    use thalweg_graph::Rate;

    /// The decision of `auto` on a chain of five with these fills after `event` at node 2.
    fn after(event: Event, fills: [usize; 4], claimable: &[u32]) -> Decision {
        let mut host = Mock::new(graphs::chain(5));
        host.items = fills.to_vec();
        host.only(claimable);
        let mut me = Auto.start(0, &mut host);
        Auto.next(&mut me, Some((NodeId(2), event)), &mut host)
    }

    const ALL: &[u32] = &[0, 1, 2, 3, 4];

    fn go(node: u32) -> Decision {
        Decision::Activate(NodeId(node))
    }

    #[test]
    fn a_spent_budget_keeps_the_node_until_its_output_is_over_half_full() {
        assert_eq!(after(Event::Budget, [90, 90, 50, 0], ALL), go(2));
        assert_eq!(after(Event::Budget, [90, 90, 51, 0], ALL), go(3));
    }

    /// A host in which worker 0 of two carries its items on, in a chain of five whose channels have these fills.
    fn carrying(fills: [usize; 4], claimable: &[u32]) -> Mock {
        let mut host = Mock::with_workers(graphs::chain(5), 2);
        host.items = fills.to_vec();
        host.carries = true;
        host.only(claimable);
        host
    }

    /// The decision of worker 0 after it has activated the node.
    fn carried(node: u32, host: &mut Mock) -> Decision {
        let mut me = Auto.start(0, host);
        Auto.next(&mut me, Some((NodeId(node), Event::Budget)), host)
    }

    #[test]
    fn a_worker_goes_on_with_its_own_items() {
        let mut host = carrying([9, 9, 9, 0], ALL);
        assert_eq!(carried(1, &mut host), go(2));
        host.origins[1] = Some(1);
        assert_eq!(carried(1, &mut host), go(1), "the next items are another worker's");
        host.origins[0] = Some(1);
        assert_eq!(carried(3, &mut host), go(3), "the consumer has no items");
        host.origins[2] = Some(1);
        assert_eq!(carried(3, &mut host), go(0), "new input comes before the items of others");
        host.only(&[1, 2, 3]);
        assert_eq!(carried(3, &mut host), go(3), "of others the readiest, farthest downstream");
    }

    #[test]
    fn a_worker_in_a_run_of_long_firings_does_not_wait() {
        let mut host = carrying([90, 9, 0, 0], &[0, 1, 2]);
        host.origins = vec![Some(1), Some(0), None, None];
        assert_eq!(carried(1, &mut host), go(2), "its own items come first");
        host.only(&[0, 1]);
        host.waiting[1] = true;
        assert_eq!(carried(2, &mut host), Decision::Idle);
        host.waits = false;
        assert_eq!(carried(2, &mut host), go(1), "the readiest, of another worker");
        host.items[0] = 10;
        assert_eq!(carried(2, &mut host), go(0), "the readiest, a source");
    }

    #[test]
    fn own_items_upstream_come_before_new_input() {
        let mut host = carrying([9, 9, 0, 0], &[0, 1, 2]);
        host.origins[1] = Some(1);
        assert_eq!(carried(4, &mut host), go(1));
    }

    #[test]
    fn own_items_anywhere_come_before_waiting_and_new_input() {
        let mut host = carrying([9, 0, 9, 9], &[0, 3, 4]);
        host.origins = vec![Some(1), None, Some(0), Some(0)];
        host.waiting[3] = true;
        assert_eq!(carried(1, &mut host), go(4), "of these the farthest downstream");
        host.only(&[0, 3]);
        assert_eq!(carried(1, &mut host), go(3));
    }

    #[test]
    fn items_that_lack_others_or_room_have_no_turn_to_wait_for() {
        let mut host = carrying([0, 9, 0, 0], &[0]);
        (host.origins[1], host.waiting[1]) = (Some(1), true);
        assert_eq!(carried(1, &mut host), Decision::Idle);
        for lack in [Event::Full(ChannelId(2)), Event::Empty(ChannelId(1))] {
            host.lacks[2] = Some(lack);
            assert_eq!(carried(1, &mut host), go(0));
        }
    }

    #[test]
    fn the_first_input_of_a_node_decides_whose_turn_it_is() {
        let mut host = Mock::with_workers(graphs::two_sources(), 2);
        host.carries = true;
        host.only(&[0, 1]);
        (host.origins[0], host.origins[1], host.waiting[1]) = (Some(1), Some(0), true);
        assert_eq!(carried(0, &mut host), go(0), "items of the second input are no reason to wait");
        host.waiting[0] = true;
        assert_eq!(carried(0, &mut host), Decision::Idle);
    }

    #[test]
    fn a_batch_is_what_a_parallel_consumer_takes_in_one_claim() {
        let mut graph = graphs::farm();
        let limit = |graph: &GraphData, node: u32, claim| batch_limit(graph, NodeId(node), |_| claim);
        assert_eq!(limit(&graph, 0, Some(8)), 8);
        assert_eq!(limit(&graph, 0, None), u64::MAX, "the claim is not known yet");
        assert_eq!([1, 2].map(|node| limit(&graph, node, Some(8))), [u64::MAX; 2], "no parallel consumer");
        *graph.node_mut(NodeId(1)).inputs_mut()[0].pop_mut() = Rate::Static(3);
        assert_eq!(limit(&graph, 0, Some(8)), 24);
        *graph.node_mut(NodeId(0)).outputs_mut()[0].push_mut() = Rate::Static(100);
        assert_eq!(limit(&graph, 0, Some(8)), 1);
        *graph.node_mut(NodeId(0)).outputs_mut()[0].push_mut() = Rate::Dynamic;
        assert_eq!(limit(&graph, 0, Some(8)), 24, "as one item");
    }

    #[test]
    fn a_worker_waits_for_the_turn_of_its_items_for_a_bounded_time() {
        let mut host = carrying([0, 9, 0, 0], &[0, 2]);
        (host.origins[1], host.waiting[1]) = (Some(1), true);
        let mut me = Auto.start(0, &mut host);
        let last = Some((NodeId(1), Event::Budget));
        for _ in 0..MAX_WAITS {
            assert_eq!(Auto.next(&mut me, last, &mut host), Decision::Idle);
        }
        assert_eq!(Auto.next(&mut me, last, &mut host), go(2), "the others' items before new input");
        host.only(&[0]);
        for _ in 0..2 * FAIR_EVERY {
            assert_eq!(Auto.next(&mut me, last, &mut host), go(0), "it has waited in vain");
        }
        let waits = |me: &mut Local, host: &mut Mock| {
            let decisions = std::iter::repeat_with(|| Auto.next(me, last, host));
            decisions.take_while(|decision| *decision == Decision::Idle).count()
        };
        (host.traffic[1], host.items[1]) = (3, 12);
        assert_eq!(waits(&mut me, &mut host), 0, "three more items are no turn");
        host.items[1] = 10;
        assert_eq!(waits(&mut me, &mut host), MAX_WAITS as usize, "the node has taken two");
        host.origins[1] = Some(0);
        host.only(&[2]);
        assert_eq!(Auto.next(&mut me, last, &mut host), go(2), "its turn");
        host.origins[1] = Some(1);
        host.only(&[0]);
        assert_eq!(waits(&mut me, &mut host), MAX_WAITS as usize);
        host.waiting[1] = false;
        assert_eq!(Auto.next(&mut me, last, &mut host), go(0));
    }

    #[test]
    fn queue_events_lead_to_the_neighbour() {
        assert_eq!(after(Event::Full(ChannelId(2)), [0, 50, 100, 50], ALL), go(3));
        assert_eq!(after(Event::Empty(ChannelId(1)), [50, 0, 50, 100], ALL), go(1));
    }

    #[test]
    fn a_neighbour_with_a_sliver_of_work_is_skipped() {
        assert_eq!(after(Event::Empty(ChannelId(1)), [5, 0, 0, 60], ALL), go(4));
        assert_eq!(after(Event::Empty(ChannelId(1)), [5, 0, 0, 0], &[1]), go(1));
    }

    #[test]
    fn of_equally_ready_nodes_the_farthest_downstream_is_taken() {
        assert_eq!(after(Event::Refused, [50, 50, 50, 50], ALL), go(4));
        assert_eq!(after(Event::Done, [50, 50, 50, 50], &[1, 3]), go(3));
        assert_eq!(after(Event::Waiting, [50, 50, 50, 20], ALL), go(3));
        assert_eq!(after(Event::Refused, [50, 50, 50, 50], &[]), Decision::Idle);
    }

    #[test]
    fn of_equally_ready_nodes_that_of_the_plan_is_taken() {
        let mut host = Mock::with_workers(graphs::chain(5), 2);
        host.items = vec![50, 50, 50, 20];
        host.plan.affinity_mut().insert(NodeId(2), 1);
        host.plan.affinity_mut().insert(NodeId(4), 1);
        let first = |host: &mut Mock, worker| {
            let mut me = Auto.start(worker, host);
            Auto.next(&mut me, None, host)
        };
        // Node 4 is less ready. Nodes 1 to 3 are equally ready, and node 3 is the farthest downstream.
        assert_eq!(first(&mut host, 0), go(3));
        assert_eq!(first(&mut host, 1), go(2));
    }

    #[test]
    fn a_claimable_node_without_input_is_found() {
        // Its input may have ended, so that an activation would end it.
        assert_eq!(after(Event::Done, [0, 0, 0, 0], &[4]), go(4));
    }

    #[test]
    fn one_node_is_found_among_thousands() {
        let mut host = Mock::new(graphs::chain(5_000));
        let mut me = Auto.start(0, &mut host);
        for only in [0, 63, 64, 2_500, 4_999] {
            host.only(&[only]);
            assert_eq!(Auto.next(&mut me, None, &mut host), go(only));
        }
        host.only(&[]);
        assert_eq!(Auto.next(&mut me, None, &mut host), Decision::Idle);
    }

    /// The last two of 66 nodes are no window by themselves.
    #[test]
    fn all_nodes_of_a_half_are_compared() {
        let mut host = Mock::new(graphs::chain(66));
        host.items.fill(50);
        host.items[64] = 1;
        host.only(&[40, 65]);
        let mut me = Auto.start(0, &mut host);
        for _ in 0..FAIR_EVERY - 1 {
            assert_eq!(Auto.next(&mut me, None, &mut host), go(40));
        }
    }

    #[test]
    fn every_node_is_activated() {
        let mut host = Mock::new(graphs::chain(5));
        host.items = vec![100, 40, 40, 40];
        let mut me = Auto.start(0, &mut host);
        let mut seen = [false; 5];
        for _ in 0..5 * FAIR_EVERY {
            let Decision::Activate(node) = Auto.next(&mut me, Some((NodeId(4), Event::Budget)), &mut host)
            else {
                panic!("all are claimable");
            };
            seen[node.index()] = true;
        }
        assert_eq!(seen, [true; 5]);
    }
}
