//! What a node may lack on its channels.

use thalweg_graph::ChannelId;

/// What a claim lacks: the node waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lack {
    /// The input channel's tail must reach `until`, or its stream end.
    Items { channel: ChannelId, until: usize },
    /// The input's stream has ended short of what a firing needs.
    Ended { channel: ChannelId },
    /// One of the inputs in this mask must receive an item or end (indeterminate nodes).
    Any { inputs: u64 },
    /// The output channel's head must reach `until`, or its consumer leave.
    Room { channel: ChannelId, until: usize },
    /// The output channel's bytes must fall below its limit.
    Bytes { channel: ChannelId },
}
