//! The memory of queues, within a budget.
//!
//! **The budget** counts the items that the queues between regions hold, and those in packets between threads: each item
//! once, as the interpreter does (`lang/src/interpret/room.rs`). Queues inside a region are bounded by its schedule and not
//! counted. The memory of a queue is up to twice what it holds at most, plus a copy while it moves to larger memory.
//!
//! **Exactness.** Generated code asks for room ([`Queues::more`]) where `mask` says that a queue has none. A request counts
//! the items of all queues, takes back the room that other queues have not used, and grants no more than the limit leaves.
//! So no queue passes the limit without a request, but for the room that a queue had before nodes of static rates, which
//! request none, have filled others: at most what one firing has popped, in the interpreter's order.
//!
//! **Rules** ([`Rule`]) for a request beyond a limit:
//!
//! | rule | where | limit | beyond it |
//! |---|---|---|---|
//! | `Refuse` | one steady state of the sources at a time, in the interpreter's order | the budget | the run fails |
//! | `Stop` | longer batches | half of the budget | the filter stops after its firing, and the filters behind it continue first |
//! | `Leave` | batches on several threads | half of the budget | likewise, and the driver takes over all regions |
//! | `Exceed` | a copy of a region, whose packets have been dealt out | half of the budget | the copy counts after each firing, and the driver takes over |
//!
//! Beyond half of the budget, what firings hold comes on top of half of the budget: the items of one firing on each thread.

use crate::Native;
use crate::build::{Memory, Queue, Room};
use crate::plan::BEYOND;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use thalweg_lang::flat::ChannelId;

/// The maximum number of items of a queue: firings count positions in 32 bits.
const MOST: u64 = 1 << 29;

/// The items that a request is granted at least, if the limit is far.
const FEW: u64 = 64;

/// What happens where queues reach their limit; see the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    Refuse,
    Stop,
    Leave,
    Exceed,
}

impl Rule {
    /// Whether a filter ends after its firing at the limit, with input left.
    pub(super) fn yields(self) -> bool {
        matches!(self, Rule::Stop | Rule::Leave)
    }
}

/// The byte budget of all queues of a program, shared by the runs of its threads.
///
/// The counters publish no other data, so their accesses are relaxed. A check and the addition after it are separate:
/// threads that grow queues at the same time may both pass the check, and then exceed the limit by one request each.
#[derive(Clone)]
pub(super) struct Budget {
    most: usize,
    /// Bytes of the memory of queues.
    memory: Arc<AtomicUsize>,
    /// Bytes of the items that are counted.
    held: Arc<AtomicUsize>,
    /// Whether a filter of several threads has come to the limit.
    full: Arc<AtomicBool>,
}

impl Budget {
    pub(super) fn new(most: usize) -> Budget {
        Budget { most, memory: Arc::default(), held: Arc::default(), full: Arc::default() }
    }

    fn limit(&self, rule: Rule) -> usize {
        if rule == Rule::Refuse { self.most } else { self.most / 2 }
    }

    /// How many times the memory of queues is within a quarter of the budget.
    pub(super) fn room_to_grow(&self) -> u64 {
        (self.under_way() / self.memory.load(Ordering::Relaxed).max(1)) as u64
    }

    /// The bytes that packets between threads may hold: a quarter of the budget. With as much for queues, that is the limit
    /// of half.
    pub(super) fn under_way(&self) -> usize {
        self.most / 4
    }

    /// Bytes that the rule's limit leaves.
    fn left(&self, rule: Rule) -> usize {
        self.limit(rule).saturating_sub(self.held.load(Ordering::Relaxed))
    }

    /// Counts items that leave a queue for a packet.
    pub(super) fn hold(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts items no longer.
    pub(super) fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether a filter of several threads has come to the limit.
    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    pub(super) fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::Relaxed);
    }
}

