//! Jobs that are counted: a layer above [`parallel_while`](super::parallel_while), which knows nothing of it.
//!
//! The caller of a job finds the tally and the node that its counts are for in its [`Place`]:
//!
//! | caller is | tally of | node |
//! |---|---|---|
//! | a worker in a firing | its run | that whose body it executes |
//! | the thread of a node that has its own | its run, apart from the workers' | that one |
//! | a member in another job | that job | that of the job |
//! | a thread in [`count_jobs`] | the scope | that of the place around |
//!
//! A member that joins takes tally and node over for its part, so jobs that it calls in there count for the same node.
//!
//! A session of joins is not counted. Its members take over what the jobs that they call in it count for
//! ([`lend_uncounted`]).
//!
//! Where nothing is counted, and outside of runs, that costs a branch for each member of a job.

use super::lending::{More, Recall};
use super::members::{Crew, Place, Work, alone, lend, place, with_place};
use super::tally::{Job, Tally};
use crate::measure::clock::{Ticks, ticks};
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

    /// What a job that the thread calls counts for; `None` if it does not count.
    fn account(&self) -> Option<Account<'_>> {
        let (tally, node) = (self.tally()?, self.node());
        // A scope in a firing has no timeline of its own.
        let timeline = node.map(|node| (self.team_tally().unwrap_or(tally), node));
        Some(Account { tally, node, timeline: timeline.filter(|(tally, _)| tally.is_timed()) })
    }

    /// Lets jobs that this thread, a helper of this place's, calls count for the same. The thread's place is its own again when it
    /// leaves the job.
    fn hand_over(&self, account: &Account<'_>) {
        let purpose = Purpose { tally: self.purpose.tally.clone(), node: account.node };
        with_place(|place| place.purpose = purpose);
    }
}

/// What a job counts for.
#[derive(Clone, Copy)]
struct Account<'a> {
    tally: &'a Tally,
    node: Option<NodeId>,
    /// Where members' parts are events, and of which node, if a timeline is recorded.
    timeline: Option<(&'a Tally, NodeId)>,
}

impl Account<'_> {
    /// The time, if it is needed.
    #[inline]
    fn now(&self) -> Option<Ticks> {
        self.timeline.map(|_| ticks())
    }

    /// Adds a member's part, which began at `from`.
    fn add(&self, job: Job, member: usize, counts: &MemberCounts, from: Option<Ticks>) {
        self.tally.add(member, self.node, counts);
        if let (Some((timeline, node)), Some(from)) = (self.timeline, from) {
            timeline.note(member, from, (job, node), counts);
        }
    }
}

/// A job as its members see it.
struct Watched<'a> {
    job: Job,
    caller: &'a Place,
    /// The caller's number.
    member: usize,
    account: Option<Account<'a>>,
    /// The caller has not begun its part. Accessed by its thread alone, so it is on a cache line that helpers do not read.
    is_new: &'a AtomicBool,
}

/// A member's part, which counts when it is dropped: also if the part panics.
struct Part<'a> {
    watched: &'a Watched<'a>,
    member: usize,
    counts: MemberCounts,
    from: Option<Ticks>,
}

impl<'a> Watched<'a> {
    fn new(job: Job, caller: &'a Place, is_new: &'a AtomicBool) -> Watched<'a> {
        Watched { job, caller, member: caller.member, account: caller.account(), is_new }
    }

    /// Begins a member's part.
    fn begin(&self, member: usize) -> Part<'_> {
        let is_caller = member == self.member;
        let counts = self.job.begin(is_caller && self.is_new.load(Ordering::Relaxed));
        if is_caller {
            self.is_new.store(false, Ordering::Relaxed);
        } else if let Some(account) = &self.account {
            self.caller.hand_over(account);
        }
        Part { watched: self, member, counts, from: self.account.and_then(|account| account.now()) }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Some(account) = &self.watched.account {
            account.add(self.watched.job, self.member, &self.counts, self.from);
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
///             *counts.iterations_mut() += 1;
///         }
///     }, &|| false);
/// });
/// assert_eq!((counts.total().loops(), counts.total().iterations()), (1, 100));
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
    let part = |member, _: Recall<'_>, counts: &mut MemberCounts| part(member, counts);
    lend_counted(CountedWork { job, most, part, more });
}

