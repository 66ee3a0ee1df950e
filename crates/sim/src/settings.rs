//! The numbers of a virtual machine.

/// Settings of a run. Times are in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Workers.
    pub workers: usize,
    /// Seed of their random sequences.
    pub seed: u64,
    /// From a decision to its claim.
    pub decide: u64,
    /// Cost of an activation besides its firings, whether it fires or not.
    pub overhead: u64,
    /// Additional cost where the node was last activated by another worker.
    pub migrate: u64,
    /// Additional cost of each item that another worker published.
    pub transfer: u64,
    /// From a publication until a sleeping worker asks.
    pub wake: u64,
    /// Time between the questions of an idle worker.
    pub spin: u64,
    /// Questions with the answer [`Decision::Idle`](thalweg_policy::Decision::Idle) in a row before a worker sleeps.
    pub patience: u32,
    /// Most firings of an activation of a sequential node.
    pub budget: u64,
    /// Firings of a sequential node from one publication to the next.
    pub slice: u64,
    /// Most firings in one claim of a parallel node.
    pub run: u64,
    /// Most runs of a parallel node that are claimed and not published; 0 is twice the workers.
    pub window: usize,
    /// Whether the host knows what the next firing of a sequential node with dynamic rates moves.
    /// Without, it knows what the engine knows: what the latest activation lacked. See `world`.
    pub foresight: bool,
    /// Most events of the whole run.
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
            foresight: true,
            steps: 100_000_000,
        }
    }
}
