//! How threads sleep and wake, and how the last active thread is found.
//!
//! # States of a worker
//!
//! All workers but the caller's begin *unseated*: announced and committed, as if they had gone to sleep before the run
//! began, but without a thread. A changer wakes an unseated worker as any other: it removes the worker from the list
//! and counts it active. Then, instead of waking a thread, it *summons* one from the pool ([`Roster`]). That thread
//! becomes the worker when it arrives ([`Sleep::arrive`]).
//!
//! | worker is | in `asleep` | counted active | entered by | left by |
//! |---|---|---|---|---|
//! | unseated | yes | no | the caller, `begin_unseated` | a waker (summoned) |
//! | summoned | no | yes, by the waker | a waker, under the mutex | the thread that arrives (awake, searching) |
//! | awake | no | yes | arrival, a wake-up, `withdraw` | `announce` |
//! | announced | yes | yes | the worker, `announce` | the worker, `withdraw` or `commit`; a waker (rung) |
//! | asleep | yes | no | the worker, `commit` | a waker (rung); the worker, at the timeout and at the end of the run |
//! | rung | no | yes, by the waker | a waker, under the mutex | the worker, in `withdraw` or `commit` (awake, searching) |
//!
//! A worker that is rung between announcement and commit is counted twice until it has answered; `withdraw` and
//! `commit` subtract one.
//!
//! No unseated worker has checked the graph, so after `begin_unseated` the caller must be active, or wake one: an
//! active worker checks before it sleeps. A worker that is never summoned is never active, and nothing waits for it.
//! Nor does the end of a run wait for a worker that is summoned and has not arrived: the roster revokes the call.
//!
//! # Counters
//!
//! | field | written by | ordering | meaning |
//! |---|---|---|---|
//! | `word`, bits above 3 | every thread that changes `asleep`, under the mutex | `Relaxed`, with the fences below | the length of `asleep` |
//! | `word`, bit 0 | wakers and announcing workers, under the mutex; a worker that finds work | `Relaxed` | `SEARCHING`: a woken worker has not found work yet |
//! | `word`, bit 1 | every thread that changes `looker`, under the mutex | `Relaxed` | `WATCHED`: a sleeping worker is the looker |
//! | `word`, bits 2 and 3 | every thread that changes `asleep` or `width`, under the mutex | `Relaxed`, with the fences below | `FULL`, `EXCESS`: the workers awake, compared with the width |
//! | `active` | under the mutex | the mutex | threads that may change anything: workers that have not committed, dedicated threads and outside ends that do not wait |
//! | `rung`, `over` | under the mutex | the mutex | a wake-up, or the end of the run, that the sleeper has not answered |
//!
//! # The race
//!
//! A worker finds work in the graph's counters (`Net::claimable`) or, where the policy is notified, in queues
//! ([`ready`](crate::sched::ready)); then a push is the change. A wake-up is lost if a worker goes to sleep after a
//! check that missed a change, and the thread that made the change missed the sleeper. The two sides mirror each other:
//!
//! ```text
//!   sleeper (worker)                         changer (publishes, releases, unclaims, ends)
//!   1. announce: sleeping += 1               1. change a counter
//!   2. fence(SeqCst)                         2. fence(SeqCst)
//!   3. check every node                      3. read `word`
//!   4. commit: wait for a wake-up, or        4. if a sleeper is announced and a neighbour of the
//!      withdraw the announcement                change is claimable: wake one
//! ```
//!
//! # Why no wake-up is lost
//!
//! If the changer's read (3) misses the announcement (1), its fence comes before the sleeper's in the order of fences,
//! so the sleeper's check (3) sees the change. A wake-up is the flag `rung` under the mutex, so one between
//! announcement and commit is not lost.
//!
//! **One searching worker.** A woken worker is *searching* until it has found work or announced sleep again. While one
//! searches, [`Sleep::wake_one`] wakes no other: the changer relies on the searching worker. That worker's announcement
//! clears `SEARCHING` before its fence, so if the changer reads the bit as set, the worker's check comes after the
//! changer's fence and sees the change. A searching worker that finds work instead wakes the next one if there is more
//! (`make_ready::share`, `Worker::activate`).
//!
//! Where only one worker can do the work (a pinned node, a node assigned to a worker), that worker is woken even if
//! another one searches ([`Sleep::wake_worker`]).
//!
//! **The last active thread.** The waker counts the thread that it wakes, before that thread runs. So a thread that
//! brings `active` to 0 knows that nothing changes until it acts, and examines the graph with no other thread active,
//! under the mutex ([`quiesce`](crate::liveness::quiesce)).
//!
//! # The looker
//!
//! While a worker sleeps and another one is awake, one sleeping worker is the *looker*: its wait has a timeout, after
//! which it looks at the activations under way ([`look`](crate::sched::look)), and then sleeps again. While it looks it is
//! announced and counted active, as in the states above: it changes counters, so the graph is not at rest.
//!
//! | `looker` | `WATCHED` | entered by | left by |
//! |---|---|---|---|
//! | none | clear | the looker that is woken, ends its wait, or finds no worker awake, if no other seated worker sleeps | a worker that commits while another is awake; `watch` |
//! | a worker | set | that worker, in `commit`; the thread that hands the role on, or `watch`, which notify it | that worker |
//!
//! **Rest.** While all workers that are awake are in firings of [roaming sources](crate::sched::roaming) that wait for the outside
//! world, the looker has nothing to look at: each of these publishes when its firing ends. So it *rests*: its wait is long.
//! `resting`, under the mutex, is set before the look that finds nothing, and cleared by any thread that wakes or begins to
//! sleep, or ends such a firing ([`Sleep::resume`]) and may then begin another. If the flag is clear after the look, or
//! more workers are awake than the look has found in such firings, the looker does not rest; if it is cleared later, the thread
//! that clears it notifies the looker.
//!
//! [`Sleep::wake_one`] wakes the looker last of the seated workers. If the looker is woken, the waker hands the role to
//! another worker that sleeps: a seated one, or one that it summons.
//!
//! Invariant: if a worker is announced and `WATCHED` is clear, a worker that is awake publishes after each firing
//! ([`Sleep::is_unwatched`]), since no other thread would.
//!
//! # The width
//!
//! A run may use fewer workers than it has ([`width`](crate::sched::width)). While as many are awake and a looker watches them,
//! [`Sleep::wake_one`] wakes none, and a worker beyond the width *stands down*: it announces and commits without a check,
//! though there may be work.
//!
//! No wake-up is lost by that. A changer that reads `FULL` relies on the workers that are awake, at least one. The
//! announcement of any of them clears the bit, unless as many remain, before its fence; so the check that follows sees the
//! change. A worker stands down, under the mutex, only while more workers are awake than the width: another one, which is not
//! announced, remains, and checks before it sleeps. It may be the looker, as any sleeping worker.
//!
//! A width below the number of workers needs a looker, since all workers that are awake may be in long firings: the looker then
//! widens the run. So `FULL` keeps sleepers from being woken only while there is one. Otherwise the worker that is woken beyond
//! the width stands down, and becomes the looker.
//!
//! # The limit
//!
//! A run with [roaming sources](crate::sched::roaming) has more workers than threads that the caller has asked for, its
//! *limit*. Of the workers that are awake, those in long firings of these sources are *excused*, by the looker, and the others
//! are at most as many as the limit: `FULL` and `EXCESS` compare them with the limit, or the width if that is less.
//!
//! | worker is | counted | entered by | left by |
//! |---|---|---|---|
//! | general | yes | its first decision without `EXCESS` | sleep; the looker (excused) |
//! | excused | no | the looker, `excuse` | the end of the firing, `resume` (beyond) |
//! | beyond | yes | a wake-up; `resume` | the first decision without `EXCESS` (general); sleep, by `stand_down` |
//!
//! A worker beyond the limit fires roaming sources and nothing else. So at most `limit` workers fire other nodes, and where all
//! of these wait for a source, another one fires it: the looker, if the source has room again and its producer sleeps
//! (`Looker::attend`).
//!
//! # Dedicated threads
//!
//! Such a thread sleeps for one node only. The node's flag `dozing` takes the place of the announcement; changers read
//! it for dedicated neighbours ([`dedicated`](crate::sched::dedicated)). `waiting`, under the mutex, says only whether
//! the waker must count the thread active: one that is rung before it waits is active already.

