//! The loop that each item goes round until it is done, in which it may split into parts.
//!
//! ```text
//!   items ──▶ gate ──task──▶ step (parallel)
//!              │ ▲             │
//!   results ◀──┘ └───verdict───┘   feedback
//! ```
//!
//! The gate takes a verdict whenever one has arrived, and a new item only while it has room. At most
//! `in_flight` tasks are under way; the feedback channel holds that many, so it is never full and the loop
//! cannot block itself. What an item splits into waits in the gate, on a stack: the parts of the last split
//! go first, so that of a tree of parts about one path for each task under way is unfolded at a time. Parts and
//! their results are weighed, and count against the budget until they are joined.
//!
//! Which input the gate takes from first depends on timing, and so does the order of the verdicts where the step is set
//! to be unordered. What comes out does not depend on it: tasks keep no state, each verdict says where its result
//! belongs, the results of parts are joined in the order of the parts, and results leave in the order of the items. (The
//! step is ordered by default: an unordered one cannot reserve room, which cost 2 % with items of 200 ns.)

use super::spec::{input, output};
use super::stream::Stream;
use crate::channel::{Glance, Weigh};
use crate::network::RingCell;
use crate::node::AnyFrame;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// What became of an item in one round of [`Stream::par_fork_join`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fork<T, R> {
    /// Its result.
    Done(R),
    /// It goes round again.
    Again(T),
    /// It is split into parts, any number of them, whose results are to be joined.
    Split(Vec<T>),
}

/// What a result is for.
#[derive(Clone, Copy)]
enum Place {
    /// For the item of this number.
    Item(u64),
    /// For part `at` of the split `of`.
    Part { of: usize, at: usize },
}

enum Task<T, R> {
    Step(T),
    Join(Vec<R>),
}

/// A task or a verdict, the place of its result, and its weight in bytes. The gate weighs a part once, since a user's
/// function may weigh it differently the next time.
struct Placed<X> {
    place: Place,
    weight: usize,
    content: X,
}

type Verdict<T, R> = Placed<Fork<T, R>>;

/// Results that wait for those before them.
struct Reorder<R> {
    first: u64,
    next: u64,
    waiting: VecDeque<Option<R>>,
}

impl<R> Reorder<R> {
    fn number(&mut self) -> u64 {
        self.waiting.push_back(None);
        self.next += 1;
        self.next - 1
    }

    fn put(&mut self, number: u64, result: R) {
        self.waiting[(number - self.first) as usize] = Some(result);
    }

    fn pop(&mut self) -> Option<R> {
        let result = self.waiting.front_mut()?.take()?;
        self.waiting.pop_front();
        self.first += 1;
        Some(result)
    }
}

/// An item whose parts are not all done.
struct Split<R> {
    place: Place,
    results: Vec<Option<R>>,
    missing: usize,
    /// Bytes of its results and their slots.
    weight: usize,
}

/// What waits to go round.
enum Pending<T, R> {
    Task(Placed<Task<T, R>>),
    /// The parts of a split that have not begun, and their weight together.
    Parts {
        of: usize,
        parts: std::vec::IntoIter<T>,
        weight: usize,
    },
}

/// What weighs items and results.
struct Weights<T, R>(Option<Weigh<T>>, Option<Weigh<R>>);

impl<T, R> Weights<T, R> {
    fn item(&self, item: &T) -> usize {
        self.0.as_ref().map_or(size_of::<T>(), |weigh| weigh(item))
    }

    fn parts(&self, parts: &[T]) -> usize {
        match &self.0 {
            Some(weigh) => parts.iter().fold(0, |sum, part| sum.saturating_add(weigh(part))),
            None => size_of_val(parts),
        }
    }

    fn result(&self, result: &R) -> usize {
        self.1.as_ref().map_or(size_of::<R>(), |weigh| weigh(result))
    }

    /// What a split of that many parts takes before one of them is done.
    fn split(parts: usize) -> usize {
        let fixed = size_of::<Option<Split<R>>>() + size_of::<Pending<T, R>>();
        parts.saturating_mul(size_of::<Option<R>>()).saturating_add(fixed)
    }
}

/// The gate's state. `bytes` is the sum of all weights that are kept: of parts, of their results, and of splits. Items
/// that were not split are not more than `in_flight`, and weigh nothing here.
struct Gate<T, R> {
    in_flight: usize,
    order: Reorder<R>,
    splits: Vec<Option<Split<R>>>,
    unused: Vec<usize>,
    /// A stack.
    pending: Vec<Pending<T, R>>,
    under_way: usize,
    weights: Weights<T, R>,
    bytes: usize,
    budget: usize,
}

