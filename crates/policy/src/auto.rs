//! Data-flow order with hysteresis: our own, and the default.
//!
//! Graphs that have processes in them are run by [`work_stealing`] instead, in the way that keeps
//! together who talk to each other ([`Place::Near`]). For kernels:
//!
//! A worker stays where it is while that pays, because a long activation amortises its claim and
//! keeps the node's state and channel in cache; otherwise it follows the data:
//!
//! - budget spent: to the consumer of an output that is over half full (of a short channel, as soon
//!   as there is anything), to the producer of a
//!   parallel node's input that is nearly empty, else stay,
//! - output full: to the consumer; input empty: to the producer,
//! - each only where that node is claimable and *ready* by more than a sliver; else to the readiest
//!   node of all.
//!
//! *Readiness* is the smaller of a node's input fill and output room, at most one half: a node with
//! half its input and half its room is as good as any, and of equals the farthest downstream is
//! taken, so that the graph drains before it fills. Channels so tend to be half full, as with
//! DANBI's PSS (section III-A3), but without its coin: workers on different nodes part ways by what
//! they see.
//!
//! Of many nodes a worker looks at windows of 64, from a random one on, and stops at the first
//! window with a claimable node. [`Decision::Idle`] means that none of all nodes was claimable.
//!
//! Fair: one decision in [`FAIR_EVERY`] goes to the next claimable node in turn.

use crate::pick::{below, consumer, if_claimable, inputs, outputs, producer};
use crate::work_stealing::{self, Place, WorkStealing};
use crate::{Decision, Event, Host, Needs, Policy, WorkerId};
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId, Rate};

/// Decisions of a worker from one that is taken in turn to the next. Prime, so that it does not
/// fall in step with a graph's own rhythm.
pub const FAIR_EVERY: u32 = 61;

/// Readiness beyond which more is no better.
const ENOUGH: f64 = 0.5;

/// Readiness below which a neighbour is not worth the move while another node is readier.
const SLIVER: f64 = 0.125;

/// Input fill below which a parallel node's producer comes first.
const LOW: f64 = 0.375;

/// Capacity in items up to which a channel is short.
const SHORT: usize = 32;

/// Nodes looked at together.
const WINDOW: usize = 64;

/// The policy `auto`.
#[derive(Clone, Copy, Default, Debug)]
pub struct Auto;

/// State of one worker.
#[derive(Clone, Debug)]
pub struct Local {
    /// By node: its place in the data-flow order, sources low.
    depth: Vec<u32>,
    /// Decisions until one is taken in turn.
    until_fair: u32,
    /// The node whose turn is next.
    turn: usize,
}

/// State of one worker: of whichever way the graph asks for.
#[derive(Clone, Debug)]
pub enum Way {
    /// Kernels: by the data.
    Data(Local),
    /// Processes: by what is ready.
    Ready(work_stealing::Local),
}

/// How processes are run.
const READY: WorkStealing = WorkStealing::new(Place::Near);

fn has_processes(graph: &GraphData) -> bool {
    graph.nodes().iter().any(|node| node.kind == Kind::Process)
}

impl Policy for Auto {
    type Local = Way;
    type Shared = ();

    fn start<H: Host>(&self, worker: WorkerId, host: &mut H) -> Way {
        match has_processes(host.graph()) {
            true => Way::Ready(READY.start(worker, host)),
            false => Way::Data(Local::new(worker, host)),
        }
    }

    fn needs(&self, graph: &GraphData) -> Needs {
        if has_processes(graph) { Needs::NOTIFICATIONS } else { Needs::SCANS }
    }

    #[inline(always)]
    fn ready<H: Host>(&self, me: &mut Way, node: NodeId, host: &mut H) {
        if let Way::Ready(me) = me {
            READY.ready(me, node, host);
        }
    }

    #[inline(always)]
    fn handoffs(&self, me: &mut Way, followed: u32) -> u32 {
        match me {
            Way::Ready(me) => READY.handoffs(me, followed),
            Way::Data(_) => 0,
        }
    }

