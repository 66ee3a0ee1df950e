//! Figure 5: what each of 40 dilated workers of RG does under each policy, as a picture. Its values are shares of the workers'
//! time.

use std::fs;

use thalweg::trace::ReportExt;
use thalweg::{Options, Report};
use thalweg_danbi::Program;

use super::{MAX_WORKERS, options};
use crate::line::Measure;
use crate::pages;
use crate::session::Session;

/// The policies of the figure.
const POLICIES: [&str; 4] = ["random", "qes", "pss", "prs"];

/// The dilation, and the share of the paper's input for which 40 workers take about three seconds: some hundreds of small
/// images.
const DILATION: u32 = 1000;
const SHARE: f64 = 0.0006;

/// The maximum number of events of a worker.
const EVENTS: usize = 1 << 16;

/// Runs the selected figures. A quick look keeps the recorded pictures.
pub(super) fn run(session: &mut Session) {
    for policy in POLICIES {
        let name = format!("danbi.timeline.rg.{policy}");
        if session.selects(&name)
            && let Err(error) = one(session, &name, policy)
        {
            session.errors.push(format!("{name}: {error}"));
        }
    }
}

fn one(session: &mut Session, name: &str, policy: &str) -> Result<(), String> {
    let quick = session.options.quick;
    let report = report(if quick { SHARE / 10.0 } else { SHARE }, &options(policy, MAX_WORKERS))?;
    if !quick {
        let path = pages::danbi_timeline(policy);
        let svg = report.timeline_svg().ok_or("the run has recorded no timeline")?;
        fs::write(&path, svg).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let share = |part: fn(&thalweg::trace::WorkerReport) -> std::time::Duration| {
        let sum = |of: fn(&thalweg::trace::WorkerReport) -> std::time::Duration| {
            report.workers().iter().map(|worker| of(worker).as_secs_f64()).sum::<f64>()
        };
        100.0 * sum(part) / sum(|worker| worker.total())
    };
    let values = [
        ("stall", share(|worker| worker.stall())),
        ("application", share(|worker| worker.application())),
        ("idle", share(|worker| worker.idle())),
    ];
    session.counted(name, Measure::Counted("%"), &values);
    Ok(())
}

/// The report of a run with a timeline.
fn report(share: f64, options: &Options) -> Result<Report, String> {
    let problem = Program::Rg.problem(share, 1);
    let ran = problem.run(&options.clone().dilate(DILATION).timeline(EVENTS));
    let (checksum, report) = ran.map_err(|error| error.to_string())?;
    if checksum != problem.sequential() {
        return Err("another result than the sequential program".into());
    }
    let lost: u64 =
        report.timeline().iter().flat_map(|timeline| timeline.tracks()).map(|track| track.lost()).sum();
    if lost > 0 {
        return Err(format!("the timeline has lost {lost} events"));
    }
    Ok(report)
}
