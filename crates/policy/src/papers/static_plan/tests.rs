//! Decisions of `static` in the mock, whose channels hold [`CAPACITY`] items each.

use super::*;
use crate::graphs;
use crate::mock::{CAPACITY, Mock};
use thalweg_graph::ChannelId;

const HALF: usize = CAPACITY / 2;

/// A run of the graph, and its workers, under a plan of these segments, each with a worker.
fn started(graph: GraphData, workers: usize, segments: &[(&[u32], u32)]) -> (Mock<Layout>, Vec<Local>) {
    started_with(Spare::Sleep, graph, workers, segments)
}

/// The same, for workers that spend spare time like this.
fn started_with(
    spare: Spare,
    graph: GraphData,
    workers: usize,
    segments: &[(&[u32], u32)],
) -> (Mock<Layout>, Vec<Local>) {
    let mut host = Mock::sharing(graph, workers);
    for (nodes, worker) in segments {
        let nodes: Vec<NodeId> = nodes.iter().map(|node| NodeId(*node)).collect();
        host.plan.affinity_mut().insert(nodes[0], *worker);
        host.plan.segments_mut().push(nodes);
    }
    host.plan.check(&host.graph).unwrap();
    let locals = (0..workers).map(|worker| Static::new(spare).start(worker, &mut host)).collect();
    (host, locals)
}

/// A chain of six in three segments of two for one worker; channel `i` leaves node `i`. All channels are empty.
fn chain() -> (Mock<Layout>, Local) {
    let (mut host, mut locals) = started(graphs::chain(6), 1, &[(&[4, 5], 0), (&[0, 1], 0), (&[3, 2], 0)]);
    host.items.fill(0);
    (host, locals.remove(0))
}

fn next(me: &mut Local, host: &mut Mock<Layout>) -> Option<u32> {
    match Static::default().next(me, None, host) {
        Decision::Activate(node) => Some(node.0),
        Decision::Idle => None,
    }
}

fn empty(channel: u32) -> Option<Event> {
    Some(Event::Empty(ChannelId(channel)))
}

fn full(channel: u32) -> Option<Event> {
    Some(Event::Full(ChannelId(channel)))
}

#[test]
fn the_farthest_segment_that_is_half_ready_comes_first() {
    let (mut host, mut me) = chain();
    (host.items[1], host.items[3]) = (HALF, HALF - 1);
    assert_eq!(next(&mut me, &mut host), Some(3));
    let (mut host, mut me) = chain();
    (host.items[1], host.items[3]) = (HALF, HALF);
    assert_eq!(next(&mut me, &mut host), Some(5));
    // The output of the middle segment has less than half of its room, and the last one's input is not half full.
    let (mut host, mut me) = chain();
    (host.items[1], host.items[3]) = (HALF, HALF + 1);
    host.only(&[0, 1, 2, 3]);
    assert_eq!(next(&mut me, &mut host), Some(1), "the source has no input, and half of its room");
}

#[test]
fn a_channel_whose_other_end_has_ended_does_not_hold_a_segment_up() {
    let (mut host, mut me) = chain();
    host.only(&[0, 1, 4, 5]);
    host.items[3] = 1;
    host.ends[3].0 = false;
    assert_eq!(next(&mut me, &mut host), Some(5));
    assert_eq!(me.stays, Some((2, Until::Border)));
    let (mut host, mut me) = chain();
    host.only(&[2, 3]);
    (host.items[1], host.items[3]) = (HALF, HALF + 1);
    host.ends[3].1 = false;
    assert_eq!(next(&mut me, &mut host), Some(3));
    assert_eq!(me.stays, Some((1, Until::Border)));
}

#[test]
fn in_a_segment_the_farthest_node_fires_until_the_border_lacks_something() {
    let (mut host, mut me) = chain();
    (host.items[1], host.items[3]) = (HALF, 0);
    host.only(&[2]);
    assert_eq!(next(&mut me, &mut host), Some(2));
    host.only(&[0, 2, 3, 5]);
    assert_eq!(next(&mut me, &mut host), Some(3), "though a segment downstream can fire");
    // Node 3 lacks items of the channel inside the segment.
    host.only(&[0, 2, 5]);
    host.lacks[3] = empty(2);
    assert_eq!(next(&mut me, &mut host), Some(2));
    // The channel out of the segment is full: node 2 can fire, and the worker leaves.
    host.lacks[3] = full(3);
    host.items[3] = CAPACITY;
    assert_eq!(next(&mut me, &mut host), Some(5));
}

