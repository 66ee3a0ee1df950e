//! `report.*`, `timeline.*` and `live.*`: the cost of the report, of a timeline and of snapshots, if an activation does
//! little work.
//!
//! Two runs of the same chain on one thread, with four firings per activation, each with a quarter of the work. For the
//! report, one of the runs takes no time stamps; for the timeline, one of them records it; for the live view, another
//! thread takes snapshots of one of the runs, at its start and then four times a second. That figure is of processor
//! time, which includes that of the other thread.
//!
//! `report.chain.*` and `report.farm.*` are the report's cost in processor time where a firing does little work and nothing
//! shortens activations: runs that end activations by their firings, with and without measurements, and beside them one with the
//! default options, whose activations end by the clock.
//!
//! `live.snapshot` is the time of a snapshot, for each node of a chain of processes, when no thread runs.

use super::format_ns;
use std::sync::Arc;

use crate::jobs::{Chain, Farm};
use crate::line::Measure;
use crate::ours;
use crate::race::{Contestant, Outcome, Role};
use crate::session::Session;
use crate::work::{Heavy, Work};
use thalweg::Options;

/// The work of an activation, in nanoseconds.
const NS: u64 = 1_000;

/// Firings per activation.
const FIRINGS: u64 = 4;

/// Runs the figure if it is selected.
pub fn run(session: &mut Session) {
    let report = format!("report.w{}", format_ns(NS));
    if session.selects(&report) {
        let yardstick = ("unstamped", ours::chain_by_fours_unstamped as Way);
        paired(session, &report, Measure::Overhead, yardstick, ours::chain_by_fours);
    }
    for ns in [200, 1_000] {
        for threads in [1, session.options.threads] {
            chain(session, ns, threads);
            farm(session, ns, threads);
        }
    }
    let timeline = format!("timeline.w{}", format_ns(NS));
    if session.selects(&timeline) {
        let plain: (_, Way) = ("no timeline", ours::chain_by_fours);
        paired(session, &timeline, Measure::Overhead, plain, ours::chain_by_fours_recorded);
    }
    if session.selects("live.watch") {
        let yardstick = ("unwatched", ours::chain_by_fours as Way);
        paired(session, "live.watch", Measure::CpuOverhead, yardstick, ours::chain_by_fours_watched);
    }
    for nodes in [10, 1_000, 1_000_000] {
        let name = format!("live.snapshot.n{nodes}");
        if session.selects(&name) {
            let ours = Contestant::new("ours", Role::Ours, nodes, move || ours::snapshots(nodes));
            session.figure(&name, Measure::NsPerItem, 1, vec![ours]);
        }
    }
}

/// The cost of the report in a chain of four stages that do `each` of work.
fn chain(session: &mut Session, each: u64, threads: usize) {
    let name = format!("report.chain.w{}.t{threads}", format_ns(each));
    if session.selects(&name) {
        let stages = 4;
        let items = session.items((each * stages as u64) as f64, threads);
        let job = Chain { stages, items, work: Work::lasting(each, &session.calibration), threads };
        let of = |options: fn(usize) -> Options| {
            let job = &job;
            move || ours::chain_with(job, &options(job.threads))
        };
        let contestants = [of(ours::unmeasured), of(ours::measured), of(ours::pinned)];
        measured(session, &name, items, job.split().checksum, contestants);
    }
}

/// The cost of the report in a farm whose parallel stage does `ns` of work in the mean.
fn farm(session: &mut Session, ns: u64, threads: usize) {
    let name = format!("report.farm.w{}.t{threads}", format_ns(ns));
    if session.selects(&name) {
        let work = Arc::new(Heavy::lasting(ns, &session.calibration));
        let job = Farm { items: session.items(ns as f64, threads), work, threads };
        let of = |options: fn(usize) -> Options| {
            let job = &job;
            move || ours::farm_with(job, &options(job.threads))
        };
        let contestants = [of(ours::unmeasured), of(ours::measured), of(ours::pinned)];
        measured(session, &name, job.items, job.split().checksum, contestants);
    }
}

/// Compares the runs of a job without measurements, with them, and by default.
fn measured<'a, R: Fn() -> Outcome + 'a>(
    session: &mut Session,
    name: &str,
    items: u64,
    sum: u64,
    [plain, ours, paced]: [R; 3],
) {
    let contestants = vec![
        Contestant::new("unmeasured", Role::Yardstick, items, plain).expecting(sum),
        Contestant::new("ours", Role::Ours, items, ours).expecting(sum).against("unmeasured"),
        Contestant::new("ours(default)", Role::Aside, items, paced).expecting(sum).against("unmeasured"),
    ];
    session.figure(name, Measure::CpuOverhead, 1, contestants);
}

/// A way to run the chain.
type Way = fn(&Chain) -> Outcome;

/// The cost of the chain, above that of the yardstick.
fn paired(session: &mut Session, name: &str, measure: Measure, yardstick: (&'static str, Way), ours: Way) {
    let (stages, each) = (4, NS / FIRINGS);
    let items = session.items(each as f64 * stages as f64, 1);
    let job = Chain { stages, items, work: Work::lasting(each, &session.calibration), threads: 1 };
    let sum = job.split().checksum;
    let contestants = vec![
        Contestant::new(yardstick.0, Role::Yardstick, items, || yardstick.1(&job)).expecting(sum),
        Contestant::new("ours", Role::Ours, items, || ours(&job)).expecting(sum).against(yardstick.0),
    ];
    session.figure(name, measure, 1, contestants);
}
