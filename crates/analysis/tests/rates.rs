//! Regions and repetition vectors.

use crate::common;

use common::{Wire, graph, make_dynamic, wire};
use proptest::prelude::*;
use thalweg_analysis::{check, regions, repetitions};
use thalweg_graph::{ChannelId, Fault, GraphData, NodeId};

fn repetitions_of_all(graph: &GraphData) -> Vec<u64> {
    let mut all = vec![0; graph.nodes().len()];
    for region in regions(graph) {
        for (node, count) in region.nodes.iter().zip(repetitions(graph, &region).unwrap()) {
            all[node.index()] = count;
        }
    }
    all
}

fn rates_fault(graph: &GraphData) -> (String, String) {
    let region = &regions(graph)[0];
    match repetitions(graph, region).unwrap_err() {
        Fault::Rates { channel, detail } => (channel, detail),
        other => panic!("{other}"),
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A wire with balanced rates for the given numbers of firings of its ends.
fn balanced(firings: &[u64], from: usize, to: usize, times: u64) -> Wire {
    let common = gcd(firings[from], firings[to]);
    wire(from, to, times * (firings[to] / common), times * (firings[from] / common))
}

/// The wires of a random connected graph with consistent rates, and the firings for which they balance. A first
/// wire connects each node i > 0 with an earlier node. The other wires connect any two nodes.
fn consistent() -> impl Strategy<Value = (Vec<u64>, Vec<Wire>)> {
    (2usize..10).prop_flat_map(|nodes| {
        let firings = proptest::collection::vec(1u64..20, nodes);
        let tree =
            proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 1u64..4), nodes - 1);
        let rest = proptest::collection::vec((0..nodes, 0..nodes, 1u64..4), 1..nodes);
        (firings, tree, rest).prop_map(|(firings, tree, rest)| {
            let mut wires = Vec::new();
            for (i, (parent, forward, times)) in tree.into_iter().enumerate() {
                let (child, parent) = (i + 1, parent.index(i + 1));
                let (from, to) = if forward { (parent, child) } else { (child, parent) };
                wires.push(balanced(&firings, from, to, times));
            }
            wires.extend(rest.into_iter().map(|(from, to, times)| balanced(&firings, from, to, times)));
            (firings, wires)
        })
    })
}

proptest! {
    #[test]
    fn repetitions_balance_and_are_the_smallest((firings, wires) in consistent()) {
        let found = repetitions_of_all(&graph(firings.len(), &wires));
        for wire in &wires {
            prop_assert_eq!(found[wire.from] * wire.push, found[wire.to] * wire.pop);
        }
        prop_assert!(found.iter().all(|count| *count > 0));
        prop_assert_eq!(found.iter().fold(0, |common, count| gcd(common, *count)), 1);
    }

    #[test]
    fn one_wrong_rate_is_found((firings, mut wires) in consistent(), which in any::<prop::sample::Index>()) {
        // Any wire that is not in the tree closes a cycle of equations.
        let tree = firings.len() - 1;
        let wrong = tree + which.index(wires.len() - tree);
        wires[wrong].push += 1;
        let graph = graph(firings.len(), &wires);
        let faults = check(&graph).unwrap_err();
        let is_rates = |fault: &Fault| matches!(fault, Fault::Rates { .. });
        prop_assert_eq!(faults.iter().filter(|fault| is_rates(fault)).count(), 1);
    }
}

#[test]
fn a_textbook_chain() {
    let graph = graph(3, &[wire(0, 1, 2, 3), wire(1, 2, 4, 6)]);
    assert_eq!(repetitions_of_all(&graph), [9, 6, 4]);
    assert_eq!(check(&graph), Ok(()));
}

#[test]
fn an_inconsistent_diamond_is_named_with_its_numbers() {
    let graph = graph(4, &[wire(0, 1, 1, 1), wire(0, 2, 1, 1), wire(1, 3, 2, 1), wire(2, 3, 3, 1)]);
    let (channel, detail) = rates_fault(&graph);
    // The channel named depends on the order of the search. The numbers do not.
    assert_eq!(channel, "n2.o3 -> n3.i3");
    assert_eq!(
        detail,
        "by the other channels, `n2` fires 1 times while `n3` fires 2 times, which pushes 3 items (3 a firing) \
         and pops 2 (1 a firing)"
    );
}