/// The memory of a program's queues, by channel.
pub(super) struct Queues {
    memories: Vec<Memory>,
    /// Bytes of an item.
    bytes: Vec<usize>,
    /// By channel: the bytes that the budget counts for an item ([`charge`](thalweg_lang::Compiled::charge)).
    charges: Vec<usize>,
    /// By channel: whether the budget counts its queue, since it is between regions; and those channels.
    is_counted: Vec<bool>,
    counted: Vec<usize>,
    /// Whether they are ring buffers.
    rings: bool,
    budget: Budget,
    rule: Rule,
    /// Bytes of items that these queues have added to the budget's count.
    held: usize,
    /// The same before the call under way.
    counted_before: usize,
    /// Whether a filter has stopped at the limit since this was asked.
    stopped: bool,
    /// The largest queue when the budget was exceeded, and the number of its items.
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
    /// The queues of a program, with items of these sizes.
    pub(super) fn new(native: &Native, bytes: Vec<usize>) -> Queues {
        let (compiled, budget) = (&native.compiled, Budget::new(native.budget));
        let counted: Vec<usize> = compiled.between_regions().map(ChannelId::index).collect();
        let (mut is_counted, mut charges) = (vec![false; bytes.len()], vec![0; bytes.len()]);
        for channel in compiled.between_regions() {
            is_counted[channel.index()] = true;
            charges[channel.index()] = usize::try_from(compiled.charge(channel)).unwrap_or(usize::MAX);
        }
        let memories = bytes.iter().map(|_| Memory::default()).collect();
        Queues {
            memories,
            bytes,
            charges,
            is_counted,
            counted,
            rings: native.rings(),
            budget,
            rule: Rule::Refuse,
            held: 0,
            counted_before: 0,
            stopped: false,
            over: None,
        }
    }

