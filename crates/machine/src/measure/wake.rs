//! The wake-up of a thread that sleeps: two threads notify each other in turn.

use crate::system;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Builder, scope};
use std::time::Instant;

/// The side whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    First,
    Second,
    End,
}

struct Table {
    turn: Mutex<Turn>,
    changed: Condvar,
}

/// The most round trips: enough for a median.
const MOST: usize = 2000;

/// The median of the nanoseconds from a notification until the notified thread runs. Each thread is pinned to its CPU of
/// the pair if there is one and the system allows it. `None` if no thread can be started, or none runs in time.
pub(super) fn latency(pair: Option<(u32, u32)>, deadline: Instant) -> Option<f64> {
    let table = Table { turn: Mutex::new(Turn::Second), changed: Condvar::new() };
    scope(|threads| {
        let answering = || {
            pair.map(|(_, cpu)| system::pin(cpu));
            while table.wait(Turn::Second, deadline) {
                table.pass(Turn::First);
            }
        };
        Builder::new().spawn_scoped(threads, answering).ok()?;
        // A thread of its own, since the pin lasts as long as the thread.
        let asking = || {
            pair.map(|(cpu, _)| system::pin(cpu));
            table.ask(deadline)
        };
        let asking = Builder::new().spawn_scoped(threads, asking);
        if asking.is_err() {
            table.pass(Turn::End);
        }
        asking.ok()?.join().ok()?
    })
}

impl Table {
    /// Waits for a turn. `false` at the end.
    fn wait(&self, turn: Turn, deadline: Instant) -> bool {
        let now = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let left = deadline.saturating_duration_since(Instant::now());
        let waiting = |now: &mut Turn| *now != turn && *now != Turn::End;
        let woken = self.changed.wait_timeout_while(now, left, waiting);
        let (now, _) = woken.unwrap_or_else(PoisonError::into_inner);
        *now == turn && Instant::now() < deadline
    }

    fn pass(&self, turn: Turn) {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = turn;
        self.changed.notify_all();
    }

    /// The part of the first thread. A round trip has two wake-ups.
    fn ask(&self, deadline: Instant) -> Option<f64> {
        let mut trips = Vec::with_capacity(MOST);
        // The first answer says that the other thread has started.
        while self.wait(Turn::First, deadline) && trips.len() <= MOST {
            let start = Instant::now();
            self.pass(Turn::Second);
            if self.wait(Turn::First, deadline) {
                trips.push(start.elapsed().as_nanos() as f64 / 2.0);
            }
        }
        self.pass(Turn::End);
        trips.sort_unstable_by(f64::total_cmp);
        trips.get(trips.len() / 2).copied()
    }
}
