//! The domains of the paper's models: the pipelines for which it states them.
//!
//! Outside of its domain a model still gives a number, which nothing supports: the paper's equations have no room for what
//! they leave out (small capacities, other variations, ordered output). [`tandem`](crate::tandem) is for all pipelines.

use crate::error::MAX_ITEMS;
use crate::{Edge, Model, Pipeline, Settings, Workers};
use std::fmt;

/// What one of the paper's models assumes of a pipeline and its settings. See [`Model::domain`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Domain {
    /// Whether each stage has threads of its own; otherwise all stages share theirs.
    pub pools: bool,
    /// The lowest and the highest coefficient of variation of a firing's time.
    pub variation: (f64, f64),
    /// Whether a firing may take and make other than one item.
    pub gains: bool,
    /// The minimum number of items that each channel holds.
    pub room: u64,
    /// The minimum number of tokens for each thread; `None` where the items in flight have no limit.
    pub tokens_per_thread: Option<u64>,
}

/// The first assumption of a model that a pipeline does not meet. Numbers are indices of stages and edges.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outside {
    /// The model is of pools and the settings have shared threads, or the reverse.
    Workers,
    /// The items in flight have a limit where the model has none, none where the model has one, or one of fewer for each
    /// thread than the model assumes.
    Tokens {
        /// The limit.
        tokens: Option<u64>,
    },
    /// The times of a stage vary more or less than exponential ones.
    Variation {
        /// The stage.
        stage: usize,
        /// Its coefficient of variation.
        variation: f64,
    },
    /// A stage with several threads keeps the order of its items, and its window does not hold all tokens.
    Order {
        /// The stage.
        stage: usize,
    },
    /// A firing takes or makes other than one item.
    Rates {
        /// The edge.
        edge: usize,
    },
    /// A channel holds too few items.
    Room {
        /// The edge.
        edge: usize,
        /// The items that it holds.
        capacity: u64,
    },
}

/// Exponential times, as a few hundred measured firings show them.
const EXPONENTIAL: (f64, f64) = (0.75, 1.25);

/// The part of the longest stage's time below which a stage's variation and order have no effect worth a model.
const NEGLIGIBLE: f64 = 0.05;

/// The difference between a mean rate and one item below which it is one item.
const ONE: f64 = 0.01;

impl Model {
    /// The domain of one of the paper's models; `None` for models of ours and for the bound, which hold for all pipelines.
    ///
    /// | model | the paper states it for |
    /// |---|---|
    /// | [`Model::Closed`] | pools, channels of 20 and 100 items (section 3.1, figure 7) |
    /// | [`Model::Open`] | pools, channels of a million items (section 3.2) |
    /// | [`Model::Stealing`], [`Model::Ideal`] | shared threads, tokens; the sizes of section 3.4 are 3 and 5 for each thread |
    ///
    /// All of exponential times, stages without order (or whose windows hold all tokens), and, but for the open model, one
    /// item for each firing.
    ///
    /// ```
    /// use thalweg_queueing::{Model, Outside, Pipeline, Settings, Stage};
    ///
    /// let domain = Model::Closed.domain().expect("a model of the paper");
    /// let stages = vec![Stage::sequential(0.5, 1.0), Stage::parallel(4.0, 1.0)];
    /// let (roomy, narrow) = (Pipeline::chain(stages.clone(), 20)?, Pipeline::chain(stages, 4)?);
    /// let settings = Settings::pools([1, 8]);
    /// assert_eq!(domain.outside(&roomy, &settings), None);
    /// assert_eq!(domain.outside(&narrow, &settings), Some(Outside::Room { edge: 0, capacity: 4 }));
    /// # Ok::<(), thalweg_queueing::Error>(())
    /// ```
    pub fn domain(self) -> Option<Domain> {
        let pools =
            Domain { pools: true, variation: EXPONENTIAL, gains: false, room: 20, tokens_per_thread: None };
        match self {
            Self::Closed => Some(pools),
            Self::Open => Some(Domain { gains: true, room: 1_000_000, ..pools }),
            Self::Stealing | Self::Ideal => {
                Some(Domain { pools: false, room: 1, tokens_per_thread: Some(3), ..pools })
            }
            Self::Pair | Self::Tandem | Self::Workers | Self::Assigned | Self::Bound => None,
        }
    }
}

impl Domain {
    /// The first assumption that the pipeline with these settings does not meet; `None` where the model applies.
    ///
    /// Stages that take less than a twentieth of the longest one's time may have any variation and order. Where there are
    /// tokens, each channel has to hold all of them: the model has no full channels.
    pub fn outside(&self, pipeline: &Pipeline, settings: &Settings) -> Option<Outside> {
        self.settings(settings)
            .or_else(|| self.stages(pipeline, settings))
            .or_else(|| self.edges(pipeline, settings.tokens))
    }

    fn settings(&self, settings: &Settings) -> Option<Outside> {
        let threads = match settings.workers {
            Workers::Pools(_) if self.pools => None,
            Workers::Shared(p) if !self.pools => Some(p),
            _ => return Some(Outside::Workers),
        };
        let enough = match (self.tokens_per_thread, settings.tokens) {
            (None, None) => true,
            (Some(each), Some(tokens)) => tokens >= each * u64::from(threads.unwrap_or(1)),
            _ => false,
        };
        (!enough).then_some(Outside::Tokens { tokens: settings.tokens })
    }

    fn stages(&self, pipeline: &Pipeline, settings: &Settings) -> Option<Outside> {
        let threads = settings.threads(pipeline).ok()?;
        let longest = pipeline.demands().fold(0.0, f64::max);
        let stages = pipeline.stages().iter().zip(pipeline.demands()).zip(threads).enumerate();
        let mut counted = stages.filter(|(_, ((_, demand), _))| *demand > NEGLIGIBLE * longest);
        let (lowest, highest) = self.variation;
        counted.find_map(|(i, ((stage, _), threads))| {
            if !(lowest..=highest).contains(&stage.variation) {
                return Some(Outside::Variation { stage: i, variation: stage.variation });
            }
            let waits =
                stage.window.is_some_and(|window| settings.tokens.is_none_or(|tokens| window < tokens));
            (threads > 1 && waits).then_some(Outside::Order { stage: i })
        })
    }

    fn edges(&self, pipeline: &Pipeline, tokens: Option<u64>) -> Option<Outside> {
        let room = self.room.max(tokens.unwrap_or(0));
        let is_one = |rate: f64| (rate - 1.0).abs() <= ONE;
        let outside = |(i, edge): (usize, &Edge)| {
            if !(self.gains || is_one(edge.pushes) && is_one(edge.pops)) {
                return Some(Outside::Rates { edge: i });
            }
            let capacity = edge.capacity.unwrap_or(MAX_ITEMS);
            (capacity < room).then_some(Outside::Room { edge: i, capacity })
        };
        pipeline.edges().iter().enumerate().find_map(outside)
    }
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers => f.write_str("threads are shared where it has pools, or the reverse"),
            Self::Tokens { tokens: None } => f.write_str("no limit of tokens, which it has"),
            Self::Tokens { tokens: Some(tokens) } => {
                write!(f, "a limit of {tokens} tokens, which it does not have or takes for too low")
            }
            Self::Variation { variation, .. } => {
                write!(f, "times with a variation of {variation:.2} where it has 1")
            }
            Self::Order { .. } => f.write_str("ordered output of a parallel stage, which it does not have"),
            Self::Rates { .. } => f.write_str("firings that take or make other than one item"),
            Self::Room { capacity, .. } => {
                write!(f, "a channel of {capacity} items, which it takes for too few")
            }
        }
    }
}
