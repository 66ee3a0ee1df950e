//! The budget of queues between regions, which no schedule bounds.

use crate::Compiled;
use crate::diagnostic::Diagnostic;
use crate::flat::{ChannelId, Flat};
use std::cell::Cell;

impl Compiled {
    /// The channels between regions. Their queues have no bound but the budget; all others are bounded by the schedule. A
    /// program without dynamic rates has none.
    pub fn between_regions(&self) -> impl Iterator<Item = ChannelId> {
        let region_of = self.schedule.region_of();
        self.flat.graph.channel_ids().filter(move |id| {
            let channel = self.flat.channel(*id);
            region_of[channel.from().0.index()] != region_of[channel.to().0.index()]
        })
    }

    /// The bytes that the budget counts for an item of a channel: 4 for each number in it and 1 for each bit or boolean, as
    /// in native code. The interpreter's own values take up to eight times as much.
    pub fn charge(&self, channel: ChannelId) -> u64 {
        self.flat.shape(channel).item_bytes(&self.tree.structs)
    }
}

/// The default limit of bytes in all queues between regions: a gigabyte.
pub const BUDGET: u64 = 1 << 30;

/// Memory accounting of queues.
pub(super) struct Room {
    most: u64,
    used: Cell<u64>,
    /// The largest value of `used` so far.
    peak: Cell<u64>,
    /// By channel: bytes of an item; 0 within regions, where the schedule bounds queues.
    bytes: Vec<u64>,
    /// By channel: items included in `used`.
    counted: Vec<Cell<u64>>,
}

impl Room {
    pub(super) fn new(compiled: &Compiled, most: u64) -> Room {
        let flat = &compiled.flat;
        let mut bytes = vec![0; flat.channels().len()];
        for id in compiled.between_regions() {
            bytes[id.index()] = compiled.charge(id);
        }
        let counted = flat.channels().iter().map(|_| Cell::new(0)).collect();
        Room { most, used: Cell::new(0), peak: Cell::new(0), bytes, counted }
    }

    /// Records the length of a queue; returns whether the budget holds.
    pub(super) fn holds(&self, channel: ChannelId, items: u64) -> bool {
        let bytes = self.bytes[channel.0 as usize];
        if bytes == 0 {
            return true;
        }
        let before = self.counted[channel.0 as usize].replace(items);
        let used = self.used.get() - before * bytes + items * bytes;
        self.used.set(used);
        self.peak.set(self.peak.get().max(used));
        used <= self.most || items <= before
    }

    /// Maximum number of bytes that all queues between regions have held at once.
    pub(super) fn peak(&self) -> u64 {
        self.peak.get()
    }

    /// The error for an exceeded budget, which names the largest queue.
    pub(super) fn diagnostic(&self, flat: &Flat) -> Diagnostic {
        let used = |channel: &usize| self.bytes[*channel] * self.counted[*channel].get();
        let channel = (0..self.bytes.len()).max_by_key(used).unwrap_or(0);
        over_budget(flat, ChannelId(channel as u32), self.counted[channel].get(), self.most)
    }
}

/// The error for a queue that must grow beyond the budget of all queues.
pub fn over_budget(flat: &Flat, channel: ChannelId, items: u64, most: u64) -> Diagnostic {
    let channel = flat.channel(channel);
    let (from, to) = (flat.node(channel.from().0), flat.node(channel.to().0));
    let why = format!(
        "the queue from `{}` to `{}` holds {items} items and must grow, but the budget of all queues is {most} bytes",
        from.name(),
        to.name()
    );
    let (first, second) = (flat.span(channel.from().0), flat.span(channel.to().0));
    let error = Diagnostic::new(first, why).label(format!("`{}`", from.name()));
    let error = if first != second { error.other(second, format!("`{}`", to.name())) } else { error };
    error.hint("check whether its consumer is blocked, or raise the limit (`--budget`)")
}
