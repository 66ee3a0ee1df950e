//! Input at the speed at which it arrives.
//!
//! What a pipe holds is processed, and the output is written, before a thread blocks for more input. But a
//! thread that has less than a full call takes waits for a moment, since input that has begun to arrive
//! mostly continues.

use super::Run;
use std::time::Duration;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::Stop;

/// How long a read may wait: for the first items, between items, and altogether.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) first: Duration,
    pub(super) next: Duration,
    pub(super) all: Duration,
}

/// For one thread, which does nothing else meanwhile. It does not wait for the first items: the output so far
/// may be what the producer of the input waits for.
pub(super) const SHORT: Patience =
    Patience { first: Duration::ZERO, next: Duration::from_micros(200), all: Duration::from_millis(2) };

/// For a thread that feeds others, which compete for the processor with the producer of the pipe.
pub(super) const LONG: Patience =
    Patience { first: Duration::ZERO, next: Duration::from_millis(1), all: Duration::from_millis(4) };

/// Like `LONG`, while these others are busy.
pub(super) const BUSY: Patience = Patience { first: Duration::from_millis(1), ..LONG };

/// The input that is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct There {
    /// Steady states, up to as many as are wanted.
    pub(super) n: u64,
    /// Whether the input ends after them.
    pub(super) over: bool,
}

impl Run<'_> {
    /// The steady states, up to `want`, that there is input for: at least one, unless the input has ended.
    pub(super) fn input(&mut self, stage: usize, want: u64) -> Result<There, Stop> {
        loop {
            let there = self.ends.there(&self.stages[stage].facts, want, SHORT);
            if there.n > 0 || there.over {
                return Ok(there);
            }
            self.write_out()?;
            self.ends.available(&self.stages[stage].facts, 1)?;
        }
    }

    /// Before a read that would block: makes output visible.
    pub(super) fn await_items(&mut self, node: NodeId, count: u64) -> Result<(), Stop> {
        if self.ends.waits(node, count) { self.write_out() } else { Ok(()) }
    }

    /// Flushes what has been printed and written, since nothing more may come for a while.
    fn write_out(&mut self) -> Result<(), Stop> {
        self.around.printer.flush().map_err(Stop::Output)?;
        self.ends.flush(&self.native.compiled)
    }
}
