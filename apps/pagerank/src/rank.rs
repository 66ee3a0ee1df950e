//! PageRank by power iteration.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use crate::graph::Graph;
use crate::kernel::{Block, Step, rank_block};
use crate::{Error, Result};
use thalweg::Loop;

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

    /// Ranks the pages. `observe` is called after each iteration, and may stop the ranking.
    ///
    /// The result is the same at any number of threads.
    ///
    /// # Errors
    /// A setting is outside its range, the ranks have not converged, or `observe` has stopped the ranking.
    pub fn run(
        &self,
        graph: &Graph,
        mut observe: impl FnMut(Iteration) -> ControlFlow<()>,
    ) -> Result<Ranking> {
        self.check()?;
        let mut state = State::new(graph);
        let mut residuals = Vec::new();
        for number in 1..=self.max_iterations {
            let residual = if graph.pages() == 0 { 0.0 } else { self.step(graph, &mut state) };
            residuals.push(residual);
            if observe(Iteration { number, residual }).is_break() {
                return Err(Error::Stopped);
            }
            if self.tolerance > 0.0 && residual <= self.tolerance {
                return Ok(Ranking { ranks: state.ranks, residuals });
            }
        }
        match (self.tolerance, residuals.last()) {
            (tolerance, Some(&residual)) if tolerance > 0.0 => {
                Err(Error::NotConverged { iterations: residuals.len(), residual, tolerance })
            }
            _ => Ok(Ranking { ranks: state.ranks, residuals }),
        }
    }

    /// One iteration. Returns the sum of the absolute changes of the ranks.
    fn step(&self, graph: &Graph, state: &mut State) -> f64 {
        let step = Step {
            graph,
            shares: &state.shares,
            damping: self.damping,
            base: (1.0 - self.damping + self.damping * state.dangling) / graph.pages() as f64,
        };
        let size = self.pages_per_task;
        let parts = state.ranks.chunks_mut(size).zip(state.next_shares.chunks_mut(size));
        let block = |(number, (ranks, shares))| Block {
            first: number * size,
            ranks,
            shares,
            residual: 0.0,
            dangling: 0.0,
        };
        let mut blocks: Vec<Block<'_>> = parts.enumerate().map(block).collect();
        self.loops().for_chunks(&mut blocks, 1, |_, blocks| {
            blocks.iter_mut().for_each(|block| rank_block(&step, block));
        });
        // In the order of the blocks, so that the sums do not depend on the threads.
        let residual = blocks.iter().map(|block| block.residual).sum();
        state.dangling = blocks.iter().map(|block| block.dangling).sum();
        std::mem::swap(&mut state.shares, &mut state.next_shares);
        residual
    }

    fn loops(&self) -> Loop {
        let loops = Loop::new();
        self.threads.map_or(loops, |threads| loops.members(threads))
    }
}

/// What an iteration changes.
struct State {
    ranks: Vec<f64>,
    /// See [`Step::shares`].
    shares: Vec<f64>,
    next_shares: Vec<f64>,
    /// The sum of the ranks of dangling pages.
    dangling: f64,
}

impl State {
    /// All pages have the same rank.
    fn new(graph: &Graph) -> State {
        let pages = graph.pages();
        let rank = 1.0 / pages as f64;
        State {
            ranks: vec![rank; pages],
            shares: graph.inverse_out_weights().iter().map(|inverse| rank * inverse).collect(),
            next_shares: vec![0.0; pages],
            dangling: graph.dangling() as f64 * rank,
        }
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
