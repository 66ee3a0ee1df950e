//! How threads sleep and wake, and how the last one awake is found.
//!
//! # Protocol
//!
//! A worker finds work in the graph's counters (`Net::claimable`) or, where the policy is notified, in queues
//! ([`ready`](crate::sched::ready)); a push is then the change. A wake-up is lost only if a thread goes to sleep after a
//! look that missed a change, and the thread that made the change missed the sleeper. The two sides mirror each other:
//!
//! ```text
//!   sleeper (worker)                         changer (publishes, releases, unclaims, ends)
//!   1. announce: sleeping += 1               1. change a counter
//!   2. fence(SeqCst)                         2. fence(SeqCst)
//!   3. look at every node                    3. read `word`
//!   4. commit: wait for a bell, or           4. if a sleeper is announced and a neighbour of the
//!      withdraw the announcement                change is claimable: ring one bell
//! ```
//!
//! If the changer's read (3) misses the announcement (1), its fence comes before the sleeper's in
//! the order of fences, so the sleeper's look (3) sees the change. A wake-up is a flag under the
//! mutex, so one between announcement and commit is not lost.
//!
//! **One at a time.** A woken worker is `searching` until it has found work or announced sleep again, and no worker
//! is woken while another searches. A changer may rely on the searching worker: that worker's announcement clears
//! `searching` before its fence, so its look comes after the changer's fence. A searching worker that finds work
//! calls `make_ready::share`, which wakes the next one if there is more.
//!
//! Where only one worker can do the work (a pinned node, a node assigned to a worker), that worker is woken whether
//! another searches or not ([`Sleep::wake_worker`]).
//!
//! **The last one.** `active` counts, under the mutex, the threads that may change anything: workers not committed to
//! sleep, dedicated threads and outside ends not waiting. The waker adds the thread it wakes. So a thread that brings
//! the count to 0 knows that nothing changes until it acts, and examines the graph alone
//! ([`quiesce`](crate::liveness::quiesce)).
//!
//! **Workers without a thread.** All workers but the caller's begin *unseated*: announced and committed, as if they had
//! gone to sleep before the run began, but without a thread. A changer acts as always: it takes the worker off the list
//! and counts it active. Then, instead of waking a thread, it *summons* one from the pool ([`Roster`]), which becomes
//! the worker when it arrives ([`Sleep::arrive`]).
//!
//! | worker is | in `asleep` | counted active | entered by | left by |
//! |---|---|---|---|---|
//! | unseated | yes | no | caller, `begin_unseated` | a waker (summoned) |
//! | summoned | no | yes, by the waker | a waker, under the mutex | the thread that arrives: awake, searching |
//! | awake | no | yes | arrival, ring, withdrawal | `announce` |
//! | announced | yes | yes | itself | itself, or a waker: rung |
//! | asleep | yes | no | itself, `commit` | a waker: rung; itself at the timeout and at the end |
//!
//! No unseated worker has looked at the graph, so the caller must be active, or wake one, after
//! `begin_unseated`: an active worker looks before it sleeps. A worker that is never summoned is never active,
//! and nothing waits for it. Nor does a run that ends while a worker is summoned: the roster revokes the call.
//!
//! **Dedicated threads.** Such a thread sleeps for one node only. The node's flag `dozing` takes the place of the
//! announcement; changers read it for dedicated neighbours. (`waiting`, under the mutex, says only whether the waker
//! must count the thread active.)

use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, fence, lock};
use crate::threads::Roster;
use crossbeam_utils::CachePadded;

/// Bit 0 of the word: a woken worker is looking for work. The rest: workers announced asleep.
const SEARCHING: usize = 1;
const SLEEPER: usize = 2;

/// A sleeper: a worker, or a dedicated thread with a higher number.
pub(crate) type Sleeper = usize;

#[derive(Debug)]
struct State {
    active: usize,
    /// Workers announced or asleep, the latest last: it has the warmest cache.
    asleep: Vec<Sleeper>,
    /// Rung and not yet answered, by sleeper.
    rung: Vec<bool>,
    /// Waiting, for dedicated threads.
    waiting: Vec<bool>,
    /// Asleep without a thread, for workers.
    unseated: Vec<bool>,
    /// Waits on its bell.
    parked: Vec<bool>,
    over: bool,
}

