//! The ports of filters, with the rates of the tree.

use crate::tree::{self, Filter, Rates};
use smol_str::SmolStr;
use thalweg_graph::{Bounds, InPort, Item, Node, OutPort, Rate};

/// A filter, with a port on each side that has items.
pub(super) fn filter(filter: &Filter, name: SmolStr, input: Option<Item>, output: Option<Item>) -> Node {
    let mut node = Node::sequential(name);
    node.inputs.extend(input.map(|item| input_port(item, filter)));
    node.outputs.extend(output.map(|item| output_port(item, filter)));
    node
}

fn input_port(item: Item, filter: &Filter) -> InPort {
    let ((pop, bounds), peek) = (pop(filter.work), filter.work.least_window());
    let mut port = InPort::new("in", item).pop(pop).peek(peek.into());
    if bounds.is_some() {
        port.bounds = bounds;
    }
    match filter.prework {
        Some(first) => port.first(self::pop(first).0, first.least_window().into()),
        None => port,
    }
}

fn output_port(item: Item, filter: &Filter) -> OutPort {
    let (push, bounds) = rate(filter.work.push);
    let mut port = OutPort::new("out", item).push(push);
    if bounds.is_some() {
        port.bounds = bounds;
    }
    match filter.prework {
        Some(first) => port.first(rate(first.push).0),
        None => port,
    }
}

/// The pop rate: dynamic also where only the number of items peeked depends on the firing.
fn pop(rates: Rates) -> (Rate, Option<Bounds>) {
    match (rates.decides_input(), rates.pop) {
        (true, tree::Rate::Static(count)) => {
            let count = u64::from(count);
            (Rate::Dynamic, Some(Bounds { least: count, average: None, most: Some(count) }))
        }
        (_, pop) => rate(pop),
    }
}

/// A rate, and what the filter declares about it.
fn rate(rate: tree::Rate) -> (Rate, Option<Bounds>) {
    match rate {
        tree::Rate::Static(count) => (Rate::Static(count.into()), None),
        tree::Rate::Dynamic { min, average, max } => {
            let bounds =
                Bounds { least: min.into(), average: average.map(u64::from), most: max.map(u64::from) };
            (Rate::Dynamic, Some(bounds).filter(|bounds| *bounds != Bounds::default()))
        }
    }
}
