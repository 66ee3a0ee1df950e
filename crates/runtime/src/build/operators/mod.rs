//! The operators of a stream: each method adds a node that consumes the stream's items.
//!
//! | operators | file | nodes |
//! |---|---|---|
//! | `map`, `filter`, `flat_map`, `take`, their `try_` forms, `windows` | this one | a sequential kernel that pops one item in each firing ([`Stream::one_by_one`]) |
//! | `par_map`, `par_filter_map`, `par_flat_map`, their forms, `par_windows` | this one | a parallel kernel that pops one item in each firing ([`Stream::many_at_a_time`]) |
//! | `partition`, `tee`, `deal` | [`split`] | a sequential kernel with several outputs |
//! | `zip`, `concat`, `interleave` | [`join`] | a sequential kernel with several inputs |
//! | `batch`, `batch_timeout`, `unbatch` | [`batch`] | a sequential kernel |
//! | `for_each`, `collect`, `fold`, their forms, `fold_by_key` | [`sinks`] | a sink, which returns a value (`Stream::end`) |
//! | `par_iterate`, `par_fork_join`, `in_flight` | [`sections`] | several |

mod batch;
mod join;
mod sections;
mod sinks;
mod split;

pub(super) use join::pass_all;

use super::spec::{PushSpec, output, window};
use super::stream::Stream;
use crate::channel::{Out, View};
use crate::contain::Contained;
use crate::node::{Flat, FlatSteps, IntoFlow, IntoResult, Scratch};
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

    /// [`Stream::par_map`] with *scratch*: a value that a call of `f` may change, such as a buffer or the context of a codec.
    /// `init` makes one for each firing under way, when it is first needed; later firings use it again. All are dropped by
    /// the end of the run.
    ///
    /// **Which items share a value is not determinate.** So a result must not depend on what the calls before have left in
    /// it: reset a context before its use. A panic of `init` or `f` fails the run; no other call gets the value that the
    /// panicked one had.
    ///
    /// ```
    /// use std::fmt::Write;
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let lengths = Graph::new().source([7u64, 123, 45]).par_map_init(String::new, |buffer, number| {
    ///     buffer.clear();
    ///     write!(buffer, "{number:x}").expect("a string takes all");
    ///     buffer.len()
    /// });
    /// assert_eq!(lengths.collect().run_with(&Options::new().threads(2))?.into_value(), [1, 2, 2]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn par_map_init<S, U>(
        self,
        init: impl Fn() -> S + Send + Sync + 'env,
        f: impl Fn(&mut S, T) -> U + Send + Sync + 'env,
    ) -> Stream<'env, U>
    where
        S: Send + 'env,
        U: Send + 'env,
    {
        self.kernel("par_map_init", rated(1)).add_parallel(Scratch::new(init, f))
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
