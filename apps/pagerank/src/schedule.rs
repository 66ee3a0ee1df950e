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

/// A loop of another system: calls its second argument once with each number below the first, and returns after all calls.
#[doc(hidden)]
pub type Each<'a> = &'a (dyn Fn(usize, &(dyn Fn(usize) + Sync)) + Sync);

/// A schedule with what it keeps between iterations.
pub(crate) enum Form<'a> {
    Loops { settings: &'a PageRank, kind: thalweg::loops::Schedule, sums: Vec<Mutex<Sums>> },
    LoopsBy { each: Each<'a>, sums: Vec<Mutex<Sums>> },
    Tasks(Tasks<'a>),
}

impl<'a> Form<'a> {
    pub fn new(settings: &'a PageRank, state: &State<'_>) -> Form<'a> {
        let loops = |kind| Form::Loops { settings, kind, sums: sums(state) };
        match settings.schedule {
            // Without pages there are no tasks.
            Schedule::Loops => loops(thalweg::loops::Schedule::Hybrid),
            _ if state.blocks() == 0 => loops(thalweg::loops::Schedule::Hybrid),
            Schedule::StaticLoops => loops(thalweg::loops::Schedule::Static),
            Schedule::Tasks | Schedule::RandomTasks => Form::Tasks(Tasks::new(settings, state)),
        }
    }

    /// Loops of another system.
    pub fn by(each: Each<'a>, state: &State<'_>) -> Form<'a> {
        Form::LoopsBy { each, sums: sums(state) }
    }

    /// Executes one or more of these iterations, and returns the residual of each, up to the one that converges.
    pub fn execute(
        &mut self,
        state: &mut State<'_>,
        iterations: RangeInclusive<usize>,
        recording: Option<&mut Recording>,
    ) -> Vec<f64> {
        let iteration = *iterations.start();
        match self {
            Form::Loops { settings, kind, sums } => {
                let settings = Loop::new().schedule(*kind).members(settings.members());
                vec![execute_loop(state, iteration, sums, |blocks, one| match recording {
                    None => settings.for_each(0..blocks, one),
                    Some(recording) => {
                        let assignment = settings.record(0..blocks, |blocks| blocks.for_each(one));
                        recording.add_loop(&assignment);
                    }
                })]
            }
            Form::LoopsBy { each, sums } => vec![execute_loop(state, iteration, sums, each)],
            Form::Tasks(tasks) => tasks.execute(state, iterations, recording),
        }
    }
}

/// Room for the sums of each block.
fn sums(state: &State<'_>) -> Vec<Mutex<Sums>> {
    (0..state.blocks()).map(|_| Mutex::default()).collect()
}

/// One iteration as a loop, which `each` executes: the number of blocks, and what computes one. Returns its residual.
fn execute_loop(
    state: &mut State<'_>,
    iteration: usize,
    sums: &[Mutex<Sums>],
    each: impl FnOnce(usize, &(dyn Fn(usize) + Sync)),
) -> f64 {
    let lock = |block: usize| sums[block].lock().unwrap_or_else(PoisonError::into_inner);
    let base = state.base(state.dangling);
    each(state.blocks(), &|block| *lock(block) = state.compute(iteration, block, base));
    // In the order of the blocks, so that the sums do not depend on the threads.
    let all = (0..state.blocks()).map(|block| *lock(block)).fold(Sums::default(), |sum, block| sum + block);
    state.dangling = all.dangling;
    all.residual
}
