//! Linear graphs, written as a chain of calls.

use crate::{
    Builder, Error, IntoFlow, IntoResult, Network, Options, Out, Outlet, Report, Stream, View, input, output,
    window,
};
use std::ops::ControlFlow;
use thalweg_runtime::Flow as Outcome;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Starts a chain with the items of an iterator.
pub fn from_iter<'env, S>(items: S) -> Chain<'env, S::Item>
where
    S: IntoIterator,
    S::IntoIter: Send + 'env,
    S::Item: Send + 'env,
{
    let mut graph = Builder::new();
    let stream = graph.source("source", items);
    Chain { graph, stream }
}

/// Starts a chain with an iterator that waits for the outside world. It gets a thread of its own.
pub fn from_blocking_iter<'env, S>(items: S) -> Chain<'env, S::Item>
where
    S: IntoIterator,
    S::IntoIter: Send + 'env,
    S::Item: Send + 'env,
{
    let mut graph = Builder::new();
    let stream = graph.blocking_source("source", items);
    Chain { graph, stream }
}

/// Starts a chain with an iterator that may fail; the run fails with its first error.
pub fn from_try_iter<'env, S, T, E>(items: S) -> Chain<'env, T>
where
    S: IntoIterator<Item = Result<T, E>>,
    S::IntoIter: Send + 'env,
    T: Send + 'env,
    E: Into<BoxError> + 'env,
{
    let mut graph = Builder::new();
    let mut items = items.into_iter();
    let kernel = graph.kernel("source", (), output("out"));
    let stream = kernel.sequential(move |(), out| match items.next() {
        Some(Ok(item)) => {
            out.push(item);
            Outcome::More
        }
        Some(Err(error)) => Outcome::Fail(error.into()),
        None => Outcome::End,
    });
    Chain { graph, stream }
}

/// A linear graph under construction, with one open end.
///
/// Stages that begin with `par_` run any number of items at a time and keep no state; the others
/// run one item at a time, in order, and may. Results are in the order of the items either way.
/// `named`, `capacity`, `weigh` and `blocking` say something of the stage before them.
#[must_use = "a chain does nothing until it is run"]
#[derive(Debug)]
pub struct Chain<'env, T> {
    graph: Builder<'env>,
    stream: Stream<T>,
}

