//! How bytes are divided: those of weighed items among their channels, those of completed tickets among reorder windows, and
//! those of gates.

use super::Given;
use crate::Plan;
use std::collections::BTreeMap;
use thalweg_graph::{ChannelId, Kind};

/// Maximum number of bytes of all weighed channels of a run without a byte budget, unless the graph needs more: a search for
/// deadlocks raises the limits then.
const WEIGHED_DEFAULT: usize = 64 << 20;
/// Maximum number of bytes of all reorder windows of a run without a byte budget.
const HELD_DEFAULT: usize = 64 << 20;
/// Maximum number of bytes of all gates of a run without a byte budget.
const KEPT_DEFAULT: usize = 128 << 20;

/// Divides bytes equally among the channels whose items are weighed: [`WEIGHED_DEFAULT`], or of a budget three quarters of
/// what is left when the slots of all channels are subtracted. The last quarter is reserved for growth.
pub(super) fn channels(given: &Given<'_>, so_far: &Plan) -> BTreeMap<ChannelId, usize> {
    let weighed = |id: &ChannelId| given.graph.channel(*id).link().weighed();
    let sharers = given.graph.channel_ids().filter(weighed).count();
    if sharers == 0 || given.units.is_some() {
        return BTreeMap::new();
    }
    let all = given.wishes.budget.map_or(WEIGHED_DEFAULT, |budget| {
        let channels = given.graph.channel_ids();
        let bytes = |id| given.graph.channel(id).item().bytes().saturating_mul(so_far.slots_of(id));
        let slots = channels.map(bytes).fold(0, usize::saturating_add);
        budget.saturating_sub(slots) / 4 * 3
    });
    let share = (all / sharers).max(1);
    given.graph.channel_ids().filter(weighed).map(|id| (id, share)).collect()
}

/// The bytes that completed tickets of one parallel node may hold in its reorder window: an equal share of half the
/// budget or of [`HELD_DEFAULT`].
pub(super) fn held(given: &Given<'_>) -> usize {
    let nodes = given.graph.nodes().iter().filter(|node| node.kind() == Kind::Parallel).count().max(1);
    given.wishes.budget.map_or(HELD_DEFAULT, |budget| budget / 2) / nodes
}

/// The bytes that the gate of one fork-join may keep: an equal share of half the budget or of [`KEPT_DEFAULT`].
pub(super) fn kept(given: &Given<'_>) -> usize {
    given.wishes.budget.map_or(KEPT_DEFAULT, |budget| budget / 2) / given.wishes.keepers.max(1)
}
