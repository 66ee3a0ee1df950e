//! Jobs that are counted: a layer above [`parallel_while`](super::parallel_while), which knows nothing of it.
//!
//! The caller of a job finds the tally and the node that its counts are for in its place
//! ([`Place`](super::members)): a worker in a firing, those of its run and of the node whose body it executes; a member in
//! another job, those of this job; a thread in [`count_jobs`], those of the scope. A member that joins takes them over for its part, so jobs
//! that it calls in there count for the same node.
//!
//! Where nothing is counted, and outside of runs, that costs a branch for each member of a job.

use super::members::{Crew, Place, alone, open, place, with_place};
use super::tally::{Job, Tally};
use crate::measure::clock::Ticks;
use crate::net::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_graph::NodeId;
use thalweg_trace::{Counts, MemberCounts};

/// What a job's counts are for.
#[derive(Clone, Default)]
pub(super) struct Purpose {
    /// The tally, if it is not that of the run's workers.
    pub(super) tally: Option<Arc<Tally>>,
    /// The node whose firing has called the job. `None`: that whose body the worker executes.
    pub(super) node: Option<NodeId>,
}

impl Place {
    /// The tally of jobs that the thread calls.
    fn tally(&self) -> Option<&Tally> {
        self.purpose.tally.as_deref().or(self.team_tally())
    }

    /// The tally of the run whose worker the thread is.
    fn team_tally(&self) -> Option<&Tally> {
        self.crew.team().tally.as_ref()
    }

    /// The node for which such jobs count.
    fn node(&self) -> Option<NodeId> {
        let own = || self.crew.team().running.get(self.member).and_then(|running| running.node());
        match self.crew {
            Crew::Run(_) => self.purpose.node.or_else(own),
            Crew::Pool => self.purpose.node,
        }
    }
}

/// A job as its members see it.
struct Watched<'a> {
    job: Job,
    caller: &'a Place,
    node: Option<NodeId>,
    tally: Option<&'a Tally>,
    /// The caller has not begun its part. Accessed by its thread alone.
    is_new: AtomicBool,
}

/// A member's part, which counts when it is dropped: also if the part panics.
struct Part<'a> {
    watched: &'a Watched<'a>,
    member: usize,
    counts: MemberCounts,
    from: Option<Ticks>,
}

impl<'a> Watched<'a> {
    fn new(job: Job, caller: &'a Place) -> Watched<'a> {
        Watched { job, caller, node: caller.node(), tally: caller.tally(), is_new: AtomicBool::new(true) }
    }

    /// Begins a member's part.
    fn begin(&self, member: usize) -> Part<'_> {
        let is_caller = member == self.caller.member;
        let counts = self.job.begin(is_caller && self.is_new.load(Ordering::Relaxed));
        if is_caller {
            self.is_new.store(false, Ordering::Relaxed);
        } else if self.tally.is_some() {
            let purpose = Purpose { tally: self.caller.purpose.tally.clone(), node: self.node };
            // The thread's place is its own again when it leaves the job.
            with_place(|place| place.purpose = purpose);
        }
        Part { watched: self, member, counts, from: self.timeline().and_then(Tally::now) }
    }

    /// The tally with the events of the timeline. A scope in a firing has none of its own.
    fn timeline(&self) -> Option<&'a Tally> {
        let caller = self.caller;
        self.tally.map(|tally| caller.team_tally().unwrap_or(tally)).filter(|_| self.node.is_some())
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let Watched { job, node, tally, .. } = *self.watched;
        let Some(tally) = tally else { return };
        tally.add(self.member, node, &self.counts);
        if let (Some(from), Some(node), Some(timeline)) = (self.from, node, self.watched.timeline()) {
            timeline.note(self.member, from, (job, node), &self.counts);
        }
    }
}

