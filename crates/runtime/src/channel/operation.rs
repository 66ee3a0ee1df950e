//! The number of a channel operation: the channel in the upper bits; bit 0 is set for a send.

use thalweg_graph::ChannelId;

/// An operation's channel.
#[inline]
pub(crate) fn channel(operation: u64) -> ChannelId {
    ChannelId((operation >> 1) as u32)
}

/// Whether an operation is a send.
#[inline]
pub(crate) fn sends(operation: u64) -> bool {
    operation & 1 == 1
}
