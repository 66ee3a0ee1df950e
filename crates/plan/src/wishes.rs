//! The settings of a run that a user can make.

use std::sync::Arc;
use thalweg_machine::Machine;

/// The settings of a run that a user can make. The plan chooses what is not set.
///
/// ```
/// use thalweg_plan::Wishes;
///
/// let wishes = Wishes::default().threads(4).budget(64 << 20);
/// ```
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Wishes {
    pub(crate) threads: Option<usize>,
    pub(crate) machine: Option<Arc<Machine>>,
    pub(crate) policy: Option<String>,
    pub(crate) pools: Option<usize>,
    pub(crate) budget: Option<usize>,
    pub(crate) capacity: Option<Capacity>,
    pub(crate) claim_length: Option<usize>,
    pub(crate) thread_per_node: bool,
    pub(crate) repeatable: bool,
    pub(crate) keepers: usize,
}

/// How many items channels are to have room for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Capacity {
    /// This number.
    Items(usize),
    /// Those of this number of firings of each worker.
    Firings(f64),
}

impl Wishes {
    /// The number of workers: 0 counts as 1, and more than [`MOST_THREADS`](crate::MOST_THREADS) as that many.
    pub fn threads(mut self, threads: usize) -> Wishes {
        self.threads = Some(threads);
        self
    }

    /// The machine to plan for: without a wish for threads, as many workers as it [has threads](Machine::threads), and
    /// claims and messages that fit into its first-level caches. Without this wish, as many workers as this machine has
    /// threads, and first-level caches of 32 KiB.
    pub fn machine(mut self, machine: Arc<Machine>) -> Wishes {
        self.machine = Some(machine);
        self
    }

    /// The name of the scheduling policy.
    pub fn policy(mut self, name: impl Into<String>) -> Wishes {
        self.policy = Some(name.into());
        self
    }

    /// The number of workers for each parallel node, under the policy [`POOLS`](crate::POOLS); the sum of all decides the
    /// number of workers of the run. 0 counts as 1. Without this wish, the threads that one worker for each other node leaves
    /// are divided.
    pub fn pools(mut self, workers: usize) -> Wishes {
        self.pools = Some(workers);
        self
    }

    /// The maximum number of bytes that all channels together may hold.
    pub fn budget(mut self, bytes: usize) -> Wishes {
        self.budget = Some(bytes);
        self
    }

    /// The capacity, in items, of every channel that has none in the graph.
    pub fn capacity(mut self, items: usize) -> Wishes {
        self.capacity = Some(Capacity::Items(items));
        self
    }

    /// The capacity of every channel that has none in the graph, by its rates: `factor` times max(P, C) T items, where a
    /// firing pushes P or pops C and there are T workers, and at least those of one firing. It is the rule of the DANBI paper
    /// (section IV-A), whose factors are 1/3 to 3 (Figure 7); firings are its claims. Replaces [`Wishes::capacity`].
    pub fn firings_per_thread(mut self, factor: f64) -> Wishes {
        self.capacity = Some(Capacity::Firings(factor));
        self
    }

    /// The maximum number of firings in a claim, for all nodes. 0 counts as 1.
    pub fn claim_length(mut self, firings: usize) -> Wishes {
        self.claim_length = Some(firings);
        self
    }

    /// Whether every sequential kernel and process gets a thread of its own.
    pub fn thread_per_node(mut self, each: bool) -> Wishes {
        self.thread_per_node = each;
        self
    }

    /// Whether the run reads no clock. So no channel can widen by time: channels of items that own memory begin with all
    /// their slots.
    pub fn repeatable(mut self, repeatable: bool) -> Wishes {
        self.repeatable = repeatable;
        self
    }

    /// The number of nodes that keep items and share a part of the budget for them. 0 counts as 1.
    pub fn keepers(mut self, nodes: usize) -> Wishes {
        self.keepers = nodes;
        self
    }

    /// Sets by `set` what `wish` has, if it has anything.
    ///
    /// ```
    /// use thalweg_plan::Wishes;
    ///
    /// let (threads, budget) = (Some(2), None);
    /// let wishes = Wishes::default().maybe(threads, Wishes::threads).maybe(budget, Wishes::budget);
    /// assert_eq!(wishes, Wishes::default().threads(2));
    /// ```
    pub fn maybe<T>(self, wish: Option<T>, set: impl FnOnce(Wishes, T) -> Wishes) -> Wishes {
        match wish {
            Some(wish) => set(self, wish),
            None => self,
        }
    }
}
