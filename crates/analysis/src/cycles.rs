//! Dead cycles: static cycles with too few initial items.
//!
//! Take a strongly connected part of a region, and let q be its repetition vector. Whatever comes
//! from outside the part is assumed plentiful, so that a node waits only for channels within. The
//! part lives for ever if and only if every node v can fire at least q(v) times from the start:
//! what may be done then is no less than at first, so the same firings can be done again. (Without
//! peeking this is Lee and Messerschmitt's condition, and q firings suffice. With peeking, a
//! node's q-th firing may need items of its producer's next period; the argument still holds,
//! since what a node may do only grows with what the others have done.)
//!
//! So the search fires, as many times at once as items allow, until all have done q or none can
//! fire. No node goes beyond a limit, q at first, that doubles when only stopped nodes could go on.

mod fault;
mod part;

use crate::components::components_through;
use crate::rates::rates;
use crate::repetitions::all_repetitions;
use part::{Life, Part};
use thalweg_graph::{Fault, GraphData};

/// The dead cycles of `graph`, one for each strongly connected part of a region that has any.
///
/// Only regions with consistent rates are searched. On a part that contrived rates keep busy for
/// millions of steps the search gives up and takes it for alive: the run will tell.
pub fn dead_cycles(graph: &GraphData) -> Vec<Fault> {
    dead_cycles_of(graph, &all_repetitions(graph).0)
}

/// The dead cycles of `graph` with these repetitions by node, 0 where there are none.
pub(crate) fn dead_cycles_of(graph: &GraphData, counts: &[u64]) -> Vec<Fault> {
    let is_static = |id| rates(graph, id).is_some();
    let components = components_through(graph, is_static);
    let mut place = vec![0; graph.nodes().len()];
    for members in components.iter() {
        for (i, node) in members.iter().enumerate() {
            place[node.index()] = i;
        }
    }
    let mut faults = Vec::new();
    for (i, members) in components.iter().enumerate() {
        if counts[members[0].index()] == 0 {
            continue;
        }
        let mut part = Part::new(graph, &components, i, &place, counts);
        if part.has_cycle() && part.run() == Life::Dead {
            faults.push(fault::of(graph, &part));
        }
    }
    faults
}
