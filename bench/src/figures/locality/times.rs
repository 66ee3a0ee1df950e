//! The grids of Figures 5.6 and 6.6 as this machine measures them: speed-ups over one thread. The sizes are smaller than the
//! paper's.

use thalweg::loops::Schedule;
use thalweg::tasks::SearchSettings;

use crate::line::Measure;
use crate::peers::external;
use crate::peers::loops::{Alone, ITERATIONS, LoopJob, Ours, Shape, Tasks};
use crate::race::{Contestant, Role};
use crate::session::Session;

/// Runs the selected figures.
pub fn run(session: &mut Session) {
    let heat = LoopJob { shape: Shape::Heat, size: (2048, 2048), planted: (0, 1), repeats: ITERATIONS };
    let life = |block| LoopJob { shape: Shape::Life { block }, size: (4096, 4096), ..heat };
    for threads in session.thread_counts() {
        grids(session, "5-6.time.heat", heat, (16, 2048), threads);
        grids(session, "5-6.time.life", life((16, 256)), (64, 512), threads);
        grids(session, "6-6.time.life", life((16, 256)), (16, 256), threads);
    }
}

/// Steps over a grid: graphs of tasks, loops, and OpenMP.
fn grids(session: &mut Session, figure: &str, job: LoopJob, block: (usize, usize), threads: usize) {
    let name = format!("locality.{figure}.t{threads}");
    if !session.selects(&name) {
        return;
    }
    let job = job.lasting(session.row_seconds(), threads);
    let job = LoopJob { repeats: job.repeats.next_multiple_of(ITERATIONS), ..job };
    let expected = job.run(&Alone).checksum;
    let alone = move || Ok(Some(job.run(&Alone)));
    let tasks = |name, role, search| {
        let tasks = Tasks { block, search, threads };
        Contestant::new(name, role, 1, move || job.run_tasks(&tasks).map(Some))
    };
    let loops = |name, role, schedule| {
        let ours = Ours { schedule, threads };
        Contestant::new(name, role, 1, move || Ok(Some(job.run(&ours))))
    };
    let mut all = vec![Contestant::new("serial", Role::Yardstick, 1, alone)];
    if figure.starts_with("5") {
        all.push(tasks("ours", Role::Ours, SearchSettings::default()));
        all.push(tasks("random", Role::Aside, SearchSettings::RANDOM));
        all.push(loops("loops", Role::Aside, Schedule::Hybrid));
    } else {
        all.push(loops("ours", Role::Ours, Schedule::Hybrid));
        all.push(loops("static", Role::Aside, Schedule::Static));
        all.push(loops("split", Role::Aside, Schedule::Split));
        all.push(tasks("tasks", Role::Aside, SearchSettings::default()));
    }
    for (name, schedule) in [("openmp-static", "static"), ("openmp-guided", "guided")] {
        if let Some(program) = external::program("openmp", schedule) {
            let program = program.with("OMP_WAIT_POLICY", "active");
            all.push(Contestant::new(name, Role::Peer, 1, move || program.loops(&job, threads).map(Some)));
        }
    }
    race(session, &name, threads, all, expected);
}

/// Runs the contestants; the value is the time of `serial` divided by theirs.
fn race(session: &mut Session, name: &str, threads: usize, all: Vec<Contestant>, expected: u64) {
    let all = all.into_iter().map(|contestant| contestant.against("serial").expecting(expected));
    session.figure(name, Measure::Speed, threads, all.collect());
}
