//! Stacks of coroutines: one pool for each size, made before the run, so that what the system
//! refuses is refused before anything has begun.
//!
//! A coroutine takes a stack when it begins and returns it when it has ended. The stack returned last, whose pages are
//! mapped, is taken first. At its high end lies the coroutine's [`Header`].

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
pub(crate) use linux::{Pool, Stack};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Pool, Stack};

use super::fiber::Header;
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a stack by default. Only pages that are touched are ever mapped.
pub(crate) const BYTES: usize = 64 << 10;

/// Bytes of a stack at least: the report of a panic must fit.
pub(crate) const LEAST: usize = 16 << 10;

/// Bytes at the high end of a stack that are the header's.
const HEAD: usize = size_of::<Header>().next_multiple_of(64);

/// Coroutines by the bytes of stack that they asked for.
pub(crate) type Wanted = BTreeMap<usize, usize>;

/// The pools of a run, by the bytes of their stacks.
#[derive(Debug, Default)]
pub(crate) struct Stacks(BTreeMap<usize, Arc<Pool>>);

impl Stacks {
    /// Stacks for all of a network's coroutines.
    ///
    /// # Errors
    /// [`Error::Stacks`] where the system has no room for them.
    pub(crate) fn new(wanted: &Wanted) -> Result<Stacks, Error> {
        let pools = wanted.iter().map(|(bytes, count)| Ok((*bytes, Arc::new(Pool::new(*count, *bytes)?))));
        pools.collect::<Result<_, Error>>().map(Stacks)
    }

    /// The pool of stacks of `bytes` bytes.
    pub(crate) fn pool(&self, bytes: usize) -> Arc<Pool> {
        self.0[&bytes].clone()
    }
}
