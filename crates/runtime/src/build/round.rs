//! The loop that an item goes round until it is done, in which it may split into parts: the nodes of
//! [`Stream::par_round`] and [`Stream::par_fork_join`].
//!
//! ```text
//!   items ──▶ gate ──task──▶ step (parallel)
//!              │ ▲             │
//!   results ◀──┘ └───verdict───┘   feedback
//! ```
//!
//! The gate pops a verdict whenever one has arrived, and a new item only while it has room.
//!
//! | an item or part is | in | left by |
//! |---|---|---|
//! | pending | the gate's stack `pending` | `Gate::next`, while fewer than `in_flight` tasks are under way |
//! | under way | a task or its verdict, in a channel or the step's kernel | `Gate::take` of its verdict |
//! | split | `splits`, until all its parts are done | `Gate::join`, which makes a pending task of it |
//! | done, an item | `order`, until the items before it are done | the gate's output |
//! | done, a part | `Split::results` of what it is a part of | `Gate::join` of that |
//!
//! Invariant: at most `in_flight` tasks are under way. The feedback channel holds that many verdicts, so it is never
//! full and the loop cannot block itself.
//!
//! The pending parts are a stack: the parts of the last split go first, so that about one path of the tree of parts is
//! unfolded for each task under way. Parts and their results are weighed, and count against the budget until they are
//! joined.
//!
//! **The result does not depend on timing**, though the input from which the gate pops first does, and the order of the
//! verdicts if the step is unordered. Tasks keep no state, each verdict has the place of its result, the results of
//! parts are joined in the order of the parts, and results leave in the order of the items. (The step is ordered by
//! default: an unordered one cannot reserve room, which cost 2 % with items of 200 ns.)