use crate::sched::look::LOOK;
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, fence, lock};
use crate::threads::Roster;
use crossbeam_utils::CachePadded;
use std::time::Duration;

/// Bit 0 of `word`: a woken worker searches for work.
const SEARCHING: usize = 1;
/// Bit 1 of `word`: a sleeping worker looks at the activations under way from time to time.
const WATCHED: usize = 2;
/// Bit 2 of `word`: as many workers are awake as the run's width, or more.
const FULL: usize = 4;
/// Bit 3 of `word`: more workers are awake than the run's width.
const EXCESS: usize = 8;
/// The unit of the other bits of `word`: one announced worker.
const SLEEPER: usize = 16;

/// Whether the workers that are awake suffice, by the bits of `word`: one searches, or as many are awake as the run's width,
/// and a looker watches them.
#[inline]
fn is_enough(word: usize) -> bool {
    word & SEARCHING != 0 || word & (FULL | WATCHED) == FULL | WATCHED
}

/// The time between two looks of a looker that rests. The protocol needs none.
const REST: Duration = Duration::from_secs(1);

/// When the looker looks again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextLook {
    /// After this time.
    After(Duration),
    /// The activations under way are firings of roaming sources, on `waiting` workers. If no other worker is awake, the looker
    /// rests; otherwise it looks again after `pause`.
    Rest { waiting: usize, pause: Duration },
}

