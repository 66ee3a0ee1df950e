//! The paths of a section: the outputs at which an item's descendants are counted, and the rates between them.
//!
//! The *section* is the set of nodes on paths from the entry to the stream that the user's function returned. The
//! descendants of an item can be counted if
//!
//! 1. every input on the paths has a static rate;
//! 2. every output on the paths has a static rate, or belongs to an ordered parallel node, and so can have a tally;
//! 3. every path leads through each output with a tally, exactly once.
//!
//! Then these outputs have one order, which all paths follow, and the rates between two of them are those of one static
//! region. Any violation is an error that names the port, and becomes a mistake of the exit node.

use super::super::draft::Draft;
use super::super::stream::Stream;
use std::collections::HashSet;
use thalweg_analysis::{Region, regions, repetitions};
use thalweg_graph::{ChannelId, GraphData, Kind, NodeId, Port};

/// The rates between two points of a graph: each `from` items at the first become `to` at the second. In lowest terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ratio {
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Ratio {
    const SAME: Ratio = Ratio { from: 1, to: 1 };

    /// The number of results that the first `items` items become, rounded up.
    pub(super) fn up(self, items: u64) -> u64 {
        if self == Ratio::SAME { items } else { scale(items, self.to, |of| of.div_ceil(self.from.into())) }
    }

    /// The number of items that have wholly become part of the first `results` results.
    pub(super) fn down(self, results: u64) -> u64 {
        if self == Ratio::SAME { results } else { scale(results, self.from, |of| of / u128::from(self.to)) }
    }
}

/// A count times a rate, divided. In 128 bits, which the product may need.
fn scale(count: u64, by: u32, divide: impl Fn(u128) -> u128) -> u64 {
    u64::try_from(divide(u128::from(count) * u128::from(by))).unwrap_or(u64::MAX)
}

/// The rates and tallies by which a section's exit counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Path {
    /// From the entry's items to firings of the first node with a tally; without a tally, to results.
    pub(super) first: Ratio,
    /// Outputs that need a tally, from the entry to the end. The ratio leads from the output's items to firings of the
    /// next such node, or to results.
    pub(super) tallied: Vec<(Port, Ratio)>,
}

impl Path {
    /// A section in which every item becomes one result.
    pub(super) const STATIC: Path = Path { first: Ratio::SAME, tallied: Vec::new() };
}

/// What limits the items of a section, for the texts of errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// [`Stream::in_flight`](crate::Stream::in_flight).
    Section,
    /// [`Options::tokens`](crate::Options::tokens): the section's entry is after the source, and its exit before the sink.
    Tokens,
}

impl By {
    /// The message for a port of a dynamic rate whose items cannot be counted. `change` is what to do about the port, and
    /// `place` is where the section could begin or end instead.
    fn uncountable(self, port: &str, why: &str, change: &str, place: &str) -> String {
        let either = |change: &str, place: &str| match (change, place) {
            ("", only) | (only, "") => only.to_owned(),
            (change, place) => format!("{change}, or {place}"),
        };
        let setting = self.setting();
        let (between, help) = match self {
            By::Section => ("its entry and it", either(change, place)),
            By::Tokens => {
                ("the source and the sink", either(change, "limit a part of the graph with `in_flight`"))
            }
        };
        format!(
            "{setting}: `{port}` between {between} has a dynamic rate{why}, so that an item's descendants cannot be \
             counted\n  help: {help}"
        )
    }

    fn setting(self) -> &'static str {
        match self {
            By::Section => "`in_flight`",
            By::Tokens => "`tokens`",
        }
    }

    /// The message for a section without a path.
    pub(super) fn no_path(self) -> String {
        match self {
            By::Section => {
                "`in_flight`: no path of static rates leads from its entry to the stream that the section returned"
            }
            By::Tokens => "`tokens`: no path leads from the source to the sink",
        }
        .to_owned()
    }
}

