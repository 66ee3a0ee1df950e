//! Input as it comes.
//!
//! A pipe gives what there is. That is done, as far as it goes, and what comes of it is written, before anybody waits
//! for more; but whoever has less than it takes at once stays for a moment, since what has begun to come mostly goes on.

use super::Run;
use std::time::Duration;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::Stop;

/// How long it is waited: for the first that comes, then for what comes next, and for all of it together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) first: Duration,
    pub(super) next: Duration,
    pub(super) all: Duration,
}

/// Of one thread, which does nothing else meanwhile. As long as nothing comes others are better off with what came
/// before; it may be what they wait for.
pub(super) const SHORT: Patience =
    Patience { first: Duration::ZERO, next: Duration::from_micros(200), all: Duration::from_millis(2) };

/// Of who feeds others, which take the processor from who writes the pipe.
pub(super) const LONG: Patience =
    Patience { first: Duration::ZERO, next: Duration::from_millis(1), all: Duration::from_millis(4) };

/// The same while these are at work.
pub(super) const BUSY: Patience = Patience { first: Duration::from_millis(1), ..LONG };

/// What there is input for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct There {
    /// Steady states, up to as many as are wanted.
    pub(super) n: u64,
    /// There will be no more.
    pub(super) over: bool,
}

impl Run<'_> {
    /// Steady states, up to so many, that there is input for: one at least, unless it is over.
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

    /// Items that a reader is to give will be there, or its input is over.
    pub(super) fn await_items(&mut self, node: NodeId, count: u64) -> Result<(), Stop> {
        if self.ends.waits(node, count) { self.write_out() } else { Ok(()) }
    }

    /// What has been printed and written is to be seen, now that nothing more comes for a while.
    fn write_out(&mut self) -> Result<(), Stop> {
        self.around.printer.flush().map_err(Stop::Output)?;
        self.ends.flush(&self.native.compiled)
    }
}
