//! The looker: a sleeping worker that looks at the activations under way.
//!
//! While a worker sleeps and another one is awake, one sleeping worker is the *looker*: its wait has a timeout, after
//! which it looks at the activations under way ([`look`](crate::sched::look)), and then sleeps again. While it looks it is
//! announced and counted active, as in the states of [`sleep`](super): it changes counters, so the graph is not at rest.
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

use super::{SLEEPER, Sleep, Sleeper, State, WATCHED};
use crate::sync::{MutexGuard, Ordering, lock};
use std::time::Duration;

/// The time between two looks of a looker that rests. The protocol needs none.
pub(super) const REST: Duration = Duration::from_secs(1);

/// When the looker looks again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NextLook {
    /// The time until then.
    pub(crate) pause: Duration,
    /// The workers that wait in long firings of roaming sources, if no other activation is under way, and has been for some
    /// looks. If no other worker is awake, the looker rests.
    pub(crate) waiting: Option<usize>,
}

impl Sleep {
    /// Whether a worker is announced and none is the looker: then a worker that is awake publishes after each firing.
    #[inline]
    pub(crate) fn is_unwatched(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word >= SLEEPER && word & WATCHED == 0
    }

    /// The worker that sleeps is awake again, without a waker: it counts itself, leaves the list, and hands on the role of
    /// the looker if it has it. Releases the mutex.
    pub(super) fn rise(&self, mut state: MutexGuard<'_, State>, worker: Sleeper) {
        state.active += 1;
        state.asleep.retain(|w| *w != worker);
        self.word.fetch_sub(SLEEPER, Ordering::Relaxed);
        self.pools().inspect(|pools| pools.remove(worker));
        self.compare(&mut state);
        let next = self.vacate(&mut state, worker);
        drop(state);
        self.notify(next);
    }

    /// If the worker, which does not sleep any more, was the looker, appoints another seated worker that sleeps. The caller
    /// notifies that one, after it has released the mutex.
    pub(super) fn vacate(&self, state: &mut State, worker: Sleeper) -> Option<Sleeper> {
        if state.looker != Some(worker) {
            return None;
        }
        let next = Self::seated(state).filter(|_| !state.over);
        self.set_looker(state, next);
        next
    }

    /// Wakes the worker that was appointed, so that its wait gets a timeout.
    pub(super) fn notify(&self, appointed: Option<Sleeper>) {
        if let Some(worker) = appointed {
            self.bells[worker].notify_one();
        }
    }

    /// Changes the looker.
    pub(super) fn set_looker(&self, state: &mut State, looker: Option<Sleeper>) {
        state.looker = looker;
        match looker {
            Some(_) => self.word.fetch_or(WATCHED, Ordering::Relaxed),
            None => self.word.fetch_and(!WATCHED, Ordering::Relaxed),
        };
    }

    /// Wakes the looker if it rests. The caller has changed what its latest look has found.
    pub(super) fn end_rest(&self, state: &mut State) {
        if std::mem::take(&mut state.resting) {
            self.notify(state.looker);
        }
    }

    /// Makes the worker, which is about to sleep, the looker, if there is none and another worker is awake.
    pub(super) fn fill_role(&self, state: &mut State, worker: Sleeper) {
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
    pub(super) fn summon_looker(&self, mut state: MutexGuard<'_, State>) {
        let Some(at) = state.asleep.iter().rposition(|w| state.unseated[*w]) else { return };
        let worker = state.asleep.remove(at);
        self.count_rung(&mut state, worker);
        self.ring(worker, state);
    }
}
