//! The loop that an item goes round until it is done, in which it may split into parts: the nodes of
//! [`Stream::par_iterate`] and [`Stream::par_fork_join`].
//!
//! ```text
//!   items ──▶ gate ──task──▶ step (parallel)
//!              │ ▲             │
//!   results ◀──┘ └───verdict───┘   feedback
//! ```
//!
//! The gate pops a verdict whenever one has arrived, and a new item only while it has room.
//!
//! # States
//!
//! | an item or part | is in | is moved on by |
//! |---|---|---|
//! | waits, an item | `Gate::waiting` | `Gate::leftmost` or `Gate::next`, which push its task |
//! | has not begun, a part | `Split::parts` of what it is a part of | the same, by `Splits::begin` |
//! | is under way | a task or its verdict, in a channel or the step's kernel | `Gate::take` of its verdict |
//! | is parked, a part in its next state | `Gate::parked` | `Gate::leftmost` or `Gate::next` |
//! | is split | `Splits`, until all its parts are done | `Gate::leftmost` or `Gate::next`, which push its join, a task |
//! | is done, an item | `Gate::order`, until the items before it are done | the gate's output |
//! | is done, a part | `Split::begun`, then `Split::results` | the join |
//!
//! Invariant: at most `in_flight` tasks are under way. The feedback channel holds that many verdicts, so it is never
//! full and the loop cannot block itself.
//!
//! Pending splits are a stack: the parts of the last split go first, so that about one path of the tree of parts is
//! unfolded for each task under way.
//!
//! **The result does not depend on timing**, though the input from which the gate pops first does, and the order of the
//! verdicts if the step is unordered. Tasks keep no state, each verdict has the place of its result, the results of
//! parts are joined in the order of the parts, and results leave in the order of the items. (The step is ordered by
//! default: an unordered one cannot reserve room, which cost 2 % with items of 200 ns.)
//!
//! # The limit
//!
//! The *depth-first order* of an item is that of a plain recursion: `step` is called with the item, then with its first
//! part and all that this one becomes, then with the second part, and `join` after the last. The *leftmost* unfinished
//! part is the task that comes first in this order, of the first unfinished item. There the recursion would hold:
//!
//! - the record of each split around it, with slots for the results of all parts (`Weights::record`),
//! - the results of the parts to its left,
//! - the parts to its right, which it has not begun,
//! - the part, in its present state.
//!
//! An item, its states and its result weigh nothing: there are at most `in_flight`. Weights are measured once, when the
//! gate acts on a verdict or begins a part.
//!
//! | the gate | compares with the limit | beyond it |
//! |---|---|---|
//! | decides whether the run fails | what the depth-first order holds, at each moment up to the leftmost unfinished part | the run fails |
//! | begins other tasks | what it holds (`Splits::bytes`): all that has come back and has not been joined, and the parts under way | it begins the leftmost unfinished part alone |
//!
//! **The verdict does not depend on timing.** `step` and `join` are called with the same arguments in any order, so the
//! tree of an item, the weights, and the moments of its depth-first order are functions of the item. A part may run
//! before its turn in that order, so a split has the maximum of its moments relative to what is held outside of it
//! (`Load::peak`). `Split::pass` adds the maximum of a part when all parts to its left are done, and takes the weight of
//! the part when it began, whatever has become of it. `Gate::leftmost` adds, for each split around the leftmost part,
//! what is held outside. So the maximum that it compares is that of all moments up to the leftmost part, none of which
//! is left out and to which none is added. The run fails at the first item whose maximum exceeds the limit, when all
//! items before it are done. No item fails earlier, since a part that is not the leftmost is compared with nothing.
//!
//! **The loop does not hang.** After each firing the leftmost part is under way. The first item is: it is pushed or, if
//! others wait, by `leftmost`. The leftmost part changes only when its verdict comes back, which frees one of the
//! `in_flight` places. `leftmost` runs before `next`, and no item is pushed while anything is pending, so the next
//! leftmost part is under way already or gets that place. It is pushed whatever the gate holds. So each verdict of a
//! leftmost part leads to the next one, other parts that go round for ever delay none, and the recursion ends or exceeds
//! the limit.
//!
//! **What the gate holds** is at most twice the limit and what the other `in_flight - 1` calls return. It consists of what
//! the depth-first order holds too, at most the limit, and of what has become of parts that began before their turn.
//! When the last of those was pushed, the gate held the limit at most. Since then each task under way has come back once
//! at most: a part in its next state is parked. (An item in its next state weighs nothing, and goes round.) What a part
//! has become counts to the depth-first order when that comes to it, never the other way round.

mod gate;
mod splits;
#[cfg(all(test, not(loom)))]
mod tests;

use super::spec::{input, output};
use super::stream::Stream;
use crate::built::RingCell;
use crate::built::Side::{Consumer, Producer};
use crate::channel::Glance;
use crate::contain::{Contained, Each};
use crate::node::AnyFrame;
use gate::Gate;
use splits::Weights;
use std::iter::from_fn;
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
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The result of the item of this number.
    Item(u64),
    /// The result of part `at` of the split `of`, an index of `Splits`.
    Part { of: usize, at: usize },
}

/// A call of a user's function.
enum Task<T, R> {
    /// `step`, with an item or part.
    Step(T),
    /// `join`, with the results of all parts.
    Join(Each<R>),
}

/// A task or a verdict, the place of its result, and its weight in bytes. The gate weighs a part once, since a user's
/// function may weigh it differently the next time.
struct Placed<X> {
    place: Place,
    weight: usize,
    content: X,
}

type Verdict<T, R> = Placed<Fork<T, R>>;

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
    graph.shared.draft().set_rounds(verdicts.edge);
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
            let gate = gate.get_or_insert_with(|| {
                let done = cell.get().and_then(|to| to.ring(Producer).weigher());
                let weights = Weights(items.ring(Consumer).weigher(), done);
                Gate::new(in_flight, budget.load(Ordering::Relaxed), weights)
            });
            let (verdicts, items) = (from_fn(|| back.try_pop()), from_fn(|| new.try_pop()));
            gate.fire(verdicts, items, round, out)?;
            free.store(gate.room(), Ordering::Relaxed);
            Ok::<(), String>(())
        },
        false,
    );
    _ = results.set(out.cell.clone());
    let (step, join) = (Contained::new(step), Contained::new(join));
    let verdicts = round
        .capacity(in_flight.saturating_add(OVERTAKING))
        .kernel(name, output("out").push(1))
        .parallel(move |tasks, verdicts| {
            let Placed { place, weight, content } = tasks.pop();
            let content = match content {
                Task::Step(item) => step(item),
                Task::Join(results) => Fork::Done(join(results.into_inner())),
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
