//! The ring of a channel, through the ports: [`Give`] with [`Out`](crate::Out) on one side, the
//! counters of [`Take`] with [`In`] on the other.
//!
//! Slots are raw memory, which loom does not see, so each has a loom cell beside it that every
//! item of that slot touches: when it is made, just before it is written to the slot; when it is
//! taken; and when it is dropped. The cell also knows which item the slot holds, so overwriting,
//! losing or dropping twice fails. Where the slots are is read once, before the threads start, since
//! that counts as writing in loom's eyes; so the consumer opens its cursor and releases by itself, in
//! the words of `Take`.

use super::check;
use crate::channel::Lack;
use crate::channel::{In, Layout, Limits, Ring, Sizes};
use crate::port::{Give, Input, Take};
use crate::sync::UnsafeCell;
use loom::thread;
use std::collections::VecDeque;
use std::sync::Arc;
use thalweg_graph::ChannelId;

const CAPACITY: usize = 2;
const EMPTY: usize = usize::MAX;

/// What each slot holds, by item number.
struct Cells([UnsafeCell<usize>; CAPACITY]);

// SAFETY: loom fails an access that is not ordered after the one before it.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

impl Cells {
    fn new() -> Arc<Cells> {
        Arc::new(Cells([UnsafeCell::new(EMPTY), UnsafeCell::new(EMPTY)]))
    }

    fn swap(&self, slot: usize, from: usize, to: usize) {
        // SAFETY: loom has just checked that no other thread accesses the cell.
        let was = self.0[slot % CAPACITY].with_mut(|cell| unsafe { std::mem::replace(&mut *cell, to) });
        assert_eq!(was, from, "slot {slot} holds the wrong item");
    }
}

/// An item that owns its slot from its making to its drop.
struct Item {
    number: usize,
    cells: Arc<Cells>,
}

impl Item {
    fn new(number: usize, cells: &Arc<Cells>) -> Item {
        cells.swap(number, EMPTY, number);
        Item { number, cells: cells.clone() }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        self.cells.swap(self.number, self.number, EMPTY);
    }
}

fn ends(initial: usize, cells: &Arc<Cells>) -> (Give<Item>, Consumer, Arc<Ring<Item>>) {
    ends_of(Sizes::fixed(CAPACITY), initial, cells)
}

fn ends_of(sizes: Sizes, initial: usize, cells: &Arc<Cells>) -> (Give<Item>, Consumer, Arc<Ring<Item>>) {
    let initial: VecDeque<_> = (0..initial).map(|number| Item::new(number, cells)).collect();
    let ring = Arc::new(Ring::new(sizes, Layout::Apart, initial, None));
    let give = Give::new(ring.clone(), ChannelId(0), Some(1));
    let port = Take::new(ring.clone(), ChannelId(0), Limits { take: 1, see: 1 });
    let consumer =
        Consumer { cursor: In::new(ring.id()), slots: Slots(ring.slots()), port, ring: ring.clone() };
    (give, consumer, ring)
}

struct Slots((*mut Item, usize));

// SAFETY: used by the consumer only, under the ring's protocol.
unsafe impl Send for Slots {}

/// A consuming node, reduced to its port.
struct Consumer {
    // As in a node: the cursor drops its items before the port says what is the ring's to drop.
    cursor: In<'static, Item>,
    port: Take<Item>,
    slots: Slots,
    ring: Arc<Ring<Item>>,
}

impl Consumer {
    /// Pops the items that the channel holds, at most `limit`.
    fn take(&mut self, limit: usize) -> Result<Vec<usize>, Lack> {
        let side = self.port.side();
        let count = side.firings(limit)?;
        let start = side.next;
        side.next += count;
        // SAFETY: as in `Take::open`.
        unsafe { self.cursor.open(self.slots.0, start, start + count) };
        Take::<Item>::step(&mut self.cursor, (count, count));
        let numbers = (0..count).map(|_| self.cursor.pop().number).collect();
        Take::<Item>::finish(&mut self.cursor);
        self.ring.release(self.cursor.at());
        Ok(numbers)
    }
}

/// Pushes items `from..to` one by one, as a sequential node does, and ends.
fn produce(give: &mut Give<Item>, from: usize, to: usize, cells: &Arc<Cells>) {
    let mut cursor = give.sequential_cursor();
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

/// Four items through two slots, by one and by two: each arrives once, in order, and after the end
/// there is nothing.
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

/// The capacity is raised within the slots, by a third thread, while both ends are active: items still arrive once and
/// in order.
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

/// A full ring whose consumer pops one item or none and leaves: the producer finds room again,
/// items that are not read are dropped once, by the end that owns them then, and counted.
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

/// Both ends dropped in the middle, as after a failure: items taken, claimed, published and
/// written are dropped once each.
///
/// Mutations that fail: no `release` in the drop of `Take`.
#[test]
fn loom_ring_is_dropped_in_the_middle() {
    check(|| {
        let cells = Cells::new();
        let (mut give, mut consumer, ring) = ends(1, &cells);
        let producer = thread::spawn({
            let cells = cells.clone();
            move || {
                let mut cursor = give.sequential_cursor();
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
        // SAFETY: as in `Take::open`.
        unsafe { consumer.cursor.open(consumer.slots.0, 0, 1) };
        drop(consumer);
        producer.join().unwrap();
        drop(ring);
        (0..CAPACITY).for_each(|slot| cells.swap(slot, EMPTY, EMPTY));
    });
}
