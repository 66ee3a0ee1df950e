//! PageRank by power iteration.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use thalweg::Loop;
use thalweg::machine::Places;

use crate::graph::Graph;
use crate::schedule::{Each, Form, Schedule};
use crate::state::State;
use crate::{Error, Recording, Result};

/// The settings of a ranking.
///
/// The rank of a page is the probability that a random reader is there. In each step the reader follows a random link of
/// the page with probability `damping`, and goes to a random page otherwise; from a *dangling* page, which has no links,
/// always to a random page.
///
/// ```
/// use std::ops::ControlFlow;
/// use thalweg_pagerank::{Input, PageRank};
///
/// let graph = Input::new("star").read(&b"1 9\n2 9\n3 9\n"[..], None, |_| {})?;
/// let ranking = PageRank::new().run(&graph, |_| ControlFlow::Continue(()))?;
/// let (page, rank) = ranking.top(&graph, 1)[0];
/// assert_eq!((page, (rank * 1e6).round()), (9, 541_985.0));
/// # Ok::<(), thalweg_pagerank::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PageRank {
    damping: f64,
    tolerance: f64,
    max_iterations: usize,
    pages_per_task: usize,
    threads: Option<usize>,
    pub(crate) schedule: Schedule,
    pub(crate) places: Option<Places>,
}

/// An iteration that is done.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Iteration {
    /// Its number, from 1.
    pub number: usize,
    /// The sum of the absolute changes of all ranks.
    pub residual: f64,
}

/// The ranks of a graph's pages.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ranking {
    /// The rank of each page. They add up to 1.
    pub ranks: Vec<f64>,
    /// The sum of the absolute changes of all ranks in each iteration.
    pub residuals: Vec<f64>,
}

impl Default for PageRank {
    fn default() -> Self {
        PageRank::new()
    }
}

impl PageRank {
    /// Damping 0.85, tolerance 1e-9, at most 200 iterations, 10,000 pages a task, all threads.
    pub fn new() -> PageRank {
        PageRank {
            damping: 0.85,
            tolerance: 1e-9,
            max_iterations: 200,
            pages_per_task: 10_000,
            threads: None,
            schedule: Schedule::default(),
            places: None,
        }
    }

    /// The probability of following a link, from 0 to below 1.
    pub fn damping(self, damping: f64) -> PageRank {
        PageRank { damping, ..self }
    }

    /// The iteration ends when the sum of the absolute changes of all ranks is at most this. The ranks are then within
    /// `tolerance * damping / (1 - damping)` of the exact ones, in sum. With 0, all iterations are done.
    pub fn tolerance(self, tolerance: f64) -> PageRank {
        PageRank { tolerance, ..self }
    }

    /// The largest number of iterations.
    pub fn max_iterations(self, max_iterations: usize) -> PageRank {
        PageRank { max_iterations, ..self }
    }

    /// The pages that a task updates. Sums are formed by task, so the last digits of the ranks depend on this number.
    pub fn pages_per_task(self, pages: usize) -> PageRank {
        PageRank { pages_per_task: pages, ..self }
    }

    /// The largest number of threads (default: all that the process may run at once). The ranks do not depend on it.
    pub fn threads(self, threads: usize) -> PageRank {
        PageRank { threads: Some(threads), ..self }
    }

    /// How the tasks are executed. The ranks do not depend on it.
    pub fn schedule(self, schedule: Schedule) -> PageRank {
        PageRank { schedule, ..self }
    }

    /// The place of each thread on a machine, which may be a described one: threads of [`Schedule::Tasks`] that find no task of
    /// their own then prefer those of threads near them (default: no thread is nearer than another). The ranks do not
    /// depend on it.
    pub fn places(self, places: &Places) -> PageRank {
        PageRank { places: Some(places.clone()), ..self }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// A setting is outside its range.
    pub fn check(&self) -> Result<()> {
        let refuse = |what: String, help: &str| Err(Error::Setting(format!("{what}\nhelp: {help}")));
        let positive = |name: &str, value: usize| match value {
            0 => {
                refuse(format!("{name} must be at least 1, it is 0"), "leave the setting out for the default")
            }
            _ => Ok(()),
        };
        let (damping, tolerance) = (self.damping, self.tolerance);
        if !(0.0..1.0).contains(&damping) {
            return refuse(
                format!("the damping must be from 0 to below 1, it is {damping}"),
                "the usual damping is 0.85",
            );
        }
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return refuse(
                format!("the tolerance must be 0 or positive, it is {tolerance}"),
                "the default is 1e-9; 0 does all iterations",
            );
        }
        positive("the number of iterations", self.max_iterations)?;
        positive("the number of pages of a task", self.pages_per_task)?;
        positive("the number of threads", self.threads.unwrap_or(1))
    }

    /// Ranks the pages. `observe` is called once for each iteration, in order, and may stop the ranking. A graph of tasks
    /// has up to 10 iterations, which are observed after all of them.
    ///
    /// The result is the same at any number of threads, and with any schedule.
    ///
    /// # Errors
    /// A setting is outside its range, the ranks have not converged, or `observe` has stopped the ranking.
    pub fn run(&self, graph: &Graph, observe: impl FnMut(Iteration) -> ControlFlow<()>) -> Result<Ranking> {
        self.rank(graph, |state| Form::new(self, state), None, observe)
    }

