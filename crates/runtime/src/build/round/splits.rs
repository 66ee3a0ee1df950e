//! The unfinished splits of a gate: their parts, the results of these, and what the depth-first order holds of them.

use super::gate::Left;
use super::{Place, Placed, Task};
use crate::channel::Weigh;
use crate::contain::{Contained, Each};
use std::collections::VecDeque;

/// The functions that weigh items and results, in bytes; without one, a value weighs its size in memory.
pub(super) struct Weights<T, R>(pub(super) Option<Weigh<T>>, pub(super) Option<Weigh<R>>);

impl<T, R> Weights<T, R> {
    pub(super) fn item(&self, item: &T) -> usize {
        self.0.as_ref().map_or(size_of::<T>(), |weigh| weigh(item))
    }

    fn parts(&self, parts: &[T]) -> usize {
        match &self.0 {
            Some(weigh) => parts.iter().fold(0, |sum, part| sum.saturating_add(weigh(part))),
            None => size_of_val(parts),
        }
    }

    pub(super) fn result(&self, result: &R) -> usize {
        self.1.as_ref().map_or(size_of::<R>(), |weigh| weigh(result))
    }

    /// The weight of the record of a split of `parts` parts, with the slots of their results.
    pub(super) fn record(parts: usize) -> usize {
        let fixed = size_of::<Split<T, R>>() + part_size::<R>();
        parts.saturating_mul(size_of::<R>()).saturating_add(fixed)
    }
}

/// What the depth-first order holds of a part, in bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Load {
    /// Before the part begins.
    before: usize,
    /// The maximum, from then to now. The order of events is that of the depth-first order, so it does not depend on
    /// the time at which the part began.
    pub(super) peak: usize,
}

impl Load {
    /// Counts a moment at which the order holds `bytes` of the part.
    fn hold(&mut self, bytes: usize) {
        self.peak = self.peak.max(bytes);
    }
}

/// A part that has begun.
enum Part<R> {
    /// Its task is under way or parked.
    Task(Load),
    /// It is split: an index of [`Splits`].
    Split(usize),
    /// It is done, before a part to the left of it. `weight` is that of the result.
    Done { result: R, weight: usize, load: Load },
}

/// The bytes of the record of a part that has begun.
pub(super) const fn part_size<R>() -> usize {
    size_of::<Part<R>>()
}

/// The bytes of `Split::begun` that a record keeps for the next split.
const KEPT: usize = 512;

/// An item or part that was split, until its join begins. Then the record is used for another split, since to make one
/// anew costs an allocation and a copy of 200 bytes. Until then it has no parts and no results.
struct Split<T, R> {
    /// The place of its own result.
    place: Place,
    /// What the depth-first order holds of it: before it was split, and at most until the first unfinished part begins.
    load: Load,
    /// What the depth-first order holds of it when the first unfinished part begins: the record, the results of the
    /// parts before that one, and the other parts.
    held: usize,
    /// The parts that have not begun.
    parts: std::vec::IntoIter<T>,
    /// The weight of `parts`.
    parts_weight: usize,
    /// The parts that have begun, from the first unfinished one.
    begun: VecDeque<Part<R>>,
    /// The results of the parts before these.
    results: Vec<R>,
    /// The weight of the record and of all results, also of those in `begun`.
    weight: usize,
    /// The neighbours in the list of pending splits.
    older: Option<usize>,
    newer: Option<usize>,
}

impl<T, R> Split<T, R> {
    /// Ends the split, whose parts are all done. Returns the results.
    fn end(&mut self) -> Vec<R> {
        if self.begun.capacity() * part_size::<R>() > KEPT {
            self.begun = VecDeque::new();
        }
        self.parts = Vec::new().into_iter(); // frees the buffer of a split into no parts
        std::mem::take(&mut self.results)
    }

    /// All parts are done.
    fn is_complete(&self) -> bool {
        self.begun.is_empty() && self.parts.len() == 0
    }

    /// The part of this number, which has begun and is not done.
    fn part(&mut self, at: usize) -> &mut Part<R> {
        let passed = self.results.len();
        &mut self.begun[at - passed]
    }

    /// Passes over the first unfinished part, which is done and was popped from `begun`.
    fn pass(&mut self, result: R, weight: usize, load: Load) {
        let others = self.held.saturating_sub(load.before);
        self.load.hold(others.saturating_add(load.peak));
        self.held = others.saturating_add(weight);
        self.results.push(result);
    }

