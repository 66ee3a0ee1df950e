//! Hash-consing of port shapes: equal ports of a graph share one allocation.

use crate::Node;
use crate::node::{InShape, OutShape};
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

/// The distinct port shapes seen so far, at most [`MAX_SHAPES`] of inputs and of outputs. A graph that has more
/// does not consist of many equal nodes, so sharing would save little.
#[derive(Clone, Default, Debug)]
pub(crate) struct Shapes {
    inputs: HashSet<Arc<InShape>>,
    outputs: HashSet<Arc<OutShape>>,
}

const MAX_SHAPES: usize = 1024;

impl Shapes {
    /// Replaces the shapes of the node's ports by equal shapes seen before.
    pub(crate) fn share(&mut self, node: &mut Node) {
        node.inputs.iter_mut().for_each(|port| share(&mut self.inputs, &mut port.shape));
        node.outputs.iter_mut().for_each(|port| share(&mut self.outputs, &mut port.shape));
    }
}

fn share<S: Eq + Hash>(seen: &mut HashSet<Arc<S>>, shape: &mut Arc<S>) {
    match seen.get(&**shape) {
        Some(same) => *shape = same.clone(),
        None if seen.len() < MAX_SHAPES => _ = seen.insert(shape.clone()),
        None => {}
    }
}
