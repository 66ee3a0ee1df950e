//! Models of graphs that occur in tests and measurements. Costs are in ticks a firing, on the scale of nanoseconds.

use crate::{Cost, Model, Ratio};
use thalweg_graph::{Link, NodeId};

/// Firings of a source in shapes without a parameter for them.
const FIRINGS: u64 = 300;

/// One model of each shape, by name. Every policy must run them all, in every host.
pub fn all() -> Vec<(&'static str, Model)> {
    vec![
        ("single", chain(1, 100)),
        ("chain", chain(6, 100)),
        ("tailed chain", tailed_chain(6, 300, 100)),
        ("long chain", chain_of(150, 20, 100)),
        ("slow node", slow_node(100)),
        ("farm", farm(300, 30, 300)),
        ("diamond", diamond(100)),
        ("fan", fan(5, 100)),
        ("feedback", feedback(100)),
        ("two sources", two_sources()),
        ("two chains", two_chains(200, 100)),
        ("dedup", dedup(48, 100)),
        ("peek", peeking_farm(200, 30, 300, 8)),
    ]
}

/// A line of `nodes` sequential nodes.
pub fn chain(nodes: usize, cost: u64) -> Model {
    chain_of(nodes, FIRINGS, cost)
}

/// A [`chain`] with this number of firings of its source.
pub fn chain_of(nodes: usize, firings: u64, cost: u64) -> Model {
    let mut model = Model::new();
    let mut from = model.source("source", firings, Cost::Fixed(cost));
    for i in 1..nodes {
        let to = model.sequential(&format!("stage{i}"), Cost::Fixed(cost));
        model.join(from, to);
        from = to;
    }
    model
}

/// A [`chain_of`] nodes that have costs with a heavy tail.
pub fn tailed_chain(nodes: usize, firings: u64, cost: u64) -> Model {
    let mut model = chain_of(nodes, firings, cost);
    for node in &mut model.nodes {
        node.cost = Cost::Tailed(cost);
    }
    model
}

/// A chain of five with a middle node that takes ten times as long as the others.
pub fn slow_node(cost: u64) -> Model {
    let mut model = chain(5, cost);
    model.nodes[2].cost = Cost::Fixed(10 * cost);
    model
}

/// Source, parallel node with costs of a heavy tail, sink.
pub fn farm(firings: u64, ends: u64, work: u64) -> Model {
    let mut model = Model::new();
    let source = model.source("source", firings, Cost::Fixed(ends));
    let farm = model.parallel("farm", Cost::Tailed(work));
    let sink = model.sequential("sink", Cost::Fixed(ends));
    model.join(source, farm);
    model.join(farm, sink);
    model
}

/// Source, `kernels` parallel nodes of equal cost, sink.
pub fn parallel_chain(kernels: usize, firings: u64, ends: u64, work: u64) -> Model {
    let mut model = Model::new();
    let mut from = model.source("source", firings, Cost::Fixed(ends));
    for i in 0..kernels {
        let kernel = model.parallel(&format!("kernel{i}"), Cost::Fixed(work));
        model.join(from, kernel);
        from = kernel;
    }
    let sink = model.sequential("sink", Cost::Fixed(ends));
    model.join(from, sink);
    model
}

/// A [`farm`] with a parallel node that peeks at `peek` items in each firing.
pub fn peeking_farm(firings: u64, ends: u64, work: u64, peek: u32) -> Model {
    let mut model = farm(firings, ends, work);
    model.peek(NodeId(1), peek);
    model
}

/// A split into two branches, which are joined again; one branch keeps every third item only.
pub fn diamond(cost: u64) -> Model {
    let mut model = Model::new();
    let source = model.source("source", FIRINGS, Cost::Fixed(cost));
    let split = model.sequential("split", Cost::Fixed(cost));
    let left = model.parallel("left", Cost::Fixed(3 * cost));
    let right = model.sequential("right", Cost::Fixed(cost));
    let meet = model.sequential("meet", Cost::Fixed(cost));
    let third = Ratio::new(1, 3);
    model.join(source, split);
    model.join(split, left);
    model.join(split, right);
    model.join(left, meet);
    model.join_rated((right, third), (meet, third), Link::default());
    model
}

