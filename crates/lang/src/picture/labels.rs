//! Labels: rates, weights and types as text, and names quoted for text output.

use crate::flat::{ChannelId, Flat, NodeId, NodeKind};
use crate::hir::Type;
use crate::tree::{Rate, Rates, Tree, Weights};
use crate::value::Shape;

/// The lines of a node's box after its name: rates or weights, and the rates of a first firing that differs.
pub(super) fn of_node(tree: &Tree, flat: &Flat, node: NodeId) -> Vec<String> {
    match flat.kind(node) {
        NodeKind::Split(weights) | NodeKind::Join(weights) => vec![self::weights(weights)],
        NodeKind::Filter(id) => {
            let Some(filter) = tree.filters.get(id.0 as usize) else { return Vec::new() };
            let first = filter.prework.map(|prework| format!("first {}", rates(prework)));
            std::iter::once(rates(filter.work)).chain(first).collect()
        }
    }
}

/// `peek/pop -> push`
pub(super) fn rates(rates: Rates) -> String {
    let peek = match rates.peek {
        peek if peek == rates.pop => String::new(),
        // Popped items are always in the window, so this rate adds no information.
        Rate::Dynamic { min, average: None, max: None } if min == rates.pop.least() => "*/".to_owned(),
        peek => format!("{}/", rate(peek)),
    };
    format!("{peek}{} -> {}", rate(rates.pop), rate(rates.push))
}

fn rate(rate: Rate) -> String {
    let bound = |bound: Option<u32>| bound.map_or("*".to_owned(), |bound| bound.to_string());
    match rate {
        Rate::Static(count) => count.to_string(),
        Rate::Dynamic { min: 0, average: None, max: None } => "*".into(),
        Rate::Dynamic { min, average: None, max } => format!("[{min},{}]", bound(max)),
        Rate::Dynamic { min, average, max } => format!("[{min},{},{}]", bound(average), bound(max)),
    }
}

/// `duplicate`, `roundrobin(1,2)`, `roundrobin(1 x 64)`
pub(super) fn weights(weights: &Weights) -> String {
    weights.to_string().replace(", ", ",")
}

/// A type in StreamIt syntax. The flat graph has no names of structures, so they print as numbers.
pub(super) fn shape(mut shape: &Shape) -> String {
    let mut lengths = String::new();
    loop {
        match shape {
            Shape::Array(of, length) => {
                lengths += &format!("[{length}]");
                shape = of;
            }
            Shape::Struct(id) => return format!("struct {}{lengths}", id.0),
            Shape::Scalar(ty) => return format!("{}{lengths}", scalar(ty)),
        }
    }
}

fn scalar(ty: &Type) -> String {
    let name = match ty {
        Type::Void => "void",
        Type::Bit => "bit",
        Type::Boolean => "boolean",
        Type::Int => "int",
        Type::Float => "float",
        Type::Complex => "complex",
        Type::Vector(width) => return format!("float{width}"),
        Type::String => "string",
        Type::Struct(id) => return format!("struct {}", id.0),
        Type::Array(_) => "array",
        Type::Portal(_) => "portal",
    };
    name.into()
}

/// `int -> float`
pub(super) fn ends(input: &Shape, output: &Shape) -> String {
    format!("{} -> {}", shape(input), shape(output))
}

/// `3 enqueued`, for a channel with initial items.
pub(super) fn enqueued(flat: &Flat, channel: ChannelId) -> Option<String> {
    let count = flat.channel(channel).link().initial();
    (count > 0).then(|| format!("{count} enqueued"))
}

/// A name in a line of text, quoted if it could be misread.
pub(super) fn plain(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_.<>-".contains(c);
    if !name.is_empty() && name.chars().all(plain) { name.into() } else { format!("{name:?}") }
}
