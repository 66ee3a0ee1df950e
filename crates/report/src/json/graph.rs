//! The graph of a report: its nodes and its channels.

use super::details;
use super::place::excerpt;
use super::port::{self, TypeNames};
use super::value::{Read, Value};
use super::write::{Fields, lines};
use thalweg_graph::{Channel, Fault, GraphData, Kind, Link, Node, NodeId, Port};

/// Writes the graph as an object of several lines, which begins on a line of the depth 1.
pub(super) fn write(graph: &GraphData, out: &mut String) {
    out.push_str("{\n    \"nodes\": ");
    lines(out, 2, graph.node_ids(), |id, to| {
        write_node(graph.node(id), to);
        details::write(graph, id, to);
    });
    out.push_str(",\n    \"channels\": ");
    lines(out, 2, graph.channels().iter(), write_channel);
    if !graph.messages().is_empty() {
        out.push_str(",\n    \"messages\": ");
        lines(out, 2, graph.messages().iter(), details::write_messages);
    }
    out.push_str("\n  }");
}

/// Reads a graph. It may have unconnected ports, and other faults that [`GraphData::check`] finds.
pub(super) fn read(value: &Value<'_>) -> Read<GraphData> {
    let (nodes, channels) = (value.field("nodes")?.array()?, value.field("channels")?.array()?);
    let (mut graph, mut types) = (GraphData::new(), TypeNames::default());
    for value in nodes.iter() {
        let id = graph.add(read_node(&value, &mut types)?);
        let name = value.field("name")?;
        if graph.node(id).name != name.string()? {
            return Err(name.misfit("a name that no node before has"));
        }
        details::read(&value, &mut graph, id)?;
    }
    for value in channels.iter() {
        read_channel(&value, &mut graph)?;
    }
    details::read_messages(value, &mut graph)?;
    Ok(graph)
}

fn write_node(node: &Node, to: &mut Fields<'_>) {
    to.string("name", &node.name);
    to.string("kind", &node.kind.to_string());
    to.flag("blocking", node.blocking);
    to.flag("starting", node.starting);
    to.flag("merge", node.merge);
    to.flag("unordered", node.unordered);
    to.flag("returns", node.returns);
    to.limit("workers", node.workers);
    to.list("inputs", &node.inputs, port::write_input);
    to.list("outputs", &node.outputs, port::write_output);
}

fn read_node(value: &Value<'_>, types: &mut TypeNames) -> Read<Node> {
    let mut node = Node::sequential(value.field("name")?.string()?);
    node.kind = read_kind(value.field("kind")?)?;
    node.blocking = value.flag("blocking")?;
    node.starting = value.flag("starting")?;
    node.merge = value.flag("merge")?;
    node.unordered = value.flag("unordered")?;
    node.returns = value.flag("returns")?;
    node.workers = value.limit("workers")?;
    for input in value.field("inputs")?.array()?.iter() {
        node = node.input(port::read_input(&input, types)?);
    }
    for output in value.field("outputs")?.array()?.iter() {
        node = node.output(port::read_output(&output, types)?);
    }
    Ok(node)
}

fn read_kind(value: &Value<'_>) -> Read<Kind> {
    match value.string()? {
        "sequential" => Ok(Kind::Sequential),
        "parallel" => Ok(Kind::Parallel),
        "process" => Ok(Kind::Process),
        _ => Err(value.misfit("`sequential`, `parallel` or `process`")),
    }
}

fn write_channel(channel: &Channel, to: &mut Fields<'_>) {
    let Link { capacity, initial, feedback, weighed, limits, owns } = channel.link;
    let port = |(node, port): Port| format!("[{}, {port}]", node.0);
    to.count("from", port(channel.from));
    to.count("to", port(channel.to));
    to.limit("capacity", capacity);
    to.limit("initial", Some(initial).filter(|initial| *initial > 0));
    to.flag("feedback", feedback);
    to.flag("weighed", weighed);
    to.flag("limits", limits);
    to.flag("owns", owns);
}

/// Reads a channel and connects its ports.
fn read_channel(value: &Value<'_>, graph: &mut GraphData) -> Read<()> {
    let (from, to) = (value.field("from")?, value.field("to")?);
    let ports =
        (read_port(from, graph, |node| node.outputs.len())?, read_port(to, graph, |node| node.inputs.len())?);
    let link = Link {
        capacity: value.limit("capacity")?,
        initial: value.limit("initial")?.unwrap_or(0),
        feedback: value.flag("feedback")?,
        weighed: value.flag("weighed")?,
        limits: value.flag("limits")?,
        owns: value.flag("owns")?,
    };
    let connected = graph.connect(ports.0, ports.1, link);
    connected.map(|_| ()).map_err(|fault| match fault {
        Fault::SecondConsumer { .. } => from.misfit("an output without a channel"),
        Fault::SecondProducer { .. } => to.misfit("an input without a channel"),
        Fault::Types { pushes, pops, .. } => {
            let (pushes, pops) = (excerpt(pushes), excerpt(pops));
            to.mismatch(format!("an input of the output's type `{pushes}`"), format!("the type `{pops}`"))
        }
        other => value.mismatch("a channel that the graph can have", other.to_string()),
    })
}

/// Reads a node and one of its ports, of which it has as many as `ports` returns.
fn read_port(value: &Value<'_>, graph: &GraphData, ports: impl Fn(&Node) -> usize) -> Read<Port> {
    let mut entries = value.array()?.iter();
    let (Some(node), Some(port), None) = (entries.next(), entries.next(), entries.next()) else {
        return Err(value.misfit("a node and a port"));
    };
    let node = NodeId(node.index(graph.nodes().len(), "nodes")? as u32);
    Ok((node, port.index(ports(graph.node(node)), "ports")?))
}
