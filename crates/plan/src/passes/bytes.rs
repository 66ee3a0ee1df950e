//! How the byte budget is divided: among channels of weighed items, reorder windows and gates.

use super::Given;
use crate::Plan;
use std::collections::BTreeMap;
use thalweg_graph::{ChannelId, Kind};

/// The most bytes of all reorder windows of a run without a byte budget, and twice those of all gates.
const HELD_DEFAULT: usize = 256 << 20;

/// Divides the byte budget equally among the channels whose items are weighed. The slots of all channels are subtracted
/// first, and a quarter of the remainder is reserved for growth.
pub(super) fn channels(given: &Given<'_>, so_far: &Plan) -> BTreeMap<ChannelId, usize> {
    let (Some(budget), channels) = (given.wishes.budget, given.graph.channels()) else {
        return BTreeMap::new();
    };
    let bytes = channels.iter().zip(&so_far.capacities).map(|(c, size)| c.item.bytes.saturating_mul(*size));
    let slots = bytes.fold(0, usize::saturating_add);
    let weighed = |id: &ChannelId| given.graph.channel(*id).link.weighed;
    let sharers = given.graph.channel_ids().filter(weighed).count().max(1);
    let share = budget.saturating_sub(slots) / 4 * 3 / sharers;
    given.graph.channel_ids().filter(weighed).map(|id| (id, share.max(1))).collect()
}

/// The bytes that completed tickets of one parallel node may hold in its reorder window: an equal share of half the
/// budget or of [`HELD_DEFAULT`].
pub(super) fn held(given: &Given<'_>) -> usize {
    let nodes = given.graph.nodes().iter().filter(|node| node.kind == Kind::Parallel).count().max(1);
    given.wishes.budget.map_or(HELD_DEFAULT, |budget| budget / 2) / nodes
}

/// The bytes that the gate of one fork-join may keep: an equal share of half the budget or of [`HELD_DEFAULT`].
pub(super) fn kept(given: &Given<'_>) -> usize {
    given.wishes.budget.unwrap_or(HELD_DEFAULT) / 2 / given.wishes.keepers.max(1)
}