/// The width of a run that uses all its workers.
const NO_LIMIT: usize = usize::MAX;

/// The number of a sleeper: a worker's, or a higher one for a dedicated thread or an end outside of the run.
pub(crate) type Sleeper = usize;

/// State under the mutex.
#[derive(Debug)]
struct State {
    /// Threads that may change anything.
    active: usize,
    /// Workers announced, asleep or unseated, the latest last: it has the warmest cache, so it is woken first.
    asleep: Vec<Sleeper>,
    /// By sleeper: it was woken and has not answered.
    rung: Vec<bool>,
    /// By sleeper, for dedicated threads: it waits and is not counted active.
    waiting: Vec<bool>,
    /// By sleeper, for workers: it is asleep and has no thread.
    unseated: Vec<bool>,
    /// By sleeper: its thread waits on its condition variable, so a wake-up must notify it.
    parked: Vec<bool>,
    /// The sleeping worker that looks at activations: see the module.
    looker: Option<Sleeper>,
    /// The looker rests, or is about to: see the module.
    resting: bool,
    /// The number of workers.
    workers: usize,
    /// The most of them that may be awake, without those excused.
    limit: usize,
    /// Workers that are awake, in long firings of roaming sources.
    excused: usize,
    /// The run was widened since `was_widened` was last asked.
    widened: bool,
    /// The run is over: no thread sleeps any more.
    over: bool,
    /// The number of times that the looker's wait still ends by its timeout.
    #[cfg(loom)]
    looks: usize,
    /// The looker waits, and rests.
    #[cfg(loom)]
    rests: bool,
}

/// The parking place of all threads of a run.
#[derive(Debug)]
pub(crate) struct Sleep {
    /// What changers read without the mutex. On a cache line of its own, since they read it after every change.
    word: CachePadded<AtomicUsize>,
    /// The number of workers that are to be awake at a time. Changed under the mutex; read without it as a hint.
    width: AtomicUsize,
    state: Mutex<State>,
    /// By sleeper: the condition variable that its thread waits on.
    bells: Vec<Condvar>,
    /// Summons threads for workers that have none.
    pub(crate) roster: Roster,
}

/// The reason for which a thread that slept is awake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParkOutcome {
    /// Another thread woke it: it is searching, and counted active.
    Rung,
    /// The timeout has passed.
    TimedOut,
    /// This thread was the last active one, and its examination has made a node claimable. It must make ready what the
    /// examination has changed.
    Resumed,
    /// The run is over.
    Over,
}

impl State {
    /// The workers awake, without those excused.
    fn general(&self) -> usize {
        self.workers.saturating_sub(self.asleep.len() + self.excused)
    }
}

impl Sleep {
    /// For `threads` sleepers, all of them active.
    pub(crate) fn new(threads: usize) -> Sleep {
        Sleep {
            word: CachePadded::new(AtomicUsize::new(0)),
            width: AtomicUsize::new(NO_LIMIT),
            state: Mutex::new(State {
                active: threads,
                asleep: Vec::new(),
                rung: vec![false; threads],
                waiting: vec![false; threads],
                unseated: vec![false; threads],
                parked: vec![false; threads],
                looker: None,
                resting: false,
                workers: 0,
                limit: usize::MAX,
                excused: 0,
                widened: false,
                over: false,
                #[cfg(loom)]
                looks: 0,
                #[cfg(loom)]
                rests: false,
            }),
            bells: (0..threads).map(|_| Condvar::new()).collect(),
            roster: Roster::default(),
        }
    }

