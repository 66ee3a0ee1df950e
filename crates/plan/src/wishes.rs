//! The settings of a run that a user can make.

use std::sync::Arc;
use thalweg_machine::Machine;

/// The settings of a run that a user can make. The plan chooses those that are `None`.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Wishes {
    /// Number of workers: 0 counts as 1, and more than [`MOST_THREADS`](crate::MOST_THREADS) as that many.
    pub threads: Option<usize>,
    /// The machine to plan for: without a wish for threads, as many workers as it [has threads](Machine::threads), and
    /// claims and messages that fit into its first-level caches. Where it is `None`, as many workers as this machine has
    /// threads, and first-level caches of 32 KiB.
    pub machine: Option<Arc<Machine>>,
    /// Name of the scheduling policy.
    pub policy: Option<String>,
    /// The number of workers for each parallel node, under the policy [`POOLS`](crate::POOLS); the sum of all decides the number
    /// of workers of the run. 0 counts as 1. `None` divides the threads that one worker for each other node leaves.
    pub pools: Option<usize>,
    /// The most bytes that all channels together may hold.
    pub budget: Option<usize>,
    /// Capacity, in items, of every channel that has none in the graph.
    pub capacity: Option<usize>,
    /// The most firings in a claim, for all nodes. 0 counts as 1.
    pub claim_length: Option<usize>,
    /// Every sequential kernel and process gets a thread of its own.
    pub one_to_one: bool,
    /// The run reads no clock. So no channel can widen by time: channels of items that own memory begin with all their slots.
    pub counted: bool,
    /// The number of nodes that keep items and share a part of the budget for them. 0 counts as 1.
    pub keepers: usize,
}
