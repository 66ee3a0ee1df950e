//! [`Options::tokens`](crate::Options::tokens): the nodes between a graph's source and its sink as one section.
//!
//! ```text
//!                           ┌──────────── tokens ────────────┐
//!   source ──before──▶ entry ──▶ the graph's other nodes ──▶ exit ──after──▶ sink
//! ```
//!
//! A run knows its options only when it is prepared, and then its graph is built: the nodes hold the cells of their
//! channels, and no caller knows the item types. So the graph becomes a draft again ([`Shared::reopen`]), the entry is added
//! in the middle of the channel behind the source and the exit in the middle of the one before the sink, and the draft is
//! built. A channel's cell knows its type, so the cell adds the node ([`LimitEnd`]) and then leads each side to the channel
//! that its end has now ([`RingCell::divide`]). Ids of nodes remain; channels that are added come after the others.
//!
//! What waits before the entry has no token yet, and what waits after the exit has returned it. So these two channels hold
//! at most `most` items each, or what one firing of their ends needs ([`Tokens::outer`]).
//!
//! Without the feature `tokens` no option asks for it, and [`LimitEnd`] does nothing: it would make nodes and channels for each
//! type of items of every program, which were a quarter of a small one.

use super::super::draft::{Cut, End, Shared};
use super::super::stream::Stream;
use super::Entry;
use super::path::By;
use crate::built::{Network, RingCell, Side};
use crate::contain::drop_quietly;
use crate::error::Error;
use std::collections::VecDeque;
use thalweg_graph::{GraphData, InPort, Link, NodeId, OutPort, Port};

/// The limit of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens {
    /// The greatest number of items in flight, at least 1.
    pub(crate) most: usize,
    /// The capacity of channels that have none of their own: [`Options::capacity`](crate::Options::capacity).
    pub(crate) capacity: Option<usize>,
}

/// The plan chooses a capacity for the channels at the ends if the limit is not below this number of items: the plan's
/// own choice is less, or little more.
const PLANNED: usize = 1 << 10;

impl Tokens {
    /// The settings of a channel outside of the section, where `least` items are what one firing needs.
    fn outer(self, link: Link, least: usize) -> Link {
        let most = self.most.max(least);
        let capacity = match link.capacity().or(self.capacity) {
            Some(asked) => Some(asked.min(most)),
            None => (most < PLANNED).then_some(most),
        };
        link.with_capacity(capacity)
    }
}

/// The settings of a channel inside of the section. The other half of the channel has its initial items.
fn inner(link: Link) -> Link {
    link.with_initial(0).with_feedback(false)
}

/// An end of the section, in the middle of a complete edge whose item type the caller does not know.
pub(crate) trait LimitEnd<'env> {
    /// Adds the entry to the edge of this cell.
    fn enter(&self, shared: &Shared<'env>, edge: usize, tokens: Tokens) -> Option<Entry<'env>>;

    /// Adds the exit to the edge of this cell.
    ///
    /// # Errors
    /// The items of the section cannot be counted.
    fn leave(
        &self,
        shared: &Shared<'env>,
        edge: usize,
        entry: Entry<'env>,
        tokens: Tokens,
    ) -> Result<(), String>;
}

impl<'env, T: Send + 'env> LimitEnd<'env> for RingCell<T> {
    fn enter(&self, shared: &Shared<'env>, edge: usize, tokens: Tokens) -> Option<Entry<'env>> {
        if !cfg!(feature = "tokens") {
            return None;
        }
        let (mut before, Cut { from, to, link }) = self.front(shared, edge)?;
        let least = port(shared, |graph| firing(&graph.node(from.0).outputs()[from.1])) + link.initial();
        before.link = tokens.outer(link, least);
        let front = before.cell.clone();
        let (entry, mut items) = Entry::add(before);
        items.link = inner(link);
        self.divide(front, shared.draft().consume(items, to), Side::Producer);
        Some(entry)
    }

    fn leave(
        &self,
        shared: &Shared<'env>,
        edge: usize,
        entry: Entry<'env>,
        tokens: Tokens,
    ) -> Result<(), String> {
        if !cfg!(feature = "tokens") {
            return Err(By::Tokens.no_path());
        }
        let (mut results, Cut { to, link, .. }) =
            self.front(shared, edge).ok_or_else(|| By::Tokens.no_path())?;
        results.link = inner(link);
        let path = entry.path(&results, By::Tokens)?;
        let front = results.cell.clone();
        let mut after = entry.exit(results, tokens.most, path);
        let least = port(shared, |graph| window(&graph.node(to.0).inputs()[to.1])) + link.initial();
        after.link = tokens.outer(link, least);
        self.divide(front, shared.draft().consume(after, to), Side::Consumer);
        Ok(())
    }
}

