//! A future that runs a closure on a stack of its own. A poll runs the closure until one of its operations has to wait.
//!
//! The closure's operations are futures too. [`wait`] polls them with the context of the fiber's poll, which it finds
//! through the [`Header`], and suspends the closure when they are pending.
//!
//! # States
//!
//! | state | has | entered by | left by |
//! |---|---|---|---|
//! | fresh | the closure | `new` | the first poll, which takes a stack |
//! | over | nothing | the first poll, until it has made the coroutine | that poll; never, if it panics before |
//! | begun, closure suspended or running | the closure's values on the stack | the first poll | the closure's return or panic; `end` |
//! | begun, closure done | a stack without values | the closure's return or panic; `end`, which unwinds | the drop of the fiber |
//!
//! # Accesses
//!
//! | data | accessed by |
//! |---|---|
//! | the fiber | the thread that holds the node's claim |
//! | the stack, and the values on it | the thread that began the fiber, in polls and the drop |
//! | the [`Header`] | that thread: the fiber, the closure's operations, and the signal handler of [`overflow`](super::overflow) |
//! | `CURRENT` | its own thread |
//!
//! `Header::context` is valid from the beginning of a poll to its return. It dangles between polls, when nothing reads
//! it: the closure runs only inside `Coroutine::resume` and `force_unwind`, and [`Current::set`] precedes both.
//!
//! # What keeps a stack on its thread
//!
//! A closure is `Send`, but the values on its stack need not be. So from its first poll to its end a fiber is polled
//! and dropped by one thread. The scheduler ensures it ([`coroutine`](super)) and this module asserts it, since memory
//! safety depends on it. A thread is identified by the address of a thread-local variable, which another thread can
//! have only after the first has ended, and no thread ends before it has dropped its fibers.
//!
//! # How a closure is ended
//!
//! If a fiber is dropped while its closure waits, it unwinds the closure: the operation that the closure waits in
//! panics with a payload that is not reported, and everything on the stack is dropped. A destructor may receive and
//! send, but the fiber is not polled again, so no operation may wait. Hence the rule: *while its closure is unwound, by
//! this or by a panic of its own, the ends of a process are dead*: a receive returns `None`, a send discards. This
//! holds for all operations, not only for those that would wait, so that the result does not depend on timing.
//!
//! | operation begins while | `context` | `thread::panicking()` | it |
//! |---|---|---|---|
//! | the closure runs | set | false, or as when it began | runs |
//! | a panic of the closure's own unwinds it | set | true | does nothing |
//! | the fiber's drop unwinds it | null | true | does nothing |
//! | the fiber is dropped, and the closure has caught the unwinding | null | false | unwinds the closure again |
//!
//! If the thread was panicking when the closure began, a panic of the closure's own cannot be told from that one: with
//! the context set operations run, and with a null context they do nothing.
//!
//! A `drop` of a value of the closure's own that panics during the unwinding aborts the program, as in all unwinding. (What
//! the engine holds on the stack, a message that waits to be sent or is lent, is [`contained`](crate::contain).) A program built with
//! `panic = "abort"` cannot unwind: a fiber that would have to unwind its closure aborts it, with a message.

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
    /// The header of the fiber that runs on this thread; null if none does. A signal handler reads it too, so it is
    /// constant-initialised and has no destructor.
    static CURRENT: Cell<*const Header> = const { Cell::new(std::ptr::null()) };
}

/// The part of a fiber that its closure's operations read. It lies at the high end of the stack, in a page that the
/// closure uses anyway.
#[derive(Debug)]
pub(crate) struct Header {
    /// The context of the fiber's poll; null while the fiber is dropped. Set before the closure runs.
    context: Cell<*mut Context<'static>>,
    /// On the coroutine's stack. Set by the coroutine before the closure begins.
    yielder: Cell<*const Yielder<(), ()>>,
    /// The process's name, in the graph.
    name: *const str,
    /// The lowest address of the guard page, and its length in bytes.
    guard: (usize, usize),
    /// Bytes of the stack.
    bytes: usize,
    /// The thread was panicking already when the closure began.
    panicking: bool,
    /// An operation is being polled. User code that the poll calls must not begin another: see [`wait`].
    polling: Cell<bool>,
}

/// The payload that unwinds a closure again.
struct Unwound;

