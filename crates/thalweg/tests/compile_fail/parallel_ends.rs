//! Firings of a parallel kernel overlap, so none of them can end the node.

use std::ops::ControlFlow;
use thalweg::{Builder, input};

fn main() {
    let mut graph = Builder::new();
    let items = graph.source("items", 0..9u64);
    graph.kernel("k", input("in", items), ()).parallel(|items, ()| match items.pop() {
        3 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
}
