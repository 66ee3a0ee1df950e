//! From edges to arrays.

use super::{Lists, StaticGraph, full};
use std::sync::atomic::AtomicU64;

pub(super) fn from_edges(nodes: u32, edges: &[(u32, u32)]) -> StaticGraph {
    assert!(edges.len() < u32::MAX as usize, "{} edges, at most {} are possible", edges.len(), u32::MAX - 1);
    if let Some((before, _)) = edges.iter().find(|(before, _)| *before >= nodes) {
        panic!("node {before} of a graph with {nodes} nodes");
    }
    finish(nodes, sorted(nodes, edges.len(), || edges.iter().copied()))
}

/// The same edges, from their other ends.
pub(super) fn transposed(lists: &Lists) -> Lists {
    let nodes = lists.borders.len() as u32 - 1;
    let edges = || (0..nodes).flat_map(|from| lists.of(from).iter().map(move |to| (*to, from)));
    sorted(nodes, lists.nodes.len(), edges)
}

/// Lists of the second nodes of edges, by the first: a counting sort, in which the end of each list is counted down to its
/// start.
fn sorted<I: DoubleEndedIterator<Item = (u32, u32)>>(nodes: u32, len: usize, edges: impl Fn() -> I) -> Lists {
    let mut borders = vec![0_u32; nodes as usize + 1].into_boxed_slice();
    edges().for_each(|(from, _)| borders[from as usize] += 1);
    let mut end = 0;
    for border in &mut borders {
        end += *border;
        *border = end;
    }
    let mut nodes = vec![0; len].into_boxed_slice();
    for (from, to) in edges().rev() {
        let border = &mut borders[from as usize];
        *border -= 1;
        nodes[*border as usize] = to;
    }
    Lists { borders, nodes }
}

pub(super) fn from_successors(nodes: u32, mut successors_of: impl FnMut(u32, &mut Vec<u32>)) -> StaticGraph {
    let (mut borders, mut successors) = (Vec::with_capacity(nodes as usize + 1), Vec::new());
    borders.push(0);
    for node in 0..nodes {
        successors_of(node, &mut successors);
        let end = u32::try_from(successors.len()).unwrap_or(u32::MAX);
        assert!(end < u32::MAX, "more than {} edges", u32::MAX - 1);
        borders.push(end);
    }
    finish(nodes, Lists { borders: borders.into_boxed_slice(), nodes: successors.into_boxed_slice() })
}

/// Counts the predecessors.
fn finish(nodes: u32, successors: Lists) -> StaticGraph {
    let mut counters: Box<[AtomicU64]> = (0..nodes).map(|_| AtomicU64::new(0)).collect();
    for after in &successors.nodes {
        assert!(*after < nodes, "node {after} of a graph with {nodes} nodes");
        *counters[*after as usize].get_mut() += 1 << 32;
    }
    let mut sources = Vec::new();
    for (node, counter) in (0..).zip(&mut counters) {
        let counter = counter.get_mut();
        *counter = full(*counter);
        if *counter == 0 {
            sources.push(node);
        }
    }
    StaticGraph { counters, successors, sources, colours: None }
}