/// A closure on a stack of its own: see the module.
#[derive(Debug)]
pub(crate) struct Fiber<F> {
    state: State<F>,
    stacks: Arc<Pool>,
}

/// See the module. `Begun` includes a closure that is done.
#[derive(Debug)]
enum State<F> {
    Fresh(F),
    Begun(Begun),
    Over,
}

// SAFETY: a fresh fiber is its closure, which is `Send`. A begun one has pointers to the stack and to the header, and
// the values there need not be `Send`. They are accessed only by `resume`, which panics on any other thread than the
// one that began the fiber, and by `end`, which aborts there. A closure that is done has no values on the stack. So
// moving the fiber to another thread moves no such value.
unsafe impl<F: Send> Send for Fiber<F> {}

// Everything that must not move lies on the stack, not in the fiber.
impl<F> Unpin for Fiber<F> {}

impl<F: FnOnce() -> Flow> Fiber<F> {
    /// A fiber that takes a stack from `stacks` at its first poll.
    pub(crate) fn new(stacks: Arc<Pool>, body: F) -> Fiber<F> {
        Fiber { state: State::Fresh(body), stacks }
    }

    /// The first poll: takes a stack and runs the closure until it waits.
    #[cold]
    fn begin(&mut self, cx: &mut Context<'_>) -> Poll<Flow> {
        let State::Fresh(body) = std::mem::replace(&mut self.state, State::Over) else {
            panic!("polled after it was ready")
        };
        super::overflow::arm();
        let stack = self.stacks.take();
        let (header, guard) = (stack.head(), stack.guard());
        let name: *const str = Turn::current(cx).expect("a process is polled").name();
        // SAFETY: `head` is in the stack's memory, above its base, where the coroutine does not write, and has room for
        // a header at a multiple of 64 bytes. Only this thread has the stack, until it is returned to the pool.
        unsafe {
            header.write(Header {
                context: Cell::new(std::ptr::null_mut()),
                yielder: Cell::new(std::ptr::null()),
                name,
                guard: (guard.start, guard.len()),
                bytes: stack.bytes(),
                panicking: std::thread::panicking(),
                polling: Cell::new(false),
            });
        }
        let mut body = Some(body);
        let place: *mut Option<F> = &mut body;
        let main = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the header lives as long as the stack on which this runs. `place` points into the frame of
            // `begin`, whose call of `resume` runs this code: this is the only access, and `begin` continues only
            // afterwards.
            let body = unsafe {
                header.as_ref().yielder.set(yielder);
                (*place).take()
            };
            body.map_or(Flow::More, |body| body())
        };
        // SAFETY: the values on the stack borrow only what the closure borrows, which outlives `F` and so the fiber.
        // The fiber's drop unwinds the closure and drops the coroutine; nothing else drops the fiber's `Begun`.
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
    /// Not a drop of `Begun`: unwinding uses what the closure borrows, and only a drop that mentions `F` makes the
    /// compiler require that this is alive.
    fn drop(&mut self) {
        if let State::Begun(begun) = &mut self.state {
            begun.end();
        }
    }
}

/// A fiber that has begun.
struct Begun {
    /// Dropped by `end`.
    coroutine: ManuallyDrop<Coroutine<(), (), Flow, Stack>>,
    /// Valid until the coroutine is dropped.
    header: NonNull<Header>,
    /// The thread that began the fiber ([`here`]).
    thread: usize,
}

impl std::fmt::Debug for Begun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Begun").field("thread", &self.thread).finish_non_exhaustive()
    }
}

impl Begun {
    /// Runs the closure until it waits again or returns. A panic of the closure continues in the caller.
    ///
    /// # Panics
    /// On another thread than the one that began the fiber.
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

    /// Unwinds the closure if it waits, and returns its stack to the pool. The fiber's drop calls this, once. Aborts if
    /// the closure would have to be unwound and cannot be.
    ///
    /// # Panics
    /// With a panic that the closure raises while it is unwound, other than the unwinding itself.
    fn end(&mut self) {
        let mut panic = None;
        if !self.coroutine.done() {
            if self.thread != here() || cfg!(panic = "abort") {
                // SAFETY: the header lives as long as the coroutine, which is dropped below. The name is not written.
                super::overflow::stranded(unsafe { self.header.as_ref() }.name());
            }
            let _current = Current::set(self.header, std::ptr::null_mut());
            panic = catch_unwind(AssertUnwindSafe(|| self.coroutine.force_unwind())).err();
        }
        // SAFETY: the fiber's drop is the only caller, so this is called once and nothing uses the coroutine
        // afterwards.
        unsafe { ManuallyDrop::drop(&mut self.coroutine) };
        if let Some(panic) = panic.filter(|panic| !panic.is::<Unwound>()) {
            resume_unwind(panic);
        }
    }
}