impl Draft<'_> {
    /// The paths from a node with one output to a stream.
    ///
    /// # Errors
    /// The descendants of an item cannot be counted; the text is the mistake's.
    pub(super) fn path<T>(&self, entry: NodeId, to: &Stream<'_, T>, by: By) -> Result<Path, String> {
        let end = self.producer(to).filter(|_| self.has(entry)).ok_or_else(|| by.no_path())?;
        let graph = self.flow();
        let section = Section::new(&graph, entry, end, by)?;
        let dynamic = section.tallied()?;
        let regions = regions(&graph);
        let ratio = |from: Port, to: Option<&Port>| {
            let (to, each) = match to {
                Some(port) => (port.0, 1),
                None => (end.0, graph.node(end.0).outputs()[end.1].push().fixed().unwrap_or(1)),
            };
            if from == end { Ok(Ratio::SAME) } else { ratio(&graph, &regions, from, (to, each), by) }
        };
        let first = ratio((entry, 0), dynamic.first())?;
        let after = |at: usize| Ok((dynamic[at], ratio(dynamic[at], dynamic.get(at + 1))?));
        let tallied = (0..dynamic.len()).map(after).collect::<Result<_, String>>()?;
        Ok(Path { first, tallied })
    }
}

/// The ratio from the items of an output to the firings of node `to`, each of which counts `each`.
fn ratio(
    graph: &GraphData,
    regions: &[Region],
    from: Port,
    (to, each): (NodeId, u64),
    by: By,
) -> Result<Ratio, String> {
    let no_path = || by.no_path();
    // Repetitions are relative within a static region. The region is that of the output's consumer: the output itself
    // may have a dynamic rate, which separates regions.
    let channel = graph.node(from.0).outputs()[from.1].channel().ok_or_else(no_path)?;
    let (next, port) = graph.channel(channel).to();
    let pop = graph.node(next).inputs()[port].pop().fixed().ok_or_else(no_path)?;
    let region = regions.iter().find(|region| region.nodes.contains(&next)).ok_or_else(no_path)?;
    let times = repetitions(graph, region).map_err(|fault| format!("{}: {fault}", by.setting()))?;
    let firings = |node: NodeId| region.nodes.binary_search(&node).ok().map(|at| times[at]);
    let product = |node: NodeId, each: u64| firings(node)?.checked_mul(each).filter(|count| *count > 0);
    let (items, results) = (product(next, pop).ok_or_else(no_path)?, product(to, each).ok_or_else(no_path)?);
    let common = gcd(items, results);
    let small = |count: u64| u32::try_from(count / common).map_err(|_| by.no_path());
    Ok(Ratio { from: small(items)?, to: small(results)? })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The paths from a section's entry to its end.
struct Section<'a> {
    graph: &'a GraphData,
    entry: NodeId,
    /// The output whose stream the section returned.
    end: Port,
    /// The nodes on the paths, both ends included.
    nodes: HashSet<NodeId>,
    by: By,
}

