//! The search for a cycle in a graph that has come to rest before all its nodes were computed.

use super::store::Store;
use std::collections::HashMap;

/// The nodes of a cycle, each of which waits for the next. No member is active, and some node is left.
///
/// Every node that is left waits for another one that is left, so a walk from one to the next ends in a cycle. It begins
/// at the sink if that is left, and takes the first predecessor that is left: what is left depends on the graph alone, and
/// so does the cycle.
pub(super) fn find<K, R>(store: &Store<K, R>, sink: u32) -> Vec<u32> {
    let is_left = |node: u32| store.nodes.get(node).is_left();
    let mut at = match is_left(sink) {
        true => sink,
        false => {
            let mut nodes = store.nodes.iter();
            nodes.find(|(_, node)| node.is_left()).expect("some node is left").0
        }
    };
    let (mut path, mut places) = (Vec::new(), HashMap::new());
    loop {
        if let Some(start) = places.insert(at, path.len()) {
            return path.split_off(start);
        }
        path.push(at);
        let next = store.predecessors(store.nodes.get(at)).find(|node| is_left(*node));
        at = next.expect("a node that is left waits for one that is left");
    }
}
