//! The storage of a channel.

use super::cursor::RingId;
use super::meter::{Layout, Meter};
use crate::sync::UnsafeCell;
use std::alloc::Layout as Memory;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// The bytes an item stands for.
pub(crate) type Weigh<T> = Arc<dyn Fn(&T) -> usize + Send + Sync>;

/// Slots and, where items are weighed, the running total of bytes after each. Raw pointers, so
/// that reading where the slots are makes no reference to what another side is writing.
struct Storage<T> {
    slots: *mut [MaybeUninit<T>],
    /// Entry `i & mask` = bytes of items `0..=i`; null where items are not weighed.
    totals: *mut usize,
    /// What it has outgrown, if the consumer may still point there; its items are gone.
    before: Option<Box<Storage<T>>>,
}

/// A cache line, and the next one, which is fetched with it.
const LINES: usize = 128;

impl<T> Storage<T> {
    fn new(size: usize, weighed: bool) -> Storage<T> {
        let layout = Self::layout(size);
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { std::alloc::alloc(layout) };
        if memory.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        // SAFETY: within the allocation.
        let slots = unsafe { memory.add(Self::offset()) };
        let totals = match weighed {
            true => Box::into_raw(vec![0usize; size].into_boxed_slice()).cast(),
            false => std::ptr::null_mut(),
        };
        Storage { slots: std::ptr::slice_from_raw_parts_mut(slots.cast(), size), totals, before: None }
    }

    /// Where the slots lie in their memory. Items without a size lie *inside* an allocation of their
    /// own, so that no other value of the type, which may lie at the end of another allocation, has
    /// the address of a slot: `Tx::send_with` tells by the address that a slot was written.
    fn offset() -> usize {
        if size_of::<T>() == 0 { align_of::<T>() } else { 0 }
    }

    /// Slots of more than a few lines begin on a line of their own: two slices side by side, one
    /// being written and one being read, then share none where their sizes are whole lines.
    fn layout(size: usize) -> Memory {
        if size_of::<T>() == 0 {
            return Memory::from_size_align(2 * Self::offset(), Self::offset()).expect("a small layout");
        }
        let layout = Memory::array::<T>(size).expect("a ring that fits the address space");
        let align = if layout.size() >= 4 * LINES { LINES } else { 1 };
        layout.align_to(align).expect("a power of two").pad_to_align()
    }
}

impl<T> Drop for Storage<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.slots.len());
        // SAFETY: allocated in `new` with this layout, and freed only here.
        unsafe { std::alloc::dealloc(self.slots.cast::<u8>().sub(Self::offset()), layout) };
        if !self.totals.is_null() {
            let totals = std::ptr::slice_from_raw_parts_mut(self.totals, self.slots.len());
            // SAFETY: it came from `Box::into_raw` in `new`, as long as the slots, and is freed only here.
            drop(unsafe { Box::from_raw(totals) });
        }
    }
}

/// How many items a ring may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// At first.
    pub(crate) capacity: usize,
    /// Its slots, at least: the capacity can be raised to this while both ends are active.
    pub(crate) slots: usize,
}

impl Sizes {
    /// Slots for the capacity only.
    pub(crate) fn fixed(capacity: usize) -> Sizes {
        Sizes { capacity, slots: capacity }
    }
}

/// A ring of a power of two slots behind a [`Meter`].
pub(crate) struct Ring<T> {
    pub(crate) meter: Arc<Meter>,
    /// What processes at its ends remember.
    pub(crate) known: Known<T>,
    storage: UnsafeCell<Storage<T>>,
    weigh: Option<Weigh<T>>,
}

/// What processes at the ends of a channel remember: here, so that an end is but a pointer. Each
/// field is one side's.
#[derive(Debug)]
pub(crate) struct Known<T> {
    /// The channel, times two: see `process::ends`.
    pub(crate) operation: AtomicU32,
    /// The receiving process, and the sending one, as `process::owner` has them.
    pub(crate) receiver: AtomicU64,
    pub(crate) sender: AtomicU64,
    /// Whether the receiving process waits for a message, and the sending one for room.
    pub(crate) receiver_waits: Waits,
    pub(crate) sender_waits: Waits,
    /// The tail as the receiver last read it.
    pub(crate) seen: AtomicUsize,
    /// First slot that is not free, as the sender last saw.
    pub(crate) limit: AtomicUsize,
    /// The latest turn of the receiver that received here, and of the sender that sent.
    pub(crate) received: AtomicU64,
    pub(crate) sent: AtomicU64,
    /// Where the first message not taken lies while it is lent out (`Rx::recv_ref`): there it stays,
    /// though the ring should grow meanwhile, for the process may point to it across awaits. While it is
    /// being given back it is [`given_back`].
    pub(crate) lent: AtomicPtr<T>,
}

