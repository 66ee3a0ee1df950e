//! Stateless programs on files in memory: workers share the steady states.
//!
//! **Actors.** The driver sends as many batches as there are workers. Such a batch is a *token*: the worker that has it
//! takes ranges of steady states from its share ([`Shares`]) and executes them, until none is left. A batch here has only
//! places in the files, so no data passes between threads. If consecutive ranges go to one share, its memory is ready for
//! the next one. A worker that starts late finds no ranges left.
//!
//! **Shared state.** `over` tells bodies to take no more ranges. `done` counts steady states for progress, which a body
//! reports about every millisecond, if no other body does. Both are relaxed: they publish no data. The driver reads
//! results after all tokens are back, which the channels order.
//!
//! **Result.** Output is complete up to the first range that was not taken, or up to the first failure if
//! that comes before.

use super::files::InPlace;
use super::node::{Batch, Node};
use crate::run::engine::Link;
use crate::run::locked;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use thalweg::loops::Shares;
use thalweg_lang::interpret::Stop;

/// The time between two reports of progress.
const REPORT: Duration = Duration::from_millis(1);

/// The state that bodies share.
pub(super) struct SharedStates {
    shares: Shares,
    /// Tells bodies to take no more ranges.
    over: AtomicBool,
    done: AtomicU64,
    failure: Mutex<Option<Failure>>,
}

/// A failure: the first steady state of its range, the steady states complete before it, and the reason.
struct Failure {
    batch: u64,
    written: u64,
    stop: Stop,
}

impl SharedStates {
    pub(super) fn new(shares: Shares, first: u64) -> SharedStates {
        SharedStates {
            shares,
            over: AtomicBool::new(false),
            done: AtomicU64::new(first),
            failure: Mutex::default(),
        }
    }

    /// The number of shares.
    pub(super) fn shares(&self) -> usize {
        self.shares.count()
    }

    /// The driver's part: runs all ranges; returns how far the output is complete, and the failure if that is why.
    pub(super) fn drive(&self, tokens: Vec<Batch>, link: &mut Link<Batch>) -> (u64, Result<(), Stop>) {
        tokens.into_iter().for_each(|token| link.send(token));
        link.drain();
        let left = self.shares.first_left();
        match locked(&self.failure).take() {
            Some(Failure { written, stop, .. }) if written <= left => (written, Err(stop)),
            _ => (left, Ok(())),
        }
    }

    /// The part of a body: executes ranges of a token's share.
    pub(super) fn work(&self, node: &Node<'_, '_>, files: &InPlace, mut token: Batch) -> Batch {
        let (mut own, mut reported) = (node.take(), None::<Instant>);
        while !self.over.load(Ordering::Relaxed)
            && let Some(states) = self.shares.take(token.share)
        {
            (token.first, token.n) = (states.start, states.end - states.start);
            files.lend(&mut token);
            node.run_with(&mut own, &mut token);
            self.done.fetch_add(token.n, Ordering::Relaxed);
            if let Some(stop) = token.failure.take() {
                self.fail(Failure { batch: token.first, written: token.first + token.n, stop });
            }
            if reported.is_none_or(|at| at.elapsed() >= REPORT) {
                reported = Some(Instant::now());
                self.over.fetch_or(node.flags().stops(), Ordering::Relaxed);
                node.flags().report(|| self.done.load(Ordering::Relaxed));
            }
        }
        node.put_back(own);
        token
    }

    fn fail(&self, failure: Failure) {
        let mut first = locked(&self.failure);
        if first.as_ref().is_none_or(|first| failure.batch < first.batch) {
            *first = Some(failure);
        }
    }
}
