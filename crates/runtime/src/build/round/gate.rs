//! The gate's state and its moves; the module above has the protocol.

use super::splits::{Front, Splits, Weights};
use super::{Fork, Place, Placed, Task, Verdict};
use crate::contain::{Contained, drop_each};
use std::collections::VecDeque;
use std::iter::from_fn;
use std::mem::take;

/// An item in the loop.
enum Item<R> {
    /// Its task is pending or under way.
    Task,
    /// It is split: an index of `Gate::splits`.
    Split(usize),
    /// All its parts are done, and the depth-first order held more than the limit.
    Exceeds,
    Done(R),
}

/// The items in the loop by their numbers, with the results that wait for those before them.
struct Reorder<R> {
    /// The number of the first item in `items`.
    first: u64,
    items: VecDeque<Item<R>>,
}

impl<R> Reorder<R> {
    /// The number of a new item.
    fn number(&mut self) -> u64 {
        self.items.push_back(Item::Task);
        self.first + self.items.len() as u64 - 1
    }

    fn item(&mut self, number: u64) -> &mut Item<R> {
        &mut self.items[(number - self.first) as usize]
    }

    /// The next result in order, if its item is done.
    fn pop(&mut self) -> Option<R> {
        if !matches!(self.items.front(), Some(Item::Done(_))) {
            return None;
        }
        self.first += 1;
        if let Some(Item::Done(result)) = self.items.pop_front() { Some(result) } else { None }
    }
}

pub(super) struct Gate<T, R> {
    in_flight: usize,
    order: Reorder<R>,
    /// Items that have not begun, by number.
    waiting: VecDeque<(u64, T)>,
    /// Next states of parts that came back while the gate held more than the limit.
    parked: Vec<Placed<Task<T, R>>>,
    splits: Splits<T, R>,
    /// The splits around the leftmost unfinished part, from the item inwards, each with what the depth-first order holds
    /// outside of it. Complete after [`Gate::leftmost`], until the next verdict.
    path: Vec<(usize, usize)>,
    /// Tasks pushed whose verdicts have not come back.
    under_way: usize,
    /// In bytes.
    limit: usize,
}

/// Drops the items, parts and results that the run has left, each also if another one's drop panics.
impl<T, R> Drop for Gate<T, R> {
    fn drop(&mut self) {
        let waiting = take(&mut self.waiting).into_iter().map(|(_, item)| Left::Task(Task::Step(item)));
        let parked = take(&mut self.parked).into_iter().map(|task| Left::Task(task.content));
        let done = take(&mut self.order.items).into_iter().filter_map(|item| match item {
            Item::Done(result) => Some(Left::Result(result)),
            _ => None,
        });
        drop_each(waiting.chain(parked).chain(self.splits.take()).chain(done));
    }
}

/// A value that the gate has when it is dropped.
pub(super) enum Left<T, R> {
    Task(Task<T, R>),
    Result(R),
}

impl<T, R> Gate<T, R> {
    pub(super) fn new(in_flight: usize, limit: usize, weights: Weights<T, R>) -> Self {
        Gate {
            in_flight,
            order: Reorder { first: 0, items: VecDeque::new() },
            waiting: VecDeque::new(),
            parked: Vec::new(),
            splits: Splits::new(weights),
            path: Vec::new(),
            under_way: 0,
            limit,
        }
    }

    /// Pending tasks, of which each split counts as one.
    fn pending(&self) -> usize {
        self.splits.pending() + self.parked.len() + self.waiting.len()
    }

    /// Items that the gate can pop. Counts the items in the loop, done or not, and the tasks under way or pending.
    pub(super) fn room(&self) -> usize {
        let tasks = self.under_way + self.pending();
        self.in_flight.saturating_sub(tasks.max(self.order.items.len()))
    }

    /// One firing: acts on verdicts and takes up items. Pushes tasks to `round`, and results to `out`.
    ///
    /// # Errors
    /// Those of [`Gate::leftmost`].
    pub(super) fn fire(
        &mut self,
        verdicts: impl Iterator<Item = Verdict<T, R>>,
        items: impl Iterator<Item = T>,
        round: &mut impl Extend<Placed<Task<T, R>>>,
        out: &mut impl Extend<R>,
    ) -> Result<(), String> {
        for verdict in verdicts {
            round.extend(self.take(verdict));
        }
        out.extend(from_fn(|| self.order.pop()));
        for item in items {
            round.extend(self.item(item));
        }
        round.extend(self.leftmost()?);
        round.extend(from_fn(|| self.next()));
        Ok(())
    }

    /// The gate holds more than the limit, so that only the leftmost unfinished part may begin.
    fn exceeds(&self) -> bool {
        self.splits.bytes > self.limit
    }

    /// Counts a task that the caller pushes.
    fn push(&mut self, task: Placed<Task<T, R>>) -> Option<Placed<Task<T, R>>> {
        debug_assert!(self.under_way < self.in_flight, "the feedback channel is full");
        self.under_way += 1;
        Some(task)
    }

    /// Numbers a new item. Returns its task, if that may go round now; otherwise the item waits.
    fn item(&mut self, item: T) -> Option<Placed<Task<T, R>>> {
        let number = self.order.number();
        if self.under_way == self.in_flight || self.pending() > 0 || self.exceeds() {
            self.waiting.push_back((number, item));
            return None;
        }
        self.push(Self::first_task(number, item))
    }