    /// Puts a result in its place, and passes over parts that are done.
    fn done(&mut self, at: usize, result: R, weight: usize) {
        self.weight = self.weight.saturating_add(weight);
        let first = at == self.results.len();
        let part = self.part(at);
        let Part::Task(mut load) = *part else { unreachable!("the part has come back just now") };
        load.hold(weight);
        if !first {
            *part = Part::Done { result, weight, load };
            return;
        }
        self.begun.pop_front();
        self.pass(result, weight, load);
        while let Some(Part::Done { .. }) = self.begun.front()
            && let Some(Part::Done { result, weight, load }) = self.begun.pop_front()
        {
            self.pass(result, weight, load);
        }
    }

    /// The parts that have not begun and the results, one by one.
    fn left(self) -> impl Iterator<Item = Left<T, R>> {
        let begun = self.begun.into_iter().filter_map(|part| match part {
            Part::Done { result, .. } => Some(result),
            Part::Task(_) | Part::Split(_) => None,
        });
        let parts = self.parts.map(|part| Left::Task(Task::Step(part)));
        parts.chain(self.results.into_iter().chain(begun).map(Left::Result))
    }

    /// The bytes of `begun` that the depth-first order does not hold.
    fn ahead(&self) -> usize {
        self.begun.len().saturating_sub(1) * part_size::<R>()
    }
}

/// The place at which the depth-first order stands in a split.
pub(super) enum Front {
    /// A part that has not begun, or the join.
    Pending,
    /// A part whose task is under way or parked.
    Task { place: Place, peak: usize },
    /// A part that is split. `others` is what the order holds of the outer split without this part.
    Split { inner: usize, others: usize },
}

/// All splits whose joins have not begun. A split is *pending* while one of its parts, or its join, can begin. Pending
/// splits are a list, newest first.
///
/// `bytes` is the sum of the weights of the tasks, parts, results and records that the gate keeps.
pub(super) struct Splits<T, R> {
    splits: Vec<Split<T, R>>,
    /// Indices of `splits` whose joins have begun.
    unused: Vec<usize>,
    newest: Option<usize>,
    pending: usize,
    weights: Weights<T, R>,
    pub(super) bytes: usize,
}

impl<T, R> Splits<T, R> {
    pub(super) fn new(weights: Weights<T, R>) -> Self {
        Splits { splits: Vec::new(), unused: Vec::new(), newest: None, pending: 0, weights, bytes: 0 }
    }

    /// The number of pending splits.
    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    /// The pending split that was added or made pending last.
    pub(super) fn newest(&self) -> Option<usize> {
        self.newest
    }

    /// A split whose join has not begun.
    fn split(&mut self, of: usize) -> &mut Split<T, R> {
        &mut self.splits[of]
    }

    fn keep(&mut self, weight: usize) {
        self.bytes = self.bytes.saturating_add(weight);
    }

    pub(super) fn release(&mut self, weight: usize) {
        self.bytes = self.bytes.saturating_sub(weight);
    }

    /// Adds a split, of an item if `place` has no outer split. Returns its index.
    pub(super) fn add(&mut self, place: Place, parts: Vec<T>) -> usize {
        let weight = Weights::<T, R>::record(parts.len());
        let of = self.unused.pop().unwrap_or(self.splits.len());
        let mut load = Load::default();
        if let Place::Part { of: outer, at } = place {
            let part = self.split(outer).part(at);
            let Part::Task(before) = std::mem::replace(part, Part::Split(of)) else {
                unreachable!("the part has come back just now")
            };
            load = before;
        }
        // No memory for the results yet: the gate checks the limit first.
        let parts = parts.into_iter();
        match self.splits.get_mut(of) {
            Some(split) => {
                (split.place, split.load, split.parts, split.weight) = (place, load, parts, weight)
            }
            None => {
                let (begun, results, older, newer) = (VecDeque::new(), Vec::new(), None, None);
                let (held, parts_weight) = (0, 0);
                let split =
                    Split { place, load, held, parts, parts_weight, begun, results, weight, older, newer };
                self.splits.push(split);
            }
        }
        self.weigh(of);
        self.link(of);
        of
    }

    /// Weighs a new split. It is in `splits` already: if a user's function panics, the gate's drop drops each part.
    fn weigh(&mut self, of: usize) {
        let split = &mut self.splits[of];
        split.parts_weight = self.weights.parts(split.parts.as_slice());
        split.held = split.weight.saturating_add(split.parts_weight);
        split.load.hold(split.held);
        let held = split.held;
        self.keep(held);
    }

