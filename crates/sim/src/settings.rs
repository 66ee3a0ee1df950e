//! Costs and sizes of the virtual machine.

use crate::caches::CacheModel;

/// Settings of a run. Times are in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The number of workers.
    pub workers: usize,
    /// The seed of their random sequences.
    pub seed: u64,
    /// Time from a decision to its claim.
    pub decide: u64,
    /// Cost of an activation in addition to its firings, whether it fires or not.
    pub overhead: u64,
    /// Additional cost of an activation if another worker activated the node last.
    pub migrate: u64,
    /// Additional cost of each popped item that another worker has pushed.
    pub transfer: u64,
    /// Time from a publication until a sleeping worker calls the policy.
    pub wake: u64,
    /// Time between two calls of the policy by an idle worker.
    pub spin: u64,
    /// Consecutive [`Decision::Idle`](thalweg_policy::Decision::Idle) after which a worker sleeps.
    pub patience: u32,
    /// Maximum number of firings of an activation of a sequential node.
    pub budget: u64,
    /// Firings of a sequential node from one publication to the next.
    pub slice: u64,
    /// Maximum number of firings in one claim of a parallel node.
    pub run: u64,
    /// Maximum number of claimed and unpublished runs of a parallel node; 0 stands for twice the number of workers.
    pub window: usize,
    /// Time of a wait of a firing for its ticket, if firings of parallel nodes wait for them as in the DANBI paper: see
    /// `turns`. With 0 they do not wait.
    pub ticket_wait: u64,
    /// Whether the host knows what the next firing of a sequential node with dynamic rates moves. Without foresight
    /// it knows what the engine knows: what the latest activation lacked. See `world`.
    pub foresight: bool,
    /// Private caches, in which firings miss. Without them memory costs nothing.
    pub cache: Option<CacheModel>,
    /// Maximum number of events of the run.
    pub steps: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            workers: 1,
            seed: 1,
            decide: 20,
            overhead: 100,
            migrate: 200,
            transfer: 2,
            wake: 2_000,
            spin: 200,
            patience: 2,
            budget: 500,
            slice: 64,
            run: 16,
            window: 0,
            ticket_wait: 0,
            foresight: true,
            cache: None,
            steps: 100_000_000,
        }
    }
}
