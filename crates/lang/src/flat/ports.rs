//! The ports of filters, with the rates of the tree.

use crate::tree::{self, Filter, Rates};
use smol_str::SmolStr;
use thalweg_graph::{Bounds, InPort, Item, Node, OutPort, Rate};

/// A filter, with a port on each side that has items.
pub(super) fn filter(filter: &Filter, name: SmolStr, input: Option<Item>, output: Option<Item>) -> Node {
    let mut node = Node::sequential(name);
    node.inputs_mut().extend(input.map(|item| input_port(item, filter)));
    node.outputs_mut().extend(output.map(|item| output_port(item, filter)));
    node
}

fn input_port(item: Item, filter: &Filter) -> InPort {
    let ((pop, bounds), peek) = (pop(filter.work), filter.work.least_window());
    let port = InPort::new("in", item).with_pop(pop).with_peek(peek.into()).with_bounds(bounds);
    match filter.prework {
        Some(first) => port.with_first(self::pop(first).0, first.least_window().into()),
        None => port,
    }
}

fn output_port(item: Item, filter: &Filter) -> OutPort {
    let (push, bounds) = rate(filter.work.push);
    let port = OutPort::new("out", item).with_push(push).with_bounds(bounds);
    match filter.prework {
        Some(first) => port.with_first(rate(first.push).0),
        None => port,
    }
}

/// The pop rate: dynamic also where only the number of items peeked depends on the firing.
fn pop(rates: Rates) -> (Rate, Option<Bounds>) {
    match (rates.decides_input(), rates.pop) {
        (true, tree::Rate::Static(count)) => {
            let count = u64::from(count);
            (Rate::Dynamic, Some(Bounds::new(count, None, Some(count))))
        }
        (_, pop) => rate(pop),
    }
}

/// A rate, and what the filter declares about it.
fn rate(rate: tree::Rate) -> (Rate, Option<Bounds>) {
    match rate {
        tree::Rate::Static(count) => (Rate::Static(count.into()), None),
        tree::Rate::Dynamic { min, average, max } => {
            let bounds = Bounds::new(min.into(), average.map(u64::from), max.map(u64::from));
            (Rate::Dynamic, Some(bounds).filter(|bounds| *bounds != Bounds::default()))
        }
    }
}
