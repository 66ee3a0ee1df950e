//! The graph of a report: its nodes, its channels, and the nodes that send messages.

use super::forms::{Each, is_default};
use super::place::excerpt;
use super::port::{InputEntry, OutputEntry, TypeNames, ports};
use super::problem::{Check, Problem, index};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::time::Duration;
use thalweg_graph::{
    Channel, Fault, Footprint, GraphData, Kind, Link, Messages, Node, NodeId, Port, Router, Span, Weights,
};

/// A graph as it is written, one entry after the other.
pub(super) struct GraphLines<'g>(pub(super) &'g GraphData);

impl Serialize for GraphLines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let GraphLines(graph) = self;
        let mut fields = serializer.serialize_struct("graph", 3)?;
        fields.serialize_field("nodes", &Each(|| graph.node_ids().map(|id| GraphNode::of(graph, id))))?;
        fields.serialize_field("channels", &Each(|| graph.channels().iter().map(GraphChannel::from)))?;
        if !graph.messages().is_empty() {
            fields.serialize_field("messages", &Each(|| graph.messages().iter().map(MessagesEntry::from)))?;
        }
        fields.end()
    }
}

/// A graph as it is read.
#[derive(Deserialize)]
#[serde(expecting = "the object of a graph")]
pub(super) struct GraphEntries {
    nodes: Nodes,
    channels: Vec<GraphChannel>,
    #[serde(default)]
    messages: Vec<MessagesEntry>,
}

impl GraphEntries {
    /// The graph. It may have unconnected ports, and other faults that [`GraphData::check`] finds.
    pub(super) fn build(self) -> Check<GraphData> {
        let mut graph = self.nodes.0.map_err(|problem| problem.within("nodes"))?;
        for (i, channel) in self.channels.into_iter().enumerate() {
            channel.connect(&mut graph).map_err(|problem| problem.within(i).within("channels"))?;
        }
        for (i, messages) in self.messages.into_iter().enumerate() {
            messages.add(&mut graph).map_err(|problem| problem.within(i).within("messages"))?;
        }
        Ok(graph)
    }
}

/// A graph of the nodes alone, or the first problem with them. The graph grows while its entries are read, since it shares
/// what they have in common.
struct Nodes(Check<GraphData>);

impl<'d> Deserialize<'d> for Nodes {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Nodes, D::Error> {
        from.deserialize_seq(NodesVisitor)
    }
}

struct NodesVisitor;

impl<'d> Visitor<'d> for NodesVisitor {
    type Value = Nodes;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of nodes")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut entries: A) -> Result<Nodes, A::Error> {
        let (mut graph, mut types, mut count) = (GraphData::new(), TypeNames::default(), 0);
        while let Some(entry) = entries.next_element::<GraphNode<'d>>()? {
            if let Err(problem) = entry.add(&mut graph, &mut types) {
                while entries.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(Nodes(Err(problem.within(count))));
            }
            count += 1;
        }
        Ok(Nodes(Ok(graph)))
    }
}

#[derive(Serialize, Deserialize)]
struct GraphNode<'d> {
    #[serde(borrow)]
    name: Cow<'d, str>,
    #[serde(with = "KindForm")]
    kind: Kind,
    #[serde(default, skip_serializing_if = "is_default")]
    blocking: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    starting: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    merge: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    timed: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    unordered: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    returns: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<u32>,
    #[serde(borrow)]
    inputs: Vec<InputEntry<'d>>,
    #[serde(borrow)]
    outputs: Vec<OutputEntry<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<WeightsEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    join: Option<WeightsEntry>,
    #[serde(default, skip_serializing_if = "is_default")]
    prework: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<(u32, u32, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<StateEntry>,
    /// The declared time of a firing, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ns: Option<u64>,
}

