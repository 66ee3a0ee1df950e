//! The bytes of items and states.

use std::sync::{Arc, OnceLock};

/// How many bytes a state has, for a [budget](crate::Cluster::budget): [`SizeOf`], or a function of it.
pub trait Weigh<S>: Send + Sync {
    /// Whether all states have the same.
    const IS_FIXED: bool = false;

    /// The bytes of a state.
    fn bytes(&self, state: &S) -> usize;
}

/// Counts a state as its type has it, without what it owns elsewhere: a lower bound.
#[derive(Clone, Copy, Debug)]
pub struct SizeOf;

impl<S> Weigh<S> for SizeOf {
    const IS_FIXED: bool = true;

    fn bytes(&self, _state: &S) -> usize {
        size_of::<S>()
    }
}

impl<S, F: Fn(&S) -> usize + Send + Sync> Weigh<S> for F {
    fn bytes(&self, state: &S) -> usize {
        self(state)
    }
}

/// The bytes of an item of a source.
type Weigher<'env, T> = Box<dyn Fn(&T) -> usize + Send + Sync + 'env>;

/// The function of a source that the user may still set.
pub(super) struct Weighing<'env, T>(Arc<OnceLock<Weigher<'env, T>>>);

impl<T> Clone for Weighing<'_, T> {
    fn clone(&self) -> Self {
        Weighing(self.0.clone())
    }
}

impl<'env, T> Weighing<'env, T> {
    pub fn new() -> Weighing<'env, T> {
        Weighing(Arc::default())
    }

    /// Returns false if there is a function already.
    pub fn set(&self, bytes: impl Fn(&T) -> usize + Send + Sync + 'env) -> bool {
        self.0.set(Box::new(bytes)).is_ok()
    }

    /// The function, or this one.
    pub fn or<'a>(&'a self, usual: &'a dyn Fn(&T) -> usize) -> &'a dyn Fn(&T) -> usize {
        self.0.get().map_or(usual, |bytes| bytes)
    }
}
