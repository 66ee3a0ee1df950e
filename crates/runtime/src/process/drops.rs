//! Dropped ends of channels, and released messages that were lent.
//!
//! A drop has no context from which to find the turn that it belongs to. But the thread stores which process it polls, and
//! an end stores its [`Owner`]. If they are equal, the thread notes the drop and acts on it when the poll returns.
//!
//! # Drops outside of the owner's poll
//!
//! User code may move ends and messages to another thread, into another process, a kernel or another run, and may drop
//! them before the run begins. The dropping thread then does not have the process's claim, and the node may
//! be activated, or one of its channels grow, at the same time. Hence:
//!
//! - A drop changes counters and flags only, each of which has one writer at a time, and never reads the ring's storage. A
//!   lent message is dropped at the lent address, and its guard has its weight.
//! - The dropping thread injects an [`ExternalEvent`] into the owner's run, and the run's workers make the nodes at the
//!   other ends ready.
//! - A stream ends when the poll that drops its sending end has returned, unless that poll fails; it may be a poll of
//!   another process.
//!   An end that an unwinding thread drops outside of all polls fails its process: its consumer must not take the
//!   failure for the end of the stream.
//! - After the owner's run is over a drop has no effect: other threads may still be in the middle of an activation.

use crate::channel::Meter;
use crate::net::ExternalEvent;
use crate::net::{Owner, find};
use crate::team::thread_and_depth;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// `RELEASED` without a message.
const NONE: u64 = u64::MAX;

/// `POLLED` on a thread that polls no process.
const NO_OWNER: Owner = Owner(u64::MAX);

/// A stream to be ended: the owner of its sending end, the number of its send operation, its counters.
type Stream = (Owner, u64, Arc<Meter>);

thread_local! {
    /// The owner that this thread polls.
    static POLLED: Cell<Owner> = const { Cell::new(NO_OWNER) };
    /// The number of ends dropped on this thread. A turn in which it rose may have made other nodes ready than those of its
    /// operations.
    static ENDS: Cell<u64> = const { Cell::new(0) };
    /// The number of dropped ends and released messages on this thread.
    static NOTES: Cell<u64> = const { Cell::new(0) };
    /// The receive operation whose lent message was released. A release on a second channel counts as a dropped end.
    static RELEASED: Cell<u64> = const { Cell::new(NONE) };
    /// Streams to be ended when the poll has returned.
    static STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

// A thread may drop values after its thread-local variables have been destroyed: hence `try_with`.

/// The owner that this thread polls.
#[inline]
fn polled() -> Owner {
    POLLED.try_with(Cell::get).unwrap_or(NO_OWNER)
}

fn note_end() {
    let _ = ENDS.try_with(|count| count.set(count.get() + 1));
    note();
}

#[inline]
fn note() {
    let _ = NOTES.try_with(|count| count.set(count.get() + 1));
}

/// Notes that a lent message was released.
#[inline]
pub(super) fn note_release(owner: Owner, operation: u64) {
    if polled() != owner {
        return drop_outside(owner, operation, false, || {});
    }
    note();
    let _ = RELEASED.try_with(|released| match released.get() {
        before if before == NONE || before == operation => released.set(operation),
        _ => note_end(),
    });
}

/// Drops a receiving end: its channel has no reader any more.
pub(super) fn leave_stream(owner: Owner, operation: u64, meter: &Meter) {
    if polled() != owner {
        return drop_outside(owner, operation, is_poisoned(), || meter.leave());
    }
    meter.leave();
    note_end();
}

/// Drops a sending end: its stream ends when the poll has returned.
pub(super) fn end_stream(owner: Owner, operation: u64, meter: &Arc<Meter>) {
    if polled() == NO_OWNER {
        return drop_outside(owner, operation, is_poisoned(), || meter.end());
    }
    let stream = (owner, operation, meter.clone());
    STREAMS.with_borrow_mut(|streams| streams.push(stream));
    note_end();
}

/// Whether the drop is part of a panic outside all polls, which therefore fails no process by itself.
fn is_poisoned() -> bool {
    std::thread::panicking() && polled() == NO_OWNER
}

/// Handles a drop outside the owner's poll: applies `effect` and informs the owner's run. A poisoned drop fails the owner
/// instead.
#[cold]
#[inline(never)]
fn drop_outside(owner: Owner, operation: u64, poisoned: bool, effect: impl FnOnce()) {
    match find(owner) {
        None => effect(),
        Some((run, _)) if run.stopped() => {}
        Some((run, node)) if poisoned => run.inject(ExternalEvent::Poisoned(node, operation)),
        Some((run, node)) => {
            effect();
            run.inject(ExternalEvent::Dropped(node));
        }
    }
}

/// The identity of this thread.
#[inline]
pub(crate) fn here() -> usize {
    thread_and_depth().0
}

/// The number of ends dropped and messages released on this thread.
#[inline]
pub(crate) fn notes() -> u64 {
    NOTES.with(Cell::get)
}

/// The number of ends dropped on this thread.
#[inline]
pub(crate) fn ends() -> u64 {
    ENDS.with(Cell::get)
}

/// The receive operation whose message was released since the previous call.
#[inline]
pub(super) fn take_release() -> Option<u64> {
    RELEASED.with(|released| (released.get() != NONE).then(|| released.replace(NONE)))
}

/// Marks this thread as polling an owner's process, until it is dropped.
pub(super) struct Polling(Owner);

impl Polling {
    #[inline]
    pub(super) fn begin(owner: Owner) -> Polling {
        Polling(POLLED.replace(owner))
    }
}

impl Drop for Polling {
    #[inline]
    fn drop(&mut self) {
        POLLED.set(self.0);
    }
}

/// The reason for which a process drops its sending ends. It decides what their consumers observe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// Its code dropped them or returned: the streams end.
    Returned,
    /// The run has cancelled the process: its streams stay open, as if it ran for ever. Every consumer is cancelled too
    /// ([`dead`](crate::liveness::dead)).
    Cancelled,
    /// The process has failed: its streams stay open, because their ends would be taken for the end of the data.
    Failed,
}

/// Ends the streams whose sending ends the owner's poll has dropped, if the cause lets consumers observe that.
pub(crate) fn end_streams(owner: Owner, cause: Cause) {
    for (of, operation, meter) in STREAMS.take() {
        match of == owner {
            true if cause == Cause::Returned => meter.end(),
            true => {}
            // The stream of another process, which ends with that process (`injector::end_ends`).
            false if cause == Cause::Cancelled => {}
            false => drop_outside(of, operation, cause == Cause::Failed, || meter.end()),
        }
    }
}

/// Calls `drop`, which drops values of the owner's, as if in the owner's poll.
pub(crate) fn drop_all<R>(owner: Owner, cause: Cause, drop: impl FnOnce() -> R) -> R {
    let polling = Polling::begin(owner);
    let result = drop();
    std::mem::drop(polling);
    // The caller makes the nodes at the other ends ready, for all these drops at once.
    take_release();
    end_streams(owner, cause);
    result
}

/// Calls `run`, which executes or drops a run on this thread. The thread may be in a poll of another run; the notes of that
/// poll are put aside meanwhile.
pub(crate) fn apart<R>(run: impl FnOnce() -> R) -> R {
    struct Back(Owner, Option<u64>, Vec<Stream>);
    impl Drop for Back {
        fn drop(&mut self) {
            POLLED.set(self.0);
            RELEASED.set(self.1.unwrap_or(NONE));
            STREAMS.replace(std::mem::take(&mut self.2));
        }
    }
    let _back = Back(POLLED.replace(NO_OWNER), take_release(), STREAMS.take());
    run()
}