impl<'env, T: Send + 'env> Chain<'env, T> {
    /// Names the last stage, for reports and errors.
    pub fn named(mut self, name: &str) -> Self {
        self.graph.name_last(name);
        self
    }

    /// Items that the last stage may be ahead of the next. Chosen where nothing is said.
    pub fn capacity(self, items: usize) -> Self {
        Chain { stream: self.stream.capacity(items), ..self }
    }

    /// Counts each item the last stage gives as so many bytes of the run's budget.
    pub fn weigh(self, bytes: impl Fn(&T) -> usize + Send + Sync + 'static) -> Self {
        Chain { stream: self.stream.weigh(bytes), ..self }
    }

    /// Gives the last stage a thread of its own, because it waits for files or sockets.
    ///
    /// # Panics
    /// Where the stage is parallel.
    pub fn blocking(mut self) -> Self {
        self.graph.block_last();
        self
    }

    /// Lets the last stage, a parallel one, give each result when it is there, and not in the order of
    /// the items. **Not determinate.** See [`Kernel::unordered`](crate::Kernel::unordered).
    ///
    /// # Panics
    /// Where the stage is not parallel.
    pub fn unordered(mut self) -> Self {
        self.graph.unorder_last();
        self
    }

    /// Lets at most `most` workers run the last stage, a parallel one, at the same time.
    ///
    /// # Panics
    /// Where the stage is not parallel.
    pub fn workers(mut self, most: u32) -> Self {
        self.graph.limit_last(most);
        self
    }

    /// Takes the chain apart, to go on with the builder.
    pub fn into_parts(self) -> (Builder<'env>, Stream<T>) {
        (self.graph, self.stream)
    }

    /// The reverse of [`Chain::into_parts`].
    pub fn from_parts(graph: Builder<'env>, stream: Stream<T>) -> Self {
        Chain { graph, stream }
    }

    /// One result for each item.
    pub fn map<U: Send + 'env>(self, mut f: impl FnMut(T) -> U + Send + 'env) -> Chain<'env, U> {
        self.sequential("map", 1, move |item, out| out.push(f(item)))
    }

    /// One result for each item, or an error that fails the run.
    pub fn try_map<U, E>(self, mut f: impl FnMut(T) -> Result<U, E> + Send + 'env) -> Chain<'env, U>
    where
        U: Send + 'env,
        E: Into<BoxError> + 'env,
    {
        self.sequential("try_map", 1, move |item, out| give(f(item), out))
    }

    /// The items that pass a test.
    pub fn filter(self, mut f: impl FnMut(&T) -> bool + Send + 'env) -> Chain<'env, T> {
        self.sequential("filter", ANY, move |item, out| {
            if f(&item) {
                out.push(item);
            }
        })
    }

    /// A result, or none, for each item.
    pub fn filter_map<U: Send + 'env>(
        self,
        mut f: impl FnMut(T) -> Option<U> + Send + 'env,
    ) -> Chain<'env, U> {
        self.sequential("filter_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// Any number of results for each item.
    pub fn flat_map<I>(self, mut f: impl FnMut(T) -> I + Send + 'env) -> Chain<'env, I::Item>
    where
        I: IntoIterator,
        I::Item: Send + 'env,
    {
        self.sequential("flat_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// The first `count` items; then the stages before this one end.
    pub fn take(self, count: usize) -> Chain<'env, T> {
        let mut left = count;
        self.sequential("take", ANY, move |item, out| {
            if left > 0 {
                left -= 1;
                out.push(item);
            }
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// Vectors of `size` items; the last one holds what is left.
    ///
    /// # Panics
    /// With size 0.
    pub fn chunks(mut self, size: usize) -> Chain<'env, Vec<T>> {
        assert!(size > 0, "a chunk has at least one item");
        let ins = input("in", self.stream);
        let kernel = self.graph.kernel("chunks", ins, output("out").push(1)).framed(move |items| {
            if items.peek(size - 1)?.is_some() {
                return Ok(Some(size));
            }
            // The stream ends within this chunk: count what there is.
            let mut left = 0;
            while items.peek(left)?.is_some() {
                left += 1;
            }
            Ok((left > 0).then_some(left))
        });
        let stream = kernel.sequential(|items, out| {
            let mut chunk = Vec::with_capacity(items.len());
            while let Some(item) = items.try_pop() {
                chunk.push(item);
            }
            out.push(chunk);
        });
        Chain { graph: self.graph, stream }
    }

    /// One result for each item, any number of items at a time, in order.
    pub fn par_map<U: Send + 'env>(self, f: impl Fn(T) -> U + Send + Sync + 'env) -> Chain<'env, U> {
        self.parallel("par_map", 1, move |item, out| out.push(f(item)))
    }

    /// The same with an error that fails the run.
    pub fn try_par_map<U, E>(self, f: impl Fn(T) -> Result<U, E> + Send + Sync + 'env) -> Chain<'env, U>
    where
        U: Send + 'env,
        E: Into<BoxError> + 'env,
    {
        self.parallel("try_par_map", 1, move |item, out| give(f(item), out))
    }

    /// A result, or none, for each item, any number of items at a time, in order.
    pub fn par_filter_map<U: Send + 'env>(
        self,
        f: impl Fn(T) -> Option<U> + Send + Sync + 'env,
    ) -> Chain<'env, U> {
        self.parallel("par_filter_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// Any number of results for each item, any number of items at a time, in order.
    pub fn par_flat_map<I>(self, f: impl Fn(T) -> I + Send + Sync + 'env) -> Chain<'env, I::Item>
    where
        I: IntoIterator,
        I::Item: Send + 'env,
    {
        self.parallel("par_flat_map", ANY, move |item, out| out.extend(f(item)))
    }

    /// Sends each item round until it is done (`Break`), any number of items at a time, up to
    /// `in_flight`; results in the order of the items. See [`Builder::round`].
    pub fn par_round<R: Send + 'env>(
        mut self,
        in_flight: usize,
        f: impl Fn(T) -> ControlFlow<R, T> + Send + Sync + 'env,
    ) -> Chain<'env, R> {
        let stream = self.graph.round("par_round", self.stream, in_flight, f);
        Chain { graph: self.graph, stream }
    }

    fn sequential<U, R>(
        mut self,
        name: &str,
        push: u32,
        mut f: impl FnMut(T, &mut Out<U>) -> R + Send + 'env,
    ) -> Chain<'env, U>
    where
        U: Send + 'env,
        R: IntoFlow + 'env,
    {
        let kernel = self.graph.kernel(name, input("in", self.stream), rated(push));
        let stream = kernel.sequential(move |items, out| f(items.pop(), out));
        Chain { graph: self.graph, stream }
    }

    pub(crate) fn parallel<U, R>(
        mut self,
        name: &str,
        push: u32,
        f: impl Fn(T, &mut Out<U>) -> R + Send + Sync + 'env,
    ) -> Chain<'env, U>
    where
        U: Send + 'env,
        R: IntoResult + 'env,
    {
        let kernel = self.graph.kernel(name, input("in", self.stream), rated(push));
        let stream = kernel.parallel(move |items, out| f(items.pop(), out));
        Chain { graph: self.graph, stream }
    }

    /// Takes every item, in order, and ends the chain.
    pub fn for_each(self, f: impl FnMut(T) + Send + 'env) -> Flow<'env> {
        self.end(f)
    }

    /// The same with an error that fails the run.
    pub fn try_for_each<E>(self, f: impl FnMut(T) -> Result<(), E> + Send + 'env) -> Flow<'env>
    where
        E: Into<BoxError> + 'env,
    {
        self.end(f)
    }

    fn end<R: IntoFlow + 'env>(mut self, f: impl FnMut(T) -> R + Send + 'env) -> Flow<'env> {
        self.graph.sink("for_each", self.stream, f);
        Flow { graph: self.graph }
    }

    /// Runs the chain and gives all its results.
    ///
    /// # Errors
    /// [`Error`] says why the run ended before its time.
    pub fn collect(self, options: &Options) -> Result<(Vec<T>, Report), Error> {
        let results = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = results.clone();
        let mut items = Collector { items: Vec::new(), to: sink };
        let flow = self.end(move |item| items.items.push(item));
        let report = flow.named("collect").run(options)?;
        let items = std::mem::take(&mut *results.lock().unwrap_or_else(|poison| poison.into_inner()));
        Ok((items, report))
    }
}

impl<T: Send + 'static> Chain<'static, T> {
    /// Runs the chain on threads of its own, with its results as an iterator.
    ///
    /// # Errors
    /// The graph or the options are refused.
    pub fn start(self, options: &Options) -> Result<Outlet<'static, T>, Error> {
        self.graph.start(self.stream, options)
    }
}

impl<'scope, T: Send + 'scope> Chain<'scope, T> {
    /// Runs the chain on threads of a scope, with its results as an iterator; it may borrow what
    /// outlives the scope.
    ///
    /// # Errors
    /// The graph or the options are refused.
    pub fn start_in(
        self,
        scope: &crate::Scope<'scope, '_>,
        options: &Options,
    ) -> Result<Outlet<'scope, T>, Error> {
        self.graph.start_in(scope.threads(), self.stream, options)
    }
}

