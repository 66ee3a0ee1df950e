//! Running graphs beside the caller that borrow from it.

use crate::Chain;
use crate::iter::{Caught, Ordered, guarded};

/// Threads that end before the scope does.
#[derive(Debug)]
pub struct Scope<'scope, 'env> {
    threads: &'scope std::thread::Scope<'scope, 'env>,
}

/// Runs `f` with a scope; every graph started in it has ended when this returns.
///
/// ```
/// let text = String::from("to be or not to be");
/// let lengths: Result<Vec<usize>, _> =
///     thalweg::scope(|scope| scope.par_map(text.split(' '), |word: &str| word.len()).collect());
/// assert_eq!(lengths?, [2, 2, 2, 3, 2, 2]);
/// # Ok::<(), thalweg::Error>(())
/// ```
pub fn scope<'env, R>(f: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> R) -> R {
    std::thread::scope(|threads| f(&Scope { threads }))
}

impl<'scope, 'env> Scope<'scope, 'env> {
    pub(crate) fn threads(&self) -> &'scope std::thread::Scope<'scope, 'env> {
        self.threads
    }

    /// [`crate::ParallelExt::par_map`] for what borrows.
    pub fn par_map<I, U, F>(&self, items: I, f: F) -> Ordered<'scope, U>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'scope,
        I::Item: Send + 'scope,
        U: Send + 'scope,
        F: Fn(I::Item) -> U + Send + Sync + 'scope,
    {
        let chain = guarded(items.into_iter()).parallel_results("par_map", move |item, give| give(f(item)));
        self.lazy(chain)
    }

    /// [`crate::ParallelExt::par_filter_map`] for what borrows.
    pub fn par_filter_map<I, U, F>(&self, items: I, f: F) -> Ordered<'scope, U>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'scope,
        I::Item: Send + 'scope,
        U: Send + 'scope,
        F: Fn(I::Item) -> Option<U> + Send + Sync + 'scope,
    {
        self.par_results("par_filter_map", items, f)
    }

    /// [`crate::ParallelExt::par_flat_map`] for what borrows.
    pub fn par_flat_map<I, U, F>(&self, items: I, f: F) -> Ordered<'scope, U::Item>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'scope,
        I::Item: Send + 'scope,
        U: IntoIterator,
        U::Item: Send + 'scope,
        F: Fn(I::Item) -> U + Send + Sync + 'scope,
    {
        self.par_results("par_flat_map", items, f)
    }

    fn par_results<I, U, F>(&self, name: &'static str, items: I, f: F) -> Ordered<'scope, U::Item>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'scope,
        I::Item: Send + 'scope,
        U: IntoIterator,
        U::Item: Send + 'scope,
        F: Fn(I::Item) -> U + Send + Sync + 'scope,
    {
        let each = move |item, give: &mut dyn FnMut(U::Item)| f(item).into_iter().for_each(give);
        self.lazy(guarded(items.into_iter()).parallel_results(name, each))
    }

    fn lazy<U: Send + 'scope>(&self, chain: Chain<'scope, Caught<U>>) -> Ordered<'scope, U> {
        let scope = Scope { threads: self.threads };
        Ordered::lazy(chain, Box::new(move |chain, options| chain.start_in(&scope, options)))
    }
}
