//! A task graph as programs with parallel loops execute it.

use super::memory::Memory;
use super::{TaskGraph, TaskReport, WorkerCounts};
use crate::loops::{Done, LoopSettings, run_body};

/// Runs a graph level by level: a parallel loop over the nodes of each, in the order of their numbers, and a barrier after
/// it, which takes no time. A node's level is one above the highest of its predecessors. So the paper's programs with
/// OpenMP execute an iteration of a stencil or a diagonal of a wavefront. The report has no attempts to steal, and its
/// workers wait for nothing.
///
/// ```
/// use thalweg_sim::loops::{LoopSchedule, LoopSettings};
/// use thalweg_sim::tasks::{by_levels, shapes};
///
/// let settings = LoopSettings { workers: 80, domain: 10, grain: 1, ..LoopSettings::default() };
/// let remote = |schedule| {
///     by_levels(&shapes::stencil(40, 40, 5, 80), &LoopSettings { schedule, ..settings }).remote_share()
/// };
/// assert!(remote(LoopSchedule::STATIC) < 0.2 && remote(LoopSchedule::Guided) > 0.5);
/// ```
///
/// # Panics
/// The graph has no nodes, or the settings are not those of a loop: see [`crate::loops::run`].
pub fn by_levels(graph: &TaskGraph, settings: &LoopSettings) -> TaskReport {
    let memory = Memory { domain: settings.domain, near: settings.costs.near, far: settings.costs.far };
    let mut workers = vec![WorkerCounts::default(); settings.workers];
    let (mut time, mut order) = (0, Vec::new());
    for (level, nodes) in levels(graph).into_iter().enumerate() {
        let mut body = |worker: usize, i: usize| {
            let counts = &mut workers[worker];
            Done { ticks: memory.compute(graph, nodes[i], worker, counts), is_remote: false }
        };
        let settings = LoopSettings { seed: settings.seed + level as u64, ..*settings };
        let report = run_body(nodes.len(), &settings, &mut body);
        time += report.time;
        order.extend(nodes.into_iter().zip(report.by));
    }
    TaskReport { time, workers, order }
}

/// The nodes that the sink needs, by level.
fn levels(graph: &TaskGraph) -> Vec<Vec<u32>> {
    let needed = graph.needed();
    let (mut level_of, mut levels) = (vec![0; needed.len()], Vec::<Vec<u32>>::new());
    for node in (0..needed.len()).filter(|&node| needed[node]) {
        let before = graph.predecessors(node as u32).iter().map(|&before| level_of[before as usize] + 1);
        let level = before.max().unwrap_or(0);
        level_of[node] = level;
        levels.resize_with(levels.len().max(level + 1), Vec::new);
        levels[level].push(node as u32);
    }
    levels
}
