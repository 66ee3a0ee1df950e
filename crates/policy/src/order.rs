//! The order of data flow, of nodes and of sets of nodes.

use crate::pick::{consumer, outputs};
use thalweg_graph::{GraphData, NodeId};

/// By node: its position in the order of data flow, as [`positions`] says.
pub(crate) fn depths(graph: &GraphData) -> Vec<u32> {
    let nodes = graph.node_ids();
    let sources = nodes.filter(|node| graph.node(*node).is_source()).map(|node| node.index());
    let after = |node: usize, at| {
        let channel = outputs(graph, NodeId(node as u32)).nth(at)?;
        Some(consumer(graph, channel).index())
    };
    positions(graph.nodes().len(), sources, after)
}

/// The position of each of `count` vertices in an order in which producers precede consumers, except along the back edges of
/// cycles: the reverse postorder of a depth-first search from the `sources`. `after` is an entry of a vertex's list of successors.
///
/// Vertices that no source reaches are visited last, so they get the lowest positions.
pub(crate) fn positions(
    count: usize,
    sources: impl Iterator<Item = usize>,
    after: impl Fn(usize, usize) -> Option<usize>,
) -> Vec<u32> {
    let (mut found, mut seen) = (vec![0; count], vec![false; count]);
    let mut position = count as u32;
    for root in sources.chain(0..count) {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((vertex, at)) = path.last_mut() {
            let Some(next) = after(*vertex, *at) else {
                position -= 1;
                found[*vertex] = position;
                path.pop();
                continue;
            };
            *at += 1;
            if !std::mem::replace(&mut seen[next], true) {
                path.push((next, 0));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs;

    #[test]
    fn producers_precede_consumers_except_along_back_edges() {
        let diamond = graphs::graph("sspss", &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)]);
        let dedup = graphs::graph("sppsps", &[(0, 1), (1, 2), (2, 3), (3, 5), (3, 4), (4, 5)]);
        for graph in [graphs::chain(70), diamond, dedup, graphs::two_sources()] {
            let depth = depths(&graph);
            for channel in graph.channels() {
                assert!(depth[channel.from().0.index()] < depth[channel.to().0.index()]);
            }
        }
        let feedback = graphs::graph("sspss", &[(0, 1), (1, 2), (2, 3), (3, 4), (3, 1)]);
        assert_eq!(depths(&feedback), [0, 1, 2, 3, 4]);
        assert_eq!(depths(&graphs::chain(100_000))[99_999], 99_999);
    }

    #[test]
    fn a_cycle_keeps_the_order_of_its_entry() {
        let looped = graphs::graph("ssss", &[(3, 1), (1, 2), (2, 1), (2, 0)]);
        assert_eq!(depths(&looped), [3, 1, 2, 0]);
    }
}
