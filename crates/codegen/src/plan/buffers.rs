//! The buffers of a region.

use super::{Facts, View};
use crate::ir::Cell;
use thalweg_lang::flat::ChannelId;

/// Items beyond the last that vector loads may read.
pub(crate) const BEYOND: u64 = 64;

/// A buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Buffer {
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

/// The buffers, with their positions after the initialisation.
pub(super) fn buffers(facts: &Facts<'_>, views: &[Option<View>]) -> Result<Vec<Buffer>, String> {
    let mut buffers = Vec::new();
    for (at, view) in views.iter().enumerate() {
        let channel = ChannelId(at as u32);
        if view.as_ref().is_none_or(|view| view.buffer != channel) {
            continue;
        }
        let (mut origin, mut end) = (i64::MAX, i64::MIN);
        for (other, view) in views.iter().enumerate() {
            let Some(view) = view.as_ref().filter(|view| view.buffer == channel) else { continue };
            let (read, written) = held(facts, ChannelId(other as u32), 0);
            origin = origin.min(view.of(read)).min(view.of(written));
            if written > read {
                end = end.max(view.of(written - 1) + 1);
            }
        }
        let (cell, cells) = facts.item(channel)?;
        let view = |item| view.as_ref().map_or(item, |view| view.of(item));
        let given = |steady| view(held(facts, channel, steady).1);
        let advance = given(1) - given(0);
        buffers.push(Buffer {
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
    Ok(buffers)
}

/// The items in a channel after this many steady states, as a range counted from its first item. A channel
/// from the outside holds what its consumer peeks at beyond what it pops; a channel to the outside holds
/// nothing.
pub(crate) fn held(facts: &Facts<'_>, channel: ChannelId, steady: u64) -> (i64, i64) {
    let ends = facts.compiled.flat.channel(channel);
    let fired = |node: thalweg_lang::flat::NodeId| {
        facts.begun[node.0 as usize] + steady * facts.firings[node.0 as usize]
    };
    match (facts.has(ends.from().0), facts.has(ends.to().0)) {
        (true, true) => {
            (facts.popped(channel, fired(ends.to().0)), facts.pushed(channel, fired(ends.from().0)))
        }
        (false, true) => {
            let read = facts.popped(channel, fired(ends.to().0));
            (read, read + facts.ahead(channel))
        }
        (true, false) => {
            let written = facts.pushed(channel, fired(ends.from().0));
            (written, written)
        }
        (false, false) => (0, 0),
    }
}

/// Channels to the region's nodes that hold the same number of items after each steady state; and all
/// channels from the outside, where items may wait.
pub(super) fn holding(facts: &Facts<'_>, views: &[Option<View>]) -> Vec<ChannelId> {
    let flat = &facts.compiled.flat;
    let holds = |at: &usize| {
        let channel = ChannelId(*at as u32);
        let (first, last) = held(facts, channel, 0);
        facts.has(flat.channel(channel).to().0)
            && (first < last || !facts.has(flat.channel(channel).from().0))
    };
    let placed = (0..views.len()).filter(|at| views[*at].is_some());
    placed.filter(holds).map(|at| ChannelId(at as u32)).collect()
}
