//! How the driver reads and writes batches of a program of one region.
//!
//! How many batches are under way decides how the driver waits for slow input ([`More`]).

use super::files::Files;
use super::layout::Layout;
use super::node::{Batch, Flags};
use crate::files::{BUSY, LONG, There};
use crate::run::Printer;
use crate::run::feeder::{Driven, More};
use std::sync::atomic::Ordering;
use thalweg_lang::interpret::{Stop, Surroundings};

/// The least part of a full batch, as a divisor, that pays while others are under way.
const PART: u64 = 4;

/// The driver's files and standard output.
pub(super) struct Team<'f, 'a, 'p> {
    pub(super) layout: &'f Layout<'a>,
    pub(super) threads: usize,
    pub(super) flags: &'f Flags<'f>,
    pub(super) files: Files<'f, 'a>,
    pub(super) printer: &'f mut Printer<'p>,
    /// The ends of the steady states that have been read, that are to be read, and that have been written.
    pub(super) next: u64,
    pub(super) until: u64,
    pub(super) written: u64,
}

impl Team<'_, '_, '_> {
    /// The length of the next batch, with this many under way. It may be short while a worker is idle.
    fn input(&mut self, under_way: usize) -> Result<(u64, More), Stop> {
        let wanted = self.layout.batch.min(self.until - self.next);
        loop {
            let There { n, over } = self.files.there(wanted, if under_way > 0 { BUSY } else { LONG });
            if over {
                return Ok((n, More::No));
            }
            let least = self.layout.least();
            let enough = match under_way {
                0 => least,
                some if some < self.threads => least.max(wanted / PART),
                _ => wanted,
            };
            if n >= enough.min(wanted) {
                return Ok((n, More::Now));
            }
            if under_way > 0 {
                return Ok((0, More::Later));
            }
            if least > 1 {
                // One thread recomputes nothing.
                return Ok((0, More::No));
            }
            self.printer.flush().map_err(Stop::Output)?;
            self.files.wait()?;
        }
    }
}

impl Driven for Team<'_, '_, '_> {
    type Batch = Batch;

    fn goes_on(&self) -> bool {
        self.next < self.until
    }

    fn read(&mut self, batch: &mut Batch, under_way: usize) -> Result<(bool, More), Stop> {
        let (n, more) = self.input(under_way)?;
        (batch.first, batch.n) = (self.next, n);
        if n > 0 {
            self.files.read(batch);
            self.next += n;
        }
        Ok((n > 0, more))
    }

    fn write(&mut self, batch: &mut Batch, around: &mut Surroundings<'_>) -> Result<u64, Stop> {
        self.printer.write_bytes(&batch.text).map_err(Stop::Output)?;
        batch.text.clear();
        self.files.write(batch)?;
        self.written = batch.first + batch.n;
        match batch.failure.take() {
            Some(stop) => Err(stop),
            None => {
                (around.progress)(self.written);
                Ok(batch.n)
            }
        }
    }

    fn stop(&self) {
        self.flags.stopped.store(true, Ordering::Relaxed);
    }
}
