//! The capacity with which a channel begins, and the one up to which the run may widen it: the number of slots to allocate.
//!
//! The room that a channel needs depends on the time that its items take, which is only known during the run: see `widen`
//! in the runtime. Two kinds of channel are widened:
//!
//! | channel | begins with | is widened to at most |
//! |---|---|---|
//! | its items own memory | room for two firings of each worker that its ends can have ([`first_room`]) | the capacity of the pass before |
//! | an end is a blocking kernel | the capacity of the pass before | [`MAX_WIDENING`] times that, and [`CHANNEL_BYTES`] |
//!
//! Items that own memory may take any amount of it, so a channel of them holds no more than a short time needs. A channel
//! keeps its capacity if the user has set one. A blocking kernel's also keeps it if there is a budget or a weight.

use super::Given;
use super::capacities::{CHANNEL_BYTES, first_room, has_process};
use crate::Plan;
use std::collections::BTreeMap;
use thalweg_graph::{ChannelId, Kind, NodeId};

/// Minimum number of firings that a channel at a parallel node has room for. Items are released, and results published, in
/// order, so this is also the number of firings that the other workers can do during a long one.
const MIN_SHARED: usize = 8;
/// The factor by which a channel of a blocking kernel may widen.
const MAX_WIDENING: usize = 16;

/// The capacities with which the channels begin, and the slots of those that may widen.
pub(super) fn decide(given: &Given<'_>, so_far: &Plan) -> (Vec<usize>, BTreeMap<ChannelId, usize>) {
    let (mut capacities, mut slots) = (so_far.capacities.clone(), BTreeMap::new());
    if given.units.is_some() || given.wishes.capacity.is_some() {
        return (capacities, slots);
    }
    for id in given.graph.channel_ids() {
        let channel = given.graph.channel(id);
        if channel.link().capacity().is_some() {
            continue;
        }
        let capacity = &mut capacities[id.index()];
        let most = if blocks(given, so_far, id) { widest(given, id, *capacity) } else { *capacity };
        if channel.link().owns() && !given.wishes.repeatable {
            let is_parallel = |node: NodeId| given.graph.node(node).kind() == Kind::Parallel;
            let is_shared = is_parallel(channel.from().0) || is_parallel(channel.to().0);
            let firings = if is_shared { (2 * so_far.threads).max(MIN_SHARED) } else { 2 };
            *capacity = first_room(given.graph, channel, firings).min(*capacity);
        }
        if most > *capacity {
            slots.insert(id, most);
        }
    }
    (capacities, slots)
}

/// Whether an end of the channel is a blocking kernel, and nothing counts the channel's bytes.
fn blocks(given: &Given<'_>, so_far: &Plan, id: ChannelId) -> bool {
    let channel = given.graph.channel(id);
    let blocks = |node: NodeId| given.graph.node(node).blocking();
    !so_far.own_threads.is_empty()
        && given.wishes.budget.is_none()
        && !channel.link().weighed()
        && !has_process(given.graph, channel)
        && (blocks(channel.from().0) || blocks(channel.to().0))
}

fn widest(given: &Given<'_>, id: ChannelId, capacity: usize) -> usize {
    let most = CHANNEL_BYTES / given.graph.channel(id).item().bytes().max(1);
    capacity.saturating_mul(MAX_WIDENING).min(most).max(capacity)
}
