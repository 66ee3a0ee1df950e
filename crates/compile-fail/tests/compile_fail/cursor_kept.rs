//! A cursor belongs to its firing: it cannot be exchanged for one kept from another firing.

use thalweg::{Graph, In, input};

fn main() {
    let graph = Graph::new();
    let items = graph.source(0..1000u64).named("items");
    let mut kept: Option<In<u64>> = None;
    graph.kernel("k", input("in", items), ()).sequential(move |items, ()| {
        if let Some(kept) = &mut kept {
            std::mem::swap(kept, items);
        }
    });
}