impl<T, R> Gate<T, R> {
    /// Items that it can take.
    fn room(&self) -> usize {
        let tasks = self.under_way + self.pending.len();
        self.in_flight.saturating_sub(tasks.max(self.order.waiting.len()))
    }

    /// Adds to the bytes that are kept.
    ///
    /// # Errors
    /// They exceed the budget.
    fn keep(&mut self, weight: usize) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(weight);
        if self.bytes <= self.budget {
            return Ok(());
        }
        let splits = self.splits.len() - self.unused.len();
        Err(format!(
            "the parts of {splits} unfinished splits would take {} bytes, more than the {} that the byte budget leaves \
             for them\nhelp: split into fewer parts at a time, or raise `Options::budget`",
            self.bytes, self.budget,
        ))
    }

    fn release(&mut self, weight: usize) {
        self.bytes = self.bytes.saturating_sub(weight);
    }

    /// A new item's first task, if it may go round now.
    fn begin(&mut self, item: T) -> Option<Placed<Task<T, R>>> {
        let place = Place::Item(self.order.number());
        let task = Placed { place, weight: 0, content: Task::Step(item) };
        if self.under_way == self.in_flight || !self.pending.is_empty() {
            self.pending.push(Pending::Task(task));
            return None;
        }
        self.under_way += 1;
        Some(task)
    }

    /// The next task of an item or part that has just come back, and so may go round now.
    fn again(&mut self, place: Place, item: T) -> Result<Option<Placed<Task<T, R>>>, String> {
        let weight = match place {
            Place::Item(_) => 0,
            Place::Part { .. } => self.weights.item(&item),
        };
        if weight > 0 {
            self.keep(weight)?;
        }
        self.under_way += 1;
        Ok(Some(Placed { place, weight, content: Task::Step(item) }))
    }

    /// The next task, where one may go round.
    fn next(&mut self) -> Option<Placed<Task<T, R>>> {
        if self.under_way == self.in_flight {
            return None;
        }
        let task = match self.pending.pop()? {
            Pending::Task(task) => task,
            Pending::Parts { of, mut parts, weight } => {
                let left = parts.len();
                // An equal share of what they weigh together; the last one has the rest.
                let share = weight / left.max(1);
                let part = parts.next()?;
                if left > 1 {
                    self.pending.push(Pending::Parts { of, parts, weight: weight - share });
                }
                let at = self.splits[of].as_ref()?.results.len() - left;
                Placed { place: Place::Part { of, at }, weight: share, content: Task::Step(part) }
            }
        };
        self.under_way += 1;
        Some(task)
    }

    /// Takes a verdict: the task that goes round at once because of it, if there is one.
    fn take(&mut self, verdict: Verdict<T, R>) -> Result<Option<Placed<Task<T, R>>>, String> {
        let Placed { place, weight, content } = verdict;
        self.under_way -= 1;
        self.release(weight);
        match content {
            Fork::Done(result) => self.done(place, result)?,
            Fork::Again(item) => return self.again(place, item),
            Fork::Split(parts) => self.split(place, parts)?,
        }
        Ok(None)
    }

    fn split(&mut self, place: Place, parts: Vec<T>) -> Result<(), String> {
        let missing = parts.len();
        let (weight, slots) = (self.weights.parts(&parts), Weights::<T, R>::split(missing));
        // Before anything is made for them.
        self.keep(weight.saturating_add(slots))?;
        if missing == 0 {
            self.pending.push(Pending::Task(Placed {
                place,
                weight: slots,
                content: Task::Join(Vec::new()),
            }));
            return Ok(());
        }
        let split = Split { place, results: (0..missing).map(|_| None).collect(), missing, weight: slots };
        let of = self.unused.pop().unwrap_or(self.splits.len());
        if of == self.splits.len() {
            self.splits.push(Some(split));
        } else {
            self.splits[of] = Some(split);
        }
        self.pending.push(Pending::Parts { of, parts: parts.into_iter(), weight });
        Ok(())
    }

    fn done(&mut self, place: Place, result: R) -> Result<(), String> {
        let (of, at) = match place {
            Place::Item(number) => {
                self.order.put(number, result);
                return Ok(());
            }
            Place::Part { of, at } => (of, at),
        };
        let weight = self.weights.result(&result);
        let split = self.splits[of].as_mut().expect("a split whose parts are not all done");
        split.results[at] = Some(result);
        split.weight = split.weight.saturating_add(weight);
        split.missing -= 1;
        if split.missing == 0 {
            self.join(of);
        }
        self.keep(weight)
    }

    /// All parts of a split are done.
    fn join(&mut self, of: usize) {
        let Split { place, results, weight, .. } = self.splits[of].take().expect("it was just looked at");
        self.unused.push(of);
        let content = Task::Join(results.into_iter().flatten().collect());
        self.pending.push(Pending::Task(Placed { place, weight, content }));
    }
}

