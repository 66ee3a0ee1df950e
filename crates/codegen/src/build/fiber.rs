//! Firings that wait in their middle: on stacks of their own.
//!
//! **What must hold.** Frames of generated code are on such a stack, which own nothing and cannot be unwound:
//! a stack that is not needed any more is reset. Between two resumptions the program's environment is
//! others'; what is this call's own in it is put back when it goes on. A failure leaves by `longjmp` to the
//! frame that the library has made on the same stack.

use super::load::{Env, Fire, Flowed};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::ffi::c_void;

/// What a call is begun with: a state, and how often to fire at the most.
type Begin = (*mut c_void, i64);

/// Why the stack is left: a call's result, or the number of items that it waits for; and how often the call
/// has fired so far.
type Left = (Flowed, i64);

/// A stack with a node's firings.
pub(super) struct Fiber {
    coroutine: Coroutine<Begin, Left, ()>,
    /// Firings of the call that have been told of.
    told: i64,
    waits: bool,
}

// SAFETY: the stack holds what the closure below has there, numbers and pointers into the state with which it is
// resumed, and frames of generated code, which has nothing of a thread's own. Whoever resumes it brings the
// same state along, and both are with one thread at a time.
unsafe impl Send for Fiber {}

impl Fiber {
    pub(super) fn new(fire: Fire, node: u32, bytes: usize) -> Result<Fiber, String> {
        let stack = DefaultStack::new(bytes).map_err(|error| format!("no stack: {error}"))?;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<Begin, Left>, mut begin| {
            loop {
                let (state, n): Begin = begin;
                let env = state.cast::<Env>();
                // SAFETY: a state begins with its environment, and whoever resumes us vouches for the state.
                unsafe { (*env).fiber = std::ptr::from_ref(yielder).cast() };
                // SAFETY: as `State::fire`.
                let failed = unsafe { fire(state, node, n) } != 0;
                // SAFETY: as above.
                let done = unsafe { (*env).done };
                begin = yielder.suspend((if failed { Flowed::Failed } else { Flowed::Rests }, done));
            }
        });
        Ok(Fiber { coroutine, told: 0, waits: false })
    }

    /// Whether it is in the middle of a firing.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// Goes on where it waits, or fires up to so many times; what came of it, and how often it has fired
    /// since it was left last.
    ///
    /// # Safety
    /// The state is the same each time, one of the library that `fire` is of, and its environment complete.
    pub(super) unsafe fn resume(&mut self, state: *mut c_void, n: i64) -> (Flowed, u64) {
        let CoroutineResult::Yield((flowed, done)) = self.coroutine.resume((state, n)) else {
            unreachable!("it goes on for ever")
        };
        // What fails does not tell.
        let fired = (done - self.told).max(0);
        self.waits = matches!(flowed, Flowed::Waits(_));
        self.told = if self.waits { done } else { 0 };
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

/// What the program calls to wait for items.
///
/// # Safety
/// The environment is that of the state with which the fiber of this call was resumed.
pub(super) unsafe extern "C" fn wait(env: *mut Env, _node: u32, items: i64, fired: i64) {
    // SAFETY: nobody else uses the environment while the program runs; the yielder is on the fiber's stack,
    // below us.
    let (out, done, fiber) = unsafe { ((*env).out, (*env).done, (*env).fiber) };
    // SAFETY: as above.
    let yielder = unsafe { &*fiber.cast::<Yielder<Begin, Left>>() };
    yielder.suspend((Flowed::Waits(items as u64), done + fired));
    // SAFETY: we have been resumed with the same state.
    unsafe { ((*env).out, (*env).done, (*env).fiber) = (out, done, fiber) };
}
