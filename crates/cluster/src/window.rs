//! How far the source of a process may run ahead of the sink.
//!
//! A process has *room* for a number of batches between its source and the sink. A batch leaves when the time of the
//! dataflow has passed it: then the sink (or, of a `fold`, the stage that holds the state) has taken it.
//!
//! No process waits for ever: let `t` be the batch that the sink needs, of process `p`. The batches of `p` are in the order
//! of tickets, so all of `p`'s batches before `t` are taken. Those of them that the time has not passed are in the epoch
//! of `t`, and an epoch has no more batches than the room, `t` included. So `p` has room for `t`. This needs the same epochs
//! in all processes, so they are compared when a run begins.
//!
//! Pieces that are on their way may have an earlier time than their tickets, and hold the time back ([`dataflow`](crate::dataflow)). Their
//! receivers take them whatever the stages do, so the time soon follows. All that this adds is a delay.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::{self, Engine};
use crate::ticket::Ticket;

pub(crate) struct Window {
    /// Batches of an epoch.
    epoch: u32,
    engine: Engine,
    state: Mutex<State>,
    moved: Condvar,
}

struct State {
    /// Maximum number of batches under way. An epoch has no more.
    room: usize,
    /// The time of the first batch that the sink has not taken; `None`: it has taken all.
    passed: Option<u64>,
    /// The times of the batches that are under way.
    under_way: VecDeque<u64>,
    waits: Option<Ticket>,
    /// The time for which the source has waited.
    waited: Duration,
    stopped: bool,
}

impl State {
    fn forget_passed(&mut self) {
        let passed = self.passed.unwrap_or(u64::MAX);
        while self.under_way.front().is_some_and(|time| *time < passed) {
            self.under_way.pop_front();
        }
    }
}

impl Window {
    /// Room for this number of batches, at least one; and for at most as many in an epoch.
    pub fn new(room: usize, epoch: u32, engine: Engine) -> Window {
        let room = room.max(1);
        let epoch = epoch.clamp(1, u32::try_from(room).unwrap_or(u32::MAX));
        let state = State {
            room,
            passed: Some(0),
            under_way: VecDeque::new(),
            waits: None,
            waited: Duration::ZERO,
            stopped: false,
        };
        Window { epoch, engine, state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Batches of an epoch.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether the run ends early.
    pub fn is_over(&self) -> bool {
        self.lock().stopped || self.engine.is_over()
    }

    /// Waits until there is room for a batch, which then is under way. Returns false if the run ends early.
    pub fn enter(&self, ticket: Ticket) -> bool {
        let mut state = self.lock();
        loop {
            if state.stopped || self.engine.is_over() {
                return false;
            }
            if state.under_way.len() < state.room {
                state.under_way.push_back(ticket.time(self.epoch));
                return true;
            }
            state.waits = Some(ticket);
            let since = Instant::now();
            state = self.moved.wait_timeout(state, engine::LOOK).unwrap_or_else(PoisonError::into_inner).0;
            state.waited += since.elapsed();
            state.waits = None;
        }
    }

    /// The sink has taken all batches before this time; `None`: all. Returns the number of batches that are under way.
    pub fn pass(&self, time: Option<u64>) -> usize {
        let mut state = self.lock();
        if state.passed != time {
            state.passed = time;
            state.forget_passed();
            if state.waits.is_some() {
                self.moved.notify_all();
            }
        }
        state.under_way.len()
    }

    /// Makes the room smaller, to what a budget has for batches of the largest size. An epoch still fits.
    pub fn shrink(&self, room: usize) {
        let mut state = self.lock();
        state.room = state.room.min(room.max(self.epoch as usize));
    }

    /// Maximum number of batches under way.
    #[cfg(test)]
    pub fn room(&self) -> usize {
        self.lock().room
    }

    /// Ends the waiting of the source, early.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.moved.notify_all();
    }

    /// The batch that the source waits with, if it does.
    pub fn waits(&self) -> Option<Ticket> {
        self.lock().waits
    }

    /// The time for which the source has waited.
    pub fn waited(&self) -> Duration {
        self.lock().waited
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn a_batch_waits_until_the_sink_has_taken_those_before() {
        let window = Arc::new(Window::new(2, 1, Engine::default()));
        let at = |batch| Ticket { part: 0, batch };
        assert!(window.enter(at(0)) && window.enter(at(1)));
        let third = thread::spawn({
            let window = window.clone();
            move || window.enter(at(2))
        });
        while window.waits().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(window.pass(Some(at(1).time(1))), 1);
        assert!(third.join().unwrap());
        assert_eq!(window.waits(), None);
        assert!(window.waited() > Duration::ZERO);
    }

    #[test]
    fn an_epoch_has_room() {
        let window = Window::new(3, 16, Engine::default());
        assert_eq!(window.epoch(), 3);
        window.shrink(1);
        assert!((0..3).all(|batch| window.enter(Ticket { part: 0, batch })));
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        let window = Window::new(1, 1, Engine::default());
        assert!(window.enter(Ticket::first_of(0)));
        window.stop();
        assert!(!window.enter(Ticket::first_of(1)));
    }
}
