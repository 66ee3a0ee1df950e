//! Teams: the threads that execute a job together.
//!
//! **Actors.** A *team* is the workers of a run, or the threads of the pool where no run goes on. A thread that calls
//! [`parallel`] opens a job in the team's [`arena`]. Members that have nothing else to do join it: a worker whose policy
//! has no node for it ([`Worker::idle`](crate::sched::worker)), a thread of the pool ([`pool`]), and a member that
//! waits for its own job's helpers. So a firing may execute a loop or a task graph on the threads of its run: no
//! thread is added, and none is blocked.
//!
//! A job is complete without helpers. Nothing depends on a member that begins late, or never.
//!
//! **Numbers.** Each member has a number below the team's size:
//!
//! | member | number |
//! |---|---|
//! | worker of a run | that of the worker |
//! | thread of the pool | from 1 on, while it serves |
//! | caller that is in no run | 0 |
//!
//! No two threads have the same number in one job at the same time. The numbers of workers differ, and so do those of the
//! pool's threads. A caller with number 0 joins only descendants of its own job, and no other caller is in these. A
//! coroutine does not leave its stack inside of a job ([`depth`]), so a worker does not enter a job a second time.

pub(crate) mod arena;
#[cfg(not(loom))]
mod pool;
#[cfg(all(test, not(loom), not(miri)))]
mod tests;

use crate::net::Signals;
use arena::Arena;
#[cfg(not(loom))]
use arena::Slots;
#[cfg(not(loom))]
use std::cell::{Cell, RefCell};
#[cfg(not(loom))]
use std::sync::Arc;

/// The threads that execute a job together.
pub(crate) struct Team {
    pub(crate) arena: Arena,
    size: usize,
}

impl Team {
    /// The team of this many workers.
    pub(crate) fn new(size: usize) -> Team {
        Team { arena: Arena::default(), size }
    }
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").field("size", &self.size).finish_non_exhaustive()
    }
}

/// The threads of a team, and how they are woken.
#[cfg(not(loom))]
#[derive(Clone)]
enum Crew {
    /// The workers of a run.
    Run(Arc<Signals>),
    /// Threads of the pool.
    Pool,
}

#[cfg(not(loom))]
impl Crew {
    fn team(&self) -> &Team {
        match self {
            Crew::Run(signals) => &signals.team,
            Crew::Pool => pool::team(),
        }
    }

    /// Wakes a member, or relies on one that is awake. The caller has fenced since it opened a job.
    fn wake(&self) {
        match self {
            Crew::Run(signals) if signals.sleep.wants_waking() => _ = signals.sleep.wake_one(),
            Crew::Run(_) => {}
            Crew::Pool => pool::wake(),
        }
    }
}

/// This thread's place in a team.
#[cfg(not(loom))]
#[derive(Clone)]
struct Place {
    crew: Crew,
    member: usize,
    /// The jobs that this thread is in.
    within: Slots,
}

#[cfg(not(loom))]
thread_local! {
    static PLACE: RefCell<Place> = const { RefCell::new(Place { crew: Crew::Pool, member: 0, within: 0 }) };
}

#[cfg(not(loom))]
thread_local! {
    /// The number of `Deeper` on this thread's stack.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The number of loops, jobs and runs that this thread is in. A coroutine leaves its stack only at the depth at which it
/// was resumed: what lies deeper ends in the order in which it has begun.
#[cfg(not(loom))]
pub(crate) fn depth() -> usize {
    DEPTH.get()
}

#[cfg(loom)]
pub(crate) fn depth() -> usize {
    0
}

/// Counts a loop, a job or a run that this thread is in.
#[cfg(not(loom))]
struct Deeper;

#[cfg(not(loom))]
impl Deeper {
    fn new() -> Deeper {
        DEPTH.set(DEPTH.get() + 1);
        Deeper
    }
}

#[cfg(not(loom))]
impl Drop for Deeper {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Calls `part`, which is a loop's with one member: a coroutine must not wait in it, as in any other.
#[cfg(not(loom))]
pub(crate) fn alone(part: impl FnOnce()) {
    let _deeper = Deeper::new();
    part();
}

#[cfg(loom)]
pub(crate) fn alone(part: impl FnOnce()) {
    part();
}

/// Sets this thread's place until it is dropped.
#[cfg(not(loom))]
struct Entered(Option<Place>, Deeper);

#[cfg(not(loom))]
impl Entered {
    fn new(place: Place) -> Entered {
        Entered(PLACE.try_with(|own| own.replace(place)).ok(), Deeper::new())
    }
}

#[cfg(not(loom))]
impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            // A thread that ends has no place any more.
            _ = PLACE.try_with(|own| own.replace(before));
        }
    }
}

