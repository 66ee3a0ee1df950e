//! The storage of a channel: slots, weights and growth.
//!
//! The protocol of slots and counters is in [`super`], that of lent messages in [`super::lent`]. This file adds storage.
//!
//! # Storage
//!
//! `storage` is a plain cell. Both sides read where the slots are at each claim; [`Grow::grow`] alone replaces it.
//!
//! Invariant: `grow` runs while neither node has a claim or a running turn, so no side reads the cell meanwhile and no
//! slot pointer survives it. The one exception is the pointer of a lent message, which stays valid because the outgrown
//! storage is kept (`Storage::before`) while the message is lent.

use super::cursor::RingId;
use super::meter::{Layout, Meter};
use super::slots::Slots;
use crate::contain::{Contained, drop_quietly};
use crate::sync::{AtomicPtr, UnsafeCell};
use std::alloc::Layout as Memory;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// The user's function from an item to the bytes that it counts as.
pub(crate) type Weigh<T> = Arc<dyn Fn(&T) -> usize + Send + Sync>;

/// Slots and, where items are weighed, the running total of bytes after each.
///
/// Invariant: raw pointers, not boxes. One side reads the pointers while the other writes through them, and a reference
/// to a box would assert unique access to all slots.
struct Storage<T> {
    slots: *mut [MaybeUninit<T>],
    /// Entry `i & mask` = bytes of items `0..=i`; null where items are not weighed.
    totals: *mut usize,
    /// The outgrown storage, while a lent message may lie in it. Its other items have been moved out, so it is freed
    /// without dropping any.
    before: Option<Box<Storage<T>>>,
}

/// Two cache lines: the adjacent-line prefetcher fetches them as a pair.
const LINES: usize = 128;

impl<T> Storage<T> {
    /// Storage of `size` slots; `None` if the system has no memory for them.
    fn new(size: usize, weighed: bool) -> Option<Storage<T>> {
        let layout = Self::layout(size)?;
        let totals = if weighed { Some(Self::totals(size)?) } else { None };
        // SAFETY: the layout's size is not zero.
        let memory = NonNull::new(unsafe { std::alloc::alloc(layout) })?;
        // SAFETY: within the allocation.
        let slots = unsafe { memory.as_ptr().add(Self::offset()) };
        // From here on `drop` frees both.
        let slots = std::ptr::slice_from_raw_parts_mut(slots.cast(), size);
        let mut storage = Storage { slots, totals: std::ptr::null_mut(), before: None };
        if let Some(totals) = totals {
            // SAFETY: the layout's size is not zero, since a ring has at least one slot.
            storage.totals = NonNull::new(unsafe { std::alloc::alloc_zeroed(totals) })?.as_ptr().cast();
        }
        Some(storage)
    }

    /// Offset of the slots in their allocation.
    ///
    /// Invariant: a slot's address is the address of no other value of the type, because `Tx::send_with` checks by
    /// address that its function wrote the slot. Zero-sized values may share the end of any allocation, so their slots
    /// lie *inside* one of their own.
    fn offset() -> usize {
        if size_of::<T>() == 0 { align_of::<T>() } else { 0 }
    }

    /// Slots of more than a few lines begin on a line of their own. Two adjacent slices of whole lines, one being
    /// written and one being read, then share no line. `None` if the slots do not fit into the address space.
    fn layout(size: usize) -> Option<Memory> {
        if size_of::<T>() == 0 {
            return Memory::from_size_align(2 * Self::offset(), Self::offset()).ok();
        }
        let layout = Memory::array::<T>(size).ok()?;
        let align = if layout.size() >= 4 * LINES { LINES } else { 1 };
        Some(layout.align_to(align).ok()?.pad_to_align())
    }

    /// The memory of `size` totals; `None` if they do not fit into the address space.
    fn totals(size: usize) -> Option<Memory> {
        Memory::array::<usize>(size).ok()
    }
}

impl<T> Drop for Storage<T> {
    fn drop(&mut self) {
        let size = self.slots.len();
        if let Some(layout) = Self::layout(size) {
            // SAFETY: allocated in `new` with this layout, and freed only here.
            unsafe { std::alloc::dealloc(self.slots.cast::<u8>().sub(Self::offset()), layout) };
        }
        if let Some(layout) = Self::totals(size).filter(|_| !self.totals.is_null()) {
            // SAFETY: as above.
            unsafe { std::alloc::dealloc(self.totals.cast(), layout) };
        }
    }
}

