//! `pools.*`: a pipeline of a serial, a parallel and a serial stage under the policy `pools`, beside `auto` and work stealing.
//!
//! `pools.w*`: efficiencies, with 1 to 8 workers for the parallel stage. Its workers and those of the serial stages share the
//! cores. `pools.steals.w*`: nodes that workers have stolen for each 100 firings, under `ws-last`, where all pass through queues, and the
//! shares of the workers' time in tries to steal and in the scheduler, of which these are a part. (Tries of workers without work
//! are idle time.)

use std::sync::Arc;
use std::time::Duration;

use thalweg::trace::WorkerReport;
use thalweg::{Options, Run, from_iter};

use super::format_ns;
use crate::jobs::Farm;
use crate::line::Measure;
use crate::ours;
use crate::race::{Contestant, Role};
use crate::session::Session;
use crate::work::{Heavy, fold};

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for ns in [1_000, 10_000, 100_000] {
        let threads = session.options.threads;
        let name = format!("pools.w{}.t{threads}", format_ns(ns));
        if session.selects(&name) {
            let job = job(session, ns);
            session.figure(&name, Measure::Speed, threads, contestants(&job));
        }
        let name = format!("pools.steals.w{}.t{threads}", format_ns(ns));
        if session.selects(&name) {
            let (steals, stealing, scheduling) = steals(&job(session, ns));
            let values = [("ours", steals), ("time in steals", stealing), ("time in scheduler", scheduling)];
            session.counted(&name, Measure::Counted("%"), &values);
        }
    }
}

fn job(session: &Session, ns: u64) -> Farm {
    let threads = session.options.threads;
    let work = Arc::new(Heavy::lasting(ns, &session.calibration));
    Farm { items: session.items(ns as f64, threads), work, threads }
}

fn contestants(job: &Farm) -> Vec<Contestant<'_>> {
    let with = |name, role, options: Options| {
        Contestant::new(name, role, job.items, move || ours::farm_with(job, &options))
    };
    let threads = || Options::new().threads(job.threads);
    let mut all = vec![
        Contestant::new("split", Role::Yardstick, job.items, || Ok(Some(job.split()))),
        with("ours", Role::Ours, threads()),
        with("ours(ws-last)", Role::Aside, threads().policy("ws-last")),
        with("ours(pools 1)", Role::Aside, Options::new().pools(1)),
        with("ours(pools 2)", Role::Aside, Options::new().pools(2)),
        with("ours(pools 8)", Role::Aside, Options::new().pools(8)),
    ];
    let expected = job.split().checksum;
    all.iter_mut().for_each(|contestant| contestant.expected = Some(expected));
    all
}

/// Nodes stolen for each 100 firings; and the shares of the workers' time in tries to steal, and in the scheduler, in percent.
fn steals(job: &Farm) -> (f64, f64, f64) {
    let work = &*job.work;
    let sum = from_iter(0..job.items).par_map(|i| work.run(i)).fold(0, fold);
    let ran = sum.run_with(&Options::new().threads(job.threads).policy("ws-last"));
    let Ok((_, report)) = ran.map(Run::into_parts) else { return (f64::NAN, f64::NAN, f64::NAN) };
    let stolen: u64 = report.workers().iter().map(|worker| worker.steals()).sum();
    let firings: u64 = report.nodes().iter().map(|node| node.firings()).sum();
    let time =
        |of: fn(&WorkerReport) -> Duration| report.workers().iter().map(of).sum::<Duration>().as_secs_f64();
    let stealing = time(WorkerReport::stealing) / time(WorkerReport::total);
    let [_, _, scheduling, ..] = report.breakdown();
    (100.0 * stolen as f64 / firings.max(1) as f64, 100.0 * stealing, 100.0 * scheduling)
}