    /// Makes these workers unseated; the first is woken first. The roster is open, and the workers have done nothing
    /// yet.
    pub(crate) fn begin_unseated(&self, workers: std::ops::Range<Sleeper>) {
        let mut state = lock(&self.state);
        state.workers = workers.end;
        state.active -= workers.len();
        self.word.fetch_add(SLEEPER * workers.len(), Ordering::Relaxed);
        for worker in workers.rev() {
            state.asleep.push(worker);
            state.unseated[worker] = true;
        }
        self.compare(&mut state);
        drop(state);
        fence(Ordering::SeqCst); // as in `announce`
    }

    /// Becomes a worker that was summoned. It is awake and searching from now on. Called by the thread that arrives.
    pub(crate) fn arrive(&self, worker: Sleeper) {
        lock(&self.state).rung[worker] = false;
    }

    /// Wakes a sleeper, or summons a thread for it. The caller has set `rung` and counted it active. The system calls
    /// follow the unlock, since the woken thread takes the lock first.
    fn ring(&self, sleeper: Sleeper, mut state: MutexGuard<'_, State>) {
        let unseated = std::mem::take(&mut state.unseated[sleeper]);
        let parked = state.parked[sleeper];
        drop(state);
        if unseated {
            self.roster.summon(sleeper);
        } else if parked {
            self.bells[sleeper].notify_one();
        }
    }

    /// Whether a worker is announced. The caller has fenced since its change: step 3 of the changer.
    #[inline]
    pub(crate) fn any_asleep(&self) -> bool {
        self.word.load(Ordering::Relaxed) >= SLEEPER
    }

    /// The number of workers that are announced, asleep or unseated. A hint, for snapshots.
    pub(crate) fn asleep(&self) -> usize {
        self.word.load(Ordering::Relaxed) / SLEEPER
    }

    /// Whether a worker is announced, none searches, and the run is not at its width, so that [`Sleep::wake_one`] would wake
    /// one. The caller has fenced since its change.
    #[inline]
    pub(crate) fn wants_waking(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word >= SLEEPER && !is_enough(word)
    }

    /// Compares the workers awake with the width. The caller has changed either, under the mutex.
    fn compare(&self, state: &mut State) {
        self.end_rest(state);
        let (awake, most) = (state.general(), self.width().min(state.limit));
        let full = if awake >= most { FULL } else { 0 };
        let bits = full | if awake > most { EXCESS } else { 0 };
        if self.word.load(Ordering::Relaxed) & (FULL | EXCESS) != bits {
            self.word.fetch_and(!(FULL | EXCESS), Ordering::Relaxed);
            self.word.fetch_or(bits, Ordering::Relaxed);
        }
    }

    /// Bounds the workers that are awake, without those excused. Before the workers begin.
    pub(crate) fn set_limit(&self, limit: usize) {
        lock(&self.state).limit = limit;
    }

    /// Excuses a worker in a long firing of a roaming source, if `begin` returns true: another one may be awake in its place. A
    /// changer may have relied on that worker, so the caller then checks for work.
    pub(crate) fn excuse(&self, begin: impl FnOnce() -> bool) {
        let mut state = lock(&self.state);
        if begin() {
            state.excused += 1;
            self.compare(&mut state);
        }
        drop(state);
        fence(Ordering::SeqCst); // as in `announce`
    }

    /// The excused worker's firing has ended. The looker looks again soon.
    #[cold]
    pub(crate) fn resume(&self) {
        let mut state = lock(&self.state);
        state.excused -= 1;
        self.compare(&mut state);
    }

    fn end_rest(&self, state: &mut State) {
        if std::mem::take(&mut state.resting) {
            self.notify(state.looker);
        }
    }

