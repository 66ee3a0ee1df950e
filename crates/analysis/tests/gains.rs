//! Gains of graphs with branches, several sources, contradictory rates and dynamic rates.

use crate::common;

use common::{Wire, graph, make_dynamic, wire};
use proptest::prelude::*;
use thalweg_analysis::{Gain, Gains, check};
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// The gains of all nodes and of all channels for an item of a source, as text.
fn gains(graph: &GraphData, source: u32) -> (Vec<String>, Vec<String>) {
    let gains = Gains::of(graph, NodeId(source));
    let text = |gain: Option<Gain>| gain.map_or("none".into(), |gain| gain.to_string());
    let nodes = graph.node_ids().map(|node| text(gains.node(node))).collect();
    (nodes, graph.channel_ids().map(|channel| text(gains.channel(channel))).collect())
}

/// A split whose branches have other rates, and a join. The unit is an item of the source's first output.
#[test]
fn branches_have_the_gains_of_their_paths() {
    let wires = [wire(0, 1, 2, 1), wire(0, 2, 3, 2), wire(1, 3, 3, 4), wire(2, 3, 1, 1)];
    let graph = graph(4, &wires);
    let (nodes, channels) = gains(&graph, 0);
    assert_eq!(nodes, ["1/2", "1", "3/4", "3/4"]);
    assert_eq!(channels, ["1", "3/2", "3", "3/4"]);
    assert!(check(&graph).is_ok());
}

/// The unit is an item of the node that is asked for, whatever other sources there are.
#[test]
fn each_of_several_sources_has_its_own_unit() {
    let graph = graph(3, &[wire(0, 2, 4, 2), wire(1, 2, 3, 1)]);
    assert_eq!(
        gains(&graph, 0),
        (vec!["1/4".into(), "1/6".into(), "1/2".into()], vec!["1".into(), "1/2".into()])
    );
    assert_eq!(
        gains(&graph, 1),
        (vec!["1/2".into(), "1/3".into(), "1".into()], vec!["2".into(), "1".into()])
    );
}

#[test]
fn a_part_without_channels_to_the_source_has_no_gain() {
    let graph = graph(4, &[wire(0, 1, 1, 1), wire(2, 3, 1, 1)]);
    assert_eq!(gains(&graph, 0).0, ["1", "1", "none", "none"]);
    assert_eq!(gains(&graph, 2).0, ["none", "none", "1", "1"]);
}

/// The two ways to the last node ask for different numbers of firings.
#[test]
fn contradictory_rates_have_no_gain() {
    let wires = [wire(0, 1, 1, 1), wire(0, 2, 1, 1), wire(1, 2, 1, 2)];
    let graph = graph(3, &wires);
    assert!(check(&graph).is_err());
    assert_eq!(gains(&graph, 0), (vec!["none".into(); 3], vec!["none".into(); 3]));
}

/// Behind a dynamic rate nothing is known, but for what is related to the source by another way.
#[test]
fn dynamic_rates_end_what_is_known() {
    let mut chain = graph(4, &[wire(0, 1, 2, 1), wire(1, 2, 1, 1), wire(2, 3, 5, 1)]);
    make_dynamic(&mut chain, ChannelId(1));
    assert_eq!(
        gains(&chain, 0),
        (
            vec!["1/2".into(), "1".into(), "none".into(), "none".into()],
            vec!["1".into(), "none".into(), "none".into()],
        )
    );
    let mut branches = graph(3, &[wire(0, 1, 1, 1), wire(0, 2, 2, 1), wire(1, 2, 3, 1)]);
    make_dynamic(&mut branches, ChannelId(2));
    assert_eq!(
        gains(&branches, 0),
        (vec!["1".into(), "1".into(), "2".into()], vec!["1".into(), "2".into(), "none".into()])
    );
    let mut source = graph(2, &[wire(0, 1, 1, 1)]);
    make_dynamic(&mut source, ChannelId(0));
    assert_eq!(gains(&source, 0).0, ["none", "none"]);
}

/// A node without outputs pushes no item, for which others could fire.
#[test]
fn a_sink_is_no_source() {
    assert_eq!(gains(&graph(2, &[wire(0, 1, 1, 1)]), 1).0, ["none", "none"]);
}

/// The wires of a tree, for which any rates are consistent.
fn tree() -> impl Strategy<Value = Vec<Wire>> {
    let wires = proptest::collection::vec((any::<prop::sample::Index>(), 1u64..9, 1u64..9), 1..12);
    wires.prop_map(|wires| {
        let wires = wires.into_iter().enumerate();
        wires.map(|(i, (from, push, pop))| wire(from.index(i + 1), i + 1, push, pop)).collect()
    })
}

proptest! {
    /// Section 1.1.2: gain(w) is the product of out(u)/in(u) of the nodes before w, over in(w), and gain(v, w) = gain(v) out(v). Of the
    /// source we count what it pushes, not what it consumes.
    #[test]
    fn gains_are_the_products_of_the_rates_of_the_path(wires in tree()) {
        let graph = graph(wires.len() + 1, &wires);
        let gains = Gains::of(&graph, NodeId(0));
        let fraction = |gain: Gain| (gain.numer(), gain.denom());
        for (i, wire) in wires.iter().enumerate() {
            let from = fraction(gains.node(NodeId(wire.from as u32)).unwrap());
            let to = fraction(gains.node(NodeId(wire.to as u32)).unwrap());
            let carried = fraction(gains.channel(ChannelId(i as u32)).unwrap());
            let (push, pop) = (u128::from(wire.push), u128::from(wire.pop));
            prop_assert_eq!(carried.0 * from.1, from.0 * push * carried.1);
            prop_assert_eq!(to.0 * pop * carried.1, carried.0 * to.1);
        }
        // The first channel leaves the source by its first output.
        prop_assert_eq!(gains.channel(ChannelId(0)).unwrap().to_string(), "1");
    }
}
