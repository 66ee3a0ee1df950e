//! The ring of a channel (`channel`), through the ports: [`PushPort`] with [`Out`](crate::Out) on the producing side,
//! the counters of [`PopPort`] with [`In`] on the consuming side.
//!
//! Slots are raw memory, whose accesses loom does not observe. So each slot has a loom cell ([`Cells`]) that every item
//! of the slot accesses: when it is made, just before it is written to the slot, and when it is dropped. The cell has
//! the number of the item that the slot holds, so overwriting, losing or dropping an item twice fails.
//!
//! The consumer reads the slot pointer once, before the threads start, since loom counts the read as a write. Therefore
//! it opens its cursor and releases by itself, as `PopPort` does.

use super::check;
use crate::channel::Lack;
use crate::channel::{In, InputRates, Layout, MarkRef, Marks, Meter, Ring, Sizes, Slots};
use crate::port::{Input, InputCursor, PopPort, PushPort};
use crate::sync::UnsafeCell;
use loom::thread;
use std::collections::VecDeque;
use std::sync::Arc;
use thalweg_graph::ChannelId;

const CAPACITY: usize = 2;
const EMPTY: usize = usize::MAX;

/// By slot: the number of the item that it holds, or [`EMPTY`].
pub(super) struct Cells([UnsafeCell<usize>; CAPACITY]);

// SAFETY: `swap` is the only access, and loom fails the model before an access that is not ordered after the previous
// one.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

impl Cells {
    pub(super) fn new() -> Arc<Cells> {
        Arc::new(Cells([UnsafeCell::new(EMPTY), UnsafeCell::new(EMPTY)]))
    }

    /// Replaces the number of a slot. Fails if it was not `from`.
    fn swap(&self, slot: usize, from: usize, to: usize) {
        // SAFETY: `with_mut` has just checked that no other thread accesses the cell, and that all earlier accesses are
        // ordered before this one.
        let was = self.0[slot % CAPACITY].with_mut(|cell| unsafe { std::mem::replace(&mut *cell, to) });
        assert_eq!(was, from, "slot {slot} holds the wrong item");
    }
}

/// An item that owns its slot from its making to its drop.
pub(super) struct Item {
    number: usize,
    cells: Arc<Cells>,
}

impl Item {
    pub(super) fn new(number: usize, cells: &Arc<Cells>) -> Item {
        cells.swap(number, EMPTY, number);
        Item { number, cells: cells.clone() }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        self.cells.swap(self.number, self.number, EMPTY);
    }
}

/// The ends of a channel of `CAPACITY` slots that holds `initial` items.
pub(super) fn ends(initial: usize, cells: &Arc<Cells>) -> (PushPort<Item>, Consumer, Arc<Ring<Item>>) {
    ends_of(Sizes::fixed(CAPACITY), initial, cells)
}

/// The ends of a channel of these sizes that holds `initial` items.
fn ends_of(sizes: Sizes, initial: usize, cells: &Arc<Cells>) -> (PushPort<Item>, Consumer, Arc<Ring<Item>>) {
    let initial: VecDeque<_> = (0..initial).map(|number| Item::new(number, cells)).collect();
    let ring = Arc::new(Ring::new(sizes, Layout::Apart, initial, None).expect("memory for two slots"));
    let give = PushPort::new(ring.clone(), ChannelId(0), Some(1));
    let port = PopPort::new(ring.clone(), ChannelId(0), InputRates { pop: 1, peek: 1 });
    let consumer = Consumer { cursor: In::new(ring.id()), slots: ring.slots(), port, ring: ring.clone() };
    (give, consumer, ring)
}

/// A mark that no thread reads. It is leaked, so that it outlives its cursor.
fn a_mark() -> MarkRef {
    let marks = Box::leak(Box::new(Marks::new(1)));
    // SAFETY: the marks are never dropped.
    unsafe { marks.of(0) }
}

/// A consuming node, reduced to its port.
pub(super) struct Consumer {
    // Declared first, as in a node: the cursor drops its items before the drop of the port moves the head past their
    // slots.
    cursor: In<'static, Item>,
    port: PopPort<Item>,
    slots: Slots<Item>,
    ring: Arc<Ring<Item>>,
}

impl Consumer {
    /// Pops the items that the channel holds, at most `limit`. Returns their numbers.
    pub(super) fn take(&mut self, limit: usize) -> Result<Vec<usize>, Lack> {
        let side = self.port.side();
        let count = side.firings(limit)?;
        let start = side.next;
        side.next += count;
        // SAFETY: as in `PopPort::open`: `firings` has granted the items `[start, start + count)`, and `next` has moved
        // past them, so only this cursor has them.
        unsafe { self.cursor.open(self.slots, start, start + count) };
        self.cursor.begin((count, count));
        let numbers = (0..count).map(|_| self.cursor.pop().number).collect();
        self.cursor.end();
        self.ring.release(self.cursor.at());
        Ok(numbers)
    }
}

/// Pushes items `from..to` one by one, as a sequential node does, and ends.
fn produce(give: &mut PushPort<Item>, from: usize, to: usize, cells: &Arc<Cells>) {
    let mut cursor = give.sequential_cursor(a_mark());
    for number in from..to {
        while give.side().room(1).is_err() {
            give.purge_if_gone();
            thread::yield_now();
        }
        give.open_sequential(&mut cursor);
        assert!(cursor.step());
        cursor.push(Item::new(number, cells));
        give.publish_sequential(&mut cursor);
    }
    give.side().meter.end();
}

