//! Operators of several nodes: items that go round ([`round`](crate::build::round)), and limits on the items in flight.

use crate::build::round::Fork;
use crate::build::stream::Stream;
use std::ops::ControlFlow;

impl<'env, T: Send + 'env> Stream<'env, T> {
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
        let done = crate::build::round::build("par_iterate", self, in_flight.max(1), step, |_| {
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
        let done = crate::build::round::build("par_fork_join", self, in_flight.max(1), step, join);
        done.at_least_one("in_flight", in_flight);
        done
    }

    /// Limits the items between two points: of the items that have entered `section`, at most `most` (at least 1) still
    /// have descendants in it. (Tokens, as in pipelines of oneTBB.) For memory that items share, or for latency: the
    /// items that enter are not far ahead of those that leave.
    ///
    /// Each output between entry and exit needs a static rate, as the outputs of `map`, `par_map`, `windows` and of
    /// kernels that declare one have, or must belong to a parallel node: [`par_flat_map`](Stream::par_flat_map),
    /// [`par_filter_map`](Stream::par_filter_map), a [parallel kernel](crate::Kernel::parallel). Such a parallel node
    /// must lie on every path of the section, and on no cycle of it; an item that becomes nothing there leaves when its
    /// firing has ended and all items before it have left. Any other dynamic rate (of sequential kernels, processes,
    /// inputs, and unordered nodes) is a mistake that [`Graph::build`](crate::Graph::build) reports.
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
        let limited = crate::build::in_flight::build(self, most.max(1), section);
        limited.at_least_one("in_flight", most);
        limited
    }
}