#[test]
fn an_empty_input_ends_the_stay() {
    let (mut host, mut me) = chain();
    host.items[1] = HALF;
    host.only(&[2]);
    assert_eq!(next(&mut me, &mut host), Some(2));
    host.only(&[0, 4]);
    (host.lacks[3], host.lacks[2]) = (empty(2), empty(1));
    host.items[1] = 0;
    assert_eq!(
        next(&mut me, &mut host),
        Some(0),
        "the source's segment is half ready, and the last one is not"
    );
}

/// Figure 4.6 lets the index of the next kernel fall below the first one, if the segment has one kernel, or its first one is not
/// ready.
#[test]
fn a_segment_of_one_node_and_one_with_no_node_ready() {
    let graph = graphs::chain(3);
    let (mut host, mut locals) = started(graph, 1, &[(&[0], 0), (&[1], 0), (&[2], 0)]);
    let me = &mut locals[0];
    host.items = vec![HALF, 0];
    host.only(&[1]);
    assert_eq!(next(me, &mut host), Some(1));
    assert_eq!(next(me, &mut host), Some(1));
    host.only(&[]);
    assert_eq!(next(me, &mut host), None);
    assert_eq!(me.stays, None);
    // Half ready, and no node of it can fire: a peek of more than half.
    host.lacks[1] = empty(0);
    host.only(&[2]);
    assert_eq!(next(me, &mut host), Some(2));

    let (mut host, mut me) = chain();
    host.items[1] = HALF;
    host.only(&[]);
    (host.lacks[2], host.lacks[3]) = (empty(1), empty(2));
    assert_eq!(next(&mut me, &mut host), None);
}

#[test]
fn without_a_segment_that_is_half_ready_any_node_that_can_fire_does() {
    let (mut host, mut me) = chain();
    (host.items[1], host.items[3]) = (HALF + 1, 1);
    host.only(&[0, 1, 2, 4]);
    (host.lacks[3], host.lacks[5]) = (empty(2), empty(4));
    // The middle segment is half ready, so it comes before the last one.
    assert_eq!(next(&mut me, &mut host), Some(2));
    let (mut host, mut me) = chain();
    (host.items[1], host.items[3]) = (HALF + 1, HALF + 1);
    host.only(&[0, 1]);
    assert_eq!(next(&mut me, &mut host), Some(1));
    assert_eq!(me.stays, Some((0, Until::Stuck)));
    // There it stays until no node can fire, also where a channel at the border is full.
    (host.lacks[1], host.items[1]) = (full(1), CAPACITY);
    host.only(&[0, 5]);
    assert_eq!(next(&mut me, &mut host), Some(0));
    host.only(&[5]);
    assert_eq!(next(&mut me, &mut host), Some(5));
}

#[test]
fn a_worker_runs_its_own_segments_and_nothing_else() {
    let (mut host, mut locals) = started(graphs::chain(6), 3, &[(&[0, 1], 2), (&[2, 3], 0), (&[4, 5], 0)]);
    let own: Vec<Vec<u32>> = locals.iter().map(|me| me.nodes.iter().map(|node| node.0).collect()).collect();
    assert_eq!(own, [vec![2, 3, 4, 5], vec![], vec![0, 1]]);
    host.only(&[0, 1]);
    assert_eq!(next(&mut locals[0], &mut host), None);
    assert_eq!(next(&mut locals[1], &mut host), None);
    assert_eq!(next(&mut locals[2], &mut host), Some(1));
}

