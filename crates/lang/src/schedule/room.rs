//! The memory of channels with static rates.

use super::{Schedule, node_error};
use crate::Diagnostic;
use crate::flat::{ChannelId, Flat};
use crate::value::Shape;

/// The limit of scalars in all channels within regions together: a gigabyte, as for queues between regions.
pub const MAX_HELD: u64 = 1 << 28;

/// Rejects a schedule that needs too much memory in channels.
///
/// # Errors
/// The limit is exceeded; the error names the largest channel.
pub fn fits(flat: &Flat, structs: &[Vec<Shape>], schedule: &Schedule) -> Result<(), Diagnostic> {
    let held = |(channel, items): (ChannelId, &Option<u64>)| {
        let items = items.unwrap_or(0);
        flat.shape(channel).cells(structs, MAX_HELD).map_or(u64::MAX, |cells| cells.saturating_mul(items))
    };
    let each: Vec<u64> = flat.graph.channel_ids().zip(&schedule.buffers).map(held).collect();
    if each.iter().try_fold(0u64, |sum, held| sum.checked_add(*held)).is_some_and(|sum| sum <= MAX_HELD) {
        return Ok(());
    }
    let most = (0..each.len()).max_by_key(|channel| each[*channel]).unwrap_or(0);
    let (channel, items) = (&flat.channels()[most], schedule.buffers[most].unwrap_or(0));
    let (from, to) = (flat.node(channel.from().0), flat.node(channel.to().0));
    let message = format!(
        "the channel from `{}` to `{}` must hold {items} items, but all channels together may hold only {MAX_HELD} \
         numbers",
        from.name(),
        to.name()
    );
    let error = node_error(flat, channel.from().0, message).label(format!("`{}`", from.name()));
    let (first, second) = (flat.span(channel.from().0), flat.span(channel.to().0));
    let error = if first != second { error.other(second, format!("`{}`", to.name())) } else { error };
    Err(error.hint("choose smaller rates and windows, or rates and weights with larger common factors"))
}
