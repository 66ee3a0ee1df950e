//! What a node of a task graph costs: empty nodes, at 1 member and at 2, with rounds of all kinds interleaved.
//!
//! ```text
//! cargo run -p thalweg-tasks --release --example task_costs [ROUNDS [NAME]]
//! ```
//!
//! With `NAME`, only the kinds with this in their name.
//! The smallest time of all rounds is the one that other work on the machine has disturbed least.

use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};
use thalweg_tasks::{Context, OnDemand, StaticGraph, TaskGraph, TaskOptions};

/// The wavefront has this number of rows and of columns.
const SIDE: u32 = 1000;
/// The argument of the tree of calls.
const FIB: u32 = 24;

fn main() {
    let rounds = std::env::args().nth(1).map_or(9, |rounds| rounds.parse().expect("a number of rounds"));
    let mut names = vec!["wavefront, explicit: building it"];
    let mut kinds: Vec<Box<dyn FnMut() -> f64>> = vec![Box::new(build)];
    for members in [1, 2] {
        let mut graph = wavefront();
        names.push(if members == 1 {
            "wavefront, explicit, 1 member"
        } else {
            "wavefront, explicit, 2 members"
        });
        kinds.push(Box::new(move || explicit(&mut graph, members)));
        names.push(if members == 1 { "wavefront, by key, 1 member" } else { "wavefront, by key, 2 members" });
        kinds.push(Box::new(move || keyed(members)));
        names.push(if members == 1 {
            "tree of calls, by key, 1 member"
        } else {
            "tree of calls, by key, 2 members"
        });
        kinds.push(Box::new(move || tree(members)));
        names.push(if members == 1 {
            "10^6 sources, explicit, 1 member"
        } else {
            "10^6 sources, explicit, 2 members"
        });
        let mut wide = StaticGraph::from_edges(1_000_000, []);
        kinds.push(Box::new(move || explicit(&mut wide, members)));
    }
    let wanted = std::env::args().nth(2).unwrap_or_default();
    let mut kept: Vec<_> = names.into_iter().zip(kinds).filter(|(name, _)| name.contains(&wanted)).collect();
    let mut times = vec![Vec::new(); kept.len()];
    for _ in 0..rounds {
        for ((_, kind), times) in kept.iter_mut().zip(&mut times) {
            times.push(kind());
        }
    }
    println!("{:<36}{:>10}{:>10}  ns a node", "", "smallest", "median");
    for ((name, _), times) in kept.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        println!("{name:<36}{:>10.1}{:>10.1}", times[0], times[times.len() / 2]);
    }
}

fn per_node(time: Duration, nodes: u64) -> f64 {
    time.as_nanos() as f64 / nodes as f64
}

fn wavefront() -> StaticGraph {
    StaticGraph::from_successors(SIDE * SIDE, |node, successors| {
        if node % SIDE + 1 < SIDE {
            successors.push(node + 1);
        }
        if node / SIDE + 1 < SIDE {
            successors.push(node + SIDE);
        }
    })
}

fn build() -> f64 {
    let start = Instant::now();
    black_box(wavefront());
    per_node(start.elapsed(), (SIDE * SIDE).into())
}

fn explicit(graph: &mut StaticGraph, members: usize) -> f64 {
    let start = Instant::now();
    let counts =
        graph.run_with(&TaskOptions::new().members(members), |node| _ = black_box(node)).expect("no cycle");
    assert_eq!(counts.total().nodes(), graph.nodes().into());
    per_node(start.elapsed(), graph.nodes().into())
}

fn keyed(members: usize) -> f64 {
    let graph = OnDemand::new(
        |&key: &u64, needs: &mut Vec<u64>| {
            let (row, column) = (key >> 32, key & 0xFFFF_FFFF);
            if row > 0 {
                needs.push(key - (1 << 32));
            }
            if column > 0 {
                needs.push(key - 1);
            }
        },
        |_: &u64, context| context.inputs().fold(1_u32, |sum, input| sum.wrapping_add(*input)),
    );
    let (start, last) = (Instant::now(), u64::from(SIDE - 1));
    let finished = graph.run_with(last << 32 | last, &TaskOptions::new().members(members)).expect("no cycle");
    let time = start.elapsed();
    per_node(time, finished.len() as u64)
}

/// A graph that grows while it runs: the tree of calls of Fibonacci's function, where each call is a node of its own.
struct Calls;

impl TaskGraph for Calls {
    /// The place in the tree (1 is the root; the calls of `n` are `2 n` and `2 n + 1`), and the argument.
    type Key = (u64, u32);
    type Output = ();
    type Error = Infallible;

    fn predecessors(&self, _: &(u64, u32), _: &mut Vec<(u64, u32)>) {}

    fn compute(
        &self,
        &(place, n): &(u64, u32),
        context: &mut Context<'_, (u64, u32), ()>,
    ) -> Result<(), Infallible> {
        if n >= 2 {
            context.also((2 * place, n - 1));
            context.also((2 * place + 1, n - 2));
        }
        Ok(())
    }
}

fn tree(members: usize) -> f64 {
    let start = Instant::now();
    let finished = Calls.run_with((1, FIB), &TaskOptions::new().members(members)).expect("no cycle");
    let time = start.elapsed();
    per_node(time, finished.len() as u64)
}
