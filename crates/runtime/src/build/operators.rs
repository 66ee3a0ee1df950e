//! The operators of a stream: each method adds a node that consumes the stream's items.
//!
//! | node that a method adds | made by |
//! |---|---|
//! | a sequential kernel that pops one item in each firing | [`Stream::one_by_one`] |
//! | a parallel kernel that pops one item in each firing | [`Stream::many_at_a_time`] |
//! | a sink, which returns a value | `Stream::end` |
//! | several nodes | [`par_iterate`](Stream::par_iterate), [`par_fork_join`](Stream::par_fork_join) (`round`); [`in_flight`](Stream::in_flight) |

use super::output::{Output, Settle};
use super::round::Fork;
use super::spec::{PushSpec, output, window};
use super::stream::Stream;
use crate::channel::{Out, View};
use crate::contain::Contained;
use crate::node::{Flat, FlatSteps, Flow, IntoFlow, IntoResult};
use std::ops::ControlFlow;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// As a push rate: any number of results for an item.
const ANY: u32 = 0;

/// The output of an operator, which pushes `push` results for each item.
fn rated<U>(push: u32) -> PushSpec<U> {
    if push == ANY { output("out") } else { output("out").push(push) }
}

/// Pushes a result; an error is the kernel's.
fn push_ok<U, E: Into<BoxError>>(result: Result<U, E>, out: &mut Out<U>) -> Result<(), E> {
    result.map(|result| out.push(result))
}

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Maps each item to one result.
    pub fn map<U: Send + 'env>(self, mut f: impl FnMut(T) -> U + Send + 'env) -> Stream<'env, U> {
        self.one_by_one("map", 1, move |item, out| out.push(f(item)))
    }

    /// Maps each item to one result. An error fails the run.
    pub fn try_map<U, E>(self, mut f: impl FnMut(T) -> Result<U, E> + Send + 'env) -> Stream<'env, U>
    where
        U: Send + 'env,
        E: Into<BoxError> + 'env,
    {
        self.one_by_one("try_map", 1, move |item, out| push_ok(f(item), out))
    }

    /// Keeps the items for which `f` returns true.
    pub fn filter(self, mut f: impl FnMut(&T) -> bool + Send + 'env) -> Stream<'env, T> {
        self.one_by_one("filter", ANY, move |item, out| {
            if f(&item) {
                out.push(item);
            }
        })
    }

    /// Maps each item to one result or none.
    pub fn filter_map<U: Send + 'env>(
        self,
        mut f: impl FnMut(T) -> Option<U> + Send + 'env,
    ) -> Stream<'env, U> {
        self.one_by_one("filter_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// Maps each item to any number of results, also an endless one: the node passes results on as the iterator yields
    /// them, and asks it for no more than the channel after it has room for. It drops an iterator that is not at its end
    /// when no node reads its results any more, or the run ends.
    ///
    /// An iterator whose `next` does not return cannot be ended: then neither a deadline nor a cancel ends the run.
    ///
    /// ```
    /// use thalweg_runtime::Graph;
    ///
    /// let multiples = Graph::new().source([2u64, 3]).flat_map(|n| (0..).map(move |k| n * k));
    /// assert_eq!(multiples.take(4).collect().run()?.into_value(), [0, 2, 4, 6]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn flat_map<I>(self, f: impl FnMut(T) -> I + Send + 'env) -> Stream<'env, I::Item>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'env,
        I::Item: Send + 'env,
    {
        self.kernel("flat_map", rated(ANY)).add_code(FlatSteps::new(f), false).1
    }

    /// Passes on the first `count` items. Then the nodes before this one end, unless others read what they produce.
    pub fn take(self, count: usize) -> Stream<'env, T> {
        if count == 0 {
            return self.kernel("take", output("out")).framed(|_| Ok(None)).sequential(|_, _| ());
        }
        let mut left = count;
        self.one_by_one("take", ANY, move |item, out| {
            if left > 0 {
                left -= 1;
                out.push(item);
            }
            if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    }

    /// Pairs the items of two streams of one graph. The result ends with the shorter stream.
    pub fn zip<U: Send + 'env>(self, other: Stream<'env, U>) -> Stream<'env, (T, U)> {
        self.graph()
            .kernel("zip", (self, other), output("out").push(1))
            .sequential(|(left, right), out| out.push((left.pop(), right.pop())))
    }

    /// Groups the items into vectors of `size` items (at least 1). The last vector holds the items that are left.
    pub fn chunks(self, size: usize) -> Stream<'env, Vec<T>> {
        let last = size.saturating_sub(1);
        let kernel = self.kernel("chunks", output("out").push(1)).framed(move |items| {
            if items.peek(last)?.is_some() {
                return Ok(Some(size));
            }
            // The stream ends within this chunk: count the items that are left.
            let mut left = 0;
            while items.peek(left)?.is_some() {
                left += 1;
            }
            Ok((left > 0).then_some(left))
        });

        let chunks = kernel.sequential(|items, out| {
            let mut chunk = Vec::with_capacity(items.len());
            while let Some(item) = items.try_pop() {
                chunk.push(item);
            }
            out.push(chunk);
        });
        chunks.at_least_one("size", size);
        chunks.pops_at_most(size);
        chunks
    }

    /// Maps each item to one result, any number of items at a time. The results have the order of the items.
    pub fn par_map<U: Send + 'env>(self, f: impl Fn(T) -> U + Send + Sync + 'env) -> Stream<'env, U> {
        self.many_at_a_time("par_map", 1, move |item, out| out.push(f(item)))
    }

    /// Maps each item to one result, any number of items at a time. The results have the order of the items. An error
    /// fails the run.
    pub fn try_par_map<U, E>(self, f: impl Fn(T) -> Result<U, E> + Send + Sync + 'env) -> Stream<'env, U>
    where
        U: Send + 'env,
        E: Into<BoxError> + 'env,
    {
        self.many_at_a_time("try_par_map", 1, move |item, out| push_ok(f(item), out))
    }

    /// Maps each item to one result or none, any number of items at a time. The results have the order of the items.
    pub fn par_filter_map<U: Send + 'env>(
        self,
        f: impl Fn(T) -> Option<U> + Send + Sync + 'env,
    ) -> Stream<'env, U> {
        self.many_at_a_time("par_filter_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// Maps each item to any number of results, any number of items at a time. The results have the order of the items.
    ///
    /// Iterators may be long or endless. The results of the oldest item are passed on as its iterator yields them, and it
    /// is asked for no more than the channel after the node has room for. The iterators of later items wait when they
    /// have yielded as many results as that channel holds, or when the results that wait for earlier items have reached
    /// the node's share of the byte budget. The node drops iterators that are not at their end when no node reads their
    /// results any more, or the run ends.
    ///
    /// An iterator whose `next` does not return cannot be ended: then neither a deadline nor a cancel ends the run.
    pub fn par_flat_map<I>(self, f: impl Fn(T) -> I + Send + Sync + 'env) -> Stream<'env, I::Item>
    where
        I: IntoIterator + 'env,
        I::IntoIter: Send + 'env,
        I::Item: Send + 'env,
    {
        self.kernel("par_flat_map", rated(ANY)).add_parallel(Flat(Contained::new(f)))
    }

    /// Sends each item round a loop until `step` returns its result. The results have the order of the items.
    ///
    /// `step` gets the state of an item and returns its next state (`Continue`), with which the item goes round again,
    /// or its result (`Break`). At most `in_flight` items (at least 1) go round in parallel, and an item of many rounds
    /// delays only the results behind it. The result does not depend on timing.
    ///
    /// A long call of `step` delays what the calls begun after it return: results, and next rounds, also those of earlier
    /// items. If calls differ much, set [`unordered`](Stream::unordered): the results still have the order of the items, and
    /// the long call delays only the calls claimed with it, and all others once a reorder window of calls has overtaken it.
    ///
    /// Built as two nodes and a feedback channel: a gate that numbers the items and restores the order of the results,
    /// and the parallel kernel that calls `step`. Settings of the stream apply to that kernel.
    pub fn par_iterate<R, F>(self, in_flight: usize, step: F) -> Stream<'env, R>
    where
        R: Send + 'env,
        F: Fn(T) -> ControlFlow<R, T> + Send + Sync + 'env,
    {
        let step = move |item| match step(item) {
            ControlFlow::Continue(item) => Fork::Again(item),
            ControlFlow::Break(result) => Fork::Done(result),
        };
        let done = super::round::build("par_iterate", self, in_flight.max(1), step, |_| {
            unreachable!("nothing is split")
        });
        done.at_least_one("in_flight", in_flight);
        done
    }

    /// Divides and conquers: an item may split into parts, which may split again. The results of the parts are joined
    /// in the order of the parts. The results have the order of the items.
    ///
    /// `step` gets an item or a part, and returns its result, its next state, or the parts that it splits into; `join`
    /// makes the result of a split item from the results of its parts. At most `in_flight` calls (at least 1) of `step`
    /// and `join` run at a time, in parallel. The result does not depend on timing. (DANBI, Figure 2, sorts that way.)
    ///
    /// Parts and their results count against the run's byte budget until they are joined. All such operators of a graph
    /// together may take half of the budget (128 MiB if the options set none); each has an equal share as its limit. A
    /// part weighs what the function of [`weigh`](Stream::weigh) for the stream before this operator returns, a result what
    /// the one for the stream after it returns; without such a function, their size in memory. Each split counts the size
    /// of a result for each of its parts too, and some hundred bytes.
    ///
    /// The run fails with an error of the gate if an item takes more than the limit in depth-first order, as a recursion
    /// calls `step` and `join` one after the other: what counts is what that order holds, the parts that it has not begun
    /// and the results that it has not joined. So whether the run fails does not depend on timing, nor on threads or
    /// `in_flight`. Parts that begin before their turn take memory of their own. While all together take more than the
    /// limit, only the next part in depth-first order is worked on, so that one call runs at a time after those under way
    /// have returned. They never take more than twice the limit and what `in_flight` calls return.
    ///
    /// ```
    /// use thalweg_runtime::{Fork, Graph, Options};
    ///
    /// let sort = |mut items: Vec<u32>| {
    ///     if items.len() > 2 {
    ///         let rest = items.split_off(items.len() / 2);
    ///         return Fork::Split(vec![items, rest]);
    ///     }
    ///     items.sort();
    ///     Fork::Done(items)
    /// };
    /// let merge = |halves: Vec<Vec<u32>>| {
    ///     let mut all = halves.concat();
    ///     all.sort(); // of two sorted runs: it merges them
    ///     all
    /// };
    /// let sorted = Graph::new()
    ///     .source([vec![3, 1, 2, 5, 4], vec![9, 8, 7]])
    ///     .par_fork_join(8, sort, merge)
    ///     .collect()
    ///     .run_with(&Options::new().threads(2))?.into_value();
    /// assert_eq!(sorted, [vec![1, 2, 3, 4, 5], vec![7, 8, 9]]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn par_fork_join<R, F, J>(self, in_flight: usize, step: F, join: J) -> Stream<'env, R>
    where
        R: Send + 'env,
        F: Fn(T) -> Fork<T, R> + Send + Sync + 'env,
        J: Fn(Vec<R>) -> R + Send + Sync + 'env,
    {
        let done = super::round::build("par_fork_join", self, in_flight.max(1), step, join);
        done.at_least_one("in_flight", in_flight);
        done
    }

    /// Limits the items between two points: of the items that have entered `section`, at most `most` (at least 1) still
    /// have descendants in it. (Tokens, as in pipelines of oneTBB.) For memory that items share, or for latency: the
    /// items that enter are not far ahead of those that leave.
    ///
    /// Each output between entry and exit needs a static rate, as the outputs of `map`, `par_map`, `windows` and of
    /// kernels that declare one have, or must belong to a parallel node: [`par_flat_map`](Stream::par_flat_map),
    /// [`par_filter_map`](Stream::par_filter_map), a [parallel kernel](super::Kernel::parallel). Such a parallel node
    /// must lie on every path of the section, and on no cycle of it; an item that becomes nothing there leaves when its
    /// firing has ended and all items before it have left. Any other dynamic rate (of sequential kernels, processes,
    /// inputs, and unordered nodes) is a mistake that [`Graph::build`](super::Graph::build) reports.
    ///
    /// Rates are averages over a period: if firings pop or push several items, an item may count as gone while less
    /// than a period of its descendants is still in the section. Items that wait in a feedback channel of the section
    /// do not count.
    ///
    /// If nothing else opens a cycle of waiting nodes, as when a window of the section needs more items than `most`,
    /// the limit grows as a channel's capacity does.
    ///
    /// Built as two nodes, an entry and an exit, and a channel of tokens between them, which settings and reports show.
    /// A parallel node with a dynamic output gets one more output, `tally`, for each such section that it lies in, with
    /// a number for each firing whose items have not left. The channel of a tally holds as many numbers as `most` items
    /// need, at most a million. Under a byte budget of less than 8 bytes for each number it may stop the section before
    /// the limit does.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let sums = Graph::new()
    ///     .source(0..1000u64)
    ///     .in_flight(8, |items| items.par_map(|x| x * x).windows(4, 4, |items| items.iter().sum::<u64>()))
    ///     .collect()
    ///     .run_with(&Options::new().threads(2))?.into_value();
    /// assert_eq!(sums.len(), 250);
    ///
    /// let words = Graph::new()
    ///     .source(["to be or", "not to be"])
    ///     .in_flight(8, |lines| lines.par_flat_map(|line| line.split(' ')))
    ///     .collect()
    ///     .run_with(&Options::new().threads(2))?.into_value();
    /// assert_eq!(words, ["to", "be", "or", "not", "to", "be"]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn in_flight<U: Send + 'env>(
        self,
        most: usize,
        section: impl FnOnce(Stream<'env, T>) -> Stream<'env, U>,
    ) -> Stream<'env, U> {
        let limited = super::in_flight::build(self, most.max(1), section);
        limited.at_least_one("in_flight", most);
        limited
    }

    /// Adds a sequential kernel that calls `f` for each item and pushes `push` results.
    fn one_by_one<U, R>(
        self,
        name: &str,
        push: u32,
        mut f: impl FnMut(T, &mut Out<U>) -> R + Send + 'env,
    ) -> Stream<'env, U>
    where
        U: Send + 'env,
        R: IntoFlow + 'env,
    {
        self.kernel(name, rated(push)).sequential(move |items, out| f(items.pop(), out))
    }

    /// Adds a parallel kernel that calls `f` for each item and pushes `push` results.
    fn many_at_a_time<U, R>(
        self,
        name: &str,
        push: u32,
        f: impl Fn(T, &mut Out<U>) -> R + Send + Sync + 'env,
    ) -> Stream<'env, U>
    where
        U: Send + 'env,
        R: IntoResult + 'env,
    {
        self.kernel(name, rated(push)).parallel(move |items, out| f(items.pop(), out))
    }

    /// Calls `f` for every item, in order. `f` returns nothing, a `Result`, whose error fails the run, or a
    /// [`ControlFlow`], whose `Break` ends the node.
    pub fn for_each<R: IntoFlow + 'env>(self, mut f: impl FnMut(T) -> R + Send + 'env) -> Output<'env, ()> {
        self.end("for_each", (), move |_, item| f(item))
    }

    /// Calls `f` for every item, in order, with a state, and returns the state. [`Stream::fold`] in place: for large
    /// states, and for functions that may fail or end the node, as that of [`Stream::for_each`] may.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// let counts = thalweg_runtime::Graph::new()
    ///     .source("to be or not to be".split(' '))
    ///     .for_each_with(BTreeMap::new(), |counts, word| *counts.entry(word).or_insert(0) += 1)
    ///     .run_with(&thalweg_runtime::Options::new())?.into_value();
    /// assert_eq!(counts["be"], 2);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    #[must_use = "the output gives the state: `run` it, or `take` it from the finished run"]
    pub fn for_each_with<S: Send + 'env, R: IntoFlow + 'env>(
        self,
        state: S,
        mut f: impl FnMut(&mut S, T) -> R + Send + 'env,
    ) -> Output<'env, S> {
        self.end("for_each_with", state, move |state, item| match state {
            Some(state) => f(state, item).into_flow(),
            None => Flow::End, // never: `end` begins with the state
        })
    }

    /// Drops every item: for a stream that is not needed, of a producer that is.
    pub fn discard(self) {
        _ = self.for_each(drop).named("discard");
    }

    /// Collects all items.
    #[must_use = "the output gives the items: `run` it, or `take` it from the finished run"]
    pub fn collect(self) -> Output<'env, Vec<T>> {
        self.end("collect", Vec::new(), |items, item| items.get_or_insert_default().push(item)).of_items()
    }

    /// Folds the items, in order, into one value: `f` makes the next value from the previous one and an item.
    #[must_use = "the output gives the result: `run` it, or `take` it from the finished run"]
    pub fn fold<A: Send + 'env>(
        self,
        initial: A,
        mut f: impl FnMut(A, T) -> A + Send + 'env,
    ) -> Output<'env, A> {
        self.end("fold", initial, move |value, item| *value = value.take().map(|value| f(value, item)))
    }

    /// [`Stream::fold`] with a function that may fail. An error fails the run.
    #[must_use = "the output gives the result: `run` it, or `take` it from the finished run"]
    pub fn try_fold<A, E>(
        self,
        initial: A,
        mut f: impl FnMut(A, T) -> Result<A, E> + Send + 'env,
    ) -> Output<'env, A>
    where
        A: Send + 'env,
        E: Into<BoxError> + 'env,
    {
        self.end("try_fold", initial, move |value, item| {
            *value = value.take().map(|value| f(value, item)).transpose()?;
            Ok::<(), E>(())
        })
    }

    /// Adds a sink with a value, which `f` changes for each item. The node has the value until the run drops it.
    fn end<A: Send + 'env, R: IntoFlow + 'env>(
        self,
        name: &str,
        value: A,
        mut f: impl FnMut(&mut Option<A>, T) -> R + Send + 'env,
    ) -> Output<'env, A> {
        let (mut settle, slot) = Settle::new(value);
        let (shared, number) = (self.shared.clone(), self.number);
        let node =
            self.kernel(name, ()).add_sequential(move |items, ()| f(&mut settle.value, items.pop()), false).0;
        Output { shared, number, node, slot }
    }
}

impl<'env, T: Send + Sync + 'env> Stream<'env, T> {
    /// Maps each window of `peek` items to one result; `pop` items leave the window with each firing. A window that the
    /// end of the stream cuts short has no result.
    pub fn windows<U: Send + 'env>(
        self,
        peek: u32,
        pop: u32,
        mut f: impl FnMut(&mut View<T>) -> U + Send + 'env,
    ) -> Stream<'env, U> {
        self.graph()
            .kernel("windows", window("in", self).pop(pop).peek(peek), output("out").push(1))
            .sequential(move |items, out| out.push(f(items)))
    }

    /// [`Stream::windows`], any number of windows at a time. The results have the order of the windows.
    pub fn par_windows<U: Send + 'env>(
        self,
        peek: u32,
        pop: u32,
        f: impl Fn(&mut View<T>) -> U + Send + Sync + 'env,
    ) -> Stream<'env, U> {
        self.graph()
            .kernel("par_windows", window("in", self).pop(pop).peek(peek), output("out").push(1))
            .parallel(move |items, out| out.push(f(items)))
    }
}