    /// Sets the number of workers that are to be awake at a time, at least 1; all of them are no limit. Wakes one, if fewer are; that one wakes the next
    /// if there is more work.
    pub(crate) fn set_width(&self, width: usize) {
        let mut state = lock(&self.state);
        let width = if width < state.workers { width.max(1) } else { NO_LIMIT };
        let is_wider = self.width.swap(width, Ordering::Relaxed) < width;
        self.compare(&mut state);
        drop(state);
        if is_wider && self.wants_waking() {
            self.wake_one();
        }
    }

    /// Lets all workers be awake, until the next trial of the width.
    pub(crate) fn widen(&self) {
        if self.width() == NO_LIMIT {
            return;
        }
        let mut state = lock(&self.state);
        self.width.store(NO_LIMIT, Ordering::Relaxed);
        state.widened = true;
        self.compare(&mut state);
        drop(state);
        self.wake_one();
    }

    /// Whether the run was widened since the last call.
    pub(crate) fn was_widened(&self) -> bool {
        std::mem::take(&mut lock(&self.state).widened)
    }

    /// The number of workers that are to be awake at a time, or a greater one. Another thread may be changing it.
    #[inline]
    pub(crate) fn width(&self) -> usize {
        self.width.load(Ordering::Relaxed)
    }

    /// Whether more workers are awake than the run's width.
    #[inline]
    pub(crate) fn has_excess(&self) -> bool {
        self.word.load(Ordering::Relaxed) & EXCESS != 0
    }

    /// Announces a worker whose number is beyond the width, if more workers are awake; false, without an effect, if not. By its
    /// number, so that the caller's thread, which is worker 0, goes on with the data that is in its caches; or whatever its
    /// number is, if it is `beyond` the limit. `searching` is as in
    /// [`Sleep::announce`]. The caller then commits, without a check for work: see the module.
    pub(crate) fn stand_down(&self, worker: Sleeper, searching: bool, beyond: bool) -> bool {
        let state = lock(&self.state);
        let stands_down = !state.over
            && (beyond || worker >= self.width())
            && state.general() > self.width().min(state.limit);
        if stands_down {
            self.list(state, worker, searching);
        }
        stands_down
    }

    /// Whether a worker is announced and none is the looker: then a worker that is awake publishes after each firing.
    #[inline]
    pub(crate) fn is_unwatched(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word >= SLEEPER && word & WATCHED == 0
    }

    /// Steps 1 and 2 of a sleeper. `searching` says that the worker was woken and has found nothing. The caller then
    /// checks for work, and calls `withdraw` or `commit`.
    pub(crate) fn announce(&self, worker: Sleeper, searching: bool) {
        self.list(lock(&self.state), worker, searching);
        fence(Ordering::SeqCst); // pairs with the changers' fence in `make_ready::changed`
    }

    /// Puts a worker on the list of those that sleep. Releases the mutex.
    fn list(&self, mut state: MutexGuard<'_, State>, worker: Sleeper, searching: bool) {
        state.asleep.push(worker);
        // Before the fence of the caller: a changer that reads a bit as set relies on the check after the fence.
        if searching {
            self.word.fetch_and(!SEARCHING, Ordering::Relaxed);
        }
        self.word.fetch_add(SLEEPER, Ordering::Relaxed);
        self.compare(&mut state);
    }

    /// Step 4 of a sleeper that has found work. True if it was woken meanwhile: then it is searching, as after a
    /// wake-up.
    pub(crate) fn withdraw(&self, worker: Sleeper) -> bool {
        let mut state = lock(&self.state);
        if std::mem::take(&mut state.rung[worker]) {
            // The waker counted it active a second time and took it off the list.
            state.active -= 1;
            return true;
        }
        state.asleep.retain(|w| *w != worker);
        self.word.fetch_sub(SLEEPER, Ordering::Relaxed);
        self.compare(&mut state);
        false
    }

