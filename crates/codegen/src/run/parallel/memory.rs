//! Buffers with positions before the first.

use super::reach::Front;
use crate::build::Memory;
use crate::plan::Port;
use crate::run::moves::{is_in_line, place};

/// The memory of a buffer.
pub(super) struct BatchMemory {
    memory: Memory,
    /// Bytes before position 0.
    before: usize,
    /// Bytes of an item.
    item: usize,
}

impl BatchMemory {
    /// Room for `size` items, and for `before` items before them.
    pub(super) fn new(before: u64, size: u64, item: usize) -> BatchMemory {
        let before = before as usize * item;
        BatchMemory { memory: Memory::new(before + size as usize * item), before, item }
    }

    /// Bytes of an item.
    pub(super) fn item(&self) -> usize {
        self.item
    }

    /// The address of a position. Callers pass the program no steady states that access memory outside.
    pub(super) fn pointer(&mut self, place: i64) -> *mut u8 {
        self.memory.pointer().wrapping_add(self.before).wrapping_offset(place as isize * self.item as isize)
    }

    fn at(&self, place: i64) -> usize {
        (self.before as i64 + place * self.item as i64) as usize
    }

    /// Items from a position on.
    pub(super) fn items(&self, place: i64, count: usize) -> &[u8] {
        &self.memory.bytes()[self.at(place)..][..count * self.item]
    }

    /// Like [`BatchMemory::items`], mutable.
    pub(super) fn items_mut(&mut self, place: i64, count: usize) -> &mut [u8] {
        let at = self.at(place);
        &mut self.memory.bytes_mut()[at..][..count * self.item]
    }

    /// Moves the items that are kept to the front.
    pub(super) fn move_on(&mut self, by: i64, keep: i64) {
        if by > 0 && keep > 0 {
            let (from, to) = (self.at(by), self.at(0));
            self.memory.bytes_mut().copy_within(from..from + keep as usize * self.item, to);
        }
    }

    /// Copies items to the positions of a port's firings.
    pub(super) fn scatter(&mut self, port: &Port, items: &[u8]) {
        let item = self.item.max(1);
        if is_in_line(port) {
            self.items_mut(port.items.base, items.len() / item).copy_from_slice(items);
            return;
        }
        for (firing, value) in items.chunks_exact(item).enumerate() {
            self.items_mut(place(port, firing) as i64, 1).copy_from_slice(value);
        }
    }

    /// Copies the items of a front, `further` positions on.
    pub(super) fn save(&self, front: &Front, further: i64, into: &mut Vec<u8>) {
        into.clear();
        for (first, count) in &front.runs {
            into.extend_from_slice(self.items(first + further, *count as usize));
        }
    }

    /// Copies saved items to the front of the next batch.
    pub(super) fn load(&mut self, front: &Front, mut saved: &[u8]) {
        for (first, count) in &front.runs {
            let (run, rest) = saved.split_at(*count as usize * self.item);
            self.items_mut(*first, *count as usize).copy_from_slice(run);
            saved = rest;
        }
    }
}
