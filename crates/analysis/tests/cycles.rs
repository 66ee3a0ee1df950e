//! Dead cycles, compared with a simulation that fires one node at a time.

use crate::common;

use common::{Wire, graph, make_dynamic, wire};
use proptest::prelude::*;
use thalweg_analysis::{check, dead_cycles, regions, repetitions};
use thalweg_graph::{ChannelId, Fault, NodeId};

fn with(initial: usize, wire: Wire) -> Wire {
    Wire { initial, ..wire }
}

#[test]
fn a_loop_needs_an_initial_item() {
    let dead = graph(2, &[wire(0, 1, 1, 1), wire(1, 0, 1, 1)]);
    let faults = dead_cycles(&dead);
    assert_eq!(faults.len(), 1);
    assert_eq!(
        faults[0].to_string(),
        "the cycle n0 -> n1 -> n0 deadlocks: `n0.o0 -> n1.i0` has 0 of 1 items needed, \
         `n1.o1 -> n0.i1` has 0 of 1 items needed\n  help: give one of these channels more initial items"
    );
    assert_eq!(check(&dead).unwrap_err(), faults);
    let alive = graph(2, &[wire(0, 1, 1, 1), with(1, wire(1, 0, 1, 1))]);
    assert_eq!(check(&alive), Ok(()));
}

#[test]
fn a_self_loop_needs_what_it_peeks() {
    let peeking = |initial| graph(1, &[Wire { peek: 5, initial, ..wire(0, 0, 2, 2) }]);
    assert_eq!(dead_cycles(&peeking(5)), []);
    let faults = dead_cycles(&peeking(4));
    let text = faults[0].to_string();
    assert!(text.starts_with("the cycle n0 -> n0 deadlocks: `n0.o0 -> n0.i0` has 4 of 5"), "{text}");
    assert!(text.ends_with("give this channel more initial items"), "{text}");
}

#[test]
fn a_loop_that_starts_and_then_sticks_is_dead() {
    // One firing of n0 pushes one item, and n1 needs two.
    let faults = dead_cycles(&graph(2, &[wire(0, 1, 1, 2), with(1, wire(1, 0, 2, 1))]));
    assert!(faults[0].to_string().contains("`n0.o0 -> n1.i0` has 1 of 2 items needed"), "{}", faults[0]);
    assert_eq!(dead_cycles(&graph(2, &[wire(0, 1, 1, 2), with(2, wire(1, 0, 2, 1))])), []);
}

#[test]
fn inputs_from_outside_never_run_empty() {
    let wires = [wire(2, 0, 1, 1), wire(0, 1, 1, 1), with(1, wire(1, 0, 1, 1)), wire(1, 3, 1, 1)];
    assert_eq!(check(&graph(4, &wires)), Ok(()));
}

#[test]
fn a_peek_may_need_the_next_period() {
    // n1 peeks at three of n0's items, and n0 has enough initial items to run ahead.
    let ahead = |initial| [Wire { peek: 3, ..wire(0, 1, 1, 1) }, with(initial, wire(1, 0, 1, 1))];
    assert_eq!(dead_cycles(&graph(2, &ahead(3))), []);
    assert_eq!(dead_cycles(&graph(2, &ahead(2))).len(), 1);
    let far = [Wire { peek: 1_000_000, ..wire(0, 1, 1, 1) }, with(1_000_000, wire(1, 0, 1, 1))];
    assert_eq!(dead_cycles(&graph(2, &far)), []);
}

#[test]
fn dynamic_cycles_are_not_checked() {
    let mut dynamic = graph(2, &[wire(0, 1, 1, 1), wire(1, 0, 1, 1)]);
    make_dynamic(&mut dynamic, ChannelId(1));
    assert_eq!(check(&dynamic), Ok(()));
    let mut merging = graph(2, &[wire(0, 1, 1, 1), wire(1, 0, 1, 1)]);
    *merging.node_mut(NodeId(0)).merge_mut() = true;
    assert_eq!(check(&merging), Ok(()));
}

#[test]
fn each_dead_component_is_reported_once() {
    let pair = |a, b| [wire(a, b, 1, 1), wire(b, a, 1, 1)];
    let wires: Vec<Wire> = [pair(0, 1), pair(2, 3)].concat().into_iter().chain([wire(1, 2, 1, 1)]).collect();
    assert_eq!(dead_cycles(&graph(4, &wires)).len(), 2);
}

