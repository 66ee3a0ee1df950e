//! Sinks: operators whose nodes return a value.

use super::BoxError;
use crate::build::output::{Output, Settle};
use crate::build::stream::Stream;
use crate::contain::drop_each;
use crate::node::{Flow, IntoFlow};
use groups::{Groups, drop_groups};
use std::hash::Hash;

mod groups;

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Calls `f` for every item, in order. `f` returns nothing, a `Result`, whose error fails the run, or a
    /// [`ControlFlow`](std::ops::ControlFlow), whose `Break` ends the node.
    pub fn for_each<R: IntoFlow + 'env>(self, mut f: impl FnMut(T) -> R + Send + 'env) -> Output<'env, ()> {
        self.end("for_each", (), move |_, item| f(item))
    }

    /// Calls `f` for every item, in order, with a state, and returns the state. [`Stream::fold`] in place: for large
    /// states, and for functions that may fail or end the node, as that of [`Stream::for_each`] may.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// let counts = thalweg_runtime::Graph::new()
    ///     .source("to be or not to be".split(' '))
    ///     .for_each_with(BTreeMap::new(), |counts, word| *counts.entry(word).or_insert(0) += 1)
    ///     .run_with(&thalweg_runtime::Options::new())?.into_value();
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
            None => Flow::End, // never: `end` begins with the state
        })
    }

    /// Drops every item: for a stream that is not needed, of a producer that is.
    pub fn discard(self) {
        _ = self.for_each(drop).named("discard");
    }

    /// Collects all items.
    #[must_use = "the output gives the items: `run` it, or `take` it from the finished run"]
    pub fn collect(self) -> Output<'env, Vec<T>> {
        self.end("collect", Vec::new(), |items, item| items.get_or_insert_default().push(item))
            .discarded_by(drop_each)
    }

    /// Folds the items, in order, into one value: `f` makes the next value from the previous one and an item.
    #[must_use = "the output gives the result: `run` it, or `take` it from the finished run"]
    pub fn fold<A: Send + 'env>(
        self,
        initial: A,
        mut f: impl FnMut(A, T) -> A + Send + 'env,
    ) -> Output<'env, A> {
        self.end("fold", initial, move |value, item| *value = value.take().map(|value| f(value, item)))
    }

    /// [`Stream::fold`] with a function that may fail. An error fails the run.
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

    /// Folds the items of each key into one value: `init` makes the first value of a key, and `f` the next value from the
    /// previous one and an item. The groups have the order of their first items, and each folds its items in order, so the
    /// result is the same at any number of threads.
    ///
    /// The node keeps all keys and values until the run ends: memory grows with the number of keys.
    ///
    /// ```
    /// use thalweg_runtime::Graph;
    ///
    /// let words = Graph::new().source("to be or not to be".split(' '));
    /// let counts = words.fold_by_key(|word| *word, || 0, |count, _word| count + 1).run()?.into_value();
    /// assert_eq!(counts, [("to", 2), ("be", 2), ("or", 1), ("not", 1)]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    #[must_use = "the output gives the groups: `run` it, or `take` it from the finished run"]
    pub fn fold_by_key<K, A>(
        self,
        mut key: impl FnMut(&T) -> K + Send + 'env,
        mut init: impl FnMut() -> A + Send + 'env,
        mut f: impl FnMut(A, T) -> A + Send + 'env,
    ) -> Output<'env, Vec<(K, A)>>
    where
        K: Hash + Eq + Send + 'env,
        A: Send + 'env,
    {
        let groups = self.end_with("fold_by_key", Groups::new(), Groups::finish, move |groups, item| {
            if let Some(groups) = groups {
                let key = key(&item);
                groups.change(key, &mut init, |value| f(value, item));
            }
        });
        groups.discarded_by(drop_groups)
    }

    /// Adds a sink with a value, which `f` changes for each item. The node has the value until the run drops it.
    fn end<A: Send + 'env, R: IntoFlow + 'env>(
        self,
        name: &str,
        value: A,
        f: impl FnMut(&mut Option<A>, T) -> R + Send + 'env,
    ) -> Output<'env, A> {
        self.end_with(name, value, Some, f)
    }

    /// [`Stream::end`] with a value of which `finish` makes the result.
    fn end_with<A: Send + 'env, V: Send + 'env, R: IntoFlow + 'env>(
        self,
        name: &str,
        value: A,
        finish: fn(A) -> Option<V>,
        mut f: impl FnMut(&mut Option<A>, T) -> R + Send + 'env,
    ) -> Output<'env, V> {
        let (mut settle, slot) = Settle::new(value, finish);
        let (shared, number) = (self.shared.clone(), self.number);
        let kernel = self.kernel(name, ());
        let fired = kernel.add_sequential(
            move |items, ()| {
                settle.is_changing = true;
                let flow = f(&mut settle.value, items.pop()).into_flow();
                settle.is_changing = matches!(flow, Flow::Fail(_));
                flow
            },
            false,
        );
        let node = fired.0;
        Output { shared, number, node, slot }
    }
}
