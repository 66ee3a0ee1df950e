//! The readers, the ranks and the generator, through the public interface: a module for each promise.

use std::ops::ControlFlow;

use thalweg_pagerank::{Graph, Input, PageRank, Ranking};

mod exact;
mod formats;
mod hostile;
mod limits;
mod networkx;
mod threads;

/// The graph in a text.
fn read(text: &str) -> Graph {
    Input::new("test").read(text.as_bytes(), None, |_| {}).unwrap()
}

/// The message of the error of a text.
fn refusal(input: &Input, bytes: &[u8]) -> String {
    input.read(bytes, Some(bytes.len() as u64), |_| {}).unwrap_err().to_string()
}

/// Ranks far closer to the exact ones than the tests compare them.
fn rank(graph: &Graph) -> Ranking {
    run(&PageRank::new().tolerance(1e-14).max_iterations(1000), graph)
}

fn run(settings: &PageRank, graph: &Graph) -> Ranking {
    settings.run(graph, |_| ControlFlow::Continue(())).unwrap()
}