/// The parking place of all threads of a run.
#[derive(Debug)]
pub(crate) struct Sleep {
    word: CachePadded<AtomicUsize>,
    state: Mutex<State>,
    bells: Vec<Condvar>,
    /// Where threads are summoned for workers that have none.
    pub(crate) roster: Roster,
}

/// Why a thread that slept is awake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParkOutcome {
    /// Another thread woke it: it is searching, and counted active.
    Rung,
    /// The timeout is over.
    TimedOut,
    /// This thread was the last one awake, and its examination has made a node claimable.
    Resumed,
    /// The run is over.
    Over,
}

impl Sleep {
    /// For `threads` sleepers, all of them active.
    pub(crate) fn new(threads: usize) -> Sleep {
        Sleep {
            word: CachePadded::new(AtomicUsize::new(0)),
            state: Mutex::new(State {
                active: threads,
                asleep: Vec::new(),
                rung: vec![false; threads],
                waiting: vec![false; threads],
                unseated: vec![false; threads],
                parked: vec![false; threads],
                over: false,
            }),
            bells: (0..threads).map(|_| Condvar::new()).collect(),
            roster: Roster::default(),
        }
    }

    /// These workers begin asleep, without threads; the first is woken first. While the roster is open.
    pub(crate) fn begin_unseated(&self, workers: std::ops::Range<Sleeper>) {
        let mut state = lock(&self.state);
        state.active -= workers.len();
        self.word.fetch_add(SLEEPER * workers.len(), Ordering::Relaxed);
        for worker in workers.rev() {
            state.asleep.push(worker);
            state.unseated[worker] = true;
        }
        drop(state);
        fence(Ordering::SeqCst); // as in `announce`
    }

    /// A thread has come for a worker that was summoned, which is searching from now on.
    pub(crate) fn arrive(&self, worker: Sleeper) {
        lock(&self.state).rung[worker] = false;
    }

    /// Rings a sleeper that was counted active, or summons a thread for it.
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

    /// Whether some worker is announced asleep. After the change's fence; see the protocol.
    #[inline]
    pub(crate) fn any_asleep(&self) -> bool {
        self.word.load(Ordering::Relaxed) >= SLEEPER
    }

    /// Whether a worker sleeps and none searches, so that waking one makes a difference.
    #[inline]
    pub(crate) fn wants_waking(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word >= SLEEPER && word & SEARCHING == 0
    }

    /// Step 1 and 2 of a worker's going to sleep. `searching` says whether it had been woken and
    /// has found nothing.
    pub(crate) fn announce(&self, worker: Sleeper, searching: bool) {
        let mut state = lock(&self.state);
        state.asleep.push(worker);
        if searching {
            self.word.fetch_and(!SEARCHING, Ordering::Relaxed);
        }
        self.word.fetch_add(SLEEPER, Ordering::Relaxed);
        drop(state);
        fence(Ordering::SeqCst); // pairs with the changers' fence in `Net::changed`
    }

    /// Step 4, having found work: true if the worker was rung meanwhile and so is searching.
    pub(crate) fn withdraw(&self, worker: Sleeper) -> bool {
        let mut state = lock(&self.state);
        if std::mem::take(&mut state.rung[worker]) {
            // The waker counted it active a second time and took it off the list.
            state.active -= 1;
            return true;
        }
        state.asleep.retain(|w| *w != worker);
        self.word.fetch_sub(SLEEPER, Ordering::Relaxed);
        false
    }

    /// Step 4, having found none. `last` is called, under the lock, by a thread that leaves none
    /// active; if it returns true there is something to do after all.
    pub(crate) fn commit(
        &self,
        worker: Sleeper,
        timeout: Option<std::time::Duration>,
        last: impl FnOnce() -> bool,
    ) -> ParkOutcome {
        let mut state = lock(&self.state);
        state.active -= 1;
        if state.active == 0 && !state.rung[worker] && !state.over && last() {
            state.active += 1;
            state.asleep.retain(|w| *w != worker);
            self.word.fetch_sub(SLEEPER, Ordering::Relaxed);
            return if state.over { ParkOutcome::Over } else { ParkOutcome::Resumed };
        }
        let (mut state, timed_out) = self.wait(worker, state, timeout);
        if std::mem::take(&mut state.rung[worker]) {
            return ParkOutcome::Rung;
        }
        state.active += 1;
        state.asleep.retain(|w| *w != worker);
        self.word.fetch_sub(SLEEPER, Ordering::Relaxed);
        if timed_out { ParkOutcome::TimedOut } else { ParkOutcome::Over }
    }

