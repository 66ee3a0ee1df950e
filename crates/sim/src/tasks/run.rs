//! The event heap: the worker whose next step is due first makes it.

use super::nodes::Nodes;
use super::worker::{Worker, World};
use super::{TaskGraph, TaskReport, TaskSettings};
use crate::due::Due;
use thalweg_policy::tasks::Deque;

/// Runs a task graph from its sink; worker 0 has the sink at the start. The report is a function of graph and settings.
///
/// ```
/// use thalweg_sim::tasks::{Colouring, TaskSettings, run, shapes};
///
/// let graph = shapes::stencil(40, 40, 5, 80);
/// let remote = |colouring| {
///     let settings = TaskSettings { colouring, ..TaskSettings::default() };
///     run(&graph, &settings).remote_share()
/// };
/// assert!(remote(Colouring::Good) < 0.5 * remote(Colouring::Uncoloured));
/// ```
///
/// # Panics
/// The graph has no nodes, there are no workers or no cores in a domain, or an attempt to steal takes no time.
pub fn run(graph: &TaskGraph, settings: &TaskSettings) -> TaskReport {
    assert!(
        settings.costs.attempt > 0,
        "an attempt to steal takes no time, so idle workers would stop the clock"
    );
    let count = settings.workers;
    let mut world = World {
        graph,
        settings,
        nodes: Nodes::new(graph),
        deques: (0..count).map(|_| Deque::new(settings.transfer)).collect(),
        order: Vec::new(),
    };
    let mut workers: Vec<Worker> = (0..count).map(|me| Worker::new(settings, me)).collect();
    let time = events(&mut world, &mut workers);
    workers.iter_mut().for_each(|worker| worker.end(time));
    TaskReport {
        time,
        workers: workers.into_iter().map(|worker| worker.counts).collect(),
        order: world.order,
    }
}

/// Makes steps until the sink is computed. Returns the time.
///
/// While no deque offers an entry, all attempts to steal fail. Their workers wait until an entry is offered, and make these
/// attempts then at once, so a long node costs no time here.
fn events(world: &mut World, workers: &mut [Worker]) -> u64 {
    let sink = world.graph.sink();
    let first = workers[0].begin(world);
    let (mut due, mut idle) = (Due::default(), Vec::new());
    (0..workers.len()).for_each(|me| due.add(if me == 0 { first } else { 0 }, me));
    while let Some((now, me)) = due.next() {
        if workers[me].steals_in_vain(world) {
            idle.push((now, me));
            continue;
        }
        let ticks = workers[me].step(world, now);
        let is_over = world.order.last().is_some_and(|&(node, _)| node == sink);
        if is_over || world.deques[me].has_offers() {
            for (since, me) in idle.drain(..) {
                due.add(workers[me].fail_until(world, since, now), me);
            }
        }
        if is_over {
            return now;
        }
        due.add(now + ticks, me);
    }
    unreachable!("each worker has a step due, or waits for one that has an entry")
}
