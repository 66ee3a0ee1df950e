//! Firings of a parallel kernel overlap, so none of them can end the node.

use std::ops::ControlFlow;
use thalweg::{Graph, input};

fn main() {
    let graph = Graph::new();
    let items = graph.source(0..9u64).named("items");
    graph.kernel("k", input("in", items), ()).parallel(|items, ()| match items.pop() {
        3 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
}
