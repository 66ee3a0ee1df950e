//! The graph of a StreamIt program as a model of the virtual host: the same nodes, channels, rates and initial items.
//!
//! - A dynamic rate becomes a number of items that alternates within the declared bounds. The virtual host lets a
//!   firing push at most one item to a dynamic output, so a program that declares more has no model.
//! - A window is that of later firings, and a `prework` moves what later firings move.
//! - A channel inside a region gets the capacity that the schedule needs, if that is more than the model's.

use thalweg::embed::graph::{Bounds, InPort, Item, Link, NodeId, OutPort, Rate};
use thalweg::graph::{GraphData, Node};
use thalweg_lang::Compiled;
use thalweg_sim::{Cost, Model, NodeModel, Ratio};

/// The model of a program whose sources end after about this many firings of all nodes with static rates behind them.
/// `None` where a dynamic rate is too large for the virtual host.
pub fn model(program: &Compiled, firings: u64, capacity: usize) -> Option<Model> {
    let mut model = Model::new().capacity(capacity);
    let graph = &program.flat.graph;
    for id in graph.node_ids() {
        let mut node = Node::sequential(graph.node(id).name());
        node.inputs_mut().extend(graph.node(id).inputs().iter().map(input));
        node.outputs_mut().extend(graph.node(id).outputs().iter().map(output));
        model.graph.add(node);
        model.nodes.push(behaviour(
            graph,
            id,
            if graph.node(id).is_source() { of_source(program, id, firings) } else { 0 },
        )?);
    }
    for (channel, needed) in graph.channels().iter().zip(&program.schedule.buffers) {
        let least = needed.and_then(|items| usize::try_from(items).ok()).unwrap_or(0);
        let capacity = Some(capacity.max(least));
        let link = Link::default().with_capacity(capacity).with_initial(channel.link().initial());
        model.graph.connect(channel.from(), channel.to(), link).expect("the ports of the program's graph");
    }
    Some(model)
}

/// A dynamic input is one that a framing function decides about, which sees an item at least.
fn input(port: &InPort) -> InPort {
    let peek = if port.pop() == Rate::Dynamic { 1 } else { port.peek() };
    InPort::new(port.name(), Item::of::<u64>()).with_pop(port.pop()).with_peek(peek)
}

fn output(port: &OutPort) -> OutPort {
    OutPort::new(port.name(), Item::of::<u64>()).with_push(port.push())
}

fn behaviour(graph: &GraphData, id: NodeId, firings: u64) -> Option<NodeModel> {
    let node = graph.node(id);
    let pops = node.inputs().iter().map(|port| popped(port.pop(), port.bounds()));
    let pushes = node.outputs().iter().map(|port| pushed(port.push(), port.bounds()));
    Some(NodeModel {
        cost: Cost::Fixed(100),
        firings,
        bursts: Vec::new(),
        pops: pops.collect::<Option<_>>()?,
        pushes: pushes.collect::<Option<_>>()?,
    })
}

/// The items that firings pop: with a dynamic rate, the least number or one more.
fn popped(rate: Rate, bounds: Option<Bounds>) -> Option<Ratio> {
    let bounds = match rate {
        Rate::Static(count) => return ratio(count, 1),
        Rate::Dynamic => bounds.unwrap_or_default(),
    };
    let least = bounds.least();
    match bounds.most() {
        Some(most) if most == least => ratio(least, 1),
        Some(1) => ratio(1, 2),
        _ => ratio(2 * least.max(1) + 1, 2),
    }
}

/// The items that firings push: with a dynamic rate, one or none.
fn pushed(rate: Rate, bounds: Option<Bounds>) -> Option<Ratio> {
    let bounds = match rate {
        Rate::Static(count) => return ratio(count, 1),
        Rate::Dynamic => bounds.unwrap_or_default(),
    };
    match (bounds.least(), bounds.most()) {
        (_, Some(0)) => ratio(0, 1),
        (0, _) => ratio(2, 3),
        (1, _) => ratio(1, 1),
        _ => None,
    }
}

fn ratio(items: u64, firings: u32) -> Option<Ratio> {
    u32::try_from(items).ok().map(|items| Ratio::new(items, firings))
}

/// The firings of a source: of as many steady states as have `firings` firings, or of a part of one.
fn of_source(program: &Compiled, source: NodeId, firings: u64) -> u64 {
    let mut regions = program.schedule.regions.iter();
    let region = regions.find(|region| region.nodes.contains(&source)).expect("each node is in a region");
    let place = region.nodes.iter().position(|node| *node == source).expect("just found");
    let all: u128 = region.repetitions.iter().map(|count| u128::from(*count)).sum();
    let share = u128::from(region.repetitions[place]) * u128::from(firings) / all.max(1);
    u64::try_from(share).expect("a part of the firings").max(1)
}
