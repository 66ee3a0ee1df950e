//! The order of blocks: each after those above and at its left.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use thalweg::{Loop, Schedule};

use crate::{Error, Result};

/// Observes a computation, and may stop it.
pub trait Watch: Sync {
    /// Whether the computation is to stop. Called before each block.
    fn stopped(&self) -> bool {
        false
    }

    /// `count` more cells are computed.
    fn cells(&self, _count: u64) {}
}

/// Neither stops nor observes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Watch for Quiet {}

/// How the blocks of a pair are executed.
#[derive(Clone, Copy)]
pub(crate) struct Wavefront<'a> {
    /// The most threads.
    pub threads: usize,
    pub watch: &'a dyn Watch,
}

impl Wavefront<'_> {
    /// Calls `compute` once with row and column of each block, after the calls for the blocks above and at the left
    /// have returned: a parallel loop for each anti-diagonal. `compute` returns the cells that it has computed.
    ///
    /// All that is known of the order is these dependencies, so a graph of tasks may execute the blocks as well.
    pub fn run(
        self,
        rows: usize,
        columns: usize,
        compute: impl Fn(usize, usize) -> u64 + Sync,
    ) -> Result<()> {
        let stopped = AtomicBool::new(false);
        let one = |row: usize, column: usize| {
            if stopped.load(Relaxed) || self.watch.stopped() {
                stopped.store(true, Relaxed);
                return;
            }
            self.watch.cells(compute(row, column));
        };
        // A member takes one block at a time: blocks are long, and those at the edges are shorter.
        let blocks = Loop::new().schedule(Schedule::Hybrid).grain(1).members(self.threads);
        let diagonals = if rows == 0 || columns == 0 { 0 } else { rows + columns - 1 };
        for diagonal in 0..diagonals {
            let first = diagonal.saturating_sub(columns - 1);
            let after = (diagonal + 1).min(rows);
            blocks.for_each(first..after, |row| one(row, diagonal - row));
            if stopped.load(Relaxed) {
                return Err(Error::Stopped);
            }
        }
        Ok(())
    }
}
