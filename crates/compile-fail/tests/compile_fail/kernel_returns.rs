//! A kernel's results leave through its outputs; its function returns none.

use thalweg::{Graph, input};

fn main() {
    let graph = Graph::new();
    let items = graph.source(0..9u64).named("items");
    graph.kernel("k", input("in", items), ()).sequential(|items, ()| items.pop());
}
