//! The pieces that a stage of this process has made, for the dataflow.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::piece::Piece;
use crate::ticket::Ticket;

/// A stage puts pieces in, in the order of tickets; the thread of the dataflow sends them.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Makes the dataflow look here.
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

struct State {
    pieces: VecDeque<Piece>,
    position: Position,
}

/// How far a stage has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Position {
    /// Pieces of this ticket and of later ones may still come.
    At(Ticket),
    /// None comes any more.
    Closed,
}

impl Outbox {
    /// Of a stage that begins with this ticket. It must not begin before its first: the dataflow waits for it.
    pub fn new(first: Ticket) -> Outbox {
        let state = State { pieces: VecDeque::new(), position: Position::At(first) };
        Outbox { state: Mutex::new(state), wake: OnceLock::new() }
    }

    /// Begins with a later ticket, unless no piece comes at all. The run has not begun.
    pub fn begin_at(&self, first: Ticket) {
        let mut state = self.lock();
        if state.position != Position::Closed {
            state.position = Position::At(first);
        }
    }

    /// Sets the function that makes the dataflow look here.
    pub fn wake_by(&self, wake: impl Fn() + Send + Sync + 'static) {
        let first = self.wake.set(Box::new(wake)).is_ok();
        assert!(first, "an outbox has one dataflow");
    }

    /// Adds pieces. `next`: the first ticket of which pieces may still come.
    pub fn push(&self, pieces: impl IntoIterator<Item = Piece>, next: Ticket) {
        let mut state = self.lock();
        state.pieces.extend(pieces);
        if state.position != Position::Closed {
            state.position = Position::At(next);
        }
        drop(state);
        self.wake();
    }

    /// No piece comes any more.
    pub fn close(&self) {
        self.lock().position = Position::Closed;
        self.wake();
    }

    /// Calls a function with each piece, in order, and returns where the stage is.
    pub fn drain(&self, mut send: impl FnMut(Piece)) -> Position {
        let mut state = self.lock();
        let pieces = std::mem::take(&mut state.pieces);
        let position = state.position;
        drop(state);
        pieces.into_iter().for_each(&mut send);
        position
    }

    fn wake(&self) {
        if let Some(wake) = self.wake.get() {
            wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
