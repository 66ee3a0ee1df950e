//! Everything that makes a graph illegal.

use crate::cycles::dead_cycles_of;
use crate::repetitions::all_repetitions;
use thalweg_graph::{Fault, GraphData};

/// Checks ports, rates and cycles.
///
/// Dynamic rates, and all of a node marked `merge`, are left to the run. A region whose rates are
/// inconsistent is not searched for dead cycles, as it has no period.
///
/// # Errors
/// All faults found: first those of [`GraphData::check`], then at most one for the rates of each
/// region, then the [`dead_cycles`](crate::dead_cycles).
pub fn check(graph: &GraphData) -> Result<(), Vec<Fault>> {
    let mut faults = graph.check().err().unwrap_or_default();
    let (counts, inconsistent) = all_repetitions(graph);
    faults.extend(inconsistent);
    faults.extend(dead_cycles_of(graph, &counts));
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}
