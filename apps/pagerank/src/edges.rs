//! Links in the order of the input.

use crate::Result;
use crate::memory::Budget;

/// The links of a chunk. A chunk is never moved, so no growth copies the links or holds them twice.
pub(crate) const CHUNK: usize = 1 << 18;

/// A link from a page to a page, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edge {
    pub source: u32,
    pub target: u32,
}

/// Links in chunks of at most [`CHUNK`], and their weights if they have any.
#[derive(Debug)]
pub(crate) struct Edges {
    pub chunks: Vec<Vec<Edge>>,
    /// Chunks as long as those of the links.
    pub weights: Option<Vec<Vec<f64>>>,
    budget: Budget,
}

impl Edges {
    /// No links. Each new chunk is checked against the budget.
    pub fn new(weighted: bool, budget: Budget) -> Edges {
        Edges { chunks: Vec::new(), weights: weighted.then(Vec::new), budget }
    }

    /// The number of links.
    pub fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    /// Adds a link of a graph that has `pages` pages so far. A weight is kept if the links have weights.
    ///
    /// # Errors
    /// The link needs a new chunk, and that is more than the budget allows.
    pub fn push(&mut self, edge: Edge, weight: f64, pages: u64) -> Result<()> {
        if self.chunks.last().is_none_or(|last| last.len() == CHUNK) {
            self.grow(pages)?;
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(edge);
        }
        if let Some(chunk) = self.weights.as_mut().and_then(|chunks| chunks.last_mut()) {
            chunk.push(weight);
        }
        Ok(())
    }

    /// Adds an empty chunk.
    fn grow(&mut self, pages: u64) -> Result<()> {
        self.budget.check(self.len() as u64 + 1, Some(pages))?;
        // A small graph needs one small chunk; a large one has full chunks.
        let room = if self.chunks.is_empty() { 0 } else { CHUNK };
        self.chunks.push(Vec::with_capacity(room));
        if let Some(weights) = &mut self.weights {
            weights.push(Vec::with_capacity(room));
        }
        Ok(())
    }

    /// Checks the finished links with the final number of pages.
    pub fn check(&self, pages: u64) -> Result<()> {
        self.budget.check(self.len() as u64, Some(pages))
    }
}