/// The number of items that a ring can hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// The capacity at creation.
    pub(crate) capacity: usize,
    /// The least number of slots. The capacity can be raised to it without new storage, while both ends are active.
    pub(crate) slots: usize,
}

impl Sizes {
    /// No slots beyond the capacity.
    pub(crate) fn fixed(capacity: usize) -> Sizes {
        Sizes { capacity, slots: capacity }
    }
}

/// A ring of a power of two slots behind a [`Meter`].
pub(crate) struct Ring<T> {
    pub(crate) meter: Arc<Meter>,
    /// State of the processes at its ends.
    pub(crate) known: Known<T>,
    storage: UnsafeCell<Storage<T>>,
    weigh: Option<Weigh<T>>,
}

/// State of the processes at the two ends of a channel. It lies in the ring, so that an end is a single pointer.
///
/// Invariant: each field has one writer, named below, and is read by its own side unless noted. A process moves between
/// workers only through its claim, which orders these accesses, so they are `Relaxed`. The exception is `lent`.
#[derive(Debug)]
pub(crate) struct Known<T> {
    /// The channel's number times two, by which `process::ends` names operations. Written by both ends at creation, the
    /// same value.
    pub(crate) operation: AtomicU32,
    /// The [`Owner`](crate::net::Owner)s of the two ends. Written at creation.
    pub(crate) receiver: AtomicU64,
    pub(crate) sender: AtomicU64,
    /// Whether the receiving process waits for a message, and the sending one for room.
    pub(crate) receiver_waits: WaitFlag,
    pub(crate) sender_waits: WaitFlag,
    /// Receiver: the tail when it was last read; [`Grow::cut`] lowers it, while neither end is active.
    pub(crate) seen: AtomicUsize,
    /// Sender: the first slot that was not free when `head` was last read.
    pub(crate) limit: AtomicUsize,
    /// Receiver: the latest turn that received here. Sender: the latest that sent.
    pub(crate) received: AtomicU64,
    pub(crate) sent: AtomicU64,
    /// The address of the message at `head` while it is lent: [`super::lent`] has its states. The message stays there,
    /// even if the ring grows, because the process may hold a reference to it across awaits.
    pub(crate) lent: AtomicPtr<T>,
}

const NO: u8 = 0;
const YES: u8 = 1;
const UNKNOWN: u8 = 2;

/// Whether the process at one end of a channel waits there. The process at the other end reads it after an operation,
/// to know whether that operation makes the first one ready.
///
/// | state | meaning | entered by | left by |
/// |---|---|---|---|
/// | `UNKNOWN` | several workers run, or one end is not a process | creation | [`Grow::know_waits`], before the run |
/// | `NO` | the process does not wait here | `know_waits`; `take`, at the other end | `begin` |
/// | `YES` | the process waits here | `begin` | `take`, at the other end |
///
/// Invariant: outside `UNKNOWN` one worker runs both processes, so `Relaxed` suffices. With several workers a store here
/// and a load of the counter there would need a `SeqCst` fence with every message.
#[derive(Debug)]
pub(crate) struct WaitFlag(AtomicU8);

impl WaitFlag {
    /// The process begins to wait.
    #[inline]
    pub(crate) fn begin(&self) {
        if self.0.load(Ordering::Relaxed) == NO {
            self.0.store(YES, Ordering::Relaxed);
        }
    }

    /// Whether the process waits; `None` if that is unknown. The caller must make a waiting process ready: the state
    /// is `NO` from then on.
    #[inline]
    pub(crate) fn take(&self) -> Option<bool> {
        match self.0.load(Ordering::Relaxed) {
            NO => Some(false),
            YES => {
                self.0.store(NO, Ordering::Relaxed);
                Some(true)
            }
            _ => None,
        }
    }
}

impl<T> Known<T> {
    fn new() -> Known<T> {
        Known {
            operation: AtomicU32::new(0),
            receiver: AtomicU64::new(0),
            sender: AtomicU64::new(0),
            receiver_waits: WaitFlag(AtomicU8::new(UNKNOWN)),
            sender_waits: WaitFlag(AtomicU8::new(UNKNOWN)),
            seen: AtomicUsize::new(0),
            limit: AtomicUsize::new(0),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            lent: AtomicPtr::new(std::ptr::null_mut()),
        }
    }
}

