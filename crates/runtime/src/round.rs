//! The loop that each item goes round until it is done.
//!
//! ```text
//!   items ──▶ gate ──(number, state)──▶ step (parallel)
//!              │ ▲                         │
//!   results ◀──┘ └──(number, verdict)──────┘   feedback
//! ```
//!
//! The gate takes a verdict whenever there is one, and a new item only while fewer than
//! `in_flight` are under way; so the feedback channel, which holds that many, is never full and
//! the loop cannot block itself. Which of the two it takes first depends on timing; what comes out
//! does not: `step` keeps no state, and results leave in the order of the items' numbers.

use crate::builder::{Builder, Stream};
use crate::channel::Glance;
use crate::node::AnyFrame;
use crate::spec::{input, output};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An item under way: its number, and its state.
type Numbered<T> = (u64, T);
/// What became of an item in one round.
type Verdict<R, S> = Numbered<ControlFlow<R, S>>;

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

pub(crate) fn build<'env, S, R, F>(
    graph: &mut Builder<'env>,
    name: &str,
    stream: Stream<S>,
    in_flight: usize,
    step: F,
) -> Stream<R>
where
    S: Send + 'env,
    R: Send + 'env,
    F: Fn(S) -> ControlFlow<R, S> + Send + Sync + 'env,
{
    let (back, verdicts) = graph.feedback::<Verdict<R, S>>([]);
    let verdicts = verdicts.capacity(in_flight);
    let outs = (output("round"), output("out"));
    let mut gate =
        graph.kernel(&format!("{name}.gate"), (input("in", stream), input("back", verdicts)), outs);
    // The framing function and the firing both run under the gate's claim; the count is shared
    // between them only, so its ordering is the claim's.
    let places = Arc::new(AtomicUsize::new(in_flight));
    let free = places.clone();
    gate.frame = Some(Box::new(AnyFrame(
        move |(new, back): &(Glance<S>, Glance<Verdict<R, S>>), takes: &mut [usize]| {
            let free = free.load(Ordering::Relaxed);
            takes[1] = back.arrived().min(RUN);
            takes[0] = new.arrived().min(free).min(RUN);
            let wants_new = free > 0 && !new.ended();
            match (takes[0] + takes[1] > 0, free == in_flight) {
                (true, _) => 0,
                (false, true) if !wants_new => 0,
                (false, _) => u64::from(wants_new) | 2,
            }
        },
    )));
    let mut order = Reorder { first: 0, next: 0, waiting: VecDeque::new() };
    let (round, results) = gate.finish_sequential(
        move |(new, back), (round, out)| {
            while let Some((number, verdict)) = back.try_pop() {
                match verdict {
                    ControlFlow::Continue(state) => round.push((number, state)),
                    ControlFlow::Break(result) => {
                        order.put(number, result);
                        while let Some(result) = order.pop() {
                            out.push(result);
                            places.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            }
            while let Some(item) = new.try_pop() {
                places.fetch_sub(1, Ordering::Relaxed);
                round.push((order.number(), item));
            }
        },
        false,
    );
    let verdicts = graph
        .kernel(name, input("in", round.capacity(in_flight)), output("out").push(1))
        .parallel(move |state, out| {
            let (number, state) = state.pop();
            out.push((number, step(state)));
        });
    graph.close(back, verdicts);
    results
}

/// Items the gate takes from either side in one firing.
const RUN: usize = 64;
