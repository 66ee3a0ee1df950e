//! Figures 5.6, 6.5 and 6.6 as this machine measures them: speed-ups over one thread. The sizes are smaller than the
//! paper's, and its crawls are not to be had: links of an R-MAT graph stand in for them.

use std::ops::ControlFlow;

use thalweg::Schedule;
use thalweg::tasks::SearchSettings;
use thalweg_align::{Aligner, Gap, Scoring};
use thalweg_pagerank::{PageRank, Rmat};

use crate::line::Measure;
use crate::peers::external;
use crate::peers::loops::{Alone, ITERATIONS, LoopJob, Ours, Shape, Tasks};
use crate::race::{Contestant, Role};
use crate::row::timed;
use crate::session::Session;

/// Runs the selected figures.
pub fn run(session: &mut Session) {
    let heat = LoopJob { shape: Shape::Heat, size: (2048, 2048), planted: (0, 1), repeats: ITERATIONS };
    let life = |block| LoopJob { shape: Shape::Life { block }, size: (4096, 4096), ..heat };
    for threads in session.thread_counts() {
        grids(session, "5-6.time.heat", heat, (16, 2048), threads);
        grids(session, "5-6.time.life", life((16, 256)), (64, 512), threads);
        pagerank(session, threads);
        alignments(session, threads);
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

/// 10 iterations on an R-MAT graph.
fn pagerank(session: &mut Session, threads: usize) {
    use thalweg_pagerank::Schedule::{Loops, RandomTasks, StaticLoops, Tasks};
    let name = format!("locality.5-6.time.pagerank.t{threads}");
    if !session.selects(&name) {
        return;
    }
    let scale = if session.options.quick { 14 } else { 19 };
    let graph = match Rmat::new(scale).graph(|_| {}) {
        Ok(graph) => graph,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let graph = &graph;
    let contestant = |name, role, schedule, threads: usize| {
        let settings = PageRank::new().tolerance(0.0).max_iterations(10).threads(threads);
        let settings = settings.schedule(schedule);
        Contestant::new(name, role, 1, move || {
            let mut outcome = Ok(());
            let row = timed(|| match settings.run(graph, |_| ControlFlow::Continue(())) {
                Ok(ranking) => {
                    ranking.ranks.iter().fold(0, |sum, rank| crate::work::fold(sum, rank.to_bits()))
                }
                Err(error) => {
                    outcome = Err(error.to_string());
                    0
                }
            });
            outcome.map(|()| Some(row))
        })
    };
    let mut serial = contestant("serial", Role::Yardstick, Loops, 1);
    let expected = match (serial.run)() {
        Ok(row) => row.map_or(0, |row| row.checksum),
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let all = vec![
        serial,
        contestant("ours", Role::Ours, Tasks, threads),
        contestant("random", Role::Aside, RandomTasks, threads),
        contestant("loops", Role::Aside, Loops, threads),
        contestant("static loops", Role::Aside, StaticLoops, threads),
    ];
    race(session, &name, threads, all, expected);
}

/// Smith-Waterman: `sw` with any cost of gaps, `swn2` with an affine one, and Figure 6.5, which has loops.
fn alignments(session: &mut Session, threads: usize) {
    let quick = session.options.quick;
    let affine = Gap::Affine { open: 5, extend: 2 };
    let (n3, n2) = if quick { (256, 2048) } else { (1024, 16_384) };
    alignment(session, &format!("locality.5-6.time.sw.t{threads}"), Gap::log(5, 2), (n3, 32), threads);
    alignment(session, &format!("locality.5-6.time.swn2.t{threads}"), affine, (n2, 1024), threads);
    alignment(session, &format!("locality.6-5.time.sw.t{threads}"), Gap::log(5, 2), (n3, 16), threads);
}

fn alignment(session: &mut Session, name: &str, gap: Gap, (length, block): (usize, usize), threads: usize) {
    use thalweg_align::Schedule::{Loops, RandomTasks, StaticLoops, Tasks};
    if !session.selects(name) {
        return;
    }
    let scoring = match Scoring::dna(2, 3, gap) {
        Ok(scoring) => scoring,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let letter = |at: u64| b"ACGT"[(crate::work::mix(at) % 4) as usize];
    let query: Vec<u8> = (0..length as u64).map(letter).collect();
    let target: Vec<u8> = (0..length as u64).map(|at| letter(at + (1 << 40))).collect();
    let (query, target) = (&query[..], &target[..]);
    let contestant = |name, role, schedule, threads| {
        let aligner = Aligner::new(scoring.clone()).block(block).schedule(schedule).threads(threads);
        Contestant::new(name, role, 1, move || {
            let mut score = Ok(0);
            let row = timed(|| {
                score = aligner.score(query, target);
                score.as_ref().map_or(0, |&score| score as u64)
            });
            score.map(|_| Some(row)).map_err(|error| error.to_string())
        })
    };
    let mut serial = contestant("serial", Role::Yardstick, Loops, 1);
    let expected = match (serial.run)() {
        Ok(row) => row.map_or(0, |row| row.checksum),
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let mut all = vec![serial];
    if name.contains("5-6") {
        all.push(contestant("ours", Role::Ours, Tasks, threads));
        all.push(contestant("random", Role::Aside, RandomTasks, threads));
        all.push(contestant("loops", Role::Aside, Loops, threads));
    } else {
        all.push(contestant("ours", Role::Ours, Loops, threads));
        all.push(contestant("tasks", Role::Aside, Tasks, threads));
    }
    all.push(contestant("static loops", Role::Aside, StaticLoops, threads));
    race(session, name, threads, all, expected);
}

/// Runs the contestants; the value is the time of `serial` divided by theirs.
fn race(session: &mut Session, name: &str, threads: usize, all: Vec<Contestant>, expected: u64) {
    let all = all.into_iter().map(|contestant| contestant.against("serial").expecting(expected));
    session.figure(name, Measure::Speed, threads, all.collect());
}