impl<T: Send> RingCell<T> {
    /// Cuts the edge of this cell. Returns the stream of its producer, with a cell of its own.
    fn front<'env>(&self, shared: &Shared<'env>, edge: usize) -> Option<(Stream<'env, T>, Cut)>
    where
        T: 'env,
    {
        let cell = RingCell::new(VecDeque::new());
        let mut draft = shared.draft();
        let cut = draft.cut(edge, cell.clone())?;
        let (number, node) = (draft.number(), Some(cut.from.0));
        Some((Stream { shared: shared.clone(), number, edge, cell, link: cut.link, node, gate: None }, cut))
    }
}

/// A fact of the draft's graph.
fn port(shared: &Shared<'_>, fact: impl FnOnce(&GraphData) -> u64) -> usize {
    usize::try_from(fact(&shared.draft().graph)).unwrap_or(usize::MAX)
}

/// Items that a firing pushes.
fn firing(port: &OutPort) -> u64 {
    port.push().fixed().unwrap_or(1)
}

/// Items that must have arrived for a firing.
fn window(port: &InPort) -> u64 {
    port.pop().fixed().unwrap_or(1).max(port.peek())
}

impl<'env> Network<'env> {
    /// Makes the nodes between the source and the sink a section of at most `tokens.most` items in flight.
    ///
    /// # Errors
    /// The graph has not one source with one output and one sink with one input, or the items between them cannot be
    /// counted.
    pub(crate) fn limit(&mut self, tokens: Tokens) -> Result<(), Error> {
        let (output, input) = ends(&self.graph).map_err(Error::Options)?;
        let number = self.number;
        let shared = Shared::reopen(self);
        let limited = between(&shared, output, input, tokens).map_err(Error::Options);
        let built = limited.and_then(|()| Ok(shared.build()?));
        // After an error the draft has what users have put into the graph.
        drop_quietly(shared);
        *self = Network { number, ..built? };
        Ok(())
    }
}

/// Adds the entry behind an output, and the exit before an input.
fn between(shared: &Shared<'_>, output: Port, input: Port, tokens: Tokens) -> Result<(), String> {
    let no_path = || By::Tokens.no_path();
    let edge = |end: End| shared.draft().edge_at(end).ok_or_else(no_path);
    let (first, source) = edge(End::From(output))?;
    let entry = source.enter(shared, first, tokens).ok_or_else(no_path)?;
    let (last, sink) = edge(End::To(input))?;
    sink.leave(shared, last, entry, tokens)
}

/// The output of the graph's only source, and the input of its only sink.
///
/// # Errors
/// It has another number of sources, sinks, or ports of these. The text is the error's.
fn ends(graph: &GraphData) -> Result<(Port, Port), String> {
    let name = |node: NodeId| graph.node(node).name();
    let nodes = |is: fn(&thalweg_graph::Node) -> bool| graph.node_ids().filter(move |id| is(graph.node(*id)));
    let source = only(["source", "sources"], nodes(|node| node.inputs().is_empty()), name)?;
    let sink = only(["sink", "sinks"], nodes(|node| node.outputs().is_empty()), name)?;
    let outputs = (0..graph.node(source).outputs().len()).map(|at| (source, at));
    let inputs = (0..graph.node(sink).inputs().len()).map(|at| (sink, at));
    let output =
        only(["output of its source", "outputs of its source"], outputs, |port| graph.output_name(port))?;
    let input = only(["input of its sink", "inputs of its sink"], inputs, |port| graph.input_name(port))?;
    Ok((output, input))
}

/// The only one of `all`. `what` has its name, and that of several.
///
/// # Errors
/// They are none, or several.
fn only<T: Copy, N: std::fmt::Display>(
    what: [&str; 2],
    all: impl Iterator<Item = T>,
    name: impl Fn(T) -> N,
) -> Result<T, String> {
    const SHOWN: usize = 4;
    let all: Vec<T> = all.collect();
    if let [one] = all[..] {
        return Ok(one);
    }
    let mut names: Vec<String> = all.iter().take(SHOWN).map(|one| format!("`{}`", name(*one))).collect();
    if all.len() > SHOWN {
        names.push("..".to_owned());
    }
    let many = match all.len() {
        0 => format!("no {}", what[0]),
        count => format!("{count} {}: {}", what[1], names.join(", ")),
    };
    Err(format!(
        "`tokens` limits the items between one source and one sink, and the graph has {many}\n\
         help: leave out `tokens`, and limit a part of the graph with `in_flight`"
    ))
}
