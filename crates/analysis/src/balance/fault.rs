//! What can be wrong with static rates.

use thalweg_graph::{ChannelId, NodeId};

/// What is wrong with the static rates of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RateFault {
    /// The other channels require numbers of firings with which this channel gains or loses items.
    Unbalanced {
        /// The channel.
        channel: ChannelId,
        /// The smallest numbers of firings of its producer and its consumer in their proportion.
        firings: (u128, u128),
        /// The nodes from the producer to the consumer along the channels from which the numbers follow.
        path: Vec<NodeId>,
    },
    /// An end of the channel would have to fire 2^64 times or more in a steady state.
    TooManyFirings {
        /// The channel.
        channel: ChannelId,
    },
    /// The consumer pops, but the producer never pushes.
    Starved {
        /// The channel.
        channel: ChannelId,
    },
    /// The producer pushes, but the consumer never pops.
    Flooded {
        /// The channel.
        channel: ChannelId,
    },
}

impl RateFault {
    /// The channel.
    pub fn channel(&self) -> ChannelId {
        match *self {
            RateFault::Unbalanced { channel, .. }
            | RateFault::TooManyFirings { channel }
            | RateFault::Starved { channel }
            | RateFault::Flooded { channel } => channel,
        }
    }
}
