//! Firings that peek one item at the same time need items that are `Sync`.

use std::cell::Cell;
use thalweg::{Graph, output, window};

fn main() {
    let graph = Graph::new();
    let cells = graph.source((0..9u64).map(Cell::new)).named("cells");
    let sums = graph.kernel("sum", window("in", cells).peek(3), output("out")).parallel(
        |cells, out| {
            cells[0].set(7);
            out.push(cells[1].get());
        },
    );
    sums.for_each(|_| {}).named("sums");
}
