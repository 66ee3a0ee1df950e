//! Ordered, bounded, parallel stages for any iterator.

use crate::{Error, Options, Outlet, Stream, from_iter, output};
use std::any::Any;
use std::iter::FusedIterator;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use thalweg_runtime::panic_message;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An item, or the failure of the iterator or function that should have produced it.
///
/// The failure is boxed so that a channel's slots stay as small as its items.
pub(crate) type Caught<T> = Result<T, Box<Failure>>;

/// The reason why no more results follow.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The iterator or function of this name panicked.
    Panic(&'static str, Box<dyn Any + Send>),
    /// The function of this name returned an error.
    Error(&'static str, BoxError),
    /// The run failed for another reason.
    Run(Error),
}

/// Parallel stages for iterators with items that are `Send`.
///
/// The functions run on all cores, at most a bounded number of items ahead of the caller, and the
/// results come in the order of the items. The bound is [`Options::capacity`] for each channel; by default
/// a channel starts with room for about a thousand small items and widens until it holds about a millisecond
/// of them, up to 16 times its first capacity and at most 1 MiB.
///
/// **Lazy.** Nothing runs before the first call of `next`. From then on a thread of its own calls the
/// iterator, which may block, and the functions run until the bound is reached, whether or not the caller
/// calls `next` again. Dropping the results stops them (a thread blocked in the iterator stops when the
/// iterator returns: see [`Outlet`]).
///
/// **Panics.** A panic in the iterator or in a function is resumed in the caller, in place of the result it
/// prevented, after the results before it. Options that are refused, and a thread that cannot be started,
/// panic in the caller too. [`try_par_map`](ParallelExt::try_par_map) returns all of these as errors instead.
///
/// ```
/// use thalweg::ParallelExt;
///
/// let squares: Vec<u64> = (1..=5u64).par_map(|x| x * x).par_map(|x| x + 1).collect();
/// assert_eq!(squares, [2, 5, 10, 17, 26]);
/// ```
pub trait ParallelExt: Iterator + Sized + Send + 'static
where
    Self::Item: Send + 'static,
{
    /// Maps each item to one result.
    fn par_map<U, F>(self, f: F) -> Ordered<'static, U>
    where
        U: Send + 'static,
        F: Fn(Self::Item) -> U + Send + Sync + 'static,
    {
        Ordered(Results::new(map(self, f)))
    }

    /// Maps each item to one result and stops after the first error. A panic is returned as an error.
    ///
    /// ```
    /// use thalweg::ParallelExt;
    ///
    /// let words = ["1", "2", "x", "4"];
    /// let mut numbers = words.into_iter().try_par_map(str::parse::<u32>);
    /// assert_eq!(numbers.next().unwrap()?, 1);
    /// assert_eq!(numbers.next().unwrap()?, 2);
    /// assert!(numbers.next().unwrap().is_err());
    /// assert!(numbers.next().is_none());
    /// # Ok::<(), thalweg::Error>(())
    /// ```
    fn try_par_map<U, E, F>(self, f: F) -> TryOrdered<'static, U>
    where
        U: Send + 'static,
        E: Into<BoxError> + 'static,
        F: Fn(Self::Item) -> Result<U, E> + Send + Sync + 'static,
    {
        TryOrdered(Results::new(try_map(self, f)))
    }

    /// Maps each item to at most one result.
    fn par_filter_map<U, F>(self, f: F) -> Ordered<'static, U>
    where
        U: Send + 'static,
        F: Fn(Self::Item) -> Option<U> + Send + Sync + 'static,
    {
        Ordered(Results::new(filter_map(self, f)))
    }

    /// Maps each item to any number of results, which are passed on as the iterators yield them: see
    /// [`Stream::par_flat_map`](crate::Stream::par_flat_map).
    fn par_flat_map<I, F>(self, f: F) -> Ordered<'static, I::Item>
    where
        I: IntoIterator + 'static,
        I::IntoIter: Send + 'static,
        I::Item: Send + 'static,
        F: Fn(Self::Item) -> I + Send + Sync + 'static,
    {
        Ordered(Results::new(flat_map(self, f)))
    }
}

impl<I: Iterator + Send + 'static> ParallelExt for I where I::Item: Send + 'static {}

/// The stream of [`ParallelExt::par_map`].
pub(crate) fn map<'env, I, U, F>(items: I, f: F) -> Stream<'env, Caught<U>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: Send + 'env,
    F: Fn(I::Item) -> U + Send + Sync + 'env,
{
    results("par_map", items, move |item, push| {
        push(f(item));
        Ok(())
    })
}

/// The stream of [`ParallelExt::try_par_map`].
pub(crate) fn try_map<'env, I, U, E, F>(items: I, f: F) -> Stream<'env, Caught<U>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: Send + 'env,
    E: Into<BoxError>,
    F: Fn(I::Item) -> Result<U, E> + Send + Sync + 'env,
{
    results("try_par_map", items, move |item, push| f(item).map(push).map_err(E::into))
}

/// The stream of [`ParallelExt::par_filter_map`].
pub(crate) fn filter_map<'env, I, U, F>(items: I, f: F) -> Stream<'env, Caught<U>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: Send + 'env,
    F: Fn(I::Item) -> Option<U> + Send + Sync + 'env,
{
    results("par_filter_map", items, move |item, push| {
        f(item).into_iter().for_each(push);
        Ok(())
    })
}

/// The stream of [`ParallelExt::par_flat_map`].
pub(crate) fn flat_map<'env, I, U, F>(items: I, f: F) -> Stream<'env, Caught<U::Item>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: IntoIterator + 'env,
    U::IntoIter: Send + 'env,
    U::Item: Send + 'env,
    F: Fn(I::Item) -> U + Send + Sync + 'env,
{
    guarded(items).par_flat_map(move |item| {
        let results = item.and_then(|item| caught("par_flat_map", || f(item).into_iter()));
        CaughtResults { results: Some(results) }
    })
}

/// Calls `f`; a panic becomes a failure of the node `name`.
fn caught<U>(name: &'static str, f: impl FnOnce() -> U) -> Caught<U> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| Box::new(Failure::Panic(name, panic)))
}

/// The results of one item, up to the first failure.
struct CaughtResults<J> {
    /// `None` after the last result, and after a failure.
    results: Option<Caught<J>>,
}

impl<J: Iterator> Iterator for CaughtResults<J> {
    type Item = Caught<J::Item>;

    fn next(&mut self) -> Option<Caught<J::Item>> {
        let next = match self.results.as_mut()? {
            Ok(results) => caught("par_flat_map", || results.next()).transpose(),
            Err(_) => self.results.take().and_then(Result::err).map(Err),
        };
        if !matches!(next, Some(Ok(_))) {
            self.results = None;
        }
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.results {
            Some(Ok(results)) => (0, results.size_hint().1),
            Some(Err(_)) => (1, Some(1)),
            None => (0, Some(0)),
        }
    }
}

/// A parallel stage over an iterator. A panic or an error becomes a result, at the position of its item.
fn results<'env, I, U, F>(name: &'static str, items: I, f: F) -> Stream<'env, Caught<U>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: Send + 'env,
    F: Fn(I::Item, &mut dyn FnMut(U)) -> Result<(), BoxError> + Send + Sync + 'env,
{
    guarded(items).kernel(name, output("out")).parallel(move |items, out| {
        let failure = match items.pop() {
            Err(failure) => Err(failure),
            Ok(item) => {
                let run = AssertUnwindSafe(|| f(item, &mut |result| out.push(Ok(result))));
                match catch_unwind(run) {
                    Ok(done) => done.map_err(|error| Box::new(Failure::Error(name, error))),
                    Err(panic) => Err(Box::new(Failure::Panic(name, panic))),
                }
            }
        };
        if let Err(failure) = failure {
            out.push(Err(failure));
        }
    })
}

