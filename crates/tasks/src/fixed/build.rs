//! From edges to arrays.

use super::{StaticGraph, full};
use std::sync::atomic::AtomicU64;

pub(super) fn from_edges(nodes: u32, edges: &[(u32, u32)]) -> StaticGraph {
    assert!(edges.len() < u32::MAX as usize, "{} edges, at most {} are possible", edges.len(), u32::MAX - 1);
    // Counting sort by the first node: the end of each list is counted down to its start.
    let mut borders = vec![0_u32; nodes as usize + 1].into_boxed_slice();
    for (before, _) in edges {
        assert!(*before < nodes, "node {before} of a graph with {nodes} nodes");
        borders[*before as usize] += 1;
    }
    let mut end = 0;
    for border in &mut borders {
        end += *border;
        *border = end;
    }
    let mut successors = vec![0; edges.len()].into_boxed_slice();
    for (before, after) in edges.iter().rev() {
        let border = &mut borders[*before as usize];
        *border -= 1;
        successors[*border as usize] = *after;
    }
    finish(nodes, borders, successors)
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
    finish(nodes, borders.into_boxed_slice(), successors.into_boxed_slice())
}

/// Counts the predecessors.
fn finish(nodes: u32, borders: Box<[u32]>, successors: Box<[u32]>) -> StaticGraph {
    let mut counters: Box<[AtomicU64]> = (0..nodes).map(|_| AtomicU64::new(0)).collect();
    for after in &successors {
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
    StaticGraph { counters, borders, successors, sources, colours: None }
}
