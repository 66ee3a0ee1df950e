//! A thread as a member of a team: its place, the jobs that it opens, and those that it joins.

use super::counted::Purpose;
use super::join::Hidden;
use super::lending::{Lending, More, Part, Recall, Slots};
use super::{Team, pool};
use crate::net::Signals;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The threads of a team, and how they are woken.
#[derive(Clone)]
pub(super) enum Crew {
    /// The workers of a run.
    Run(Arc<Signals>),
    /// Threads of the pool.
    Pool,
}

impl Crew {
    pub(super) fn team(&self) -> &Team {
        match self {
            Crew::Run(signals) => &signals.team,
            Crew::Pool => pool::team(),
        }
    }

    /// Wakes a member, or relies on one that is awake. The caller has fenced since it opened a job.
    fn wake(&self) {
        match self {
            Crew::Run(signals) => {
                signals.sleep.widen();
                if signals.sleep.wants_waking() {
                    signals.sleep.wake_one();
                }
            }
            Crew::Pool => pool::wake(),
        }
    }
}

/// This thread's place in a team.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) crew: Crew,
    pub(super) member: usize,
    /// The jobs that this thread is in.
    pub(super) within: Slots,
    /// Of these the innermost one; empty if it has no slot.
    job: Slots,
    /// What jobs that it calls count for.
    pub(super) purpose: Purpose,
}

impl Place {
    /// That of a thread in no run, and of one that ends.
    const OUTSIDE: Place = Place::new(Crew::Pool, 0);

    const fn new(crew: Crew, member: usize) -> Place {
        Place { crew, member, within: 0, job: 0, purpose: Purpose { tally: None, node: None } }
    }
}

