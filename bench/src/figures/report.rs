//! `report.*`, `timeline.*` and `live.*`: the cost of the report, of a timeline and of snapshots, if an activation does
//! little work.
//!
//! Two runs of the same chain on one thread, with four firings per activation, each with a quarter of the work. For the
//! report, one of the runs takes no time stamps; for the timeline, one of them records it; for the live view, another thread takes snapshots of one of the runs, at
//! its start and then four times a second.
//!
//! `live.snapshot` is the time of a snapshot, for each node of a chain of processes, when no thread runs.

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
    let report = format!("report.w{}", format_ns(ns));
    if session.selects(&report) {
        paired(session, &report, ns, ("unstamped", ours::chain_by_fours_unstamped), ours::chain_by_fours);
    }
    let timeline = format!("timeline.w{}", format_ns(ns));
    if session.selects(&timeline) {
        let plain: (_, Way) = ("no timeline", ours::chain_by_fours);
        paired(session, &timeline, ns, plain, ours::chain_by_fours_recorded);
    }
    if session.selects("live.watch") {
        paired(session, "live.watch", ns, ("unwatched", ours::chain_by_fours), ours::chain_by_fours_watched);
    }
    for nodes in [10, 1_000, 1_000_000] {
        let name = format!("live.snapshot.n{nodes}");
        if session.selects(&name) {
            let ours = Contestant::new("ours", Role::Ours, nodes, move || ours::snapshots(nodes));
            session.figure(&name, Measure::NsPerItem, 1, vec![ours]);
        }
    }
}

/// A way to run the chain.
type Way = fn(&Chain) -> Outcome;

/// The time of the chain with activations of `ns` nanoseconds, above that of the yardstick.
fn paired(session: &mut Session, name: &str, ns: u64, yardstick: (&'static str, Way), ours: Way) {
    let (stages, each) = (4, ns / FIRINGS);
    let items = session.items(each as f64 * stages as f64, 1);
    let job = Chain { stages, items, work: Work::lasting(each, &session.calibration), threads: 1 };
    let sum = job.split().checksum;
    let contestants = vec![
        Contestant::new(yardstick.0, Role::Yardstick, items, || yardstick.1(&job)).expecting(sum),
        Contestant::new("ours", Role::Ours, items, || ours(&job)).expecting(sum).against(yardstick.0),
    ];
    session.figure(name, Measure::Overhead, 1, contestants);
}
