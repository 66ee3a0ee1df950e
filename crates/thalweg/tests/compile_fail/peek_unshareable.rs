//! Firings that look at one item at the same time need items that can be looked at from two threads.

use std::cell::Cell;
use thalweg::{Builder, output, window};

fn main() {
    let mut graph = Builder::new();
    let cells = graph.source("cells", (0..9u64).map(Cell::new));
    let sums = graph.kernel("sum", window("in", cells).peek(3), output("out")).parallel(
        |cells, out| {
            cells[0].set(7);
            out.push(cells[1].get());
        },
    );
    graph.sink("sums", sums, |_| {});
}
