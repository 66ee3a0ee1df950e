//! The search for a cycle in an explicit graph.

use super::StaticGraph;

/// The nodes of a cycle of a graph that has one. Each waits for the next. The cycle depends on the graph alone.
pub(super) fn find(graph: &StaticGraph) -> Vec<u32> {
    let mut left = vec![0_u32; graph.nodes() as usize];
    for successor in &graph.successors.nodes {
        left[*successor as usize] += 1;
    }
    let mut ready = graph.sources.clone();
    while let Some(node) = ready.pop() {
        for successor in graph.successors.of(node) {
            left[*successor as usize] -= 1;
            if left[*successor as usize] == 0 {
                ready.push(*successor);
            }
        }
    }
    // Of each node that is left, one predecessor that is left: there is one, or the node would be done.
    let mut waits_for = vec![None; left.len()];
    for node in (0..graph.nodes()).filter(|node| left[*node as usize] > 0) {
        for successor in graph.successors.of(node) {
            waits_for[*successor as usize].get_or_insert(node);
        }
    }
    let first = left.iter().position(|left| *left > 0).expect("the graph has a cycle");
    let (mut path, mut place, mut at) = (Vec::new(), vec![None; left.len()], first as u32);
    loop {
        if let Some(start) = place[at as usize].replace(path.len()) {
            return path.split_off(start);
        }
        path.push(at);
        at = waits_for[at as usize].expect("a node that is left waits for one that is left");
    }
}
