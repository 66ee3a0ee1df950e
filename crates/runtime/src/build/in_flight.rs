//! A limit on the items between two points of a graph: tokens.
//!
//! ```text
//!             ┌─────────── tokens ───────────┐
//!   items ─▶ entry ─▶ the section's nodes ─▶ exit ─▶ results
//! ```
//!
//! The entry gives tokens with each item, and the exit takes some as items leave, so the capacity of
//! their channel limits what is between them. It is a channel like any other: full, it stops the entry; where
//! the section needs more items than that before one leaves, the channel is part of a cycle of waiting
//! nodes, and grows, after the cycle's other channels.
//!
//! One item of the entry need not be one of the exit. Along paths of static rates, each `items` items of
//! the entry become `results` items of the exit. So the entry gives `results` tokens with each item and the
//! exit takes `items` of them with each result. For a limit of `most` items the entry must stop while more than
//! `results * (most - 1)` tokens are out. A node with a dynamic output stops when the channel has no room for one, hence
//! the capacity `results * (most - 1) + 1`.

use super::draft::Draft;
use super::mistake::Mistake;
use super::spec::{input, output};
use super::stream::Stream;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use thalweg_analysis::{regions, repetitions};
use thalweg_graph::{Channel, GraphData, NodeId, Port};

pub(super) fn build<'env, T, U>(
    stream: Stream<'env, T>,
    most: usize,
    section: impl FnOnce(Stream<'env, T>) -> Stream<'env, U>,
) -> Stream<'env, U>
where
    T: Send + 'env,
    U: Send + 'env,
{
    let graph = stream.graph();
    let results = Arc::new(AtomicU32::new(1));
    let count = results.clone();
    let (entry, (out, tokens)) =
        graph.kernel("in_flight.entry", stream, (output("out").push(1), output("tokens"))).add_sequential(
            move |items, (out, tokens)| {
                out.push(items.pop());
                (0..count.load(Ordering::Relaxed)).for_each(|_| tokens.push(()));
            },
            false,
        );
    let inside = section(out);
    let ratio = graph.shared.draft().ratio(entry, &inside);
    let (each, per_item) = *ratio.as_ref().unwrap_or(&(1, 1));
    results.store(per_item, Ordering::Relaxed);
    let capacity = (per_item as usize).saturating_mul(most - 1).saturating_add(1);
    let mut tokens = tokens.capacity(capacity.min(MOST));
    tokens.link.limits = true;
    let tokens = input("tokens", tokens).pop(each);
    let (exit, mut out) =
        graph.kernel("in_flight", (input("in", inside), tokens), output("out").push(1)).add_sequential(
            |(items, tokens), out| {
                while tokens.try_pop().is_some() {}
                out.push(items.pop());
            },
            false,
        );
    if let Err(why) = ratio {
        graph.shared.draft().mistake(Mistake::Node(exit, why));
    }
    out.gate = Some((entry, "entry"));
    out
}

impl Draft<'_> {
    /// How many items of a node's firings become how many of a stream, in lowest terms: `(items, results)`.
    fn ratio<T>(&self, entry: NodeId, to: &Stream<'_, T>) -> Result<(u32, u32), String> {
        let Some(end) = self.producer(to).filter(|_| self.has(entry)) else { return Err(NO_PATH.to_owned()) };
        let graph = self.connected();
        let between = between(&graph, entry, end.0);
        if between.is_empty() {
            return Err(NO_PATH.to_owned());
        }
        if let Some(port) = dynamic_port(&graph, &between, end) {
            return Err(format!(
                "`in_flight`: `{port}` between its entry and it has a dynamic rate, so that an item's descendants \
                 cannot be counted: limit nodes with static rates"
            ));
        }
        let regions = regions(&graph);
        let region = regions.iter().find(|region| region.nodes.contains(&entry)).ok_or(NO_PATH)?;
        let times = repetitions(&graph, region).map_err(|fault| format!("`in_flight`: {fault}"))?;
        let firings = |node: NodeId| region.nodes.binary_search(&node).ok().map(|at| times[at]);
        let push = graph.node(end.0).outputs[end.1].push.fixed().map_or(1, u64::from);
        let (items, results) = (firings(entry).ok_or(NO_PATH)?, firings(end.0).ok_or(NO_PATH)? * push);
        let common = gcd(items, results);
        let small = |count: u64| u32::try_from(count / common).map_err(|_| NO_PATH.to_owned());
        Ok((small(items)?, small(results)?))
    }
}

/// Tokens of a section at most: a limit beyond it limits nothing.
const MOST: usize = 1 << 30;

const NO_PATH: &str =
    "`in_flight`: no path of static rates leads from its entry to the stream that the section returned";

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The nodes on all paths from one node to another, both included.
fn between(graph: &GraphData, from: NodeId, to: NodeId) -> HashSet<NodeId> {
    let reach = |start: NodeId, next: &dyn Fn(NodeId) -> Vec<NodeId>| {
        let (mut seen, mut open) = (HashSet::new(), vec![start]);
        while let Some(node) = open.pop() {
            if seen.insert(node) {
                open.extend(next(node));
            }
        }
        seen
    };
    let ends = |node: NodeId, forward: bool| {
        let node = graph.node(node);
        let channels: Vec<_> = match forward {
            true => node.outputs.iter().filter_map(|port| port.channel).collect(),
            false => node.inputs.iter().filter_map(|port| port.channel).collect(),
        };
        let end = |channel| if forward { graph.channel(channel).to.0 } else { graph.channel(channel).from.0 };
        channels.into_iter().map(end).collect::<Vec<_>>()
    };
    let after = reach(from, &|node| ends(node, true));
    let before = reach(to, &|node| ends(node, false));
    after.intersection(&before).copied().collect()
}

/// The first dynamic port on these paths.
fn dynamic_port(graph: &GraphData, between: &HashSet<NodeId>, end: Port) -> Option<String> {
    if graph.node(end.0).outputs[end.1].push.fixed().is_none() {
        return Some(graph.output_name(end));
    }
    let inside = |port: &Port| between.contains(&port.0);
    // Tokens of a section within this one are counted by its exit.
    let counts = |channel: &&Channel| !channel.link.limits && inside(&channel.from) && inside(&channel.to);
    graph.channels().iter().filter(counts).find_map(|channel| {
        let (from, to) = (channel.from, channel.to);
        let push = graph.node(from.0).outputs[from.1].push.fixed();
        let pop = graph.node(to.0).inputs[to.1].pop.fixed();
        match (push, pop) {
            (None, _) => Some(graph.output_name(from)),
            (_, None) => Some(graph.input_name(to)),
            _ => None,
        }
    })
}