/// What is known of the memory that a node's firings use again and again, in bytes.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Footprint")]
enum FootprintForm {
    #[serde(rename = "at_least")]
    AtLeast(u64),
    #[serde(rename = "declared")]
    Declared(u64),
    #[serde(rename = "known")]
    Known(u64),
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct StateEntry(#[serde(with = "FootprintForm")] Footprint);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Kind", rename_all = "lowercase")]
enum KindForm {
    Sequential,
    Parallel,
    Process,
}

impl<'g> GraphNode<'g> {
    fn of(graph: &'g GraphData, id: NodeId) -> GraphNode<'g> {
        let node = graph.node(id);
        let (split, join) = match graph.router(id) {
            Some(Router::Split(weights)) => (Some(weights.into()), None),
            Some(Router::Join(weights)) => (None, Some(weights.into())),
            None => (None, None),
        };
        GraphNode {
            name: node.name().into(),
            kind: node.kind(),
            blocking: node.blocking(),
            starting: node.starting(),
            merge: node.merge(),
            timed: node.timed(),
            unordered: node.unordered(),
            returns: node.returns(),
            workers: node.workers(),
            inputs: node.inputs().iter().map(InputEntry::from).collect(),
            outputs: node.outputs().iter().map(OutputEntry::from).collect(),
            split,
            join,
            prework: graph.is_set_prework(id),
            state: Some(graph.footprint(id)).filter(|state| *state != Footprint::default()).map(StateEntry),
            time_ns: graph.declared_time(id).map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
            span: graph.span(id).map(|span| (span.file(), span.start(), span.end())),
        }
    }

    /// Adds the node to a graph that has those before it.
    fn add(self, graph: &mut GraphData, types: &mut TypeNames) -> Check<()> {
        let mut node = Node::sequential(&*self.name);
        *node.kind_mut() = self.kind;
        *node.inputs_mut() = ports(self.inputs, "inputs", |entry| entry.port(types))?;
        *node.outputs_mut() = ports(self.outputs, "outputs", |entry| entry.port(types))?;
        *node.blocking_mut() = self.blocking;
        *node.starting_mut() = self.starting;
        *node.merge_mut() = self.merge;
        *node.timed_mut() = self.timed;
        *node.unordered_mut() = self.unordered;
        *node.returns_mut() = self.returns;
        *node.workers_mut() = self.workers;
        let id = graph.add(node);
        if graph.node(id).name() != self.name {
            return Err(Problem::new("a name that no node before has").within("name"));
        }
        if let Some((file, start, end)) = self.span {
            graph.set_span(id, Span::new(file, start, end));
        }
        if let Some(StateEntry(state)) = self.state {
            graph.set_footprint(id, state);
        }
        if let Some(ns) = self.time_ns {
            graph.declare_time(id, Duration::from_nanos(ns));
        }
        if self.prework {
            graph.set_prework(id);
        }
        let (field, router) = match (self.split, self.join) {
            (Some(weights), None) => ("split", Router::Split(weights.into())),
            (None, Some(weights)) => ("join", Router::Join(weights.into())),
            (None, None) => return Ok(()),
            (Some(_), Some(_)) => return Err(Problem::new("a splitter or a joiner").within("join")),
        };
        if !fits(graph, id, &router) {
            return Err(Problem::new("weights that agree with the ports and their rates").within(field));
        }
        graph.set_router(id, router);
        Ok(())
    }
}

/// Whether the node, which has no channels yet, has the ports that [`Router::node`] makes.
fn fits(graph: &GraphData, node: NodeId, router: &Router) -> bool {
    let node = graph.node(node);
    let inputs: Vec<_> = node.inputs().iter().map(|port| port.item()).collect();
    let outputs: Vec<_> = node.outputs().iter().map(|port| port.item()).collect();
    let (outer, branches, weights) = match router {
        Router::Split(weights) => (inputs, outputs, weights),
        Router::Join(weights) => (outputs, inputs, weights),
    };
    let count = match weights {
        Weights::Duplicate => branches.len(),
        Weights::RoundRobin(weights) => weights.len(),
    };
    let made = router.node("", outer.first().copied(), &branches);
    outer.len() <= 1
        && count == branches.len()
        && made.inputs() == node.inputs()
        && made.outputs() == node.outputs()
}

/// The weights of a splitter or joiner.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected an array of weights, or `duplicate`")]
enum WeightsEntry {
    RoundRobin(Vec<u32>),
    Duplicate(DuplicateForm),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DuplicateForm {
    Duplicate,
}

impl From<&Weights> for WeightsEntry {
    fn from(weights: &Weights) -> WeightsEntry {
        match weights {
            Weights::RoundRobin(weights) => WeightsEntry::RoundRobin(weights.clone()),
            Weights::Duplicate => WeightsEntry::Duplicate(DuplicateForm::Duplicate),
        }
    }
}

impl From<WeightsEntry> for Weights {
    fn from(entry: WeightsEntry) -> Weights {
        match entry {
            WeightsEntry::RoundRobin(weights) => Weights::RoundRobin(weights),
            WeightsEntry::Duplicate(DuplicateForm::Duplicate) => Weights::Duplicate,
        }
    }
}

/// A node and one of its ports, by index.
type PortEntry = (u32, usize);

#[derive(Serialize, Deserialize)]
struct GraphChannel {
    from: PortEntry,
    to: PortEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<usize>,
    #[serde(default, skip_serializing_if = "is_default")]
    initial: usize,
    #[serde(default, skip_serializing_if = "is_default")]
    feedback: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    weighed: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    limits: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    owns: bool,
}

impl From<&Channel> for GraphChannel {
    fn from(channel: &Channel) -> GraphChannel {
        let link = channel.link();
        let port = |(node, port): Port| (node.0, port);
        GraphChannel {
            from: port(channel.from()),
            to: port(channel.to()),
            capacity: link.capacity(),
            initial: link.initial(),
            feedback: link.feedback(),
            weighed: link.weighed(),
            limits: link.limits(),
            owns: link.owns(),
        }
    }
}

impl GraphChannel {
    /// Connects the channel's ports.
    fn connect(self, graph: &mut GraphData) -> Check<()> {
        let GraphChannel { from, to, capacity, initial, feedback, weighed, limits, owns } = self;
        let from =
            port(from, graph, |node| node.outputs().len()).map_err(|problem| problem.within("from"))?;
        let to = port(to, graph, |node| node.inputs().len()).map_err(|problem| problem.within("to"))?;
        let link = Link::default()
            .with_capacity(capacity)
            .with_initial(initial)
            .with_feedback(feedback)
            .with_weighed(weighed)
            .with_limits(limits)
            .with_owns(owns);
        graph.connect(from, to, link).map(drop).map_err(|fault| match fault {
            Fault::SecondConsumer { .. } => Problem::new("an output without a channel").within("from"),
            Fault::SecondProducer { .. } => Problem::new("an input without a channel").within("to"),
            Fault::Types { pushes, pops, .. } => {
                let (pushes, pops) = (excerpt(pushes), excerpt(pops));
                let expected = format!("an input of the output's type `{pushes}`");
                Problem::found(expected, format!("the type `{pops}`")).within("to")
            }
            other => Problem::found("a channel that the graph can have", other.to_string()),
        })
    }
}

/// Checks a node and one of its ports, of which it has as many as `ports` returns.
fn port((node, port): PortEntry, graph: &GraphData, ports: impl Fn(&Node) -> usize) -> Check<Port> {
    let id = NodeId(node);
    index(id.index(), graph.nodes().len(), "nodes").map_err(|problem| problem.within(0))?;
    index(port, ports(graph.node(id)), "ports").map_err(|problem| problem.within(1))?;
    Ok((id, port))
}

/// A pair of nodes, by index, of which one sends messages to the other.
#[derive(Serialize, Deserialize)]
struct MessagesEntry {
    from: u32,
    to: u32,
}

impl From<&Messages> for MessagesEntry {
    fn from(messages: &Messages) -> MessagesEntry {
        MessagesEntry { from: messages.from().0, to: messages.to().0 }
    }
}

impl MessagesEntry {
    fn add(self, graph: &mut GraphData) -> Check<()> {
        let (from, to) = (NodeId(self.from), NodeId(self.to));
        for (field, node) in [("from", from), ("to", to)] {
            index(node.index(), graph.nodes().len(), "nodes").map_err(|problem| problem.within(field))?;
        }
        graph.add_messages(Messages::new(from, to));
        Ok(())
    }
}
