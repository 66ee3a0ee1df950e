//! `gp.*`: graph partitioning compared with work stealing on the paper's workloads (section 5.2.2), and the effect of
//! its threshold of idle time (Figure 9).
//!
//! Values are efficiencies. Below each line are the other quantities that the paper reports of a policy: the number of
//! partitions, the share of messages that stayed with their worker, and the idle time of the workers, in the last run
//! of each.

use std::cell::RefCell;

use thalweg::{Options, Report};
use thalweg_kpn::{Job, Layers, layered, pipeline, scatter_gather};

use super::format_ns;
use crate::jobs::{equal_shares, split_parts};
use crate::line::Measure;
use crate::race::{Contestant, Outcome, Role};
use crate::row::{Row, timed};
use crate::session::Session;
use crate::work::Work;

const STAGES: usize = 50;
const WORKERS: usize = 256;

/// The compared policies; the first is ours in a figure's line.
const POLICIES: &[&str] = &["partition", "ws-last", "ws-cur", "auto"];
/// The paper's thresholds are amounts of idle time; here they are shares. With 1 the graph is never partitioned.
const THRESHOLDS: &[&str] = &[
    "partition:tau=0.01",
    "partition:tau=0.03",
    "partition:tau=0.1",
    "partition:tau=0.3",
    "partition:tau=1",
    "ws-last",
];

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    let threads = session.options.threads;
    for ns in [10_000, 1_000_000] {
        let name = format!("gp.layers.w{}.t{threads}", format_ns(ns));
        layers(session, &name, ns, POLICIES);
    }
    layers(session, &format!("gp.tau.layers.w1000us.t{threads}"), 1_000_000, THRESHOLDS);
    for ns in [1_000, 10_000] {
        line(session, ns);
    }
    scatter(session, 100_000);
}

/// The random network, with `ns` of work in each message of the source.
fn layers(session: &mut Session, name: &str, ns: u64, policies: &[&'static str]) {
    if !session.selects(name) {
        return;
    }
    let work = Work::lasting(ns, &session.calibration);
    let times = Layers::default().work(work.steps) / work.steps;
    let messages = session.items((ns * times) as f64, session.options.threads).max(4);
    let make = move || {
        let mut stage = work.stage();
        layered(&Layers::default(), messages, work.steps, move |steps, trace| stage.run_steps(trace, steps))
    };
    figure(session, name, (work, messages * times), &make, policies);
}

/// The pipeline of 50 stages, with messages of 8 bytes.
fn line(session: &mut Session, ns: u64) {
    let name = format!("gp.pipeline.w{}.t{}", format_ns(ns), session.options.threads);
    if !session.selects(&name) {
        return;
    }
    let work = Work::lasting(ns, &session.calibration);
    let items = session.items(ns as f64 * STAGES as f64, session.options.threads);
    let make = move || {
        let mut stage = work.stage();
        pipeline::<1>(STAGES, items, move |x| stage.run(x))
    };
    figure(session, &name, (work, items * STAGES as u64), &make, POLICIES);
}

/// One process and 256 workers.
fn scatter(session: &mut Session, ns: u64) {
    let name = format!("gp.scatter.w{}.t{}", format_ns(ns), session.options.threads);
    if !session.selects(&name) {
        return;
    }
    let work = Work::lasting(ns, &session.calibration);
    let rounds = session.items(ns as f64 * WORKERS as f64, session.options.threads).max(2);
    let make = move || {
        let mut stage = work.stage();
        scatter_gather(rounds, WORKERS, move |x| stage.run(x))
    };
    figure(session, &name, (work, rounds * WORKERS as u64), &make, POLICIES);
}

/// A race of policies over one job, against a split with the same number of pieces of work.
fn figure(
    session: &mut Session,
    name: &str,
    (work, pieces): (Work, u64),
    make: &dyn Fn() -> Job,
    policies: &[&'static str],
) {
    let (threads, sum) = (session.options.threads, make().expected());
    let seen: Vec<RefCell<Option<Report>>> = policies.iter().map(|_| RefCell::default()).collect();
    let mut contestants =
        vec![Contestant::new("split", Role::Yardstick, 1, || Ok(Some(split(work, pieces, threads))))];
    for (at, policy) in policies.iter().enumerate() {
        let options = Options::new().threads(threads).pinned().policy(policy);
        let role = if at == 0 { Role::Ours } else { Role::Peer };
        let run = {
            let seen = &seen[at];
            move || race(make, &options, seen)
        };
        contestants.push(Contestant::new(policy, role, 1, run).expecting(sum));
    }
    session.figure(name, Measure::Speed, threads, contestants);
    for (policy, seen) in policies.iter().zip(seen) {
        if let Some(report) = seen.into_inner() {
            session.note(&format!("{name} {policy}: {}", traffic(&report)));
        }
    }
}

fn split(work: Work, pieces: u64, threads: usize) -> Row {
    split_parts(equal_shares(pieces, threads, |_| 1), |range| {
        let mut stage = work.stage();
        (range.map(|x| stage.run(x)).fold(0, u64::wrapping_add), 1)
    })
}

fn race(make: &dyn Fn() -> Job, options: &Options, seen: &RefCell<Option<Report>>) -> Outcome {
    let mut outcome = Ok(());
    let row = timed(|| match make().run(options) {
        Ok((result, report)) => {
            *seen.borrow_mut() = Some(report);
            result
        }
        Err(error) => {
            outcome = Err(error.to_string());
            0
        }
    });
    outcome.map(|()| Some(row))
}

/// Partitions, local messages, moves and idle time of a run, from its report.
fn traffic(report: &Report) -> String {
    let (sent, remote) = report
        .channels()
        .iter()
        .fold((0, 0), |(sent, remote), channel| (sent + channel.items(), remote + channel.remote()));
    let moves: u64 = report.nodes().iter().map(|node| node.moves()).sum();
    let local = 100.0 * (1.0 - remote as f64 / sent.max(1) as f64);
    let (idle, all) = report.workers().iter().fold((0.0, 0.0), |(idle, all), worker| {
        (idle + worker.idle().as_secs_f64(), all + worker.total().as_secs_f64())
    });
    let idle = 100.0 * idle / f64::max(all, f64::MIN_POSITIVE);
    let partitions = report.partitions();
    format!("{partitions} partitions, {local:.1} % of {sent} messages local, {moves} moves, {idle:.1} % idle")
}
