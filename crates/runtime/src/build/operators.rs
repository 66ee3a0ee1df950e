//! Operators: what a stream's items go through, one method each.

use super::output::{Output, Settle};
use super::round::Fork;
use super::spec::{PushSpec, output, window};
use super::stream::Stream;
use crate::channel::{Out, View};
use crate::node::{Flow, IntoFlow, IntoResult};
use std::ops::ControlFlow;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Any number of results for an item.
const ANY: u32 = 0;

fn rated<U>(push: u32) -> PushSpec<U> {
    if push == ANY { output("out") } else { output("out").push(push) }
}

fn give<U, E: Into<BoxError>>(result: Result<U, E>, out: &mut Out<U>) -> Result<(), E> {
    result.map(|result| out.push(result))
}

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// One result for each item.
    pub fn map<U: Send + 'env>(self, mut f: impl FnMut(T) -> U + Send + 'env) -> Stream<'env, U> {
        self.one_by_one("map", 1, move |item, out| out.push(f(item)))
    }

    /// One result for each item, or an error that fails the run.
    pub fn try_map<U, E>(self, mut f: impl FnMut(T) -> Result<U, E> + Send + 'env) -> Stream<'env, U>
    where
        U: Send + 'env,
        E: Into<BoxError> + 'env,
    {
        self.one_by_one("try_map", 1, move |item, out| give(f(item), out))
    }

    /// The items that pass a test.
    pub fn filter(self, mut f: impl FnMut(&T) -> bool + Send + 'env) -> Stream<'env, T> {
        self.one_by_one("filter", ANY, move |item, out| {
            if f(&item) {
                out.push(item);
            }
        })
    }

    /// A result, or none, for each item.
    pub fn filter_map<U: Send + 'env>(
        self,
        mut f: impl FnMut(T) -> Option<U> + Send + 'env,
    ) -> Stream<'env, U> {
        self.one_by_one("filter_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// Any number of results for each item.
    pub fn flat_map<I>(self, mut f: impl FnMut(T) -> I + Send + 'env) -> Stream<'env, I::Item>
    where
        I: IntoIterator,
        I::Item: Send + 'env,
    {
        self.one_by_one("flat_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// The first `count` items; then the nodes before this one end.
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

    /// Pairs of the items of two streams of one graph. It ends with the shorter one.
    pub fn zip<U: Send + 'env>(self, other: Stream<'env, U>) -> Stream<'env, (T, U)> {
        self.graph()
            .kernel("zip", (self, other), output("out").push(1))
            .sequential(|(left, right), out| out.push((left.pop(), right.pop())))
    }

    /// Vectors of `size` items, at least one; the last one holds what is left.
    pub fn chunks(self, size: usize) -> Stream<'env, Vec<T>> {
        let last = size.saturating_sub(1);
        let kernel = self.kernel("chunks", output("out").push(1)).framed(move |items| {
            if items.peek(last)?.is_some() {
                return Ok(Some(size));
            }
            // The stream ends within this chunk: count what there is.
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
        chunks
    }

    /// One result for each item, any number of items at a time, in order.
    pub fn par_map<U: Send + 'env>(self, f: impl Fn(T) -> U + Send + Sync + 'env) -> Stream<'env, U> {
        self.many_at_a_time("par_map", 1, move |item, out| out.push(f(item)))
    }

    /// One result for each item, any number of items at a time, in order, or an error that fails the run.
    pub fn try_par_map<U, E>(self, f: impl Fn(T) -> Result<U, E> + Send + Sync + 'env) -> Stream<'env, U>
    where
        U: Send + 'env,
        E: Into<BoxError> + 'env,
    {
        self.many_at_a_time("try_par_map", 1, move |item, out| give(f(item), out))
    }

    /// A result, or none, for each item, any number of items at a time, in order.
    pub fn par_filter_map<U: Send + 'env>(
        self,
        f: impl Fn(T) -> Option<U> + Send + Sync + 'env,
    ) -> Stream<'env, U> {
        self.many_at_a_time("par_filter_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// Any number of results for each item, any number of items at a time, in order.
    pub fn par_flat_map<I>(self, f: impl Fn(T) -> I + Send + Sync + 'env) -> Stream<'env, I::Item>
    where
        I: IntoIterator,
        I::Item: Send + 'env,
    {
        self.many_at_a_time("par_flat_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// Sends each item round a loop until it is done; results come in the order of the items.
    ///
    /// `step` sees an item's state and says whether to go round again (`Continue`) or what the
    /// result is (`Break`). Different items go round in parallel, up to `in_flight` of them, at least one,
    /// and an item of many rounds delays only the results behind it. The result does not depend on timing.
    ///
    /// A long call of `step` delays the next rounds of the items begun after it. Where calls differ much, set
    /// [`unordered`](Stream::unordered): results still come in the order of the items, and the long call delays only the
    /// calls claimed with it, and all others once a reorder window of calls has overtaken it.
    ///
    /// Built as two nodes and a feedback channel: a gate that numbers the items and puts the
    /// results back in order, and the parallel kernel that calls `step`. Settings of the stream are of that kernel.
    pub fn par_round<R, F>(self, in_flight: usize, step: F) -> Stream<'env, R>
    where
        R: Send + 'env,
        F: Fn(T) -> ControlFlow<R, T> + Send + Sync + 'env,
    {
        let step = move |item| match step(item) {
            ControlFlow::Continue(item) => Fork::Again(item),
            ControlFlow::Break(result) => Fork::Done(result),
        };
        let done = super::round::build("par_round", self, in_flight.max(1), step, |_| {
            unreachable!("nothing is split")
        });
        done.at_least_one("in_flight", in_flight);
        done
    }

    /// Divide and conquer: an item may split into parts, which may split again, and whose results are joined
    /// in the order of the parts. Results come in the order of the items.
    ///
    /// `step` sees an item or a part and gives its result, sends it round again, or splits it; `join` makes
    /// the result of the split one from the results of its parts. At most `in_flight` calls, at least one, of
    /// `step` and `join` are under way at a time, in parallel. The result does not depend on timing. (DANBI,
    /// Figure 2, sorts that way.)
    ///
    /// Parts and their results count against the run's byte budget until they are joined: all such operators of a
    /// graph may take half of it (128 MiB where there is no budget). Parts weigh what the stream before this operator
    /// is [weighed](Stream::weigh) by, results what the one after it is, or their size in memory. Beyond it the run
    /// fails with an error of the gate. How much is unfinished at a time depends on timing, so a run close to the
    /// limit may end either way.
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
    /// let (sorted, _report) = Graph::new()
    ///     .source([vec![3, 1, 2, 5, 4], vec![9, 8, 7]])
    ///     .par_fork_join(8, sort, merge)
    ///     .collect()
    ///     .run(&Options::new().threads(2))?;
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

    /// Limits the items between two points: at most `most` items, at least one, that have entered `section` have
    /// not left it with all they have become. (Tokens, as in pipelines of oneTBB.) For memory that items share,
    /// or for latency: what enters is not far ahead of what leaves.
    ///
    /// Each output between entry and exit needs a static rate, as those of `map`, `par_map`, `windows` and kernels
    /// that declare theirs have, or must belong to a parallel node: [`par_flat_map`](Stream::par_flat_map),
    /// [`par_filter_map`](Stream::par_filter_map), a [parallel kernel](super::Kernel::parallel). An item that becomes
    /// nothing leaves when its firing has ended and all items before it have left. Such a node must lie on every
    /// path of the section, and on no cycle of it. Any other dynamic rate is a mistake that [`Graph::build`](super::Graph::build) reports: of
    /// sequential kernels, of processes, of inputs, and of unordered nodes.
    ///
    /// Rates count in shares: where firings take or give several items, an item may count as gone while less than
    /// a period of its descendants is still there. Items that wait in a feedback channel of the section do not count.
    ///
    /// Where nothing else opens a cycle of waiting nodes, as where a window of the section needs more items than
    /// `most`, the limit grows as a channel's capacity would.
    ///
    /// Built as two nodes, an entry and an exit, and a channel of tokens between them, which settings and reports
    /// show. A parallel node with a dynamic output has one more output, `tally`, for each such section that it lies in,
    /// with a number for each firing whose items have not left. Its channel holds as many as `most` items need, at most
    /// a million; under a byte budget of less than 8 bytes for each it may stop the section before the limit does.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let (sums, _report) = Graph::new()
    ///     .source(0..1000u64)
    ///     .in_flight(8, |items| items.par_map(|x| x * x).windows(4, 4, |items| items.iter().sum::<u64>()))
    ///     .collect()
    ///     .run(&Options::new().threads(2))?;
    /// assert_eq!(sums.len(), 250);
    ///
    /// let (words, _report) = Graph::new()
    ///     .source(["to be or", "not to be"])
    ///     .in_flight(8, |lines| lines.par_flat_map(|line| line.split(' ')))
    ///     .collect()
    ///     .run(&Options::new().threads(2))?;
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

    /// Takes every item, in order. `f` returns nothing, a `Result`, whose error fails the run, or a
    /// [`ControlFlow`], whose `Break` ends the node.
    pub fn for_each<R: IntoFlow + 'env>(self, mut f: impl FnMut(T) -> R + Send + 'env) -> Output<'env, ()> {
        self.end("for_each", (), move |_, item| f(item))
    }

    /// Takes every item, in order, with a state that is the result in the end: [`Stream::fold`] in place, for
    /// large states, and for functions that may fail or end the node as [`Stream::for_each`]'s may.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// let (counts, _report) = thalweg_runtime::Graph::new()
    ///     .source("to be or not to be".split(' '))
    ///     .for_each_with(BTreeMap::new(), |counts, word| *counts.entry(word).or_insert(0) += 1)
    ///     .run(&thalweg_runtime::Options::new())?;
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
            None => Flow::End, // it has its state from the start
        })
    }

    /// Takes every item and drops it: for a stream that is not needed, whose producer is.
    pub fn discard(self) {
        _ = self.for_each(drop).named("discard");
    }

    /// All items.
    #[must_use = "the output gives the items: `run` it, or `take` it from the finished run"]
    pub fn collect(self) -> Output<'env, Vec<T>> {
        self.end("collect", Vec::new(), |items, item| items.get_or_insert_default().push(item))
    }

    /// Folds the items, in order, into one value: `f` makes the next value of the last one and an item.
    #[must_use = "the output gives the result: `run` it, or `take` it from the finished run"]
    pub fn fold<A: Send + 'env>(
        self,
        initial: A,
        mut f: impl FnMut(A, T) -> A + Send + 'env,
    ) -> Output<'env, A> {
        self.end("fold", initial, move |value, item| *value = value.take().map(|value| f(value, item)))
    }

    /// [`Stream::fold`] with a function that may fail, and then fails the run.
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

    /// A sink with a value, which it has from the start until the run drops it.
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
    /// One result for each window of `peek` items, of which `pop` leave with each firing. Windows
    /// that the end of the stream cuts short give nothing.
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

    /// One result for each window, any number of windows at a time, in order. See [`Stream::windows`].
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