/// Like [`parallel_while`](super::parallel_while), for jobs that the report of a run counts: `part` adds what its member
/// does to the counts of the member's part, which begin with those of a part without work.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use thalweg_runtime::{Job, count_jobs, parallel_counted};
///
/// let next = AtomicU64::new(0);
/// let ((), counts) = count_jobs(|| {
///     parallel_counted(Job::Loop, usize::MAX, &|_member, counts| {
///         while next.fetch_add(1, Relaxed) < 100 {
///             counts.iterations += 1;
///         }
///     }, &|| false);
/// });
/// assert_eq!((counts.total().loops, counts.total().iterations), (1, 100));
/// ```
///
/// # Panics
/// As [`parallel`](super::parallel). What was counted before counts.
pub fn parallel_counted(
    job: Job,
    most: usize,
    part: &(dyn Fn(usize, &mut MemberCounts) + Sync),
    more: &(dyn Fn() -> bool + Sync),
) {
    let caller = place(Clone::clone);
    let watched = Watched::new(job, &caller);
    let part = |member| part(member, &mut watched.begin(member).counts);
    open(&caller, most, &part, more);
}

/// Executes a loop that has one member, and counts it.
pub(crate) fn counted_alone(iterations: usize, body: impl FnOnce()) {
    let caller = place(|own| own.tally().is_some().then(|| own.clone()));
    let Some(caller) = caller else { return alone(body) };
    let watched = Watched::new(Job::Loop, &caller);
    let mut part = watched.begin(caller.member);
    alone(body);
    part.counts.iterations = iterations as u64;
}

/// Calls `scope`, and counts the loops and task graphs that it calls, and those that are called in these. Returns its result
/// and the counts, by the member's number in its team. Those in runs that it starts are in the reports of the runs.
///
/// In a firing the counts are also in the run's report.
///
/// ```
/// let (sum, counts) = thalweg_runtime::count_jobs(|| {
///     let fold = |range: std::ops::Range<usize>, sum: usize| sum + range.sum::<usize>();
///     thalweg_runtime::Loop::new().grain(100).reduce(0..1000, 0, fold, |a, b| a + b)
/// });
/// assert_eq!((sum, counts.total().loops, counts.total().iterations), (499_500, 1, 10));
/// ```
///
/// # Panics
/// With the panic of `scope`. A firing's counts are in the report all the same.
pub fn count_jobs<R>(scope: impl FnOnce() -> R) -> (R, Counts) {
    let outer = place(Clone::clone);
    let tally = Arc::new(Tally::new(outer.crew.team().size, 0));
    let within = Scope { outer: &outer, tally: &tally, counts: Counts::default() };
    with_place(|place| place.purpose = Purpose { tally: Some(tally.clone()), node: outer.node() });
    let result = scope();
    (result, within.end())
}

/// A scope of [`count_jobs`].
struct Scope<'a> {
    outer: &'a Place,
    tally: &'a Tally,
    counts: Counts,
}

impl Scope<'_> {
    fn end(mut self) -> Counts {
        self.leave();
        std::mem::take(&mut self.counts)
    }

    /// Sums the counts, and adds them to those of the place around.
    fn leave(&mut self) {
        let all = self.tally.take();
        self.counts.add(self.outer.crew.team().size - 1, MemberCounts::default());
        for (node, member, counts) in all {
            self.counts.add(member, counts);
            if let Some(outer) = self.outer.tally() {
                outer.add(member, node, &counts);
            }
        }
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        self.leave();
        let before = self.outer.purpose.clone();
        with_place(|place| place.purpose = before);
    }
}

/// Calls `work` as the thread of a node that has its own, on which jobs count for the node.
pub(crate) fn as_node<R>(signals: &Signals, node: NodeId, work: impl FnOnce() -> R) -> R {
    let before = place(|own| own.purpose.clone());
    let purpose = Purpose { tally: signals.team.apart.clone(), node: Some(node) };
    with_place(|place| place.purpose = purpose);
    let result = work();
    with_place(|place| place.purpose = before);
    result
}
