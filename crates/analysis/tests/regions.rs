//! Regions: connected parts, and where they are cut.

use crate::common::{Wire, graph, make_dynamic, wire};
use proptest::prelude::*;
use std::collections::BTreeSet;
use thalweg_analysis::regions;
use thalweg_graph::{Bounds, ChannelId, GraphData, Messages, NodeId, Rate};

/// The regions of nodes `0..nodes` with channels of these ends, of which those with `true` are dynamic.
fn regions_of(nodes: usize, channels: &[(usize, usize, bool)]) -> Vec<Vec<usize>> {
    let found = regions(&build(nodes, channels));
    found.iter().map(|region| region.nodes.iter().map(|node| node.index()).collect()).collect()
}

fn build(nodes: usize, channels: &[(usize, usize, bool)]) -> GraphData {
    let wires: Vec<Wire> = channels.iter().map(|(from, to, _)| wire(*from, *to, 1, 1)).collect();
    let mut graph = graph(nodes, &wires);
    for (id, _) in channels.iter().enumerate().filter(|(_, channel)| channel.2) {
        make_dynamic(&mut graph, ChannelId(id as u32));
    }
    graph
}

/// Declares that a firing of the consumer of a channel pops at least this many items.
fn bound(graph: &mut GraphData, channel: usize, least: u64) {
    let to = graph.channels()[channel].to();
    let input = &mut graph.node_mut(to.0).inputs_mut()[to.1];
    *input.pop_mut() = Rate::Dynamic;
    *input.bounds_mut() = Some(Bounds::new(least, None, None));
}

fn sizes(graph: &GraphData) -> Vec<usize> {
    regions(graph).iter().map(|region| region.nodes.len()).collect()
}

#[test]
fn regions_come_in_data_flow_order() {
    assert_eq!(regions_of(4, &[(3, 2, false), (2, 1, true), (1, 0, false)]), [vec![2, 3], vec![0, 1]]);
    assert_eq!(regions_of(3, &[]), [[0], [1], [2]]);
}

#[test]
fn a_dynamic_branch_cuts_the_static_one() {
    // Without a cut, the region would wait for itself through node 2.
    let channels = [(0, 1, false), (0, 2, false), (2, 3, true), (1, 3, false)];
    assert_eq!(regions_of(4, &channels), [[0, 2], [1, 3]]);
    // A merge is such a branch too.
    let mut graph = build(4, &[(0, 1, false), (0, 2, false), (2, 3, false), (1, 3, false)]);
    *graph.node_mut(NodeId(2)).merge_mut() = true;
    assert_eq!(sizes(&graph), [1, 1, 2]);
}

#[test]
fn regions_that_would_wait_for_each_other_are_cut() {
    // 0 to 1 and 2 to 3 are static, 0 to 3 and 2 to 1 dynamic: both regions need each other's first half.
    let channels = [(0, 1, false), (2, 3, false), (0, 3, true), (2, 1, true)];
    assert_eq!(regions_of(4, &channels), [[0], [2], [1], [3]]);
}

#[test]
fn a_loop_with_a_dynamic_channel_falls_into_nodes() {
    let channels = [(0, 1, false), (1, 2, false), (2, 1, true), (2, 3, false), (3, 4, false)];
    assert_eq!(regions_of(5, &channels), [vec![0], vec![1], vec![2], vec![3, 4]]);
}

#[test]
fn a_taker_is_cut_from_the_nodes_behind_it() {
    let channels = [(0, 1, false), (1, 2, true), (2, 3, false), (3, 4, false)];
    let mut graph = build(5, &channels);
    assert_eq!(sizes(&graph), [2, 3], "a node that may pop nothing");
    bound(&mut graph, 1, 1);
    assert_eq!(sizes(&graph), [2, 1, 2]);
    assert_eq!(regions(&graph)[2].channels, [ChannelId(3)]);
    graph.add_messages(Messages::new(NodeId(3), NodeId(4)));
    assert_eq!(sizes(&graph), [2, 3], "nodes that send messages");
}