pub(super) fn build<'env, T, R, F, J>(
    name: &str,
    stream: Stream<'env, T>,
    in_flight: usize,
    step: F,
    join: J,
) -> Stream<'env, R>
where
    T: Send + 'env,
    R: Send + 'env,
    F: Fn(T) -> Fork<T, R> + Send + Sync + 'env,
    J: Fn(Vec<R>) -> R + Send + Sync + 'env,
{
    let graph = stream.graph();
    let items = stream.cell.clone();
    let (back, verdicts) = graph.feedback::<Verdict<T, R>>([]);
    let ins = (input("in", stream), input("back", verdicts.capacity(in_flight)));
    let mut kernel = graph.kernel(&format!("{name}.gate"), ins, (output("round"), output("out")));
    // The framing function and the firing both run under the gate's claim; the count is shared
    // between them only, so its ordering is the claim's.
    let free = Arc::new(AtomicUsize::new(in_flight));
    let room = free.clone();
    kernel.frame = Some(Box::new(AnyFrame(
        move |(new, back): &(Glance<T>, Glance<Verdict<T, R>>), takes: &mut [usize]| {
            let room = room.load(Ordering::Relaxed);
            takes[1] = back.arrived().min(RUN);
            takes[0] = new.arrived().min(room).min(RUN);
            let wants_new = room > 0 && !new.ended();
            match (takes[0] + takes[1] > 0, room == in_flight) {
                (true, _) => 0,
                (false, true) if !wants_new => 0,
                (false, _) => u64::from(wants_new) | 2,
            }
        },
    )));
    let budget = kernel.request_budget();
    let results: Arc<OnceLock<Arc<RingCell<R>>>> = Arc::default();
    let cell = results.clone();
    let mut gate: Option<Gate<T, R>> = None;
    let (node, (round, mut out)) = kernel.add_sequential(
        move |(new, back), (round, out)| {
            let gate = gate.get_or_insert_with(|| Gate {
                in_flight,
                order: Reorder { first: 0, next: 0, waiting: VecDeque::new() },
                splits: Vec::new(),
                unused: Vec::new(),
                pending: Vec::new(),
                under_way: 0,
                weights: Weights(items.ring().weigher(), cell.get().and_then(|to| to.ring().weigher())),
                bytes: 0,
                budget: budget.load(Ordering::Relaxed),
            });
            while let Some(verdict) = back.try_pop() {
                if let Some(task) = gate.take(verdict)? {
                    round.push(task);
                }
            }
            while let Some(item) = new.try_pop() {
                if let Some(task) = gate.begin(item) {
                    round.push(task);
                }
            }
            while let Some(task) = gate.next() {
                round.push(task);
            }
            while let Some(result) = gate.order.pop() {
                out.push(result);
            }
            free.store(gate.room(), Ordering::Relaxed);
            Ok::<(), String>(())
        },
        false,
    );
    _ = results.set(out.cell.clone());
    let verdicts = round
        .capacity(in_flight.saturating_add(OVERTAKING))
        .kernel(name, output("out").push(1))
        .parallel(move |tasks, verdicts| {
            let Placed { place, weight, content } = tasks.pop();
            let content = match content {
                Task::Step(item) => step(item),
                Task::Join(results) => Fork::Done(join(results)),
            };
            verdicts.push(Placed { place, weight, content });
        });
    // Settings are of the parallel kernel, and its gate is named after it.
    (out.node, out.gate) = (verdicts.node, Some((node, "gate")));
    verdicts.feed(back);
    out
}

/// Tasks that may begin while one before them is under way, besides those in flight with it: a channel gives the slots
/// of a parallel node's items back in their order.
const OVERTAKING: usize = 64;

/// Items the gate takes from either side in one firing.
const RUN: usize = 64;
