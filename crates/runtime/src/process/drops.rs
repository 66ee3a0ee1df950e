//! Dropped ends of channels, and released messages that were lent.
//!
//! A drop has no context that says to which turn it belongs. But the thread knows which process it polls, and an end
//! knows its [`Owner`]. If they agree the thread notes the drop, and acts on it when the poll returns.
//!
//! # Drops outside of the owner's poll
//!
//! Ends and messages may be moved anywhere: to another thread, into another process, a kernel or another run; and they
//! may be dropped before the run begins. The dropping thread then does not have the process's claim, and the node may
//! be activated, or one of its channels grow, at the same time. Hence:
//!
//! - A drop changes counters and flags only, each of which has one writer at a time, and never reads where the slots
//!   are. A lent message is dropped where it was lent, and its weight was noted then.
//! - The dropping thread injects an [`ExternalEvent`] into the owner's run, and the run's workers make the nodes at the
//!   other ends ready.
//! - A stream ends when the poll that drops its sending end has returned, of whichever process, unless that poll fails.
//!   An end that an unwinding thread drops outside of all polls fails its process: its consumer must not take the
//!   failure for the end of the stream.
//! - Nothing happens after the owner's run is over: other threads may still be in the middle of an activation.

use crate::channel::Meter;
use crate::net::ExternalEvent;
use crate::net::{Owner, find};

use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// No message was released.
const NONE: u64 = u64::MAX;

/// Stands for the owner where a thread is in no poll.
const NO_OWNER: Owner = Owner(u64::MAX);

/// A stream to be ended: its sender, the send, and its counters.
type Stream = (Owner, u64, Arc<Meter>);

thread_local! {
    /// The owner that this thread polls.
    static POLLED: Cell<Owner> = const { Cell::new(NO_OWNER) };
    /// Ends dropped on this thread so far: a turn in which there were some has changed more than
    /// it has touched.
    static ENDS: Cell<u64> = const { Cell::new(0) };
    /// Notes of all kinds on this thread so far.
    static NOTES: Cell<u64> = const { Cell::new(0) };
    /// The receive whose message was released; a second one is counted as a dropped end.
    static RELEASED: Cell<u64> = const { Cell::new(NONE) };
    /// Streams to be ended when the poll has returned.
    static STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

// At the end of a thread its thread-local variables are gone before the last values it drops: hence `try_with`.

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

/// A message that was lent out is released.
#[inline]
pub(super) fn note_release(owner: Owner, operation: u64) {
    if polled() != owner {
        return elsewhere(owner, operation, false, || {});
    }
    note();
    let _ = RELEASED.try_with(|released| match released.get() {
        before if before == NONE || before == operation => released.set(operation),
        _ => note_end(),
    });
}

/// A receiving end is dropped: its channel has no reader any more.
pub(super) fn leave_stream(owner: Owner, operation: u64, meter: &Meter) {
    if polled() != owner {
        return elsewhere(owner, operation, is_torn(), || meter.leave());
    }
    meter.leave();
    note_end();
}

/// A sending end is dropped.
pub(super) fn end_stream(owner: Owner, operation: u64, meter: &Arc<Meter>) {
    if polled() == NO_OWNER {
        return elsewhere(owner, operation, is_torn(), || meter.end());
    }
    let stream = (owner, operation, meter.clone());
    STREAMS.with_borrow_mut(|streams| streams.push(stream));
    note_end();
}

/// Whether what is dropped is so by a panic that fails no poll.
fn is_torn() -> bool {
    std::thread::panicking() && polled() == NO_OWNER
}

/// Something is dropped where its owner is not polled.
#[cold]
#[inline(never)]
fn elsewhere(owner: Owner, operation: u64, torn: bool, effect: impl FnOnce()) {
    match find(owner) {
        None => effect(),
        Some((run, _)) if run.stopped() => {}
        Some((run, node)) if torn => run.inject(ExternalEvent::Poisoned(node, operation)),
        Some((run, node)) => {
            effect();
            run.inject(ExternalEvent::Dropped(node));
        }
    }
}

/// This thread, by an address that is its own.
#[inline]
pub(crate) fn here() -> usize {
    ENDS.with(|ends| std::ptr::from_ref(ends).addr())
}

/// Ends dropped and messages released on this thread so far.
#[inline]
pub(crate) fn notes() -> u64 {
    NOTES.with(Cell::get)
}

/// Ends dropped on this thread so far.
#[inline]
pub(crate) fn ends() -> u64 {
    ENDS.with(Cell::get)
}

/// The receive whose message was released since the previous call.
#[inline]
pub(super) fn take_release() -> Option<u64> {
    RELEASED.with(|released| (released.get() != NONE).then(|| released.replace(NONE)))
}

/// A poll of the owner's, until it is dropped.
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

/// Why a process drops its sending ends, and so what their consumers may observe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// Its code dropped them or returned: the streams end.
    Said,
    /// The run has cancelled it: its streams stay open, as if it had gone on for ever. When it would
    /// have ended them, if at all, is not known, and every consumer is cancelled too ([`dead`](crate::liveness::dead)).
    Cancelled,
    /// It has failed: no stream may seem to end here.
    Failed,
}

/// The owner's poll has returned: ends the streams whose ends it has dropped, where the cause lets
/// consumers see that.
pub(crate) fn end_streams(owner: Owner, cause: Cause) {
    for (whose, operation, meter) in STREAMS.take() {
        match whose == owner {
            true if cause == Cause::Said => meter.end(),
            true => {}
            // The stream of another process, which ends with that process (`injector::end_ends`).
            false if cause == Cause::Cancelled => {}
            false => elsewhere(whose, operation, cause == Cause::Failed, || meter.end()),
        }
    }
}

/// Drops what the owner has.
pub(crate) fn drop_all<R>(owner: Owner, cause: Cause, drop: impl FnOnce() -> R) -> R {
    let polling = Polling::begin(owner);
    let result = drop();
    std::mem::drop(polling);
    // The nodes at the other ends learn of all these drops, or of none.
    take_release();
    end_streams(owner, cause);
    result
}

/// A run goes on, or is dropped, on this thread, which may be in a poll of another: what that has dropped
/// so far stays its own.
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
