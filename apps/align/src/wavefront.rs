//! The order of blocks: each after those above and at its left.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use thalweg::Loop;
use thalweg::embed::tasks::MemberCounts;
use thalweg::machine::Places;
use thalweg::tasks;

use crate::schedule::{Blocks, Schedule, options};
use crate::{Error, Result};

/// Observes a computation, and may stop it.
pub trait Watch: Sync {
    /// Whether the computation is to stop. Called before each block.
    fn stopped(&self) -> bool {
        false
    }

    /// `count` more cells are computed.
    fn cells(&self, _count: u64) {}

    /// A pair has been computed by all threads, with these blocks (as nodes) and accesses. Called if there are
    /// [places](crate::Aligner::places). [`thalweg::loops::count_jobs`] has the steals.
    fn counts(&self, _counts: MemberCounts) {}
}

/// Neither stops nor observes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Watch for Quiet {}

/// A loop of another system: calls its second argument once with each number below the first, and returns after all calls.
#[doc(hidden)]
pub type Each<'a> = &'a (dyn Fn(usize, &(dyn Fn(usize) + Sync)) + Sync);

/// How the blocks of a pair are executed.
#[derive(Clone, Copy)]
pub(crate) struct Wavefront<'a> {
    /// The most threads.
    pub threads: usize,
    pub schedule: Schedule,
    /// The place of each thread, if accesses are counted.
    pub places: Option<&'a Places>,
    pub watch: &'a dyn Watch,
    /// What executes the loop of each anti-diagonal instead, if another system does.
    pub each: Option<Each<'a>>,
}

impl Wavefront<'_> {
    /// Calls `compute` once with row and column of each block, after the calls for the blocks above and at the left
    /// have returned. `compute` returns the cells that it has computed.
    ///
    /// # Errors
    /// The watch stops the computation.
    pub fn run(
        self,
        rows: usize,
        columns: usize,
        compute: impl Fn(usize, usize) -> u64 + Sync,
    ) -> Result<()> {
        let members = self.threads.clamp(1, thalweg::loops::team_size());
        let blocks = Blocks { rows, columns, members };
        let one = |row: usize, column: usize| {
            if self.watch.stopped() {
                return Err(Error::Stopped);
            }
            self.watch.cells(compute(row, column));
            Ok(())
        };
        match self.schedule {
            Schedule::Tasks | Schedule::RandomTasks
                if self.each.is_none() && members > 1 && blocks.fit_a_graph() =>
            {
                self.tasks(blocks, one)
            }
            _ => self.loops(blocks, one),
        }
    }

    /// A graph of tasks.
    fn tasks(self, blocks: Blocks, one: impl Fn(usize, usize) -> Result<()> + Sync) -> Result<()> {
        let options = options(self.schedule, blocks.members, self.places);
        let run = blocks.graph().try_run_with(&options, |node| {
            one(node as usize / blocks.columns, node as usize % blocks.columns)
        });
        match run {
            Ok(counts) => {
                self.places.iter().for_each(|_| self.watch.counts(counts.total()));
                Ok(())
            }
            Err(tasks::TaskError::Failed { cause, .. }) => Err(cause),
            Err(error) => panic!("{error}"),
        }
    }

    /// A parallel loop for each anti-diagonal.
    fn loops(self, blocks: Blocks, one: impl Fn(usize, usize) -> Result<()> + Sync) -> Result<()> {
        let schedule = match self.schedule {
            Schedule::StaticLoops => thalweg::loops::Schedule::Static,
            _ => thalweg::loops::Schedule::Hybrid,
        };
        // A member takes one block at a time: blocks are long, and those at the edges are shorter.
        let settings = Loop::new().schedule(schedule).grain(1).members(self.threads);
        let Blocks { rows, columns, .. } = blocks;
        let diagonals = if rows == 0 || columns == 0 { 0 } else { rows + columns - 1 };
        let stopped = AtomicBool::new(false);
        let mut counts = MemberCounts::default();
        for diagonal in 0..diagonals {
            let range = diagonal.saturating_sub(columns - 1)..(diagonal + 1).min(rows);
            let body = |row: usize| {
                if stopped.load(Relaxed) || one(row, diagonal - row).is_err() {
                    stopped.store(true, Relaxed);
                }
            };
            match (self.each, self.places.filter(|_| blocks.members > 1)) {
                (Some(each), _) => each(range.len(), &|row| body(range.start + row)),
                (None, None) => settings.for_each(range, body),
                (None, Some(places)) => {
                    recorded(settings, range, body, |row, member| {
                        blocks.count((row, diagonal - row), member, places.domains(), &mut counts);
                    });
                }
            }
            if stopped.load(Relaxed) {
                return Err(Error::Stopped);
            }
        }
        if counts.nodes() > 0 {
            self.watch.counts(counts);
        }
        Ok(())
    }
}

/// Executes a loop, and then calls `count` with each iteration and the member that has executed it.
fn recorded(
    settings: Loop,
    range: Range<usize>,
    body: impl Fn(usize) + Sync,
    mut count: impl FnMut(usize, usize),
) {
    let assignment = settings.record(range, |range| range.for_each(&body));
    for (member, ranges) in assignment.members().iter().enumerate() {
        ranges.iter().cloned().flatten().for_each(|at| count(at, member));
    }
}
