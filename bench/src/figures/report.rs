//! `report.*`, `timeline.*`: the cost of the report, and of a timeline beside it, if an activation does little work.
//!
//! Two runs of the same chain on one thread, with four firings per activation, each with a quarter of the work. For the
//! report one of the runs takes no time stamps; for the timeline one of them records none.

use super::format_ns;
use crate::jobs::Chain;
use crate::line::Measure;
use crate::ours;
use crate::race::{Contestant, Outcome, Role};
use crate::session::Session;
use crate::work::Work;

/// Firings per activation.
const FIRINGS: u64 = 4;

/// Runs the figure if it is selected.
pub fn run(session: &mut Session) {
    let ns = 1_000;
    overhead(session, "report", ns, ("unstamped", ours::chain_by_fours_unstamped), ours::chain_by_fours);
    let plain = ("no timeline", ours::chain_by_fours as fn(&Chain) -> Outcome);
    overhead(session, "timeline", ns, plain, ours::chain_by_fours_recorded);
}

/// The figure of what `ours` costs beside the yardstick, where an activation does `ns` of work.
fn overhead(
    session: &mut Session,
    figure: &str,
    ns: u64,
    (name_of_plain, plain): (&'static str, fn(&Chain) -> Outcome),
    ours: fn(&Chain) -> Outcome,
) {
    let name = format!("{figure}.w{}", format_ns(ns));
    if !session.selects(&name) {
        return;
    }
    let (stages, each) = (4, ns / FIRINGS);
    let items = session.items(each as f64 * stages as f64, 1);
    let job = Chain { stages, items, work: Work::lasting(each, &session.calibration), threads: 1 };
    let sum = job.split().checksum;
    let contestants = vec![
        Contestant::new(name_of_plain, Role::Yardstick, items, || plain(&job)).expecting(sum),
        Contestant::new("ours", Role::Ours, items, || ours(&job)).expecting(sum).against(name_of_plain),
    ];
    session.figure(&name, Measure::Overhead, 1, contestants);
}
