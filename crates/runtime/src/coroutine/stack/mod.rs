//! Stacks of coroutines. A run has one pool for each size, made before the run begins, so that a refusal of the system
//! is an error before any node is activated.
//!
//! | a stack is | entered by | left by |
//! |---|---|---|
//! | free, never used: no page is mapped | the making of the pool | `Pool::take` |
//! | in use by one coroutine | `Pool::take`, at the coroutine's first poll | the drop of the `Stack`, after the coroutine has ended |
//! | free, returned: its pages are mapped | that drop | `Pool::take`, the one returned last first |
//!
//! A pool has a stack for each coroutine of its size, so taking never fails. A mutex guards the free stacks; it also
//! orders the last access of one coroutine before the first of the next. At the high end of a stack lies the
//! coroutine's [`Header`].
//!
//! Linux has pools of its own (`linux`); elsewhere `corosensei` makes the stacks.

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

/// The default size of a stack, in bytes. Only pages that a coroutine touches are mapped.
pub(crate) const BYTES: usize = 64 << 10;

/// The smallest size of a stack, in bytes: the report of a panic must fit.
pub(crate) const LEAST: usize = 16 << 10;

/// The bytes at the high end of a stack that the header takes. A multiple of 64, so that the coroutine's base is
/// aligned.
const HEAD: usize = size_of::<Header>().next_multiple_of(64);

/// By size in bytes: the number of coroutines that need a stack of that size.
pub(crate) type Wanted = BTreeMap<usize, usize>;

/// The pools of a run, by the bytes of their stacks.
#[derive(Debug, Default)]
pub(crate) struct Stacks(BTreeMap<usize, Arc<Pool>>);

impl Stacks {
    /// A stack for each coroutine of a network.
    ///
    /// # Errors
    /// [`Error::Stacks`] if the system refuses the memory.
    pub(crate) fn new(wanted: &Wanted) -> Result<Stacks, Error> {
        let pools = wanted.iter().map(|(bytes, count)| Ok((*bytes, Arc::new(Pool::new(*count, *bytes)?))));
        pools.collect::<Result<_, Error>>().map(Stacks)
    }

    /// The pool of stacks of `bytes` bytes, one of the sizes that `new` was called for.
    pub(crate) fn pool(&self, bytes: usize) -> Arc<Pool> {
        self.0[&bytes].clone()
    }
}