/// Four items pass through two slots, popped one or two at a time: each arrives once and in order, and nothing arrives
/// after the end.
///
/// Mutations that fail: `Relaxed` in place of `Acquire` or `Release` in `tail`, `publish`, `head`,
/// `release`, `ended` or `end`; the tail read before `ended` in `refresh`.
#[test]
fn loom_ring_wraps_and_ends() {
    for most in [1, 2] {
        check(move || {
            let cells = Cells::new();
            let (mut give, mut consumer, ring) = ends(0, &cells);
            let producer = thread::spawn({
                let cells = cells.clone();
                move || produce(&mut give, 0, 4, &cells)
            });
            let mut seen = Vec::new();
            loop {
                match consumer.take(most) {
                    Ok(items) => seen.extend(items),
                    Err(Lack::Ended { .. }) => break,
                    Err(_) => thread::yield_now(),
                }
            }
            assert_eq!(seen, [0, 1, 2, 3]);
            producer.join().unwrap();
            assert_eq!(ring.meter.unread(), 0);
        });
    }
}

/// A third thread raises the capacity, up to the number of slots, while both ends are active: items still arrive once
/// and in order.
///
/// Mutations that fail: a capacity raised beyond the slots.
#[test]
fn loom_ring_is_widened_while_both_ends_are_active() {
    check(|| {
        let cells = Cells::new();
        let (mut give, mut consumer, ring) = ends_of(Sizes { capacity: 1, slots: CAPACITY }, 0, &cells);
        let producer = thread::spawn({
            let cells = cells.clone();
            move || produce(&mut give, 0, 3, &cells)
        });
        let wider = thread::spawn(move || ring.meter.raise_capacity(CAPACITY));
        let mut seen = Vec::new();
        loop {
            match consumer.take(2) {
                Ok(items) => seen.extend(items),
                Err(Lack::Ended { .. }) => break,
                Err(_) => thread::yield_now(),
            }
        }
        assert_eq!(seen, [0, 1, 2]);
        producer.join().unwrap();
        wider.join().unwrap();
    });
}

/// The consumer of a full ring pops one item or none and leaves: the producer finds room again, and each item that is
/// not popped is dropped once, by the end that owns it, and counted.
///
/// Mutations that fail: `Relaxed` in `leave` or `gone`; `leave` before the last `release`; `purge`
/// without its `release`.
#[test]
fn loom_ring_is_purged_when_the_consumer_has_left() {
    for taken in [0, 1] {
        check(move || {
            let cells = Cells::new();
            let (mut give, mut consumer, ring) = ends(CAPACITY, &cells);
            let producer = thread::spawn({
                let cells = cells.clone();
                move || produce(&mut give, CAPACITY, CAPACITY + 2, &cells)
            });
            if taken > 0 {
                assert_eq!(consumer.take(taken), Ok(vec![0]));
            }
            consumer.port.side().meter.leave();
            drop(consumer);
            producer.join().unwrap();
            assert_eq!(ring.meter.unread() + taken, CAPACITY + 2);
            drop(ring);
            (0..CAPACITY).for_each(|slot| cells.swap(slot, EMPTY, EMPTY));
        });
    }
}

/// Both ends are dropped in the middle of an activation, as after a failure: items that are claimed, published, or
/// written and not published are dropped once each.
///
/// Mutations that fail: no `release` in the drop of `PopPort`.
#[test]
fn loom_ring_is_dropped_in_the_middle() {
    check(|| {
        let cells = Cells::new();
        let (mut give, mut consumer, ring) = ends(1, &cells);
        let producer = thread::spawn({
            let cells = cells.clone();
            move || {
                let mut cursor = give.sequential_cursor(a_mark());
                if give.side().room(1).is_ok() {
                    give.open_sequential(&mut cursor);
                    assert!(cursor.step());
                    cursor.push(Item::new(1, &cells));
                }
            }
        });
        let side = consumer.port.side();
        assert_eq!(side.firings(1), Ok(1));
        side.next = 1;
        // SAFETY: as in `PopPort::open`: `firings` has granted item 0, and `next` has moved past it.
        unsafe { consumer.cursor.open(consumer.slots, 0, 1) };
        drop(consumer);
        producer.join().unwrap();
        drop(ring);
        (0..CAPACITY).for_each(|slot| cells.swap(slot, EMPTY, EMPTY));
    });
}

/// A sending end is dropped on one thread while another cuts its stream: the stream ends where it was cut.
///
/// Mutation that fails: `end` that loads `ended` and then stores the tail.
#[test]
fn loom_a_stream_ends_where_it_was_cut() {
    check(|| {
        let meter = Arc::new(Meter::new(4, Layout::Apart, false));
        meter.publish(3);
        let dropping = thread::spawn({
            let meter = meter.clone();
            move || meter.end()
        });
        meter.cut(1);
        dropping.join().unwrap();
        assert!(meter.ended());
        assert_eq!(meter.end_tail(), 1);
    });
}
