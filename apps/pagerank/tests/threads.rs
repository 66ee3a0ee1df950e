//! The same bits at any number of threads, and with any schedule.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use thalweg::loops::team_size;
use thalweg::machine::Machine;
use thalweg::{Options, in_team};
use thalweg_pagerank::{Error, Graph, Input, PageRank, Ranking, Rmat, Schedule};

/// Weights between pages of a random graph.
fn weighted(graph: &Graph) -> String {
    let mut text = format!(
        "%%MatrixMarket matrix coordinate real general\n{0} {0} {1}\n",
        graph.pages(),
        graph.links().len()
    );
    for target in 0..graph.pages() {
        for source in graph.links().sources_of(target) {
            text += &format!("{} {} {}\n", source + 1, target + 1, f64::from(source % 97) / 7.0);
        }
    }
    text
}

const SCHEDULES: [Schedule; 4] =
    [Schedule::Loops, Schedule::StaticLoops, Schedule::Tasks, Schedule::RandomTasks];

fn settings(schedule: Schedule, threads: usize) -> PageRank {
    PageRank::new().schedule(schedule).threads(threads).pages_per_task(100)
}

/// The ranks that a team of this size computes, which may be larger than the number of cores.
fn ranks(graph: &Graph, settings: &PageRank, size: usize) -> Ranking {
    let run = || {
        assert_eq!(team_size(), size);
        settings.run(graph, |_| ControlFlow::Continue(()))
    };
    in_team(&Options::new().threads(size), run).unwrap().unwrap()
}

fn rank(graph: &Graph, schedule: Schedule, threads: usize) -> Ranking {
    ranks(graph, &settings(schedule, threads), threads)
}

