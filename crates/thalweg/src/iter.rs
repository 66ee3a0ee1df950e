//! Ordered, bounded, parallel stages for any iterator.

use crate::{Error, Options, Outlet, Stream, from_iter, output};
use std::any::Any;
use std::iter::FusedIterator;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use thalweg_runtime::panic_message;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An item, or what became of the iterator or function that should have given it.
///
/// The failure is boxed so that it makes no channel's slots larger than its items do.
pub(crate) type Caught<T> = Result<T, Box<Failure>>;

/// Why there are no more results.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The part of this name has panicked.
    Panic(&'static str, Box<dyn Any + Send>),
    /// The function of this name has returned an error.
    Error(&'static str, BoxError),
    /// The run has failed otherwise.
    Run(Error),
}

/// Parallel stages for iterators whose items can be sent to other threads.
///
/// The functions run on all cores, at most a bounded number of items ahead of the caller, and the
/// results come in the order of the items. The bound is [`Options::capacity`] for each channel; by default
/// channels begin with about a thousand small items and widen to about a millisecond of them, up to 16 times as many and
/// 1 MiB each.
///
/// **Lazy.** Nothing runs before the first result is asked for; then the iterator is asked, on a thread of
/// its own, where it may wait, and the functions run until the bound is reached, whether or not the caller
/// asks for more. Dropping the results stops them (a thread that waits in the iterator stops when it has its
/// answer: see [`Outlet`]).
///
/// **Panics.** A panic in the iterator or in a function is resumed in the caller, in place of the result it
/// prevented, after the results before it. [`try_par_map`](ParallelExt::try_par_map) gives it as an error
/// instead. Options that no run can go by, and a thread that cannot be started, are panics too, and errors
/// there.
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
    /// One result for each item.
    fn par_map<U, F>(self, f: F) -> Ordered<'static, U>
    where
        U: Send + 'static,
        F: Fn(Self::Item) -> U + Send + Sync + 'static,
    {
        Ordered(Results::new(map(self, f)))
    }

    /// One result for each item, or an error, after which there are no more results. A panic is an error.
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

    /// A result, or none, for each item.
    fn par_filter_map<U, F>(self, f: F) -> Ordered<'static, U>
    where
        U: Send + 'static,
        F: Fn(Self::Item) -> Option<U> + Send + Sync + 'static,
    {
        Ordered(Results::new(flat_map("par_filter_map", self, f)))
    }

    /// Any number of results for each item.
    fn par_flat_map<I, F>(self, f: F) -> Ordered<'static, I::Item>
    where
        I: IntoIterator,
        I::Item: Send + 'static,
        F: Fn(Self::Item) -> I + Send + Sync + 'static,
    {
        Ordered(Results::new(flat_map("par_flat_map", self, f)))
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
    results("par_map", items, move |item, give| {
        give(f(item));
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
    results("try_par_map", items, move |item, give| f(item).map(give).map_err(E::into))
}

/// The stream of [`ParallelExt::par_flat_map`] and its kin.
pub(crate) fn flat_map<'env, I, U, F>(name: &'static str, items: I, f: F) -> Stream<'env, Caught<U::Item>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: IntoIterator,
    U::Item: Send + 'env,
    F: Fn(I::Item) -> U + Send + Sync + 'env,
{
    results(name, items, move |item, give| {
        f(item).into_iter().for_each(give);
        Ok(())
    })
}

/// A parallel stage over an iterator, of which panics and errors become results, in their place.
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

/// A stream of an iterator whose panic is its last item.
fn guarded<'env, I>(mut items: I) -> Stream<'env, Caught<I::Item>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
{
    let mut over = false;
    // The iterator may wait for what its caller does with the results: so it has a thread of its
    // own, and each item goes on at once.
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

/// How a stream is started: on threads of its own, or of a scope.
type Start<'scope, U> = Box<
    dyn FnOnce(Stream<'scope, Caught<U>>, &Options) -> Result<Outlet<'scope, Caught<U>>, Error>
        + Send
        + 'scope,
>;

/// Where an ordered iterator stands.
enum State<'scope, U: Send> {
    /// Not asked for anything yet: nothing runs.
    Waiting(Box<Stream<'scope, Caught<U>>>, Start<'scope, U>),
    Running(Box<Outlet<'scope, Caught<U>>>),
    /// It gives no more, and may not have ended.
    Failed(#[expect(dead_code, reason = "kept to be dropped")] Box<Outlet<'scope, Caught<U>>>),
    Over,
}

/// Results or, last, the reason why there are no more.
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
    /// Starts when the first result is asked for.
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

    /// No result follows. The outlet is kept, since its drop waits for a thread that may wait in the iterator, and
    /// the iterator for the caller.
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
    /// How to run; has an effect before the first result is asked for.
    pub fn options(mut self, options: Options) -> Self {
        self.0.options = options;
        self
    }
}

impl<U: Send> TryOrdered<'_, U> {
    /// How to run; has an effect before the first result is asked for.
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
