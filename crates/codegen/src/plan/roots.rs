//! The buffers of a region.

use super::{Actor, Facts, Place, Plan, Port};
use crate::emit::expr::cell_bytes;
use crate::emit::items::Items;
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
            bytes: cells * cell_bytes(cell),
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

/// How far an access, or a border, reaches in its root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct End {
    root: usize,
    /// Firings in a steady state, firings in a group, and the distance between groups.
    firings: i64,
    group: i64,
    by: i64,
    /// The end of the first group.
    first: i64,
}

impl End {
    fn new(port: &Port, firings: u64) -> End {
        let Items { base, group, group_stride, stride, .. } = port.items;
        let first = base + (group - 1) * stride.abs() + port.items.reach() + 1;
        End { root: port.root, firings: firings as i64, group, by: group_stride, first }
    }

    /// The end after this many steady states.
    fn after(&self, states: i64) -> i64 {
        (self.firings * states - 1).max(0) / self.group * self.by + self.first
    }
}

/// Computes the sizes of buffers.
pub(super) fn measure(plan: &mut Plan) {
    let sides = |actor: &Actor| {
        let ports = actor.inputs.iter().chain(&actor.outputs);
        ports.map(|port| End::new(port, actor.firings)).collect::<Vec<_>>()
    };
    let borders = plan.inputs.iter().chain(&plan.outputs).map(|border| End::new(&border.port, border.items));
    plan.ends = plan.actors.iter().flat_map(sides).chain(borders).collect();
    let sizes = sizes(plan, plan.scale);
    for (root, size) in plan.roots.iter_mut().zip(sizes) {
        root.size = size;
    }
}

/// The sizes of buffers, in items, where this many steady states are done at once.
pub(crate) fn sizes(plan: &Plan, scale: u64) -> Vec<u64> {
    let scale = scale as i64;
    let mut sizes: Vec<i64> = plan.roots.iter().map(|root| root.keep + root.advance * scale).collect();
    for end in &plan.ends {
        sizes[end.root] = sizes[end.root].max(end.after(scale));
    }
    plan.inner.iter().for_each(|inner| sizes[*inner] = 0);
    sizes.into_iter().map(|size| size.max(0) as u64 + BEYOND).collect()
}
