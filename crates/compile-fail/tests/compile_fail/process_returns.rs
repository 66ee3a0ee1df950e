//! A process returns a value as `Value(sum)`.

use thalweg::{Graph, input};

fn main() {
    let graph = Graph::new();
    let items = graph.source(0..9u64).named("items");
    graph.process("sum", input("in", items), (), |mut items, ()| async move {
        let mut sum = 0;
        while let Some(item) = items.recv().await {
            sum += item;
        }
        sum
    });
}
