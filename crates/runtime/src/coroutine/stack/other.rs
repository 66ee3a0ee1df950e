//! Stacks that `corosensei` makes, each with mappings of its own, and with a guard page whose address is not known
//! here.

use super::HEAD;
use crate::coroutine::fiber::Header;
use crate::error::Error;
use corosensei::stack::{DefaultStack, Stack as _, StackPointer};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A pool of stacks of one size.
pub(crate) struct Pool {
    /// Bytes of a stack, without its header.
    bytes: usize,
    /// The stack returned last is at the end.
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
    /// [`Error::Stacks`] if the system refuses the memory.
    pub(crate) fn new(count: usize, bytes: usize) -> Result<Pool, Error> {
        let mut free = Vec::new();
        while free.len() < count {
            let made = free.len();
            let refused = |cause| Error::Stacks { count, bytes, made, cause, split: true };
            // Half of the address space at most: `DefaultStack` adds pages, and panics if the sum overflows.
            let all = bytes.checked_add(HEAD).filter(|all| *all <= isize::MAX as usize);
            let all = all.ok_or(std::io::ErrorKind::OutOfMemory.into()).map_err(refused)?;
            free.push(DefaultStack::new(all).map_err(refused)?);
        }
        Ok(Pool { bytes, free: Mutex::new(free) })
    }

    fn free(&self) -> MutexGuard<'_, Vec<DefaultStack>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a free stack. The caller takes no more than `count` at a time.
    pub(crate) fn take(self: &Arc<Self>) -> Stack {
        let inner = self.free().pop();
        Stack { inner, pool: self.clone() }
    }
}

/// One stack of a pool, in use until it is dropped.
pub(crate) struct Stack {
    /// `None` once the drop has returned it.
    inner: Option<DefaultStack>,
    pool: Arc<Pool>,
}

impl Stack {
    fn inner(&self) -> &DefaultStack {
        self.inner.as_ref().expect("more stacks are wanted than were asked for")
    }

    /// The place of the header: the highest [`HEAD`] bytes.
    pub(crate) fn head(&self) -> NonNull<Header> {
        let high = self.inner().base().get();
        NonNull::new((high - HEAD) as *mut Header).expect("a mapping is not at 0")
    }

    /// The addresses of the guard page: empty, as they are not known.
    pub(crate) fn guard(&self) -> std::ops::Range<usize> {
        0..0
    }

    /// The size of the stack in bytes, without its header.
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

// SAFETY: `base` is the header's address, which is a multiple of 64, as the base of a `DefaultStack` and `HEAD` are.
// From there down to the limit lie at least `bytes` bytes and the guard page of the `DefaultStack`, which this value
// owns until it is dropped.
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