    /// Step 4 of a sleeper that has found no work: sleeps until it is woken, the timeout passes, or the run is over.
    /// Meanwhile it may be the looker, and then calls `look` from time to time.
    ///
    /// A thread that leaves none active calls `last` first, under the mutex. If that returns true a node is claimable
    /// or the run is over, and the thread does not sleep. It must not lock, wake or wait.
    pub(crate) fn commit(
        &self,
        worker: Sleeper,
        timeout: Option<Duration>,
        last: impl Fn() -> bool,
        mut look: impl FnMut() -> NextLook,
    ) -> ParkOutcome {
        let mut left = timeout;
        let mut pause = LOOK;
        let mut state = lock(&self.state);
        state.active -= 1;
        loop {
            // A worker that was rung has been counted by its waker, so it is not the last active thread.
            if state.active == 0 && !state.rung[worker] && !state.over && last() {
                let is_over = state.over;
                self.rise(state, worker);
                return if is_over { ParkOutcome::Over } else { ParkOutcome::Resumed };
            }
            self.fill_role(&mut state, worker);
            let looks = state.looker == Some(worker);
            let wait = if looks { Some(left.map_or(pause, |left| left.min(pause))) } else { left };
            let timed_out;
            (state, timed_out) = self.wait(worker, state, wait);
            // The waker has counted the worker, and removed it from the list. Otherwise the worker does both itself.
            if std::mem::take(&mut state.rung[worker]) {
                return ParkOutcome::Rung;
            }
            let is_left = left.is_none_or(|left| wait.is_some_and(|wait| left > wait));
            if state.over || (timed_out && !is_left) {
                self.rise(state, worker);
                return if timed_out { ParkOutcome::TimedOut } else { ParkOutcome::Over };
            }
            if !timed_out {
                pause = LOOK; // it has got the role of the looker, or its rest is over
                continue;
            }
            left = left.zip(wait).map(|(left, wait)| left - wait);
            if state.looker == Some(worker) && state.workers == state.asleep.len() {
                // No worker is awake, so no activation is under way. `wait` has no timeout from here on.
                self.set_looker(&mut state, None);
                continue;
            }
            state.active += 1;
            state.resting = true;
            drop(state);
            let next = look();
            state = lock(&self.state);
            state.active -= 1; // also if it was rung meanwhile: the waker has counted it a second time
            let awake = state.workers - state.asleep.len();
            pause = match next {
                NextLook::After(pause) => pause,
                NextLook::Rest { waiting, .. } if state.resting && waiting == awake => REST,
                NextLook::Rest { pause, .. } => pause,
            };
            state.resting = pause == REST;
        }
    }

    /// The worker that sleeps is awake again, without a waker: it counts itself, leaves the list, and hands on the role of
    /// the looker if it has it. Releases the mutex.
    fn rise(&self, mut state: MutexGuard<'_, State>, worker: Sleeper) {
        state.active += 1;
        state.asleep.retain(|w| *w != worker);
        self.word.fetch_sub(SLEEPER, Ordering::Relaxed);
        self.compare(&mut state);
        let next = self.vacate(&mut state, worker);
        drop(state);
        self.notify(next);
    }

    /// If the worker, which does not sleep any more, was the looker, appoints another seated worker that sleeps. The caller
    /// notifies that one, after it has released the mutex.
    fn vacate(&self, state: &mut State, worker: Sleeper) -> Option<Sleeper> {
        if state.looker != Some(worker) {
            return None;
        }
        let next = Self::seated(state).filter(|_| !state.over);
        self.set_looker(state, next);
        next
    }

    /// Wakes the worker that was appointed, so that its wait gets a timeout.
    fn notify(&self, appointed: Option<Sleeper>) {
        if let Some(worker) = appointed {
            self.bells[worker].notify_one();
        }
    }

    /// Changes the looker.
    fn set_looker(&self, state: &mut State, looker: Option<Sleeper>) {
        state.looker = looker;
        match looker {
            Some(_) => self.word.fetch_or(WATCHED, Ordering::Relaxed),
            None => self.word.fetch_and(!WATCHED, Ordering::Relaxed),
        };
    }

    /// Makes the worker, which is about to sleep, the looker, if there is none and another worker is awake.
    fn fill_role(&self, state: &mut State, worker: Sleeper) {
        if state.looker.is_none() && !state.rung[worker] && state.workers > state.asleep.len() {
            self.set_looker(state, Some(worker));
        }
    }

    /// A seated worker that sleeps, other than the looker.
    fn seated(state: &State) -> Option<Sleeper> {
        let mut others = state.asleep.iter().copied();
        others.find(|w| state.parked[*w] && Some(*w) != state.looker)
    }

    /// Appoints a looker, if a worker is announced and none is it: a seated worker, or one that is summoned for it. For a
    /// worker that has found [`Sleep::is_unwatched`] often.
    pub(crate) fn watch(&self) {
        let mut state = lock(&self.state);
        if state.looker.is_some() || state.over {
            return;
        }
        let Some(worker) = Self::seated(&state) else { return self.summon_looker(state) };
        self.set_looker(&mut state, Some(worker));
        drop(state);
        self.notify(Some(worker));
    }

