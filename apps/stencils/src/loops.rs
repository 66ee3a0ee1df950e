//! Parallel loops: the interface of `thalweg::Loop`, executed by the calling thread.

use std::ops::Range;

/// A loop over independent iterations.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    grain: usize,
}

impl Loop {
    /// A loop over all threads that the process may run at once.
    pub fn new() -> Self {
        Self { grain: 1 }
    }

    /// Sets the least number of iterations that one thread takes at once.
    pub fn grain(mut self, grain: usize) -> Self {
        self.grain = grain.max(1);
        self
    }

    /// Sets the greatest number of threads.
    pub fn members(self, _members: usize) -> Self {
        self
    }

    /// Calls `body` on each chunk of `size` consecutive items, of which the last may be shorter, with the chunk's index.
    pub fn for_chunks<T: Send>(&self, items: &mut [T], size: usize, body: impl Fn(usize, &mut [T]) + Sync) {
        for (index, chunk) in items.chunks_mut(size).enumerate() {
            body(index, chunk);
        }
    }

    /// Folds chunks of `grain` iterations, each from `identity`, and combines the results in the order of the chunks.
    /// So the result depends on the range and the grain alone.
    pub fn reduce<T: Clone + Send + Sync>(
        &self,
        range: Range<usize>,
        identity: T,
        fold: impl Fn(Range<usize>, T) -> T + Sync,
        combine: impl Fn(T, T) -> T + Sync,
    ) -> T {
        let mut all = identity.clone();
        for start in range.clone().step_by(self.grain) {
            let chunk = start..range.end.min(start + self.grain);
            all = combine(all, fold(chunk, identity.clone()));
        }
        all
    }
}
