//! A firing that runs a nested graph cannot swap its cursor with one of the nested run.

use thalweg::{Builder, Options, input};

fn main() {
    let mut graph = Builder::new();
    let items = graph.source("outer", (0..1000u64).map(Box::new));
    graph.kernel("k", input("in", items), ()).sequential(|outer, ()| {
        let mut nested = Builder::new();
        let items = nested.source("inner", (0..1000u64).map(Box::new));
        nested.kernel("n", input("in", items), ()).sequential(|inner, ()| std::mem::swap(inner, outer));
        let _ = nested.build().unwrap().run(&Options::new().threads(1));
    });
}
