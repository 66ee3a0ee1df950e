//! A firing that executes a nested run cannot swap its cursor with one of the nested run.

use thalweg::{Graph, Options, input};

fn main() {
    let graph = Graph::new();
    let items = graph.source((0..1000u64).map(Box::new)).named("outer");
    graph.kernel("k", input("in", items), ()).sequential(|outer, ()| {
        let nested = Graph::new();
        let items = nested.source((0..1000u64).map(Box::new)).named("inner");
        nested.kernel("n", input("in", items), ()).sequential(|inner, ()| std::mem::swap(inner, outer));
        let _ = nested.run_with(&Options::new().threads(1));
    });
}
