//! `small.*`: jobs that take microseconds, many of them one after the other; the median of their times.
//!
//! The graph is the farm's: a serial source, a parallel stage, a serial in-order sink. `small.run` and `small.adaptor`
//! have one item without work, so they measure the cost of a run; the others are efficiencies.

use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use thalweg::from_iter;

use super::format_ns;
use crate::jobs::{Farm, Small};
use crate::line::Measure;
use crate::ours;
use crate::peers::{crossbeam, external, rayon};
use crate::race::{Contestant, Outcome, Role};
use crate::row::Row;
use crate::session::Session;
use crate::work::Heavy;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    let threads = session.options.threads;
    first(session);
    costs(session);
    for (items, ns) in [(100, 10_000), (1_000, 10_000)] {
        let job = job(session, items, ns);
        let name = format!("n{items}.w{}.t{threads}", format_ns(ns));
        efficiency(session, &format!("small.chain.{name}"), &job, Kind::Chain);
        efficiency(session, &format!("small.adaptor.{name}"), &job, Kind::Adaptor);
    }
    for ns in [200, 1_000, 10_000, 100_000] {
        let name = format!("small.adaptor.long.w{}.t{threads}", format_ns(ns));
        if session.selects(&name) {
            let job = Small { jobs: 1, ..job(session, session.items(ns as f64, threads), ns) };
            let mut all = contestants(&job, Kind::Adaptor);
            let expected = all[0].expected;
            let ahead =
                Contestant::new("ours(16384)", Role::Aside, 1, || ours::small_adaptor_long_channels(&job));
            all.push(Contestant { expected, ..ahead });
            session.figure(&name, Measure::Speed, threads, all);
        }
    }
}

/// The form of the farm that is ours in a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Chain,
    Adaptor,
}

/// Jobs with this number of items and work; there are as many as take about the time of one run.
fn job(session: &Session, items: u64, ns: u64) -> Small {
    let threads = session.options.threads;
    let work = Arc::new(Heavy::even(ns, &session.calibration));
    let each = (items * ns) as f64 / threads as f64 + 20_000.0;
    Small { farm: Farm { items, work, threads }, jobs: (session.row_seconds() * 1e9 / each) as u64 }
}

fn efficiency(session: &mut Session, name: &str, job: &Small, kind: Kind) {
    if session.selects(name) {
        session.figure(name, Measure::Speed, job.farm.threads, contestants(job, kind));
    }
}

fn contestants(job: &Small, kind: Kind) -> Vec<Contestant<'_>> {
    let contestant =
        |name, role, run: fn(&Small) -> Row| Contestant::new(name, role, 1, move || Ok(Some(run(job))));
    let ours = |name, role, run: fn(&Small) -> Outcome| Contestant::new(name, role, 1, move || run(job));
    let role = |of| if kind == of { Role::Ours } else { Role::Aside };
    let mut all = vec![
        contestant("split", Role::Yardstick, Small::split),
        ours(if kind == Kind::Chain { "ours" } else { "chain" }, role(Kind::Chain), ours::small_chain_built),
        ours(
            if kind == Kind::Adaptor { "ours" } else { "adaptor" },
            role(Kind::Adaptor),
            ours::small_adaptor,
        ),
        contestant("crossbeam", Role::Peer, crossbeam::small),
        contestant("rayon(batch)", Role::Peer, rayon::small),
    ];
    if let Some(program) = external::program("go", "small") {
        all.push(Contestant::new("go", Role::Peer, 1, move || program.small(job).map(Some)));
    }
    let expected = (0..job.farm.items).fold(0, |h, i| crate::work::fold(h, job.farm.work.run(i)));
    all.iter_mut().for_each(|contestant| contestant.expected = Some(expected));
    all
}

/// The costs of a run, of an adaptor and of an early drop.
fn costs(session: &mut Session) {
    let threads = session.options.threads;
    let job = job(session, 1, 0);
    let ours = |name, role, run: fn(&Small) -> Outcome| {
        let job = job.clone();
        Contestant::new(name, role, 1, move || run(&job))
    };
    let peers = || {
        let (one, other) = (job.clone(), job.clone());
        let mut peers = vec![
            Contestant::new("crossbeam", Role::Peer, 1, move || Ok(Some(crossbeam::small(&one)))),
            Contestant::new("rayon(batch)", Role::Peer, 1, move || Ok(Some(rayon::small(&other)))),
        ];
        if let Some(program) = external::program("go", "small") {
            let job = job.clone();
            peers.push(Contestant::new("go", Role::Peer, 1, move || program.small(&job).map(Some)));
        }
        peers
    };
    let name = format!("small.run.t{threads}");
    if session.selects(&name) {
        let mut all = vec![
            ours("ours", Role::Ours, ours::small_chain),
            ours("ours(t1)", Role::Aside, ours::small_chain_alone),
            ours("ours(built)", Role::Aside, ours::small_chain_built),
        ];
        all.extend(peers());
        session.figure(&name, Measure::NsPerItem, threads, all);
    }
    let name = format!("small.adaptor.t{threads}");
    if session.selects(&name) {
        let mut all = vec![ours("ours", Role::Ours, ours::small_adaptor)];
        all.extend(peers());
        session.figure(&name, Measure::NsPerItem, threads, all);
    }
    let name = format!("small.drop.t{threads}");
    if session.selects(&name) {
        let all = vec![ours("ours", Role::Ours, ours::small_drop)];
        session.figure(&name, Measure::NsPerItem, threads, all);
    }
}

/// The time of the first run in a process, minus the time of the first thread in a process.
fn first(session: &mut Session) {
    let threads = session.options.threads;
    let name = format!("small.first.t{threads}");
    if !session.selects(&name) {
        return;
    }
    let above = move || {
        let mut above: Vec<f64> = Vec::new();
        for _ in 0..15 {
            above.push(in_a_process("run", threads)? - in_a_process("spawn", threads)?);
        }
        above.sort_by(f64::total_cmp);
        Ok(Some(Row::new(above[above.len() / 2].max(0.0), 0)))
    };
    let spawn = move || Ok(Some(Row::new(in_a_process("spawn", threads)?, 0)));
    let all =
        vec![Contestant::new("ours", Role::Ours, 1, above), Contestant::new("spawn", Role::Aside, 1, spawn)];
    session.figure(&name, Measure::NsPerItem, threads, all);
}

/// The time of an operation as the first one in a process, in seconds.
fn in_a_process(what: &str, threads: usize) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).args(["--first", what, &threads.to_string()]).output();
    let text = output.map_err(|error| error.to_string())?.stdout;
    String::from_utf8_lossy(&text).trim().parse().map_err(|_| format!("{what}: no time"))
}

/// The child process: executes the operation and prints its time.
pub fn child(what: &str, threads: &str) -> Result<(), String> {
    let threads = threads.parse().map_err(|_| format!("{threads}: not a number"))?;
    let start = Instant::now();
    match what {
        "spawn" => thread::spawn(|| ()).join().map_err(|_| "the thread panicked".to_owned())?,
        _ => {
            let chain = from_iter(0..1u64).par_map(|x| x).for_each(|_| ());
            chain.run_with(&thalweg::Options::new().threads(threads)).map_err(|error| error.to_string())?;
        }
    }
    println!("{}", start.elapsed().as_secs_f64());
    Ok(())
}