    #[inline(always)]
    fn next<H: Host>(&self, me: &mut Way, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        match me {
            Way::Ready(me) => READY.next(me, last, host),
            Way::Data(me) => me.next(last, host),
        }
    }
}

impl Local {
    fn new<H: Host>(worker: WorkerId, host: &H) -> Local {
        let nodes = host.graph().nodes().len();
        Local {
            depth: depths(host.graph()),
            until_fair: FAIR_EVERY,
            turn: worker * nodes / host.workers().max(1),
        }
    }

    fn next<H: Host>(&mut self, last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        let pick = self.in_turn(host).or_else(|| follow(last, host)).or_else(|| self.readiest(host));
        pick.map_or(Decision::Idle, Decision::Activate)
    }
}

/// The neighbour that the data leads to, or the node itself, if that is worth while.
fn follow<H: Host>(last: Option<(NodeId, Event)>, host: &H) -> Option<NodeId> {
    let (node, event) = last?;
    let worth = |to: NodeId| if_claimable(host, to).filter(|&to| readiness(to, host) >= SLIVER);
    match event {
        Event::Empty(channel) => worth(producer(host.graph(), channel)),
        Event::Full(channel) => worth(consumer(host.graph(), channel)),
        Event::Budget => drain(node, host)
            .and_then(worth)
            .or_else(|| refill(node, host).and_then(worth))
            .or_else(|| worth(node)),
        Event::Waiting | Event::Done | Event::Refused => None,
    }
}

/// The consumer of an output that is over half full; of a short channel, as soon as there is
/// anything: its items are few and heavy, and are best used while they are in the cache.
fn drain<H: Host>(node: NodeId, host: &H) -> Option<NodeId> {
    let worth = |channel: ChannelId, fill: f64| {
        fill > ENOUGH || (fill > 0.0 && host.occupancy(channel).capacity <= SHORT)
    };
    let (channel, _) = fullest_output(node, host).filter(|(channel, fill)| worth(*channel, *fill))?;
    Some(consumer(host.graph(), channel))
}

/// The producer of a parallel node's input that is nearly empty: refilled before it is, the other
/// workers at the node do not run dry while one of them goes to its producer.
fn refill<H: Host>(node: NodeId, host: &H) -> Option<NodeId> {
    let graph = host.graph();
    let low = |channel: &ChannelId| host.occupancy(*channel).fill() < LOW;
    let channel = inputs(graph, node).filter(|_| graph.node(node).kind == Kind::Parallel).find(low)?;
    Some(producer(graph, channel))
}

fn fullest_output<H: Host>(node: NodeId, host: &H) -> Option<(ChannelId, f64)> {
    let fills = outputs(host.graph(), node).map(|channel| (channel, host.occupancy(channel).fill()));
    fills.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// How much a node could do now: its input fill or output room, whichever is less, up to
/// [`ENOUGH`].
fn readiness<H: Host>(node: NodeId, host: &H) -> f64 {
    let room = 1.0 - fullest_output(node, host).map_or(0.0, |(_, fill)| fill);
    input_fill(node, host).min(room).min(ENOUGH)
}

/// The emptiest input that every firing takes from. Inputs of dynamic rate may be empty for long
/// while the others flow, so they count, by the fullest, only where there are no others.
fn input_fill<H: Host>(node: NodeId, host: &H) -> f64 {
    let graph = host.graph();
    let fill = |channel: ChannelId| host.occupancy(channel).fill();
    let ports = graph.node(node).inputs.iter().filter(|port| port.pop != Rate::Dynamic);
    let fixed = ports.filter_map(|port| port.channel).map(fill).min_by(f64::total_cmp);
    let any = || inputs(graph, node).map(fill).max_by(f64::total_cmp);
    fixed.or_else(any).unwrap_or(1.0)
}

impl Local {
    /// Now and then, the next claimable node in turn.
    fn in_turn<H: Host>(&mut self, host: &H) -> Option<NodeId> {
        self.until_fair -= 1;
        if self.until_fair > 0 {
            return None;
        }
        self.until_fair = FAIR_EVERY;
        let nodes = self.depth.len();
        let looked = (0..nodes.min(WINDOW)).map(|i| (self.turn + i) % nodes);
        let found = looked.map(|i| NodeId(i as u32)).find(|&n| host.claimable(n));
        self.turn = found.map_or(self.turn + WINDOW, |n| n.index() + 1) % nodes;
        found
    }

    /// The readiest claimable node of the first window that has any.
    fn readiest<H: Host>(&self, host: &mut H) -> Option<NodeId> {
        let nodes = self.depth.len();
        let windows = nodes.div_ceil(WINDOW);
        let first = if windows > 1 { below(host, windows) } else { 0 };
        (0..windows).find_map(|i| self.readiest_of((first + i) % windows * WINDOW, host))
    }

    fn readiest_of<H: Host>(&self, start: usize, host: &H) -> Option<NodeId> {
        let end = (start + WINDOW).min(self.depth.len());
        let claimable = (start..end).map(|i| NodeId(i as u32)).filter(|&n| host.claimable(n));
        let rated = claimable.map(|n| (readiness(n, host), self.depth[n.index()], n));
        rated.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, _, n)| n)
    }
}

