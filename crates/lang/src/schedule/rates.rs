//! The errors for rates that do not balance.

use super::{node_error, plural};
use crate::Diagnostic;
use crate::flat::{Channel, Firing, Flat, NodeId};
use thalweg_analysis::RateFault;

/// The error for a fault of the rates.
pub(super) fn explain(flat: &Flat, fault: &RateFault) -> Diagnostic {
    let channel = flat.channel(fault.channel());
    match fault {
        RateFault::Unbalanced { firings, path, .. } => unbalanced(flat, channel, *firings, path),
        RateFault::TooManyFirings { .. } => too_many_firings(flat, channel.to().0),
        RateFault::Starved { .. } => starved(flat, channel),
        RateFault::Flooded { .. } => flooded(flat, channel),
        other => unreachable!("the analysis has a new fault: {other:?}"),
    }
}

/// The error for a node with too many firings.
pub(super) fn too_many_firings(flat: &Flat, node: NodeId) -> Diagnostic {
    let message = format!("`{}` must fire 2^64 times or more in a steady state", flat.node(node).name());
    node_error(flat, node, message).hint("choose rates and weights with larger common factors")
}

/// The error for two paths that require different numbers of firings.
fn unbalanced(flat: &Flat, channel: &Channel, (from, to): (u128, u128), path: &[NodeId]) -> Diagnostic {
    let (a, b) = ends(flat, channel);
    let (push, pop) = (push(flat, channel), pop(flat, channel));
    let (given, taken) = (from.saturating_mul(push.into()), to.saturating_mul(pop.into()));
    let message = format!(
        "rates do not balance between `{a}` and `{b}`: `{a}` fires {from} time{} and pushes {given} item{} ({push} \
         each), but `{b}` fires {to} time{} and pops {taken} ({pop} each)",
        plural(from),
        plural(given),
        plural(to),
    );
    let hint = format!(
        "the numbers of firings follow from the other path: {}; change a rate or a weight on one of the two paths",
        names(flat, path)
    );
    node_error(flat, channel.from().0, message)
        .label(format!("`{a}`"))
        .other(flat.span(channel.to().0), format!("`{b}`"))
        .hint(hint)
}

/// The names of the nodes of a path, at most eight.
fn names(flat: &Flat, path: &[NodeId]) -> String {
    let names = |path: &[NodeId]| {
        path.iter().map(|node| format!("`{}`", flat.node(*node).name())).collect::<Vec<String>>().join(", ")
    };
    match path.len() {
        0..=9 => names(path),
        more => {
            format!("{}, ... ({} more), {}", names(&path[..4]), more - 8, names(&path[more - 4..]))
        }
    }
}

fn starved(flat: &Flat, channel: &Channel) -> Diagnostic {
    let (a, b) = ends(flat, channel);
    let message = format!("`{b}` never receives items: it pops from `{a}`, which pushes none");
    node_error(flat, channel.to().0, message).hint("use a weight or a push rate above 0, or the type `void`")
}

fn flooded(flat: &Flat, channel: &Channel) -> Diagnostic {
    let ((a, b), push) = (ends(flat, channel), push(flat, channel));
    let message = format!("`{a}` pushes {push} item{} per firing, but `{b}` pops none", plural(push.into()));
    node_error(flat, channel.from().0, message).hint("use a weight or a pop rate above 0, or push no items")
}

/// The names of the nodes at the ends of a channel.
fn ends<'a>(flat: &'a Flat, channel: &Channel) -> (&'a str, &'a str) {
    (flat.node(channel.from().0).name(), flat.node(channel.to().0).name())
}

/// Items that each firing pushes; only static rates have faults that name them.
fn push(flat: &Flat, channel: &Channel) -> u64 {
    flat.push(channel.from().0, channel.from().1, Firing::Later).unwrap_or(0)
}

fn pop(flat: &Flat, channel: &Channel) -> u64 {
    flat.pop(channel.to().0, channel.to().1, Firing::Later).unwrap_or(0)
}
