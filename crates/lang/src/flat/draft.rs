//! Nodes and channels under construction, and the graph that they become.

use super::{Contents, Flat, ports};
use crate::source::Span;
use crate::tree::{FilterId, Tree, Weights};
use crate::value::Shape;
use smol_str::SmolStr;
use thalweg_graph::{Item, Link, NodeId, Router};

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
    let items: Vec<Item> = lines.iter().map(|line| item(&line.contents.shape, tree)).collect();
    let mut flat = Flat::default();
    // The ports of each channel: their indices at the producer and at the consumer.
    let mut ports = vec![(0, 0); lines.len()];
    for draft in drafts {
        let connected = |ports: &[Option<usize>]| ports.iter().copied().flatten().collect::<Vec<usize>>();
        let (inputs, outputs) = (connected(&draft.inputs), connected(&draft.outputs));
        inputs.iter().enumerate().for_each(|(port, line)| ports[*line].1 = port);
        outputs.iter().enumerate().for_each(|(port, line)| ports[*line].0 = port);
        let items = |lines: Vec<usize>| lines.into_iter().map(|line| items[line]).collect::<Vec<Item>>();
        add(&mut flat, draft, (items(inputs), items(outputs)), tree);
    }
    for (line, ports) in lines.into_iter().zip(ports) {
        let link = Link { initial: line.contents.initial.len(), feedback: line.back, ..Link::default() };
        let (from, to) = (NodeId(line.from as u32), NodeId(line.to as u32));
        let connected = flat.graph.connect((from, ports.0), (to, ports.1), link);
        connected.expect("both ports have this channel alone, and its item type");
        flat.contents.push(line.contents);
    }
    flat
}

/// Adds a node with ports of these items.
fn add(flat: &mut Flat, draft: Draft, (inputs, outputs): (Vec<Item>, Vec<Item>), tree: &Tree) {
    let exists = |ports: &[Option<usize>]| ports.iter().map(Option::is_some).collect::<Vec<bool>>();
    let (input, output) = (inputs.first().copied(), outputs.first().copied());
    let (filter, node, router) = match draft.kind {
        Kind::Filter(id) => {
            (Some(id), ports::filter(&tree.filters[id.0 as usize], draft.name, input, output), None)
        }
        Kind::Split(weights) => {
            let router = Router::Split(of_ports(&weights, &exists(&draft.outputs), true));
            (None, router.node(draft.name, input, &outputs), Some(router))
        }
        Kind::Join(weights) => {
            let router = Router::Join(of_ports(&weights, &exists(&draft.inputs), true));
            (None, router.node(draft.name, output, &inputs), Some(router))
        }
    };
    let alone = node.inputs.is_empty() && node.outputs.is_empty();
    let id = flat.graph.add(node);
    flat.graph.set_span(id, draft.span);
    if alone && filter.is_some_and(|id| tree.filters[id.0 as usize].prework.is_some()) {
        flat.graph.set_prework(id);
    }
    if let Some(router) = router {
        flat.graph.set_router(id, router);
    }
    flat.filters.push(filter);
}

/// Items of a shape.
fn item(shape: &Shape, tree: &Tree) -> Item {
    let cells = shape.cells(&tree.structs, MAX_CELLS).unwrap_or(MAX_CELLS);
    Item::named(&shape.to_string(), cells as usize * 4)
}

/// Above this number of scalars, the size of an item is not counted further: no program that is run has such items.
const MAX_CELLS: u64 = crate::schedule::MAX_HELD;

/// Weights of the existing ports; all 0 if nothing passes on the other side.
pub(super) fn of_ports(weights: &Weights, exists: &[bool], passes: bool) -> Weights {
    let Weights::RoundRobin(weights) = weights else {
        let none = vec![0; exists.iter().filter(|exists| **exists).count()];
        return if passes { Weights::Duplicate } else { Weights::RoundRobin(none) };
    };
    let weight = |port: usize| if passes { weights.get(port).copied().unwrap_or(0) } else { 0 };
    let ports = exists.iter().enumerate().filter(|(_, exists)| **exists);
    Weights::RoundRobin(ports.map(|(port, _)| weight(port)).collect())
}
