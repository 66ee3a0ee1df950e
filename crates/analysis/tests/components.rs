//! Strongly connected components, compared with plain reachability.

mod common;

use common::{graph, wire};
use proptest::prelude::*;
use thalweg_analysis::{components, topological_order};
use thalweg_graph::{GraphData, NodeId};

fn build(nodes: usize, pairs: &[(usize, usize)]) -> GraphData {
    let wires: Vec<_> = pairs.iter().map(|&(from, to)| wire(from, to, 1, 1)).collect();
    graph(nodes, &wires)
}

/// For each pair of nodes, whether the second is reachable from the first, by Warshall's algorithm.
fn reachable(nodes: usize, pairs: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut reach = vec![vec![false; nodes]; nodes];
    for (i, row) in reach.iter_mut().enumerate() {
        row[i] = true;
    }
    for &(from, to) in pairs {
        reach[from][to] = true;
    }
    for via in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                reach[from][to] |= reach[from][via] && reach[via][to];
            }
        }
    }
    reach
}

fn any_graph() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (1usize..12).prop_flat_map(|nodes| {
        (Just(nodes), proptest::collection::vec((0..nodes, 0..nodes), 0..2 * nodes + 2))
    })
}

proptest! {
    #[test]
    fn nodes_of_a_component_reach_each_other((nodes, pairs) in any_graph()) {
        let found = components(&build(nodes, &pairs));
        let reach = reachable(nodes, &pairs);
        for (a, b) in (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))) {
            let same = found.of(NodeId(a as u32)) == found.of(NodeId(b as u32));
            prop_assert_eq!(same, reach[a][b] && reach[b][a], "{} and {}", a, b);
        }
    }

    #[test]
    fn channels_lead_forward_and_members_agree((nodes, pairs) in any_graph()) {
        let graph = build(nodes, &pairs);
        let found = components(&graph);
        for &(from, to) in &pairs {
            prop_assert!(found.of(NodeId(from as u32)) <= found.of(NodeId(to as u32)));
        }
        let grouped: Vec<NodeId> = found.iter().flatten().copied().collect();
        prop_assert_eq!(&grouped, &topological_order(&graph));
        let mut sorted = grouped;
        sorted.sort();
        prop_assert_eq!(sorted, graph.node_ids().collect::<Vec<_>>());
        for (i, members) in found.iter().enumerate() {
            prop_assert!(members.iter().all(|node| found.of(*node) == i));
        }
    }
}

#[test]
fn a_graph_without_nodes_has_no_components() {
    let found = components(&GraphData::new());
    assert!(found.is_empty());
    assert_eq!(found.len(), 0);
    assert_eq!(topological_order(&GraphData::new()), []);
}

#[test]
fn long_chains_and_rings_need_no_deep_stack() {
    const NODES: usize = 200_000;
    let mut pairs: Vec<_> = (1..NODES).map(|i| (i - 1, i)).collect();
    let chain = build(NODES, &pairs);
    assert_eq!(components(&chain).len(), NODES);
    assert!(topological_order(&chain).is_sorted());
    pairs.push((NODES - 1, 0));
    assert_eq!(components(&build(NODES, &pairs)).len(), 1);
}
