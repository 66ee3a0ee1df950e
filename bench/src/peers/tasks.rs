//! Fork-join and graphs of tasks without work: this engine, and rayon by hand.

use std::hint::black_box;
use std::sync::atomic::{AtomicU8, Ordering};

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use thalweg::tasks::{OnDemand, StaticGraph, TaskGraph, TaskOptions, TaskResults};
use thalweg::{Graph, join};

use crate::row::{Row, median_of, once};

/// The runs of a job, of which the median counts.
const RUNS: u64 = 9;

/// The number of joins of `fib(n)`.
pub fn joins(n: u64) -> u64 {
    if n < 2 { 0 } else { 1 + joins(n - 1) + joins(n - 2) }
}

/// `fib(n)` by its definition, on one thread.
pub fn fib_alone(n: u64) -> u64 {
    if n < 2 { n } else { fib_alone(n - 1) + fib_alone(n - 2) }
}

/// `fib(n)` with a join at each addition, in a firing of a run with this many workers.
pub fn fib(n: u64, threads: usize) -> Row {
    fn by_joins(n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let (a, b) = join(|| by_joins(n - 1), || by_joins(n - 2));
        a + b
    }
    in_a_firing(threads, true, || median_of(RUNS, || once(|| by_joins(black_box(n)))))
}

/// The same by rayon's join.
pub fn rayon_fib(n: u64, threads: usize) -> Row {
    fn by_joins(n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let (a, b) = rayon::join(|| by_joins(n - 1), || by_joins(n - 2));
        a + b
    }
    pool(threads).install(|| median_of(RUNS, || once(|| by_joins(black_box(n)))))
}

/// A grid of nodes without work, of which each needs those above and to the left, as an explicit graph. The run's report
/// counts what each member does, or not.
pub fn wavefront(side: u32, threads: usize, counts: bool) -> Row {
    let mut graph = grid(side);
    let options = TaskOptions::new().members(threads);
    in_a_firing(threads, counts, || {
        median_of(RUNS, || once(|| graph.run_with(&options, |node| _ = black_box(node)).map_or(1, |_| 0)))
    })
}

/// The grid on demand: nodes have keys of 8 bytes and results of 4, and are found from the last one on. The time includes the end of
/// the results' memory; the checksum is the number of nodes.
pub fn keyed_wavefront(side: u32, threads: usize) -> Row {
    in_a_firing(threads, true, || median_of(RUNS, || once(|| keyed(side, threads).len() as u64)))
}

/// The bytes of a node of [`keyed_wavefront`]: by how much a run raises the peak of this process's resident memory.
///
/// # Errors
/// The system does not report the peak.
pub fn keyed_bytes(side: u32, threads: usize) -> Result<f64, String> {
    // Starts the threads.
    drop(keyed(2, threads));
    let before = peak()?;
    let nodes = keyed(side, threads).len();
    Ok((peak()? - before) as f64 / nodes as f64)
}

/// A run of the grid on demand: its results by key.
fn keyed(side: u32, threads: usize) -> TaskResults<u64, u32> {
    let needs_of = |&key: &u64, needs: &mut Vec<u64>| {
        needs.extend((key >> 32 > 0).then(|| key - (1 << 32)));
        needs.extend((key & 0xFFFF_FFFF > 0).then(|| key - 1));
    };
    let graph = OnDemand::new(needs_of, |_: &u64, context| {
        context.inputs().fold(1u32, |sum, input| sum.wrapping_add(*input))
    });
    let last = u64::from(side - 1);
    graph.run_with(last << 32 | last, &TaskOptions::new().members(threads)).expect("the grid has no cycle")
}

/// The peak of this process's resident memory, in bytes.
fn peak() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib << 10).ok_or_else(|| "/proc/self/status has no VmHWM".into())
}

/// Building the graph of [`wavefront`].
pub fn wavefront_build(side: u32) -> Row {
    median_of(RUNS, || once(|| u64::from(black_box(grid(side)).nodes() != side * side)))
}

fn grid(side: u32) -> StaticGraph {
    StaticGraph::from_successors(side * side, |node, successors| {
        let (row, column) = (node / side, node % side);
        successors.extend((column + 1 < side).then_some(node + 1));
        successors.extend((row + 1 < side).then_some(node + side));
    })
}

/// The same grid with a counter for each node, and a spawn where a node makes two others ready.
pub fn rayon_wavefront(side: u32, threads: usize) -> Row {
    let side = side as usize;
    let grid = Grid { side, left: (0..side * side).map(|at| AtomicU8::new(needs(side, at))).collect() };
    let run = || pool_scope(&grid);
    pool(threads).install(|| median_of(RUNS, || once(run)))
}

fn pool_scope(grid: &Grid) -> u64 {
    rayon::scope(|scope| grid.visit(scope, 0));
    0
}

/// The predecessors of each node that are not computed yet.
struct Grid {
    side: usize,
    left: Vec<AtomicU8>,
}

/// The number of predecessors of a node.
fn needs(side: usize, at: usize) -> u8 {
    u8::from(!at.is_multiple_of(side)) + u8::from(at >= side)
}

impl Grid {
    /// Computes a node, and then what follows from it.
    fn visit<'s>(&'s self, scope: &Scope<'s>, mut at: usize) {
        loop {
            black_box(at);
            let right = (at % self.side + 1 < self.side && self.is_ready(at + 1)).then_some(at + 1);
            let below = at + self.side;
            let below = (below < self.left.len() && self.is_ready(below)).then_some(below);
            at = match (right, below) {
                (Some(right), Some(below)) => {
                    scope.spawn(move |scope| self.visit(scope, below));
                    right
                }
                (Some(next), None) | (None, Some(next)) => next,
                (None, None) => return,
            };
        }
    }

    /// Counts a predecessor; true for the last one, which also restores the counter for the next run.
    fn is_ready(&self, at: usize) -> bool {
        let is_last = self.left[at].fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            self.left[at].store(needs(self.side, at), Ordering::Relaxed);
        }
        is_last
    }
}

/// What `job` returns in a firing of a run with this many workers, of which the others have nothing else to do.
fn in_a_firing(threads: usize, counts: bool, mut job: impl FnMut() -> Row + Send) -> Row {
    let mut row = None;
    let graph = Graph::new();
    graph.source(0..1u8).for_each(|_| row = Some(job()));
    let options = thalweg::Options::new().threads(threads);
    let options = if counts { options } else { options.untimed() };
    graph.run_with(&options).expect("the run has one item");
    row.expect("a firing")
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("the system can start threads")
}
