//! The events of threads: one line each.

use super::THREADS;
use super::line::{Arguments, Line, Micros};
use std::borrow::Cow;
use thalweg_graph::{ChannelId, GraphData, NodeId};
use thalweg_trace::{Ended, Event, What};

/// The line of an event of the thread with this id.
pub(super) fn line<'g>(event: &Event, tid: usize, graph: &'g GraphData) -> Line<'g> {
    let (ph, cat, name) = match event.what() {
        What::Activation { node, .. } => ("X", "activation", node_name(graph, node)),
        What::Loop { node, .. } => ("X", "loop", format!("loop {}", node_name(graph, node)).into()),
        What::TaskGraph { node, .. } => {
            ("X", "task graph", format!("task graph {}", node_name(graph, node)).into())
        }
        What::Stall { node, .. } => ("X", "stall", format!("stall {}", node_name(graph, node)).into()),
        What::Steal { node, .. } => ("i", "steal", format!("steal {}", node_name(graph, node)).into()),
        What::Growth { channel, .. } => {
            ("i", "growth", format!("growth {}", channel_name(graph, channel)).into())
        }
        What::Fill { channel, .. } => ("C", "fill", channel_name(graph, channel).into()),
        What::Spin { .. } => ("X", "spin", "spin".into()),
        What::Park { .. } => ("X", "park", "park".into()),
    };
    Line {
        ph: ph.into(),
        pid: THREADS,
        tid: Some(tid),
        ts: Some(Micros(event.at())),
        dur: (ph == "X").then(|| Micros(event.what().ns())),
        s: (ph == "i").then(|| "t".into()),
        channel: match event.what() {
            What::Fill { channel, .. } => Some(channel.0),
            _ => None,
        },
        name,
        cat: cat.into(),
        args: arguments(event.what(), graph),
    }
}

fn arguments(what: What, graph: &GraphData) -> Arguments<'static> {
    let none = Arguments::default();
    match what {
        What::Activation { node, firings, ended, .. } => {
            let (ended, channel) = reason(ended, graph);
            Arguments { node: Some(node.0), firings: Some(firings), ended, channel, ..none }
        }
        What::Loop { node, steals, .. } | What::TaskGraph { node, steals, .. } => {
            Arguments { node: Some(node.0), steals: Some(steals), ..none }
        }
        What::Stall { node, .. } => Arguments { node: Some(node.0), ..none },
        What::Steal { node, from } => Arguments { node: Some(node.0), from: Some(from), ..none },
        What::Growth { channel, to } => Arguments { channel: Some(channel.0), to: Some(to), ..none },
        What::Fill { items, .. } => Arguments { items: Some(items), ..none },
        What::Spin { .. } | What::Park { .. } => none,
    }
}

/// Why an activation ended, in words, and the channel's index where it has one.
fn reason(ended: Ended, graph: &GraphData) -> (Cow<'static, str>, Option<u32>) {
    let with_channel = |word: &str, channel: ChannelId| {
        (format!("{word} {}", channel_name(graph, channel)).into(), Some(channel.0))
    };
    match ended {
        Ended::Empty(channel) => with_channel("empty", channel),
        Ended::Full(channel) => with_channel("full", channel),
        Ended::Waiting => ("waiting".into(), None),
        Ended::Budget => ("budget".into(), None),
        Ended::Done => ("done".into(), None),
        Ended::Refused => ("refused".into(), None),
    }
}

/// The name of a node, also of one that the graph lacks: the timeline of another graph is a mistake, and no panic.
pub(super) fn node_name(graph: &GraphData, node: NodeId) -> Cow<'_, str> {
    match graph.nodes().get(node.index()) {
        Some(node) => node.name().into(),
        None => format!("node {}", node.0).into(),
    }
}

/// The name of a channel, also of one that the graph lacks.
fn channel_name(graph: &GraphData, channel: ChannelId) -> String {
    if channel.index() < graph.channels().len() {
        graph.channel_name(channel)
    } else {
        format!("channel {}", channel.0)
    }
}
