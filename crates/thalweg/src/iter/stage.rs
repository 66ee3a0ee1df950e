//! The stage of each adaptor: as a stream, which a run executes, and as a function that the caller's thread calls in its turns.

use super::turns::{Control, Source, Taken, Turns};
use crate::{Error, Stream, from_iter, output};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use thalweg_runtime::{PushSpec, ScratchPool, drop_quietly};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An item, or the reason why there is none.
///
/// The reason is boxed so that a channel's slots stay as small as its items.
pub(crate) type Caught<T> = Result<T, Box<Stop>>;

/// Why no more items follow.
#[derive(Debug)]
pub(crate) enum Stop {
    Failed(Failure),
    /// The caller's thread makes the next results ([`turns`](super::turns)).
    Turn,
}

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

/// An adaptor's stage.
pub(crate) struct Stage<'env, U: Send> {
    pub(crate) stream: Stream<'env, Caught<U>>,
    pub(crate) by_hand: Box<dyn ByHand<U> + 'env>,
}

/// The stage on the caller's thread.
pub(crate) trait ByHand<U>: Send {
    /// Makes the next result, if it is the caller's turn.
    fn next(&mut self) -> Made<U>;

    fn turns(&self) -> &dyn Control;
}

/// What the caller's thread has made.
pub(crate) enum Made<U> {
    Result(Caught<U>),
    /// No result of the latest [`MAX_DROPPED`] items.
    Nothing,
    /// No result follows in this turn: it is not the caller's, or the iterator has ended.
    NoTurn,
}

/// Maximum number of items without a result that the caller's thread takes before it looks at the clock.
const MAX_DROPPED: usize = 16;

/// The stage of [`ParallelExt::par_map`](super::ParallelExt::par_map).
pub(crate) fn map<'env, I, U, F>(items: I, f: F) -> Stage<'env, U>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: Send + 'env,
    F: Fn(I::Item) -> U + Send + Sync + 'env,
{
    at_most_one("par_map", items, one(), move |item| Ok(Some(f(item))))
}

/// The stage of [`ParallelExt::par_map_init`](super::ParallelExt::par_map_init).
pub(crate) fn map_init<'env, I, S, U, N, F>(items: I, init: N, f: F) -> Stage<'env, U>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    S: Send + 'env,
    U: Send + 'env,
    N: Fn() -> S + Send + Sync + 'env,
    F: Fn(&mut S, I::Item) -> U + Send + Sync + 'env,
{
    let pool = ScratchPool::new(init);
    at_most_one("par_map_init", items, one(), move |item| Ok(Some(pool.with(|scratch| f(scratch, item)))))
}

/// The stage of [`ParallelExt::try_par_map`](super::ParallelExt::try_par_map).
pub(crate) fn try_map<'env, I, U, E, F>(items: I, f: F) -> Stage<'env, U>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: Send + 'env,
    E: Into<BoxError>,
    F: Fn(I::Item) -> Result<U, E> + Send + Sync + 'env,
{
    at_most_one("try_par_map", items, one(), move |item| f(item).map(Some).map_err(E::into))
}

/// The stage of [`ParallelExt::par_filter_map`](super::ParallelExt::par_filter_map).
pub(crate) fn filter_map<'env, I, U, F>(items: I, f: F) -> Stage<'env, U>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: Send + 'env,
    F: Fn(I::Item) -> Option<U> + Send + Sync + 'env,
{
    at_most_one("par_filter_map", items, output("out"), move |item| Ok(f(item)))
}

/// The stage of [`ParallelExt::par_flat_map`](super::ParallelExt::par_flat_map).
pub(crate) fn flat_map<'env, I, U, F>(items: I, f: F) -> Stage<'env, U::Item>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: IntoIterator + 'env,
    U::IntoIter: Send + 'env,
    U::Item: Send + 'env,
    F: Fn(I::Item) -> U + Send + Sync + 'env,
{
    let turns = Turns::new(items);
    let open = move |item: Caught<I::Item>| {
        let results = item.and_then(|item| caught("par_flat_map", || f(item).into_iter()));
        CaughtResults { results: Some(results) }
    };
    let open = Arc::new(open);
    let by_hand = Many { turns: turns.clone(), open: open.clone(), results: CaughtResults { results: None } };
    let stream = blocking(turns).par_flat_map(move |item| open(item)).owns_as::<U::Item>();
    Stage { stream, by_hand: Box::new(by_hand) }
}

/// Calls `f`; a panic becomes a failure of the node `name`.
#[inline]
pub(super) fn caught<U>(name: &'static str, f: impl FnOnce() -> U) -> Caught<U> {
    let failed = |panic| Box::new(Stop::Failed(Failure::Panic(name, panic)));
    catch_unwind(AssertUnwindSafe(f)).map_err(failed)
}

/// The output of a stage that makes one result of each item, which is written in place: the tickets of a dynamic output have
/// memory of their own, which each run would allocate and free.
fn one<U>() -> PushSpec<Caught<U>> {
    output("out").push(1)
}

