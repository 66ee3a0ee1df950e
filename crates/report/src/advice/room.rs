//! Channels with too little room: both of their ends wait for each other in turn.

use super::{Evidence, Finding, FindingKind};
use std::cmp::Reverse;
use thalweg_graph::ChannelId;
use thalweg_trace::units;

/// Each end of such a channel waits for at least this share of the wall time.
const WAITED: f64 = 0.2;

/// Channels that are named.
const NAMED: usize = 3;

impl Evidence<'_> {
    /// The channel for which its producer and its consumer waited most, in one finding with others like it.
    pub(super) fn little_room(&self) -> Option<Finding> {
        let both = |id: &ChannelId| {
            let stats = &self.channels()[id.index()];
            stats.consumer_waited().min(stats.producer_waited())
        };
        let mut channels: Vec<_> =
            self.graph().channel_ids().filter(|id| self.share(both(id)) >= WAITED).collect();
        channels.sort_by_key(|id| Reverse(both(id)));
        let (first, all) = (*channels.first()?, channels.len());
        let stats = &self.channels()[first.index()];
        let names: Vec<String> = channels.iter().take(NAMED).map(|id| self.quoted_channel(*id)).collect();
        let more = if all > NAMED { format!(" and {} more channels", all - NAMED) } else { String::new() };
        let what = format!(
            "the producer and the consumer of {}{more} wait for each other in turn",
            names.join(", ")
        );
        let evidence = format!(
            "the producer waited {} for room and the consumer {} for items, at a capacity of {}",
            units::time(stats.producer_waited()),
            units::time(stats.consumer_waited()),
            stats.capacity()
        );
        let help = format!(
            "set `capacity({})` or more, or leave the capacity to the plan",
            stats.capacity().max(1).saturating_mul(8)
        );
        channels.truncate(NAMED);
        Some(Finding::new(FindingKind::LittleRoom, what, evidence, help).through(&channels))
    }
}
