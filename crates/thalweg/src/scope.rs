//! Scopes: graphs that borrow from the caller and run while it goes on.

use crate::iter::results::Results;
use crate::iter::stage::{Stage, filter_map, flat_map, map, map_init, try_map};
use crate::iter::{Ordered, TryOrdered};
use crate::{Options, Outlet, Stream};

/// A scope in which graphs are started. Their threads end before the scope does.
#[derive(Debug)]
pub struct Scope<'scope, 'env> {
    threads: &'scope std::thread::Scope<'scope, 'env>,
}

/// Calls `f` with a scope. Every graph started in the scope has ended when `scope` returns.
///
/// ```
/// let text = String::from("to be or not to be");
/// let lengths: Vec<usize> =
///     thalweg::scope(|scope| scope.par_map(text.split(' '), |word: &str| word.len()).collect());
/// assert_eq!(lengths, [2, 2, 2, 3, 2, 2]);
/// ```
pub fn scope<'env, R>(f: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> R) -> R {
    std::thread::scope(|threads| f(&Scope { threads }))
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Runs a stream's graph on threads of the scope and returns the stream's items as an iterator.
    ///
    /// # Errors
    /// If the graph or the options are refused, or no thread can be started.
    pub fn start<T: Send + 'scope>(
        &self,
        stream: Stream<'scope, T>,
        options: &Options,
    ) -> Result<Outlet<'scope, T>, crate::Error> {
        stream.start_in(self.threads, options)
    }

    /// [`crate::ParallelExt::par_map`] for items and functions that borrow.
    pub fn par_map<I, U, F>(&self, items: I, f: F) -> Ordered<'scope, U>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'scope,
        I::Item: Send + 'scope,
        U: Send + 'scope,
        F: Fn(I::Item) -> U + Send + Sync + 'scope,
    {
        Ordered(self.results(map(items.into_iter(), f)))
    }

    /// [`crate::ParallelExt::par_map_init`] for items and functions that borrow.
    pub fn par_map_init<I, S, U, N, F>(&self, items: I, init: N, f: F) -> Ordered<'scope, U>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'scope,
        I::Item: Send + 'scope,
        S: Send + 'scope,
        U: Send + 'scope,
        N: Fn() -> S + Send + Sync + 'scope,
        F: Fn(&mut S, I::Item) -> U + Send + Sync + 'scope,
    {
        Ordered(self.results(map_init(items.into_iter(), init, f)))
    }

    /// [`crate::ParallelExt::try_par_map`] for items and functions that borrow.
    pub fn try_par_map<I, U, E, F>(&self, items: I, f: F) -> TryOrdered<'scope, U>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'scope,
        I::Item: Send + 'scope,
        U: Send + 'scope,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Fn(I::Item) -> Result<U, E> + Send + Sync + 'scope,
    {
        TryOrdered(self.results(try_map(items.into_iter(), f)))
    }

    /// [`crate::ParallelExt::par_filter_map`] for items and functions that borrow.
    pub fn par_filter_map<I, U, F>(&self, items: I, f: F) -> Ordered<'scope, U>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'scope,
        I::Item: Send + 'scope,
        U: Send + 'scope,
        F: Fn(I::Item) -> Option<U> + Send + Sync + 'scope,
    {
        Ordered(self.results(filter_map(items.into_iter(), f)))
    }

    /// [`crate::ParallelExt::par_flat_map`] for items and functions that borrow.
    pub fn par_flat_map<I, U, F>(&self, items: I, f: F) -> Ordered<'scope, U::Item>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'scope,
        I::Item: Send + 'scope,
        U: IntoIterator + 'scope,
        U::IntoIter: Send + 'scope,
        U::Item: Send + 'scope,
        F: Fn(I::Item) -> U + Send + Sync + 'scope,
    {
        Ordered(self.results(flat_map(items.into_iter(), f)))
    }

    fn results<U: Send + 'scope>(&self, stage: Stage<'scope, U>) -> Results<'scope, U> {
        let threads = self.threads;
        Results::lazy(stage, Box::new(move |stream, options| stream.start_in(threads, options)))
    }
}