// SAFETY: items move between threads, hence `T: Send`. Nothing else in a ring is tied to a thread: the storage is owned
// memory, and `weigh` is `Send + Sync`.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: shared access reaches slots only by the protocol of `channel`: each slot is accessed by one side at a time,
// and the `Release`/`Acquire` pairs of `head` and `tail` order the sides.
unsafe impl<T: Send> Sync for Ring<T> {}

/// The maximum number of slots of a ring, and of a capacity, whatever the size of an item. So sums of a counter and a
/// capacity, and small multiples of a capacity, do not exceed a `usize`.
const MOST_SLOTS: usize = 1 << (usize::BITS - 8);

/// The memory of a ring that the system did not give, in bytes. The largest number where the bytes exceed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoMemory(pub(crate) usize);

impl<T> Ring<T> {
    /// A ring of these sizes that holds the items of `initial`, which are dropped if there is no memory. A capacity above
    /// [`MOST_SLOTS`] is lowered to it.
    ///
    /// # Errors
    /// The system has no memory for the slots.
    pub(crate) fn new(
        sizes: Sizes,
        layout: Layout,
        initial: VecDeque<T>,
        weigh: Option<Weigh<T>>,
    ) -> Result<Ring<T>, NoMemory> {
        let capacity = sizes.capacity.max(initial.len()).clamp(1, MOST_SLOTS);
        let slots = capacity.max(sizes.slots);
        let bytes = size_of::<T>() + if weigh.is_some() { size_of::<usize>() } else { 0 };
        let storage = match bytes {
            0 => Storage::new(slots.min(MOST_SLOTS).next_power_of_two(), false),
            _ => slots.checked_next_power_of_two().and_then(|size| Storage::new(size, weigh.is_some())),
        };
        let Some(storage) = storage else {
            drop_quietly((initial.into_iter().map(Contained::new).collect::<Vec<_>>(), weigh));
            return Err(NoMemory(slots.saturating_mul(bytes)));
        };
        let ring = Ring {
            meter: Arc::new(Meter::new(capacity, layout.of::<T>(), weigh.is_some())),
            known: Known::new(),
            storage: UnsafeCell::new(storage),
            weigh,
        };
        let count = initial.len();
        let slots = ring.slots();
        for (i, item) in initial.into_iter().enumerate() {
            // SAFETY: the ring is not shared yet, and `i < count <= size`.
            unsafe { slots.write(i, item) };
        }
        ring.publish(0, count);
        Ok(ring)
    }

    /// Access to the slots. Valid until the ring grows, hence for the claim of the caller.
    #[inline]
    pub(crate) fn slots(&self) -> Slots<T> {
        // SAFETY: the caller holds a claim of one end, and `Grow::grow` replaces the storage only while neither end has
        // one. The read copies a pointer and makes no reference to slots.
        let slots = self.storage.with_mut(|storage| unsafe { (*storage).slots });
        Slots::ring(slots.cast::<T>(), slots.len())
    }

    /// The totals, one entry for each slot. Items are weighed.
    fn totals(&self) -> Slots<usize> {
        // SAFETY: as in `slots`.
        let (totals, size) =
            self.storage.with_mut(|storage| unsafe { ((*storage).totals, (*storage).slots.len()) });
        Slots::ring(totals, size)
    }

    /// The function that weighs items, if they are weighed.
    pub(crate) fn weigher(&self) -> Option<Weigh<T>> {
        self.weigh.clone()
    }

    /// Whether items are weighed.
    pub(crate) fn weighed(&self) -> bool {
        self.weigh.is_some()
    }

    /// The weight of one item; 0 where items are not weighed.
    pub(crate) fn weight(&self, item: &T) -> usize {
        self.weigh.as_ref().map_or(0, |weigh| weigh(item))
    }

