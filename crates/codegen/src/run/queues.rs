//! The memory of queues, within a budget.

use crate::build::{Memory, Queue};
use crate::plan::BEYOND;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most items of a queue: firings count positions in 32 bits.
const MOST: u64 = 1 << 29;

/// The byte budget of all queues of a program, shared by the runs of its threads.
///
/// `used` is a counter that publishes no other data, so its accesses are relaxed. The check (`has`) and the
/// addition (`take`) are separate: threads that grow queues at the same time may both pass the check, and
/// then exceed the budget by the size of one growth each.
#[derive(Clone)]
pub(super) struct Budget {
    most: usize,
    used: Arc<AtomicUsize>,
}

impl Budget {
    pub(super) fn new(most: usize) -> Budget {
        Budget { most, used: Arc::default() }
    }

    /// Whether this many further bytes are within the budget.
    fn has(&self, more: usize) -> bool {
        self.used.load(Ordering::Relaxed).saturating_add(more) <= self.most
    }

    /// How many times the bytes in use are within a quarter of the budget. The rest is for queues that grow: they round up to
    /// powers of two, and exist twice while they move.
    pub(super) fn room_to_grow(&self) -> u64 {
        (self.most / 4 / self.used.load(Ordering::Relaxed).max(1)) as u64
    }

