//! What the models of `thalweg-queueing` say of a run: what bounds it, and what other settings would give.
//!
//! [`model`] makes the pipeline of a report, and [`Prediction`] compares what [`tandem::predict`] says of it with what was
//! measured. [`grid`] has the predictions for other threads, capacities and tokens. `text` prints both.

mod grid;
mod model;
mod text;

pub use grid::{Grid, GridError, Predictions, Row};
pub(crate) use model::Model;
pub(crate) use text::HEADS;

use std::fmt;
use thalweg_graph::NodeId;
use thalweg_graph::shown;
use thalweg_queueing::sizes::TOLERANCE;
use thalweg_queueing::{
    Limit, MAX_ITEMS, Outside, Pipeline, Prediction as Predicted, Settings, StagePrediction as OfStage,
    Workers, paper, tandem,
};
use thalweg_trace::{ChannelReport, Report};

/// A number that a model predicts, beside the one measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    predicted: f64,
    measured: f64,
}

impl Beside {
    /// The number that the model predicts.
    pub fn predicted(self) -> f64 {
        self.predicted
    }

    /// The number that the run measured.
    pub fn measured(self) -> f64 {
        self.measured
    }

    /// The relative error of the prediction: 0.1 where it is a tenth too high.
    pub fn error(self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

/// What the models say of a run with its own threads, capacities and policy, beside what was measured.
///
/// ```
/// use std::time::Duration;
/// use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort, Rate};
/// use thalweg_report::ReportExt;
/// use thalweg_trace::Report;
///
/// // 1000 items in 1.5 s: 1 ms each in `read`, 2 ms each in `parse`.
/// let item = Item::of::<u64>();
/// let mut graph = GraphData::new();
/// let read = graph.add(Node::sequential("read").output(OutPort::new("out", item).with_push(Rate::Static(1))));
/// let parse = graph.add(Node::parallel("parse").input(InPort::new("in", item)));
/// graph.connect((read, 0), (parse, 0), Link::default())?;
/// let mut report = Report::new(graph, "auto", 2);
/// *report.wall_mut() = Duration::from_millis(1_550);
/// for (node, ms) in report.nodes_mut().iter_mut().zip([1, 2]) {
///     (*node.firings_mut(), *node.busy_mut()) = (1000, Duration::from_millis(1000 * ms));
/// }
/// let channel = &mut report.channels_mut()[0];
/// (*channel.items_mut(), *channel.capacity_mut()) = (1000, 64);
///
/// let prediction = report.prediction()?;
/// assert!(prediction.throughput().error().abs() < 0.1, "{prediction}");
/// assert!(prediction.to_string().contains("2 threads for all nodes"), "{prediction}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    model: Model,
    source: String,
    predicted: Predicted,
    throughput: Beside,
    idle: Beside,
    stages: Vec<StagePrediction>,
}

/// What a model of the paper on pipelines with work stealing says of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperPrediction {
    name: &'static str,
    throughput: f64,
    outside: Option<Outside>,
}

impl PaperPrediction {
    /// The model's name, with its equations.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The firings of the source per second.
    pub fn throughput(&self) -> f64 {
        self.throughput
    }

    /// What the run has that the paper does not state the model for; `None` where it is within the model's domain.
    pub fn outside(&self) -> Option<String> {
        self.outside.map(|outside| outside.to_string())
    }
}

/// The part of a [`Prediction`] about one node.
#[derive(Clone, Debug, PartialEq)]
pub struct StagePrediction {
    node: NodeId,
    name: String,
    threads: u32,
    /// Whether these threads work at no other node.
    alone: bool,
    busy: Beside,
    wait: [Option<f64>; 2],
    starved: Option<f64>,
    blocked: Option<f64>,
}

/// Why no prediction is made of a report.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Unpredictable {
    /// No time was measured in any node.
    Unmeasured,
    /// The graph has a loop other than that of a compiled program, which the models do not have. A channel of it.
    Loop {
        /// The channel's name.
        channel: String,
    },
    /// The graph has more nodes than a prediction is made for.
    Stages {
        /// The nodes that fired.
        stages: usize,
        /// Their maximum number.
        most: usize,
    },
    /// More threads than a model counts.
    Threads,
    /// A number is out of the models' range.
    Number(thalweg_queueing::Error),
}

impl fmt::Display for Unpredictable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmeasured => f.write_str("no time was measured in any node"),
            Self::Loop { channel } => {
                write!(
                    f,
                    "`{}` is part of a loop, and the models have none\nhelp: the findings say what the nodes of a loop wait \
                     for; a run of the nodes outside of it has a prediction",
                    shown(channel)
                )
            }
            Self::Stages { stages, most } => {
                write!(f, "{stages} nodes fired, and predictions are made for at most {most}")
            }
            Self::Threads => write!(f, "more threads than {}", thalweg_queueing::MAX_THREADS),
            Self::Number(error) => error.fmt(f),
        }
    }
}