thread_local! {
    static PLACE: RefCell<Place> = const { RefCell::new(Place::OUTSIDE) };

    /// The number of `Deeper` on this thread's stack.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The identity of this thread, which is the address of one of its thread-local variables, and the number of loops, jobs and
/// runs that it is in. A process uses its ends only at the depth at which it is polled: other threads may run what lies
/// deeper, and a coroutine must not leave it unfinished.
///
/// Both from one variable, since each operation of a process needs both: from two, it took 0.3 ns more.
#[inline]
pub(crate) fn thread_and_depth() -> (usize, usize) {
    DEPTH.with(|depth| (std::ptr::from_ref(depth).addr(), depth.get()))
}

/// Counts a loop, a job or a run that this thread is in.
struct Deeper;

impl Deeper {
    fn new() -> Deeper {
        DEPTH.set(DEPTH.get() + 1);
        Deeper
    }
}

impl Drop for Deeper {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Calls `part`, which is a loop's with one member: a coroutine must not wait in it, as in any other.
pub(crate) fn alone(part: impl FnOnce()) {
    let _deeper = Deeper::new();
    part();
}

/// Sets this thread's place until it is dropped. The job is no session of joins, unless it becomes one inside.
struct Entered(Option<Place>, Deeper, #[expect(dead_code, reason = "dropped")] Hidden);

impl Entered {
    fn new(place: Place) -> Entered {
        Entered(PLACE.try_with(|own| own.replace(place)).ok(), Deeper::new(), Hidden::new())
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            // A thread that ends has no place any more.
            _ = PLACE.try_with(|own| own.replace(before));
        }
    }
}

/// What `read` returns for this thread's place.
pub(super) fn place<R>(read: impl Fn(&Place) -> R) -> R {
    PLACE.try_with(|own| read(&own.borrow())).unwrap_or_else(|_| read(&Place::OUTSIDE))
}

/// Changes this thread's place.
pub(super) fn with_place(change: impl FnOnce(&mut Place)) {
    // A thread that ends has no place any more.
    _ = PLACE.try_with(|own| change(&mut own.borrow_mut()));
}

/// Calls `work` as the worker of a run: [`parallel`] in it addresses the run's workers.
pub(crate) fn as_worker<R>(signals: &Arc<Signals>, worker: usize, work: impl FnOnce() -> R) -> R {
    let _entered = Entered::new(Place::new(Crew::Run(signals.clone()), worker));
    work()
}

/// Joins a job of a run's workers, if one is open, until it has no work or `recall` says that the run has other work for the
/// worker. Returns whether there was a job.
pub(crate) fn help_run(signals: &Arc<Signals>, worker: usize, recall: &dyn Fn() -> bool) -> bool {
    if !signals.team.arena.any() {
        return false;
    }
    let crew = Crew::Run(signals.clone());
    let joined = help(&crew, worker, 0, Recall::by(recall));
    if signals.team.arena.any() {
        crew.wake(); // for the work that this worker has left
    }
    joined
}

/// Joins a job whose ancestors include one of `within`, or any job. Wakes a further member before, since this one may take
/// long.
fn help(crew: &Crew, member: usize, within: Slots, recall: Recall<'_>) -> bool {
    join(crew, (member, within, recall), || crew.wake())
}

/// Joins a job like [`help`], and calls `joined` before the job's part.
pub(super) fn join(
    crew: &Crew,
    (member, within, recall): (usize, Slots, Recall<'_>),
    joined: impl FnOnce(),
) -> bool {
    crew.team().arena.help(member, within, recall, |within, job, call| {
        joined();
        let _entered = Entered::new(Place { within, job, ..Place::new(crew.clone(), member) });
        call();
    })
}

/// Joins a job that was opened inside of this thread's innermost job, if there is one.
pub(super) fn help_inside() -> bool {
    let Place { crew, member, job, .. } = place(Clone::clone);
    job != 0 && crew.team().arena.any() && help(&crew, member, job, Recall::NEVER)
}

/// The number of threads that [`parallel`] may use here: in a firing the workers of the run, otherwise the cores that the
/// process may use, as at the first call.
///
/// ```
/// assert!(thalweg_runtime::team_size() >= 1);
/// ```
pub fn team_size() -> usize {
    place(|own| own.crew.team().size)
}

/// The memory domains of the members of this thread's team, by number, if [`Options::domains`](crate::Options::domains) of
/// the run describes them.
///
/// ```
/// assert_eq!(thalweg_runtime::team_domains(), None); // in no run
/// ```
pub fn team_domains() -> Option<Arc<[usize]>> {
    place(|own| own.crew.team().domains.clone())
}

/// This thread's number in its team.
pub(crate) fn member() -> usize {
    place(|own| own.member)
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
pub fn parallel(most: usize, part: &(dyn Fn(usize) + Sync)) {
    parallel_while(most, part, &|| false);
}

/// Like [`parallel`], for work that shrinks and grows: `part` returns when it finds nothing to do, though other calls go on,
/// and its thread leaves. Once a call has returned no thread begins, until a call makes work visible and then calls
/// [`call_members`]. The caller's thread waits meanwhile, and is one of those that begin again. The job is over when no
/// thread is in `part`.
///
/// `more` says whether work is visible that another thread could begin. It is called after each return of `part`, and with
/// `true` `part` is called again on the same thread: so none leaves just as work appears. `more` does not panic.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// // Each item up to 9 is followed by two more, which any member takes.
/// let (items, done) = (std::sync::Mutex::new(vec![0]), AtomicU64::new(0));
/// let take = || items.lock().unwrap().pop();
/// let part = |_member| {
///     while let Some(item) = take() {
///         done.fetch_add(1, Relaxed);
///         if item < 9 {
///             items.lock().unwrap().extend([item + 1, item + 1]);
///             thalweg_runtime::call_members();
///         }
///     }
/// };
/// thalweg_runtime::parallel_while(usize::MAX, &part, &|| !items.lock().unwrap().is_empty());
/// assert_eq!(done.into_inner(), 1023);
/// ```
///
/// # Panics
/// As [`parallel`].
pub fn parallel_while(most: usize, part: &(dyn Fn(usize) + Sync), more: &(dyn Fn() -> bool + Sync)) {
    let work = Work { most, part: &|member, _| part(member), more };
    lend(&place(Clone::clone), work, part);
}

/// A job that a thread opens: the arguments of [`parallel_while`], with a part that helpers may leave early.
pub(super) struct Work<'j> {
    pub(super) most: usize,
    pub(super) part: &'j Part<'j>,
    pub(super) more: &'j More<'j>,
}

/// Like [`parallel_while`], called by a thread with this place; it calls `own` in place of the helpers' part.
pub(super) fn lend(caller: &Place, Work { most, part, more }: Work<'_>, own: impl Fn(usize)) {
    let Place { crew, member, within, .. } = caller;
    let (member, within, team) = (*member, *within, crew.team());
    let lending = Lending { part, more, ancestors: within, most: most.min(team.size).saturating_sub(1) };
    let own = |within, job| {
        let _entered = Entered::new(Place { within, job, ..caller.clone() });
        own(member);
    };
    let (mut since, mut spins) = (None::<std::time::Instant>, 0);
    let helps = |slot| {
        if help(crew, member, slot, Recall::NEVER) {
            since = None;
            return true;
        }
        // True while this thread spins: the caller then checks again.
        std::hint::spin_loop();
        spins += 1;
        spins % 256 != 0 || since.get_or_insert_with(std::time::Instant::now).elapsed() < pool::SPIN
    };
    team.arena.run(lending, || crew.wake(), own, helps);
}

/// Lets further threads begin the innermost job that this thread is in: see [`parallel_while`]. Call it after work was made
/// visible. Without effect outside of a job, or if threads may begin anyway.
pub fn call_members() {
    place(|own| {
        if own.job != 0 && own.crew.team().arena.ask(own.job) {
            own.crew.wake();
        }
    });
}
