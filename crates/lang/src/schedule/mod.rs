//! Schedules of StreamIt graphs: those of [`thalweg_analysis::schedule`], with errors that have a place in the source.

mod loops;
mod rates;
mod room;

pub use room::{MAX_HELD, fits};
pub use thalweg_analysis::schedule::{Cursor, Phase, Region, Schedule};

use crate::Diagnostic;
use crate::flat::{ChannelId, Flat, NodeId};
use thalweg_analysis::schedule::Unschedulable;

/// Schedules a graph.
///
/// # Errors
/// Rates that do not balance, feedback loops with too few items, and numbers that are too large; all errors found,
/// each once.
pub fn schedule(flat: &Flat) -> Result<Schedule, Vec<Diagnostic>> {
    let explained = |errors: Vec<Unschedulable>| errors.iter().map(|error| explain(flat, error)).collect();
    thalweg_analysis::schedule::schedule(&flat.graph).map_err(explained)
}

fn explain(flat: &Flat, error: &Unschedulable) -> Diagnostic {
    match error {
        Unschedulable::Rates(fault) => rates::explain(flat, fault),
        Unschedulable::TooManyFirings { node } => rates::too_many_firings(flat, *node),
        Unschedulable::Loop { channel, needed } => loops::too_few(flat, *channel, *needed),
        Unschedulable::TooManyItems { channel } => too_many_items(flat, *channel),
        Unschedulable::TooLong { node } => too_long(flat, *node),
        other => unreachable!("the analysis has a new reason: {other:?}"),
    }
}

/// An error at a node.
fn node_error(flat: &Flat, node: NodeId, message: String) -> Diagnostic {
    Diagnostic::new(flat.span(node), message)
}

fn plural(count: u128) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn too_many_items(flat: &Flat, channel: ChannelId) -> Diagnostic {
    let channel = flat.channel(channel);
    let (from, to) = (&flat.node(channel.from().0).name(), &flat.node(channel.to().0).name());
    let message = format!("the channel from `{from}` to `{to}` must hold 2^64 items or more");
    node_error(flat, channel.from().0, message).hint("choose rates and weights with larger common factors")
}

fn too_long(flat: &Flat, node: NodeId) -> Diagnostic {
    let message = format!("the schedule of the streams around `{}` is too long", flat.node(node).name());
    let hint = "choose rates and weights with larger common factors, or enqueue more items";
    node_error(flat, node, message).hint(hint)
}