    /// Publishes items `[from, to)`, which the caller has written. The ring owns them from the call on, also if the call
    /// panics. Producing side only.
    ///
    /// Invariant: the caller has moved its own position past the items *before* this call. Two calls of user code may
    /// panic here: the weighing of an item, before anything is published (the ring then drops the items), and the drop
    /// of an item whose consumer has left, after. An unwinding caller that still counted them as its own would drop
    /// them twice.
    #[inline]
    pub(crate) fn publish(&self, from: usize, to: usize) {
        if self.weigh.is_some() {
            self.add_weights(from, to);
        }
        self.meter.publish(to);
        if self.meter.gone() {
            self.purge();
        }
    }

    /// The ring's identity among the live rings of the process.
    #[inline]
    pub(crate) fn id(&self) -> RingId {
        Arc::as_ptr(&self.meter)
    }

    /// Drops all items of the ring. Producing side only, after `gone` was read as true: both ends belong to it then.
    #[cold]
    fn purge(&self) {
        let (head, tail) = (self.meter.head(), self.meter.tail());
        self.meter.waste(tail - head);
        self.fetch_lent(head);
        // SAFETY: the consumer stored `gone` (`Release`) after its last access; the caller's `Acquire` load pairs with it.
        // So `[head, tail)` are items that no other thread accesses.
        unsafe { self.drop_and_release(tail) };
    }

    /// Drops what the ring holds if the consumer has left, to make room. Producing side only.
    pub(crate) fn purge_if_gone(&self) {
        if self.meter.gone() && self.meter.items() > 0 {
            self.purge();
        }
    }

    #[cold]
    fn add_weights(&self, from: usize, to: usize) {
        struct Unpublished<'a, T>(&'a Ring<T>, usize, usize);
        impl<T> Drop for Unpublished<'_, T> {
            fn drop(&mut self) {
                // SAFETY: weighing has panicked, so the items are initialised and not published, and by the contract of
                // `publish` the caller does not drop them.
                unsafe { self.0.drop_items(self.1, self.2) };
            }
        }
        let unpublished = Unpublished(self, from, to);
        let (slots, totals) = (self.slots(), self.totals());
        let mut total = self.meter.bytes_published();
        for i in from..to {
            // SAFETY: slots `[from, to)` are initialised and not published, hence the producing side's.
            let weight = self.weight(unsafe { slots.get(i) });
            // The total of a whole run may overflow with absurd weights; it must not become small then.
            total = total.saturating_add(weight);
            // SAFETY: `totals` has as many entries as slots, and entry `i` belongs to the side that slot `i` belongs to.
            unsafe { totals.write(i, total) };
        }
        std::mem::forget(unpublished);
        self.meter.set_bytes_published(total);
    }

    /// Releases the slots below `head`, whose items have all been moved out or dropped. Consuming side only.
    ///
    /// The bytes are released first: a producer that reads the new head has room by weight as well.
    #[inline]
    pub(crate) fn release(&self, head: usize) {
        if self.weigh.is_some() && head > self.meter.head() {
            self.meter.set_bytes_released(self.bytes_below(head));
        }
        self.meter.release(head);
    }

    /// Bytes of all items below `head`; 0 where items are not weighed. Item `head - 1` must be published and not
    /// released. Consuming side only.
    #[inline]
    pub(crate) fn bytes_below(&self, head: usize) -> usize {
        if self.weigh.is_none() {
            return 0;
        }
        // SAFETY: entry `head - 1` is published and not released, hence the consuming side's; `add_weights` wrote it before
        // `publish` stored the tail that the caller has read.
        unsafe { self.totals().read(head - 1) }
    }

    /// Drops items from the head to `to` and releases their slots, also when a drop panics.
    ///
    /// # Safety
    /// As for `drop_items`; the caller is the consuming side.
    pub(crate) unsafe fn drop_and_release(&self, to: usize) {
        struct Release<'a, T>(&'a Ring<T>, usize);
        impl<T> Drop for Release<'_, T> {
            fn drop(&mut self) {
                self.0.release(self.1);
            }
        }
        let release = Release(self, to);
        // SAFETY: by this function's contract.
        unsafe { self.drop_items(self.meter.head(), to) };
        drop(release);
    }

    /// Drops items `[from, to)` in their slots. If a drop panics, the rest are dropped before the panic continues.
    ///
    /// # Safety
    /// The slots hold items, the caller owns them, and no code reads them afterwards.
    pub(crate) unsafe fn drop_items(&self, from: usize, to: usize) {
        // SAFETY: by this function's contract.
        unsafe { self.slots().drop_items(from, to) };
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        self.fetch_lent(self.meter.head());
        // SAFETY: `&mut self` is the only access; items in `[head, tail)` are published and not released.
        unsafe { self.drop_items(self.meter.head(), self.meter.tail()) };
    }
}

