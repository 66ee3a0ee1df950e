//! Firings that wait in the middle: each node's firings run on a stack of their own.
//!
//! **What must hold.** The stack holds frames of generated code, which own nothing and cannot be unwound: a
//! stack that is no longer needed is reset. Between two resumptions other calls use the program's
//! environment; the fields that belong to this call are restored when it resumes. A failure leaves by
//! `longjmp` to the frame of the library function on the same stack.

use super::load::{Env, Fire, Flowed};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::ffi::c_void;

/// What a call begins with: a state, and the most firings to do.
type Begin = (*mut c_void, i64);

/// Why the stack is left: a call's result, or the number of items that it waits for; and the firings of the
/// call so far.
type Left = (Flowed, i64);

/// The stack of a node's firings.
pub(super) struct Fiber {
    coroutine: Coroutine<Begin, Left, ()>,
    /// Firings of the call that have been reported.
    reported: i64,
    waits: bool,
}

// SAFETY: the stack holds only what the closure below puts there, numbers and pointers into the state with
// which it is resumed, and frames of generated code, which uses no thread-local data. `resume` requires the
// same state each time, and one thread at a time has both the fiber and the state.
unsafe impl Send for Fiber {}

impl Fiber {
    pub(super) fn new(fire: Fire, node: u32, bytes: usize) -> Result<Fiber, String> {
        let stack = DefaultStack::new(bytes)
            .map_err(|error| format!("cannot allocate a stack of {bytes} bytes: {error}"))?;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<Begin, Left>, mut begin| {
            loop {
                let (state, n): Begin = begin;
                let env = state.cast::<Env>();
                // SAFETY: a state begins with its environment, and the caller of `resume` vouches for the
                // state.
                unsafe { (*env).fiber = std::ptr::from_ref(yielder).cast() };
                // SAFETY: the state is one of the library of `fire`, and its environment is complete, as the
                // caller of `resume` vouches.
                let failed = unsafe { fire(state, node, n) } != 0;
                // SAFETY: as for the first access to the environment.
                let done = unsafe { (*env).done };
                begin = yielder.suspend((if failed { Flowed::Failed } else { Flowed::Rests }, done));
            }
        });
        Ok(Fiber { coroutine, reported: 0, waits: false })
    }

    /// Whether it is in the middle of a firing.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// Continues the firing that waits, or does up to `n` firings. Returns the result, and the firings since
    /// the last call returned.
    ///
    /// # Safety
    /// The state is the same each time, one of the library that `fire` is of, and its environment complete.
    pub(super) unsafe fn resume(&mut self, state: *mut c_void, n: i64) -> (Flowed, u64) {
        let CoroutineResult::Yield((flowed, done)) = self.coroutine.resume((state, n)) else {
            unreachable!("the coroutine never returns")
        };
        // A call that fails does not report its firings.
        let fired = (done - self.reported).max(0);
        self.waits = matches!(flowed, Flowed::Waits(_));
        self.reported = if self.waits { done } else { 0 };
        (flowed, fired as u64)
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        // SAFETY: nothing on the stack has anything to drop: the closure above holds numbers and pointers, and
        // the rest is generated code.
        unsafe { self.coroutine.force_reset() };
    }
}

/// Called by the program to wait for items.
///
/// # Safety
/// The environment is that of the state with which the fiber of this call was resumed.
pub(super) unsafe extern "C" fn wait(env: *mut Env, _node: u32, items: i64, fired: i64) {
    // SAFETY: only this thread uses the environment while the program runs; the yielder is on the fiber's
    // stack, below this frame.
    let (out, done, fiber) = unsafe { ((*env).out, (*env).done, (*env).fiber) };
    // SAFETY: `fiber` is the yielder that the fiber's closure has put there; it lives as long as the stack.
    let yielder = unsafe { &*fiber.cast::<Yielder<Begin, Left>>() };
    yielder.suspend((Flowed::Waits(items as u64), done + fired));
    // SAFETY: `resume` was called with the same state, as it requires.
    unsafe { ((*env).out, (*env).done, (*env).fiber) = (out, done, fiber) };
}
