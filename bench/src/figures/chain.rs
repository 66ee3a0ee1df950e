//! `chain.*`: serial in-order stages with a channel between neighbours.
//!
//! Without work the figure is nanoseconds per item and stage; with work it is an efficiency.

use super::format_ns;
use crate::jobs::Chain;
use crate::line::Measure;
use crate::ours;
use crate::peers::crossbeam::Crossbeam;
use crate::peers::external;
use crate::peers::std_mpsc::StdMpsc;
use crate::peers::{link, tokio};
use crate::race::{Contestant, Role};
use crate::row::Row;
use crate::session::Session;
use crate::work::Work;

/// The approximate cost of a peer's stage without work: it determines the number of items of a run.
const EMPTY_STAGE_NS: f64 = 12.0;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for stages in [4, 16] {
        for ns in [0, 100, 1_000, 10_000] {
            for threads in session.thread_counts() {
                let name = format!("chain.s{stages}.w{}.t{threads}", format_ns(ns));
                if session.selects(&name) {
                    figure(session, &name, stages, ns, threads);
                }
            }
        }
    }
}

fn figure(session: &mut Session, name: &str, stages: usize, ns: u64, threads: usize) {
    let cost = if ns == 0 { EMPTY_STAGE_NS } else { ns as f64 };
    let items = session.items(cost * stages as f64, threads);
    let job = Chain { stages, items, work: Work::lasting(ns, &session.calibration), threads };
    let measure = if ns == 0 { Measure::NsPerItem } else { Measure::Speed };
    let mut contestants = contestants(job);
    let expected = job.split().checksum;
    for contestant in &mut contestants {
        contestant.items = items * stages as u64;
        contestant.expected = Some(expected);
    }
    session.figure(name, measure, threads, contestants);
}

fn contestants(job: Chain) -> Vec<Contestant<'static>> {
    let peer = |name, run: fn(&Chain) -> Row| {
        Contestant::new(name, Role::Peer, job.items, move || Ok(Some(run(&job))))
    };
    let mut all = vec![
        Contestant::new("split", Role::Yardstick, job.items, move || Ok(Some(job.split()))),
        Contestant::new("ours", Role::Ours, job.items, move || ours::chain(&job)),
        Contestant::new("ours(unpinned)", Role::Aside, job.items, move || ours::chain_unpinned(&job)),
        peer("crossbeam", link::chain::<Crossbeam>),
        peer("std-mpsc", link::chain::<StdMpsc>),
        peer("tokio", tokio::chain),
    ];
    let programs = [
        ("go", "go", "chain"),
        ("tbb-pipeline", "tbb", "pipeline-chain"),
        ("tbb-graph", "tbb", "graph-chain"),
    ];
    for (name, program, mode) in programs {
        if let Some(program) = external::program(program, mode) {
            all.push(Contestant::new(name, Role::Peer, job.items, move || program.chain(&job).map(Some)));
        }
    }
    all
}