/// A stream of the items of `items`. If the iterator panics, the panic is the last item.
fn guarded<'env, I>(mut items: I) -> Stream<'env, Caught<I::Item>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
{
    let mut over = false;
    // The iterator may block until the caller has used earlier results. So it has a thread of its own, and
    // each item is published at once.
    let items = std::iter::from_fn(move || {
        if over {
            return None;
        }
        catch_unwind(AssertUnwindSafe(|| items.next())).map(|item| item.map(Ok)).unwrap_or_else(|panic| {
            over = true;
            Some(Err(Box::new(Failure::Panic("iterator", panic))))
        })
    });
    from_iter(items).blocking()
}

/// Starts a stream, on threads of the pool or of a scope.
type Start<'scope, U> = Box<
    dyn FnOnce(Stream<'scope, Caught<U>>, &Options) -> Result<Outlet<'scope, Caught<U>>, Error>
        + Send
        + 'scope,
>;

/// The state of an ordered iterator.
enum State<'scope, U: Send> {
    /// `next` was not called yet: nothing runs.
    Waiting(Box<Stream<'scope, Caught<U>>>, Start<'scope, U>),
    Running(Box<Outlet<'scope, Caught<U>>>),
    /// No result follows; the run may not have ended.
    Failed(#[expect(dead_code, reason = "kept to be dropped")] Box<Outlet<'scope, Caught<U>>>),
    Over,
}

/// Results and, last, the reason why no more follow, if the run failed.
pub(crate) struct Results<'scope, U: Send> {
    options: Options,
    state: State<'scope, U>,
}

impl<U: Send + 'static> Results<'static, U> {
    fn new(stream: Stream<'static, Caught<U>>) -> Self {
        Results::lazy(stream, Box::new(Stream::start))
    }
}

impl<'scope, U: Send> Results<'scope, U> {
    /// Starts at the first call of `next`.
    pub(crate) fn lazy(stream: Stream<'scope, Caught<U>>, start: Start<'scope, U>) -> Self {
        Results { options: Options::new(), state: State::Waiting(Box::new(stream), start) }
    }

    fn next(&mut self) -> Option<Result<U, Failure>> {
        let State::Running(outlet) = &mut self.state else { return self.start() };
        match outlet.next() {
            Some(Ok(item)) => Some(Ok(item)),
            Some(Err(failure)) => {
                self.stop();
                Some(Err(*failure))
            }
            None => match outlet.take_failure() {
                Some(error) => {
                    self.stop();
                    Some(Err(Failure::Run(error)))
                }
                None => self.finish().err().map(|error| Err(Failure::Run(error))),
            },
        }
    }

    #[cold]
    fn start(&mut self) -> Option<Result<U, Failure>> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Waiting(stream, start) => match start(*stream, &self.options) {
                Ok(outlet) => self.state = State::Running(Box::new(outlet)),
                Err(error) => return Some(Err(Failure::Run(error))),
            },
            over => {
                self.state = over;
                return None;
            }
        }
        self.next()
    }

    /// Cancels the run; no result follows. The outlet is kept: its drop joins a thread that may be blocked in the
    /// iterator, and the iterator may be waiting for the caller.
    #[cold]
    fn stop(&mut self) {
        if let State::Running(outlet) = std::mem::replace(&mut self.state, State::Over) {
            outlet.handle().cancel();
            self.state = State::Failed(outlet);
        }
    }

    #[cold]
    fn finish(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Running(outlet) => outlet.finish().map(drop),
            _ => Ok(()),
        }
    }
}

