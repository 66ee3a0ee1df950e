//! Dead cycles: static cycles with too few initial items.
//!
//! Take a strongly connected component (SCC) of a region, and let q be its repetition vector. Channels from
//! outside the SCC are assumed never to run empty, so a node waits only for channels within. The SCC is live,
//! that is, it can fire without end, if and only if every node v can fire at least q(v) times from the initial
//! state: the firings possible afterwards include those possible at first, so the same firings can be repeated.
//! (Without peeking this is Lee and Messerschmitt's condition, and q firings suffice. With peeking, a node's
//! q-th firing may need items of its producer's next period. The argument still holds, since the firings that a
//! node can do only grow with the firings that other nodes have done.)
//!
//! The search therefore fires nodes, each as often at once as its items allow, until every node v has fired q(v)
//! times or none can fire. No node exceeds a limit, q at first. The limit doubles when the only nodes that could
//! still fire have reached it.

mod fault;
mod scc;

use crate::components::components_through;
use crate::rates::rates;
use crate::repetitions::all_repetitions;
use scc::{Liveness, Scc};
use thalweg_graph::{Fault, GraphData};

/// The dead cycles of `graph`, one for each strongly connected component of a region that has any.
///
/// Only regions with consistent rates are searched, and no cycle with a first firing that differs: the
/// [`schedule`](crate::schedule::schedule) of a region decides about these. Contrived rates can keep the search of an
/// SCC busy for millions of steps: it then stops and assumes that the SCC is live. A run finds the deadlock if it is
/// not.
pub fn dead_cycles(graph: &GraphData) -> Vec<Fault> {
    dead_cycles_of(graph, &all_repetitions(graph).0)
}

/// The dead cycles of `graph`. `counts` has the repetitions of each node, 0 in regions without a period.
pub(crate) fn dead_cycles_of(graph: &GraphData, counts: &[u64]) -> Vec<Fault> {
    let is_static = |id| rates(graph, id).is_some_and(|rates| rates.relates());
    let components = components_through(graph, is_static);
    let mut position = vec![0; graph.nodes().len()];
    for members in components.iter() {
        for (i, node) in members.iter().enumerate() {
            position[node.index()] = i;
        }
    }
    let mut faults = Vec::new();
    for (i, members) in components.iter().enumerate() {
        if counts[members[0].index()] == 0 {
            continue;
        }
        let mut scc = Scc::new(graph, &components, i, &position, counts);
        let begins_alike = || !members.iter().any(|node| graph.has_prework(*node));
        if scc.has_cycle() && begins_alike() && scc.run() == Liveness::Dead {
            faults.push(fault::of(graph, &scc));
        }
    }
    faults
}
