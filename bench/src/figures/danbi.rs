//! `danbi.*`: the seven programs of the DANBI paper under its policies.
//!
//! | figure | the paper's | values |
//! |---|---|---|
//! | `danbi.speedup.PROGRAM.nN` | 3: speed-ups | of each policy on N workers |
//! | `danbi.parts.PROGRAM.POLICY` | 4: where the time goes, with 40 workers | shares of the workers' time |
//! | `danbi.threads.PROGRAM` | 6: user-level threads, with 40 workers and PRS | mean and maximum of workers and suspended firings |
//! | `danbi.queues.PROGRAM` | 7: queue sizes, with 40 workers and PRS | change of the time in per cent, with a factor in place of 1 |
//!
//! The papers' policies run in its mode: firings wait for their tickets, and queues have its sizes. `auto` runs as a user has it.
//!
//! On 1 and 2 workers the programs compute. On more they compute in dilated time (`Options::dilate`), so the speed-up is that of
//! a schedule whose claims are the program's and whose queues and scheduler cost next to nothing: the sum of the times of all
//! claims, which one worker would need, over the time of the run.

use std::time::Duration;

use thalweg::{Options, Report};
use thalweg_danbi::{Problem, Program};

use crate::line::Measure;
use crate::session::Session;

/// A program as it is measured: its dilation, and the share of the paper's input that keeps [`MAX_WORKERS`] dilated workers busy
/// for about three seconds.
struct Measured {
    program: Program,
    dilation: u32,
    share: f64,
}

/// The programs. A dilated firing of the mean lasts 1.5 to 10 ms.
const PROGRAMS: [Measured; 7] = [
    Measured { program: Program::FilterBank, dilation: 100, share: 0.042 },
    Measured { program: Program::FmRadio, dilation: 600, share: 0.02 },
    Measured { program: Program::Fft2, dilation: 500, share: 0.014 },
    Measured { program: Program::Tde, dilation: 500, share: 0.0029 },
    Measured { program: Program::MergeSort, dilation: 150, share: 0.023 },
    // Below two images of 4 MiB: so there are hundreds of small ones, and no firing is that of a large image.
    Measured { program: Program::Rg, dilation: 2000, share: 0.0027 },
    Measured { program: Program::Srad, dilation: 80, share: 0.05 },
];

/// The paper's cores.
const MAX_WORKERS: usize = 40;

/// Workers that compute, and workers in dilated time.
const COMPUTING: [usize; 2] = [1, 2];
const DILATED: [usize; 6] = [5, 10, 20, 25, 30, MAX_WORKERS];

/// The paper's policies, and the engine's.
const POLICIES: [&str; 5] = ["random", "qes", "pss", "prs", "auto"];

/// The factors of Figure 7 beside 1.
const FACTORS: [(&str, f64); 4] = [("1/3", 1.0 / 3.0), ("2/3", 2.0 / 3.0), ("2", 2.0), ("3", 3.0)];

/// The time of the longest computing run of a program on one worker, about.
const COMPUTED: Duration = Duration::from_millis(400);

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for measured in &PROGRAMS {
        speed_ups(session, measured);
        parts(session, measured);
        threads(session, measured);
        queues(session, measured);
    }
}

impl Measured {
    /// The input of a dilated run: its size is proportional to the workers, so that each run lasts as long.
    fn problem(&self, workers: usize) -> Problem {
        self.program.problem(self.share * workers as f64 / MAX_WORKERS as f64, 1)
    }

    /// The options of a run in dilated time.
    fn dilated(&self, policy: &str, workers: usize) -> Options {
        options(policy, workers).dilate(self.dilation)
    }
}

/// A policy as the papers have it, or `auto`.
fn options(policy: &str, workers: usize) -> Options {
    let options = Options::new().threads(workers).policy(policy);
    if policy == "auto" { options } else { options.wait_for_tickets().firings_per_thread(1.0) }
}

/// Figure 3. `ours` is `auto`.
fn speed_ups(session: &mut Session, measured: &Measured) {
    let name = |workers: usize| format!("danbi.speedup.{}.n{workers}", measured.program.name());
    let threads = session.options.threads;
    for workers in COMPUTING.into_iter().filter(|workers| *workers <= threads) {
        if session.selects(&name(workers)) {
            let problem = measured.program.problem(computed_share(measured), 1);
            let Some(one) =
                medians(session, &problem, 1, |_| Options::new().threads(1), |report| sum(report, 0))
            else {
                continue;
            };
            let times = medians(session, &problem, POLICIES.len(), |at| options(POLICIES[at], workers), wall);
            show(
                session,
                &name(workers),
                times.map(|times| times.iter().map(|time| one[0] / time).collect()),
            );
        }
    }
    for workers in DILATED {
        if session.selects(&name(workers)) {
            let problem = measured.problem(workers);
            let speed_up = |report: &Report| sum(report, 0) / wall(report);
            let options = |at: usize| measured.dilated(POLICIES[at], workers);
            let values = medians(session, &problem, POLICIES.len(), options, speed_up);
            show(session, &name(workers), values);
        }
    }
}

