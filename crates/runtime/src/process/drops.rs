//! What is dropped: ends of channels, and messages that were lent out.
//!
//! A drop has no context to say to which turn it belongs. But the thread knows whose poll it is in, and
//! an end knows its [`Owner`]. Where they are the same the drop is noted with the thread, and found when
//! the poll returns.
//!
//! # Elsewhere
//!
//! Ends and messages may be taken anywhere: to another thread, into another process, a kernel, another
//! run, or they are dropped before the run begins. There the process's claim is not the dropper's, and
//! its node may be activated, or a channel of its grow, at the same time. Hence:
//!
//! - A drop changes counters and flags alone, each with one writer at a time whoever that is, and never
//!   looks at where the slots are: a message that was lent out is dropped where it was lent, and what
//!   it weighs was noted when it was.
//! - Whoever waits for the change is told by the run, to which word is left ([`ExternalEvent`]): it is found by the
//!   owner. The workers look at words where they look at what foreign futures have woken.
//! - A stream ends when the poll that drops its sending end has returned, whoever's it is, unless
//!   that fails. An end that is dropped by a panic outside of all polls fails its process: who listens
//!   must not take it for the end of what was sent.
//! - Nothing happens where the owner's run is over: others may still be in the middle of an activation.

use super::owner::{Owner, find};
use crate::channel::Meter;
use crate::sched::injector::ExternalEvent;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// No message was released.
const NONE: u64 = u64::MAX;

/// The owner of a thread that is in no poll.
const NOBODY: Owner = Owner(u64::MAX);

/// A stream to be ended: its sender, the send, and its counters.
type Stream = (Owner, u64, Arc<Meter>);

thread_local! {
    /// Whose poll this thread is in.
    static POLLED: Cell<Owner> = const { Cell::new(NOBODY) };
    /// Ends dropped on this thread so far: a turn in which there were some has changed more than
    /// it has touched.
    static ENDS: Cell<u64> = const { Cell::new(0) };
    /// Notes of all kinds on this thread so far.
    static NOTES: Cell<u64> = const { Cell::new(0) };
    /// The receive whose message was released; what is more than one is counted as ends are.
    static RELEASED: Cell<u64> = const { Cell::new(NONE) };
    /// Streams to be ended when the poll has returned.
    static STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

// At the end of a thread what is its own is gone before what it still drops: hence `try_with`.

/// Whose poll this thread is in.
#[inline]
fn polled() -> Owner {
    POLLED.try_with(Cell::get).unwrap_or(NOBODY)
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

/// A receiving end is dropped: nobody will read there.
pub(super) fn leave_stream(owner: Owner, operation: u64, meter: &Meter) {
    if polled() != owner {
        return elsewhere(owner, operation, is_torn(), || meter.leave());
    }
    meter.leave();
    note_end();
}

/// A sending end is dropped.
pub(super) fn end_stream(owner: Owner, operation: u64, meter: &Arc<Meter>) {
    if polled() == NOBODY {
        return elsewhere(owner, operation, is_torn(), || meter.end());
    }
    let stream = (owner, operation, meter.clone());
    STREAMS.with_borrow_mut(|streams| streams.push(stream));
    note_end();
}

/// Whether what is dropped is so by a panic that fails no poll.
fn is_torn() -> bool {
    std::thread::panicking() && polled() == NOBODY
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

/// The receive whose message was released since this was asked last.
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
    /// Its code said so: the streams end.
    Said,
    /// The run has cancelled it: its streams stay open, as if it had gone on for ever. When it would
    /// have ended them, if at all, is not known, and every consumer is cancelled too (`useful`).
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
            // Of another process, whose own end ends it (`Net::end_ends`).
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
    // Whoever is at the other ends is told of all of it, or of nothing.
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
    let _back = Back(POLLED.replace(NOBODY), take_release(), STREAMS.take());
    run()
}
