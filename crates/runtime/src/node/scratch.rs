//! The code of `par_map_init`: a parallel kernel's function with scratch values.
//!
//! | a value is | entered by | left by |
//! |---|---|---|
//! | under way | a call of [`ScratchPool::with`], which takes an idle value or makes one | the end of the call; a panic, which drops it |
//! | idle | the end of a call | a call that takes it; the drop of the pool |
//!
//! A node calls `with` for the firings of a ticket together, so it locks twice for a ticket; if its results are weighed, twice
//! for each item, as an iterator adaptor does. There are at most as many values as calls at the same time: one for each worker.

use super::parallel::{self, Failure};
use super::{Code, code::Parts};
use crate::contain::Contained;
use crate::port::shapes::One;
use crate::port::{PopPort, PushPort};
use std::cell::RefCell;
use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Scratch values: idle ones, and the function that makes them. `par_map_init` of streams and of iterators have one each.
#[doc(hidden)]
pub struct ScratchPool<N, S> {
    init: Contained<N>,
    /// The value that was used last is taken first: it is in a cache.
    idle: Mutex<Vec<Contained<S>>>,
}

impl<N, S> std::fmt::Debug for ScratchPool<N, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScratchPool")
    }
}

impl<N: Fn() -> S, S> ScratchPool<N, S> {
    /// A pool without values.
    pub fn new(init: N) -> ScratchPool<N, S> {
        ScratchPool { init: Contained::new(init), idle: Mutex::new(Vec::new()) }
    }

    /// Calls `f` with a value that no other call has. If `f` panics the value is dropped.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&mut S) -> R) -> R {
        let mut value = self.take();
        let result = f(&mut value);
        self.idle().push(value);
        result
    }

    /// An idle value, or a new one. User code runs after the unlock.
    fn take(&self) -> Contained<S> {
        let idle = self.idle().pop();
        idle.unwrap_or_else(|| Contained::new((self.init)()))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Contained<S>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A function from an item and a scratch value to a result.
pub(crate) struct Scratch<N, F, S> {
    pool: ScratchPool<N, S>,
    f: Contained<F>,
}

impl<N: Fn() -> S, F, S> Scratch<N, F, S> {
    pub(crate) fn new(init: N, f: F) -> Scratch<N, F, S> {
        Scratch { pool: ScratchPool::new(init), f: Contained::new(f) }
    }
}

impl<T, U, N, F, S> Code<One<PopPort<T>>, One<PushPort<U>>> for Scratch<N, F, S>
where
    T: Send,
    U: Send,
    S: Send,
    N: Fn() -> S + Send + Sync,
    F: Fn(&mut S, T) -> U + Send + Sync,
{
    type Rest = Infallible;
    const IS_INTERRUPTIBLE: bool = false;

    fn run(
        &self,
        parts: Parts<'_, One<PopPort<T>>, One<PushPort<U>>>,
        _rest: &mut Option<Infallible>,
        limits: [(usize, usize); 1],
        firings: usize,
    ) -> Result<usize, Failure> {
        self.pool.with(|scratch| {
            let scratch = RefCell::new(scratch);
            parallel::fire_run::<One<PopPort<T>>, One<PushPort<U>>, ()>(
                parts,
                &|items, out| out.push((self.f)(&mut **scratch.borrow_mut(), items.pop())),
                limits,
                firings,
            )
        })
    }
}
