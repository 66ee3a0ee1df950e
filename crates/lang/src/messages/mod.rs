//! Messages between filters: arrival times, and the order of firings in programs that send messages.
//!
//! The interpreter ([`interpret`](crate::interpret)) documents the meaning of messages. An engine keeps a
//! [`MessageRouter`] with the messages in flight and passes every sent message to it. A [`Wavefront`] computes how
//! many firings of one node another one needs. [`Demand`] is the order of firings, from item counts alone.

mod demand;
mod router;
mod routes;
mod wavefront;

pub use demand::{Blocked, Counts, Demand, Fires, IsOver, pull};
pub use router::{Envelope, MessageRouter, SentMessage, is_downstream, receivers};
pub use routes::{check, record};
pub use wavefront::Wavefront;

use crate::tree::Tree;

/// Whether a program has portals with receivers.
pub fn has_messages(tree: &Tree) -> bool {
    tree.portals.iter().any(|receivers| !receivers.is_empty())
}
