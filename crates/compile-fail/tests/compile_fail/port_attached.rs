//! Only the engine makes ports.

use thalweg::{Graph, input};
use thalweg::node::InputSpecs;

fn attach<'env, S: InputSpecs<'env> + 'env>(specs: S, graph: &mut Graph<'env>) {
    let _ = specs.attach(graph);
}

fn main() {
    let mut graph = Graph::new();
    let items = graph.source(0..9u64).named("items");
    attach(input("in", items), &mut graph);
}
