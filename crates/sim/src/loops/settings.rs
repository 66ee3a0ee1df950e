//! Schedule, workers, and costs of a loop.

use thalweg_policy::random::mix;
use thalweg_policy::tasks::StealOrder;

/// How the iterations of a loop are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopSchedule {
    /// A stretch for each worker, and stealing in this order.
    Stretches(StealOrder),
    /// Recursive halving with random stealing, as `cilk_for` does: the worker that begins the loop halves it until the
    /// grain is reached, and the others steal the largest rest of a random victim.
    Split,
    /// A guided schedule: a worker takes a share of the iterations that are left, as
    /// [`guided`](thalweg_policy::tasks::guided) says, and no less than the grain, until none are left.
    Guided,
}

impl LoopSchedule {
    /// The engine's schedule: stretches, and half of the longest rest is stolen.
    pub const HYBRID: LoopSchedule = LoopSchedule::Stretches(StealOrder::Longest);
    /// Stretches without stealing.
    pub const STATIC: LoopSchedule = LoopSchedule::Stretches(StealOrder::Off);
}

/// Costs of a worker's steps, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopCosts {
    /// Taking iterations from the own rest or deque. At least 1.
    pub take: u64,
    /// An attempt of `Split` to steal, successful or not. At least 1.
    pub attempt: u64,
    /// A steal: the attempt that succeeds costs this in addition.
    pub steal: u64,
    /// An iteration's access to data in the worker's own memory domain.
    pub near: u64,
    /// An iteration's access to data in another memory domain.
    pub far: u64,
}

/// Settings of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopSettings {
    /// The number of workers.
    pub workers: usize,
    /// The number of workers that share a memory domain.
    pub domain: usize,
    /// How the iterations are divided.
    pub schedule: LoopSchedule,
    /// The most iterations that a worker takes at once; with [`LoopSchedule::Guided`] the least.
    pub grain: u64,
    /// The costs of steps.
    pub costs: LoopCosts,
    /// The maximum number of ticks by which a worker begins late. Worker 0 begins the loop, at once.
    pub late: u64,
    /// The seed of late starts and random victims.
    pub seed: u64,
}

impl Default for LoopSettings {
    /// 4 domains of 8 cores, as in chapter 6, with the engine's schedule. Costs are on the scale of 1 ns.
    fn default() -> LoopSettings {
        LoopSettings {
            workers: 32,
            domain: 8,
            schedule: LoopSchedule::HYBRID,
            grain: 16,
            costs: LoopCosts { take: 20, attempt: 100, steal: 200, near: 100, far: 250 },
            late: 0,
            seed: 1,
        }
    }
}

impl LoopSettings {
    /// When a worker begins.
    pub(super) fn start(&self, worker: usize) -> u64 {
        if worker == 0 { 0 } else { mix(self.seed ^ mix(worker as u64)) % (self.late + 1) }
    }
}
