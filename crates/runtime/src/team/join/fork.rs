//! A half that another member may execute, in the frame of its owner.

use crate::sync::{AtomicBool, Ordering, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// The second half of a `join`.
pub(crate) struct Fork<B, R> {
    /// Accessed by the thread that begins the half.
    work: UnsafeCell<Option<B>>,
    /// Written by the thief before `is_done`, and read by the owner after it.
    result: UnsafeCell<Option<thread::Result<R>>>,
    /// A thief has executed the half, and accesses it no more.
    is_done: AtomicBool,
}

/// A [`Fork`] with its types erased.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half {
    fork: *const (),
    execute: unsafe fn(*const ()),
}

// SAFETY: a half is executed by one thread, and `Fork::half` requires that its work and its result are `Send`.
unsafe impl Send for Half {}

impl Half {
    /// Whether this is the half of that frame.
    pub(super) fn is(self, other: Half) -> bool {
        self.fork == other.fork
    }

    /// Executes the half, on a thief.
    ///
    /// # Safety
    /// The half is taken from a deque, and this is the only call.
    pub(super) unsafe fn execute(self) {
        // SAFETY: the frame of the owner waits until the half is done, so the fork lives, and this is the only call.
        unsafe { (self.execute)(self.fork) };
    }
}

impl<B: FnOnce() -> R, R> Fork<B, R> {
    pub(super) fn new(work: B) -> Fork<B, R> {
        Fork {
            work: UnsafeCell::new(Some(work)),
            result: UnsafeCell::new(None),
            is_done: AtomicBool::new(false),
        }
    }

    /// The half, for a deque. The fork is not moved, and lives until the half is done or taken back.
    #[inline]
    pub(super) fn half(&self) -> Half
    where
        B: Send,
        R: Send,
    {
        Half { fork: std::ptr::from_ref(self).cast(), execute: Self::execute }
    }

    /// Takes the work, for the owner.
    ///
    /// # Safety
    /// The owner has taken the half back.
    #[inline]
    pub(super) unsafe fn take_work(&self) -> B {
        // SAFETY: the half is in no deque, so no other thread accesses the cell.
        let work = self.work.with_mut(|work| unsafe { (*work).take() });
        work.expect("a half is executed once")
    }

    /// Takes the result of the half, which a thief has executed.
    ///
    /// # Safety
    /// The half is done, by [`Fork::is_done`].
    pub(super) unsafe fn take_result(&self) -> thread::Result<R> {
        // SAFETY: the thief has written the result before `is_done`, and accesses the fork no more.
        let result = self.result.with_mut(|result| unsafe { (*result).take() });
        result.expect("a half that is done has a result")
    }

    /// Whether a thief has executed the half. `Acquire`: pairs with the store in `execute`.
    pub(super) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    /// Executes the half that is erased in `fork`.
    ///
    /// # Safety
    /// As [`Half::execute`]; and `fork` is from [`Fork::half`] of this type.
    unsafe fn execute(fork: *const ()) {
        let fork = fork.cast::<Self>();
        // SAFETY: the fork lives until `is_done` is stored, and no other thread accesses its cells before. No reference to it
        // is kept across that store.
        unsafe {
            let work = (*fork).work.with_mut(|work| (*work).take()).expect("a half is executed once");
            let result = catch_unwind(AssertUnwindSafe(work));
            (*fork).result.with_mut(|place| *place = Some(result));
            (*fork).is_done.store(true, Ordering::Release);
        }
    }
}
