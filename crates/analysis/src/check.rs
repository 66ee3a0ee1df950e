//! All legality checks of a graph.

use crate::cycles::dead_cycles_of;
use crate::repetitions::all_repetitions;
use thalweg_graph::{Fault, GraphData};

/// Checks ports, rates and cycles.
///
/// Dynamic rates, and all rates of a node marked `merge`, can only be checked during the run. A region with
/// inconsistent rates has no period, so it is not searched for dead cycles.
///
/// # Errors
/// All faults found: those of [`GraphData::check`], then at most one [`Fault::Rates`] for each region, then
/// the [`dead_cycles`](crate::dead_cycles).
pub fn check(graph: &GraphData) -> Result<(), Vec<Fault>> {
    let mut faults = graph.check().err().unwrap_or_default();
    let (counts, inconsistent) = all_repetitions(graph);
    faults.extend(inconsistent);
    faults.extend(dead_cycles_of(graph, &counts));
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}
