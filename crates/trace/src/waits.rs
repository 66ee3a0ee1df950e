//! What nodes wait for, and for how long.

use crate::Report;
use std::time::Duration;
use thalweg_graph::{ChannelId, NodeId};

/// What a node waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
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

/// The times for which a node waited for something other than one channel. The times for which it waited for a channel
/// are in the channel's [`ChannelReport`](crate::ChannelReport).
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeWaits {
    /// See [`Cause::AnyInput`].
    pub any_input: Duration,
    /// See [`Cause::Window`].
    pub window: Duration,
    /// See [`Cause::Outside`].
    pub outside: Duration,
    /// See [`Cause::Worker`].
    pub worker: Duration,
}

impl Report {
    /// What a node waited for, and for how long: the longest first, without zeros. `node` must be one of the graph's.
    ///
    /// A wait is the time from the end of an activation to the beginning of the next one, so it includes the time from
    /// the event that ends the wait to the activation. For a node with one activation at a time, these times and
    /// [`NodeReport::busy`](crate::NodeReport::busy) add up to the time from the start of the run to the end of the
    /// node's last activation, except for the part that sampling estimates. For a parallel node they are the times
    /// between an activation's end and the next one's beginning, on whichever worker.
    pub fn waits(&self, node: NodeId) -> Vec<(Cause, Duration)> {
        let (data, own) = (self.graph.node(node), self.nodes[node.index()].other_waits);
        let inputs = data.inputs.iter().filter_map(|port| port.channel);
        let outputs = data.outputs.iter().filter_map(|port| port.channel);
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
    pub(crate) fn known_waits(&self, node: NodeId) -> Vec<(Cause, Duration)> {
        let whole = self.channels.len() == self.graph.channels().len();
        if whole && node.index() < self.nodes.len() { self.waits(node) } else { Vec::new() }
    }

    /// A cause in words that follow "for": the port that blocks the node, or what else does.
    pub(crate) fn in_words(&self, cause: Cause) -> String {
        match cause {
            Cause::Items(id) => {
                format!("items of {}", escaped(self.graph.output_name(self.graph.channel(id).from)))
            }
            Cause::Room(id) => {
                format!("room in {}", escaped(self.graph.input_name(self.graph.channel(id).to)))
            }
            Cause::AnyInput => "any input".to_owned(),
            Cause::Window => "its tickets in flight".to_owned(),
            Cause::Outside => "an outside event".to_owned(),
            Cause::Worker => "a worker".to_owned(),
        }
    }

    /// The time for which a node waited, for whatever: the total of [`Report::waits`]. `node` must be one of the
    /// graph's.
    pub fn total_wait(&self, node: NodeId) -> Duration {
        self.waits(node).iter().map(|(_, time)| *time).sum()
    }
}

/// A name that a terminal can show.
fn escaped(name: String) -> String {
    name.escape_debug().to_string()
}
