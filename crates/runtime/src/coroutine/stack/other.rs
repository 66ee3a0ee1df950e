//! Stacks of `corosensei`'s own making, each with mappings of its own.

use super::HEAD;
use crate::coroutine::fiber::Header;
use crate::error::Error;
use corosensei::stack::{DefaultStack, Stack as _, StackPointer};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stacks of one size.
pub(crate) struct Pool {
    bytes: usize,
    free: Mutex<Vec<DefaultStack>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Pool {
    /// `count` stacks of at least `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::Stacks`] where the system has no room for them.
    pub(crate) fn new(count: usize, bytes: usize) -> Result<Pool, Error> {
        let mut free = Vec::new();
        while free.len() < count {
            let made = free.len();
            let refused = |cause| Error::Stacks { count, bytes, made, cause, split: true };
            free.push(DefaultStack::new(bytes + HEAD).map_err(refused)?);
        }
        Ok(Pool { bytes, free: Mutex::new(free) })
    }

    fn free(&self) -> MutexGuard<'_, Vec<DefaultStack>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a free stack.
    pub(crate) fn take(self: &Arc<Self>) -> Stack {
        let inner = self.free().pop();
        Stack { inner, pool: self.clone() }
    }
}

/// One stack of a pool.
pub(crate) struct Stack {
    /// Until it is returned.
    inner: Option<DefaultStack>,
    pool: Arc<Pool>,
}

impl Stack {
    fn inner(&self) -> &DefaultStack {
        self.inner.as_ref().expect("more stacks are wanted than were asked for")
    }

    /// Where the header lies.
    pub(crate) fn head(&self) -> NonNull<Header> {
        let high = self.inner().base().get();
        NonNull::new((high - HEAD) as *mut Header).expect("a mapping is not at 0")
    }

    /// The addresses of the guard: none that are known.
    pub(crate) fn guard(&self) -> std::ops::Range<usize> {
        0..0
    }

    /// Bytes that were asked for.
    pub(crate) fn bytes(&self) -> usize {
        self.pool.bytes
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let inner = self.inner.take();
        self.pool.free().extend(inner);
    }
}

// SAFETY: what lies below the header of a stack with a guard page of its own.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.head().as_ptr() as usize).expect("a mapping is not at 0")
    }

    fn limit(&self) -> StackPointer {
        self.inner().limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.inner().teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        let inner = self.inner.as_mut().expect("a stack in use");
        inner.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}
