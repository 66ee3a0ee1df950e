//! The borders of a region: where items enter from other parts of the program, and where they leave.
//!
//! A channel with one end inside is a queue at the other end. Planning treats the outside as a node that
//! moves one item a firing: before a call items are copied from the queue to where that node would write
//! them, and after the call from where it would read them to the queue.

use super::buffers::{Buffer, held};
use super::ports::{self, in_the_way};
use super::{Facts, Items, Pattern, Port, View};
use thalweg_lang::flat::{ChannelId, NodeId};

/// A channel to or from the outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Border {
    pub(crate) channel: ChannelId,
    pub(crate) port: Port,
    /// Items in a steady state.
    pub(crate) items: u64,
    /// Items that must be in the queue besides.
    pub(crate) ahead: u64,
    /// Whether the queue can be used in place, since no other channel shares the buffer.
    pub(crate) direct: bool,
}

type Borders = (Vec<Border>, Vec<Border>);

/// The borders of a region. Where a border has no access pattern: the node that must copy.
pub(super) fn borders(
    facts: &Facts<'_>,
    kept: &[bool],
    views: &[Option<View>],
    buffers: &[Buffer],
) -> Result<Result<Borders, NodeId>, String> {
    let flat = &facts.compiled.flat;
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (at, channel) in flat.channels().iter().enumerate() {
        let (inside, side) = match (facts.has(channel.from().0), facts.has(channel.to().0)) {
            (false, true) => (channel.to().0, &mut inputs),
            (true, false) => (channel.from().0, &mut outputs),
            _ => continue,
        };
        match border(facts, views, buffers, ChannelId(at as u32)) {
            Some(border) => side.extend(border),
            None => match in_the_way(facts, kept, inside) {
                Some(other) => return Ok(Err(other)),
                None => return Err(format!("no access pattern found for `{}`", flat.node(inside).name())),
            },
        }
    }
    Ok(Ok((inputs, outputs)))
}

/// A border, if it has an access pattern; `Some(None)` where no items cross it.
fn border(
    facts: &Facts<'_>,
    views: &[Option<View>],
    buffers: &[Buffer],
    channel: ChannelId,
) -> Option<Option<Border>> {
    let (now, next) = (held(facts, channel, 0), held(facts, channel, 1));
    let items = next.1 - now.1;
    let Some(view) = views[channel.0 as usize].as_ref().filter(|_| items > 0) else { return Some(None) };
    let buffer = buffers.iter().position(|buffer| buffer.channel == view.buffer)?;
    let found = ports::items(view, now.1, (1, 1), items)?;
    let Buffer { cell, cells, origin, .. } = buffers[buffer];
    let items_at = Items { cell, cells, base: found.base - origin, ..found };
    let alone = views.iter().flatten().filter(|other| other.buffer == view.buffer).count() == 1;
    let in_line = items_at.group == 1 && items_at.group_stride == 1 && items_at.pattern == Pattern::Every(1);
    // Files are read and written through a buffer of this part.
    let ends = facts.compiled.flat.channel(channel);
    let inside = if facts.has(ends.to().0) { ends.to().0 } else { ends.from().0 };
    let direct = alone && view.buffer == channel && in_line && !facts.is_end(inside);
    let ahead = (now.1 - now.0) as u64;
    Some(Some(Border { channel, port: Port { buffer, items: items_at }, items: items as u64, ahead, direct }))
}