/// Where nothing lies: for a message that is being given back.
fn given_back<T>() -> *mut T {
    static MARK: u8 = 0;
    std::ptr::from_ref(&MARK).cast_mut().cast()
}

/// Whether a message lies there.
fn is_address<T>(lent: *mut T) -> bool {
    !lent.is_null() && lent != given_back()
}

const NO: u8 = 0;
const YES: u8 = 1;
const UNKNOWN: u8 = 2;

/// Whether a process at one end of a channel waits there, for who is at the other end: where one worker does
/// everything and both are processes. Elsewhere it is not known, as to know it would take a fence with
/// every message.
#[derive(Debug)]
pub(crate) struct Waits(AtomicU8);

impl Waits {
    /// It comes to wait.
    #[inline]
    pub(crate) fn begin(&self) {
        if self.0.load(Ordering::Relaxed) == NO {
            self.0.store(YES, Ordering::Relaxed);
        }
    }

    /// Whether it waits, if that is known. Who asks tells it, and is told no from then on.
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
            receiver_waits: Waits(AtomicU8::new(UNKNOWN)),
            sender_waits: Waits(AtomicU8::new(UNKNOWN)),
            seen: AtomicUsize::new(0),
            limit: AtomicUsize::new(0),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            lent: AtomicPtr::new(std::ptr::null_mut()),
        }
    }
}

