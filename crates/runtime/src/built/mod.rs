//! A checked graph with the makers of its nodes' code: `build` makes it, `run` runs it, and neither needs the types of
//! the other.

mod make;
mod ring_cell;

pub(crate) use make::{MakeBody, MakeNode, TallySpec};
pub(crate) use ring_cell::{MadeRing, MakeRing, RingCell, Side};

use crate::coroutine::Wanted;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use thalweg_graph::{ChannelId, GraphData, NodeId};

/// A graph that has been checked and can be run, with the code of its nodes.
pub struct Network<'env> {
    /// The number of its graph, which its outputs have too.
    pub(crate) number: usize,
    pub(crate) graph: GraphData,
    /// By channel: the maker of its ring.
    pub(crate) rings: Vec<Arc<dyn MakeRing<'env> + 'env>>,
    /// By node: the maker of its code; `None` for an outlet.
    pub(crate) nodes: Vec<Option<MakeBody<'env>>>,
    /// The stacks that its coroutines need.
    pub(crate) stacks: Wanted,
    /// The number of nodes among which the budget of [`Kernel::request_budget`](crate::Kernel::request_budget) is
    /// divided.
    pub(crate) budget_sharers: usize,
    /// The channels that operators have added.
    pub(crate) operators: OperatorChannels,
    /// By parallel node: its tallies.
    pub(crate) tallies: HashMap<NodeId, Vec<TallySpec>>,
    /// Nodes that push each item of their first input on their first output, although both rates are dynamic.
    pub(crate) passing: Vec<NodeId>,
}

/// The channels that operators have added for their own use, as far as the end of a loop depends on it: see
/// [`starve`](crate::liveness::starve).
#[derive(Debug, Default)]
pub(crate) struct OperatorChannels {
    /// Those of counts and tokens of `in_flight`. What they hold is no item of the user.
    pub(crate) counts: BTreeSet<ChannelId>,
    /// The feedback channels of `par_iterate` and `par_fork_join`, whose gates end these loops.
    pub(crate) rounds: BTreeSet<ChannelId>,
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
