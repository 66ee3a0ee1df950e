//! What few nodes have: the weights of splitters and joiners, places in a source text, messages.

use super::value::{Form, Read, Value};
use super::write::{Fields, Quoted};
use thalweg_graph::{GraphData, Messages, NodeId, Router, Span, Weights};

const DUPLICATE: &str = "duplicate";

pub(super) fn write(graph: &GraphData, node: NodeId, to: &mut Fields<'_>) {
    match graph.router(node) {
        Some(Router::Split(weights)) => write_weights("split", weights, to),
        Some(Router::Join(weights)) => write_weights("join", weights, to),
        None => {}
    }
    to.flag("prework", graph.is_set_prework(node));
    if let Some(Span { file, start, end }) = graph.span(node) {
        to.numbers("span", &[file.into(), start.into(), end.into()]);
    }
}

fn write_weights(name: &str, weights: &Weights, to: &mut Fields<'_>) {
    match weights {
        Weights::Duplicate => to.count(name, Quoted(DUPLICATE)),
        Weights::RoundRobin(weights) => {
            to.numbers(name, &weights.iter().copied().map(u64::from).collect::<Vec<u64>>());
        }
    }
}

/// Reads the details of a node that the graph has.
pub(super) fn read(value: &Value<'_>, graph: &mut GraphData, node: NodeId) -> Read<()> {
    if let Some(span) = value.optional("span")? {
        let numbers = numbers(span)?;
        let [file, start, end] = numbers[..] else { return Err(span.misfit("a file, a start and an end")) };
        graph.set_span(node, Span { file, start, end });
    }
    if value.flag("prework")? {
        graph.set_prework(node);
    }
    let router = match (value.optional("split")?, value.optional("join")?) {
        (Some(weights), None) => (weights, Router::Split(read_weights(weights)?)),
        (None, Some(weights)) => (weights, Router::Join(read_weights(weights)?)),
        (None, None) => return Ok(()),
        (Some(_), Some(join)) => return Err(join.misfit("a splitter or a joiner")),
    };
    if !fits(graph, node, &router.1) {
        return Err(router.0.misfit("weights that agree with the ports and their rates"));
    }
    graph.set_router(node, router.1);
    Ok(())
}

fn read_weights(value: &Value<'_>) -> Read<Weights> {
    match &value.form {
        Form::String(text) if text == DUPLICATE => Ok(Weights::Duplicate),
        Form::Array(_) => numbers(value).map(Weights::RoundRobin),
        _ => Err(value.misfit("an array of weights, or `duplicate`")),
    }
}

fn numbers(value: &Value<'_>) -> Read<Vec<u32>> {
    value.array()?.iter().map(|value| value.integer()).collect()
}

/// Whether the node, which has no channels yet, has the ports that [`Router::node`] makes.
fn fits(graph: &GraphData, node: NodeId, router: &Router) -> bool {
    let node = graph.node(node);
    let inputs: Vec<_> = node.inputs.iter().map(|port| port.item).collect();
    let outputs: Vec<_> = node.outputs.iter().map(|port| port.item).collect();
    let (outer, branches, weights) = match router {
        Router::Split(weights) => (inputs, outputs, weights),
        Router::Join(weights) => (outputs, inputs, weights),
    };
    let count = match weights {
        Weights::Duplicate => branches.len(),
        Weights::RoundRobin(weights) => weights.len(),
    };
    let made = router.node("", outer.first().copied(), &branches);
    outer.len() <= 1 && count == branches.len() && made.inputs == node.inputs && made.outputs == node.outputs
}

pub(super) fn write_messages(messages: &Messages, to: &mut Fields<'_>) {
    to.count("from", messages.from.0);
    to.count("to", messages.to.0);
}

/// Reads the pairs of nodes that send messages, if the document has any.
pub(super) fn read_messages(value: &Value<'_>, graph: &mut GraphData) -> Read<()> {
    let Some(pairs) = value.optional("messages")? else { return Ok(()) };
    let count = graph.nodes().len();
    for pair in pairs.array()?.iter() {
        let node = |name| Ok(NodeId(pair.field(name)?.index(count, "nodes")? as u32));
        graph.add_messages(Messages { from: node("from")?, to: node("to")? });
    }
    Ok(())
}
