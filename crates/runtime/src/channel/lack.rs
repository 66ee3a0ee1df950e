//! The condition that a refused claim waits for.

use thalweg_graph::ChannelId;

/// The reason for which a claim was refused: the condition that the node waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lack {
    /// The input channel's tail must reach `until`, or the stream must end.
    Items { channel: ChannelId, until: usize },
    /// As `Items`, or an alarm that is set must go off.
    Timed { channel: ChannelId, until: usize },
    /// The input's stream has ended with fewer items than a firing needs.
    Ended { channel: ChannelId },
    /// One of the inputs in this mask must receive an item or end (indeterminate nodes).
    Any { inputs: u64 },
    /// The output channel's head must reach `until`, or its consumer must leave.
    Room { channel: ChannelId, until: usize },
    /// The output channel's bytes must fall below its limit.
    Bytes { channel: ChannelId },
}
