//! Stateless regions on files in memory: threads share the steady states without an engine graph.
//!
//! **Actors.** The caller's thread (number 0) and threads of the process's pool. A batch is only a range of
//! steady states, with places in the files, so no data passes between threads: each thread repeatedly takes a
//! range from [`Shares`] and runs it. If consecutive ranges go to one thread, its memory is ready for the
//! next one. A pool thread that starts late finds no ranges left.
//!
//! **Shared state.** `over` tells threads to take no more ranges; it is set on interruption. `stopped` also
//! stops firings that are under way. `done` counts steady states for progress reports. All three are relaxed:
//! they publish no data. `failure` keeps the failure of the first failed range, under a lock. The results are
//! read after `Team::beside` has returned, which is after every thread that has begun has ended.
//!
//! **Result.** Output is complete up to the first range that was not taken, or up to the first failure if
//! that comes before.

use super::files::InPlace;
use super::node::{Batch, Node};
use super::shares::Shares;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use thalweg::Team;
use thalweg_lang::interpret::{Stop, Surroundings};

/// The shared state of a run's threads.
pub(super) struct Dealt<'d, 'm> {
    pub(super) node: &'d Node<'m>,
    pub(super) files: &'d InPlace<'m>,
    pub(super) shares: Shares,
    /// Tells threads to stop in the middle of firings.
    pub(super) stopped: &'d AtomicBool,
    /// Tells threads to take no more ranges.
    pub(super) over: AtomicBool,
    pub(super) done: AtomicU64,
    pub(super) failure: Mutex<Option<Failure>>,
}

/// A failure: the first steady state of its range, the steady states complete before it, and the reason.
pub(super) struct Failure {
    batch: u64,
    written: u64,
    stop: Stop,
}

impl Dealt<'_, '_> {
    /// Runs all ranges; returns how far the output is complete, and the failure if that is why.
    pub(super) fn run(self, threads: usize, around: &mut Surroundings<'_>) -> (u64, Result<(), Stop>) {
        let Surroundings { interrupted, progress, .. } = around;
        let stops = || {
            let stopped = interrupted() || self.stopped.load(Ordering::Relaxed);
            self.stopped.store(stopped, Ordering::Relaxed);
            self.over.fetch_or(stopped, Ordering::Relaxed);
            stopped
        };
        let others = |thread: usize| self.work(thread, &|| self.stopped.load(Ordering::Relaxed), &mut || {});
        let own = || {
            self.work(0, &stops, &mut || {
                self.over.fetch_or(interrupted(), Ordering::Relaxed);
                progress(self.done.load(Ordering::Relaxed));
            });
        };
        // A thread may be in a firing that never ends.
        Team::process().beside(threads - 1, &others, own, || _ = stops());
        let left = self.shares.first_left();
        match self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(Failure { written, stop, .. }) if written <= left => (written, Err(stop)),
            _ => (left, Ok(())),
        }
    }

    /// The loop of one thread.
    fn work(&self, thread: usize, stops: &dyn Fn() -> bool, between: &mut dyn FnMut()) {
        let (mut own, mut batch) = (self.node.take(), Batch::new(self.node.no_set()));
        while !self.over.load(Ordering::Relaxed)
            && let Some(states) = self.shares.take(thread)
        {
            (batch.first, batch.n) = (states.start, states.end - states.start);
            // SAFETY: `Shares::take` returns each steady state once, so no other batch is lent its places.
            unsafe { self.files.lend(&mut batch) };
            self.node.run_with(&mut own, &mut batch, stops);
            self.done.fetch_add(batch.n, Ordering::Relaxed);
            if let Some(stop) = batch.failure.take() {
                self.fail(Failure { batch: batch.first, written: batch.first + batch.n, stop });
            }
            between();
        }
        self.node.put_back(own);
    }

    fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|first| failure.batch < first.batch) {
            *first = Some(failure);
        }
    }
}
