//! Cursors over slots of their own, without an engine: small enough for Miri, which finds items that are moved or dropped twice.

use super::mark::Marks;
use super::{In, Out};
use crate::channel::slots::Slots;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An item that owns memory and counts its drop.
#[derive(Debug)]
struct Owned<'a> {
    number: Box<usize>,
    drops: &'a AtomicUsize,
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

fn owned(number: usize, drops: &AtomicUsize) -> Owned<'_> {
    Owned { number: Box::new(number), drops }
}

/// A ring of a power of two slots. It drops no items.
struct Ring<T>(Vec<MaybeUninit<T>>);

impl<T> Ring<T> {
    fn new(size: usize) -> Ring<T> {
        Ring((0..size).map(|_| MaybeUninit::uninit()).collect())
    }

    /// A ring whose slots from index `start` on have these items.
    fn with(size: usize, start: usize, items: impl Iterator<Item = T>) -> Ring<T> {
        let mut ring = Ring::new(size);
        for (at, item) in items.enumerate() {
            assert!(at < size);
            ring.0[(start + at) % size].write(item);
        }
        ring
    }

    fn slots(&mut self) -> Slots<T> {
        Slots::ring(self.0.as_mut_ptr().cast(), self.0.len())
    }
}

/// An output of which `room` slots from index `start` on are free.
///
/// # Safety
/// The marks outlive the cursor, and the slots are free and used by it alone.
unsafe fn output<T>(marks: &Marks, slots: Slots<T>, start: usize, room: usize) -> Out<'static, T> {
    // SAFETY: by this function's contract.
    unsafe {
        let mut out = Out::overflowing(null(), marks.of(0));
        out.open(slots, start, start + room);
        out
    }
}

/// An input in a firing that pops `pop` of the `count` items from index `start` on.
///
/// # Safety
/// The slots have these items, which are the cursor's from here on.
unsafe fn input<T>(slots: Slots<T>, start: usize, count: usize, pop: usize) -> In<'static, T> {
    let mut input = In::new(null());
    // SAFETY: by this function's contract.
    unsafe { input.open(slots, start, start + count) };
    input.step(pop);
    input
}

/// The weights of a test's inputs, and its rounds.
struct Case {
    weights: Vec<usize>,
    rounds: usize,
    /// The slots of the output, of which the first is at this index.
    size: usize,
    start: usize,
    /// Items of each input beyond those of the rounds.
    left: usize,
}

impl Case {
    fn count(&self) -> usize {
        self.rounds * self.weights.iter().sum::<usize>()
    }

    /// Pushes the rounds. Input `i` has the numbers from `100 * i` on, in a ring that wraps round among them.
    fn push(&self, drops: &AtomicUsize) -> Vec<usize> {
        let marks = Marks::new(1);
        let (mut ring, mut rings) = (Ring::new(self.size), Vec::new());
        for (i, weight) in self.weights.iter().enumerate() {
            let count = self.rounds * weight + self.left;
            rings.push(Ring::with(32, 29, (0..count).map(|at| owned(100 * i + at, drops))));
        }
        // SAFETY: the rings and the marks live longer than the cursors, which alone use them.
        let (mut out, mut inputs) = unsafe {
            let of = |(ring, weight): (&mut Ring<_>, &usize)| {
                let count = self.rounds * weight + self.left;
                input(ring.slots(), 29, count, count)
            };
            let inputs: Vec<_> = rings.iter_mut().zip(&self.weights).map(of).collect();
            (output(&marks, ring.slots(), self.start, self.count()), inputs)
        };
        out.push_rounds(&mut inputs, &self.weights, self.rounds);
        assert!(inputs.iter().all(|input| input.len() == self.left));
        inputs.iter_mut().for_each(In::finish);
        let (from, to) = out.hand_over();
        assert_eq!((from, to), (self.start, self.start + self.count()));
        // SAFETY: the cursor has handed these items over, and each is read once.
        (from..to).map(|at| *unsafe { ring.slots().read(at) }.number).collect()
    }

    /// The numbers in the order of the rounds.
    fn expected(&self) -> Vec<usize> {
        let turn = |round: usize, (i, weight): (usize, &usize)| {
            let weight = *weight;
            (0..weight).map(move |at| 100 * i + round * weight + at)
        };
        let round = |round| self.weights.iter().enumerate().flat_map(move |port| turn(round, port));
        (0..self.rounds).flat_map(round).collect()
    }
}