/// A channel's ring behind an item type that the caller does not know.
pub(crate) trait Grow: Send + Sync {
    /// Raises the capacity to `capacity` items. With `keep` the outgrown storage lives on while a message is lent from it.
    /// False, without an effect, if the system has no memory for them.
    ///
    /// # Safety
    /// The caller excludes both ends: no other thread accesses the slots, and none uses a slot pointer from before.
    /// With `keep` the pointer of a lent message is excepted, and so is `release_lent` on another thread.
    unsafe fn grow(&self, capacity: usize, keep: bool) -> bool;

    /// Lets the two ends know whether the other one waits ([`WaitFlag`]). Both ends must be processes of a run with one
    /// worker, which has not begun.
    fn know_waits(&self) {}

    /// Whether a message is lent, or its slot is about to be released.
    fn is_lent(&self) -> bool;

    /// Ends the stream at the first item that its consumer has not received. The caller excludes both ends; a guard may
    /// release a lent message meanwhile.
    fn cut(&self);

    /// The number of items that the consumer has not received and can still receive. The caller excludes the consumer; a
    /// guard may release a lent message meanwhile, which was received.
    fn unreceived(&self) -> usize;
}

impl<T: Send> Grow for Ring<T> {
    fn is_lent(&self) -> bool {
        !self.known.lent.load(Ordering::Acquire).is_null()
    }

    fn cut(&self) {
        let end = self.received();
        // A receiving process reads the meter again once `head` has reached `seen`.
        self.known.seen.store(end, Ordering::Relaxed);
        self.meter.cut(end);
    }

    fn unreceived(&self) -> usize {
        let received = self.received();
        let meter = &self.meter;
        let end = if meter.ended() { meter.end_tail() } else { meter.tail() };
        end.saturating_sub(received)
    }

    unsafe fn grow(&self, capacity: usize, keep: bool) -> bool {
        let old = self.slots().uninit();
        let size = capacity.checked_next_power_of_two().filter(|size| *size <= MOST_SLOTS);
        let Some(size) = size else { return false };
        if size > old.size() {
            let Some(mut new) = Storage::<T>::new(size, self.weighed()) else { return false };
            let slots = Slots::ring(new.slots.cast::<MaybeUninit<T>>(), size);
            let totals = (self.totals(), Slots::ring(new.totals, size));
            // A lent message stays where it is, because its process may hold a reference to it; `release_lent` may run
            // meanwhile. `head` is loaded before `lent`, in the order that the argument of `super::lent` needs.
            let (head, tail) = (self.meter.head(), self.meter.tail());
            let lent = self.keeps_lent();
            debug_assert!(tail - head <= old.size());
            for i in head..head + old.size() {
                // SAFETY: by this function's contract the slots are the caller's. Items in `[head, tail)` move bit by
                // bit to their new slots, and the old storage is freed without dropping them, so each exists once. So do
                // items that an interrupted ticket has written into its reserved slots, behind the tail. `MaybeUninit`
                // covers free slots, and the slot of a message that `release_lent` has dropped meanwhile.
                unsafe {
                    if i > head || !lent {
                        slots.write(i, old.read(i));
                    }
                    if self.weighed() {
                        totals.1.write(i, totals.0.read(i));
                    }
                }
            }
            // SAFETY: by this function's contract no other thread reads the cell; `release_lent` does not either.
            self.storage.with_mut(|storage| unsafe {
                std::ptr::swap(storage, &mut new);
                (*storage).before = (keep && lent).then(|| Box::new(new));
            });
        }
        self.meter.raise_capacity(capacity);
        true
    }

    fn know_waits(&self) {
        // With weights, one message received need not make room for the next: a wake for each would be wrong.
        if self.weighed() {
            return;
        }
        self.known.receiver_waits.0.store(NO, Ordering::Relaxed);
        self.known.sender_waits.0.store(NO, Ordering::Relaxed);
    }
}
