//! Results of a run of a task graph.

use std::ops::AddAssign;

/// Attempts of one kind to steal.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Attempts {
    /// All attempts, failed ones included.
    pub tried: u64,
    /// The attempts that took an entry.
    pub stole: u64,
}

/// Counts of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct WorkerCounts {
    /// Nodes computed.
    pub computed: u64,
    /// Ticks spent on computing nodes.
    pub busy: u64,
    /// Accesses as section 5.5.2 counts them: one for each computed node, and one for each of its predecessors. Those
    /// that a node does not make at all (the sink of most shapes reads nothing) are not counted.
    pub accesses: u64,
    /// Accesses to data in another memory domain. The data's own colour counts, whatever colour the scheduler saw.
    pub remote: u64,
    /// Random attempts to steal.
    pub random: Attempts,
    /// Coloured attempts to steal, forced ones included.
    pub coloured: Attempts,
    /// Forced coloured attempts of the worker's first search.
    pub forced: Attempts,
    /// Ticks from the start until the worker had its first entry; the whole run, if it had none.
    pub waited: u64,
}

/// The report of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskReport {
    /// Ticks from the start until the sink was computed.
    pub time: u64,
    /// Counts by worker.
    pub workers: Vec<WorkerCounts>,
    /// Each computed node with its worker, in the order in which computing ended.
    pub order: Vec<(u32, u32)>,
}

impl TaskReport {
    /// The sums over all workers.
    pub fn total(&self) -> WorkerCounts {
        let mut total = WorkerCounts::default();
        self.workers.iter().for_each(|&counts| total += counts);
        total
    }

    /// The share of accesses that are remote, from 0 to 1.
    pub fn remote_share(&self) -> f64 {
        let total = self.total();
        total.remote as f64 / total.accesses.max(1) as f64
    }

    /// Successful steals of all workers.
    pub fn steals(&self) -> u64 {
        let total = self.total();
        total.random.stole + total.coloured.stole
    }

    /// The mean of the workers' ticks before their first work.
    pub fn mean_wait(&self) -> f64 {
        self.total().waited as f64 / self.workers.len() as f64
    }
}

impl AddAssign for Attempts {
    fn add_assign(&mut self, other: Attempts) {
        self.tried += other.tried;
        self.stole += other.stole;
    }
}

impl AddAssign for WorkerCounts {
    fn add_assign(&mut self, other: WorkerCounts) {
        self.computed += other.computed;
        self.busy += other.busy;
        self.accesses += other.accesses;
        self.remote += other.remote;
        self.random += other.random;
        self.coloured += other.coloured;
        self.forced += other.forced;
        self.waited += other.waited;
    }
}