#[test]
fn ranks_are_the_same_at_any_number_of_threads_and_with_any_schedule() {
    let graph = Rmat::new(11).graph(|_| {}).unwrap();
    let weighted = Input::new("weighted").read(weighted(&graph).as_bytes(), None, |_| {}).unwrap();
    for graph in [graph, weighted] {
        let one = rank(&graph, Schedule::Loops, 1);
        for schedule in SCHEDULES {
            for threads in [1, 2, 3, 8] {
                assert!(rank(&graph, schedule, threads) == one, "{schedule:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn ranks_are_the_same_if_another_system_executes_the_loops() {
    let graph = Rmat::new(11).graph(|_| {}).unwrap();
    let blocks = AtomicUsize::new(0);
    let each = |count: usize, block: &(dyn Fn(usize) + Sync)| {
        blocks.fetch_add(count, Relaxed);
        let (low, high) = (0..count / 2, count / 2..count);
        std::thread::scope(|scope| {
            scope.spawn(|| low.for_each(block));
            high.rev().for_each(block);
        });
    };
    let ranking = settings(Schedule::Loops, 1).run_by(&graph, &each, |_| ControlFlow::Continue(())).unwrap();
    assert!(ranking == rank(&graph, Schedule::Loops, 1));
    assert_eq!(blocks.into_inner(), graph.pages().div_ceil(100) * ranking.residuals.len());
}

/// A ring, in which few blocks have links into a block, and all pages of a number.
fn ring(pages: u64) -> Graph {
    let links = |page: u64| format!("{page} {}\n{page} {}\n", (page + 1) % pages, page * 7 % pages);
    Input::new("ring").read((0..pages).map(links).collect::<String>().as_bytes(), None, |_| {}).unwrap()
}

/// Without dangling pages and tolerance, tasks wait for some blocks only, so those of several iterations run at once.
#[test]
fn iterations_that_overlap_have_the_same_ranks() {
    let graph = ring(3000);
    assert_eq!(graph.dangling(), 0);
    let settings =
        |schedule, threads| settings(schedule, threads).tolerance(0.0).max_iterations(25).pages_per_task(7);
    let ranks = |schedule, threads| ranks(&graph, &settings(schedule, threads), threads);
    let one = ranks(Schedule::Loops, 1);
    for schedule in [Schedule::Tasks, Schedule::RandomTasks] {
        for repeat in 0..20 {
            assert!(ranks(schedule, 2 + repeat % 3) == one, "{schedule:?}");
        }
    }
}

#[test]
fn a_graph_of_tasks_ends_with_the_iteration_that_converges_or_is_stopped() {
    let graph = Rmat::new(10).graph(|_| {}).unwrap();
    let mut seen = Vec::new();
    let stopped = settings(Schedule::Tasks, 2).run(&graph, |iteration| {
        seen.push(iteration.number);
        if iteration.number == 13 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(Error::Stopped)) && seen.iter().copied().eq(1..=13), "{seen:?}");
    let (ranking, recording) =
        settings(Schedule::Tasks, 2).run_recorded(&graph, |_| ControlFlow::Continue(())).unwrap();
    let residuals = &ranking.residuals;
    assert!(residuals.iter().rposition(|residual| *residual > 1e-9) == Some(residuals.len() - 2));
    assert_eq!((recording.iterations(), recording.blocks()), (residuals.len(), 11));
    let few = settings(Schedule::Tasks, 2).max_iterations(12);
    let few = few.run(&graph, |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(few, Error::NotConverged { iterations: 12, .. }), "{few}");
    let none = Input::new("none").read(&b""[..], None, |_| {}).unwrap();
    assert_eq!(rank(&none, Schedule::Tasks, 2).residuals, [0.0]);
}

#[test]
fn a_recorded_schedule_is_replayed_for_counts() {
    let graph = ring(3000);
    for schedule in SCHEDULES {
        let settings =
            settings(schedule, 2).tolerance(0.0).max_iterations(20).places(&Machine::uniform(2, 1).places(2));
        let run = || settings.run_recorded(&graph, |_| ControlFlow::Continue(()));
        let (_, recording) = in_team(&Options::new().threads(2), run).unwrap().unwrap();
        assert_eq!((recording.threads(), recording.blocks(), recording.iterations()), (2, 30, 20));
        let near = recording.replay(&graph, &[5, 5]);
        assert_eq!((near.tasks, near.links), (600, 19 * graph.links().len() as u64));
        assert_eq!((near.remote_tasks, near.remote_predecessors, near.remote_links), (0, 0, 0));
        let far = recording.replay(&graph, &[0, 1]);
        let strangers = (0..20).flat_map(|iteration| (0..30).map(move |block| (iteration, block)));
        let strangers = strangers.filter(|&(at, block)| recording.thread(at, block) != block / 15).count();
        assert_eq!(far.remote_tasks, strangers as u64, "{schedule:?}");
        assert!(far.remote_links > 0 && far.remote_links < far.links, "{far:?}");
        assert!(far.remote_predecessors > 0 && far.remote_predecessors < far.predecessors, "{far:?}");
    }
}

#[test]
fn a_random_graph_is_a_function_of_its_parameters() {
    // More links than a chunk has, so several threads draw them.
    let rmat = Rmat::new(14).edge_factor(20).seed(5);
    let one = rmat.clone().threads(1).graph(|_| {}).unwrap();
    let four = in_team(&Options::new().threads(4), || rmat.clone().threads(4).graph(|_| {}));
    assert!(four.unwrap().unwrap() == one);
    assert!(rmat.seed(6).graph(|_| {}).unwrap() != one);
    // Known since the first version, so that measurements of different versions have the same graph.
    let sum = one
        .links()
        .sources
        .iter()
        .fold(0u64, |sum, source| sum.wrapping_mul(31).wrapping_add(u64::from(*source)));
    assert_eq!((one.pages(), one.links().len(), sum), (16_384, 279_734, 5_820_654_574_665_932_599));
}

#[test]
fn random_graphs_have_a_scale_from_1_to_31() {
    assert_eq!(Rmat::new(1).graph(|_| {}).unwrap().pages(), 2);
    for scale in [0, 32] {
        assert!(Rmat::new(scale).graph(|_| {}).unwrap_err().to_string().contains("scale"));
    }
}
