//! The benchmarks of Table 5.1.

use super::shapes::{self, Links};
use super::{Measures, TaskGraph, TaskSettings};

/// A benchmark of Table 5.1 of *Locality-Aware Concurrency Platforms*, as a graph of the same form.
///
/// The paper gives the numbers of nodes, and says of most programs what a node needs; the rest is ours, as
/// [`Benchmark::form`] says. So are the shares of nodes in the serial times. The three crawls are not to be had: random links stand in for them.
///
/// ```
/// use thalweg_sim::tasks::{Benchmark, TaskSettings, run};
///
/// let report = run(&Benchmark::Heat.graph(20, 16), &TaskSettings { workers: 20, ..TaskSettings::default() });
/// assert!(report.remote_share() < 0.2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Benchmark {
    /// A conjugate gradient, of few nodes.
    Cg,
    /// A cycle of multigrid.
    Mg,
    /// Heat diffusion.
    Heat,
    /// Finite differences in the time domain.
    Fdtd,
    /// The game of life.
    Life,
    /// PageRank on a crawl of 18 million pages.
    Uk2002,
    /// PageRank on a social network.
    Twitter,
    /// PageRank on a crawl of 105 million pages.
    Uk2007,
    /// Smith-Waterman with any cost of gaps, in n³.
    Sw,
    /// Smith-Waterman in n².
    Swn2,
}

use Benchmark::{Cg, Fdtd, Heat, Life, Mg, Sw, Swn2, Twitter, Uk2002, Uk2007};

/// A block and its eight neighbours.
const NINE: [(isize, isize); 9] =
    [(0, 0), (-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];

/// A block, the one above and the one at its left.
const THREE: [(isize, isize); 3] = [(0, 0), (-1, 0), (0, -1)];

impl Benchmark {
    /// All of them, in the order of the table.
    pub const ALL: [Benchmark; 10] = [Cg, Mg, Heat, Fdtd, Life, Uk2002, Twitter, Uk2007, Sw, Swn2];

    /// Its name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Cg => "cg",
            Mg => "mg",
            Heat => "heat",
            Fdtd => "fdtd",
            Life => "life",
            Uk2002 => "uk-2002",
            Twitter => "twitter",
            Uk2007 => "uk-2007",
            Sw => "sw",
            Swn2 => "swn2",
        }
    }

    /// The number of nodes in Table 5.1.
    pub fn nodes_in_the_paper(self) -> usize {
        match self {
            Cg => 300,
            Mg | Swn2 => 16_384,
            Heat | Fdtd | Life => 102_400,
            Uk2002 => 1_800,
            Twitter => 4_100,
            Uk2007 => 10_500,
            Sw => 25_600,
        }
    }

    /// The time on one core in Table 5.1, in seconds.
    pub fn seconds_in_the_paper(self) -> u64 {
        match self {
            Cg => 309,
            Mg => 690,
            Heat => 377,
            Fdtd => 970,
            Life => 275,
            Uk2002 => 198,
            Twitter => 1_025,
            Uk2007 => 900,
            Sw => 450,
            Swn2 => 179,
        }
    }

    /// The mean ticks of a node in Table 5.1, with ticks of 10 ns: 1 s of `cg`, 3 ms of `life`.
    fn ticks_in_the_paper(self) -> f64 {
        self.seconds_in_the_paper() as f64 * 1e8 / self.nodes_in_the_paper() as f64
    }

    /// What a node needs, in words, and what of it is ours.
    pub fn form(self) -> &'static str {
        match self {
            Cg => {
                "3 steps of 100 blocks; a block waits for all blocks of the step before, and reads no data of theirs (ours)"
            }
            Mg => {
                "a cycle over 64 by 64 blocks; a coarse block needs four finer ones, and on the way back a fine one its coarse one (ours)"
            }
            Heat => "5 iterations of 128 by 160 blocks; a block and its four neighbours",
            Fdtd => "the same; a block, the one above and the one at its left (ours)",
            Life => "the same; a block and its eight neighbours",
            Uk2002 => {
                "10 iterations of 180 blocks; 95 % of the links go to the nearest 8 blocks (a stand-in)"
            }
            Twitter => {
                "10 iterations of 410 blocks; 20 % of the links go to the nearest 8 blocks, the others anywhere (a stand-in)"
            }
            Uk2007 => "10 iterations of 1050 blocks; links as in uk-2002 (a stand-in)",
            Sw => "160 by 160 blocks; the blocks above, at the left, and both; work grows along the diagonal",
            Swn2 => "128 by 128 blocks; the blocks above, at the left, and both",
        }
    }

    /// The graph for a number of workers, with a part of the blocks: 1 for all, 16 for about a sixteenth. In the mean a node
    /// lasts as long as in the paper, if all accesses are near ones of [`TaskSettings::default`].
    ///
    /// # Panics
    /// `part` is 0.
    pub fn graph(self, workers: usize, part: usize) -> TaskGraph {
        let graph = self.unscaled(workers, part);
        let work = Measures::of(&graph, &TaskSettings::default()).work as f64;
        let mean = work / graph.nodes().len() as f64;
        graph.scaled((self.ticks_in_the_paper() / mean).round() as u64)
    }

    /// The graph with nodes of a few microseconds.
    fn unscaled(self, workers: usize, part: usize) -> TaskGraph {
        let side = |side: usize| (side as f64 / (part as f64).sqrt()).ceil() as usize;
        let (rows, columns) = (side(128), side(160));
        match self {
            Cg => shapes::steps((100 / part).max(1), 3, workers),
            Mg => shapes::multigrid(side(64).next_power_of_two(), workers),
            Heat => shapes::stencil(rows, columns, 5, workers),
            Fdtd => shapes::grid(rows, columns, 5, workers, &THREE),
            Life => shapes::grid(rows, columns, 5, workers, &NINE),
            Uk2002 => shapes::pages(180usize.div_ceil(part), 10, Links::CRAWL, workers, 1),
            Twitter => shapes::pages(410usize.div_ceil(part), 10, Links::SOCIAL, workers, 2),
            Uk2007 => shapes::pages(1050usize.div_ceil(part), 10, Links::CRAWL, workers, 3),
            Sw => shapes::wavefront(side(160), side(160), true, workers),
            Swn2 => shapes::wavefront(side(128), side(128), false, workers),
        }
    }
}
