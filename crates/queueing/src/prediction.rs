//! What a model says of a pipeline.

use crate::tandem::assigned::loads;
use crate::{Pipeline, Settings, Stage, Workers};
use std::fmt;

/// Which model gave a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Model {
    /// The exact Markov chain of two stages ([`crate::tandem::exact`]).
    Pair,
    /// The decomposition by buffers ([`crate::tandem::decompose`]).
    Tandem,
    /// Threads for all stages ([`crate::tandem::workers`]).
    Workers,
    /// Threads that each have stages of their own ([`crate::tandem::assigned`]).
    Assigned,
    /// Equation 4, and equation 2, case 1.
    Closed,
    /// Equations 5 and 6, and equation 2, case 2.
    Open,
    /// Equations 7 and 8, and equation 2, case 3.
    Stealing,
    /// M/M/P/PN/PN and equation 8.
    Ideal,
    /// Equations 9 and 10: threads over work, and the slowest stage.
    Bound,
}

impl Model {
    /// The equation of its throughput `x`, with `c` threads of a stage or `P` for all, and times `t` of a firing. What the threads
    /// wait is a part of their number, which the model finds.
    ///
    /// ```
    /// use thalweg_queueing::Model;
    ///
    /// assert_eq!(Model::Bound.equation(), "x = min(P / sum of t, c / t)");
    /// ```
    pub fn equation(self) -> &'static str {
        match self {
            Self::Pair | Self::Tandem | Self::Assigned => "x = (c - starved - blocked threads) / t",
            Self::Workers => "x = (P - waiting threads) / sum of t",
            Self::Closed | Self::Open => "x = (c - starved threads) / t",
            Self::Stealing | Self::Ideal => {
                "x = min((P - waiting threads) / sum of t, 1 / t of a serial stage)"
            }
            Self::Bound => "x = min(P / sum of t, c / t)",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pair => "exact chain of two stages",
            Self::Tandem => "tandem with finite buffers, by decomposition",
            Self::Workers => "shared threads over a tandem",
            Self::Assigned => "threads with stages of their own over a tandem",
            Self::Closed => "M/M/c/N/K (equation 4)",
            Self::Open => "M/M/c (equations 5, 6)",
            Self::Stealing => "work stealing (equations 7, 8)",
            Self::Ideal => "M/M/P/PN/PN (equation 8)",
            Self::Bound => "bound (equations 9, 10)",
        })
    }
}

/// What limits throughput most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The threads of a stage.
    Stage(usize),
    /// The threads for all stages.
    Workers,
    /// The thread of this number, which has stages of its own.
    Worker(u32),
    /// The tokens.
    Tokens,
    /// The rate at which items arrive.
    Arrivals,
}

/// The prediction for one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StagePrediction {
    /// Firings per second.
    pub rate: f64,
    /// The mean number of threads that work at the stage.
    pub busy: f64,
    /// The share of its threads' time that is work, from 0 to 1; with threads for all stages, of all threads' time.
    pub utilisation: f64,
    /// The share of its threads' time without input, from 0 to 1; `None` where the model does not say.
    pub starved: Option<f64>,
    /// The share of its threads' time without room for a result, from 0 to 1; `None` where the model does not say.
    pub blocked: Option<f64>,
    /// The mean time of an item in the channel before the stage, in seconds: the longest over its inputs. `None` where the
    /// model does not say, and where it grows without bound.
    pub waiting: Option<f64>,
}

/// The prediction for a pipeline.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// The model that gave the numbers.
    pub model: Model,
    /// Items of the source per second.
    pub throughput: f64,
    /// The throughput that the threads allow without any wait, in items of the source per second.
    pub bound: f64,
    /// What `bound` comes from, or what holds throughput below it.
    pub limit: Limit,
    /// One for each stage.
    pub stages: Vec<StagePrediction>,
}

/// Threads over work and the slowest stage: `min(c / T, P / sum of T)`, per item of the source (equations 9, 10).
pub(crate) fn bound(pipeline: &Pipeline, settings: &Settings, threads: &[u32]) -> (f64, Limit) {
    let mut best = match &settings.workers {
        Workers::Shared(p) => (f64::from(*p) / pipeline.shared_work(), Limit::Workers),
        Workers::Pools(_) => (f64::INFINITY, Limit::Workers),
        Workers::Assigned(lists) => {
            let loads = loads(pipeline, lists).into_iter().zip(0..);
            let busiest = loads.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(load, _)| *load > 0.0);
            busiest
                .map_or((f64::INFINITY, Limit::Workers), |(load, worker)| (1.0 / load, Limit::Worker(worker)))
        }
    };
    for (stage, (demand, c)) in pipeline.demands().zip(threads).enumerate() {
        let rate = f64::from(*c) / demand;
        if rate < best.0 {
            best = (rate, Limit::Stage(stage));
        }
    }
    best
}

impl Prediction {
    /// A prediction from throughput alone: rates and busy threads follow from it.
    pub(crate) fn new(
        model: Model,
        pipeline: &Pipeline,
        settings: &Settings,
        threads: &[u32],
        throughput: f64,
    ) -> Self {
        let (bound, limit) = bound(pipeline, settings, threads);
        let throughput = throughput.min(bound);
        let stage = |(((firings, demand), c), stage): (((&f64, f64), &u32), &Stage)| {
            let busy = throughput * demand;
            let all = match settings.workers {
                Workers::Shared(p) if !stage.own_thread => p,
                _ => *c,
            };
            StagePrediction {
                rate: throughput * firings,
                busy,
                utilisation: (busy / f64::from(all)).min(1.0),
                starved: None,
                blocked: None,
                waiting: None,
            }
        };
        let stages = pipeline.firings().iter().zip(pipeline.demands()).zip(threads).zip(pipeline.stages());
        let stages = stages.map(stage).collect();
        Self { model, throughput, bound, limit, stages }
    }

    /// The seconds that `count` items of the source take (equation 3).
    ///
    /// # Errors
    /// A number out of range.
    pub fn time(&self, count: u64) -> Result<f64, crate::Error> {
        crate::utilisation::time(count, self.throughput)
    }
}