#[test]
fn dynamic_channels_end_a_region() {
    let mut graph = graph(4, &[wire(0, 1, 1, 2), wire(1, 2, 1, 1), wire(2, 3, 3, 1), wire(0, 3, 5, 7)]);
    make_dynamic(&mut graph, ChannelId(1));
    make_dynamic(&mut graph, ChannelId(3));
    let found = regions(&graph);
    let nodes: Vec<Vec<usize>> = found.iter().map(|r| r.nodes.iter().map(|n| n.index()).collect()).collect();
    assert_eq!(nodes, [[0, 1], [2, 3]]);
    assert_eq!(found[0].channels, [ChannelId(0)]);
    assert_eq!(found[1].channels, [ChannelId(2)]);
    assert_eq!(repetitions_of_all(&graph), [2, 1, 1, 3]);
    assert_eq!(check(&graph), Ok(()));
}

#[test]
fn a_merge_has_no_static_rates() {
    let wires = [wire(0, 1, 1, 1), wire(0, 2, 1, 1), wire(1, 3, 2, 1), wire(2, 3, 3, 1)];
    let mut graph = graph(4, &wires);
    *graph.node_mut(NodeId(3)).merge_mut() = true;
    assert_eq!(check(&graph), Ok(()));
    assert_eq!(regions(&graph).len(), 2);
}

#[test]
fn one_sided_channels_are_refused() {
    let (channel, detail) = rates_fault(&graph(2, &[wire(0, 1, 0, 3)]));
    assert_eq!(channel, "n0.o0 -> n1.i0");
    assert!(detail.starts_with("its producer pushes 0 items a firing and its consumer pops 3"), "{detail}");
    let (_, detail) = rates_fault(&graph(2, &[wire(0, 1, 3, 0)]));
    assert!(detail.starts_with("its producer pushes 3 items a firing and its consumer pops 0"), "{detail}");
    // Found even if the search has connected the two nodes through another channel before.
    let (channel, _) = rates_fault(&graph(2, &[wire(0, 1, 1, 1), wire(0, 1, 3, 0)]));
    assert_eq!(channel, "n0.o1 -> n1.i1");
}

#[test]
fn a_channel_with_two_zero_rates_connects_nothing() {
    let graph = graph(3, &[wire(0, 1, 0, 0), wire(0, 2, 1, 1), wire(2, 1, 1, 1)]);
    assert_eq!(check(&graph), Ok(()));
    assert_eq!(regions(&graph)[0].channels, [ChannelId(1), ChannelId(2)]);
}

#[test]
fn periods_up_to_the_limit_are_exact_and_beyond_it_refused() {
    // 63 doublings stay below 2^64, 64 do not.
    let chain = |length: usize| {
        let wires: Vec<Wire> = (0..length).map(|i| wire(i, i + 1, 2, 1)).collect();
        graph(length + 1, &wires)
    };
    assert_eq!(repetitions_of_all(&chain(63))[63], 1 << 63);
    let (channel, detail) = rates_fault(&chain(64));
    assert_eq!(channel, "n63.o63 -> n64.i63");
    assert!(detail.contains("2^64"), "{detail}");
}

#[test]
fn a_common_period_beyond_the_limit_is_refused() {
    // The least common multiple of these primes just below 2^32 is above 2^64.
    let primes = [4_294_967_291, 4_294_967_279, 4_294_967_231];
    let wires: Vec<Wire> = primes.iter().enumerate().map(|(i, p)| wire(0, i + 1, 1, *p)).collect();
    let (_, detail) = rates_fault(&graph(4, &wires));
    assert!(detail.contains("2^64"), "{detail}");
}

#[test]
fn many_nodes_take_linear_time() {
    let wires: Vec<Wire> = (1..200_000).map(|i| wire(i - 1, i, 3, 3)).collect();
    let graph = graph(200_000, &wires);
    assert_eq!(check(&graph), Ok(()));
}
