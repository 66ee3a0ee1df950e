//! How long the program waits for input.
//!
//! What a pipe holds is processed, and the output is written, before a thread blocks for more input. But a
//! thread that has less than a full call takes waits for a moment, since input that has begun to arrive
//! mostly continues.

use std::time::Duration;

/// How long a read may wait: for the first items, between items, and altogether.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub(crate) first: Duration,
    pub(crate) next: Duration,
    pub(crate) all: Duration,
}

/// For one thread, which does nothing else meanwhile. It does not wait for the first items: the output so far
/// may be what the producer of the input waits for.
pub(crate) const SHORT: Timeouts =
    Timeouts { first: Duration::ZERO, next: Duration::from_micros(200), all: Duration::from_millis(2) };

/// For a thread that feeds others, which compete for the processor with the producer of the pipe.
pub(crate) const LONG: Timeouts =
    Timeouts { first: Duration::ZERO, next: Duration::from_millis(1), all: Duration::from_millis(4) };

/// Like `LONG`, while these others are busy.
pub(crate) const BUSY: Timeouts = Timeouts { first: Duration::from_millis(1), ..LONG };

/// The input that is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct There {
    /// Steady states, up to as many as are wanted.
    pub(crate) n: u64,
    /// Whether the input ends after them.
    pub(crate) over: bool,
}