    /// Summons a worker without a thread, which finds no work and becomes the looker. Releases the mutex.
    fn summon_looker(&self, mut state: MutexGuard<'_, State>) {
        let Some(at) = state.asleep.iter().rposition(|w| state.unseated[*w]) else { return };
        let worker = state.asleep.remove(at);
        self.count_rung(&mut state, worker);
        self.ring(worker, state);
    }

    /// Counts a worker that was taken off the list, and that the caller rings.
    fn count_rung(&self, state: &mut State, worker: Sleeper) {
        state.rung[worker] = true;
        state.active += 1;
        self.word.fetch_sub(SLEEPER, Ordering::Relaxed);
        self.word.fetch_or(SEARCHING, Ordering::Relaxed);
        self.compare(state);
    }

    /// Waits, with the mutex released, until the sleeper is rung or appointed as the looker, the run is over, or the
    /// timeout has passed (true).
    #[cfg(not(loom))]
    fn wait<'a>(
        &self,
        sleeper: Sleeper,
        mut state: MutexGuard<'a, State>,
        timeout: Option<std::time::Duration>,
    ) -> (MutexGuard<'a, State>, bool) {
        let mut timed_out = false;
        state.parked[sleeper] = true;
        let was_looker = state.looker == Some(sleeper);
        let is_appointed = |state: &State| !was_looker && state.looker == Some(sleeper);
        let was_resting = was_looker && state.resting;
        let is_disturbed = |state: &State| was_resting && !state.resting;
        while !(state.rung[sleeper]
            || state.over
            || timed_out
            || is_appointed(&state)
            || is_disturbed(&state))
        {
            match timeout {
                Some(timeout) => {
                    let waited = self.bells[sleeper].wait_timeout(state, timeout);
                    let (after, waited) = waited.unwrap_or_else(|poison| poison.into_inner());
                    state = after;
                    timed_out = waited.timed_out();
                }
                None => state = self.bells[sleeper].wait(state).unwrap_or_else(|poison| poison.into_inner()),
            }
        }
        state.parked[sleeper] = false;
        (state, timed_out)
    }

    /// A model has no clock: a timeout passes as often as [`Sleep::pass_time`] says, and only that of a looker that does not rest.
    #[cfg(loom)]
    fn wait<'a>(
        &self,
        sleeper: Sleeper,
        mut state: MutexGuard<'a, State>,
        _timeout: Option<std::time::Duration>,
    ) -> (MutexGuard<'a, State>, bool) {
        let mut timed_out = false;
        state.parked[sleeper] = true;
        let was_looker = state.looker == Some(sleeper);
        let was_resting = was_looker && state.resting;
        while !state.rung[sleeper] && !state.over && (was_looker || state.looker != Some(sleeper)) {
            if was_resting && !state.resting {
                break;
            }
            timed_out = was_looker && !was_resting && state.looks > 0;
            if timed_out {
                state.looks -= 1;
                break;
            }
            state.rests |= was_resting;
            state = self.bells[sleeper].wait(state).unwrap();
            state.rests &= !was_resting;
        }
        state.parked[sleeper] = false;
        (state, timed_out)
    }

    /// The time of this number of looks passes: the looker's waits end by their timeouts from now on. A worker that becomes
    /// the looker later takes what is left.
    #[cfg(all(test, loom))]
    pub(crate) fn pass_time(&self, looks: usize) {
        let mut state = lock(&self.state);
        state.looks += looks;
        let looker = state.looker.filter(|_| !state.rests);
        drop(state);
        self.notify(looker);
    }

    /// Wakes the worker that announced sleep last, unless one searches already or the run is at its width. Of the seated
    /// workers the looker is the last to be woken. True if it woke one. Step 4 of a changer.
    pub(crate) fn wake_one(&self) -> bool {
        let state = lock(&self.state);
        if is_enough(self.word.load(Ordering::Relaxed)) || state.over {
            return false;
        }
        let Some(last) = state.asleep.last().copied() else { return false };
        let is_looker = state.looker == Some(last);
        let at = match is_looker.then(|| state.asleep.iter().rposition(|w| *w != last && state.parked[*w])) {
            Some(Some(at)) => at,
            _ => state.asleep.len() - 1,
        };
        self.wake_at(at, state);
        true
    }

    /// Wakes this worker, if it is announced, even if another one searches: only this one can do the work. It then
    /// searches too. The first of two searching workers that finds work clears the bit for both, so one worker more
    /// than needed may be woken.
    pub(crate) fn wake_worker(&self, worker: Sleeper) {
        let state = lock(&self.state);
        let at = state.asleep.iter().position(|asleep| *asleep == worker);
        let Some(at) = at.filter(|_| !state.over) else { return };
        self.wake_at(at, state);
    }

    /// Wakes the worker at a position of the list. Releases the mutex.
    fn wake_at(&self, at: usize, mut state: MutexGuard<'_, State>) {
        let worker = state.asleep.remove(at);
        self.count_rung(&mut state, worker);
        let was_looker = state.looker == Some(worker);
        let next = self.vacate(&mut state, worker);
        let summons = was_looker && next.is_none() && !state.asleep.is_empty();
        self.ring(worker, state);
        self.notify(next);
        if summons {
            self.watch();
        }
    }

    /// A searching worker has found work. It then wakes another one if there is more.
    pub(crate) fn found(&self) {
        self.word.fetch_and(!SEARCHING, Ordering::Relaxed);
    }

    /// Sleeps, for a dedicated thread, which has set its node's `dozing`, fenced, and found its node still waiting.
    /// `last` is as in [`Sleep::commit`].
    pub(crate) fn wait_dedicated(
        &self,
        sleeper: Sleeper,
        timeout: Option<std::time::Duration>,
        last: impl FnOnce() -> bool,
    ) -> ParkOutcome {
        let mut state = lock(&self.state);
        // Rung before it waited: the waker did not count the thread, which is active.
        if std::mem::take(&mut state.rung[sleeper]) {
            return ParkOutcome::Rung;
        }
        if state.over {
            return ParkOutcome::Over;
        }
        state.waiting[sleeper] = true;
        state.active -= 1;
        if state.active == 0 && last() {
            state.waiting[sleeper] = false;
            state.active += 1;
            return if state.over { ParkOutcome::Over } else { ParkOutcome::Resumed };
        }
        let (mut state, timed_out) = self.wait(sleeper, state, timeout);
        state.waiting[sleeper] = false;
        if std::mem::take(&mut state.rung[sleeper]) {
            return ParkOutcome::Rung;
        }
        state.active += 1;
        if timed_out { ParkOutcome::TimedOut } else { ParkOutcome::Over }
    }

    /// Sleeps for `time`, or until it is rung, for a dedicated thread. It counts as active meanwhile: what its node
    /// waits for may have come, so it must not be taken for waiting.
    pub(crate) fn nap(&self, sleeper: Sleeper, time: std::time::Duration) {
        let state = lock(&self.state);
        let mut state = self.wait(sleeper, state, Some(time)).0;
        state.rung[sleeper] = false;
    }

    /// Wakes a dedicated thread; if it does not wait, its next wait returns at once.
    pub(crate) fn wake_dedicated(&self, sleeper: Sleeper) {
        let mut state = lock(&self.state);
        if !state.rung[sleeper] {
            state.rung[sleeper] = true;
            if state.waiting[sleeper] {
                state.active += 1;
            }
            self.ring(sleeper, state);
        }
    }

    /// Ends the calling thread's part in the run; it is not active any more. True if it was the last active thread and
    /// `last`, called under the mutex, returned true: then the caller must make ready what the examination has changed.
    pub(crate) fn retire(&self, last: impl FnOnce() -> bool) -> bool {
        let mut state = lock(&self.state);
        state.active -= 1;
        state.active == 0 && !state.over && last()
    }

    /// Ends the run: all threads wake, and none sleeps again. The caller has set the stop flag.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.over = true;
        for (bell, parked) in self.bells.iter().zip(&state.parked) {
            if *parked {
                bell.notify_all();
            }
        }
    }

    /// Waits for the end of the run, with the number of a dedicated thread that has retired. It is not counted active,
    /// so it ignores wake-ups.
    pub(crate) fn wait_for_end(&self, sleeper: Sleeper) {
        let mut state = lock(&self.state);
        while !state.over {
            state.rung[sleeper] = false;
            state = self.wait(sleeper, state, None).0;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
