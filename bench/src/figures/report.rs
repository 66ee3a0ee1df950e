//! `report.*`: the cost of the report if an activation does little work.
//!
//! Two runs of the same chain on one thread, with four firings per activation, each with a quarter of the work; one of
//! the runs takes no time stamps.

use super::format_ns;
use crate::jobs::Chain;
use crate::line::Measure;
use crate::ours;
use crate::race::{Contestant, Role};
use crate::session::Session;
use crate::work::Work;

/// Firings per activation.
const FIRINGS: u64 = 4;

/// Runs the figure if it is selected.
pub fn run(session: &mut Session) {
    let ns = 1_000;
    let name = format!("report.w{}", format_ns(ns));
    if !session.selects(&name) {
        return;
    }
    let (stages, each) = (4, ns / FIRINGS);
    let items = session.items(each as f64 * stages as f64, 1);
    let job = Chain { stages, items, work: Work::lasting(each, &session.calibration), threads: 1 };
    let sum = job.split().checksum;
    let contestants = vec![
        Contestant::new("unstamped", Role::Yardstick, items, || ours::chain_by_fours_unstamped(&job))
            .expecting(sum),
        Contestant::new("ours", Role::Ours, items, || ours::chain_by_fours(&job))
            .expecting(sum)
            .against("unstamped"),
    ];
    session.figure(&name, Measure::Overhead, 1, contestants);
}
