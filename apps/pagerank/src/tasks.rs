//! Iterations as a graph of tasks.
//!
//! ```text
//!   iteration 1        iteration 2              with ends:
//!   ┌─────────┐        ┌─────────┐              block 0 ─┐         ┌─▶ block 0 ─┐
//!   │ block 0 │──┬────▶│ block 0 │              block 1 ─┼─▶ end 1 ┼─▶ block 1 ─┼─▶ end 2
//!   │ block 1 │──┘ ┌──▶│ block 1 │              block 2 ─┘         └─▶ block 2 ─┘
//!   │ block 2 │────┘   │ block 2 │
//!   └─────────┘        └─────────┘
//! ```
//!
//! A task waits for the tasks of the iteration before whose blocks have links into its own (section 5.5 of
//! *Locality-aware concurrency platforms*), or read the shares that it writes over. But where an iteration needs a sum over all
//! pages, it has an *end*, a node between its tasks and all tasks of the next one. It does if there are dangling pages, whose
//! ranks go to all pages; and if a tolerance ends the ranking, which the paper does after a number of iterations.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering::Relaxed};

use thalweg::tasks::{Colour, Context, SearchSettings, TaskGraph, TaskOptions};

use crate::kernel::Share;
use crate::neighbours::Neighbours;
use crate::rank::PageRank;
use crate::recording::{Recording, member_of};
use crate::schedule::Schedule;
use crate::state::{State, Sums};

/// The most iterations of a graph, unless its tasks are fewer. The paper's graphs have as many.
const ITERATIONS: usize = 10;
/// The tasks after which a graph has no further iteration.
const TASKS: usize = 1 << 20;
/// The most edges of a graph without ends.
const EDGES: usize = 1 << 24;

/// The settings of the graphs.
pub(crate) struct Tasks<'a> {
    settings: &'a PageRank,
    options: TaskOptions,
    /// The blocks that a task waits for; `None` if iterations have ends.
    neighbours: Option<Vec<Vec<u32>>>,
}

impl<'a> Tasks<'a> {
    pub fn new(settings: &'a PageRank, state: &State<'_>) -> Tasks<'a> {
        let options = TaskOptions::new().members(settings.members());
        let options = match &settings.places {
            Some(places) => options.places(places),
            None => options,
        };
        let options = match settings.schedule {
            Schedule::RandomTasks => options.search(SearchSettings::RANDOM),
            _ => options,
        };
        let needs_sums = state.graph.dangling() > 0 || settings.may_converge();
        let neighbours = (!needs_sums).then(|| Neighbours::new(state.graph, state.pages_per_block()).both());
        let fits = |lists: &Vec<Vec<u32>>| lists.iter().map(Vec::len).sum::<usize>() * ITERATIONS <= EDGES;
        Tasks { settings, options, neighbours: neighbours.filter(fits) }
    }

    /// See [`Form::execute`](crate::schedule::Form::execute).
    pub fn execute(
        &self,
        state: &mut State<'_>,
        iterations: RangeInclusive<usize>,
        recording: Option<&mut Recording>,
    ) -> Vec<f64> {
        let blocks = state.blocks();
        let count = iterations.clone().count().min(ITERATIONS).min((TASKS / blocks).max(1));
        let recorded = recording.as_ref().map(|_| (0..count * blocks).map(|_| AtomicU16::new(0)).collect());
        let graph = Graph {
            tasks: self,
            state,
            before: iterations.start() - 1,
            bases: (0..=count).map(|_| Share::new(state.base(state.dangling))).collect(),
            is_converged: AtomicBool::new(false),
            members: self.settings.members(),
            recorded,
        };
        let sink = (count as u32, blocks as u32);
        let finished = graph.run_with(sink, &self.options).unwrap_or_else(|error| panic!("{error}"));
        let sums_of = |iteration| match self.neighbours {
            None => finished[&(iteration, blocks as u32)],
            Some(_) => (0..blocks as u32)
                .map(|block| finished[&(iteration, block)])
                .fold(Sums::default(), |sum, block| sum + block),
        };
        let mut sums: Vec<Sums> = (1..=count as u32).map(sums_of).collect();
        let last = sums.iter().position(|sums| self.settings.is_converged(sums.residual));
        sums.truncate(last.map_or(count, |last| last + 1));
        if let (Some(recording), Some(recorded)) = (recording, graph.recorded) {
            let members = recorded.into_iter().map(AtomicU16::into_inner).take(sums.len() * blocks);
            recording.add_tasks(members);
        }
        state.dangling = sums.last().map_or(state.dangling, |sums| sums.dangling);
        sums.iter().map(|sums| sums.residual).collect()
    }
}

/// Some iterations as a graph. A key is the number of an iteration, from 1, and a block, or the number of blocks for its end.
struct Graph<'a, 's> {
    tasks: &'a Tasks<'a>,
    state: &'a State<'s>,
    /// The iterations before those of the graph.
    before: usize,
    /// What each page gets without a link, by iteration: the next one has that of the one before.
    bases: Vec<Share>,
    /// An end has converged: the tasks behind it compute nothing.
    is_converged: AtomicBool,
    members: usize,
    /// The member that has computed each task.
    recorded: Option<Vec<AtomicU16>>,
}

impl Graph<'_, '_> {
    fn end(&self) -> u32 {
        self.state.blocks() as u32
    }

    fn task(&self, iteration: u32, block: u32, member: usize) -> Sums {
        // Relaxed, as shares: what sets it comes before this task.
        if self.is_converged.load(Relaxed) {
            return Sums::default();
        }
        let (at, block) = (iteration as usize - 1, block as usize);
        if let Some(recorded) = &self.recorded {
            recorded[at * self.state.blocks() + block].store(member as u16, Relaxed);
        }
        self.state.compute(self.before + iteration as usize, block, self.bases[at].get())
    }

    fn finish(&self, iteration: u32, sums: Sums) -> Sums {
        self.bases[iteration as usize].set(self.state.base(sums.dangling));
        if self.tasks.settings.is_converged(sums.residual) {
            self.is_converged.store(true, Relaxed);
        }
        sums
    }
}

impl TaskGraph for Graph<'_, '_> {
    type Key = (u32, u32);
    type Output = Sums;
    type Error = Infallible;

    fn predecessors(&self, &(iteration, block): &(u32, u32), needs: &mut Vec<(u32, u32)>) {
        let before = iteration - 1;
        if block == self.end() {
            needs.extend((0..self.end()).map(|block| (iteration, block)));
        } else if before > 0 {
            match &self.tasks.neighbours {
                None => needs.push((before, self.end())),
                Some(lists) => needs.extend(lists[block as usize].iter().map(|block| (before, *block))),
            }
        }
    }

    fn compute(
        &self,
        &(iteration, block): &(u32, u32),
        context: &mut Context<'_, (u32, u32), Sums>,
    ) -> Result<Sums, Infallible> {
        if block == self.end() {
            // In the order of the blocks, so that the sums do not depend on the threads.
            let sums = context.inputs().fold(Sums::default(), |sum, block| sum + *block);
            return Ok(self.finish(iteration, sums));
        }
        Ok(self.task(iteration, block, context.member()))
    }

    fn colour(&self, &(_, block): &(u32, u32)) -> Option<Colour> {
        let colour = |block| Colour(member_of(block, self.state.blocks(), self.members) as u32);
        (block != self.end()).then(|| colour(block as usize))
    }
}