/// A job that a thread opens, and that is counted: see [`Work`].
pub(crate) struct CountedWork<'j, P> {
    pub(crate) job: Job,
    pub(crate) most: usize,
    /// The part of a member: its number, how its own run recalls it, and its counts.
    pub(crate) part: P,
    pub(crate) more: &'j More<'j>,
}

/// Like [`parallel_counted`], with a part that helpers may leave early.
pub(crate) fn lend_counted<P>(CountedWork { job, most, part, more }: CountedWork<'_, P>)
where
    P: Fn(usize, Recall<'_>, &mut MemberCounts) + Sync,
{
    let (caller, is_new) = (place(Clone::clone), AtomicBool::new(true));
    let watched = Watched::new(job, &caller, &is_new);
    // By value, so that a helper finds all of it on one cache line or two: each one costs as much as a short loop.
    let part = move |member, recall: Recall<'_>| part(member, recall, &mut watched.begin(member).counts);
    lend(&caller, Work { most, part: &part, more }, |member| part(member, Recall::NEVER));
}

/// Like [`lend`], for a job that is not counted itself.
pub(super) fn lend_uncounted(Work { most, part, more }: Work<'_>, own: impl Fn(usize)) {
    let caller = place(Clone::clone);
    let account = caller.account();
    let part = |member, recall: Recall<'_>| {
        if let Some(account) = &account {
            caller.hand_over(account);
        }
        part(member, recall);
    };
    lend(&caller, Work { most, part: &part, more }, own);
}

/// Executes a loop that has one member, and counts it. It may be an iteration of another loop, so it accesses no data that
/// other members access, not even the count of references to the run.
pub(crate) fn counted_alone(iterations: usize, body: impl FnOnce()) {
    let Some(from) = place(|own| own.account().map(|account| account.now())) else { return alone(body) };
    let mut part = AlonePart { counts: Job::Loop.begin(true), from };
    alone(body);
    *part.counts.iterations_mut() = iterations as u64;
}

/// The part of the only member, which counts when it is dropped.
struct AlonePart {
    counts: MemberCounts,
    from: Option<Ticks>,
}

impl Drop for AlonePart {
    fn drop(&mut self) {
        place(|own| {
            if let Some(account) = own.account() {
                account.add(Job::Loop, own.member, &self.counts, self.from);
            }
        });
    }
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
/// assert_eq!((sum, counts.total().loops(), counts.total().iterations()), (499_500, 1, 10));
/// ```
///
/// # Panics
/// With the panic of `scope`. A firing's counts are in the report all the same.
pub fn count_jobs<R>(scope: impl FnOnce() -> R) -> (R, Counts) {
    let outer = place(Clone::clone);
    let tally = Arc::new(Tally::new(outer.crew.team().size, 0));
    let mut within = Scope { outer: &outer, tally: &tally, counts: Counts::default() };
    let result = with_purpose(Purpose { tally: Some(tally.clone()), node: outer.node() }, scope);
    within.leave();
    (result, std::mem::take(&mut within.counts))
}

/// A scope of [`count_jobs`].
struct Scope<'a> {
    outer: &'a Place,
    tally: &'a Tally,
    counts: Counts,
}

impl Scope<'_> {
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
    /// After a panic too.
    fn drop(&mut self) {
        self.leave();
    }
}

/// Calls `work` as the thread of a node that has its own, on which jobs count for the node.
pub(crate) fn as_node<R>(signals: &Signals, node: NodeId, work: impl FnOnce() -> R) -> R {
    with_purpose(Purpose { tally: signals.team.apart.clone(), node: Some(node) }, work)
}

/// Calls `work` on this thread, where jobs count for this.
fn with_purpose<R>(purpose: Purpose, work: impl FnOnce() -> R) -> R {
    struct Restore(Purpose);
    impl Drop for Restore {
        fn drop(&mut self) {
            with_place(|place| std::mem::swap(&mut place.purpose, &mut self.0));
        }
    }
    let mut restore = Restore(purpose);
    with_place(|place| std::mem::swap(&mut place.purpose, &mut restore.0));
    work()
}
