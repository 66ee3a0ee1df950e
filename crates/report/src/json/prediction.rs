//! The prediction of a report: for other programs, since a reader makes it anew.

use crate::predict::{Beside, PaperPrediction, Prediction, StagePrediction};
use serde::Serialize;

/// A prediction as it is written. Throughputs are firings of the source per second, busy and waiting threads are mean
/// numbers of threads.
#[derive(Serialize)]
pub(super) struct PredictionEntry<'p> {
    model: String,
    threads: String,
    throughput: Pair,
    bound: f64,
    limited_by: Option<&'p str>,
    waiting_threads: Pair,
    papers: Vec<Paper>,
    stages: Vec<StageEntry<'p>>,
}

#[derive(Serialize)]
struct Pair {
    predicted: f64,
    measured: f64,
}

#[derive(Serialize)]
struct Paper {
    model: &'static str,
    throughput: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    outside_its_domain: Option<String>,
}

#[derive(Serialize)]
struct StageEntry<'p> {
    node: &'p str,
    threads: u32,
    busy: Pair,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_threads: Option<Pair>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted_wait_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_wait_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starved: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<f64>,
}

impl From<Beside> for Pair {
    fn from(beside: Beside) -> Pair {
        Pair { predicted: beside.predicted(), measured: beside.measured() }
    }
}

impl From<&PaperPrediction> for Paper {
    fn from(paper: &PaperPrediction) -> Paper {
        let (model, throughput) = (paper.name(), paper.throughput());
        Paper { model, throughput, outside_its_domain: paper.outside() }
    }
}

impl<'p> PredictionEntry<'p> {
    pub(super) fn new(prediction: &'p Prediction) -> Self {
        PredictionEntry {
            model: prediction.model_name(),
            threads: prediction.threads_text(),
            throughput: prediction.throughput().into(),
            bound: prediction.bound(),
            limited_by: prediction.limit().map(StagePrediction::name),
            waiting_threads: prediction.waiting_threads().into(),
            papers: prediction.papers().iter().map(Paper::from).collect(),
            stages: prediction.stages().iter().map(StageEntry::new).collect(),
        }
    }
}

impl<'p> StageEntry<'p> {
    fn new(stage: &'p StagePrediction) -> Self {
        StageEntry {
            node: stage.name(),
            threads: stage.threads(),
            busy: stage.busy().into(),
            waiting_threads: stage.waiting_threads().map(Pair::from),
            predicted_wait_s: stage.predicted_wait(),
            measured_wait_s: stage.measured_wait(),
            starved: stage.starved(),
            blocked: stage.blocked(),
        }
    }
}
