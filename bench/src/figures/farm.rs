//! `farm.w*`: a serial source, a parallel stage with heavy-tailed work, a serial in-order sink; efficiency.

use std::sync::Arc;

use super::short;
use crate::jobs::Farm;
use crate::line::Measure;
use crate::ours;
use crate::peers::external;
use crate::peers::{crossbeam, rayon, tokio};
use crate::race::{Contestant, Role};
use crate::row::Row;
use crate::session::Session;
use crate::work::Heavy;

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    for ns in [200, 1_000, 10_000, 100_000] {
        let threads = session.options.threads;
        let name = format!("farm.w{}.t{threads}", short(ns));
        if session.wants(&name) {
            let job = job(session, ns, 1.0);
            session.figure(&name, Measure::Speed, threads, contestants(&job));
        }
    }
}

/// A farm that lasts about a row's time, if each item is worked on `rounds` times.
pub fn job(session: &Session, ns: u64, rounds: f64) -> Farm {
    let threads = session.options.threads;
    let work = Arc::new(Heavy::lasting(ns, &session.calibration));
    Farm { items: session.items(ns as f64 * rounds, threads), work, threads }
}

fn contestants(job: &Farm) -> Vec<Contestant<'_>> {
    let racer = |name, role, run: fn(&Farm) -> Row| {
        Contestant::new(name, role, job.items, move || Ok(Some(run(job))))
    };
    let mut all = vec![
        racer("split", Role::Yardstick, Farm::split),
        Contestant::new("ours", Role::Ours, job.items, || ours::farm(job)),
        Contestant::new("ours(unpinned)", Role::Aside, job.items, || ours::farm_unpinned(job)),
        Contestant::new("ours(adaptor)", Role::Aside, job.items, || ours::farm_adaptor(job)),
        racer("crossbeam", Role::Peer, crossbeam::farm),
        racer("tokio", Role::Peer, tokio::farm),
        racer("rayon(barrier)", Role::Aside, rayon::farm),
    ];
    let programs =
        [("go", "go", "farm"), ("tbb-pipeline", "tbb", "pipeline-farm"), ("tbb-graph", "tbb", "graph-farm")];
    for (name, program, mode) in programs {
        if let Some(program) = external::program(program, mode) {
            all.push(Contestant::new(name, Role::Peer, job.items, move || program.farm(job).map(Some)));
        }
    }
    let expected = job.split().checksum;
    all.iter_mut().for_each(|contestant| contestant.expected = Some(expected));
    all
}