// SAFETY: slots are handed between threads by the protocol of `channel`: each is accessed by one
// side at a time, ordered by head and tail. Items move between threads, hence `T: Send`.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above; shared access to the ring gives access to slots only under that protocol.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    /// A ring of these sizes, holding `initial`.
    pub(crate) fn new(
        sizes: Sizes,
        layout: Layout,
        initial: VecDeque<T>,
        weigh: Option<Weigh<T>>,
    ) -> Ring<T> {
        let capacity = sizes.capacity.max(initial.len()).max(1);
        let slots = capacity.max(sizes.slots);
        let size = slots.checked_next_power_of_two().expect("a capacity that was checked");
        let ring = Ring {
            meter: Arc::new(Meter::new(capacity, layout, weigh.is_some())),
            known: Known::new(),
            storage: UnsafeCell::new(Storage::new(size, weigh.is_some())),
            weigh,
        };
        let count = initial.len();
        let (slots, mask) = ring.slots();
        for (i, item) in initial.into_iter().enumerate() {
            // SAFETY: nobody else has the ring yet, and `i < count <= size`.
            unsafe { slots.add(i & mask).write(item) };
        }
        ring.publish(0, count);
        ring
    }

    /// The first slot and the index mask. Valid until the ring grows.
    #[inline]
    pub(crate) fn slots(&self) -> (*mut T, usize) {
        // SAFETY: the storage is replaced only while neither end is active (`Grow::grow`).
        let slots = self.storage.with_mut(|storage| unsafe { (*storage).slots });
        (slots.cast::<T>(), slots.len() - 1)
    }

    fn totals(&self) -> *mut usize {
        // SAFETY: as in `slots`.
        self.storage.with_mut(|storage| unsafe { (*storage).totals })
    }

    /// What weighs items, if they are weighed.
    pub(crate) fn weigher(&self) -> Option<Weigh<T>> {
        self.weigh.clone()
    }

    /// Whether items are weighed.
    pub(crate) fn weighed(&self) -> bool {
        self.weigh.is_some()
    }

    /// What weighs the items.
    pub(crate) fn weigh(&self) -> Option<Weigh<T>> {
        self.weigh.clone()
    }

    /// The weight of one item; 0 where items are not weighed.
    pub(crate) fn weight(&self, item: &T) -> usize {
        self.weigh.as_ref().map_or(0, |weigh| weigh(item))
    }

    /// Publishes items `[from, to)`, which the caller has written and counts as handed over: the
    /// ring owns them from the call on. Producing side only.
    ///
    /// Two calls of the user's code may panic here: what weighs an item, before anything is
    /// published (the ring then drops the items), and the drop of an item whose consumer has left,
    /// after. So the caller moves its own position past the items *before* this call.
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

    /// What tells this ring from all others.
    #[inline]
    pub(crate) fn id(&self) -> RingId {
        Arc::as_ptr(&self.meter)
    }

    /// Drops all there is: the consumer has left, so both ends are the producing side's.
    #[cold]
    fn purge(&self) {
        let (head, tail) = (self.meter.head(), self.meter.tail());
        self.meter.waste(tail - head);
        self.fetch_lent(head);
        // SAFETY: `gone` was stored after the consumer's last access, and read with `Acquire`.
        unsafe { self.drop_and_release(tail) };
    }

    /// Brings a message back to its slot whose guard was forgotten: it lies where it was lent out, which
    /// may be storage that the ring has outgrown, of which the slot has no copy. By whoever has both ends.
    fn fetch_lent(&self, head: usize) {
        let lent = self.known.lent.swap(std::ptr::null_mut(), Ordering::Acquire);
        if is_address(lent) {
            let (slots, mask) = self.slots();
            // SAFETY: both ends are the caller's, so nobody else accesses either place; outgrown storage
            // goes with the ring, and the message is in one place only.
            unsafe { std::ptr::copy(lent, slots.add(head & mask), 1) };
        }
    }

    /// Makes room where the consumer has left while the ring was full.
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
                // SAFETY: weighing has panicked, so the items are not published and are the ring's.
                unsafe { self.0.drop_items(self.1, self.2) };
            }
        }
        let unpublished = Unpublished(self, from, to);
        let (slots, mask) = self.slots();
        let totals = self.totals();
        let mut total = self.meter.bytes_published();
        for i in from..to {
            // SAFETY: slots of `[from, to)` are written and still the producing side's.
            let weight = self.weight(unsafe { &*slots.add(i & mask) });
            // The total of a whole run: an item that weighs all there is must not make it small.
            total = total.saturating_add(weight);
            // SAFETY: `totals` has as many entries as slots, owned like them.
            unsafe { totals.add(i & mask).write(total) };
        }
        std::mem::forget(unpublished);
        self.meter.set_bytes_published(total);
    }

    /// Gives back the slots below `head`, all of them read or dropped. Consuming side only.
    #[inline]
    pub(crate) fn release(&self, head: usize) {
        if self.weigh.is_some() && head > self.meter.head() {
            self.meter.set_bytes_released(self.bytes_below(head));
        }
        self.meter.release(head);
    }

    /// Bytes of all items below `head`, which was published and is above the first slot not released; 0
    /// where items are not weighed. Consuming side only.
    #[inline]
    pub(crate) fn bytes_below(&self, head: usize) -> usize {
        if self.weigh.is_none() {
            return 0;
        }
        let (totals, (_, mask)) = (self.totals(), self.slots());
        // SAFETY: entry `head - 1` was published and not yet released: the consuming side's.
        unsafe { totals.add((head - 1) & mask).read() }
    }

    /// Takes the first message, which was lent out and dropped where it lies: what weighs it came to with
    /// it is `bytes`. For the consuming side wherever that is: it may be that the ring grows meanwhile, so
    /// this must not look at where the slots are.
    #[inline]
    pub(crate) fn take_lent(&self, bytes: usize) {
        // Lent, to who asks whether both ends are the producer's now; no place to be kept, to who grows.
        self.known.lent.store(given_back(), Ordering::Release);
        if self.weigh.is_some() {
            self.meter.set_bytes_released(bytes);
        }
        self.meter.release(self.meter.head_here() + 1);
        self.known.lent.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Drops items from the head to `to` and releases their slots, also when a drop panics.
    ///
    /// # Safety
    /// As for `drop_items`, by the side that releases.
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

    /// Drops items `[from, to)` in their slots: all of them, and then panics if one did.
    ///
    /// # Safety
    /// The slots hold items, the caller owns them, and nobody reads them afterwards.
    pub(crate) unsafe fn drop_items(&self, from: usize, to: usize) {
        // SAFETY: by this function's contract.
        unsafe { drop_slots(self.slots(), from, to) };
    }
}

