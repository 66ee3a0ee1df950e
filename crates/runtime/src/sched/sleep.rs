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
//! another one searches ([`Sleep::wake_worker`]). Where only the workers of a pool can, one of these is
//! ([`Sleep::wake_in`]).
//!
//! **The last active thread.** The waker counts the thread that it wakes, before that thread runs. So a thread that
//! brings `active` to 0 knows that nothing changes until it acts, and examines the graph with no other thread active,
//! under the mutex ([`quiesce`](crate::liveness::quiesce)).
//!
//! | more on | in |
//! |---|---|
//! | the looker, a sleeping worker that looks at the activations under way | [`looker`] |
//! | the width and the limit: how many workers are to be awake | [`bounds`] |
//! | workers that serve one node each | [`pools`] |
//!
//! # Dedicated threads
//!
//! Such a thread sleeps for one node only. The node's flag `dozing` takes the place of the announcement; changers read
//! it for dedicated neighbours ([`dedicated`](crate::sched::dedicated)). `waiting`, under the mutex, says only whether
//! the waker must count the thread active: one that is rung before it waits is active already.

pub(crate) mod bounds;
pub(crate) mod looker;
pub(crate) mod pools;

pub(crate) use looker::NextLook;

use crate::sched::look::LOOK;
use crate::sync::{AtomicUsize, CachePadded, Condvar, Mutex, MutexGuard, Ordering, fence, lock};
use crate::threads::Roster;
use bounds::NO_LIMIT;
use looker::REST;
use pools::Pools;
use std::sync::OnceLock;
use std::time::Duration;

/// Bit 0 of `word`: a woken worker searches for work.
const SEARCHING: usize = 1;
/// Bit 1 of `word`: a sleeping worker looks at the activations under way from time to time.
const WATCHED: usize = 2;
/// Bit 2 of `word`: as many workers are awake as the run's width or limit, or more.
const FULL: usize = 4;
/// Bit 3 of `word`: more workers are awake than the run's width or limit.
const EXCESS: usize = 8;
/// The unit of the other bits of `word`: one announced worker.
const SLEEPER: usize = 16;

/// Whether the workers that are awake suffice, by the bits of `word`: one searches, or as many are awake as the run's width,
/// and a looker watches them.
#[inline]
fn is_enough(word: usize) -> bool {
    word & SEARCHING != 0 || word & (FULL | WATCHED) == FULL | WATCHED
}

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
    /// Maximum number of them that are awake, without those excused.
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
    /// Present if each worker serves one node.
    pools: OnceLock<Pools>,
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
            }),
            bells: (0..threads).map(|_| Condvar::new()).collect(),
            pools: OnceLock::new(),
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
            self.pools().inspect(|pools| pools.add(worker));
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
            self.found(worker);
        }
        self.word.fetch_add(SLEEPER, Ordering::Relaxed);
        self.pools().inspect(|pools| pools.add(worker));
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
        self.pools().inspect(|pools| pools.remove(worker));
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
            state.resting &= next.waiting == Some(awake);
            pause = if state.resting { REST } else { next.pause };
        }
    }

    /// Counts a worker that was taken off the list, and that the caller rings.
    fn count_rung(&self, state: &mut State, worker: Sleeper) {
        state.rung[worker] = true;
        state.active += 1;
        self.word.fetch_sub(SLEEPER, Ordering::Relaxed);
        self.word.fetch_or(SEARCHING, Ordering::Relaxed);
        if let Some(pools) = self.pools() {
            pools.remove(worker);
            pools.begin_search(worker);
        }
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

    /// A model has no clock: a timeout passes as often as [`Sleep::pass_time`] says, and only the looker's. No model rests.
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
        while !state.rung[sleeper] && !state.over && (was_looker || state.looker != Some(sleeper)) {
            timed_out = was_looker && state.looks > 0;
            if timed_out {
                state.looks -= 1;
                break;
            }
            state = self.bells[sleeper].wait(state).unwrap();
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
        let looker = state.looker;
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
    pub(crate) fn found(&self, worker: Sleeper) {
        self.word.fetch_and(!SEARCHING, Ordering::Relaxed);
        self.pools().inspect(|pools| pools.end_search(worker));
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
