//! A future that runs a closure on a stack of its own: polled, it runs until an operation of the
//! closure has to wait.
//!
//! The closure's operations are futures too: they are polled with the context that the fiber is
//! polled with, found through its [`Header`], and suspend the closure where they are pending.
//!
//! # What keeps a stack on its thread
//!
//! A closure is `Send`, but the values on its stack need not be. So from its first poll to its end a fiber is polled and
//! dropped by one thread. The scheduler ensures it (the module above) and this module asserts it, since memory safety
//! depends on it. A thread is identified by the address of a thread-local variable, which another thread can have only
//! after the first has ended, and no thread ends before it has dropped its fibers.
//!
//! # How a closure is ended
//!
//! A fiber that is dropped while its closure waits unwinds it: the operation that it waits in panics
//! with a payload that is not reported, and everything on the stack is dropped. A destructor may receive and send; but
//! the fiber is not polled again, so no operation may wait. Hence the rule: *while its closure is unwound, for this or
//! by a panic of its own, a process's ends are dead*: a receive returns `None`, a send discards. This holds for all
//! operations, not only for those that would wait, so that the outcome does not depend on timing. A closure that catches the unwinding and goes on is
//! unwound again by its next operation.
//!
//! A `drop` that panics then ends the program, as in all unwinding. A program built with
//! `panic = "abort"` cannot unwind, and is ended by a fiber that would have to be.

use super::stack::{Pool, Stack};
use crate::node::Flow;
use crate::process::{Turn, here};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll};

thread_local! {
    /// The header of the fiber that runs on this thread, if one does.
    static CURRENT: Cell<*const Header> = const { Cell::new(std::ptr::null()) };
}

/// What the operations of a closure must know. It lies at the high end of its stack, in a page that
/// is mapped anyway.
#[derive(Debug)]
pub(crate) struct Header {
    /// What the fiber is polled with; null while it is dropped.
    context: Cell<*mut Context<'static>>,
    yielder: Cell<*const Yielder<(), ()>>,
    /// The process's name, in the graph.
    name: *const str,
    /// The low end of the guard page and its length.
    guard: (usize, usize),
    /// Bytes of the stack.
    bytes: usize,
    /// The thread was panicking already when the closure began.
    panicking: bool,
}

/// The payload that unwinds a closure once more.
struct Unwound;

/// See the module.
#[derive(Debug)]
pub(crate) struct Fiber<F> {
    state: State<F>,
    stacks: Arc<Pool>,
}

#[derive(Debug)]
enum State<F> {
    Fresh(F),
    Begun(Begun),
    /// It has ended, or is about to begin.
    Over,
}

// SAFETY: a fresh one moves as its closure does. One that has begun may be moved as the box it
// lies in, but is used by the thread that it began on alone: `resume` and `end` assert it.
unsafe impl<F: Send> Send for Fiber<F> {}

// What must stay where it is lies on the stack.
impl<F> Unpin for Fiber<F> {}

impl<F: FnOnce() -> Flow> Fiber<F> {
    /// A fiber that takes its stack from `stacks` when it begins.
    pub(crate) fn new(stacks: Arc<Pool>, body: F) -> Fiber<F> {
        Fiber { state: State::Fresh(body), stacks }
    }

    #[cold]
    fn begin(&mut self, cx: &mut Context<'_>) -> Poll<Flow> {
        let State::Fresh(body) = std::mem::replace(&mut self.state, State::Over) else {
            panic!("polled after it was ready")
        };
        super::overflow::arm();
        let stack = self.stacks.take();
        let (header, guard) = (stack.head(), stack.guard());
        let name: *const str = Turn::current(cx).expect("a process is polled").name();
        // SAFETY: the header's place is part of the stack's memory, above its base, and aligned.
        unsafe {
            header.write(Header {
                context: Cell::new(std::ptr::null_mut()),
                yielder: Cell::new(std::ptr::null()),
                name,
                guard: (guard.start, guard.len()),
                bytes: stack.bytes(),
                panicking: std::thread::panicking(),
            });
        }
        let mut body = Some(body);
        let place: *mut Option<F> = &mut body;
        let main = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the header lives as long as the stack; the closure is taken before `begin`,
            // in whose frame it lies, goes on.
            let body = unsafe {
                header.as_ref().yielder.set(yielder);
                (*place).take()
            };
            body.map_or(Flow::More, |body| body())
        };
        // SAFETY: what `body` borrows outlives this fiber, whose type has it, and the coroutine is
        // dropped with it or before.
        let coroutine = ManuallyDrop::new(unsafe { Coroutine::with_stack_unchecked(stack, main) });
        self.state = State::Begun(Begun { coroutine, header, thread: here() });
        match &mut self.state {
            State::Begun(begun) => begun.resume(cx),
            State::Fresh(_) | State::Over => unreachable!("it was set just now"),
        }
    }
}

