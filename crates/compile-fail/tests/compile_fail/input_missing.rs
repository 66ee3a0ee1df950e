//! A kernel's inputs are streams.

use thalweg::{Graph, output};

fn main() {
    let graph = Graph::new();
    let _ = graph.kernel("k", 0..9u64, output::<u64>("out"));
}
