//! The memory of queues.

use crate::build::{Memory, Queue};
use crate::plan::BEYOND;

/// The memory of a program's queues, by channel.
pub(super) struct Queues {
    memories: Vec<Memory>,
    /// Bytes of an item.
    bytes: Vec<usize>,
    /// Whether they are rings.
    rings: bool,
}

impl Queues {
    pub(super) fn new(bytes: Vec<usize>, rings: bool) -> Queues {
        Queues { memories: bytes.iter().map(|_| Memory::default()).collect(), bytes, rings }
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

    /// Room for so many items besides those that are there: at least twice as much where it has to grow.
    pub(super) fn make_room(&mut self, channel: usize, queue: &mut Queue, more: u64) {
        let (room, held) = (queue.mask as u64 + 1, (queue.written - queue.read) as u64);
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

    /// A larger memory for a queue.
    pub(super) fn widen(&mut self, channel: usize, queue: &mut Queue, room: u64) {
        let room = room.next_power_of_two();
        let items = self.peek_all(channel, queue);
        let mut memory = Memory::new((room + BEYOND) as usize * self.bytes[channel]);
        memory.bytes_mut()[..items.len()].copy_from_slice(&items);
        let pointer = memory.pointer();
        self.memories[channel] = memory;
        let held = queue.written - queue.read;
        *queue = Queue { items: pointer.cast(), read: 0, written: held, mask: room as i64 - 1 };
    }

    /// The items of a queue as bytes.
    pub(super) fn peek_all(&self, channel: usize, queue: &Queue) -> Vec<u8> {
        let (bytes, memory) = (self.bytes[channel], self.memories[channel].bytes());
        if !self.rings {
            return memory[queue.read as usize * bytes..queue.written as usize * bytes].to_vec();
        }
        let mut items = Vec::new();
        for item in queue.read..queue.written {
            items.extend_from_slice(&memory[self.place(item, queue) * bytes..][..bytes]);
        }
        items
    }

    /// Puts items into a queue that has room for them.
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
}