use super::spec::{input, output};
use super::stream::Stream;
use crate::built::RingCell;
use crate::channel::{Glance, Weigh};
use crate::contain::drop_each;
use crate::node::AnyFrame;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The outcome of one round of an item in [`Stream::par_fork_join`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fork<T, R> {
    /// The item is done, with this result.
    Done(R),
    /// The item goes round again, in this state.
    Again(T),
    /// The item is split into these parts, any number of them. Their results will be joined.
    Split(Vec<T>),
}

/// The destination of a result.
#[derive(Clone, Copy)]
enum Place {
    /// The result of the item of this number.
    Item(u64),
    /// The result of part `at` of the split `of`, an index of `Gate::splits`.
    Part { of: usize, at: usize },
}

/// A call of a user's function.
enum Task<T, R> {
    /// `step`, with an item or part.
    Step(T),
    /// `join`, with the results of all parts.
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

/// The items in the loop by their numbers, with the results that wait for those before them.
struct Reorder<R> {
    /// The number of the first item in `waiting`.
    first: u64,
    /// The number of the next item.
    next: u64,
    /// By number, from `first` to `next`; `None` for an item that is not done.
    waiting: VecDeque<Option<R>>,
}

impl<R> Reorder<R> {
    /// The number of a new item.
    fn number(&mut self) -> u64 {
        self.waiting.push_back(None);
        self.next += 1;
        self.next - 1
    }

    /// Sets the result of an item.
    fn put(&mut self, number: u64, result: R) {
        self.waiting[(number - self.first) as usize] = Some(result);
    }

    /// The next result in order, if its item is done.
    fn pop(&mut self) -> Option<R> {
        let result = self.waiting.front_mut()?.take()?;
        self.waiting.pop_front();
        self.first += 1;
        Some(result)
    }
}

/// An item or part that was split, and whose parts are not all done.
struct Split<R> {
    /// The place of its own result.
    place: Place,
    /// By part.
    results: Vec<Option<R>>,
    /// Parts that are not done.
    missing: usize,
    /// Bytes of its results and their slots.
    weight: usize,
}

/// Tasks that wait until fewer than `in_flight` are under way.
enum Pending<T, R> {
    Task(Placed<Task<T, R>>),
    /// The parts of a split that have not begun, and their weight together.
    Parts {
        of: usize,
        parts: std::vec::IntoIter<T>,
        weight: usize,
    },
}

/// The functions that weigh items and results, in bytes; without one, a value weighs its size in memory.
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

    /// The weight of a split of `parts` parts before one of them is done.
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
    /// Indices of `splits` that are `None`.
    unused: Vec<usize>,
    /// A stack.
    pending: Vec<Pending<T, R>>,
    /// Tasks pushed whose verdicts have not come back.
    under_way: usize,
    weights: Weights<T, R>,
    bytes: usize,
    /// The limit of `bytes`.
    budget: usize,
}

/// Drops the items, parts and results that the run has left, each also if another one's drop panics.
impl<T, R> Drop for Gate<T, R> {
    fn drop(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let results = std::mem::take(&mut self.splits).into_iter().flatten().flat_map(|split| split.results);
        let (mut parts, mut joined, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for pending in pending {
            match pending {
                Pending::Task(Placed { content: Task::Step(item), .. }) => steps.push(item),
                Pending::Task(Placed { content: Task::Join(results), .. }) => joined.extend(results),
                Pending::Parts { parts: more, .. } => parts.extend(more),
            }
        }
        let waiting = std::mem::take(&mut self.order.waiting);
        let results = results.chain(waiting).flatten().chain(joined);
        drop_each(steps.into_iter().chain(parts).map(Left::Item).chain(results.map(Left::Result)));
    }
}

/// A value that the gate has when it is dropped.
enum Left<T, R> {
    Item(T),
    Result(R),
}

impl<T, R> Gate<T, R> {
    /// Items that the gate can pop. Counts the items in the loop, done or not, and the tasks under way or pending.
    fn room(&self) -> usize {
        let tasks = self.under_way + self.pending.len();
        self.in_flight.saturating_sub(tasks.max(self.order.waiting.len()))
    }

    /// Adds to the bytes that the gate keeps.
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

    /// Subtracts from the bytes that the gate keeps.
    fn release(&mut self, weight: usize) {
        self.bytes = self.bytes.saturating_sub(weight);
    }

    /// Numbers a new item. Returns its first task, if that may go round now; otherwise it is pending.
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

    /// The next task of an item or part whose verdict was popped just now. It takes the place of the one that came
    /// back, so it is never pending.
    ///
    /// # Errors
    /// The budget is exceeded.
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

    /// The next pending task, if one may go round.
    fn next(&mut self) -> Option<Placed<Task<T, R>>> {
        if self.under_way == self.in_flight {
            return None;
        }
        let task = match self.pending.pop()? {
            Pending::Task(task) => task,
            Pending::Parts { of, mut parts, weight } => {
                let left = parts.len();
                // An equal share of the weight of the parts that are left; the last one gets the remainder.
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

    /// Acts on a verdict. Returns the task that goes round at once because of it, if any.
    ///
    /// # Errors
    /// The budget is exceeded.
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

    /// Keeps the parts of an item or part as pending.
    fn split(&mut self, place: Place, parts: Vec<T>) -> Result<(), String> {
        let missing = parts.len();
        let (weight, slots) = (self.weights.parts(&parts), Weights::<T, R>::split(missing));
        // Before memory is allocated for them.
        if let Err(why) = self.keep(weight.saturating_add(slots)) {
            drop_each(parts);
            return Err(why);
        }
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

    /// Puts a result in its place. The last result of a split makes its join pending.
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

    /// Makes the join of a split pending, whose parts are all done.
    fn join(&mut self, of: usize) {
        let Split { place, results, weight, .. } = self.splits[of].take().expect("it was just looked at");
        self.unused.push(of);
        let content = Task::Join(results.into_iter().flatten().collect());
        self.pending.push(Pending::Task(Placed { place, weight, content }));
    }
}

/// Adds the gate, the parallel kernel that calls `step` and `join`, and the channels between them. Returns the results.
/// `in_flight` is at least 1.
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
    // Only the framing function and the firing access the count. Both run under the gate's claim, which orders their
    // accesses.
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
    // The settings of the stream apply to the parallel kernel, and the gate is named after it.
    (out.node, out.gate) = (verdicts.node, Some((node, "gate")));
    verdicts.feed(back);
    out
}

/// Slots of the channel of tasks beyond `in_flight`. The step's kernel releases its inputs in ticket order, so a long
/// task keeps the slots of those that have overtaken it.
const OVERTAKING: usize = 64;

/// The greatest number of items that the gate pops from one input in one firing.
const RUN: usize = 64;
