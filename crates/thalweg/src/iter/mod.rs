//! Ordered, bounded, parallel stages for any iterator.

//!
//! | module | has |
//! |---|---|
//! | [`stage`] | the stage of each adaptor, as a stream and as a function that the caller's thread calls |
//! | [`turns`] | the iterator, which the run and the caller's thread call in turns |
//! | [`results`] | the run, and the choice between both |

pub(crate) mod results;
pub(crate) mod stage;
mod turns;

use crate::{Error, Options};
use results::Results;
use stage::{BoxError, Failure, filter_map, flat_map, map, map_init, try_map};
use std::iter::FusedIterator;
use std::panic::resume_unwind;
use thalweg_runtime::{drop_quietly, into_message};

/// Parallel stages for iterators with items that are `Send`.
///
/// The functions run on all cores, at most a bounded number of items ahead of the caller, and the
/// results come in the order of the items. The bound is [`Options::capacity`] for each channel; by default
/// a channel holds about a millisecond of items: it starts with room for about a thousand small items, or for 8 that own
/// memory (2 for each thread, if that is more), and widens up to about 16,000, and at most 1 MiB.
///
/// **Lazy.** Nothing runs before the first call of `next`. From then on a thread of its own calls the
/// iterator, which may block, and the functions run until the bound is reached, whether or not the caller
/// calls `next` again. Dropping the results stops them (a thread blocked in the iterator stops when the
/// iterator returns: see [`Outlet`](crate::Outlet)).
///
/// **Short results.** Where a result takes less than about 5 us, `next` tries from time to time, for a millisecond,
/// to call the iterator and the function itself, as [`Iterator::map`] does, and goes on so if the caller gets more results in
/// that way. The other threads then sleep. If `next` stays away for a few milliseconds, or a call of the function takes so
/// long, they go on with the next items. With an option that asks for the threads of a run this is not tried: a deadline, a
/// policy, a plan, pins, domains, a timeline, a stack size, repeatable or untimed runs, or a function that is called at the start.
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

    /// Maps each item to one result, with scratch such as a buffer or the context of a codec: see
    /// [`Stream::par_map_init`](crate::Stream::par_map_init). Which items share a value is not determinate.
    ///
    /// ```
    /// use thalweg::ParallelExt;
    ///
    /// let digits: Vec<usize> = [7u64, 123, 45]
    ///     .into_iter()
    ///     .par_map_init(String::new, |buffer, number| {
    ///         buffer.clear();
    ///         buffer.push_str(&number.to_string());
    ///         buffer.len()
    ///     })
    ///     .collect();
    /// assert_eq!(digits, [1, 3, 2]);
    /// ```
    fn par_map_init<S, U, N, F>(self, init: N, f: F) -> Ordered<'static, U>
    where
        S: Send + 'static,
        U: Send + 'static,
        N: Fn() -> S + Send + Sync + 'static,
        F: Fn(&mut S, Self::Item) -> U + Send + Sync + 'static,
    {
        Ordered(Results::new(map_init(self, init, f)))
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
            Err(Failure::Error(_, error)) => panic_with(error.to_string(), error),
            // With its help.
            Err(Failure::Run(error)) => panic_with(format!("{error:?}"), error),
        })
    }
}

impl<U: Send> Iterator for TryOrdered<'_, U> {
    type Item = Result<U, Error>;

    fn next(&mut self) -> Option<Result<U, Error>> {
        let failed = |failure| match failure {
            Failure::Panic(node, payload) => {
                Error::Panic { node: node.to_owned(), message: into_message(payload) }
            }
            Failure::Error(node, cause) => Error::Node { node: node.to_owned(), cause },
            Failure::Run(error) => error,
        };
        self.0.next().map(|result| result.map_err(failed))
    }
}

/// Panics with an error's message. The error may be a user's value, whose drop must not panic while this thread unwinds.
#[cold]
fn panic_with(message: String, error: impl Sized) -> ! {
    drop_quietly(error);
    panic!("{message}")
}

impl<U: Send> FusedIterator for Ordered<'_, U> {}
impl<U: Send> FusedIterator for TryOrdered<'_, U> {}
