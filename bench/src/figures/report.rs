//! `report.*`: what the report costs where an activation does little work.
//!
//! Two runs of the same chain on one thread, in which an activation does four firings of a quarter of the work each;
//! one of them takes no time stamps.

use super::short;
use crate::jobs::Chain;
use crate::line::Measure;
use crate::ours;
use crate::race::{Contestant, Role};
use crate::session::Session;
use crate::work::Work;

/// Firings of an activation.
const FIRINGS: u64 = 4;

/// Runs the figure if it was asked for.
pub fn run(session: &mut Session) {
    let ns = 1_000;
    let name = format!("report.w{}", short(ns));
    if !session.wants(&name) {
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