/// Results in the order of their items. See [`ParallelExt`].
pub struct Ordered<'scope, U: Send>(pub(crate) Results<'scope, U>);

/// Results in the order of their items, or an error as the last. See [`ParallelExt::try_par_map`].
pub struct TryOrdered<'scope, U: Send>(pub(crate) Results<'scope, U>);

impl<U: Send> std::fmt::Debug for Ordered<'_, U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ordered").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl<U: Send> std::fmt::Debug for TryOrdered<'_, U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TryOrdered").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl<U: Send> Ordered<'_, U> {
    /// Sets the options of the run. They have no effect after the first call of `next`.
    pub fn options(mut self, options: Options) -> Self {
        self.0.options = options;
        self
    }
}

impl<U: Send> TryOrdered<'_, U> {
    /// Sets the options of the run. They have no effect after the first call of `next`.
    pub fn options(mut self, options: Options) -> Self {
        self.0.options = options;
        self
    }
}

impl<U: Send> Iterator for Ordered<'_, U> {
    type Item = U;

    fn next(&mut self) -> Option<U> {
        self.0.next().map(|result| match result {
            Ok(item) => item,
            Err(Failure::Panic(_, payload)) => resume_unwind(payload),
            Err(Failure::Error(_, error)) => panic!("{error}"),
            Err(Failure::Run(error)) => panic!("{error}"),
        })
    }
}

impl<U: Send> Iterator for TryOrdered<'_, U> {
    type Item = Result<U, Error>;

    fn next(&mut self) -> Option<Result<U, Error>> {
        let failed = |failure| match failure {
            Failure::Panic(node, payload) => {
                Error::Panic { node: node.to_owned(), message: panic_message(&*payload) }
            }
            Failure::Error(node, cause) => Error::Node { node: node.to_owned(), cause },
            Failure::Run(error) => error,
        };
        self.0.next().map(|result| result.map_err(failed))
    }
}

impl<U: Send> FusedIterator for Ordered<'_, U> {}
impl<U: Send> FusedIterator for TryOrdered<'_, U> {}
