//! How the work of a run is partitioned over threads.

use thalweg::Options;
use thalweg::embed::plan::Division;
use thalweg::embed::runtime::EmbedOptions;

/// The partition of the work over threads. The result does not depend on it.
///
/// A program with dynamic rates is cut into groups of neighbouring regions. [`Split::Pipeline`] and
/// [`Split::DataParallel`] are schemes of Soulé and others, "Dynamic expressivity with static optimization for streaming
/// languages", 2013, section 3.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Split {
    /// Stateless stretches are data parallel over all threads; the rest is cut into pieces of balanced cost. With
    /// dynamic rates, a region whose only state is the content of its queues has a copy for each thread.
    #[default]
    Auto,
    /// An operating-system thread for each filter; for each region, with dynamic rates.
    Filters,
    /// Hardware pipelining: neighbours are fused into as many segments as there are threads, balanced by measured cost.
    /// Each segment begins on a worker of its own, which is bound to a core if the engine's options say
    /// [`pinned`](thalweg::Options::pinned). (In the paper a segment stays on its core for the life of the program, and
    /// costs are estimated; here another worker may take it.) With dynamic rates regions are the neighbours.
    Pipeline,
    /// Static data parallelism: everything that can be fused is, each thread runs a batch of steady states of
    /// the stateless part, and all threads wait for one another before the next batch: the barrier of section
    /// 5.2, once for a scaled steady state. (Stateful nodes process batch after batch between two barriers;
    /// in the paper other threads run them on the second of two buffers.) The paper's scheme has no dynamic rates: a
    /// program that has them is partitioned as with [`Split::Auto`], without barriers.
    DataParallel,
}

/// The engine's settings for a run, and how the work is partitioned.
#[derive(Clone, Default, Debug)]
#[non_exhaustive]
pub struct Threads {
    /// The engine's options: threads, policy, plan, results.
    pub engine: Options,
    /// How the work is partitioned.
    pub split: Split,
    /// Steady states in a batch (of the sources, with dynamic rates); chosen automatically by default. What
    /// is recomputed for a batch never exceeds a batch.
    pub batch: Option<u64>,
}

impl Threads {
    /// This many threads, and defaults for the rest.
    pub fn new(count: usize) -> Threads {
        Threads::of(Options::new().threads(count))
    }

    /// These options of the engine, and defaults for the rest.
    pub fn of(engine: Options) -> Threads {
        Threads { engine, split: Split::default(), batch: None }
    }

    /// Sets how the work is partitioned.
    pub fn split(mut self, split: Split) -> Threads {
        self.split = split;
        self
    }

    /// Sets the steady states in a batch.
    pub fn batch(mut self, batch: impl Into<Option<u64>>) -> Threads {
        self.batch = batch.into();
        self
    }

    /// The number of workers.
    pub fn count(&self) -> usize {
        self.engine.workers()
    }

    /// Whether the caller has left the partition open.
    pub(crate) fn leaves_it_to_us(&self) -> bool {
        self.split == Split::Auto
    }

    /// How a plan divides the program.
    pub(crate) fn division(&self) -> Division {
        match self.split {
            Split::Auto | Split::DataParallel => Division::Copies,
            Split::Filters => Division::Each,
            Split::Pipeline => Division::Pipeline,
        }
    }
}