thalweg_graph::error_type!(Unpredictable);

/// The threads up to which a finding looks for more throughput.
const MAX_TRIED: u32 = 64;

/// The relative error from which on findings do not use a prediction.
const NEAR: f64 = 0.25;

/// The firings of the source below which findings do not use a prediction: the models have no beginning and no end.
const MIN_FIRINGS: u64 = 100;

/// A number of threads is enough that gives this share of what any gives.
const NEARLY: f64 = 0.95;

impl Prediction {
    pub(crate) fn of(report: &Report) -> Result<Prediction, Unpredictable> {
        let model = Model::of(report)?;
        let predicted = tandem::predict(&model.pipeline, &model.settings).map_err(Unpredictable::Number)?;
        let throughput = Beside { predicted: predicted.throughput, measured: model.measured(report) };
        let stages: Vec<_> = (0..model.nodes.len())
            .map(|i| StagePrediction::of(report, &model, i, &predicted.stages[i]))
            .collect();
        let threads = model.threads();
        let idle =
            |busy: fn(Beside) -> f64| threads - stages.iter().map(|stage| busy(stage.busy)).sum::<f64>();
        let idle = Beside { predicted: idle(Beside::predicted), measured: idle(Beside::measured) };
        let source = report.graph().node(model.source).name().to_string();
        Ok(Prediction { model, source, predicted, throughput, idle, stages })
    }

    /// The firings of the source per second.
    pub fn throughput(&self) -> Beside {
        self.throughput
    }

    /// The throughput that the threads allow without any wait, in firings of the source per second: threads over work, and
    /// the slowest node (equations 9 and 10).
    pub fn bound(&self) -> f64 {
        self.predicted.bound
    }

    /// The mean number of threads that wait: threads less those in nodes. Times the wall time it is the waiting time of
    /// the paper's figures 2 and 4.
    pub fn waiting_threads(&self) -> Beside {
        self.idle
    }

    /// The nodes that fired, sources first.
    pub fn stages(&self) -> &[StagePrediction] {
        &self.stages
    }

    /// The predictions of the paper's models for threads as this run has them.
    pub fn papers(&self) -> Vec<PaperPrediction> {
        let (pipeline, settings) = (&self.model.pipeline, &self.model.settings);
        let all = match settings.workers {
            Workers::Shared(_) => vec![
                ("work stealing (equations 7, 8)", paper::stealing(pipeline, settings)),
                ("one queue, M/M/P/PN/PN (equation 8)", paper::central(pipeline, settings)),
            ],
            Workers::Assigned(_) => Vec::new(),
            Workers::Pools(_) => vec![("M/M/c/N/K (equation 4)", paper::closed(pipeline, settings))],
        };
        let of = |(name, found): (_, Result<Predicted, _>)| {
            let found = found.ok()?;
            let outside = found.model.domain().and_then(|domain| domain.outside(pipeline, settings));
            Some(PaperPrediction { name, throughput: found.throughput, outside })
        };
        all.into_iter().filter_map(of).collect()
    }

    /// The node whose threads limit the predicted throughput, where one does.
    pub fn limit(&self) -> Option<&StagePrediction> {
        match self.predicted.limit {
            Limit::Stage(stage) => self.stages.get(stage),
            _ => None,
        }
    }

    /// The name of the model.
    pub fn model_name(&self) -> String {
        self.predicted.model.to_string()
    }

    /// Whether the prediction is near enough to what was measured, and the run long enough, to say what other settings
    /// would give.
    pub(crate) fn is_sound(&self, report: &Report) -> bool {
        let firings = report.nodes()[self.model.source.index()].firings();
        self.throughput.error().abs() <= NEAR && firings >= MIN_FIRINGS
    }
}

impl StagePrediction {
    fn of(report: &Report, model: &Model, i: usize, predicted: &OfStage) -> StagePrediction {
        let (node, wall) = (model.nodes[i], report.wall().as_secs_f64());
        let busy = report.nodes()[node.index()].busy().as_secs_f64() / wall;
        StagePrediction {
            node,
            name: report.graph().node(node).name().to_string(),
            threads: model.threads_of(i),
            alone: model.has_threads(i),
            busy: Beside { predicted: predicted.busy, measured: busy },
            wait: [
                predicted.waiting.map(|time| time + model.pipeline.stages()[i].service),
                measured_wait(report, node),
            ],
            starved: predicted.starved,
            blocked: predicted.blocked,
        }
    }

    /// The node.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The node's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The threads that could work at it: its own, or all that nodes share.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// The mean number of threads that work at it.
    pub fn busy(&self) -> Beside {
        self.busy
    }