    fn first_task(number: u64, item: T) -> Placed<Task<T, R>> {
        Placed { place: Place::Item(number), weight: 0, content: Task::Step(item) }
    }

    /// Acts on a verdict. Returns the task that goes round at once because of it, if any.
    fn take(&mut self, verdict: Verdict<T, R>) -> Option<Placed<Task<T, R>>> {
        let Placed { place, weight, content } = verdict;
        self.under_way -= 1;
        self.splits.release(weight);
        match content {
            Fork::Done(result) => self.done(place, result),
            Fork::Again(state) => return self.again(place, state),
            Fork::Split(parts) => self.split(place, parts),
        }
        None
    }

    /// The next task of an item or part. It takes the place of the one that came back.
    fn again(&mut self, place: Place, state: T) -> Option<Placed<Task<T, R>>> {
        let state = Contained::new(state);
        let weight = match place {
            Place::Item(_) => 0,
            Place::Part { of, at } => self.splits.again(of, at, &state),
        };
        let task = Placed { place, weight, content: Task::Step(state.into_inner()) };
        if matches!(place, Place::Part { .. }) && self.exceeds() {
            // `leftmost` takes it back at once, if it is that part.
            self.parked.push(task);
            return None;
        }
        self.push(task)
    }

    fn split(&mut self, place: Place, parts: Vec<T>) {
        let of = self.splits.add(place, parts);
        if let Place::Item(number) = place {
            *self.order.item(number) = Item::Split(of);
        }
    }

    fn done(&mut self, place: Place, result: R) {
        match place {
            Place::Part { of, at } => self.splits.done(of, at, result),
            Place::Item(number) => {
                let item = self.order.item(number);
                if !matches!(item, Item::Exceeds) {
                    *item = Item::Done(result);
                }
            }
        }
    }

    /// Begins a part of a pending split, or its join.
    fn begin(&mut self, of: usize) -> Option<Placed<Task<T, R>>> {
        let (task, joined) = self.splits.begin(of);
        if let (Place::Item(number), Some(load)) = (task.place, joined) {
            *self.order.item(number) = if load.peak > self.limit { Item::Exceeds } else { Item::Task };
        }
        self.push(task)
    }

    /// The task of the leftmost unfinished part, if it is pending.
    ///
    /// # Errors
    /// The depth-first order up to there holds more than the limit.
    fn leftmost(&mut self) -> Result<Option<Placed<Task<T, R>>>, String> {
        match self.order.items.front() {
            Some(Item::Split(root)) if self.path.is_empty() => self.path.push((*root, 0)),
            Some(Item::Exceeds) => return Err(self.error()),
            Some(Item::Task) => {
                let number = self.order.first;
                let is_first = self.waiting.front().is_some_and(|(waits, _)| *waits == number);
                let first = if is_first { self.waiting.pop_front() } else { None };
                return Ok(first.and_then(|(number, item)| self.push(Self::first_task(number, item))));
            }
            _ => {}
        }
        while let Some(&(of, outside)) = self.path.last() {
            let (peak, front) = self.splits.front(of);
            self.check(outside, peak)?;
            match front {
                Front::Split { inner, others } => self.path.push((inner, outside.saturating_add(others))),
                Front::Task { place, peak } => {
                    self.check(outside, peak)?;
                    return Ok(self.unpark(place));
                }
                Front::Pending => {
                    let task = self.begin(of);
                    if let Some(Placed { content: Task::Join(_), .. }) = task {
                        self.path.pop();
                    }
                    return Ok(task);
                }
            }
        }
        Ok(None)
    }

    /// Compares with the limit what the depth-first order holds of a split and outside of it.
    fn check(&self, outside: usize, held: usize) -> Result<(), String> {
        if outside.saturating_add(held) > self.limit { Err(self.error()) } else { Ok(()) }
    }

    /// The same whatever the timing was.
    fn error(&self) -> String {
        format!(
            "the unfinished parts of item {} and their results, in depth-first order, take more than the {} bytes that \
             the byte budget leaves for them\nhelp: split into fewer parts at a time, or raise `Options::budget`",
            self.order.first, self.limit,
        )
    }

    /// The task at this place, if it is parked.
    fn unpark(&mut self, place: Place) -> Option<Placed<Task<T, R>>> {
        // From the end: the leftmost part has often come back just now.
        let at = self.parked.iter().rposition(|task| task.place == place)?;
        let task = self.parked.swap_remove(at);
        self.push(task)
    }

    /// The next pending task, if one may go round. Parked tasks first, so that there are at most `in_flight`, and new
    /// items last.
    fn next(&mut self) -> Option<Placed<Task<T, R>>> {
        if self.under_way == self.in_flight || self.exceeds() {
            return None;
        }
        if let Some(task) = self.parked.pop() {
            return self.push(task);
        }
        if let Some(of) = self.splits.newest() {
            return self.begin(of);
        }
        let (number, item) = self.waiting.pop_front()?;
        self.push(Self::first_task(number, item))
    }

    /// What the gate holds, in bytes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.splits.bytes
    }

    #[cfg(test)]
    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }
}