    fn take(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The memory of a program's queues, by channel.
pub(super) struct Queues {
    memories: Vec<Memory>,
    /// Bytes of an item.
    bytes: Vec<usize>,
    /// Whether they are ring buffers.
    rings: bool,
    budget: Budget,
    /// A queue that has exceeded the budget, or would have, and the number of its items.
    over: Option<(usize, u64)>,
}

/// A queue with its memory, on its way to another run.
pub(super) struct Held {
    memory: Memory,
    read: i64,
    written: i64,
    mask: i64,
}

impl Queues {
    pub(super) fn new(bytes: Vec<usize>, rings: bool, budget: Budget) -> Queues {
        let memories = bytes.iter().map(|_| Memory::default()).collect();
        Queues { memories, bytes, rings, budget, over: None }
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Charges the queues to a budget shared with other runs from now on.
    pub(super) fn share(&mut self, budget: Budget) {
        let own = self.memories.iter().map(|memory| memory.bytes().len()).sum();
        self.budget.give_back(own);
        budget.take(own);
        self.budget = budget;
    }

    /// The queue that has exceeded the budget, or would have, with the number of its items, and the budget.
    pub(super) fn over(&self) -> Option<(usize, u64, usize)> {
        self.over.map(|(channel, held)| (channel, held, self.budget.most))
    }

    /// Forgets that a queue has exceeded the budget.
    pub(super) fn forget_excess(&mut self) {
        self.over = None;
    }

    /// Like [`Queues::make_room`], within the budget; returns whether it was possible.
    pub(super) fn make_room_within(&mut self, channel: usize, queue: &mut Queue, more: u64) -> bool {
        let (room, held) = ((queue.mask + 1) as u64, (queue.written - queue.read) as u64);
        let grows = held + more > room || (queue.read as u64) < held;
        let bytes = (2 * (held + more)).next_power_of_two() as usize * self.bytes[channel];
        if grows && (!self.budget.has(bytes) || held + more > MOST) {
            self.over = Some((channel, held));
            return false;
        }
        self.make_room(channel, queue, more);
        true
    }

    /// Bytes of an item of a channel.
    pub(super) fn item_bytes(&self, channel: usize) -> usize {
        self.bytes[channel]
    }

    pub(super) fn memory_mut(&mut self, channel: usize) -> &mut Memory {
        &mut self.memories[channel]
    }

    fn place(&self, item: i64, queue: &Queue) -> usize {
        if self.rings { (item & queue.mask) as usize } else { item as usize }
    }

    /// Ensures room for further items. A queue that must grow at least doubles.
    pub(super) fn make_room(&mut self, channel: usize, queue: &mut Queue, more: u64) {
        let (room, held) = ((queue.mask + 1) as u64, (queue.written - queue.read) as u64);
        if self.rings {
            if held + more > room {
                self.widen(channel, queue, held + more);
            }
        } else if queue.written as u64 + more > room {
            if held + more <= room && queue.read as u64 >= held {
                let bytes = self.bytes[channel];
                let memory = self.memories[channel].bytes_mut();
                memory.copy_within(queue.read as usize * bytes..queue.written as usize * bytes, 0);
                (queue.read, queue.written) = (0, held as i64);
            } else {
                self.widen(channel, queue, 2 * (held + more));
            }
        }
    }

    /// Moves a queue to larger memory.
    pub(super) fn widen(&mut self, channel: usize, queue: &mut Queue, room: u64) {
        let room = room.next_power_of_two();
        let mut memory = Memory::new((room + BEYOND) as usize * self.bytes[channel]);
        self.copy_all(channel, queue, memory.bytes_mut());
        let pointer = memory.pointer();
        let bytes = memory.bytes().len();
        if !self.budget.has(bytes) {
            self.over = Some((channel, (queue.written - queue.read) as u64));
        }
        self.budget.take(bytes);
        self.budget.give_back(self.memories[channel].bytes().len());
        self.memories[channel] = memory;
        let held = queue.written - queue.read;
        *queue = Queue { items: pointer.cast(), read: 0, written: held, mask: room as i64 - 1 };
    }

    /// The items of a queue as bytes.
    pub(super) fn peek_all(&self, channel: usize, queue: &Queue) -> Vec<u8> {
        let mut items = vec![0; (queue.written - queue.read) as usize * self.bytes[channel]];
        self.copy_all(channel, queue, &mut items);
        items
    }

    fn copy_all(&self, channel: usize, queue: &Queue, into: &mut [u8]) {
        let (bytes, memory) = (self.bytes[channel], self.memories[channel].bytes());
        if !self.rings {
            let items = &memory[queue.read as usize * bytes..queue.written as usize * bytes];
            into[..items.len()].copy_from_slice(items);
            return;
        }
        for (at, item) in (queue.read..queue.written).enumerate() {
            into[at * bytes..][..bytes].copy_from_slice(&memory[self.place(item, queue) * bytes..][..bytes]);
        }
    }

    /// Appends items to a queue that has room for them.
    pub(super) fn put(&mut self, channel: usize, queue: &mut Queue, items: &[u8]) {
        let bytes = self.bytes[channel];
        let count = (items.len() / bytes) as i64;
        if self.rings {
            for (at, item) in items.chunks_exact(bytes).enumerate() {
                let place = self.place(queue.written + at as i64, queue);
                self.memories[channel].bytes_mut()[place * bytes..][..bytes].copy_from_slice(item);
            }
        } else {
            let memory = self.memories[channel].bytes_mut();
            memory[queue.written as usize * bytes..][..items.len()].copy_from_slice(items);
        }
        queue.written += count;
    }

    /// Removes a queue, leaving an empty one in its place.
    pub(super) fn take_out(&mut self, channel: usize, queue: &mut Queue) -> Held {
        let memory = std::mem::take(&mut self.memories[channel]);
        let held = Held { memory, read: queue.read, written: queue.written, mask: queue.mask };
        (queue.read, queue.written) = (0, 0);
        self.widen(channel, queue, 1);
        held
    }

    /// Installs a queue.
    pub(super) fn put_in(&mut self, channel: usize, queue: &mut Queue, held: Held) {
        let Held { mut memory, read, written, mask } = held;
        self.budget.give_back(self.memories[channel].bytes().len());
        *queue = Queue { items: memory.pointer().cast(), read, written, mask };
        self.memories[channel] = memory;
    }

    /// Moves all items out of a queue that is no ring buffer.
    pub(super) fn move_out(&mut self, channel: usize, queue: &mut Queue, into: &mut Vec<u8>) {
        let (bytes, memory) = (self.bytes[channel], self.memories[channel].bytes());
        into.extend_from_slice(&memory[queue.read as usize * bytes..queue.written as usize * bytes]);
        (queue.read, queue.written) = (0, 0);
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        self.budget.give_back(self.memories.iter().map(|memory| memory.bytes().len()).sum());
    }
}
