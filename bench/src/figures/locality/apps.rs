//! PageRank and Smith-Waterman in Figures 5.6 and 6.5: speed-ups over one thread. The sizes are smaller than the paper's, and
//! its crawls are not to be had: links of an R-MAT graph stand in for them.
//!
//! All contestants execute the blocks of the same program, so they call the same compiled functions; they differ in what
//! calls them for which block. Each run is a process of its own ([`child`]): a contestant's threads may spin when others run.

use std::ffi::CStr;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use thalweg_align::{Aligner, Gap, Scoring};
use thalweg_pagerank::{Graph, PageRank, Rmat};

use crate::line::Measure;
use crate::peers::external::{self, own_app};
use crate::peers::loops::{Alone, Executor, Library, Rayon, RayonByOne};
use crate::race::{Contestant, Role};
use crate::row::{Row, median_of, once};
use crate::session::Session;
use crate::work::{fold, mix};

/// What executes the blocks of a program.
#[derive(Clone, Copy, Debug)]
enum System {
    /// The calling thread, one block after the other.
    Alone,
    /// This engine: the program's own schedules.
    Tasks,
    RandomTasks,
    Loops,
    StaticLoops,
    /// Loops of others.
    Rayon,
    Library(&'static str, &'static CStr),
}

use System::{Library as Of, Loops, RandomTasks, StaticLoops, Tasks};

/// The systems: name, and OMP_WAIT_POLICY. The first is the yardstick.
const SYSTEMS: [(&str, System, &str); 11] = [
    ("serial", System::Alone, ""),
    ("tasks", Tasks, ""),
    ("random", RandomTasks, ""),
    ("loops", Loops, ""),
    ("static loops", StaticLoops, ""),
    ("rayon", System::Rayon, ""),
    ("openmp-static", Of("openmp-each", c"static"), "active"),
    ("openmp-static(passive)", Of("openmp-each", c"static"), "passive"),
    ("openmp-guided", Of("openmp-each", c"guided"), "active"),
    ("openmp-guided(passive)", Of("openmp-each", c"guided"), "passive"),
    ("tbb-affinity", Of("tbb-each", c"affinity"), ""),
];

/// The runs of a process of which the median counts, after one that does not count.
const ROUNDS: usize = 5;

/// The iterations of a run of PageRank.
const ITERATIONS: usize = 10;

/// A program with the size of its input.
#[derive(Clone, Copy, Debug)]
enum Job {
    /// [`ITERATIONS`] on an R-MAT graph.
    PageRank { scale: u32 },
    /// Smith-Waterman of two random sequences, with logarithmic costs of gaps (n³), or affine ones (n²).
    Align { is_affine: bool, length: usize, block: usize },
}

/// Runs the selected figures.
pub fn run(session: &mut Session) {
    let size = |full, quick| if session.options.quick { quick } else { full };
    let (scale, n3, n2) = (size(19, 14) as u32, size(1024, 256), size(16_384, 2048));
    let align = |is_affine, length, block| Job::Align { is_affine, length, block };
    for threads in session.thread_counts() {
        race(session, "5-6.time.pagerank", Job::PageRank { scale }, "tasks", threads);
        race(session, "5-6.time.sw", align(false, n3, 32), "tasks", threads);
        race(session, "5-6.time.swn2", align(true, n2, 1024), "tasks", threads);
        race(session, "6-5.time.sw", align(false, n3, 16), "loops", threads);
    }
}

/// Runs the contestants, of which one is ours; the value is the time of the first one divided by theirs.
fn race(session: &mut Session, figure: &str, job: Job, ours: &str, threads: usize) {
    let name = format!("locality.{figure}.t{threads}");
    if !session.selects(&name) {
        return;
    }
    let expected = match job.run(System::Alone, 1) {
        Ok(row) => row.checksum,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let is_built = |system: &System| match system {
        Of(library, _) => external::library(library).is_some(),
        _ => true,
    };
    let systems = SYSTEMS.into_iter().filter(|(_, system, _)| is_built(system));
    let contestant = |(name, system, wait): (&'static str, System, &'static str)| {
        let role = match system {
            System::Alone => Role::Yardstick,
            System::Rayon | Of(..) => Role::Peer,
            _ if name == ours => Role::Ours,
            _ => Role::Aside,
        };
        let program = own_app(name).map(|program| program.with("OMP_WAIT_POLICY", wait));
        let shown = if role == Role::Ours { "ours" } else { name };
        Contestant::new(shown, role, 1, move || program.as_ref()?.run(&job.arguments(threads)).map(Some))
            .against(SYSTEMS[0].0)
            .expecting(expected)
    };
    session.figure(&name, Measure::Speed, threads, systems.map(contestant).collect());
}

/// The process of a contestant: executes the job of the arguments, and prints its time and checksum.
///
/// # Errors
/// The arguments are not a contestant, a job and a number of threads; the library was not built; or the job fails.
pub fn child(arguments: &[String]) -> Result<(), String> {
    let parsed = || {
        let [name, job @ .., threads] = arguments else { return None };
        let system = SYSTEMS.iter().find_map(|(known, system, _)| (known == name).then_some(*system))?;
        Some((system, Job::parse(job)?, threads.parse().ok()?))
    };
    let (system, job, threads) =
        parsed().ok_or_else(|| format!("no contestant, or no job: {arguments:?}"))?;
    let Row { seconds, checksum, .. } = job.run(system, threads)?;
    println!("{seconds} {checksum}");
    Ok(())
}

impl Job {
    fn arguments(self, threads: usize) -> Vec<String> {
        let (name, numbers) = match self {
            Job::PageRank { scale } => ("pagerank", vec![scale as usize]),
            Job::Align { is_affine: false, length, block } => ("sw", vec![length, block]),
            Job::Align { is_affine: true, length, block } => ("swn2", vec![length, block]),
        };
        let numbers = numbers.into_iter().chain([threads]).map(|number| number.to_string());
        std::iter::once(name.to_owned()).chain(numbers).collect()
    }

    fn parse(arguments: &[String]) -> Option<Job> {
        let [name, numbers @ ..] = arguments else { return None };
        let numbers: Option<Vec<usize>> = numbers.iter().map(|number| number.parse().ok()).collect();
        match (&**name, &numbers?[..]) {
            ("pagerank", &[scale]) => Some(Job::PageRank { scale: scale as u32 }),
            ("sw", &[length, block]) => Some(Job::Align { is_affine: false, length, block }),
            ("swn2", &[length, block]) => Some(Job::Align { is_affine: true, length, block }),
            _ => None,
        }
    }

    fn run(self, system: System, threads: usize) -> Result<Row, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        match self {
            Job::PageRank { scale } => {
                let graph = Rmat::new(scale).graph(|_| {}).map_err(|error| said(&error))?;
                ranks(&graph, system, threads)
            }
            Job::Align { is_affine, length, block } => {
                let gap = if is_affine { Gap::Affine { open: 5, extend: 2 } } else { Gap::log(5, 2) };
                let scoring = Scoring::dna(2, 3, gap).map_err(|error| said(&error))?;
                let aligner = Aligner::new(scoring).block(block).threads(threads);
                score(&aligner, length, system, threads)
            }
        }
    }
}

