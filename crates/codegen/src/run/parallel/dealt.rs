//! Threads that share steady states out among themselves, where nothing has state and files lie in memory.
//!
//! A batch is no more than places in files then, so there is nothing to hand from one to another: each thread takes
//! the next of its own ([`shares`](super::shares)), the caller's as well, and what it does for one leaves it ready for
//! the one behind. The others come from the process's pool; one that comes late finds its share taken.
//!
//! What is written is what has been done from the beginning without a gap, to the first failure if there is one.

use super::files::InPlace;
use super::node::{Batch, Node};
use super::shares::Shares;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use thalweg::ThreadPool;
use thalweg_lang::interpret::{Stop, Surroundings};

/// A run's threads, as they share.
pub(super) struct Dealt<'d, 'm> {
    pub(super) node: &'d Node<'m>,
    pub(super) files: &'d InPlace<'m>,
    pub(super) shares: Shares,
    /// Tells those at work to stop where they are.
    pub(super) stopped: &'d AtomicBool,
    /// Nobody begins anything more.
    pub(super) over: AtomicBool,
    pub(super) done: AtomicU64,
    pub(super) failure: Mutex<Option<Failure>>,
}

/// The first failure: in which batch, after how many steady states of all, and why.
pub(super) struct Failure {
    batch: u64,
    written: u64,
    stop: Stop,
}

impl Dealt<'_, '_> {
    /// Does all that is to be done; up to where it has been, and why no further if that is a failure.
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
        // Somebody may be in a firing that never ends.
        ThreadPool::process().fork_join(threads - 1, &others, own, || _ = stops());
        let left = self.shares.first_left();
        match self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(Failure { written, stop, .. }) if written <= left => (written, Err(stop)),
            _ => (left, Ok(())),
        }
    }

    /// What one of them does.
    fn work(&self, thread: usize, stops: &dyn Fn() -> bool, between: &mut dyn FnMut()) {
        let (mut own, mut batch) = (self.node.take(), Batch::new(self.node.no_set()));
        while !self.over.load(Ordering::Relaxed)
            && let Some(states) = self.shares.take(thread)
        {
            (batch.first, batch.n) = (states.start, states.end - states.start);
            // SAFETY: each steady state is taken once.
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
