//! Ordered, bounded, parallel stages for any iterator.

use crate::chain::{ANY, Chain};
use crate::{Error, Options, Outlet, from_blocking_iter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use thalweg_runtime::panic_message;

/// An item, or what became of the iterator or function that should have given it.
///
/// The failure is boxed so that it makes no channel's slots larger than its items do.
pub(crate) type Caught<T> = Result<T, Box<Panicked>>;

/// Which part panicked, and with what message.
#[derive(Debug)]
pub(crate) struct Panicked {
    node: &'static str,
    message: String,
}

impl Panicked {
    fn new(node: &'static str, panic: &(dyn std::any::Any + Send)) -> Box<Panicked> {
        Box::new(Panicked { node, message: panic_message(panic) })
    }
}

/// Parallel stages for iterators whose items can be sent to other threads.
///
/// The functions run on all cores, at most a bounded number of items ahead of the caller, and the
/// results come in the order of the items. Each is an iterator of `Result`s: the results before
/// a failure, then the failure, then nothing. A panic in the iterator or in the function is a
/// failure. The iterator is asked on a thread of its own, and may wait. Dropping the results stops
/// the threads (one that still waits in the iterator, when it has its answer: see [`Outlet`]).
pub trait ParallelExt: Iterator + Sized + Send + 'static
where
    Self::Item: Send + 'static,
{
    /// One result for each item.
    fn par_map<U, F>(self, f: F) -> Ordered<'static, U>
    where
        U: Send + 'static,
        F: Fn(Self::Item) -> U + Send + Sync + 'static,
    {
        Ordered::new(guarded(self).parallel_results("par_map", move |item, give| give(f(item))))
    }

    /// A result, or none, for each item.
    fn par_filter_map<U, F>(self, f: F) -> Ordered<'static, U>
    where
        U: Send + 'static,
        F: Fn(Self::Item) -> Option<U> + Send + Sync + 'static,
    {
        Ordered::new(
            guarded(self)
                .parallel_results("par_filter_map", move |item, give| f(item).into_iter().for_each(give)),
        )
    }

    /// Any number of results for each item.
    fn par_flat_map<I, F>(self, f: F) -> Ordered<'static, I::Item>
    where
        I: IntoIterator,
        I::Item: Send + 'static,
        F: Fn(Self::Item) -> I + Send + Sync + 'static,
    {
        Ordered::new(
            guarded(self)
                .parallel_results("par_flat_map", move |item, give| f(item).into_iter().for_each(give)),
        )
    }
}

impl<I: Iterator + Send + 'static> ParallelExt for I where I::Item: Send + 'static {}

/// A chain over an iterator whose panic is its last item.
pub(crate) fn guarded<'env, I>(mut items: I) -> Chain<'env, Caught<I::Item>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
{
    let mut over = false;
    // The iterator may wait for what its caller does with the results: so it has a thread of its
    // own, and each item goes on at once.
    from_blocking_iter(std::iter::from_fn(move || {
        if over {
            return None;
        }
        catch_unwind(AssertUnwindSafe(|| items.next())).map(|item| item.map(Ok)).unwrap_or_else(|panic| {
            over = true;
            Some(Err(Panicked::new("iterator", &*panic)))
        })
    }))
}

impl<'env, T: Send + 'env> Chain<'env, Caught<T>> {
    /// A parallel stage whose panics become its results, in their place.
    pub(crate) fn parallel_results<U, F>(self, name: &'static str, f: F) -> Chain<'env, Caught<U>>
    where
        U: Send + 'env,
        F: Fn(T, &mut dyn FnMut(U)) + Send + Sync + 'env,
    {
        self.parallel(name, ANY, move |item, out| match item {
            Err(failure) => out.push(Err(failure)),
            Ok(item) => {
                let caught = catch_unwind(AssertUnwindSafe(|| f(item, &mut |result| out.push(Ok(result)))));
                if let Err(panic) = caught {
                    out.push(Err(Panicked::new(name, &*panic)));
                }
            }
        })
    }
}

/// Where an ordered iterator stands.
#[derive(Debug)]
enum State<'scope, U: Send> {
    /// Not asked for anything yet: nothing runs.
    Waiting(Option<Box<Chain<'scope, Caught<U>>>>),
    Running(Box<Outlet<'scope, Caught<U>>>),
    Failed(Option<Error>),
}

/// How a chain is started: on threads of its own, or of a scope.
type Start<'scope, U> = Box<
    dyn FnOnce(Chain<'scope, Caught<U>>, &Options) -> Result<Outlet<'scope, Caught<U>>, Error>
        + Send
        + 'scope,
>;

/// Results in the order of their items. See [`ParallelExt`].
pub struct Ordered<'scope, U: Send> {
    options: Options,
    state: State<'scope, U>,
    /// Until it is called.
    start: Option<Start<'scope, U>>,
}

impl<U: Send> std::fmt::Debug for Ordered<'_, U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ordered").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<U: Send + 'static> Ordered<'static, U> {
    fn new(chain: Chain<'static, Caught<U>>) -> Self {
        Ordered::lazy(chain, Box::new(Chain::start))
    }
}

impl<'scope, U: Send> Ordered<'scope, U> {
    /// Starts when the first result is asked for.
    pub(crate) fn lazy(chain: Chain<'scope, Caught<U>>, start: Start<'scope, U>) -> Self {
        Ordered { options: Options::new(), state: State::Waiting(Some(Box::new(chain))), start: Some(start) }
    }

    /// How to run; has an effect before the first result is asked for.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    fn fail(&mut self, error: Error) -> Option<Result<U, Error>> {
        self.state = State::Failed(None);
        Some(Err(error))
    }
}

impl<U: Send> Iterator for Ordered<'_, U> {
    type Item = Result<U, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let State::Waiting(chain) = &mut self.state {
            let start = self.start.take()?;
            match start(*chain.take()?, &self.options) {
                Ok(outlet) => self.state = State::Running(Box::new(outlet)),
                Err(error) => return self.fail(error),
            }
        }
        let State::Running(outlet) = &mut self.state else {
            let State::Failed(error) = &mut self.state else { return None };
            return error.take().map(Err);
        };
        match outlet.next() {
            Some(Ok(item)) => Some(Ok(item)),
            Some(Err(panicked)) => {
                let Panicked { node, message } = *panicked;
                self.fail(Error::Panic { node: node.to_owned(), message })
            }
            None => {
                let State::Running(outlet) = std::mem::replace(&mut self.state, State::Failed(None)) else {
                    return None;
                };
                outlet.finish().err().map(Err)
            }
        }
    }
}
