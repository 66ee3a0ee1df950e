//! `farm.w*`: a serial source, a parallel stage with heavy-tailed work, a serial in-order sink; efficiencies.

use std::sync::Arc;

use super::format_ns;
use crate::jobs::Farm;
use crate::line::Measure;
use crate::ours;
use crate::peers::external;
use crate::peers::{crossbeam, rayon, tokio};
use crate::race::{Contestant, Role};
use crate::row::Row;
use crate::session::Session;
use crate::work::Heavy;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for ns in [200, 1_000, 10_000, 100_000] {
        let threads = session.options.threads;
        let name = format!("farm.w{}.t{threads}", format_ns(ns));
        if session.selects(&name) {
            let job = job(session, ns, 1.0);
            session.figure(&name, Measure::Speed, threads, contestants(&job));
        }
    }
}

/// A farm for one run, if the work is done `rounds` times for each item.
pub fn job(session: &Session, ns: u64, rounds: f64) -> Farm {
    let threads = session.options.threads;
    let work = Arc::new(Heavy::lasting(ns, &session.calibration));
    Farm { items: session.items(ns as f64 * rounds, threads), work, threads }
}

fn contestants(job: &Farm) -> Vec<Contestant<'_>> {
    let contestant = |name, role, run: fn(&Farm) -> Row| {
        Contestant::new(name, role, job.items, move || Ok(Some(run(job))))
    };
    let mut all = vec![
        contestant("split", Role::Yardstick, Farm::split),
        Contestant::new("ours", Role::Ours, job.items, || ours::farm(job)),
        Contestant::new("ours(unpinned)", Role::Aside, job.items, || ours::farm_unpinned(job)),
        Contestant::new("ours(adaptor)", Role::Aside, job.items, || ours::farm_adaptor(job)),
        contestant("crossbeam", Role::Peer, crossbeam::farm),
        contestant("tokio", Role::Peer, tokio::farm),
        contestant("rayon(barrier)", Role::Aside, rayon::farm),
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
