//! The events of threads: one line each.

use super::super::place::excerpt;
use super::super::value::{Read, Value};
use super::super::write::Fields;
use super::{THREADS, micros, write_place};
use std::borrow::Cow;
use thalweg_graph::{ChannelId, GraphData, NodeId};
use thalweg_trace::{Ended, Event, What};

/// Writes an event of the thread with this id.
pub(super) fn write(event: &Event, tid: usize, graph: &GraphData, to: &mut Fields<'_>) {
    let (phase, category) = match event.what {
        What::Activation { .. } => ("X", "activation"),
        What::Loop { .. } => ("X", "loop"),
        What::TaskGraph { .. } => ("X", "task graph"),
        What::Spin { .. } => ("X", "spin"),
        What::Park { .. } => ("X", "park"),
        What::Steal { .. } => ("i", "steal"),
        What::Growth { .. } => ("i", "growth"),
        What::Fill { .. } => ("C", "fill"),
    };
    write_place(phase, THREADS, tid, event.at, to);
    match event.what {
        What::Activation { .. }
        | What::Loop { .. }
        | What::TaskGraph { .. }
        | What::Spin { .. }
        | What::Park { .. } => micros("dur", event.what.ns(), to),
        What::Steal { .. } | What::Growth { .. } => to.string("s", "t"),
        What::Fill { channel, .. } => to.count("channel", channel.0),
    }
    to.string("name", &name(event.what, category, graph));
    to.string("cat", category);
    to.object("args", |to| write_arguments(event.what, graph, to));
}

fn name<'g>(what: What, category: &'g str, graph: &'g GraphData) -> Cow<'g, str> {
    match what {
        What::Activation { node, .. } => node_name(graph, node),
        What::Steal { node, .. } | What::Loop { node, .. } | What::TaskGraph { node, .. } => {
            format!("{category} {}", node_name(graph, node)).into()
        }
        What::Growth { channel, .. } => format!("growth {}", channel_name(graph, channel)).into(),
        What::Fill { channel, .. } => channel_name(graph, channel).into(),
        What::Spin { .. } | What::Park { .. } => category.into(),
    }
}

fn write_arguments(what: What, graph: &GraphData, to: &mut Fields<'_>) {
    match what {
        What::Activation { node, firings, ended, .. } => {
            to.count("node", node.0);
            to.count("firings", firings);
            write_ended(ended, graph, to);
        }
        What::Loop { node, steals, .. } | What::TaskGraph { node, steals, .. } => {
            to.count("node", node.0);
            to.count("steals", steals);
        }
        What::Steal { node, from } => {
            to.count("node", node.0);
            to.count("from", from);
        }
        What::Growth { channel, to: limit } => {
            to.count("channel", channel.0);
            to.count("to", limit);
        }
        What::Fill { items, .. } => to.count("items", items),
        What::Spin { .. } | What::Park { .. } => {}
    }
}

/// Writes the reason in words, and the channel's index where it has one.
fn write_ended(ended: Ended, graph: &GraphData, to: &mut Fields<'_>) {
    let mut with_channel = |word: &str, channel: ChannelId| {
        to.string("ended", &format!("{word} {}", channel_name(graph, channel)));
        to.count("channel", channel.0);
    };
    match ended {
        Ended::Empty(channel) => with_channel("empty", channel),
        Ended::Full(channel) => with_channel("full", channel),
        Ended::Waiting => to.string("ended", "waiting"),
        Ended::Budget => to.string("ended", "budget"),
        Ended::Done => to.string("ended", "done"),
        Ended::Refused => to.string("ended", "refused"),
    }
}

/// The name of a node, also of one that the graph lacks: the timeline of another graph is a mistake, and no panic.
pub(super) fn node_name(graph: &GraphData, node: NodeId) -> Cow<'_, str> {
    match graph.nodes().get(node.index()) {
        Some(node) => (&*node.name).into(),
        None => format!("node {}", node.0).into(),
    }
}

/// The name of a channel, also of one that the graph lacks.
pub(super) fn channel_name(graph: &GraphData, channel: ChannelId) -> String {
    if channel.index() < graph.channels().len() {
        graph.channel_name(channel)
    } else {
        format!("channel {}", channel.0)
    }
}

/// Reads an event of a thread. `None` for those of a kind that this version does not have.
pub(super) fn read(value: &Value<'_>, graph: &GraphData) -> Read<Option<Event>> {
    let arguments = value.field("args")?;
    let what = match value.field("cat")?.string()? {
        "activation" => What::Activation {
            node: read_node(arguments, value, "", graph)?,
            firings: arguments.count("firings")?,
            ns: value.micros("dur")?,
            ended: read_ended(arguments, graph)?,
        },
        "loop" => What::Loop {
            node: read_node(arguments, value, "loop ", graph)?,
            steals: arguments.count("steals")?,
            ns: value.micros("dur")?,
        },
        "task graph" => What::TaskGraph {
            node: read_node(arguments, value, "task graph ", graph)?,
            steals: arguments.count("steals")?,
            ns: value.micros("dur")?,
        },
        "spin" => What::Spin { ns: value.micros("dur")? },
        "park" => What::Park { ns: value.micros("dur")? },
        "steal" => What::Steal {
            node: read_node(arguments, value, "steal ", graph)?,
            from: arguments.count("from")?,
        },
        "growth" => What::Growth { channel: read_channel(arguments, graph)?, to: arguments.count("to")? },
        "fill" => What::Fill { channel: read_channel(value, graph)?, items: arguments.count("items")? },
        _ => return Ok(None),
    };
    Ok(Some(Event { at: value.micros("ts")?, what }))
}

/// Reads the node of an event whose name is the node's, behind `prefix`.
fn read_node(arguments: &Value<'_>, event: &Value<'_>, prefix: &str, graph: &GraphData) -> Read<NodeId> {
    let id = NodeId(arguments.field("node")?.index(graph.nodes().len(), "nodes")? as u32);
    let (name, expected) = (event.field("name")?, &graph.node(id).name);
    if name.string()?.strip_prefix(prefix) != Some(&**expected) {
        return Err(
            name.misfit(format!("`{prefix}{}`, the node of the graph with this index", excerpt(expected)))
        );
    }
    Ok(id)
}

fn read_channel(value: &Value<'_>, graph: &GraphData) -> Read<ChannelId> {
    Ok(ChannelId(value.field("channel")?.index(graph.channels().len(), "channels")? as u32))
}

fn read_ended(arguments: &Value<'_>, graph: &GraphData) -> Read<Ended> {
    let ended = arguments.field("ended")?;
    let text = ended.string()?;
    match text.split_once(' ').map_or(text, |(word, _channel)| word) {
        "empty" => Ok(Ended::Empty(read_channel(arguments, graph)?)),
        "full" => Ok(Ended::Full(read_channel(arguments, graph)?)),
        "waiting" => Ok(Ended::Waiting),
        "budget" => Ok(Ended::Budget),
        "done" => Ok(Ended::Done),
        "refused" => Ok(Ended::Refused),
        _ => Err(ended.misfit("`empty`, `full`, `waiting`, `budget`, `done` or `refused`")),
    }
}
