//! The capacity up to which the run may widen a channel, which is the number of slots to allocate.
//!
//! The dedicated thread of a blocking node sleeps while its channel is full or empty. The capacity with which sleeping
//! costs little depends on the time that items take, which is only known during the run: see `dedicated` in the
//! runtime. A channel keeps its capacity if the user has set a capacity, a budget or a weight.

use super::Given;
use super::capacities::{CHANNEL_BYTES, has_process};
use crate::Plan;
use std::collections::BTreeMap;
use thalweg_graph::{ChannelId, NodeId};

/// The factor by which a channel may widen.
const MAX_WIDENING: usize = 16;

/// The slots of the channels that may widen.
pub(super) fn decide(given: &Given<'_>, so_far: &Plan) -> BTreeMap<ChannelId, usize> {
    // The runs of plain graphs take microseconds: they skip the channels.
    if so_far.own_threads.is_empty() || given.wishes.capacity.or(given.wishes.budget).is_some() {
        return BTreeMap::new();
    }
    let slots = |id: ChannelId| (id, most(given, id, so_far.capacities[id.index()]));
    let wider = |(id, slots): &(ChannelId, usize)| *slots > so_far.capacities[id.index()];
    given.graph.channel_ids().filter(|id| may_widen(given, *id)).map(slots).filter(wider).collect()
}

fn may_widen(given: &Given<'_>, id: ChannelId) -> bool {
    let channel = given.graph.channel(id);
    let blocks = |node: NodeId| given.graph.node(node).blocking;
    channel.link.capacity.is_none()
        && !channel.link.weighed
        && !has_process(given.graph, channel)
        && (blocks(channel.from.0) || blocks(channel.to.0))
}

fn most(given: &Given<'_>, id: ChannelId, capacity: usize) -> usize {
    let most = CHANNEL_BYTES / given.graph.channel(id).item.bytes.max(1);
    capacity.saturating_mul(MAX_WIDENING).min(most).max(capacity)
}