#[test]
fn a_worker_that_helps_runs_its_own_segments_first() {
    let segments: [(&[u32], u32); 3] = [(&[0, 1], 2), (&[2, 3], 0), (&[4, 5], 0)];
    let (mut host, mut locals) = started_with(Spare::Help, graphs::chain(6), 3, &segments);
    host.items.fill(HALF);
    host.only(&[0, 1, 3]);
    assert_eq!([0, 1, 2].map(|worker| next(&mut locals[worker], &mut host)), [Some(3), Some(3), Some(1)]);
    host.only(&[0, 4]);
    host.items[4] = CAPACITY;
    assert_eq!(next(&mut locals[2], &mut host), Some(0));
    assert_eq!(next(&mut locals[1], &mut host), Some(0), "the readiest");
    assert_eq!(next(&mut locals[0], &mut host), Some(4), "its own, though it has no room");
    host.only(&[0]);
    assert_eq!(next(&mut locals[0], &mut host), Some(0));
    assert_eq!(locals[0].stays, None);
    host.only(&[]);
    assert_eq!([0, 1, 2].map(|worker| next(&mut locals[worker], &mut host)), [None; 3]);
}

#[test]
fn a_replica_is_a_segment_of_each_of_its_workers() {
    let mut host = Mock::<Layout>::sharing(graphs::farm(), 3);
    *host.plan.segments_mut() = vec![vec![NodeId(0), NodeId(1), NodeId(2)]];
    host.plan.pools_mut().insert(NodeId(1), vec![1, 2]);
    host.plan.check(&host.graph).unwrap();
    let mut locals: Vec<Local> = (0..3).map(|worker| Static::default().start(worker, &mut host)).collect();
    host.only(&[1]);
    assert_eq!([0, 1, 2].map(|worker| next(&mut locals[worker], &mut host)), [None, Some(1), Some(1)]);
    // The channels before and after the replica are at the border of the others' segment.
    let segment = &locals[0].segments[locals[0].own[0]];
    assert!(segment.nodes().eq([NodeId(0), NodeId(2)]));
    host.items = vec![HALF + 1, HALF - 1];
    assert!(!segment.is_half_ready(&host));
}

#[test]
fn a_plan_without_segments_has_a_segment_for_each_node() {
    let mut host = Mock::<Layout>::sharing(graphs::two_sources(), 4);
    let locals: Vec<Local> = (0..4).map(|worker| Static::default().start(worker, &mut host)).collect();
    let mut nodes: Vec<NodeId> = locals.iter().flat_map(|me| me.nodes.clone()).collect();
    nodes.sort();
    assert!(nodes.into_iter().eq(host.graph.node_ids()));
    assert!(locals.iter().all(|me| (1..=2).contains(&me.own.len()) && me.own.len() == me.nodes.len()));
}

/// Segments are ordered by the channels between them: not by their first or last nodes, which follow each other the other way.
#[test]
fn segments_are_in_the_order_of_the_channels_between_them() {
    // Node 3 precedes 4, and 1 and 5 have no channel to them.
    let graph = graphs::graph("ssssss", &[(0, 1), (0, 3), (3, 4), (0, 2), (2, 5)]);
    let (_, locals) = started(graph, 1, &[(&[1, 4, 5], 0), (&[3], 0), (&[0, 2], 0)]);
    let order = locals[0].own.iter().map(|at| locals[0].segments[*at].nodes().count());
    assert!(order.eq([2, 1, 3]));
}

#[test]
fn one_decision_in_many_is_round_robin() {
    let (mut host, mut me) = chain();
    host.items.fill(HALF);
    let mut counts = [0; 6];
    for _ in 0..6 * FAIR_EVERY {
        counts[next(&mut me, &mut host).unwrap() as usize] += 1;
    }
    assert_eq!(counts, [1, 1, 1, 1, 1, 6 * FAIR_EVERY - 5]);
}

#[test]
fn what_a_worker_can_do_it_does() {
    let (mut host, mut me) = chain();
    let mut random = crate::random::XorShift::new(5, 0);
    for _ in 0..20_000 {
        host.items.iter_mut().for_each(|items| *items = (random.number() >> 32) as usize % (CAPACITY + 1));
        host.claimable.iter_mut().for_each(|claimable| *claimable = random.number() >> 62 == 0);
        for node in 0..6u32 {
            let lacks = [empty(node.saturating_sub(1)), full(node.min(4)), None];
            host.lacks[node as usize] = lacks[(random.number() >> 32) as usize % 3];
        }
        let found = next(&mut me, &mut host);
        assert_eq!(found.is_some(), host.claimable.contains(&true));
        assert!(found.is_none_or(|node| host.claimable[node as usize]));
    }
}