    /// The number of channels.
    pub(super) fn channels(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(super) fn rule(&self) -> Rule {
        self.rule
    }

    pub(super) fn set_rule(&mut self, rule: Rule) {
        self.rule = rule;
    }

    /// Whether a filter has stopped at the limit since [`Queues::take_stopped`] was called.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether a filter has stopped at the limit since the last call.
    pub(super) fn take_stopped(&mut self) -> bool {
        std::mem::take(&mut self.stopped)
    }

    /// Charges the queues to a budget shared with other runs from now on.
    pub(super) fn share(&mut self, budget: Budget) {
        let own = self.memory();
        self.budget.memory.fetch_sub(own, Ordering::Relaxed);
        budget.memory.fetch_add(own, Ordering::Relaxed);
        self.budget.release(self.held);
        budget.hold(self.held);
        self.budget = budget;
    }

    fn memory(&self) -> usize {
        self.memories.iter().map(|memory| memory.bytes().len()).sum()
    }

    /// The queue that has exceeded the budget, or would have, with the number of its items, and the budget.
    pub(super) fn over(&self) -> Option<(usize, u64, usize)> {
        self.over.map(|(channel, held)| (channel, held, self.budget.most))
    }

    /// Forgets that a queue has exceeded the budget.
    pub(super) fn forget_excess(&mut self) {
        self.over = None;
    }

    /// Counts the items of all queues; fails where the rule is to refuse and they exceed the budget.
    pub(super) fn count(&mut self, queues: &[Queue]) {
        let total = self.recount(queues);
        self.counted_before = self.held;
        if self.rule == Rule::Refuse && total > self.budget.most {
            self.exceed(queues);
        }
    }

    /// Counts the items of all queues; returns the bytes that the budget counts, those of other threads included.
    fn recount(&mut self, queues: &[Queue]) -> usize {
        // `take_back` lowers the `mask` of queues for which room was reserved before a call; their memory remains.
        debug_assert!(
            self.rings || self.counted.iter().all(|at| queues[*at].written as u64 <= self.capacity(*at)),
            "items behind the memory of a queue"
        );
        let own = self.counted.iter().map(|at| self.bytes_of(*at, &queues[*at])).sum::<usize>();
        // In one step, so that no other thread sees an item twice.
        match own.checked_sub(self.held) {
            Some(more) => self.budget.hold(more),
            None => self.budget.release(self.held - own),
        }
        self.held = own;
        self.budget.held.load(Ordering::Relaxed)
    }

    /// Leaves it to the caller to count these bytes, which queues have held when they were last counted.
    pub(super) fn hand_over(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// Counts bytes from now on that the caller has counted, whose items are in queues.
    pub(super) fn take_over(&mut self, bytes: usize) {
        self.held += bytes;
    }

    fn bytes_of(&self, channel: usize, queue: &Queue) -> usize {
        (queue.written - queue.read) as usize * self.charges[channel]
    }

    /// The bytes that the budget counts for items of a channel that take these bytes.
    pub(super) fn charge_of(&self, channel: usize, bytes: usize) -> usize {
        bytes / self.bytes[channel].max(1) * self.charges[channel]
    }

    /// Records that the budget is exceeded, and by which queue: the largest.
    fn exceed(&mut self, queues: &[Queue]) {
        let largest = self.counted.iter().max_by_key(|at| self.bytes_of(**at, &queues[**at]));
        self.over = largest.map(|at| (*at, (queues[*at].written - queues[*at].read) as u64));
    }

    /// Makes room for further items in the queue of a channel, at the request of generated code.
    pub(super) fn more(&mut self, channel: usize, queues: &mut [Queue], items: u64) -> Room {
        let held = (queues[channel].written - queues[channel].read) as u64;
        if held + items > MOST {
            self.over = Some((channel, held));
            return Room::Refused;
        }
        if !self.is_counted[channel] {
            self.make_room(channel, &mut queues[channel], items);
            return Room::Granted;
        }
        let (total, need) = (self.recount(queues), items as usize * self.charges[channel]);
        let is_over = total.saturating_add(need) > self.budget.limit(self.rule)
            || self.rule == Rule::Leave && self.budget.is_full();
        // Several items may be more than the firing pushes, so they are counted when it ends.
        let refuse = is_over && (items == 1 || total > self.budget.most) && self.refuses();
        if refuse {
            self.exceed(queues);
            return Room::Refused;
        }
        self.take_back(queues);
        let left = self.budget.left(self.rule) / self.charges[channel].max(1);
        let twice = held.max(FEW);
        let most = if is_over && self.rule != Rule::Refuse { twice } else { twice.min(left as u64) };
        self.provide(channel, &mut queues[channel], items, most.max(items));
        if !is_over {
            return Room::Granted;
        }
        self.stopped = true;
        if matches!(self.rule, Rule::Leave | Rule::Exceed) {
            self.budget.set_full(true);
        }
        Room::Last
    }

    /// Whether a request beyond the limit fails. Where filters stop after a firing, one that pushes more than the budget by
    /// itself fails: calls that began below the limit have pushed as much as that before it.
    fn refuses(&self) -> bool {
        let beyond = self.budget.most.saturating_add(self.budget.limit(self.rule));
        self.rule == Rule::Refuse || self.held.saturating_sub(self.counted_before) > beyond
    }

    /// Takes back the room that counted queues have and do not use. Their next item needs a request.
    pub(super) fn take_back(&self, queues: &mut [Queue]) {
        for at in &self.counted {
            queues[*at].mask = queues[*at].written - 1;
        }
    }

    /// How often as many bytes fit behind the limit of a rule; at least once.
    pub(super) fn fitting(&mut self, queues: &[Queue], bytes: usize) -> u64 {
        self.recount(queues);
        (self.budget.left(self.rule) / bytes.max(1)).max(1) as u64
    }

    /// Whether the budget counts a queue.
    pub(super) fn is_counted(&self, channel: usize) -> bool {
        self.is_counted[channel]
    }

    /// Records that a region has stopped at the limit.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
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

    /// The items that the memory of a queue has room for.
    fn capacity(&self, channel: usize) -> u64 {
        match self.bytes[channel] {
            0 => MOST,
            bytes => (self.memories[channel].bytes().len() / bytes).saturating_sub(BEYOND as usize) as u64,
        }
    }

    /// Ensures room for further items.
    pub(super) fn make_room(&mut self, channel: usize, queue: &mut Queue, more: u64) {
        let held = (queue.written - queue.read) as u64;
        if self.rings {
            if held + more > (queue.mask + 1) as u64 {
                self.widen(channel, queue, held + more);
            }
        } else if (queue.written as u64) + more > (queue.mask + 1) as u64 {
            self.provide(channel, queue, more, held + more);
        }
    }

    /// Ensures room for `least` further items of a queue that is no ring buffer, and lets generated code use that of `most`.
    /// A queue that moves gets memory for `most`, so it doubles unless a limit is near.
    fn provide(&mut self, channel: usize, queue: &mut Queue, least: u64, most: u64) {
        let held = (queue.written - queue.read) as u64;
        if queue.written as u64 + least > self.capacity(channel) {
            if held + least <= self.capacity(channel) && queue.read as u64 >= held {
                let bytes = self.bytes[channel];
                let memory = self.memories[channel].bytes_mut();
                memory.copy_within(queue.read as usize * bytes..queue.written as usize * bytes, 0);
                (queue.read, queue.written) = (0, held as i64);
            } else {
                self.widen(channel, queue, held + most);
            }
        }
        let asked = if self.is_counted[channel] { queue.written as u64 + most } else { MOST };
        queue.mask = asked.min(self.capacity(channel)) as i64 - 1;
    }

    /// Moves a queue to larger memory.
    pub(super) fn widen(&mut self, channel: usize, queue: &mut Queue, room: u64) {
        let room = if self.rings { room.next_power_of_two() } else { room };
        let mut memory = Memory::new((room + BEYOND) as usize * self.bytes[channel]);
        self.copy_all(channel, queue, memory.bytes_mut());
        let pointer = memory.pointer();
        self.replace(channel, memory);
        let held = queue.written - queue.read;
        *queue = Queue { items: pointer.cast(), read: 0, written: held, mask: room as i64 - 1 };
    }

    fn replace(&mut self, channel: usize, memory: Memory) {
        let (new, old) = (memory.bytes().len(), self.memories[channel].bytes().len());
        self.budget.memory.fetch_add(new, Ordering::Relaxed);
        self.budget.memory.fetch_sub(old, Ordering::Relaxed);
        self.memories[channel] = memory;
    }

    /// Gives back the memory of counted queues that hold nothing.
    pub(super) fn shrink(&mut self, queues: &mut [Queue]) {
        for at in self.counted.clone() {
            if queues[at].written == queues[at].read {
                (queues[at].read, queues[at].written) = (0, 0);
                self.widen(at, &mut queues[at], 1);
            }
        }
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
        let own = self.memories[channel].bytes().len();
        self.budget.memory.fetch_sub(own, Ordering::Relaxed);
        *queue = Queue { items: memory.pointer().cast(), read, written, mask };
        self.memories[channel] = memory;
    }

    /// Moves all items out of a queue that is no ring buffer.
    pub(super) fn move_out(&mut self, channel: usize, queue: &mut Queue, into: &mut Vec<u8>) {
        let (bytes, memory) = (self.bytes[channel], self.memories[channel].bytes());
        into.extend_from_slice(&memory[queue.read as usize * bytes..queue.written as usize * bytes]);
        (queue.read, queue.written) = (0, 0);
        if self.is_counted[channel] {
            // The budget still counts the items, so their room is not free.
            queue.mask = -1;
        }
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        self.budget.memory.fetch_sub(self.memory(), Ordering::Relaxed);
        self.budget.release(self.held);
    }
}