    /// Takes all parts and results out, for the gate's drop.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Left<T, R>> + use<T, R> {
        std::mem::take(&mut self.splits).into_iter().flat_map(Split::left)
    }

    /// Adds a split to the list of pending ones.
    fn link(&mut self, of: usize) {
        let older = self.newest.replace(of);
        self.split(of).older = older;
        if let Some(older) = older {
            self.split(older).newer = Some(of);
        }
        self.pending += 1;
    }

    /// Removes a split from the list of pending ones.
    fn unlink(&mut self, of: usize) {
        let split = self.split(of);
        let (older, newer) = (split.older.take(), split.newer.take());
        match newer {
            Some(newer) => self.split(newer).older = older,
            None => self.newest = older,
        }
        if let Some(older) = older {
            self.split(older).newer = newer;
        }
        self.pending -= 1;
    }

    /// Begins the next part of a pending split, or its join. With a join returns what the depth-first order has held of
    /// the split, which exists no more.
    pub(super) fn begin(&mut self, of: usize) -> (Placed<Task<T, R>>, Option<Load>) {
        if self.split(of).is_complete() {
            let (join, load) = self.join(of);
            return (join, Some(load));
        }
        (self.begin_part(of), None)
    }

    fn begin_part(&mut self, of: usize) -> Placed<Task<T, R>> {
        let split = &mut self.splits[of];
        let at = split.results.len() + split.begun.len();
        if at == 0 {
            split.results.reserve_exact(split.parts.len());
        }
        // A user's function may return another weight than before. The parts of a split weigh as much as they did then.
        // It may panic, so the part is still among the others.
        let weight = match split.parts.as_slice() {
            [part, _, ..] => self.weights.item(part).min(split.parts_weight),
            _ => split.parts_weight,
        };
        let part = split.parts.next().expect("a pending split that is not complete has a part");
        let last = split.parts.len() == 0;
        split.parts_weight -= weight;
        let before = split.ahead();
        split.begun.push_back(Part::Task(Load { before: weight, peak: weight }));
        let grown = split.ahead() - before;
        if last {
            split.parts = Vec::new().into_iter();
            self.unlink(of);
        }
        self.keep(grown);
        Placed { place: Place::Part { of, at }, weight, content: Task::Step(part) }
    }

    fn join(&mut self, of: usize) -> (Placed<Task<T, R>>, Load) {
        self.unlink(of);
        let split = self.split(of);
        let (place, load, weight, results) = (split.place, split.load, split.weight, split.end());
        self.unused.push(of);
        if let Place::Part { of, at } = place {
            *self.split(of).part(at) = Part::Task(load);
        }
        (Placed { place, weight, content: Task::Join(Each::new(results)) }, load)
    }

    /// Keeps the next state of a part. Returns its weight.
    pub(super) fn again(&mut self, of: usize, at: usize, state: &T) -> usize {
        let weight = self.weights.item(state);
        self.keep(weight);
        if let Part::Task(load) = self.split(of).part(at) {
            load.hold(weight);
        }
        weight
    }

    /// Keeps the result of a part.
    pub(super) fn done(&mut self, of: usize, at: usize, result: R) {
        let result = Contained::new(result);
        let weight = self.weights.result(&result);
        let result = result.into_inner();
        self.keep(weight);
        let split = self.split(of);
        let before = split.ahead();
        split.done(at, result, weight);
        let shrunk = before - split.ahead();
        let complete = split.is_complete();
        self.release(shrunk);
        if complete {
            self.link(of);
        }
    }

    /// What the depth-first order has held of a split at most, and the place at which it stands there.
    pub(super) fn front(&self, of: usize) -> (usize, Front) {
        let split = &self.splits[of];
        let others = |load: &Load| split.held.saturating_sub(load.before);
        let front = match split.begun.front() {
            None => Front::Pending,
            Some(Part::Task(load)) => Front::Task {
                place: Place::Part { of, at: split.results.len() },
                peak: others(load).saturating_add(load.peak),
            },
            Some(Part::Split(inner)) => {
                let load = &self.splits[*inner].load;
                Front::Split { inner: *inner, others: others(load) }
            }
            Some(Part::Done { .. }) => unreachable!("`done` leaves none at the front"),
        };
        (split.load.peak, front)
    }
}