/// The time of [`ITERATIONS`], without what precedes the first one: it is the same for all systems.
fn ranks(graph: &Graph, system: System, threads: usize) -> Result<Row, String> {
    use thalweg_pagerank::Schedule;
    let settings = PageRank::new().tolerance(0.0).max_iterations(ITERATIONS * (1 + ROUNDS));
    let mut ends = Vec::new();
    let observe = |iteration: thalweg_pagerank::Iteration| {
        if iteration.number.is_multiple_of(ITERATIONS) {
            ends.push(Instant::now());
        }
        ControlFlow::Continue(())
    };
    let own = |schedule| settings.clone().threads(threads).schedule(schedule);
    let ranking = match system {
        Tasks => own(Schedule::Tasks).run(graph, observe),
        RandomTasks => own(Schedule::RandomTasks).run(graph, observe),
        Loops => own(Schedule::Loops).run(graph, observe),
        StaticLoops => own(Schedule::StaticLoops).run(graph, observe),
        // This engine's threads would compete with those of the system, which spin.
        _ => loops_of(system, threads, |each| settings.threads(1).run_by(graph, each, observe))?,
    };
    let ranking = ranking.map_err(|error| error.to_string())?;
    let checksum = ranking.ranks.iter().fold(0, |sum, rank| fold(sum, rank.to_bits()));
    let mut times = ends.windows(2).map(|ends| ends[1] - ends[0]);
    Ok(median_of(ROUNDS as u64, || (times.next().unwrap_or(Duration::MAX), checksum)))
}

/// The time of a score of two random sequences.
fn score(aligner: &Aligner, length: usize, system: System, threads: usize) -> Result<Row, String> {
    use thalweg_align::Schedule;
    let letter = |at: u64| b"ACGT"[(mix(at) % 4) as usize];
    let query: Vec<u8> = (0..length as u64).map(letter).collect();
    let target: Vec<u8> = (0..length as u64).map(|at| letter(at + (1 << 40))).collect();
    let timed = |score: &(dyn Fn() -> thalweg_align::Result<i32> + Sync)| {
        score().map_err(|error| error.to_string())?;
        let score = || score().map_or(0, |score| score as u64);
        Ok(median_of(ROUNDS as u64, || once(score)))
    };
    let own = |schedule| {
        let aligner = aligner.clone().schedule(schedule);
        timed(&|| aligner.score(&query, &target))
    };
    match system {
        Tasks => own(Schedule::Tasks),
        RandomTasks => own(Schedule::RandomTasks),
        Loops => own(Schedule::Loops),
        StaticLoops => own(Schedule::StaticLoops),
        _ => loops_of(system, threads, |each| timed(&|| aligner.score_by(&query, &target, each)))?,
    }
}

/// Calls `run`, where the system executes loops best, with its loop.
fn loops_of<R: Send>(
    system: System,
    threads: usize,
    run: impl FnOnce(&(dyn Fn(usize, &(dyn Fn(usize) + Sync)) + Sync)) -> R + Send,
) -> Result<R, String> {
    Ok(match system {
        System::Rayon => with_loop(&RayonByOne(Rayon::new(threads)), run),
        Of(library, schedule) => with_loop(&Library::load(library, schedule, threads)?, run),
        _ => with_loop(&Alone, run),
    })
}

fn with_loop<R: Send>(
    executor: &impl Executor,
    run: impl FnOnce(&(dyn Fn(usize, &(dyn Fn(usize) + Sync)) + Sync)) -> R + Send,
) -> R {
    executor.enter(|| run(&|count, body| executor.each(count, body)))
}