    /// The mean number of its threads that wait, for input or for room. Times the wall time it is the node's part of the
    /// paper's figures 2 and 4. `None` where threads are shared, as they wait for all nodes.
    pub fn waiting_threads(&self) -> Option<Beside> {
        let wait = |busy: f64| (f64::from(self.threads) - busy).max(0.0);
        let Beside { predicted, measured } = self.busy;
        self.alone.then(|| Beside { predicted: wait(predicted), measured: wait(measured) })
    }

    /// The mean time of an item from its arrival in the channel before the node to the end of its firing, in seconds, as
    /// predicted: the longest over the inputs. `None` for a source, and where threads are shared.
    pub fn predicted_wait(&self) -> Option<f64> {
        self.wait[0]
    }

    /// The same time as measured: the mean number of items in the channel, those in claims included, over the items that
    /// pass in a second (Little's law). `None` for a source, and where the number was not measured.
    pub fn measured_wait(&self) -> Option<f64> {
        self.wait[1]
    }

    /// The share of its threads' time, from 0 to 1, that they wait for input, as predicted. `None` where threads are shared.
    pub fn starved(&self) -> Option<f64> {
        self.starved
    }

    /// The share of its threads' time, from 0 to 1, that they wait for room, as predicted. `None` where threads are shared.
    pub fn blocked(&self) -> Option<f64> {
        self.blocked
    }
}

/// The time of an item in the channel before a node and in its firing: the longest over the inputs.
fn measured_wait(report: &Report, node: NodeId) -> Option<f64> {
    let inputs = report.graph().node(node).inputs().iter().filter_map(|port| port.channel());
    let stats = inputs.map(|id| &report.channels()[id.index()]);
    let wait = |stats: &ChannelReport| {
        let mean = stats.mean().filter(|mean| stats.items() > 0 && *mean > 0.0)?;
        Some(mean * report.wall().as_secs_f64() / stats.items() as f64)
    };
    stats.filter_map(wait).reduce(f64::max)
}

/// The largest factor for room or tokens that is tried: any more is as good.
const MAX_FACTOR: u64 = 1 << 10;

/// The smallest factor, of the powers of two from 2, that gives what the largest one gives within
/// [`TOLERANCE`]: equation 11 for this pipeline, by the model of [`tandem`]. With what it gives.
fn enough(gain: impl Fn(u64) -> Option<f64>) -> Option<(u64, f64)> {
    let most = gain(MAX_FACTOR)?;
    let factors = (1..=MAX_FACTOR.ilog2()).map(|power| 1 << power);
    factors
        .filter_map(|factor| Some((factor, gain(factor)?)))
        .find(|(_, gain)| *gain >= most * (1.0 - TOLERANCE))
}

/// What more of a resource would give, as the predicted throughput over the one predicted now.
impl Prediction {
    /// The smallest number of threads, of those tried, that gives nearly as much as any, and what it gives.
    fn threads_gain(&self) -> Option<(u32, f64)> {
        let Workers::Shared(p) = self.model.settings.workers else { return None };
        let next = p.saturating_add(1);
        let doubled = (1..7).map(|shift| p.saturating_mul(1 << shift));
        let tried = [next].into_iter().chain(doubled).chain([MAX_TRIED]);
        let tried = tried.filter(|threads| (next..=MAX_TRIED).contains(threads));
        let with = |threads| Settings { workers: Workers::Shared(threads), ..self.model.settings.clone() };
        let gain = |threads| Some((threads, self.gain(&self.model.pipeline, &with(threads))?));
        let all: Vec<(u32, f64)> = tried.filter_map(gain).collect();
        let most = all.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
        all.into_iter().find(|(_, gain)| *gain >= NEARLY * most)
    }

    /// The smallest factor for the room in all channels that gives what any room gives, and what it gives.
    fn room_gain(&self) -> Option<(u64, f64)> {
        enough(|factor| {
            let wider = |capacity: u64| capacity.saturating_mul(factor).min(MAX_ITEMS);
            self.gain(&self.model.pipeline.with_capacities(wider).ok()?, &self.model.settings)
        })
    }

    /// The smallest number of tokens, of those tried, that gives what any number gives, and what it gives.
    fn tokens_gain(&self) -> Option<(u64, f64)> {
        let tokens = self.model.settings.tokens?;
        let times = |factor: u64| tokens.saturating_mul(factor).min(MAX_ITEMS);
        let (factor, gain) = enough(|factor| {
            let settings = self.model.settings.clone().tokens(times(factor));
            self.gain(&self.model.pipeline, &settings)
        })?;
        Some((times(factor), gain))
    }

    fn gain(&self, pipeline: &Pipeline, settings: &Settings) -> Option<f64> {
        Some(tandem::predict(pipeline, settings).ok()?.throughput / self.predicted.throughput)
    }
}
