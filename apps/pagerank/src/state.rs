//! What iterations change, for tasks that may run at once.

use std::ops::{Add, Range};
use std::sync::{Mutex, PoisonError};

use thalweg::Loop;

use crate::graph::Graph;
use crate::kernel::{Block, Share, Step, rank_block};

/// The sums over the pages of a block, or of all blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    /// The absolute changes of the ranks.
    pub residual: f64,
    /// The ranks of dangling pages.
    pub dangling: f64,
}

impl Add for Sums {
    type Output = Sums;

    fn add(self, other: Sums) -> Sums {
        Sums { residual: self.residual + other.residual, dangling: self.dangling + other.dangling }
    }
}

/// The ranks and shares of all pages.
///
/// Iteration `i` reads the shares `i - 1` and writes the shares `i`, in the place of the shares `i - 2`. So the task of a
/// block follows those tasks of the iteration before whose shares it reads, and those that read what it writes over.
pub(crate) struct State<'a> {
    pub graph: &'a Graph,
    damping: f64,
    pages_per_block: usize,
    /// The ranks of each block. Iterations of a block follow each other, so the locks are free.
    ranks: Vec<Mutex<&'a mut [f64]>>,
    /// The shares after the even iterations, the 0th included, and after the odd ones.
    shares: [Vec<Share>; 2],
    /// The sum of the ranks of dangling pages after the iterations so far.
    pub dangling: f64,
}

impl<'a> State<'a> {
    /// Before the first iteration, with these ranks. `placing` is a loop whose members write the shares of the pages first
    /// that they will compute.
    pub fn new(
        graph: &'a Graph,
        ranks: &'a mut [f64],
        (damping, pages_per_block): (f64, usize),
        placing: Loop,
    ) -> State<'a> {
        let inverse = graph.inverse_out_weights();
        let first = placing.collect(ranks.len(), |page| Share::new(ranks[page] * inverse[page]));
        let shares = [first, placing.collect(ranks.len(), |_| Share::default())];
        let dangling = graph.dangling() as f64 * ranks.first().copied().unwrap_or_default();
        let ranks = ranks.chunks_mut(pages_per_block).map(Mutex::new).collect();
        State { graph, damping, pages_per_block, ranks, shares, dangling }
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.ranks.len()
    }

    /// The block of a page.
    pub fn pages(&self, block: usize) -> Range<usize> {
        let first = block * self.pages_per_block;
        first..self.graph.pages().min(first + self.pages_per_block)
    }

    /// The pages of a block.
    pub fn pages_per_block(&self) -> usize {
        self.pages_per_block
    }

    /// What each page gets without a link, if dangling pages have these ranks.
    pub fn base(&self, dangling: f64) -> f64 {
        (1.0 - self.damping + self.damping * dangling) / self.graph.pages() as f64
    }

    /// One task: an iteration (from 1) of a block.
    pub fn compute(&self, iteration: usize, block: usize, base: f64) -> Sums {
        let mut ranks = self.ranks[block].lock().unwrap_or_else(PoisonError::into_inner);
        let [read, written] = [&self.shares[(iteration - 1) % 2], &self.shares[iteration % 2]];
        let step = Step { graph: self.graph, shares: read, damping: self.damping, base };
        let pages = self.pages(block);
        let mut part = Block {
            first: pages.start,
            ranks: &mut ranks,
            shares: &written[pages],
            residual: 0.0,
            dangling: 0.0,
        };
        rank_block(&step, &mut part);
        Sums { residual: part.residual, dangling: part.dangling }
    }
}