impl<F: FnOnce() -> Flow> Future for Fiber<F> {
    type Output = Flow;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Flow> {
        let this = self.get_mut();
        match &mut this.state {
            State::Begun(begun) => begun.resume(cx),
            _ => this.begin(cx),
        }
    }
}

impl<F> Drop for Fiber<F> {
    /// Here, and not by `Begun`: what a stack borrows must be alive, and `F` says what that is.
    fn drop(&mut self) {
        if let State::Begun(begun) = &mut self.state {
            begun.end();
        }
    }
}

/// One that has begun.
struct Begun {
    /// Dropped by `end`.
    coroutine: ManuallyDrop<Coroutine<(), (), Flow, Stack>>,
    header: NonNull<Header>,
    thread: usize,
}

impl std::fmt::Debug for Begun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Begun").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl Begun {
    #[inline]
    fn resume(&mut self, cx: &mut Context<'_>) -> Poll<Flow> {
        assert!(self.thread == here(), "a coroutine stays on the thread that it began on");
        let current = Current::set(self.header, std::ptr::from_mut(cx).cast());
        let result = self.coroutine.resume(());
        drop(current);
        match result {
            CoroutineResult::Yield(()) => Poll::Pending,
            CoroutineResult::Return(flow) => Poll::Ready(flow),
        }
    }

    /// Unwinds a closure that waits, and returns its stack to the pool. Once.
    ///
    /// # Panics
    /// With a panic of the closure's own, if that comes of it.
    fn end(&mut self) {
        let mut panic = None;
        if !self.coroutine.done() {
            if self.thread != here() || cfg!(panic = "abort") {
                // SAFETY: the stack is still there.
                super::overflow::stranded(unsafe { self.header.as_ref() }.name());
            }
            let _current = Current::set(self.header, std::ptr::null_mut());
            panic = catch_unwind(AssertUnwindSafe(|| self.coroutine.force_unwind())).err();
        }
        // SAFETY: this is called once, and nothing uses the coroutine afterwards.
        unsafe { ManuallyDrop::drop(&mut self.coroutine) };
        if let Some(panic) = panic.filter(|panic| !panic.is::<Unwound>()) {
            resume_unwind(panic);
        }
    }
}

/// A fiber runs; the one that ran before does again when this is dropped.
struct Current(*const Header);

impl Current {
    #[inline]
    fn set(header: NonNull<Header>, context: *mut Context<'static>) -> Current {
        // SAFETY: the header lives as long as the stack, which the caller has.
        unsafe { header.as_ref() }.context.set(context);
        Current(CURRENT.replace(header.as_ptr()))
    }
}

impl Drop for Current {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The fiber that runs on this thread; for a signal handler too.
#[inline]
pub(super) fn current() -> Option<&'static Header> {
    // SAFETY: a fiber that runs has its stack, and the caller uses the reference while it runs.
    unsafe { CURRENT.get().as_ref() }
}

/// Runs an operation of the current fiber's closure to its end; nothing where its ends are dead.
///
/// # Panics
/// Outside of a coroutine, and as the operation does.
#[inline]
pub(super) fn wait<T: Future + Unpin>(mut operation: T) -> Option<T::Output> {
    let Some(header) = current() else { outside() };
    if header.context.get().is_null() || std::thread::panicking() {
        header.unwind()?;
    }
    loop {
        // SAFETY: the fiber is being polled, by the frame that has set this context.
        let cx = unsafe { &mut *header.context.get() };
        if let Poll::Ready(output) = Pin::new(&mut operation).poll(cx) {
            return Some(output);
        }
        // SAFETY: the yielder lies on the stack that this runs on.
        unsafe { &*header.yielder.get() }.suspend(());
    }
}

// What only the report of an overflow asks for is not asked for elsewhere.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
impl Header {
    /// An operation begins though the closure may be being unwound: nothing if it is and the
    /// operation is of a value that is dropped.
    #[cold]
    fn unwind(&self) -> Option<()> {
        let panics = std::thread::panicking() && !self.panicking;
        if !self.context.get().is_null() {
            return (!panics).then_some(());
        }
        if panics || self.panicking {
            return None;
        }
        resume_unwind(Box::new(Unwound))
    }

    pub(super) fn name(&self) -> &str {
        // SAFETY: the name belongs to the graph, which outlives the nodes' code.
        unsafe { &*self.name }
    }

    pub(super) fn guards(&self, address: usize) -> bool {
        let (low, length) = self.guard;
        address.wrapping_sub(low) < length
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cold]
#[inline(never)]
fn outside() -> ! {
    panic!("an end of a coroutine is used outside of it")
}
