//! Teams: the threads that execute a job together.
//!
//! **Actors.** A *team* is the workers of a run, or the threads of the pool where no run goes on. A thread that calls
//! [`parallel`] opens a job in the team's [`arena`]. Members that have nothing else to do join it: a worker whose policy
//! has no node for it ([`Worker::idle`](crate::sched::worker)), a thread of the pool ([`pool`]), and a member that
//! waits for its own job's helpers. So a firing may execute a loop or a task graph on the threads of its run: no
//! thread is added, and none is blocked.
//!
//! A job is complete without helpers. Nothing depends on a member that begins late, or never. A job whose work shrinks and
//! grows ([`parallel_while`]) lets members leave for other work of their thread, and calls them again ([`call_members`]).
//!
//! **Numbers.** Each member has a number below the team's size:
//!
//! | member | number |
//! |---|---|
//! | worker of a run | that of the worker |
//! | thread of the pool | from 1 on, while it serves; the next time the same one, if the thread is idle then |
//! | caller that is in no run | 0 |
//!
//! No two threads have the same number in one job at the same time. The numbers of workers differ, and so do those of the
//! pool's threads. A caller with number 0 joins only descendants of its own job, and no other caller is in these. A
//! coroutine uses no channel inside of a job ([`thread_and_depth`]), so a worker does not enter a job a second time.
//!
//! | file | what |
//! |---|---|
//! | `arena` | the open jobs of a team: the protocol |
//! | `slot` | where a job is while it is open |
//! | `lending` | how a job is lent, and what calls a helper away |
//! | `join` | fork-join: the first join of a thread is a job, and nested ones belong to it |
//! | `members` | a thread's place in a team; opening and joining |
//! | `deque` | entries of a member that executes tasks, and what thieves may take |
//! | `spin_budget` | how long a member without work searches |
//! | `pool` | the members that are in no run: when they come and go |
//! | `numbers` | the numbers of the pool's members, and the threads that have had them |
//! | `counted` | jobs that are counted, for a report: a layer above the others |
//! | `tally` | the counts of a team, by member |

pub(crate) mod arena;
#[cfg(not(loom))]
mod counted;
pub mod deque;
pub(crate) mod join;
pub(crate) mod lending;
#[cfg(not(loom))]
mod members;
#[cfg(loom)]
mod modelled;
#[cfg(not(loom))]
mod numbers;
#[cfg(not(loom))]
mod pool;
mod running;
mod slot;
pub mod spin_budget;
#[cfg(not(loom))]
mod tally;
#[cfg(all(test, not(loom), not(miri)))]
mod tests;

#[cfg(not(loom))]
pub(crate) use counted::{CountedWork, as_node, counted_alone, lend_counted};
#[cfg(not(loom))]
pub use counted::{count_jobs, parallel_counted};
#[cfg(not(loom))]
pub use join::join;
#[cfg(not(loom))]
pub(crate) use members::{as_worker, help_run, member, thread_and_depth};
#[cfg(not(loom))]
pub use members::{call_members, parallel, parallel_while, team_domains, team_size};
#[cfg(loom)]
pub(crate) use modelled::{as_node, as_worker, help_run, thread_and_depth};
pub(crate) use running::Running;
#[cfg(not(loom))]
pub use tally::Job;
#[cfg(not(loom))]
pub(crate) use tally::Tally;

use crate::sync::CachePadded;
use arena::Arena;

/// The threads that execute a job together.
pub(crate) struct Team {
    pub(crate) arena: Arena,
    size: usize,
    /// By worker of a run: the node whose body it executes.
    pub(crate) running: Box<[CachePadded<Running>]>,
    /// By worker of a run: its memory domain, if the run's options describe them.
    #[cfg_attr(loom, allow(dead_code))]
    pub(crate) domains: Option<std::sync::Arc<[usize]>>,
    /// What the jobs of a run's workers count; `None` if they do not, and outside of runs.
    #[cfg(not(loom))]
    pub(crate) tally: Option<Tally>,
    /// What the jobs of nodes with a thread of their own count, whose team is the pool's. By that team's numbers.
    #[cfg(not(loom))]
    pub(crate) apart: Option<std::sync::Arc<Tally>>,
}

impl Team {
    /// The team of this many workers.
    pub(crate) fn new(size: usize) -> Team {
        Team {
            arena: Arena::default(),
            size,
            domains: None,
            running: (0..size).map(|_| CachePadded::default()).collect(),
            #[cfg(not(loom))]
            tally: None,
            #[cfg(not(loom))]
            apart: None,
        }
    }

    /// Lets the jobs of this run's workers, and those of its nodes with threads of their own (`apart`), be counted, and be
    /// in a timeline of this number of events.
    #[cfg(not(loom))]
    pub(crate) fn count(&mut self, events: usize, apart: bool) {
        self.tally = Some(Tally::new(self.size, events));
        // Where a firing prepares a run, its nodes with threads of their own may have the team of that firing.
        let size = pool::team().size.max(team_size());
        self.apart = apart.then(|| std::sync::Arc::new(Tally::new(size, events)));
    }
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").field("size", &self.size).finish_non_exhaustive()
    }
}