/// One source, `width` branches of which every second is parallel, one sink.
pub fn fan(width: usize, cost: u64) -> Model {
    let mut model = Model::new();
    let source = model.source("source", FIRINGS, Cost::Fixed(cost));
    let sink = model.sequential("sink", Cost::Fixed(cost));
    for i in 0..width {
        let name = format!("branch{i}");
        let cost = Cost::Fixed(cost * (1 + i as u64 % 3));
        let branch = if i % 2 == 0 { model.parallel(&name, cost) } else { model.sequential(&name, cost) };
        model.join(source, branch);
        model.join(branch, sink);
    }
    model
}

/// A cycle: each item of the source is joined with an item of the feedback channel, which has four initial items.
pub fn feedback(cost: u64) -> Model {
    let mut model = Model::new();
    let source = model.source("source", FIRINGS, Cost::Fixed(cost));
    let meet = model.sequential("meet", Cost::Fixed(cost));
    let work = model.parallel("work", Cost::Fixed(5 * cost));
    let part = model.sequential("part", Cost::Fixed(cost));
    let sink = model.sequential("sink", Cost::Fixed(cost));
    model.join(source, meet);
    model.join(meet, work);
    model.join(work, part);
    model.join(part, sink);
    let back = Link::default().with_initial(4);
    model.join_rated((part, Ratio::ONE), (meet, Ratio::ONE), back);
    model
}

/// Two sources into a parallel node, which has a parallel and a sequential consumer.
pub fn two_sources() -> Model {
    let mut model = Model::new();
    let one = model.source("one", FIRINGS, Cost::Fixed(50));
    let two = model.source("two", FIRINGS, Cost::Fixed(70));
    let hub = model.parallel("hub", Cost::Fixed(200));
    let left = model.parallel("left", Cost::Fixed(100));
    let right = model.sequential("right", Cost::Fixed(80));
    let end = model.sequential("end", Cost::Fixed(30));
    model.join(one, hub);
    model.join(two, hub);
    model.join(hub, left);
    model.join(hub, right);
    model.join(left, end);
    model
}

/// Two unconnected chains in one graph.
pub fn two_chains(firings: u64, cost: u64) -> Model {
    let mut model = Model::new();
    for _ in 0..2 {
        let source = model.source("source", firings, Cost::Fixed(cost));
        let sink = model.sequential("sink", Cost::Fixed(cost));
        model.join(source, sink);
    }
    model
}

/// The five stages of dedup: coarse pieces, eight chunks of each, hash, sequential look-up (two of three chunks are
/// new), compression of new chunks, sequential write.
pub fn dedup(pieces: u64, cost: u64) -> Model {
    let mut model = Model::new();
    let (eight, new) = (Ratio::new(8, 1), Ratio::new(2, 3));
    let read = model.source("read", pieces, Cost::Fixed(2 * cost));
    let chunk = model.parallel("chunk", Cost::Tailed(8 * cost));
    let hash = model.parallel("hash", Cost::Tailed(2 * cost));
    let look = model.sequential("look", Cost::Fixed(cost / 2));
    let pack = model.parallel("pack", Cost::Tailed(20 * cost));
    let write = model.sequential("write", Cost::Fixed(cost));
    model.join(read, chunk);
    model.join_rated((chunk, eight), (hash, Ratio::ONE), Link::default());
    model.join(hash, look);
    model.join(look, write);
    model.join_rated((look, new), (pack, Ratio::ONE), Link::default());
    model.join_rated((pack, Ratio::ONE), (write, new), Link::default());
    model
}
