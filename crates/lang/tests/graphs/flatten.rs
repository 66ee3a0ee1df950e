//! Splitters, joiners and feedback loops in the flat graph.

use crate::streams::*;
use thalweg_lang::flat::{Flat, NodeKind, flatten};
use thalweg_lang::tree::{StreamKind, Weights};

/// Each node with its weights, its producers and its consumers.
fn lines(flat: &Flat) -> Vec<String> {
    let mut lines = Vec::new();
    for node in flat.graph.node_ids() {
        let name = |node| flat.node(node).name();
        let from: Vec<&str> = flat.inputs(node).map(|id| name(flat.channel(id).from().0)).collect();
        let to: Vec<&str> = flat.outputs(node).map(|id| name(flat.channel(id).to().0)).collect();
        let weights = match flat.kind(node) {
            NodeKind::Filter(_) => String::new(),
            NodeKind::Split(Weights::Duplicate) | NodeKind::Join(Weights::Duplicate) => " duplicate".into(),
            NodeKind::Split(Weights::RoundRobin(weights)) | NodeKind::Join(Weights::RoundRobin(weights)) => {
                format!(" {weights:?}")
            }
        };
        lines.push(format!("{}{weights}: {} -> {}", name(node), from.join(" "), to.join(" ")));
    }
    lines
}

fn flat(draft: Draft) -> Flat {
    flatten(&tree(draft))
}

#[test]
fn null_splitters_are_removed() {
    let both = SplitJoin("Both", round([0, 0]), vec![filter("A", 0, 1), filter("B", 0, 1)], round([1, 2]));
    let flat = flat(Pipeline("Main", vec![both, filter("C", 3, 0)]));
    insta::assert_debug_snapshot!(lines(&flat));
}

#[test]
fn sources_in_splitjoins_take_no_splitter_port() {
    let children = vec![filter("A", 1, 1), filter("B", 0, 1), filter("C", 1, 0), filter("D", 1, 1)];
    let both = SplitJoin("Both", round([1, 0, 2, 0]), children, round([3, 4, 0, 0]));
    let flat = flat(Pipeline("Main", vec![filter("S", 0, 3), both, filter("E", 7, 0)]));
    insta::assert_debug_snapshot!(lines(&flat));
}

#[test]
fn one_child_and_none() {
    let empty = SplitJoin(
        "Two",
        Weights::Duplicate,
        vec![Pipeline("Void", vec![]), filter("B", 1, 1)],
        round([1, 1]),
    );
    let one = SplitJoin("One", Weights::Duplicate, vec![filter("A", 1, 1)], round([1]));
    let mut tree = tree(Pipeline("Main", vec![filter("S", 0, 1), one, empty, filter("E", 2, 0)]));
    let StreamKind::Pipeline(children) = &mut tree.root.kind else { unreachable!() };
    let StreamKind::SplitJoin { children, .. } = &mut children[2].kind else { unreachable!() };
    // An empty pipeline with an input and an output passes its items on.
    (children[0].input, children[0].output) = (children[1].input.clone(), children[1].output.clone());
    let flat = flatten(&tree);
    insta::assert_debug_snapshot!(lines(&flat));
}

#[test]
fn the_feedback_port_is_last() {
    let inner = feedback("In", [0, 1], filter("B", 1, 1), [1, 1], filter("C", 1, 1), 1);
    let outer = feedback("Out", [1, 2], filter("A", 3, 3), [1, 2], filter("D", 2, 2), 3);
    let flat = flat(Pipeline("Main", vec![inner, outer, filter("E", 1, 0)]));
    insta::assert_debug_snapshot!(lines(&flat));
    let back: Vec<(usize, usize)> = flat
        .channels()
        .iter()
        .enumerate()
        .filter(|(_, channel)| channel.link().feedback())
        .map(|(id, channel)| (id, channel.link().initial()))
        .collect();
    assert_eq!(back.iter().map(|(_, items)| *items).collect::<Vec<_>>(), [1, 3]);
    for channel in flat.channels() {
        assert_eq!(
            channel.link().feedback(),
            channel.from().0 > channel.to().0,
            "nodes stand in data-flow order"
        );
    }
}
