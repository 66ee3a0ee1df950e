//! The buffers of a region.

use super::{Facts, Place};
use crate::ir::Cell;
use thalweg_lang::flat::ChannelId;

/// Items beyond the last that vector loads may read.
pub(crate) const BEYOND: u64 = 64;

/// A buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Root {
    /// The channel.
    pub(crate) channel: ChannelId,
    pub(crate) cell: Cell,
    pub(crate) cells: usize,
    /// Bytes of an item.
    pub(crate) bytes: usize,
    /// The item at the front of the buffer after the initialisation, counted from the channel's first item.
    pub(crate) origin: i64,
    /// How far a steady state moves it.
    pub(crate) advance: i64,
    /// Items at the front that the next call may need.
    pub(crate) keep: i64,
    /// The capacity in items.
    pub(crate) size: u64,
}

/// The roots, with their positions after the initialisation.
pub(super) fn roots(facts: &Facts<'_>, places: &[Option<Place>]) -> Result<Vec<Root>, String> {
    let mut roots = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let channel = ChannelId(at as u32);
        if place.as_ref().is_none_or(|place| place.root != channel) {
            continue;
        }
        let (mut origin, mut end) = (i64::MAX, i64::MIN);
        for (other, place) in places.iter().enumerate() {
            let Some(place) = place.as_ref().filter(|place| place.root == channel) else { continue };
            let (read, written) = held(facts, ChannelId(other as u32), 0);
            origin = origin.min(place.of(read)).min(place.of(written));
            if written > read {
                end = end.max(place.of(written - 1) + 1);
            }
        }
        let (cell, cells) = facts.item(channel)?;
        let place = |item| place.as_ref().map_or(item, |place| place.of(item));
        let given = |steady| place(held(facts, channel, steady).1);
        let advance = given(1) - given(0);
        roots.push(Root {
            channel,
            cell,
            cells,
            bytes: cells * cell.bytes(),
            origin,
            advance,
            keep: end.saturating_sub(origin).max(0),
            size: 0,
        });
    }
    Ok(roots)
}

/// The items in a channel after this many steady states, as a range counted from its first item. A channel
/// from the outside holds what its consumer peeks at beyond what it pops; a channel to the outside holds
/// nothing.
pub(crate) fn held(facts: &Facts<'_>, channel: ChannelId, steady: u64) -> (i64, i64) {
    let ends = facts.compiled.flat.channel(channel);
    let fired = |node: thalweg_lang::flat::NodeId| {
        facts.begun[node.0 as usize] + steady * facts.firings[node.0 as usize]
    };
    match (facts.has(ends.from.0), facts.has(ends.to.0)) {
        (true, true) => (facts.popped(channel, fired(ends.to.0)), facts.pushed(channel, fired(ends.from.0))),
        (false, true) => {
            let read = facts.popped(channel, fired(ends.to.0));
            (read, read + facts.ahead(channel))
        }
        (true, false) => {
            let written = facts.pushed(channel, fired(ends.from.0));
            (written, written)
        }
        (false, false) => (0, 0),
    }
}

/// Channels to the region's nodes that hold the same number of items after each steady state; and all
/// channels from the outside, where items may wait.
pub(super) fn holding(facts: &Facts<'_>, places: &[Option<Place>]) -> Vec<ChannelId> {
    let flat = &facts.compiled.flat;
    let holds = |at: &usize| {
        let channel = ChannelId(*at as u32);
        let (first, last) = held(facts, channel, 0);
        facts.has(flat.channel(channel).to.0) && (first < last || !facts.has(flat.channel(channel).from.0))
    };
    let placed = (0..places.len()).filter(|at| places[*at].is_some());
    placed.filter(holds).map(|at| ChannelId(at as u32)).collect()
}