impl<'a> Section<'a> {
    /// The section between `entry` and `end`.
    ///
    /// # Errors
    /// No path leads from the one to the other.
    fn new(graph: &'a GraphData, entry: NodeId, end: Port, by: By) -> Result<Section<'a>, String> {
        let after = reach(entry, |node| heads(graph, node).map(|(_, to)| to).collect());
        let before = reach(end.0, |node| {
            let channels = graph.node(node).inputs().iter().filter_map(|port| port.channel());
            channels.map(|channel| graph.channel(channel).from().0).collect()
        });
        let nodes: HashSet<NodeId> = after.intersection(&before).copied().collect();
        if nodes.is_empty() { Err(by.no_path()) } else { Ok(Section { graph, entry, end, nodes, by }) }
    }

    /// The dynamic outputs on the paths, in the order in which all paths lead through them.
    ///
    /// # Errors
    /// One cannot have a tally, or a path does not lead through it exactly once.
    fn tallied(&self) -> Result<Vec<Port>, String> {
        let mut tallied: Vec<(usize, Port)> = Vec::new();
        let ports = self.dynamic_outputs()?;
        for port in &ports {
            let without = self.reach_without(*port);
            self.is_passed_once(*port, &without)?;
            // Every path leads through each of the ports. So without this one, paths from the entry reach the nodes of
            // the ports before it, and its own.
            tallied.push((ports.iter().filter(|port| without.contains(&port.0)).count(), *port));
        }
        tallied.sort_unstable();
        Ok(tallied.into_iter().map(|(_, port)| port).collect())
    }

    /// The dynamic outputs on the paths.
    ///
    /// # Errors
    /// One of them has no tally, or an input on the paths has a dynamic rate.
    fn dynamic_outputs(&self) -> Result<Vec<Port>, String> {
        let inside =
            self.graph.channels().iter().filter(|channel| {
                self.nodes.contains(&channel.from().0) && self.nodes.contains(&channel.to().0)
            });
        let ports = inside.map(|channel| (channel.from(), Some(channel.to()))).chain([(self.end, None)]);
        let mut dynamic = Vec::new();
        for (from, to) in ports {
            let node = self.graph.node(from.0);
            if node.outputs()[from.1].push().fixed().is_none() {
                self.can_have_tally(from)?;
                dynamic.push(from);
            }
            if let Some(to) = to.filter(|to| self.graph.node(to.0).inputs()[to.1].pop().fixed().is_none()) {
                let change = match self.graph.node(to.0).kind() {
                    Kind::Process => "write its node as a kernel with declared rates",
                    _ => "declare how many items it pops",
                };
                let name = self.graph.input_name(to);
                return Err(self.by.uncountable(&name, "", change, "end the section before it"));
            }
        }
        Ok(dynamic)
    }

    /// Checks that the node of a dynamic output is parallel and ordered.
    fn can_have_tally(&self, port: Port) -> Result<(), String> {
        let (node, name) = (self.graph.node(port.0), self.graph.output_name(port));
        match (node.kind(), node.unordered()) {
            (Kind::Parallel, false) => Ok(()),
            (Kind::Parallel, true) => {
                Err(self.by.uncountable(&name, " and its node is unordered", "leave out `unordered`", ""))
            }
            _ => {
                let change = "make its node parallel, as that of `par_flat_map` is, or declare how many items it \
                              pushes";
                Err(self.by.uncountable(&name, " and its node is not parallel", change, ""))
            }
        }
    }

    /// Checks that every path leads through the output exactly once. `without` are the nodes that paths from the entry
    /// reach without it.
    fn is_passed_once(&self, port: Port, without: &HashSet<NodeId>) -> Result<(), String> {
        let name = || self.graph.output_name(port);
        if port != self.end && without.contains(&self.end.0) {
            let place = "let the section begin after the paths have parted, or end before";
            return Err(self.by.uncountable(&name(), " and another path leads past it", "", place));
        }
        let channel = self.graph.node(port.0).outputs()[port.1].channel();
        // A path that leads back to the entry belongs to the next item.
        let comes_back = |channel: ChannelId| {
            let next = self.graph.channel(channel).to().0;
            next != self.entry && reach(next, |node| self.next(node, None, true)).contains(&port.0)
        };
        match channel.is_some_and(comes_back) {
            true => {
                let place = "let the cycle be outside of the section";
                Err(self.by.uncountable(&name(), " and lies on a cycle", "", place))
            }
            false => Ok(()),
        }
    }

    /// The nodes of the section that paths from the entry reach without the channel of an output.
    fn reach_without(&self, port: Port) -> HashSet<NodeId> {
        let without = self.graph.node(port.0).outputs()[port.1].channel();
        reach(self.entry, |node| self.next(node, without, false))
    }

    /// The nodes of the section to which a node's channels lead, other than the channel `without`.
    fn next(&self, node: NodeId, without: Option<ChannelId>, stops_at_entry: bool) -> Vec<NodeId> {
        let inside = |to: &NodeId| self.nodes.contains(to) && !(stops_at_entry && *to == self.entry);
        let counts = |(channel, _): &(ChannelId, NodeId)| Some(*channel) != without;
        heads(self.graph, node).filter(counts).map(|(_, to)| to).filter(inside).collect()
    }
}

/// A node's outgoing channels, and the nodes that they lead to.
fn heads(graph: &GraphData, node: NodeId) -> impl Iterator<Item = (ChannelId, NodeId)> {
    let channels = graph.node(node).outputs().iter().filter_map(|port| port.channel());
    channels.map(|channel| (channel, graph.channel(channel).to().0))
}

/// All nodes that steps of `next` lead to from `start`, which is included.
fn reach(start: NodeId, next: impl Fn(NodeId) -> Vec<NodeId>) -> HashSet<NodeId> {
    let (mut seen, mut open) = (HashSet::new(), vec![start]);
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            open.extend(next(node));
        }
    }
    seen
}
