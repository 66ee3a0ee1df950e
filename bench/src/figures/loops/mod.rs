//! `loop.*`: parallel loops. `handoff` and `meeting` are costs of a loop without work, `fib` and `wavefront` those of joins
//! and tasks; the others are efficiencies.
//!
//! Each run of a contestant is a process of its own: it has begun nothing else, and its memory is fresh. For the systems of
//! this program that process is this program again ([`child`]), with the arguments of the peers' programs.

mod handoff;
mod tasks;

use std::hint::black_box;

use thalweg::loops::Schedule;

use crate::line::Measure;
use crate::peers::external::{self, Program, own_loops};
use crate::peers::loops::{Alone, LoopJob, Ours, Rayon, Shape};
use crate::race::{Contestant, Role};
use crate::row::Row;
use crate::session::Session;
use handoff::Handoff;

/// Our schedules, the default one first, with their names as contestants.
const SCHEDULES: [(&str, Schedule); 5] = [
    ("ours", Schedule::Hybrid),
    ("ours(static)", Schedule::Static),
    ("ours(dynamic)", Schedule::Dynamic),
    ("ours(guided)", Schedule::Guided),
    ("ours(split)", Schedule::Split),
];

/// The peers' programs: name as a contestant, program, schedule, and OMP_WAIT_POLICY.
const PROGRAMS: [(&str, &str, &str, &str); 5] = [
    ("openmp-static", "openmp", "static", "active"),
    ("openmp-static(passive)", "openmp", "static", "passive"),
    ("openmp-guided", "openmp", "guided", "active"),
    ("openmp-guided(passive)", "openmp", "guided", "passive"),
    ("tbb-affinity", "tbb-loops", "affinity", ""),
];

/// The perfect split of a job.
const SPLIT: &str = "split";

/// The iterations of a loop over work, and what they last, in nanoseconds.
const ITERATIONS: usize = 1_000_000;
const NS: f64 = 10.0;

/// The rows and columns of the grids.
const HEAT: (usize, usize) = (2048, 2048);
const LIFE: (usize, usize) = (4096, 4096);

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    handoff::run(session);
    tasks::run(session);
    let even = (0, 1);
    let (work, life) = ((ITERATIONS, 1), |rows, columns| Shape::Life { block: (rows, columns) });
    efficiency(session, "loop.uniform", work, even, work_of_an_iteration);
    efficiency(session, "loop.planted", work, (ITERATIONS / 10, 10), work_of_an_iteration);
    efficiency(session, "loop.heat", HEAT, even, || Shape::Heat);
    efficiency(session, "loop.life", LIFE, even, || life(1, LIFE.1));
    efficiency(session, "loop.life.b16x16", LIFE, even, || life(16, 16));
    efficiency(session, "loop.life.b16x256", LIFE, even, || life(16, 256));
    // A row that is computed again is in the nearest cache, so it costs less than another row.
    efficiency(session, "loop.life.planted", LIFE, (LIFE.0 / 10, 20), || life(1, LIFE.1));
}

/// The efficiency of a job in which the first rows are computed several times, if it is selected.
fn efficiency(
    session: &mut Session,
    name: &str,
    size: (usize, usize),
    planted: (usize, usize),
    shape: impl FnOnce() -> Shape,
) {
    let threads = session.options.threads;
    let name = format!("{name}.t{threads}");
    if session.selects(&name) {
        let job = LoopJob { shape: shape(), size, planted, repeats: 1 };
        let job = job.lasting(session.row_seconds(), threads);
        let expected = job.run(&Alone).checksum;
        let mut all = contestants(job, threads);
        all.iter_mut().for_each(|contestant| contestant.expected = Some(expected));
        let program = own_loops(SPLIT);
        let run = move || program.as_ref()?.loops(&job, threads).map(Some);
        let split = Contestant::new(SPLIT, Role::Yardstick, 1, run);
        all.insert(0, split);
        session.figure(&name, Measure::Speed, threads, all);
    }
}

fn contestants(job: LoopJob, threads: usize) -> Vec<Contestant<'static>> {
    let contestant = |(name, role, program): (_, _, Result<Program, String>)| {
        Contestant::new(name, role, 1, move || program.as_ref()?.loops(&job, threads).map(Some))
    };
    systems().map(contestant).collect()
}

/// What executes loops: our schedules and the peers that are installed. An error for one that this program cannot start.
fn systems() -> impl Iterator<Item = (&'static str, Role, Result<Program, String>)> {
    let ours = SCHEDULES.into_iter().map(|(name, schedule)| (name, role(schedule), own_loops(name)));
    let rayon = std::iter::once(("rayon", Role::Peer, own_loops("rayon")));
    ours.chain(rayon).chain(programs().map(|(name, program)| (name, Role::Peer, Ok(program))))
}

/// The process of a contestant of this program: executes the job of the arguments, and prints its time and checksum.
pub fn child(arguments: &[String]) -> Result<(), String> {
    let row = match arguments {
        [name, job, numbers @ ..] if job == "handoff" => {
            Handoff::parse(numbers).and_then(|handoff| handoff.run(name)).map(|seconds| Row::new(seconds, 0))
        }
        [_, job, numbers @ ..] if job == "bytes" => Some(tasks::bytes(numbers)?),
        [name, job @ ..] => LoopJob::parse(job).and_then(|(job, threads)| match &**name {
            "rayon" => Some(job.run(&Rayon::new(threads))),
            SPLIT => Some(job.split(threads)),
            ours => Some(job.run(&Ours { schedule: schedule(ours)?, threads })),
        }),
        [] => None,
    };
    let Row { seconds, checksum, .. } =
        row.ok_or_else(|| format!("no contestant, or no job: {arguments:?}"))?;
    println!("{seconds} {checksum}");
    Ok(())
}

/// The schedule of one of our contestants.
fn schedule(name: &str) -> Option<Schedule> {
    SCHEDULES.into_iter().find_map(|(known, schedule)| (known == name).then_some(schedule))
}

fn role(schedule: Schedule) -> Role {
    if schedule == Schedule::default() { Role::Ours } else { Role::Aside }
}

/// The programs that were built, with their names as contestants.
fn programs() -> impl Iterator<Item = (&'static str, Program)> {
    PROGRAMS.into_iter().filter_map(|(name, program, schedule, wait)| {
        Some((name, external::program(program, schedule)?.with("OMP_WAIT_POLICY", wait)))
    })
}

/// Iterations of the time that the figures state. They overlap in the processor's pipeline, so their time is measured as
/// that of a loop.
fn work_of_an_iteration() -> Shape {
    let mut steps = 32;
    for _ in 0..3 {
        let job =
            LoopJob { shape: Shape::Work { steps }, size: (ITERATIONS / 10, 1), planted: (0, 1), repeats: 1 };
        let run = |_| black_box(job.run(&Alone)).seconds;
        let fastest = (0..20).map(run).min_by(f64::total_cmp).expect("several runs");
        let ns = fastest * 1e9 / job.size.0 as f64;
        steps = (steps as f64 * NS / ns).round().max(1.0) as u64;
    }
    Shape::Work { steps }
}
