//! Decisions of `qes`, `pss` and `prs` after a run of firings of a kernel that cannot be claimed again: each follows
//! what the kernel lacks.

use crate::mock::Mock;
use crate::{Decision, Event, Policy, Prs, Pss, Qes, graphs};
use std::collections::BTreeSet;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// Decisions of each policy. A random choice among the nodes of these graphs misses one with a probability below 1e-9.
const DRAWS: usize = 200;

/// A kernel has run, and these nodes are claimable, and lack what follows.
struct Case<'a> {
    graph: GraphData,
    ran: u32,
    claimable: &'a [u32],
    lacks: &'a [(u32, Event)],
}

impl Case<'_> {
    fn host(&self) -> Mock {
        let mut host = Mock::new(self.graph.clone());
        host.only(self.claimable);
        for &(node, event) in self.lacks {
            host.lacks[node as usize] = Some(event);
        }
        host
    }

    /// The nodes that a policy chooses. The channels are half full, so that `pss` never moves by itself.
    fn choices<P: Policy<Shared = ()>>(&self, policy: &P) -> BTreeSet<u32> {
        let mut host = self.host();
        let mut me = policy.start(0, &mut host);
        let decide = |_| match policy.next(&mut me, Some((NodeId(self.ran), Event::Budget)), &mut host) {
            Decision::Activate(node) => node.0,
            Decision::Idle => panic!("a node is claimable"),
        };
        (0..DRAWS).map(decide).collect()
    }

    /// Checks that all three policies choose exactly these.
    fn chooses(&self, expected: &[u32]) {
        let expected: BTreeSet<u32> = expected.iter().copied().collect();
        assert_eq!(self.choices(&Qes), expected, "qes");
        assert_eq!(self.choices(&Pss), expected, "pss");
        assert_eq!(self.choices(&Prs::default()), expected, "prs");
    }
}

fn farm<'a>(claimable: &'a [u32], lacks: &'a [(u32, Event)]) -> Case<'a> {
    Case { graph: graphs::farm(), ran: 1, claimable, lacks }
}

/// Source, three parallel kernels, sink; channel `i` leaves node `i`.
fn pipeline<'a>(ran: u32, claimable: &'a [u32], lacks: &'a [(u32, Event)]) -> Case<'a> {
    let graph = graphs::graph("sppps", &[(0, 1), (1, 2), (2, 3), (3, 4)]);
    Case { graph, ran, claimable, lacks }
}

/// A parallel kernel in a loop: the source 0 and the loop into 1, parallel 2, and 3, which feeds the sink 4 and the loop.
fn feedback<'a>(claimable: &'a [u32], lacks: &'a [(u32, Event)]) -> Case<'a> {
    let graph = graphs::graph("sspss", &[(0, 1), (1, 2), (2, 3), (3, 4), (3, 1)]);
    Case { graph, ran: 2, claimable, lacks }
}

fn empty(channel: u32) -> Event {
    Event::Empty(ChannelId(channel))
}

fn full(channel: u32) -> Event {
    Event::Full(ChannelId(channel))
}

#[test]
fn in_a_farm() {
    farm(&[0, 2], &[(1, empty(0))]).chooses(&[0]);
    farm(&[0, 2], &[(1, full(1))]).chooses(&[2]);
    farm(&[0, 1, 2], &[]).chooses(&[1]);
    // The source is held by another worker, or the kernel is.
    farm(&[2], &[(1, empty(0))]).chooses(&[2]);
    farm(&[0, 2], &[]).chooses(&[0, 2]);
}

#[test]
fn in_a_pipeline() {
    pipeline(3, &[0, 2, 4], &[(3, empty(2))]).chooses(&[2]);
    pipeline(3, &[0, 4], &[(3, empty(2)), (2, empty(1)), (1, empty(0))]).chooses(&[0]);
    pipeline(1, &[0, 4], &[(1, full(1)), (2, full(2)), (3, full(3))]).chooses(&[4]);
    // The producer cannot fire because its own input is empty, whose producer is held.
    pipeline(3, &[0, 4], &[(3, empty(2)), (2, empty(1))]).chooses(&[0, 4]);
    // Tickets in flight keep the room of the channel between 1 and 2: the walk returns to 2.
    pipeline(2, &[0, 4], &[(2, empty(1)), (1, full(1))]).chooses(&[0, 4]);
}

#[test]
fn in_a_loop() {
    feedback(&[0, 3], &[(2, empty(1)), (1, empty(4))]).chooses(&[3]);
    feedback(&[0, 4], &[(2, empty(1)), (1, empty(0))]).chooses(&[0]);
    feedback(&[0, 4], &[(2, empty(1)), (1, empty(4)), (3, empty(2))]).chooses(&[0, 4]);
}

/// The neighbour that `pss` moves to lacks something, too.
#[test]
fn a_speculative_move_follows_what_the_neighbour_lacks() {
    let lacks = [(2, empty(1)), (1, empty(0))];
    let case = pipeline(3, &[0, 3], &lacks);
    moves_half_of_the_draws(&case, &Pss);
    moves_half_of_the_draws(&case, &Prs::default());
}

/// Checks that the worker moves to node 0 in half of its decisions, where the channels are empty.
fn moves_half_of_the_draws<P: Policy<Shared = ()>>(case: &Case<'_>, policy: &P) {
    let mut host = case.host();
    host.items.fill(0);
    let mut me = policy.start(0, &mut host);
    let mut decide = || policy.next(&mut me, Some((NodeId(case.ran), Event::Budget)), &mut host);
    let decisions: Vec<Decision> = (0..DRAWS).map(|_| decide()).collect();
    let to = |node| decisions.iter().filter(|d| **d == Decision::Activate(NodeId(node))).count();
    assert_eq!(to(0) + to(case.ran), DRAWS);
    assert!((60..140).contains(&to(0)), "{}", to(0));
}
