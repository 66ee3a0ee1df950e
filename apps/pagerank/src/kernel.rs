//! The work of one task: one iteration of the pages of a block.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::graph::Graph;

/// The share of a page: its rank divided by the sum of the weights of its outgoing links.
///
/// Tasks of different iterations may run at once, so a task that writes its pages' shares borrows them together with tasks
/// that read those of other pages. Accesses are plain loads and stores; the order of the tasks makes writes visible.
///
/// ```
/// use thalweg_pagerank::Share;
///
/// let share = Share::new(0.25);
/// share.set(0.5);
/// assert_eq!(share.get(), 0.5);
/// ```
#[derive(Debug, Default)]
pub struct Share(AtomicU64);

impl Share {
    /// A share.
    pub fn new(share: f64) -> Share {
        Share(AtomicU64::new(share.to_bits()))
    }

    /// The share.
    #[inline]
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Relaxed))
    }

    /// Sets the share.
    #[inline]
    pub fn set(&self, share: f64) {
        self.0.store(share.to_bits(), Relaxed);
    }
}

/// What all blocks of an iteration read.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// For each page the rank before the iteration, divided by the sum of the weights of its outgoing links; 0 for a
    /// dangling page.
    pub shares: &'a [Share],
    /// The probability of following a link.
    pub damping: f64,
    /// What each page gets from all others: the part of its rank that comes without a link.
    pub base: f64,
}

/// The pages of a block: their own part of all that an iteration changes.
#[derive(Debug)]
pub struct Block<'a> {
    /// The number of the first page.
    pub first: usize,
    /// The rank of each page: before the iteration when it begins, and after it when it ends.
    pub ranks: &'a mut [f64],
    /// The share of each page after the iteration, which the task sets.
    pub shares: &'a [Share],
    /// The sum of the absolute changes of the ranks.
    pub residual: f64,
    /// The sum of the ranks of dangling pages after the iteration.
    pub dangling: f64,
}

/// Updates the pages of a block from the shares of all pages. The sums of a block are in the order of its pages, and those
/// of a page in the order of its links: the same bits on any thread.
///
/// An iteration is this function for every block of the graph; the blocks may run in any order, or at once.
/// A block reads the shares of the sources of its links, so it depends on their blocks in the iteration before.
///
/// # Panics
/// If the block or the slices do not fit the graph.
#[inline(never)]
pub fn rank_block(step: &Step<'_>, block: &mut Block<'_>) {
    let links = step.graph.links();
    let pages = block.first..block.first + block.ranks.len();
    let offsets = &links.offsets[block.first..=pages.end];
    let inverse = &step.graph.inverse_out_weights()[pages];
    let (mut residual, mut dangling) = (0.0, 0.0);
    let state = block.ranks.iter_mut().zip(block.shares).zip(inverse);
    for ((((rank, share), inverse), begin), end) in state.zip(offsets).zip(&offsets[1..]) {
        let row = *begin as usize..*end as usize;
        let sources = &links.sources[row.clone()];
        let sum = match &links.weights {
            None => sum(step.shares, sources),
            Some(weights) => weighted_sum(step.shares, sources, &weights[row]),
        };
        let new = step.base + step.damping * sum;
        residual += (new - *rank).abs();
        dangling += if *inverse == 0.0 { new } else { 0.0 };
        *rank = new;
        share.set(new * inverse);
    }
    (block.residual, block.dangling) = (residual, dangling);
}

/// The sum of the shares of the sources. Four partial sums, so that an addition need not wait for the one before.
#[inline]
fn sum(shares: &[Share], sources: &[u32]) -> f64 {
    let (fours, rest) = sources.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for (sum, source) in sums.iter_mut().zip(four) {
            *sum += shares[*source as usize].get();
        }
    }
    let rest = rest.iter().fold(0.0, |sum, source| sum + shares[*source as usize].get());
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The sum of the shares of the sources, each times the weight of its link.
#[inline]
fn weighted_sum(shares: &[Share], sources: &[u32], weights: &[f64]) -> f64 {
    sources
        .iter()
        .zip(weights)
        .fold(0.0, |sum, (source, weight)| sum + shares[*source as usize].get() * weight)
}