/// Hands its items over when the run drops it: no lock per item.
struct Collector<T> {
    items: Vec<T>,
    to: std::sync::Arc<std::sync::Mutex<Vec<T>>>,
}

impl<T> Drop for Collector<T> {
    fn drop(&mut self) {
        let items = std::mem::take(&mut self.items);
        *self.to.lock().unwrap_or_else(|poison| poison.into_inner()) = items;
    }
}

impl<'env, T: Send + Sync + 'env> Chain<'env, T> {
    /// One result for each window of `peek` items, of which `pop` leave with each firing. Windows
    /// that the end of the stream cuts short give nothing.
    pub fn windows<U: Send + 'env>(
        mut self,
        peek: u32,
        pop: u32,
        mut f: impl FnMut(&mut View<T>) -> U + Send + 'env,
    ) -> Chain<'env, U> {
        let ins = window("in", self.stream).pop(pop).peek(peek);
        let kernel = self.graph.kernel("windows", ins, output("out").push(1));
        let stream = kernel.sequential(move |items, out| out.push(f(items)));
        Chain { graph: self.graph, stream }
    }

    /// The same, any number of windows at a time.
    pub fn par_windows<U: Send + 'env>(
        mut self,
        peek: u32,
        pop: u32,
        f: impl Fn(&mut View<T>) -> U + Send + Sync + 'env,
    ) -> Chain<'env, U> {
        let ins = window("in", self.stream).pop(pop).peek(peek);
        let kernel = self.graph.kernel("par_windows", ins, output("out").push(1));
        let stream = kernel.parallel(move |items, out| out.push(f(items)));
        Chain { graph: self.graph, stream }
    }
}

/// Any number of results for an item.
pub(crate) const ANY: u32 = 0;

fn rated<U>(push: u32) -> crate::GiveSpec<U> {
    if push == ANY { output("out") } else { output("out").push(push) }
}

fn give<U, E: Into<BoxError>>(result: Result<U, E>, out: &mut Out<U>) -> Result<(), E> {
    result.map(|result| out.push(result))
}

/// A complete linear graph.
#[must_use = "a flow does nothing until it is run"]
#[derive(Debug)]
pub struct Flow<'env> {
    graph: Builder<'env>,
}

impl<'env> Flow<'env> {
    /// Names the last stage.
    pub fn named(mut self, name: &str) -> Self {
        self.graph.name_last(name);
        self
    }

    /// Gives the last stage a thread of its own, because it waits for files or sockets.
    pub fn blocking(mut self) -> Self {
        self.graph.block_last();
        self
    }

    /// Checks the graph, to look at it or to run it later.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn build(self) -> Result<Network<'env>, Error> {
        Ok(self.graph.build()?)
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// [`Error`] says why the run ended before its time.
    pub fn run(self, options: &Options) -> Result<Report, Error> {
        self.build()?.run(options)
    }
}