/// Shows the speed-ups of all policies, the last of which is ours.
fn show(session: &mut Session, name: &str, values: Option<Vec<f64>>) {
    let Some(values) = values else { return };
    let named = POLICIES.into_iter().zip(values).rev().map(|(policy, value)| match policy {
        "auto" => ("ours", value),
        paper => (paper, value),
    });
    session.counted(name, Measure::Counted("times"), &named.collect::<Vec<_>>());
}

/// Figure 4, with the times of the workers that have no name there.
fn parts(session: &mut Session, measured: &Measured) {
    for policy in POLICIES {
        let name = format!("danbi.parts.{}.{policy}", measured.program.name());
        if !session.selects(&name) {
            continue;
        }
        let problem = measured.problem(MAX_WORKERS);
        let shares = ["application", "queue", "scheduler", "stall", "idle"];
        let of = |at: usize| {
            move |report: &Report| {
                let total: f64 = report.workers().iter().map(|worker| worker.total().as_secs_f64()).sum();
                100.0 * sum(report, at) / total
            }
        };
        let runs = reports(session, &problem, 1, |_| measured.dilated(policy, MAX_WORKERS));
        let Some(runs) = runs else { continue };
        let values: Vec<_> = shares
            .into_iter()
            .enumerate()
            .map(|(at, name)| (name, median(runs[0].iter().map(of(at)))))
            .collect();
        session.counted(&name, Measure::Counted("%"), &values);
    }
}

/// Figure 6.
fn threads(session: &mut Session, measured: &Measured) {
    let name = format!("danbi.threads.{}", measured.program.name());
    if !session.selects(&name) {
        return;
    }
    let problem = measured.problem(MAX_WORKERS);
    let runs = reports(session, &problem, 1, |_| measured.dilated("prs", MAX_WORKERS));
    let Some(runs) = runs else { return };
    let tickets = || runs[0].iter().filter_map(Report::tickets);
    let values = [
        ("mean", median(tickets().map(|tickets| tickets.mean_under_way()))),
        ("most", median(tickets().map(|tickets| tickets.max_under_way() as f64))),
    ];
    session.counted(&name, Measure::Counted("firings"), &values);
}

/// Figure 7: by factor, the percentage by which the time differs from that with factor 1.
fn queues(session: &mut Session, measured: &Measured) {
    let name = format!("danbi.queues.{}", measured.program.name());
    if !session.selects(&name) {
        return;
    }
    let problem = measured.problem(MAX_WORKERS);
    let options = |at: usize| {
        let factor = FACTORS.get(at).map_or(1.0, |(_, factor)| *factor);
        measured.dilated("prs", MAX_WORKERS).firings_per_thread(factor)
    };
    let Some(times) = medians(session, &problem, FACTORS.len() + 1, options, wall) else { return };
    let change = |time: f64| 100.0 * (time / times[FACTORS.len()] - 1.0);
    let values: Vec<_> = FACTORS.iter().zip(&times).map(|((name, _), time)| (*name, change(*time))).collect();
    session.counted(&name, Measure::Counted("%"), &values);
}

/// The share of the paper's input for runs without dilation: that of [`MAX_WORKERS`] dilated workers takes their time over the
/// dilation on one core, times their number.
fn computed_share(measured: &Measured) -> f64 {
    let dilated = Duration::from_secs(3) * MAX_WORKERS as u32 / measured.dilation;
    measured.share * COMPUTED.as_secs_f64() / dilated.as_secs_f64()
}

/// Seconds in a category of [`thalweg::trace::WorkerReport::with_kernel`], or idle after these, summed over all workers.
fn sum(report: &Report, category: usize) -> f64 {
    let of = |worker: &thalweg::trace::WorkerReport| match category {
        4 => worker.idle(),
        category => worker.with_kernel()[category],
    };
    report.workers().iter().map(|worker| of(worker).as_secs_f64()).sum()
}

fn wall(report: &Report) -> f64 {
    report.wall().as_secs_f64()
}

/// By configuration, the median of a value of its runs.
fn medians(
    session: &mut Session,
    problem: &Problem,
    count: usize,
    options: impl Fn(usize) -> Options,
    value: impl Fn(&Report) -> f64,
) -> Option<Vec<f64>> {
    let runs = reports(session, problem, count, options)?;
    Some(runs.iter().map(|runs| median(runs.iter().map(&value))).collect())
}

/// The reports of each of `count` configurations, which take turns. `None` if a run fails or has another result.
fn reports(
    session: &mut Session,
    problem: &Problem,
    count: usize,
    options: impl Fn(usize) -> Options,
) -> Option<Vec<Vec<Report>>> {
    let expected = problem.sequential();
    let mut all = vec![Vec::new(); count];
    for _ in 0..session.options.runs {
        for (at, runs) in all.iter_mut().enumerate() {
            match problem.run(&options(at)) {
                Ok((checksum, report)) if checksum == expected => runs.push(report),
                Ok(_) => {
                    session.note("another result than the sequential program");
                    return None;
                }
                Err(error) => {
                    session.note(&error.to_string());
                    return None;
                }
            }
        }
    }
    Some(all)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
