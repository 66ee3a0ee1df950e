//! Pools: workers that run only nodes of their own, and the worker that a change of a node wakes.
//!
//! Under a policy whose nodes the plan assigns ([`Needs::Assigned`](thalweg_policy::Needs), [`Needs::Pools`](thalweg_policy::Needs))
//! a worker examines no node but its own. The workers of a node are its *pool*; nodes with the same workers have the same pool. So
//! a change of a node needs a worker of one pool, and any worker of it will do: the pool is a small run of its own, with a word of
//! its own. A worker may be in several pools: alone in that of its segments, and with others in those of its replicas.
//!
//! # States
//!
//! The states of a worker are those of [`sleep`](super). The words of its pools count it as the run's word does:
//!
//! | worker is | in its pools' counts | its pools are `SEARCHING` |
//! |---|---|---|
//! | unseated, announced, asleep | yes | as others of each pool say |
//! | summoned, rung | no | yes: set by the waker, [`Sleep::wake_in`] or any other |
//! | awake, searching | no | yes, until a worker of the pool finds work or announces sleep |
//! | awake, working | no | as others of each pool say |
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
//!   worker of pool p                         changer of what a node of p waits for
//!   1. announce: count of p += 1             1. change a counter
//!   2. fence(SeqCst)                         2. fence(SeqCst)
//!   3. check its nodes, and no others        3. read the word of p
//!   4. commit, or withdraw                   4. if the count is above 0, no worker of p searches and the node
//!                                               is claimable: wake one worker of p
//! ```
//!
//! # Why no wake-up is lost
//!
//! If the changer (3) reads a count of 0, then of each worker of the pool it misses the next announcement. So its fence comes
//! before that worker's fence (2), and the check (3) sees the change.
//!
//! If it reads `SEARCHING`, it relies on a worker of the pool that was woken. That one clears the bit before it fences: by an
//! announcement, or because it has found work.
//!
//! - After an announcement its check sees the change, or stops earlier at another node that has work.
//! - If it has found work of the node in question, it claims firings of the node, and after the claim it fences and wakes the next
//!   worker of the pool if the node is still claimable ([`share_claim`](crate::sched::make_ready::share_claim)).
//! - If it has found other work, in its search or in the check, it fences and wakes a worker for each claimable node that it has in
//!   common with others ([`share_common`](crate::sched::make_ready::share_common)). A worker that is alone in the pool checks all its
//!   nodes again before it sleeps.
//!
//! A worker outside of the pool never counts: neither does its search keep a changer from waking, which is why `SEARCHING` of the
//! run's word does not suffice, nor is it woken in place of one of the pool. Only jobs of teams, which every idle worker checks,
//! rely on the run's word ([`Sleep::wake_one`]).
//!
//! A dedicated thread is the other way to serve one node. It has no pool: `dozing` of its node stands for the count.

use super::{SEARCHING, SLEEPER, Sleep, Sleeper};
use crate::sync::{AtomicUsize, CachePadded, Ordering, lock};
use std::collections::BTreeMap;

/// The number of a pool.
type Pool = u32;

/// The pool of a node that no worker runs.
const NONE: Pool = Pool::MAX;

/// The nodes and pools of one worker.
#[derive(Debug, Default)]
struct Own {
    nodes: Vec<u32>,
    /// The nodes that other workers run too.
    common: Vec<u32>,
    pools: Vec<Pool>,
}

/// The pools of a run.
#[derive(Debug)]
pub(crate) struct Pools {
    /// By node: its pool, or [`NONE`].
    of: Box<[Pool]>,
    /// By pool: the number of its workers.
    sizes: Box<[u32]>,
    /// By pool. Padded, since changers read the word of their neighbour after every change.
    words: Box<[CachePadded<AtomicUsize>]>,
    /// By worker.
    own: Box<[Own]>,
}

