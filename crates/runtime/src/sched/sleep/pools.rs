//! Pools: workers that serve one node each, and the worker that a change of the node wakes.
//!
//! Under a policy with pools ([`Needs::Pools`](thalweg_policy::Needs)) each worker belongs to one *pool*, that of the node it
//! serves, and examines no other node. A pool may have several workers, if its node is parallel. So a change of a node needs a
//! worker of one pool, and any worker of it will do: the pool is a small run of its own, with a word of its own.
//!
//! # States
//!
//! The states of a worker are those of [`sleep`](super). A word of its pool counts it as the run's word does:
//!
//! | worker is | in the pool's count | the pool is `SEARCHING` |
//! |---|---|---|
//! | unseated, announced, asleep | yes | as others of the pool say |
//! | summoned, rung | no | yes: set by the waker, [`Sleep::wake_in`] or any other |
//! | awake, searching | no | yes, until a worker of the pool finds work or announces sleep |
//! | awake, working | no | as others of the pool say |
//!
//! # Counters
//!
//! | field | written by | ordering | meaning |
//! |---|---|---|---|
//! | pool's word, bits above 3 | every thread that changes `asleep`, under the mutex | `Relaxed`, with the fences of [`sleep`](super) | workers of the pool in `asleep` |
//! | pool's word, bit 0 | wakers and announcing workers, under the mutex; a worker that finds work | `Relaxed` | a woken worker of the pool has not found work yet |
//!
//! # The race
//!
//! ```text
//!   worker of pool p                         changer of what p's node waits for
//!   1. announce: count of p += 1             1. change a counter
//!   2. fence(SeqCst)                         2. fence(SeqCst)
//!   3. check p's node, and no other          3. read the word of p
//!   4. commit, or withdraw                   4. if the count is above 0, no worker of p searches and the node
//!                                               is claimable: wake one worker of p
//! ```
//!
//! # Why no wake-up is lost
//!
//! If the changer (3) reads a count of 0, then of each worker of the pool it misses the next announcement. So its fence comes
//! before that worker's fence (2), and the check (3) sees the change.
//!
//! If it reads `SEARCHING`, it relies on a worker of the pool that was woken. That one clears the bit before it fences: either by
//! an announcement, and then its check sees the change; or because it has found work. Then it claims firings of the node, and
//! after the claim it fences and wakes the next worker of the pool if the node is still claimable
//! ([`share_claim`](crate::sched::make_ready::share_claim)). A node that is not parallel has one worker, which checks it again.
//!
//! A worker of another pool never counts: neither does its search keep a changer from waking, which is why `SEARCHING` of the
//! run's word does not suffice, nor is it woken in place of one of the pool. Only jobs of teams, which every idle worker checks,
//! rely on the run's word ([`Sleep::wake_one`]).
//!
//! A dedicated thread is the other way to serve one node. It has no pool: `dozing` of its node stands for the count.

use super::{SEARCHING, SLEEPER, Sleep, Sleeper};
use crate::sync::{AtomicUsize, CachePadded, Ordering, lock};

/// The number of a pool: that of its node.
pub(crate) type Pool = usize;

/// The pool of a worker that serves no node.
const NONE: u32 = u32::MAX;

/// The pools of a run.
#[derive(Debug)]
pub(crate) struct Pools {
    /// By worker: its pool, or [`NONE`].
    of: Box<[u32]>,
    /// By pool. Padded, since changers read the word of their neighbour after every change.
    words: Box<[CachePadded<AtomicUsize>]>,
}

impl Pools {
    /// `count` pools. `of` has each worker's, in order of their numbers; none of the workers is announced.
    pub(crate) fn new(count: usize, of: impl IntoIterator<Item = Option<Pool>>) -> Pools {
        Pools {
            of: of.into_iter().map(|pool| pool.map_or(NONE, |pool| pool as u32)).collect(),
            words: (0..count).map(|_| CachePadded::new(AtomicUsize::new(0))).collect(),
        }
    }

    /// The pool of a worker; `None` if it serves no node.
    #[inline]
    pub(crate) fn of(&self, worker: Sleeper) -> Option<Pool> {
        self.of.get(worker).filter(|pool| **pool != NONE).map(|pool| *pool as Pool)
    }

    /// Whether a worker of the pool is announced and none searches.
    #[inline]
    fn wants_waking(&self, pool: Pool) -> bool {
        let word = self.words[pool].load(Ordering::Relaxed);
        word >= SLEEPER && word & SEARCHING == 0
    }

    fn word(&self, worker: Sleeper) -> Option<&AtomicUsize> {
        self.of(worker).map(|pool| &*self.words[pool])
    }

    /// A worker joins `asleep`. The caller has the mutex, and fences afterwards.
    pub(super) fn add(&self, worker: Sleeper) {
        self.word(worker).inspect(|word| _ = word.fetch_add(SLEEPER, Ordering::Relaxed));
    }

    /// A worker leaves `asleep`. The caller has the mutex.
    pub(super) fn remove(&self, worker: Sleeper) {
        self.word(worker).inspect(|word| _ = word.fetch_sub(SLEEPER, Ordering::Relaxed));
    }

    /// A worker is woken. The caller has the mutex.
    pub(super) fn begin_search(&self, worker: Sleeper) {
        self.word(worker).inspect(|word| _ = word.fetch_or(SEARCHING, Ordering::Relaxed));
    }

    /// A woken worker has found work, or announces sleep. It fences before it checks its node.
    pub(super) fn end_search(&self, worker: Sleeper) {
        self.word(worker).inspect(|word| _ = word.fetch_and(!SEARCHING, Ordering::Relaxed));
    }
}

impl Sleep {
    /// Gives each worker the node that it serves. Before any worker starts.
    pub(crate) fn set_pools(&self, pools: Pools) {
        self.pools.get_or_init(|| pools);
    }

    /// The pools; `None` if any worker may run any node.
    #[inline]
    pub(crate) fn pools(&self) -> Option<&Pools> {
        self.pools.get()
    }

    /// Whether [`Sleep::wake_in`] would wake a worker of the pool; `None` without pools. The caller has fenced since its change:
    /// step 3 of a changer.
    #[inline]
    pub(crate) fn wants_waking_in(&self, pool: Pool) -> Option<bool> {
        self.pools().map(|pools| pools.wants_waking(pool))
    }

    /// Wakes the worker of the pool that announced sleep last, unless one searches already. The looker is the last to be woken.
    /// Step 4 of a changer.
    pub(crate) fn wake_in(&self, pool: Pool) {
        let state = lock(&self.state);
        let Some(pools) = self.pools().filter(|pools| pools.wants_waking(pool) && !state.over) else {
            return;
        };
        let is_of = |worker: &Sleeper| pools.of(*worker) == Some(pool);
        let other = state.asleep.iter().rposition(|w| is_of(w) && state.looker != Some(*w));
        if let Some(at) = other.or_else(|| state.asleep.iter().rposition(is_of)) {
            self.wake_at(at, state);
        }
    }
}
