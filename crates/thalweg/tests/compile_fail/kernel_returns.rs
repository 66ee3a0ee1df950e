//! Results leave a kernel through its outputs, not by its return.

use thalweg::{Builder, input};

fn main() {
    let mut graph = Builder::new();
    let items = graph.source("items", 0..9u64);
    graph.kernel("k", input("in", items), ()).sequential(|items, ()| items.pop());
}