#[test]
fn rounds_move_each_item_once_and_in_order() {
    for weights in [vec![1], vec![1, 1], vec![1, 2, 3], vec![3, 1]] {
        for (rounds, left) in [(0, 2), (1, 0), (3, 0), (4, 1)] {
            // The output wraps round within a turn, between two, and not at all.
            for start in [0, 27, 28, 29, 30] {
                let case = Case { weights: weights.clone(), rounds, size: 32, start, left };
                let drops = AtomicUsize::new(0);
                assert_eq!(case.push(&drops), case.expected(), "{weights:?}, {rounds} rounds at {start}");
                let all = case.count() + case.weights.len() * left;
                assert_eq!(drops.into_inner(), all, "each item is dropped once");
            }
        }
    }
}

/// A call that panics has moved nothing: the cursors drop their items once each.
#[test]
fn rounds_without_items_or_slots_move_nothing() {
    // The items of the second input, the slots, and the weights.
    for (items, room, weights) in [(5, 9, vec![1, 2]), (6, 8, vec![1, 2]), (6, 9, vec![1])] {
        let (drops, marks) = (AtomicUsize::new(0), Marks::new(1));
        let [mut first, mut second] =
            [3, items].map(|count| Ring::with(8, 5, (0..count).map(|at| owned(at, &drops))));
        let mut ring = Ring::new(16);
        // SAFETY: the rings and the marks live longer than the cursors, which alone use them.
        let (mut out, mut inputs) = unsafe {
            let inputs = [input(first.slots(), 5, 3, 3), input(second.slots(), 5, items, items)];
            (output(&marks, ring.slots(), 12, room), inputs)
        };
        let push = || out.push_rounds(&mut inputs, &weights, 3);
        assert!(catch_unwind(AssertUnwindSafe(push)).is_err(), "{items} items, {room} slots, {weights:?}");
        assert_eq!((out.slots_left(), drops.load(Ordering::Relaxed)), (room, 0));
        drop((out, inputs));
        assert_eq!(drops.into_inner(), 3 + items);
    }
}

/// Rounds that were pushed and not published are the output's: a firing that panics afterwards drops them with it.
#[test]
fn rounds_of_a_firing_that_panics_are_dropped_once() {
    let (drops, marks) = (AtomicUsize::new(0), Marks::new(1));
    let counter = &drops;
    let seen = move || counter.load(Ordering::Relaxed);
    let (mut from, mut ring) = (Ring::with(4, 3, (0..3).map(|at| owned(at, &drops))), Ring::new(4));
    // SAFETY: the rings and the marks live longer than the cursors, which alone use them.
    let (mut out, input) = unsafe { (output(&marks, ring.slots(), 2, 4), input(from.slots(), 3, 3, 3)) };
    let fire = move || {
        let mut inputs = [input];
        out.push_rounds(&mut inputs, &[1], 2);
        assert_eq!((*inputs[0].peek(0).number, seen()), (2, 0));
        panic!("injected");
    };
    assert!(catch_unwind(AssertUnwindSafe(fire)).is_err());
    assert_eq!(seen(), 3);
}

#[test]
fn a_firings_items_are_popped_at_once() {
    for (count, pop, before) in [(0, 0, 0), (1, 1, 0), (8, 8, 0), (8, 5, 0), (8, 8, 3), (6, 4, 4)] {
        for start in [0, 3, 7] {
            let drops = AtomicUsize::new(0);
            let mut ring = Ring::with(8, start, (0..count).map(|at| owned(at, &drops)));
            // SAFETY: the ring lives longer than the cursor, which alone uses it.
            let mut input = unsafe { input(ring.slots(), start, count, pop) };
            (0..before).for_each(|_| drop(input.pop()));
            let all: Vec<usize> = input.pop_all().iter().map(|item| *item.number).collect();
            assert_eq!(all, (before..pop).collect::<Vec<_>>(), "{pop} of {count} at {start}");
            assert_eq!((drops.load(Ordering::Relaxed), input.len()), (pop, 0));
            drop(input);
            assert_eq!(
                drops.into_inner(),
                count,
                "those of later firings are the cursor's until it is dropped"
            );
        }
    }
}

#[test]
fn items_without_size_are_moved_too() {
    let marks = Marks::new(1);
    let (mut ring, mut from) = (Ring::<()>::new(8), Ring::with(8, 0, [(); 6].into_iter()));
    // SAFETY: the rings and the marks live longer than the cursors, which alone use them.
    let (mut out, mut inputs) =
        unsafe { (output(&marks, ring.slots(), 0, 8), [input(from.slots(), 0, 6, 6)]) };
    out.push_rounds(&mut inputs, &[2], 2);
    assert_eq!((out.hand_over(), inputs[0].pop_all().len()), ((0, 4), 2));
}