#[cfg(not(loom))]
fn place() -> Place {
    let own = PLACE.try_with(|own| own.borrow().clone());
    own.unwrap_or(Place { crew: Crew::Pool, member: 0, within: 0 })
}

/// Calls `work` as the worker of a run: [`parallel`] in it addresses the run's workers.
#[cfg(not(loom))]
pub(crate) fn as_worker<R>(signals: &Arc<Signals>, worker: usize, work: impl FnOnce() -> R) -> R {
    let _entered = Entered::new(Place { crew: Crew::Run(signals.clone()), member: worker, within: 0 });
    work()
}

#[cfg(loom)]
pub(crate) fn as_worker<R>(_: &std::sync::Arc<Signals>, _worker: usize, work: impl FnOnce() -> R) -> R {
    work()
}

/// Joins a job of a run's workers, if one is open. Returns whether one was.
#[cfg(not(loom))]
pub(crate) fn help_run(signals: &Arc<Signals>, worker: usize) -> bool {
    signals.team.arena.any() && help(&Crew::Run(signals.clone()), worker, 0)
}

/// No model has jobs in a run.
#[cfg(loom)]
pub(crate) fn help_run(_: &std::sync::Arc<Signals>, _worker: usize) -> bool {
    false
}

/// Joins a job whose ancestors include one of `within`, or any job. Wakes a further member before, since this one may take
/// long.
#[cfg(not(loom))]
fn help(crew: &Crew, member: usize, within: Slots) -> bool {
    join(crew, member, within, || crew.wake())
}

/// Joins a job like [`help`], and calls `joined` before the job's part.
#[cfg(not(loom))]
fn join(crew: &Crew, member: usize, within: Slots, joined: impl FnOnce()) -> bool {
    crew.team().arena.help(member, within, |within, call| {
        joined();
        let _entered = Entered::new(Place { crew: crew.clone(), member, within });
        call();
    })
}

/// The number of threads that [`parallel`] may use here: in a firing the workers of the run, otherwise the cores that the
/// process may use, as at the first call.
///
/// ```
/// assert!(thalweg_runtime::team_size() >= 1);
/// ```
#[cfg(not(loom))]
pub fn team_size() -> usize {
    place().crew.team().size
}

/// This thread's number in its team.
#[cfg(not(loom))]
pub(crate) fn member() -> usize {
    place().member
}

/// Calls `part` on this thread, and on other threads that have nothing to do: in a firing the other workers of the run,
/// otherwise threads of the pool. Returns when this thread's call and those that have begun by its end are done.
///
/// `part` gets the number of the thread that calls it, below [`team_size`]; at any time threads in `part` have different
/// numbers. Other threads may begin late, or never. So a call takes its work from shared state, and returns when nothing is left
/// that another thread could begin: once one has returned, no further thread begins. It must not wait for other calls. Calls
/// may be nested.
///
/// At most `most` threads execute `part` at the same time, this one included.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// let (next, sum) = (AtomicU64::new(0), AtomicU64::new(0));
/// thalweg_runtime::parallel(usize::MAX, &|_member| {
///     while let item @ 0..100 = next.fetch_add(1, Relaxed) {
///         sum.fetch_add(item, Relaxed);
///     }
/// });
/// assert_eq!(sum.into_inner(), 4950);
/// ```
///
/// # Panics
/// If a call panics, after all calls are done.
#[cfg(not(loom))]
pub fn parallel(most: usize, part: &(dyn Fn(usize) + Sync)) {
    let Place { crew, member, within } = place();
    let team = crew.team();
    let helpers = most.min(team.size).saturating_sub(1);
    let own = |within| {
        let _entered = Entered::new(Place { crew: crew.clone(), member, within });
        part(member);
    };
    let (mut since, mut spins) = (None::<std::time::Instant>, 0);
    let helps = |slot| {
        if help(&crew, member, slot) {
            since = None;
            return true;
        }
        // True while this thread spins: the caller then checks again.
        for _ in 0..16 {
            std::hint::spin_loop();
        }
        spins += 1;
        spins % 16 != 0 || since.get_or_insert_with(std::time::Instant::now).elapsed() < pool::SPIN
    };
    team.arena.run((part, within, helpers), || crew.wake(), own, helps);
}
