//! The measurements of a node, with its name for readers of the file.

use super::value::{Read, Value};
use super::write::Fields;
use super::{jobs, service};
use thalweg_trace::{NodeReport, NodeWaits};

/// Writes the measurements of the node with this name, which a report without a graph lacks.
pub(super) fn write(name: Option<&str>, node: &NodeReport, to: &mut Fields<'_>) {
    let NodeReport { firings, activations, busy, moves, other_waits, service, jobs } = node;
    let NodeWaits { any_input, window, outside, worker } = *other_waits;
    if let Some(name) = name {
        to.string("node", name);
    }
    to.count("firings", firings);
    to.count("activations", activations);
    to.nanos("busy_ns", *busy);
    to.count("moves", moves);
    to.any_nanos("waited_any_input_ns", any_input);
    to.any_nanos("waited_window_ns", window);
    to.any_nanos("waited_outside_ns", outside);
    to.any_nanos("waited_worker_ns", worker);
    if let Some(service) = service {
        service::write(service, to);
    }
    if let Some(counts) = jobs {
        jobs::write(counts, to);
    }
}

/// Reads the measurements of the node with this name.
pub(super) fn read(name: &str, value: &Value<'_>) -> Read<NodeReport> {
    label("node", name, value)?;
    Ok(NodeReport {
        firings: value.count("firings")?,
        activations: value.count("activations")?,
        busy: value.nanos("busy_ns")?,
        moves: value.count("moves")?,
        other_waits: NodeWaits {
            any_input: value.any_nanos("waited_any_input_ns")?,
            window: value.any_nanos("waited_window_ns")?,
            outside: value.any_nanos("waited_outside_ns")?,
            worker: value.any_nanos("waited_worker_ns")?,
        },
        service: service::read(value)?,
        jobs: jobs::read(value)?,
    })
}

/// Checks the name of the node or channel that an entry belongs to: the order of the entries is that of the graph.
pub(super) fn label(field: &'static str, name: &str, value: &Value<'_>) -> Read<()> {
    let label = value.field(field)?;
    if label.string()? == name {
        return Ok(());
    }
    let name = super::place::excerpt(name);
    Err(label.misfit(format!("`{name}`, the {field} of the graph with this index")))
}
