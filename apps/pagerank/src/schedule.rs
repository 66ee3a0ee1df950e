//! How the tasks of iterations are executed.

use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use thalweg::Loop;

use crate::rank::PageRank;
use crate::recording::Recording;
use crate::state::{State, Sums};
use crate::tasks::Tasks;

/// How the tasks of a ranking are executed. No schedule changes the ranks.
///
/// ```
/// use std::ops::ControlFlow;
/// use thalweg_pagerank::{PageRank, Rmat, Schedule};
///
/// let graph = Rmat::new(10).graph(|_| {})?;
/// let rank = |schedule| PageRank::new().schedule(schedule).run(&graph, |_| ControlFlow::Continue(()));
/// assert_eq!(rank(Schedule::Tasks)?, rank(Schedule::Loops)?);
/// # Ok::<(), thalweg_pagerank::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schedule {
    /// A parallel loop for each iteration: each thread begins with a contiguous part of the blocks, and then steals half of
    /// what another one has left.
    #[default]
    Loops,
    /// The same loops without stealing: what a thread has begun stays with it.
    StaticLoops,
    /// A graph of tasks: a task waits for the tasks of the iteration before that have links into its pages. A thread prefers
    /// tasks of its own part of the blocks.
    Tasks,
    /// The same graph, in which a thread steals any task.
    RandomTasks,
}

/// A schedule with what it keeps between iterations.
pub(crate) enum Form<'a> {
    Loops { settings: &'a PageRank, kind: thalweg::Schedule, sums: Vec<Mutex<Sums>> },
    Tasks(Tasks<'a>),
}

impl<'a> Form<'a> {
    pub fn new(settings: &'a PageRank, state: &State<'_>) -> Form<'a> {
        let loops = |kind| {
            let sums = (0..state.blocks()).map(|_| Mutex::default()).collect();
            Form::Loops { settings, kind, sums }
        };
        match settings.schedule {
            // Without pages there are no tasks.
            Schedule::Loops => loops(thalweg::Schedule::Hybrid),
            _ if state.blocks() == 0 => loops(thalweg::Schedule::Hybrid),
            Schedule::StaticLoops => loops(thalweg::Schedule::Static),
            Schedule::Tasks | Schedule::RandomTasks => Form::Tasks(Tasks::new(settings, state)),
        }
    }

    /// Executes one or more of these iterations, and returns the residual of each, up to the one that converges.
    pub fn execute(
        &mut self,
        state: &mut State<'_>,
        iterations: RangeInclusive<usize>,
        recording: Option<&mut Recording>,
    ) -> Vec<f64> {
        match self {
            Form::Loops { settings, kind, sums } => {
                let settings = Loop::new().schedule(*kind).members(settings.members());
                vec![execute_loop(state, *iterations.start(), settings, sums, recording)]
            }
            Form::Tasks(tasks) => tasks.execute(state, iterations, recording),
        }
    }
}

/// One iteration as a loop. Returns its residual.
fn execute_loop(
    state: &mut State<'_>,
    iteration: usize,
    settings: Loop,
    sums: &[Mutex<Sums>],
    recording: Option<&mut Recording>,
) -> f64 {
    let lock = |block: usize| sums[block].lock().unwrap_or_else(PoisonError::into_inner);
    let base = state.base(state.dangling);
    let one = |block| *lock(block) = state.compute(iteration, block, base);
    let blocks = 0..state.blocks();
    match recording {
        None => settings.for_each(blocks, one),
        Some(recording) => {
            let assignment = settings.record(blocks, |blocks| blocks.for_each(one));
            recording.add_loop(&assignment);
        }
    }
    // In the order of the blocks, so that the sums do not depend on the threads.
    let all = (0..state.blocks()).map(|block| *lock(block)).fold(Sums::default(), |sum, block| sum + block);
    state.dangling = all.dangling;
    all.residual
}
