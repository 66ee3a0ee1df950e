//! `predict.*`: programs of this repository beside what the models predict from their reports, on one thread and on all.
//!
//! `predict.dedup.*`: the archiver packs 44 MB of the toolchain from memory. `predict.processes.*`: a pipeline of 20 processes
//! with 10 us of work each. `predict.wordcount.*`: the network of word count on 47 MB. Values are firings of the source a
//! second. `predict.sizes.dedup`: the threads with which the paper's work stealing reaches the bound by the slowest
//! sequential stage within 1 %, with three tokens for each, by the times that the archiver has here (the paper's figure 11
//! with 5 for its dedup); and that stage's share of the work, in percent.

use std::io;

use thalweg::embed::graph::{Kind, Node};
use thalweg::trace::{NodeReport, ReportExt};
use thalweg::{Options, Report};
use thalweg_dedup::{Params, pack};
use thalweg_kpn::pipeline;
use thalweg_queueing::stealing::Stealing;
use thalweg_wordcount::{Case, count_text};

use super::wordcount::{WORDS, zipf};
use crate::corpus::Corpus;
use crate::line::Measure;
use crate::session::Session;
use crate::work::Work;

/// Stages of the pipeline of processes, and the nanoseconds of work of each for an item.
const STAGES: usize = 20;
const STAGE_NS: u64 = 10_000;

/// Bytes of the archiver's input, and megabytes of the text.
const PACKED: usize = 44 << 20;
const TEXT: usize = 47;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for threads in session.thread_counts() {
        let options = Options::new().threads(threads);
        figure(session, &format!("predict.dedup.t{threads}"), |session| packed(session, &options));
        figure(session, &format!("predict.processes.t{threads}"), |session| processes(session, &options));
        figure(session, &format!("predict.wordcount.t{threads}"), |session| counted(session, &options));
    }
    let name = "predict.sizes.dedup";
    if session.selects(name) {
        match packed(session, &Options::new().threads(1)).and_then(|report| sizes(&report)) {
            Ok((threads, share)) => {
                let values = [("ours", f64::from(threads)), ("share of the slowest stage, %", 100.0 * share)];
                session.counted(name, Measure::Counted("threads"), &values);
            }
            Err(error) => session.note(&format!("{name}: {error}")),
        }
    }
}

/// The throughput of a run, measured and predicted.
fn figure(session: &mut Session, name: &str, run: impl FnOnce(&Session) -> Result<Report, String>) {
    if !session.selects(name) {
        return;
    }
    let report = match run(session) {
        Ok(report) => report,
        Err(error) => return session.note(&format!("{name}: {error}")),
    };
    let prediction = match report.prediction() {
        Ok(prediction) => prediction,
        Err(error) => return session.note(&format!("{name}: {error}")),
    };
    let throughput = prediction.throughput();
    let papers = prediction.papers();
    let paper = papers.first().map(|paper| ("paper", paper.throughput()));
    let values: Vec<_> = [("ours", throughput.measured()), ("model", throughput.predicted())]
        .into_iter()
        .chain(paper)
        .chain([("bound", prediction.bound())])
        .collect();
    session.counted(name, Measure::Counted("items/s"), &values);
}

fn packed(session: &Session, options: &Options) -> Result<Report, String> {
    let corpus = Corpus::load(if session.options.quick { PACKED / 8 } else { PACKED });
    let packed = pack(&corpus.bytes[..], io::sink(), &Params::default(), options);
    packed.map(|(_, report)| report).map_err(|error| error.to_string())
}

fn processes(session: &Session, options: &Options) -> Result<Report, String> {
    let items = session.items((STAGES as u64 * STAGE_NS) as f64, 2);
    let mut stage = Work::lasting(STAGE_NS, &session.calibration).stage();
    let job = pipeline::<1>(STAGES, items, move |x| stage.run(x));
    job.run(options).map(|(_, report)| report).map_err(|error| error.to_string())
}

fn counted(session: &Session, options: &Options) -> Result<Report, String> {
    let text = zipf(if session.options.quick { TEXT / 8 } else { TEXT }, WORDS);
    count_text(&text, Case::Kept, options).map(|(_, report)| report).map_err(|error| error.to_string())
}

/// The threads that the model of work stealing needs for what the slowest sequential node allows, and that node's share.
fn sizes(report: &Report) -> Result<(u32, f64), String> {
    let of =
        |(node, stats): (&Node, &NodeReport)| (node.kind() != Kind::Parallel, stats.busy().as_secs_f64());
    let busy: Vec<(bool, f64)> = report.graph().nodes().iter().zip(report.nodes()).map(of).collect();
    let all: f64 = busy.iter().map(|(_, busy)| busy).sum();
    let slowest = busy.iter().filter(|(is_sequential, _)| *is_sequential).map(|(_, busy)| *busy);
    let share = slowest.fold(0.0, f64::max) / all;
    let enough = |threads: &u32| {
        let stealing = Stealing { service: 1.0, threads: *threads, tokens: 3 * u64::from(*threads) };
        stealing.solve().is_ok_and(|state| state.throughput >= 0.99 / share)
    };
    (1..=256).find(enough).map(|threads| (threads, share)).ok_or_else(|| "more than 256 threads".to_owned())
}
