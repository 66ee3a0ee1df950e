//! The driver's part of a run in batches: it feeds the chain of segments.
//!
//! How many batches are under way decides how the driver waits for slow input ([`More`]).

use super::files::Files;
use super::layout::Layout;
use super::node::{Batch, Flags};
use crate::run::Printer;
use crate::run::engine::Link;
use crate::run::input::{BUSY, LONG, There};
use crate::run::trial::Trial;
use crate::threads::{Split, Threads};
use std::sync::atomic::Ordering;
use std::time::Instant;
use thalweg_lang::interpret::{Stop, Surroundings};

/// Whether to read another batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    Now,
    /// When a batch under way is finished.
    Later,
    No,
}

/// The least part of a full batch, as a divisor, that pays while others are under way.
const PART: u64 = 4;

/// The driver's part.
pub(super) struct Feeder<'f, 'a, 'p> {
    pub(super) layout: &'f Layout<'a>,
    pub(super) threads: &'f Threads,
    pub(super) flags: &'f Flags<'f>,
    pub(super) files: Files<'f, 'a>,
    pub(super) printer: &'f mut Printer<'p>,
    /// The ends of the steady states that have been read, that are to be read, and that have been written.
    pub(super) next: u64,
    pub(super) until: u64,
    pub(super) written: u64,
    /// Batches that are not under way.
    pub(super) spare: Vec<Batch>,
    /// The decision whether threads pay, until it is made; and the decision.
    pub(super) trial: Option<Trial>,
    pub(super) is_worth_it: bool,
}

impl Feeder<'_, '_, '_> {
    /// Keeps all batches busy until all is done, or the run is interrupted. Returns the last batch, if there was one;
    /// no batch is under way then.
    pub(super) fn feed(
        &mut self,
        link: &mut Link<Batch>,
        around: &mut Surroundings<'_>,
    ) -> Result<Option<Batch>, Stop> {
        let fed = self.feed_all(link, around);
        if fed.is_err() {
            // Firings behind a failure may never end.
            self.flags.stopped.store(true, Ordering::Relaxed);
            link.drain();
        }
        fed
    }

    fn feed_all(
        &mut self,
        link: &mut Link<Batch>,
        around: &mut Surroundings<'_>,
    ) -> Result<Option<Batch>, Stop> {
        let (mut goes_on, mut last) = (true, None);
        loop {
            // With a barrier all wait for the last one.
            if link.under_way() == 0 || self.threads.split != Split::DataParallel {
                while goes_on {
                    goes_on = self.is_worth_it && self.next < self.until && !(around.interrupted)();
                    let Some(batch) = self.spare.pop().filter(|_| goes_on) else { break };
                    let (n, more) = self.input(link.under_way())?;
                    let batch = self.read(batch, n);
                    if n == 0 {
                        self.spare.push(batch);
                    } else {
                        link.send(batch);
                    }
                    goes_on = more != More::No;
                    if more != More::Now {
                        break;
                    }
                }
            }
            if link.under_way() == 0 {
                return Ok(last);
            }
            let batch = link.next();
            let batch = self.write(batch, around)?;
            self.judge(batch.n);
            self.spare.extend(last.replace(batch));
        }
    }

    /// Decides whether threads pay, now that a batch is finished.
    fn judge(&mut self, states: u64) {
        let Some(trial) = &mut self.trial else { return };
        match trial.packet(states, Instant::now()) {
            None => self.trial = None,
            Some(is_worth_it) => self.is_worth_it &= is_worth_it,
        }
    }

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
                some if some < self.threads.count() => least.max(wanted / PART),
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

    fn read(&mut self, mut batch: Batch, n: u64) -> Batch {
        (batch.first, batch.n) = (self.next, n);
        if n > 0 {
            self.files.read(&mut batch);
            self.next += n;
        }
        batch
    }

    fn write(&mut self, mut batch: Batch, around: &mut Surroundings<'_>) -> Result<Batch, Stop> {
        self.printer.write_bytes(&batch.text).map_err(Stop::Output)?;
        batch.text.clear();
        self.files.write(&batch)?;
        self.written = batch.first + batch.n;
        match batch.failure.take() {
            Some(stop) => Err(stop),
            None => {
                (around.progress)(self.written);
                Ok(batch)
            }
        }
    }
}