#[test]
fn inconsistent_rates_are_not_searched() {
    let faults = check(&graph(2, &[wire(0, 1, 1, 1), wire(1, 0, 2, 1)])).unwrap_err();
    assert!(matches!(faults[..], [Fault::Rates { .. }]), "{faults:?}");
}

#[test]
fn a_ring_of_many_nodes_is_quick_and_its_message_short() {
    const NODES: usize = 200_000;
    let ring = |initial| {
        let mut wires: Vec<Wire> = (1..NODES).map(|i| wire(i - 1, i, 1, 1)).collect();
        wires.push(with(initial, wire(NODES - 1, 0, 1, 1)));
        graph(NODES, &wires)
    };
    assert_eq!(dead_cycles(&ring(1)), []);
    let Fault::DeadCycle { nodes, detail } = dead_cycles(&ring(0)).remove(0) else { panic!() };
    assert_eq!(nodes.len(), NODES);
    assert!(detail.contains("199992 more channels lack items"), "{detail}");
}

#[test]
fn the_search_has_a_limit_for_contrived_rates() {
    // One item goes back and forth about 2^32 times in a period.
    let (a, b) = (4_294_967_291, 4_294_967_279);
    let wires = [wire(0, 1, a, b), with(a as usize + b as usize - 1, wire(1, 0, b, a))];
    assert_eq!(dead_cycles(&graph(2, &wires)), []);
}

/// Whether all nodes can fire a period. Fires one node at a time, the one that has fired the least part of its
/// period, until all have fired a period or none can fire.
fn is_live(nodes: usize, wires: &[Wire], period: &[u64]) -> bool {
    let mut items: Vec<u64> = wires.iter().map(|w| w.initial as u64).collect();
    let mut fired = vec![0u64; nodes];
    while (0..nodes).any(|node| fired[node] < period[node]) {
        let ready = |node: &usize| wires.iter().zip(&items).all(|(w, has)| w.to != *node || *has >= w.peek);
        let progress = |node: &usize| fired[*node] * 1000 / period[*node];
        let Some(node) = (0..nodes).filter(ready).min_by_key(progress) else { return false };
        fired[node] += 1;
        for (wire, has) in wires.iter().zip(&mut items) {
            if wire.to == node {
                *has -= wire.pop;
            }
            if wire.from == node {
                *has += wire.push;
            }
        }
    }
    true
}

/// A random ring with chords: strongly connected, consistent, with peeks and initial items.
pub fn ring() -> impl Strategy<Value = (usize, Vec<Wire>)> {
    let end = || (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let extra = (0u64..4, prop_oneof![2 => Just(0usize), 2 => 1usize..6, 1 => 6usize..16]);
    (1usize..6).prop_flat_map(move |nodes| {
        let firings = proptest::collection::vec(1u64..5, nodes);
        let chords = proptest::collection::vec(end(), 0..4);
        let extras = proptest::collection::vec(extra.clone(), nodes + 4);
        (firings, chords, extras).prop_map(move |(firings, chords, extras)| {
            let around = (0..nodes).map(|i| (i, (i + 1) % nodes));
            let chords = chords.into_iter().map(|(a, b)| (a.index(nodes), b.index(nodes)));
            let wires = around.chain(chords).zip(extras).map(|((from, to), (more, initial))| {
                let pop = firings[from];
                Wire { peek: pop + more, initial, ..wire(from, to, firings[to], pop) }
            });
            (nodes, wires.collect())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn a_graph_is_dead_if_it_cannot_fire_a_period((nodes, wires) in ring()) {
        let graph = graph(nodes, &wires);
        let region = &regions(&graph)[0];
        let period = repetitions(&graph, region).unwrap();
        let faults = dead_cycles(&graph);
        prop_assert_eq!(faults.is_empty(), is_live(nodes, &wires, &period));
        for fault in faults {
            let Fault::DeadCycle { nodes, .. } = fault else { panic!() };
            for (i, name) in nodes.iter().enumerate() {
                let next = &nodes[(i + 1) % nodes.len()];
                let joined = |w: &Wire| *name == format!("n{}", w.from) && *next == format!("n{}", w.to);
                prop_assert!(wires.iter().any(joined), "{} -> {}", name, next);
            }
        }
    }
}
