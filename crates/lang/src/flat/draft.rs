//! Nodes and channels under construction, and the graph that they become.

use super::{Contents, Flat, ports};
use crate::source::Span;
use crate::tree::{Code, FilterId, Tree, Weights};
use crate::value::{Shape, Value, WORD};
use smol_str::SmolStr;
use thalweg_graph::{Footprint, Item, Link, NodeId, Router};

/// A node under construction. Ports get their channels, by number, later.
pub(super) struct Draft {
    pub name: SmolStr,
    pub span: Span,
    pub kind: Kind,
    pub inputs: Vec<Option<usize>>,
    pub outputs: Vec<Option<usize>>,
}

pub(super) enum Kind {
    Filter(FilterId),
    Split(Weights),
    Join(Weights),
}

/// A channel under construction.
pub(super) struct Line {
    pub from: usize,
    pub to: usize,
    pub contents: Contents,
    pub back: bool,
}

/// The graph of all drafts, without the ports that have no channel.
pub(super) fn finish(drafts: Vec<Draft>, lines: Vec<Line>, tree: &Tree) -> Flat {
    let items = items(&lines, tree);
    let mut flat = Flat::default();
    // The ports of each channel: their indices at the producer and at the consumer.
    let mut ports = vec![(0, 0); lines.len()];
    for draft in drafts {
        connected(&draft.outputs).enumerate().for_each(|(port, line)| ports[line].0 = port);
        connected(&draft.inputs).enumerate().for_each(|(port, line)| ports[line].1 = port);
        add(&mut flat, draft, &items, tree);
    }
    for (line, ports) in lines.into_iter().zip(ports) {
        let link = Link::default().with_initial(line.contents.initial.len()).with_feedback(line.back);
        let (from, to) = (NodeId(line.from as u32), NodeId(line.to as u32));
        let connected = flat.graph.connect((from, ports.0), (to, ports.1), link);
        connected.expect("both ports have this channel alone, and its item type");
        flat.contents.push(line.contents);
    }
    flat
}

/// The channels of those ports that have one.
fn connected(ports: &[Option<usize>]) -> impl Iterator<Item = usize> {
    ports.iter().copied().flatten()
}

/// Adds a node, given the items of all channels.
fn add(flat: &mut Flat, draft: Draft, items: &[Item], tree: &Tree) {
    let Draft { name, span, kind, inputs, outputs } = draft;
    let first = |ports| connected(ports).next().map(|line| items[line]);
    let all = |ports| connected(ports).map(|line| items[line]).collect::<Vec<Item>>();
    let (filter, node, router) = match kind {
        Kind::Filter(id) => {
            let filter = &tree.filters[id.0 as usize];
            (Some(id), ports::filter(filter, name, first(&inputs), first(&outputs)), None)
        }
        Kind::Split(weights) => {
            let router = Router::Split(connected_weights(weights, &outputs));
            (None, router.node(name, first(&inputs), &all(&outputs)), Some(router))
        }
        Kind::Join(weights) => {
            let router = Router::Join(connected_weights(weights, &inputs));
            (None, router.node(name, first(&outputs), &all(&inputs)), Some(router))
        }
    };
    let alone = node.inputs().is_empty() && node.outputs().is_empty();
    let id = flat.graph.add(node);
    flat.graph.set_span(id, span);
    if alone && filter.is_some_and(|id| tree.filters[id.0 as usize].prework.is_some()) {
        flat.graph.set_prework(id);
    }
    if let Some(bytes) = filter.map(|id| state(&tree.filters[id.0 as usize].code)).filter(|bytes| *bytes > 0)
    {
        flat.graph.set_footprint(id, Footprint::Known(bytes));
    }
    if let Some(router) = router {
        flat.graph.set_router(id, router);
    }
    flat.filters.push(filter);
}

/// The bytes of a filter's fields and parameters, in the engine's own layout: 4 for each scalar.
fn state(code: &Code) -> u64 {
    let Code::Written { params, fields, .. } = code else { return 0 };
    params.iter().chain(fields).map(Value::cells).sum::<u64>() * WORD
}

/// The weights of those ports that have a channel.
fn connected_weights(weights: Weights, ports: &[Option<usize>]) -> Weights {
    let Weights::RoundRobin(weights) = weights else { return weights };
    let kept = weights.into_iter().zip(ports).filter(|(_, port)| port.is_some());
    Weights::RoundRobin(kept.map(|(weight, _)| weight).collect())
}

/// The items of all channels. Most have the shape of the channel before.
fn items(lines: &[Line], tree: &Tree) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let shape = &line.contents.shape;
        let same = at > 0 && lines[at - 1].contents.shape == *shape;
        items.push(if same { items[at - 1] } else { item(shape, tree) });
    }
    items
}

/// Items of a shape.
fn item(shape: &Shape, tree: &Tree) -> Item {
    let cells = shape.cells(&tree.structs, MAX_CELLS).unwrap_or(MAX_CELLS);
    Item::named(&shape.to_string(), cells as usize * 4)
}

/// Above this number of scalars, the size of an item is not counted further: no program that is run has such items.
const MAX_CELLS: u64 = crate::schedule::MAX_HELD;
