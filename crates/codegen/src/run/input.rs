//! Input at the speed at which it arrives: output becomes visible before a read that would block.

use super::Run;
use crate::files::{SHORT, There};
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::Stop;

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
