//! How many workers are to be awake: the width and the limit.
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
//! (`Looker::excuse`).

use super::{EXCESS, FULL, Sleep, Sleeper, State};
use crate::sync::{Ordering, fence, lock};

/// The width of a run that uses all the workers that it may.
pub(super) const NO_LIMIT: usize = usize::MAX;

impl State {
    /// The workers awake, without those excused.
    fn general(&self) -> usize {
        self.workers.saturating_sub(self.asleep.len() + self.excused)
    }
}

impl Sleep {
    /// Compares the workers awake with the width and the limit. The caller has changed one of these, under the mutex.
    pub(super) fn compare(&self, state: &mut State) {
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

    /// Sets the number of workers that are to be awake at a time, at least 1; all of them are no limit. Wakes one, if fewer
    /// are; that one wakes the next if there is more work.
    pub(crate) fn set_width(&self, width: usize) {
        let mut state = lock(&self.state);
        let width = if width < state.workers.min(state.limit) { width.max(1) } else { NO_LIMIT };
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
    /// number is, if it is `beyond` the limit. `searching` is as in [`Sleep::announce`]. The caller then commits, without a
    /// check for work: see the module.
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
}