#[test]
fn a_node_whose_first_firing_takes_is_cut_too() {
    let mut graph = build(3, &[(0, 1, false), (1, 2, false)]);
    let input = graph.node(NodeId(1)).inputs()[0].clone();
    graph.node_mut(NodeId(1)).inputs_mut()[0] = input.with_first(Rate::Dynamic, 0);
    assert_eq!(sizes(&graph), [1, 1, 1]);
}

#[test]
fn a_loop_of_static_rates_keeps_its_taker() {
    // Node 1 takes from outside of the loop of nodes 1 and 2.
    let mut graph = build(4, &[(0, 1, true), (1, 2, false), (2, 1, false), (2, 3, false)]);
    bound(&mut graph, 0, 1);
    assert_eq!(sizes(&graph), [1, 3]);
    let mut graph = build(4, &[(0, 1, true), (1, 2, false), (2, 1, false), (1, 3, false)]);
    bound(&mut graph, 0, 1);
    assert_eq!(sizes(&graph), [1, 2, 1], "a channel out of the loop");
}

/// The sets of nodes that channels with `false` connect, if a channel with `true` leads from none to itself and no two
/// wait for each other.
fn uncut(nodes: usize, channels: &[(usize, usize, bool)]) -> Option<Vec<BTreeSet<usize>>> {
    let mut set: Vec<usize> = (0..nodes).collect();
    for (from, to, _) in channels.iter().filter(|channel| !channel.2) {
        let (old, new) = (set[*from], set[*to]);
        set.iter_mut().filter(|set| **set == old).for_each(|set| *set = new);
    }
    let mut waits: Vec<(usize, usize)> =
        channels.iter().filter(|channel| channel.2).map(|(from, to, _)| (set[*from], set[*to])).collect();
    let mut left: BTreeSet<usize> = set.iter().copied().collect();
    let sets = left.iter().map(|one| (0..nodes).filter(|node| set[*node] == *one).collect()).collect();
    while let Some(first) = left.iter().copied().find(|one| !waits.iter().any(|(_, to)| to == one)) {
        left.remove(&first);
        waits.retain(|(from, _)| *from != first);
    }
    left.is_empty().then_some(sets)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn regions_are_the_connected_parts_unless_these_wait(
        channels in proptest::collection::vec((0_usize..8, 0_usize..8, prop::bool::weighted(0.3)), 0..12),
        takes in proptest::collection::vec(prop::bool::weighted(0.3), 12)
    ) {
        let mut graph = build(8, &channels);
        let mut takers = [false; 8];
        for (id, (_, to, dynamic)) in channels.iter().enumerate() {
            if *dynamic && takes[id] {
                bound(&mut graph, id, 1);
                takers[*to] = true;
            }
        }
        let found = regions(&graph);
        let mut region_of = [usize::MAX; 8];
        for (i, region) in found.iter().enumerate() {
            prop_assert!(region.nodes.is_sorted() && region.channels.is_sorted());
            region.nodes.iter().for_each(|node| region_of[node.index()] = i);
        }
        prop_assert_eq!(found.iter().map(|region| region.nodes.len()).sum::<usize>(), 8);
        let cycles = thalweg_analysis::components(&graph);
        let mut cut = channels.clone();
        for (id, (from, to, dynamic)) in channels.iter().enumerate() {
            let (a, b) = (graph.channels()[id].from().0, graph.channels()[id].to().0);
            let in_loop = cycles.of(a) == cycles.of(b);
            prop_assert!(in_loop || region_of[*from] <= region_of[*to]);
            cut[id].2 = *dynamic || takers[*from] && !in_loop;
            prop_assert!(!cut[id].2 || from == to || region_of[*from] != region_of[*to]);
            let inside = found[region_of[*from]].channels.contains(&ChannelId(id as u32));
            prop_assert_eq!(inside, !dynamic && region_of[*from] == region_of[*to]);
        }
        if let Some(expected) = uncut(8, &cut) {
            let found: BTreeSet<BTreeSet<usize>> =
                found.iter().map(|region| region.nodes.iter().map(|node| node.index()).collect()).collect();
            prop_assert_eq!(found, expected.into_iter().collect());
        }
    }
}
