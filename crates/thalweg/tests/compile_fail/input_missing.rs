//! A kernel's inputs are streams.

use thalweg::{Builder, output};

fn main() {
    let mut graph = Builder::new();
    let _ = graph.kernel("k", 0..9u64, output::<u64>("out"));
}