/// Drops items `[from, to)` in the slots of a ring, of which there are `mask + 1`: all of them, and
/// then panics if one did (unless the thread is unwinding already).
///
/// # Safety
/// The slots hold items, the caller owns them, and nothing reads them afterwards.
#[inline]
pub(super) unsafe fn drop_slots<T>((slots, mask): (*mut T, usize), from: usize, to: usize) {
    if !std::mem::needs_drop::<T>() {
        return;
    }
    let (mut next, mut panicked) = (from, None);
    while next < to {
        let dropping = catch_unwind(AssertUnwindSafe(|| {
            while next < to {
                next += 1;
                // SAFETY: by this function's contract; each once, also after a panic.
                unsafe { slots.add((next - 1) & mask).drop_in_place() };
            }
        }));
        panicked = panicked.or(dropping.err());
    }
    if let Some(panic) = panicked.filter(|_| !std::thread::panicking()) {
        resume_unwind(panic);
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        self.fetch_lent(self.meter.head());
        // SAFETY: the last owner; items in `[head, tail)` were published and not released.
        unsafe { self.drop_items(self.meter.head(), self.meter.tail()) };
    }
}

/// Growth of a channel, whatever its item type.
pub(crate) trait Grow: Send + Sync {
    /// Raises the capacity to `capacity` items; keeps the old storage as it is, with `keep`, for as
    /// long as the ring.
    ///
    /// # Safety
    /// No other thread accesses the slots, and none keeps slot pointers from before, but for that of a
    /// message that is lent out, with `keep`.
    unsafe fn grow(&self, capacity: usize, keep: bool);

    /// Both ends are processes, and one worker does everything. Before it does anything.
    fn know_waits(&self) {}

    /// Whether a message is lent out.
    fn is_lent(&self) -> bool;

    /// Ends the stream where its consumer stands. While neither end is active.
    fn cut(&self);
}

impl<T: Send> Grow for Ring<T> {
    fn is_lent(&self) -> bool {
        !self.known.lent.load(Ordering::Acquire).is_null()
    }

    fn cut(&self) {
        let lent = is_address(self.known.lent.load(Ordering::Acquire));
        let end = self.meter.head() + usize::from(lent);
        // So that a receiving process looks at the meter again.
        self.known.seen.store(end, Ordering::Relaxed);
        self.meter.cut(end);
    }

    unsafe fn grow(&self, capacity: usize, keep: bool) {
        let (old, old_mask) = self.slots();
        let size = capacity.checked_next_power_of_two().expect("growth within the budget");
        if size > old_mask + 1 {
            let mut new = Storage::<T>::new(size, self.weighed());
            let (slots, new_totals) = (new.slots.cast::<MaybeUninit<T>>(), new.totals);
            let old = old.cast::<MaybeUninit<T>>();
            let totals = self.totals();
            // What is lent stays where it is: the consumer may be pointing to it, and finds it there. It
            // may be given back meanwhile (`take_lent`). So the head comes first: a message that is not
            // below it and still lent is the one at it, and one that is lent no more is read by nobody.
            let (head, tail) = (self.meter.head(), self.meter.tail());
            let lent = is_address(self.known.lent.load(Ordering::Acquire));
            for i in head..tail {
                // SAFETY: exclusive access; items in `[head, tail)` move bit by bit to their new
                // slot and the old storage is freed without dropping them.
                unsafe {
                    if i > head || !lent {
                        slots.add(i & (size - 1)).write(old.add(i & old_mask).read());
                    }
                    if self.weighed() {
                        new_totals.add(i & (size - 1)).write(totals.add(i & old_mask).read());
                    }
                }
            }
            // SAFETY: exclusive access by this function's contract.
            self.storage.with_mut(|storage| unsafe {
                std::ptr::swap(storage, &mut new);
                (*storage).before = (keep && lent).then(|| Box::new(new));
            });
        }
        self.meter.raise_capacity(capacity);
    }

    fn know_waits(&self) {
        // One message may not be room enough for who waits until a channel is light.
        if self.weighed() {
            return;
        }
        self.known.receiver_waits.0.store(NO, Ordering::Relaxed);
        self.known.sender_waits.0.store(NO, Ordering::Relaxed);
    }
}
