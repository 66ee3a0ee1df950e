//! What nodes wait for, and for how long.

use crate::Report;
use std::time::Duration;
use thalweg_graph::{ChannelId, GraphData, NodeId, data, shown};

/// What a node waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// Items on an input channel. The channel's producer blocks the node.
    Items(ChannelId),
    /// Room, in items or bytes, on an output channel. The channel's consumer blocks the node.
    Room(ChannelId),
    /// An item on any of several inputs: a merge.
    AnyInput,
    /// A parallel node: the completion of its own tickets in flight, which fill the reorder window or may fill the
    /// outputs.
    Window,
    /// An event outside the graph: a future that no channel of the graph completes.
    Outside,
    /// A worker: the node could fire, and no worker activated it.
    Worker,
}

impl Cause {
    /// The cause in words that follow "waits for": with the producer's output or the consumer's input where a channel
    /// is the cause. Names are escaped, so a terminal obeys none of them. A channel that the graph lacks has its number.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort};
    /// use thalweg_trace::Cause;
    ///
    /// let mut graph = GraphData::new();
    /// let read = graph.add(Node::sequential("read").output(OutPort::new("out", Item::of::<u8>())));
    /// let hash = graph.add(Node::sequential("hash").input(InPort::new("in", Item::of::<u8>())));
    /// let channel = graph.connect((read, 0), (hash, 0), Link::default()).unwrap();
    /// assert_eq!(Cause::Items(channel).describe(&graph), "items of read.out");
    /// assert_eq!(Cause::Room(channel).describe(&graph), "room in hash.in");
    /// assert_eq!(Cause::Worker.describe(&graph), "a worker");
    /// ```
    pub fn describe(&self, graph: &GraphData) -> String {
        self.describe_with(graph, |name| shown(name).to_string())
    }

    /// [`Cause::describe`], with the names of ports as `show` writes them.
    pub fn describe_with(&self, graph: &GraphData, show: impl Fn(&str) -> String) -> String {
        let port = |id: ChannelId, name: &dyn Fn(ChannelId) -> String| match id.index() {
            index if index < graph.channels().len() => show(&name(id)),
            index => format!("channel {index}"),
        };
        match *self {
            Cause::Items(id) => {
                format!("items of {}", port(id, &|id| graph.output_name(graph.channel(id).from())))
            }
            Cause::Room(id) => {
                format!("room in {}", port(id, &|id| graph.input_name(graph.channel(id).to())))
            }
            Cause::AnyInput => "an item on any input".to_owned(),
            Cause::Window => "its own tickets in flight".to_owned(),
            Cause::Outside => "an event outside the graph".to_owned(),
            Cause::Worker => "a worker".to_owned(),
        }
    }

    /// The node at the other end of the channel, if a channel of the graph is the cause.
    pub fn other_end(&self, graph: &GraphData) -> Option<NodeId> {
        match *self {
            Cause::Items(id) => graph.channels().get(id.index()).map(|channel| channel.from().0),
            Cause::Room(id) => graph.channels().get(id.index()).map(|channel| channel.to().0),
            _ => None,
        }
    }
}

data! {
    /// The times for which a node waited for something other than one channel. The times for which it waited for a channel
    /// are in the channel's [`ChannelReport`](crate::ChannelReport).
    #[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
    pub struct NodeWaits {
        /// See [`Cause::AnyInput`].
        copy any_input: Duration, any_input_mut;
        /// See [`Cause::Window`].
        copy window: Duration, window_mut;
        /// See [`Cause::Outside`].
        copy outside: Duration, outside_mut;
        /// See [`Cause::Worker`].
        copy worker: Duration, worker_mut;
    }
}

impl Report {
    /// What a node waited for, and for how long: the longest first, without zeros. `node` must be one of the graph's.
    ///
    /// A wait is the time from the end of an activation to the beginning of the next one, so it includes the time from
    /// the event that ends the wait to the activation. For a node with one activation at a time, these times and
    /// [`NodeReport::busy`](crate::NodeReport::busy) add up to the time from the start of the run to the end of the
    /// node's last activation, except for the part that sampling estimates. A parallel node waits while no worker is in
    /// an activation of it.
    pub fn waits(&self, node: NodeId) -> Vec<(Cause, Duration)> {
        let (data, own) = (self.graph.node(node), self.nodes[node.index()].other_waits);
        let inputs = data.inputs().iter().filter_map(|port| port.channel());
        let outputs = data.outputs().iter().filter_map(|port| port.channel());
        let items = inputs.map(|id| (Cause::Items(id), self.channels[id.index()].consumer_waited));
        let room = outputs.map(|id| (Cause::Room(id), self.channels[id.index()].producer_waited));
        let own = [
            (Cause::AnyInput, own.any_input),
            (Cause::Window, own.window),
            (Cause::Outside, own.outside),
            (Cause::Worker, own.worker),
        ];
        let mut waits: Vec<_> = items.chain(room).chain(own).filter(|(_, time)| !time.is_zero()).collect();
        waits.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        waits
    }

    /// [`Report::waits`], or nothing where the report lacks channels of its graph.
    pub fn known_waits(&self, node: NodeId) -> Vec<(Cause, Duration)> {
        let whole = self.channels.len() == self.graph.channels().len();
        if whole && node.index() < self.nodes.len() { self.waits(node) } else { Vec::new() }
    }

    /// The time for which a node waited, for whatever: the total of [`Report::waits`]. `node` must be one of the
    /// graph's.
    pub fn total_wait(&self, node: NodeId) -> Duration {
        self.waits(node).iter().map(|(_, time)| *time).sum()
    }
}