    /// Like [`PageRank::run`], but `each` executes the blocks of each iteration: how another system's loops call the same
    /// compiled function. The schedule does not matter; [`PageRank::threads`] is for what precedes the iterations.
    ///
    /// # Errors
    /// As [`PageRank::run`].
    #[doc(hidden)]
    pub fn run_by(
        &self,
        graph: &Graph,
        each: Each<'_>,
        observe: impl FnMut(Iteration) -> ControlFlow<()>,
    ) -> Result<Ranking> {
        self.rank(graph, |state| Form::by(each, state), None, observe)
    }

    /// Like [`PageRank::run`], and records which thread computes which task: 2 bytes for each task of each iteration.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use thalweg_pagerank::{PageRank, Rmat};
    ///
    /// let graph = Rmat::new(10).graph(|_| {})?;
    /// let settings = PageRank::new().pages_per_task(100).threads(1);
    /// let (ranking, recording) = settings.run_recorded(&graph, |_| ControlFlow::Continue(()))?;
    /// assert_eq!(recording.iterations(), ranking.residuals.len());
    /// // One thread has all pages near.
    /// let accesses = recording.replay(&graph, &[0]);
    /// assert_eq!((accesses.tasks, accesses.remote_links), (11 * recording.iterations() as u64, 0));
    /// # Ok::<(), thalweg_pagerank::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`PageRank::run`].
    pub fn run_recorded(
        &self,
        graph: &Graph,
        observe: impl FnMut(Iteration) -> ControlFlow<()>,
    ) -> Result<(Ranking, Recording)> {
        let threads = self.members();
        let mut recording = Recording::new(threads, self.pages_per_task, self.blocks(graph));
        let ranking = self.rank(graph, |state| Form::new(self, state), Some(&mut recording), observe)?;
        Ok((ranking, recording))
    }

    fn rank<'a>(
        &self,
        graph: &Graph,
        form: impl FnOnce(&State<'_>) -> Form<'a>,
        mut recording: Option<&mut Recording>,
        mut observe: impl FnMut(Iteration) -> ControlFlow<()>,
    ) -> Result<Ranking> {
        self.check()?;
        let pages = graph.pages();
        // Pages of memory lie near the thread that writes them first: the one that will begin with their part.
        let placing = Loop::new().schedule(thalweg::loops::Schedule::Static).members(self.members());
        let mut ranks = placing.collect(pages, |_| 1.0 / pages as f64);
        let mut residuals = Vec::new();
        let mut state = State::new(graph, &mut ranks, (self.damping, self.pages_per_task), placing);
        let mut form = form(&state);
        let mut is_converged = false;
        while !is_converged && residuals.len() < self.max_iterations {
            let iterations = residuals.len() + 1..=self.max_iterations;
            for residual in form.execute(&mut state, iterations, recording.as_deref_mut()) {
                residuals.push(residual);
                is_converged = self.is_converged(residual);
                if observe(Iteration { number: residuals.len(), residual }).is_break() {
                    return Err(Error::Stopped);
                }
            }
        }
        match (self.tolerance, residuals.last()) {
            (tolerance, Some(&residual)) if tolerance > 0.0 && !is_converged => {
                Err(Error::NotConverged { iterations: residuals.len(), residual, tolerance })
            }
            _ => Ok(Ranking { ranks, residuals }),
        }
    }

    /// Whether an iteration with this sum of changes is the last one.
    pub(crate) fn is_converged(&self, residual: f64) -> bool {
        self.tolerance > 0.0 && residual <= self.tolerance
    }

    /// Whether the iterations may be fewer than the most.
    pub(crate) fn may_converge(&self) -> bool {
        self.tolerance > 0.0
    }

    /// The threads that may work at once.
    pub(crate) fn members(&self) -> usize {
        let team = thalweg::loops::team_size();
        self.threads.unwrap_or(team).clamp(1, team)
    }

    fn blocks(&self, graph: &Graph) -> usize {
        graph.pages().div_ceil(self.pages_per_task.max(1))
    }
}

impl Ranking {
    /// The ids and ranks of the `count` pages of the highest ranks, the highest first; pages of equal rank by id.
    pub fn top(&self, graph: &Graph, count: usize) -> Vec<(u64, f64)> {
        let mut order: Vec<u32> = (0..self.ranks.len() as u32).collect();
        // Pages are numbered by their ids.
        let compare = |a: &u32, b: &u32| -> Ordering {
            self.ranks[*b as usize].total_cmp(&self.ranks[*a as usize]).then(a.cmp(b))
        };
        if (1..order.len()).contains(&count) {
            order.select_nth_unstable_by(count, compare);
        }
        order.truncate(count);
        order.sort_unstable_by(compare);
        order.into_iter().map(|page| (graph.id(page as usize), self.ranks[page as usize])).collect()
    }
}