/// Marks a fiber as the one that runs on this thread. Its drop restores the one before: a closure may run another
/// graph, whose fibers its thread then polls.
struct Current(*const Header);

impl Current {
    /// Sets the fiber's context, for the operations of the closure that the caller is about to run.
    #[inline]
    fn set(header: NonNull<Header>, context: *mut Context<'static>) -> Current {
        // SAFETY: the header lives as long as the stack, which the calling `Begun` has. Only this thread accesses the cells.
        let own = unsafe { header.as_ref() };
        own.context.set(context);
        Current(CURRENT.replace(header.as_ptr()))
    }
}

impl Drop for Current {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Marks a fiber's operation as being polled, until it is dropped.
struct Polling<'a>(&'a Cell<bool>);

impl Polling<'_> {
    #[inline]
    fn begin(polling: &Cell<bool>) -> Polling<'_> {
        polling.set(true);
        Polling(polling)
    }
}

impl Drop for Polling<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// The header of the fiber that runs on this thread. A signal handler may call this. The caller uses the reference only
/// while that fiber runs.
#[inline]
pub(super) fn current() -> Option<&'static Header> {
    // SAFETY: `CURRENT` is null or the header of a fiber that runs: `Current` sets and restores it around each run. The
    // stack of a running fiber lives, and by the contract the caller uses the reference no longer.
    unsafe { CURRENT.get().as_ref() }
}

/// Runs an operation of the running fiber's closure until it is ready; suspends the closure while it is pending. `None`
/// if the ends are dead: see the module.
///
/// # Panics
/// Outside a coroutine, inside another operation, inside a job of a [`team`](crate::team) or inside another run, and if the
/// operation panics.
#[inline]
pub(super) fn wait<T: Future + Unpin>(mut operation: T) -> Option<T::Output> {
    let Some(header) = current() else { outside() };
    if header.context.get().is_null() || std::thread::panicking() {
        header.unwind()?;
    }
    // The poll may call user code: the function of `send_with`, a weight, the drop of an item. If that suspended the
    // closure, the outer operation would go on in a later poll, with the context and the slot of this one.
    assert!(
        !header.polling.get(),
        "an operation of a channel began inside another one\nhelp: receive before `send_with`, not in its function"
    );
    loop {
        let polling = Polling::begin(&header.polling);
        // SAFETY: `unwind` has excluded a null context, and a fiber that is dropped never returns from `suspend`. So
        // the fiber is being polled, by a frame of `resume` that has lent this context and does not use it before the
        // closure is suspended. It is read anew after each suspension, as each poll has its own.
        let cx = unsafe { &mut *header.context.get() };
        if let Poll::Ready(output) = Pin::new(&mut operation).poll(cx) {
            return Some(output);
        }
        drop(polling);
        // SAFETY: the yielder lies on the stack on which this runs, below the closure's frames, and was set before
        // them.
        unsafe { &*header.yielder.get() }.suspend(());
    }
}

// Only the report of an overflow, which is for Linux, calls some of these.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
impl Header {
    /// Called when an operation begins while the closure may be being unwound. `None` if the ends are dead; otherwise
    /// the operation runs. Unwinds a closure that has caught its unwinding. See the table of the module.
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

    /// The name of the process.
    pub(super) fn name(&self) -> &str {
        // SAFETY: the name belongs to the graph, which outlives the nodes' code and is not changed during a run.
        unsafe { &*self.name }
    }

    /// Whether an address lies in the guard page.
    pub(super) fn guard_contains(&self, address: usize) -> bool {
        let (low, length) = self.guard;
        address.wrapping_sub(low) < length
    }

    /// The size of the stack, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cold]
#[inline(never)]
fn outside() -> ! {
    panic!("an end of a coroutine is used outside of it")
}