/// A stage that makes at most one result of each item. Its output is [`one`] if it makes one of each. A panic or an error becomes a
/// result, at the position of its item.
fn at_most_one<'env, I, U, F>(name: &'static str, items: I, out: PushSpec<Caught<U>>, f: F) -> Stage<'env, U>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
    U: Send + 'env,
    F: Fn(I::Item) -> Result<Option<U>, BoxError> + Send + Sync + 'env,
{
    let turns = Turns::new(items);
    let call = move |item| match caught(name, || f(item)) {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(Box::new(Stop::Failed(Failure::Error(name, error)))),
        Err(panic) => Err(panic),
    };
    let call = Arc::new(call);
    let by_hand = One { turns: turns.clone(), call: call.clone() };
    let kernel = blocking(turns).kernel(name, out);
    let stream = kernel.parallel(move |items, out| {
        if let Some(result) = items.pop().and_then(|item| call(item)).transpose() {
            out.push(result);
        }
    });
    Stage { stream: stream.owns_as::<U>(), by_hand: Box::new(by_hand) }
}

/// A stream of the items of the run's turns. If the iterator panics, the panic is the last item.
///
/// The iterator may block until the caller has used earlier results. So it has a thread of its own, and each item is
/// published at once.
fn blocking<'env, I>(turns: Arc<Turns<I>>) -> Stream<'env, Caught<I::Item>>
where
    I: Iterator + Send + 'env,
    I::Item: Send + 'env,
{
    from_iter(Source::new(turns)).blocking().owns_as::<I::Item>()
}

/// A stage of [`at_most_one`] on the caller's thread.
struct One<I, F> {
    turns: Arc<Turns<I>>,
    call: Arc<F>,
}

impl<I, U, F> ByHand<U> for One<I, F>
where
    I: Iterator + Send,
    F: Fn(I::Item) -> Caught<Option<U>> + Send + Sync,
{
    fn next(&mut self) -> Made<U> {
        for _ in 0..MAX_DROPPED {
            let result = match self.turns.take() {
                Taken::Item(item) => item.and_then(|item| (self.call)(item)),
                Taken::End | Taken::NotMine => return Made::NoTurn,
            };
            if let Some(result) = result.transpose() {
                return Made::Result(result);
            }
        }
        Made::Nothing
    }

    fn turns(&self) -> &dyn Control {
        &*self.turns
    }
}

/// The stage of [`flat_map`] on the caller's thread.
struct Many<I, F, J> {
    turns: Arc<Turns<I>>,
    open: Arc<F>,
    /// The results of the latest item.
    results: CaughtResults<J>,
}

impl<I, F, J> ByHand<J::Item> for Many<I, F, J>
where
    I: Iterator + Send,
    F: Fn(Caught<I::Item>) -> CaughtResults<J> + Send + Sync,
    J: Iterator + Send,
{
    fn next(&mut self) -> Made<J::Item> {
        for _ in 0..MAX_DROPPED {
            // These come first, even if the turn is the run's by now.
            if let Some(result) = self.results.next() {
                return Made::Result(result);
            }
            match self.turns.take() {
                Taken::Item(item) => self.results = (self.open)(item),
                Taken::End | Taken::NotMine => return Made::NoTurn,
            }
        }
        Made::Nothing
    }

    fn turns(&self) -> &dyn Control {
        &*self.turns
    }
}

/// The results of one item, up to the first failure.
struct CaughtResults<J> {
    /// `None` after the last result, and after a failure.
    results: Option<Caught<J>>,
}

impl<J: Iterator> Iterator for CaughtResults<J> {
    type Item = Caught<J::Item>;

    fn next(&mut self) -> Option<Caught<J::Item>> {
        let Some(Ok(results)) = &mut self.results else {
            return self.results.take().and_then(Result::err).map(Err);
        };
        match caught("par_flat_map", || results.next()).transpose() {
            Some(Ok(result)) => Some(Ok(result)),
            // A panic of the drop is a failure like one of `next`, unless that has failed.
            None => {
                let ended = self.results.take();
                caught("par_flat_map", || drop(ended)).err().map(Err)
            }
            failed => {
                drop_quietly(self.results.take());
                failed
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.results {
            Some(Ok(results)) => (0, results.size_hint().1),
            Some(Err(_)) => (1, Some(1)),
            None => (0, Some(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Held;

    impl Drop for Held {
        fn drop(&mut self) {
            panic!("in the drop of an iterator");
        }
    }

    /// The results of an iterator, and the messages of its panics.
    fn all(iterator: impl Iterator<Item = u64>) -> Vec<Result<u64, String>> {
        let message = |stop: Box<Stop>| match *stop {
            Stop::Failed(Failure::Panic("par_flat_map", payload)) => thalweg_runtime::into_message(payload),
            other => panic!("{other:?}"),
        };
        let results = CaughtResults { results: Some(Ok(iterator)) };
        results.map(|result| result.map_err(message)).collect()
    }

    #[test]
    fn a_panic_of_an_iterators_drop_is_a_failure() {
        let held = Held;
        let results = all((0..2).inspect(move |_| _ = &held));
        assert_eq!(results, [Ok(0), Ok(1), Err("in the drop of an iterator".to_owned())]);
        let held = Held;
        let results = all((0..2).map(move |n| if n == 1 { panic!("injected") } else { (n, _ = &held).0 }));
        assert_eq!(results, [Ok(0), Err("injected".to_owned())], "the first panic is the failure");
    }
}
