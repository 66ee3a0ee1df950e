//! Only the engine makes ports.

use thalweg::{Builder, InputSpecs, graph::NodeId, input};

fn attach<'env, S: InputSpecs + 'env>(specs: S, builder: &mut Builder<'env>) {
    let _ = specs.attach(builder, NodeId(0));
}

fn main() {
    let mut builder = Builder::new();
    let items = builder.source("items", 0..9u64);
    attach(input("in", items), &mut builder);
}
