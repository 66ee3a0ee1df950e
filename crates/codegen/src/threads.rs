//! How a run is dealt out to threads.

/// What is done on which thread, of programs of static rates. The result does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Split {
    /// Stretches without state on all threads at once, the rest in pieces that are dealt out evenly.
    #[default]
    Auto,
    /// A thread of the operating system for each filter.
    Filters,
    /// Hardware pipelining: fused to as many segments as there are threads, as equal as can be.
    Pipeline,
    /// Static data parallelism: all threads do a batch each, and wait for one another.
    DataParallel,
}

/// Threads for a run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Threads {
    /// How many.
    pub count: usize,
    /// What is done on which.
    pub split: Split,
    /// The engine's policy, if it is not the one it chooses.
    pub policy: Option<String>,
    /// Steady states in a batch, if it is not for us to choose. What must be repeated for a batch is never
    /// more than a batch.
    pub batch: Option<u64>,
}

impl Threads {
    /// So many, and the rest as we choose.
    pub fn new(count: usize) -> Threads {
        Threads { count, split: Split::default(), policy: None, batch: None }
    }

    /// Whether it matters what each step costs.
    pub(crate) fn needs_costs(&self, free: bool) -> bool {
        match self.split {
            Split::Auto | Split::DataParallel => !free,
            Split::Pipeline => true,
            Split::Filters => false,
        }
    }
}

impl Default for Threads {
    fn default() -> Threads {
        Threads::new(1)
    }
}