    #[cfg(not(loom))]
    fn wait<'a>(
        &self,
        sleeper: Sleeper,
        mut state: MutexGuard<'a, State>,
        timeout: Option<std::time::Duration>,
    ) -> (MutexGuard<'a, State>, bool) {
        let mut timed_out = false;
        state.parked[sleeper] = true;
        while !state.rung[sleeper] && !state.over && !timed_out {
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

    #[cfg(loom)]
    fn wait<'a>(
        &self,
        sleeper: Sleeper,
        mut state: MutexGuard<'a, State>,
        _timeout: Option<std::time::Duration>,
    ) -> (MutexGuard<'a, State>, bool) {
        state.parked[sleeper] = true;
        while !state.rung[sleeper] && !state.over {
            state = self.bells[sleeper].wait(state).unwrap();
        }
        state.parked[sleeper] = false;
        (state, false)
    }

    /// Wakes the worker that fell asleep last, unless one is searching already. True if it did.
    pub(crate) fn wake_one(&self) -> bool {
        let mut state = lock(&self.state);
        if self.word.load(Ordering::Relaxed) & SEARCHING != 0 || state.over {
            return false;
        }
        let Some(worker) = state.asleep.pop() else { return false };
        state.rung[worker] = true;
        state.active += 1;
        self.word.fetch_sub(SLEEPER - SEARCHING, Ordering::Relaxed);
        self.ring(worker, state);
        true
    }

    /// Wakes this worker, if it is announced asleep, though another may search: only this one can do the work. It then
    /// searches too. (The first of two searching workers to find work clears the mark of both, and one worker more than
    /// needed may be woken.)
    pub(crate) fn wake_worker(&self, worker: Sleeper) {
        let mut state = lock(&self.state);
        let at = state.asleep.iter().position(|asleep| *asleep == worker);
        let Some(at) = at.filter(|_| !state.over) else { return };
        state.asleep.remove(at);
        state.rung[worker] = true;
        state.active += 1;
        self.word.fetch_sub(SLEEPER, Ordering::Relaxed);
        self.word.fetch_or(SEARCHING, Ordering::Relaxed);
        self.ring(worker, state);
    }

    /// A searching worker has found work.
    pub(crate) fn found(&self) {
        self.word.fetch_and(!SEARCHING, Ordering::Relaxed);
    }

    /// A dedicated thread goes to sleep, having set its flag and found its node still waiting.
    /// `last` is as in [`Sleep::commit`].
    pub(crate) fn wait_dedicated(
        &self,
        sleeper: Sleeper,
        timeout: Option<std::time::Duration>,
        last: impl FnOnce() -> bool,
    ) -> ParkOutcome {
        let mut state = lock(&self.state);
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

    /// A dedicated thread sleeps for a while, or until it is rung, and counts as active meanwhile: what its node
    /// waits for may be there.
    pub(crate) fn nap(&self, sleeper: Sleeper, time: std::time::Duration) {
        let state = lock(&self.state);
        let mut state = self.wait(sleeper, state, Some(time)).0;
        state.rung[sleeper] = false;
    }

    /// Wakes a dedicated thread, or makes its next wait return at once.
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

    /// A thread leaves for good. True if it was the last one active and `last`, asked under the
    /// lock, has found that something can go on: then the caller must see to it.
    pub(crate) fn retire(&self, last: impl FnOnce() -> bool) -> bool {
        let mut state = lock(&self.state);
        state.active -= 1;
        state.active == 0 && !state.over && last()
    }

    /// The run is over: all threads wake, and none sleeps again.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.over = true;
        for (bell, parked) in self.bells.iter().zip(&state.parked) {
            if *parked {
                bell.notify_all();
            }
        }
    }

    /// Waits for the end of the run, in the place of a dedicated thread that has left.
    pub(crate) fn wait_for_end(&self, sleeper: Sleeper) {
        let mut state = lock(&self.state);
        while !state.over {
            state.rung[sleeper] = false;
            state = self.wait(sleeper, state, None).0;
        }
    }
}
