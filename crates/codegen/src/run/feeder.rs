//! The driver's part of a run in batches: it keeps the chain of bodies busy.
//!
//! The number of batches is fixed. The driver reads input into batches that are not under way, and waits for a finished
//! one where there is none. It receives batches in order, so it writes output in order and reports the first failure.

use super::engine::Link;
use super::trial::Trial;
use std::time::Instant;
use thalweg_lang::interpret::{Stop, Surroundings};

/// Whether to read another batch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    Now,
    /// When a batch under way is finished.
    Later,
    No,
}

/// How the driver reads and writes batches.
pub(super) trait Driven {
    type Batch: Send;

    /// Whether there is more to read.
    fn goes_on(&self) -> bool;

    /// Reads the next batch, with this many under way. Returns whether it has any content, and whether to read another
    /// one.
    fn read(&mut self, batch: &mut Self::Batch, under_way: usize) -> Result<(bool, More), Stop>;

    /// Writes a finished batch. Returns its steady states.
    fn write(&mut self, batch: &mut Self::Batch, around: &mut Surroundings<'_>) -> Result<u64, Stop>;

    /// Tells the bodies to stop, in the middle of firings if need be.
    fn stop(&self);
}

/// The batches of a run, and whether threads pay.
pub(super) struct Feeder<B> {
    /// Batches that are not under way.
    spare: Vec<B>,
    /// Whether all batches are finished before the next ones are read.
    barrier: bool,
    /// The decision whether threads pay, until it is made; and the decision.
    trial: Option<Trial>,
    pub(super) is_worth_it: bool,
}

impl<B: Send> Feeder<B> {
    /// A feeder of these batches. It goes on only as long as threads are faster than one thread, which took `alone`
    /// seconds for a steady state; it always does if `alone` is `None`.
    pub(super) fn new(spare: Vec<B>, alone: Option<f64>) -> Feeder<B> {
        let trial = alone.map(|alone| Trial::new(alone, spare.len()));
        Feeder { spare, barrier: false, trial, is_worth_it: true }
    }

    /// Sets whether all batches are finished before the next ones are read.
    pub(super) fn with_barrier(self, barrier: bool) -> Feeder<B> {
        Feeder { barrier, ..self }
    }

    /// Keeps all batches busy until there is nothing more to read, the run is interrupted, or one thread would be
    /// faster. Returns the last batch, if there was one; no batch is under way then.
    pub(super) fn feed(
        &mut self,
        ends: &mut impl Driven<Batch = B>,
        link: &mut Link<B>,
        around: &mut Surroundings<'_>,
    ) -> Result<Option<B>, Stop> {
        let fed = self.feed_all(ends, link, around);
        if fed.is_err() {
            // Firings behind a failure may never end.
            ends.stop();
            link.drain();
        }
        fed
    }

    fn feed_all(
        &mut self,
        ends: &mut impl Driven<Batch = B>,
        link: &mut Link<B>,
        around: &mut Surroundings<'_>,
    ) -> Result<Option<B>, Stop> {
        let (mut more, mut last) = (More::Now, None);
        loop {
            if link.under_way() == 0 || !self.barrier {
                more = self.read_all(ends, link, around, more)?;
            }
            if link.under_way() == 0 {
                return Ok(last);
            }
            let mut batch = link.next();
            // What the batches under way would write is dropped.
            if (around.interrupted)() {
                return Err(Stop::Interrupted);
            }
            let states = ends.write(&mut batch, around)?;
            self.judge(states);
            self.spare.extend(last.replace(batch));
        }
    }

    /// Reads as many batches as there are, and as there is input for. Returns whether to try again.
    fn read_all(
        &mut self,
        ends: &mut impl Driven<Batch = B>,
        link: &mut Link<B>,
        around: &mut Surroundings<'_>,
        before: More,
    ) -> Result<More, Stop> {
        let mut more = before;
        while more != More::No {
            if !self.is_worth_it || !ends.goes_on() || (around.interrupted)() {
                return Ok(More::No);
            }
            let Some(mut batch) = self.spare.pop() else { break };
            let (any, next) = ends.read(&mut batch, link.under_way())?;
            if any {
                link.send(batch);
            } else {
                self.spare.push(batch);
            }
            more = next;
            if more == More::Later {
                break;
            }
        }
        Ok(more)
    }

    /// Decides whether threads pay, now that a batch is finished.
    fn judge(&mut self, states: u64) {
        let Some(trial) = &mut self.trial else { return };
        match trial.packet(states, Instant::now()) {
            None => self.trial = None,
            Some(is_worth_it) => self.is_worth_it &= is_worth_it,
        }
    }
}
