//! What a poll drops: ends of channels, and messages that were lent out.
//!
//! A drop has no context to say to which turn it belongs, so it is noted with the thread, and the
//! process that is polled there finds it when its poll returns. What is dropped elsewhere takes effect
//! at once.

use crate::channel::Meter;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// No message was released.
const NONE: u64 = u64::MAX;

/// When a stream ends whose sending end is dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// At once.
    Now,
    /// When the poll has returned, unless it has failed: a failure must not be taken for the end of
    /// what was sent.
    AfterPoll,
    /// Not at all: the run is over, but others may still be in the middle of an activation.
    Never,
}

thread_local! {
    /// Ends dropped on this thread so far: a turn in which there were some has changed more than
    /// it has touched.
    static ENDS: Cell<u64> = const { Cell::new(0) };
    /// Notes of all kinds on this thread so far.
    static NOTES: Cell<u64> = const { Cell::new(0) };
    /// The receive whose message was released; what is more than one is counted as ends are.
    static RELEASED: Cell<u64> = const { Cell::new(NONE) };
    static ENDING: Cell<Ending> = const { Cell::new(Ending::Now) };
    /// Streams to be ended when the poll has returned.
    static STREAMS: RefCell<Vec<Arc<Meter>>> = const { RefCell::new(Vec::new()) };
}

// At the end of a thread what is its own is gone before what it still drops: hence `try_with`.

/// An end is dropped.
pub(super) fn note_end() {
    let _ = ENDS.try_with(|count| count.set(count.get() + 1));
    note();
}

#[inline]
fn note() {
    let _ = NOTES.try_with(|count| count.set(count.get() + 1));
}

/// A message that was lent out is released.
#[inline]
pub(super) fn note_release(operation: u64) {
    note();
    let _ = RELEASED.try_with(|released| match released.get() {
        before if before == NONE || before == operation => released.set(operation),
        _ => note_end(),
    });
}

/// A sending end is dropped.
pub(super) fn end_stream(meter: &Arc<Meter>) {
    match ENDING.try_with(Cell::get).unwrap_or(Ending::Now) {
        Ending::Now => meter.end(),
        Ending::AfterPoll => STREAMS.with_borrow_mut(|streams| streams.push(meter.clone())),
        Ending::Never => {}
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

/// Until it is dropped, streams end after the poll.
pub(super) struct Polling(Ending);

impl Polling {
    #[inline]
    pub(super) fn begin() -> Polling {
        Polling(ENDING.replace(Ending::AfterPoll))
    }
}

impl Drop for Polling {
    #[inline]
    fn drop(&mut self) {
        ENDING.set(self.0);
    }
}

/// The poll has returned: ends the streams whose ends it has dropped, unless it has failed.
pub(crate) fn end_streams(failed: bool) {
    let streams = STREAMS.take();
    if !failed {
        streams.iter().for_each(|meter| meter.end());
    }
}

/// Drops ends when the run is over.
pub(crate) fn silently<R>(drop: impl FnOnce() -> R) -> R {
    let _before = Polling(ENDING.replace(Ending::Never));
    drop()
}
