//! How members without work sleep, and how they are woken. The protocol is in [`super`].

use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering, fence, lock};

/// The members that sleep.
#[derive(Default)]
pub(super) struct Sleep {
    /// A copy of `State::asleep` that is read without the lock.
    asleep: AtomicUsize,
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Default)]
struct State {
    /// Members that are announced or asleep, and not rung.
    asleep: usize,
    /// Wake-ups that no member has taken yet.
    rung: usize,
    /// The run is over: no member sleeps any more.
    over: bool,
}

impl Sleep {
    /// Sleeps until a wake-up or the end of the run, unless `is_work_left` is true after the announcement.
    pub(super) fn sleep(&self, is_work_left: impl Fn() -> bool) {
        let mut state = lock(&self.state);
        if state.over {
            return;
        }
        state.asleep += 1;
        self.asleep.store(state.asleep, Ordering::Relaxed);
        // Pairs with the fence of `wake_one`: the sharer sees this announcement, or the check below sees its entries.
        fence(Ordering::SeqCst);
        if is_work_left() {
            state.asleep -= 1;
            self.asleep.store(state.asleep, Ordering::Relaxed);
            return;
        }
        while state.rung == 0 && !state.over {
            state = self.bell.wait(state).unwrap_or_else(|poison| poison.into_inner());
        }
        state.rung = state.rung.saturating_sub(1);
    }

    /// Wakes a member that sleeps, if there is one. Call it after entries were made visible.
    pub(super) fn wake_one(&self) {
        // Pairs with the fence of `sleep`.
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut state = lock(&self.state);
        if state.asleep > 0 {
            state.asleep -= 1;
            state.rung += 1;
            self.asleep.store(state.asleep, Ordering::Relaxed);
            drop(state);
            self.bell.notify_one();
        }
    }

    /// Wakes all members, for good.
    pub(super) fn end(&self) {
        lock(&self.state).over = true;
        self.bell.notify_all();
    }
}
