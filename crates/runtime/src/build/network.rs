//! A graph that was checked, with the code of its nodes.

use super::draft::{MakeBody, TallySpec};
use super::socket::MakeRing;
use crate::coroutine::Wanted;
use std::collections::HashMap;
use std::sync::Arc;
use thalweg_graph::{GraphData, NodeId};

/// A graph that may be run, with the code of its nodes.
pub struct Network<'env> {
    /// The number of its graph.
    pub(crate) number: usize,
    pub(crate) graph: GraphData,
    pub(crate) rings: Vec<Arc<dyn MakeRing<'env> + 'env>>,
    pub(crate) nodes: Vec<Option<MakeBody<'env>>>,
    pub(crate) stacks: Wanted,
    /// Nodes that share what nodes may keep of what they have taken.
    pub(crate) keepers: usize,
    /// Tallies of parallel nodes.
    pub(crate) tallies: HashMap<NodeId, Vec<TallySpec>>,
}

impl Network<'_> {
    /// The graph, to be printed or analysed.
    pub fn graph(&self) -> &GraphData {
        &self.graph
    }
}

impl std::fmt::Debug for Network<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("graph", &self.graph).finish_non_exhaustive()
    }
}
