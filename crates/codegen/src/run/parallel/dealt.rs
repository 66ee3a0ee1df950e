//! Stateless programs on files in memory: workers share the steady states.
//!
//! **Actors.** The driver sends as many batches as there are workers. Such a batch is a *token*: whoever has it takes
//! ranges of steady states from its share ([`Shares`]) and executes them, for about a millisecond, and then returns it.
//! The driver sends a token on until no steady state is left. A batch here has only places in the files, so no data
//! passes between threads. If consecutive ranges go to one share, its memory is ready for the next one.
//!
//! **Shared state.** `over` tells bodies to take no more ranges. `done` counts steady states for progress. Both are
//! relaxed: they publish no data. The memory of a share is under a lock that only the holder of its token takes. The
//! driver reads results after all tokens are back, which the channels order.
//!
//! **Result.** Output is complete up to the first range that was not taken, or up to the first failure if
//! that comes before.

use super::files::InPlace;
use super::node::{Batch, Node, Own};
use super::shares::Shares;
use crate::run::engine::Link;
use crate::run::locked;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use thalweg_lang::interpret::{Stop, Surroundings};

/// The time for which a body keeps a token.
const STINT: Duration = Duration::from_millis(1);

/// The state that bodies share.
pub(super) struct Dealt<'a> {
    shares: Shares,
    /// By share: the memory of its last batch.
    own: Vec<Mutex<Option<Own<'a>>>>,
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

impl<'a> Dealt<'a> {
    pub(super) fn new(shares: Shares, first: u64) -> Dealt<'a> {
        Dealt {
            own: (0..shares.count()).map(|_| Mutex::default()).collect(),
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
    pub(super) fn drive(
        &self,
        tokens: Vec<Batch>,
        link: &mut Link<Batch>,
        around: &mut Surroundings<'_>,
    ) -> (u64, Result<(), Stop>) {
        let mut under_way = tokens.len();
        tokens.into_iter().for_each(|token| link.send(token));
        while under_way > 0
            && let Some(token) = link.next()
        {
            self.over.fetch_or((around.interrupted)(), Ordering::Relaxed);
            (around.progress)(self.done.load(Ordering::Relaxed));
            if token.is_spent { under_way -= 1 } else { link.send(token) }
        }
        let left = self.shares.first_left();
        match locked(&self.failure).take() {
            Some(Failure { written, stop, .. }) if written <= left => (written, Err(stop)),
            _ => (left, Ok(())),
        }
    }

    /// The part of a body: executes ranges of a token's share.
    pub(super) fn work(&self, node: &Node<'_, 'a>, files: &InPlace, mut token: Batch) -> Batch {
        let (since, share) = (Instant::now(), token.share);
        let mut own = locked(&self.own[share]).take().unwrap_or_else(|| node.take());
        while since.elapsed() < STINT {
            let states = (!self.over.load(Ordering::Relaxed)).then(|| self.shares.take(share)).flatten();
            let Some(states) = states else {
                token.is_spent = true;
                break;
            };
            (token.first, token.n) = (states.start, states.end - states.start);
            files.lend(&mut token);
            node.run_with(&mut own, &mut token);
            self.done.fetch_add(token.n, Ordering::Relaxed);
            if let Some(stop) = token.failure.take() {
                self.fail(Failure { batch: token.first, written: token.first + token.n, stop });
            }
        }
        *locked(&self.own[share]) = Some(own);
        token
    }

    fn fail(&self, failure: Failure) {
        let mut first = locked(&self.failure);
        if first.as_ref().is_none_or(|first| failure.batch < first.batch) {
            *first = Some(failure);
        }
    }
}
