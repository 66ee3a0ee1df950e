//! What many ports have in common is stored once.

use crate::Node;
use crate::node::{InShape, OutShape};
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

/// The shapes of ports seen so far, up to [`MOST`] of either kind: a graph of more is not one of many
/// equal nodes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Shapes {
    inputs: HashSet<Arc<InShape>>,
    outputs: HashSet<Arc<OutShape>>,
}

const MOST: usize = 1024;

impl Shapes {
    /// Makes the node's ports share the shapes of those like them.
    pub(crate) fn share(&mut self, node: &mut Node) {
        node.inputs.iter_mut().for_each(|port| share(&mut self.inputs, &mut port.shape));
        node.outputs.iter_mut().for_each(|port| share(&mut self.outputs, &mut port.shape));
    }
}

fn share<S: Eq + Hash>(seen: &mut HashSet<Arc<S>>, shape: &mut Arc<S>) {
    match seen.get(&**shape) {
        Some(same) => *shape = same.clone(),
        None if seen.len() < MOST => _ = seen.insert(shape.clone()),
        None => {}
    }
}