impl Pools {
    /// The pools of `workers` workers. `of` has the workers of each node, in order of the nodes. None of the workers is announced.
    pub(crate) fn new<'a>(workers: usize, of: impl IntoIterator<Item = &'a [u32]>) -> Pools {
        let mut own: Vec<Own> = (0..workers).map(|_| Own::default()).collect();
        let mut numbers: BTreeMap<Vec<u32>, Pool> = BTreeMap::new();
        let (mut pools, mut sizes) = (Vec::new(), Vec::new());
        for (node, listed) in (0..).zip(of) {
            let mut set: Vec<u32> = listed.iter().copied().filter(|at| (*at as usize) < workers).collect();
            set.sort_unstable();
            if set.is_empty() {
                pools.push(NONE);
                continue;
            }
            for worker in &set {
                let own = &mut own[*worker as usize];
                own.nodes.push(node);
                if set.len() > 1 {
                    own.common.push(node);
                }
            }
            let next = numbers.len() as Pool;
            let pool = *numbers.entry(set).or_insert_with_key(|set| {
                sizes.push(set.len() as u32);
                set.iter().for_each(|worker| own[*worker as usize].pools.push(next));
                next
            });
            pools.push(pool);
        }
        Pools {
            of: pools.into(),
            words: sizes.iter().map(|_| CachePadded::new(AtomicUsize::new(0))).collect(),
            sizes: sizes.into(),
            own: own.into(),
        }
    }

    /// The nodes that a worker runs.
    #[inline]
    pub(crate) fn nodes_of(&self, worker: Sleeper) -> &[u32] {
        self.own.get(worker).map_or(&[], |own| &own.nodes)
    }

    /// The nodes that a worker and others run.
    #[inline]
    pub(crate) fn common_nodes_of(&self, worker: Sleeper) -> &[u32] {
        self.own.get(worker).map_or(&[], |own| &own.common)
    }

    /// The number of workers that run a node.
    pub(crate) fn size_of(&self, node: usize) -> usize {
        self.pool(node).map_or(0, |pool| self.sizes[pool as usize] as usize)
    }

    fn pool(&self, node: usize) -> Option<Pool> {
        self.of.get(node).copied().filter(|pool| *pool != NONE)
    }

    /// Whether a worker of the pool is announced and none searches.
    #[inline]
    fn wants_waking(&self, pool: Pool) -> bool {
        let word = self.words[pool as usize].load(Ordering::Relaxed);
        word >= SLEEPER && word & SEARCHING == 0
    }

    fn words(&self, worker: Sleeper) -> impl Iterator<Item = &AtomicUsize> {
        let pools = self.own.get(worker).map_or(&[][..], |own| &own.pools);
        pools.iter().map(|pool| &*self.words[*pool as usize])
    }

    /// A worker joins `asleep`. The caller has the mutex, and fences afterwards.
    pub(super) fn add(&self, worker: Sleeper) {
        self.words(worker).for_each(|word| _ = word.fetch_add(SLEEPER, Ordering::Relaxed));
    }

    /// A worker leaves `asleep`. The caller has the mutex.
    pub(super) fn remove(&self, worker: Sleeper) {
        self.words(worker).for_each(|word| _ = word.fetch_sub(SLEEPER, Ordering::Relaxed));
    }

    /// A worker is woken. The caller has the mutex.
    pub(super) fn begin_search(&self, worker: Sleeper) {
        self.words(worker).for_each(|word| _ = word.fetch_or(SEARCHING, Ordering::Relaxed));
    }

    /// A woken worker has found work, or announces sleep. It fences before it checks its nodes.
    pub(super) fn end_search(&self, worker: Sleeper) {
        self.words(worker).for_each(|word| _ = word.fetch_and(!SEARCHING, Ordering::Relaxed));
    }
}

impl Sleep {
    /// Gives each worker the nodes that it runs. Before any worker starts.
    pub(crate) fn set_pools(&self, pools: Pools) {
        self.pools.get_or_init(|| pools);
    }

    /// The pools; `None` if any worker may run any node.
    #[inline]
    pub(crate) fn pools(&self) -> Option<&Pools> {
        self.pools.get()
    }

    /// Whether [`Sleep::wake_in`] would wake a worker of the node's pool; `None` without pools. The caller has fenced since its
    /// change: step 3 of a changer.
    #[inline]
    pub(crate) fn wants_waking_in(&self, node: usize) -> Option<bool> {
        self.pools().map(|pools| pools.pool(node).is_some_and(|pool| pools.wants_waking(pool)))
    }

    /// Wakes the worker of the node's pool that announced sleep last, unless one searches already. The looker is the last to be
    /// woken. Step 4 of a changer.
    pub(crate) fn wake_in(&self, node: usize) {
        let state = lock(&self.state);
        let Some(pools) = self.pools() else { return };
        let Some(pool) = pools.pool(node).filter(|pool| pools.wants_waking(*pool) && !state.over) else {
            return;
        };
        let is_of = |worker: &Sleeper| pools.own.get(*worker).is_some_and(|own| own.pools.contains(&pool));
        let other = state.asleep.iter().rposition(|w| is_of(w) && state.looker != Some(*w));
        if let Some(at) = other.or_else(|| state.asleep.iter().rposition(is_of)) {
            self.wake_at(at, state);
        }
    }
}
