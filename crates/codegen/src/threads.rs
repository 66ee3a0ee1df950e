//! How a run is dealt out to threads.

/// What is done on which thread. The result does not depend on it.
///
/// Of programs of dynamic rates, whose regions go in groups of neighbours from thread to thread, there is one way to
/// deal the groups out: as equal as can be ([`Split::Filters`] has a group for each region). The last two are the ways of Soulé
/// and others, "Dynamic expressivity with static optimization for streaming languages", 2013, section 3.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Split {
    /// Stretches without state on all threads at once, the rest in pieces that are dealt out evenly.
    #[default]
    Auto,
    /// A thread of the operating system for each filter.
    Filters,
    /// Hardware pipelining: neighbours are fused to as many segments as there are threads, as equal as can be,
    /// and each segment is on one thread at a time. (There each is bound to a core for good; here the system
    /// may move the threads.)
    Pipeline,
    /// Static data parallelism: all is fused that can be, all threads do a batch of steady states each of what has
    /// no state, and wait for one another before the next: the barrier of section 5.2, once for a scaled steady
    /// state. (What has state goes from batch to batch between two barriers, where there it is done by other
    /// threads on the other one of two buffers.) There are no programs of dynamic rates in it.
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
    /// Steady states in a batch, if it is not for us to choose; of the sources, of dynamic rates. What must be
    /// repeated for a batch is never more than a batch.
    pub batch: Option<u64>,
}

impl Threads {
    /// So many, and the rest as we choose.
    pub fn new(count: usize) -> Threads {
        Threads { count, split: Split::default(), policy: None, batch: None }
    }

    /// Whether nothing is said of how steady states are dealt out.
    pub(crate) fn leaves_it_to_us(&self) -> bool {
        self.split == Split::Auto && self.policy.is_none()
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