/// The place of each node in an order where producers come before consumers, channels that close
/// a cycle aside: the reverse postorder of a depth-first search from the sources.
fn depths(graph: &GraphData) -> Vec<u32> {
    let nodes = graph.nodes().len();
    let (mut depth, mut seen) = (vec![0; nodes], vec![false; nodes]);
    let mut place = nodes as u32;
    // Nodes that no source reaches come last, so that they keep the low places.
    let sources = graph.node_ids().filter(|&n| graph.node(n).is_source());
    for root in sources.chain(graph.node_ids()) {
        if std::mem::replace(&mut seen[root.index()], true) {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((node, port)) = path.last_mut() {
            let Some(channel) = outputs(graph, *node).nth(*port) else {
                place -= 1;
                depth[node.index()] = place;
                path.pop();
                continue;
            };
            *port += 1;
            let next = consumer(graph, channel);
            if !std::mem::replace(&mut seen[next.index()], true) {
                path.push((next, 0));
            }
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;
    use crate::mock::Mock;

    /// What `auto` does on a chain of five with these fills after `event` at node 2.
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

    #[test]
    fn queue_events_lead_to_the_neighbour() {
        assert_eq!(after(Event::Full(ChannelId(2)), [0, 50, 100, 50], ALL), go(3));
        assert_eq!(after(Event::Empty(ChannelId(1)), [50, 0, 50, 100], ALL), go(1));
    }

    #[test]
    fn a_neighbour_with_a_sliver_of_work_is_passed_over() {
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
    fn a_node_without_work_that_is_claimable_is_found() {
        // It may wait to be ended.
        assert_eq!(after(Event::Done, [0, 0, 0, 0], &[4]), go(4));
    }

    #[test]
    fn inputs_of_dynamic_rate_do_not_hold_back_the_others() {
        let mut graph = graphs::graph("sss", &[(0, 2), (1, 2)]);
        let join = NodeId(2);
        graph.node_mut(join).inputs[1].pop = Rate::Dynamic;
        let mut host = Mock::new(graph);
        host.items = vec![40, 0];
        assert_eq!(input_fill(join, &host), 0.4);
        assert_eq!(input_fill(NodeId(0), &host), 1.0);
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

    #[test]
    fn every_node_has_its_turn() {
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

    #[test]
    fn producers_come_before_consumers_save_on_the_way_back() {
        let diamond = graphs::graph("sspss", &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]);
        let dedup = graphs::graph("sppsps", &[(0, 1), (1, 2), (2, 3), (3, 5), (3, 4), (4, 5)]);
        for graph in [graphs::chain(70), diamond, dedup, graphs::two_sources()] {
            let depth = depths(&graph);
            for channel in graph.channels() {
                assert!(depth[channel.from.0.index()] < depth[channel.to.0.index()]);
            }
        }
        let feedback = graphs::graph("sspss", &[(0, 1), (1, 2), (2, 3), (3, 4), (3, 1)]);
        assert_eq!(depths(&feedback), [0, 1, 2, 3, 4]);
        assert_eq!(depths(&graphs::chain(100_000))[99_999], 99_999);
    }
}
