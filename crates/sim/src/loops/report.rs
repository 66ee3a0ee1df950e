//! Counts of a loop.

use super::LoopSettings;
use std::ops::Range;

/// Counts of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LoopCounts {
    /// Iterations done.
    pub iterations: u64,
    /// Iterations done on data in another memory domain.
    pub remote: u64,
    /// Ticks spent in iterations.
    pub busy: u64,
    /// Attempts to steal, failed ones included.
    pub attempts: u64,
    /// Attempts that took iterations.
    pub steals: u64,
}

/// The report of one invocation of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopReport {
    /// Ticks from the start until the last iteration was done.
    pub time: u64,
    /// Counts by worker.
    pub workers: Vec<LoopCounts>,
    /// By iteration: the worker that has done it.
    pub by: Vec<u32>,
}

impl LoopReport {
    /// The sums over all workers.
    pub fn total(&self) -> LoopCounts {
        self.workers.iter().fold(LoopCounts::default(), |sum, of| LoopCounts {
            iterations: sum.iterations + of.iterations,
            remote: sum.remote + of.remote,
            busy: sum.busy + of.busy,
            attempts: sum.attempts + of.attempts,
            steals: sum.steals + of.steals,
        })
    }

    /// The ratio of the evenly divided ticks of all iterations to the time.
    pub fn efficiency(&self) -> f64 {
        self.total().busy as f64 / self.workers.len() as f64 / self.time.max(1) as f64
    }
}

/// What an iteration has cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// Its ticks.
    pub(crate) ticks: u64,
    /// Whether its data is in another memory domain than the worker.
    pub(crate) is_remote: bool,
}

/// The body of a loop: a worker does an iteration.
pub(crate) type Body<'a> = dyn FnMut(usize, usize) -> Done + 'a;

/// What has been done of a loop so far.
pub(super) struct Record<'a> {
    pub(super) length: usize,
    pub(super) counts: Vec<LoopCounts>,
    body: &'a mut Body<'a>,
    by: Vec<Option<u32>>,
    time: u64,
    done: usize,
}

impl<'a> Record<'a> {
    pub(super) fn new(length: usize, settings: &LoopSettings, body: &'a mut Body<'a>) -> Record<'a> {
        let counts = vec![LoopCounts::default(); settings.workers];
        Record { length, counts, body, by: vec![None; length], time: 0, done: 0 }
    }

    /// A worker does these iterations from the time `now` on. Returns their ticks.
    pub(super) fn iterate(&mut self, worker: usize, iterations: Range<u64>, now: u64) -> u64 {
        let counts = &mut self.counts[worker];
        let mut sum = 0;
        for i in iterations.start as usize..iterations.end as usize {
            let Done { ticks, is_remote } = (self.body)(worker, i);
            sum += ticks;
            counts.iterations += 1;
            counts.remote += u64::from(is_remote);
            let before = self.by[i].replace(worker as u32);
            assert_eq!(before, None, "iteration {i} is done once");
            self.done += 1;
        }
        counts.busy += sum;
        self.time = self.time.max(now + sum);
        sum
    }

    /// Whether all iterations are done or under way.
    pub(super) fn is_done(&self) -> bool {
        self.done == self.length
    }

    pub(super) fn report(self) -> LoopReport {
        let by = self.by.into_iter().map(|by| by.expect("each iteration is done")).collect();
        LoopReport { time: self.time, workers: self.counts, by }
    }
}
