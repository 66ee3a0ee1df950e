//! The pieces that a stage of this process has made, for the dataflow.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::piece::Piece;
use crate::ticket::Ticket;

/// A stage puts pieces in, in the order of tickets; the thread of the dataflow sends them.
///
/// A stage [flushes](Outbox::flush) behind a group of batches, and before it waits for anything: so the dataflow looks here once for
/// the group.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Makes the dataflow look here.
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

struct State {
    pieces: VecDeque<Piece>,
    position: Position,
    /// The stage has put in what the dataflow has not seen and has not been made to look at.
    unseen: bool,
    /// The dataflow has been made to look here, and has not yet looked.
    woken: bool,
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
        let state =
            State { pieces: VecDeque::new(), position: Position::At(first), unseen: false, woken: false };
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

    /// Adds pieces. `next`: the first ticket of which pieces may still come. The dataflow need not see them before the
    /// next [`flush`](Outbox::flush).
    pub fn push(&self, pieces: impl IntoIterator<Item = Piece>, next: Ticket) {
        let mut state = self.lock();
        state.pieces.extend(pieces);
        if state.position != Position::Closed {
            state.position = Position::At(next);
        }
        state.unseen = true;
    }

    /// Makes the dataflow look at what was put in.
    pub fn flush(&self) {
        let state = self.lock();
        if state.unseen {
            self.wake(state);
        }
    }

    /// No piece comes any more.
    pub fn close(&self) {
        let mut state = self.lock();
        state.position = Position::Closed;
        self.wake(state);
    }

    /// The pieces, in order, and where the stage is.
    pub fn take(&self) -> (VecDeque<Piece>, Position) {
        let mut state = self.lock();
        (state.unseen, state.woken) = (false, false);
        (std::mem::take(&mut state.pieces), state.position)
    }

    /// A look takes all that there is, so one call of the system is enough for many pieces.
    fn wake(&self, mut state: MutexGuard<'_, State>) {
        state.unseen = false;
        let looks = std::mem::replace(&mut state.woken, true);
        drop(state);
        if let Some(wake) = self.wake.get().filter(|_| !looks) {
            wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
