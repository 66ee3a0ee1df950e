//! A turn: one poll of a process. The ends of the process reach it through the waker that they are polled with.
//!
//! The waker of a turn is a pointer to the [`Turn`] itself, with a table of its own. So an end that is polled by its
//! process finds the turn without a thread-local variable, and an end that is polled by other code, with another waker
//! or on another thread, is recognised and refused. A *clone* of the waker outlives the turn: it owns the run's signals
//! and wakes the process by an external event.
//!
//! | field | read and written by |
//! |---|---|
//! | `thread`, `depth`, `owners`, `owner`, `net` | any thread that has the waker, by reference; not written during the turn |
//! | `cloned` | any such thread, atomically |
//! | the rest | the polling thread only: [`Turn::current`] compares threads first |

use super::drops::here;
use crate::channel::operation::{channel, sends};
use crate::channel::{Meter, WaitFlag};
use crate::net::{Net, NodeWaker};
use crate::net::{Owner, Owners};
use crate::team::thread_and_depth;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use thalweg_graph::NodeId;
use thalweg_policy::WorkerId;

/// No operation is pending.
pub(super) const NONE: u64 = u64::MAX;

/// The operations that a turn has completed, each once: the nodes at the other ends of their channels may be ready.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Most turns complete one or two different operations.
    first: [Cell<u64>; 2],
    length: Cell<usize>,
    more: RefCell<Vec<u64>>,
}

impl Touched {
    #[inline]
    fn clear(&mut self) {
        self.length.set(0);
    }

    #[inline]
    fn push(&self, operation: u64) {
        let length = self.length.get();
        match self.first.get(length) {
            Some(place) => place.set(operation),
            None => self.push_more(length - self.first.len(), operation),
        }
        self.length.set(length + 1);
    }

    #[cold]
    #[inline(never)]
    fn push_more(&self, at: usize, operation: u64) {
        let mut more = self.more.borrow_mut();
        more.truncate(at); // entries of an earlier turn
        more.push(operation);
    }

    /// The operation, if there is exactly one.
    #[inline]
    pub(crate) fn only(&self) -> Option<u64> {
        (self.length.get() == 1).then(|| self.first[0].get())
    }

    /// The number of operations.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length.get()
    }

    /// The operation at a position below `len`.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> u64 {
        match self.first.get(at) {
            Some(operation) => operation.get(),
            None => self.more.borrow()[at - self.first.len()],
        }
    }
}

/// The reason for which a poll returned `Pending`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Suspended {
    /// The process awaits a future that is no operation on a channel.
    Foreign,
    /// The turn's budget is used up, or the process woke itself.
    Yielded,
    /// The pending operation needs a message.
    Items,
    /// The pending operation needs a free slot.
    Room,
    /// The pending operation needs room by bytes.
    Bytes,
}

/// A poll under way. A thread reuses one `Turn` for the polls of all its activations.
pub(crate) struct Turn<'a> {
    net: &'a Net<'a>,
    /// The polling thread. Other threads may have the waker by reference, to wake with it or clone it.
    thread: usize,
    /// The thread's depth of loops, jobs and runs ([`thread_and_depth`]) when the poll began.
    depth: usize,
    owners: Owners,
    /// The owner of the process that is polled.
    owner: Owner,
    /// The number of the poll among the process's polls. An end stores it to note that it was used in this one.
    number: u64,
    /// The number of operations that this poll may complete.
    budget: usize,
    /// The number of operations that it may still complete.
    left: Cell<usize>,
    /// The polling worker, if it carries its items on.
    pub(crate) carrier: Option<WorkerId>,
    /// The process's pending operation, from this poll or an earlier one.
    pending: Cell<u64>,
    suspended: Cell<Suspended>,
    /// The counter value that the pending operation waits for.
    until: Cell<usize>,
    cloned: AtomicBool,
    touched: Touched,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(net: &'a Net<'a>) -> Turn<'a> {
        Turn {
            net,
            thread: here(),
            depth: 0,
            owners: net.owners,
            owner: net.owners.of(NodeId(0)),
            number: 0,
            budget: 0,
            left: Cell::new(0),
            carrier: None,
            pending: Cell::new(NONE),
            suspended: Cell::new(Suspended::Foreign),
            until: Cell::new(0),
            cloned: AtomicBool::new(false),
            touched: Touched::default(),
        }
    }

    /// Begins the `number`th poll of a process, for at most `operations` operations, and returns its owner.
    #[inline]
    pub(super) fn begin(&mut self, node: NodeId, number: u64, budget: usize, pending: u64) -> Owner {
        (self.owner, self.number, self.budget) = (self.owners.of(node), number, budget);
        self.depth = thread_and_depth().1;
        self.left.set(budget);
        self.pending.set(pending);
        self.suspended.set(Suspended::Foreign);
        *self.cloned.get_mut() = false;
        self.touched.clear();
        self.owner
    }

    /// Polls the process with this turn as its waker.
    #[inline]
    pub(super) fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        let raw = RawWaker::new(std::ptr::from_ref(self).cast(), &VTABLE);
        // SAFETY: the functions of `VTABLE` keep the contract of wakers for a pointer to a turn that is alive. It is: the
        // waker cannot outlive this function, since the future has it by reference, and clones do not point to the turn.
        // On other threads the functions access only fields that do not change, and `cloned`: see the module.
        let waker = ManuallyDrop::new(unsafe { Waker::from_raw(raw) });
        future.poll(&mut Context::from_waker(&waker))
    }

    /// The turn of the process that polls one of its ends with this context. `owner` is the end's.
    ///
    /// # Panics
    /// If the end is polled outside the poll of its own process, or in a job or a run inside of that.
    #[inline]
    pub(crate) fn of<'c>(cx: &'c Context<'_>, owner: Owner, operation: u64) -> &'c Turn<'c> {
        let Some((turn, depth)) = Turn::here(cx) else { refuse_waker(operation) };
        // A job may run this code on another thread, where the operation is refused above: so it is refused here too,
        // whatever the timing. And frames of a job or of a run lie between a coroutine's own and this one: if it left its
        // stack here, the thread would go on without them, with the place in a team that they have set.
        if turn.depth != depth {
            refuse_job();
        }
        if turn.owner != owner {
            turn.refuse_end(owner, operation);
        }
        turn
    }

    /// The turn of this context, if it is a process's poll on this thread.
    #[cfg(feature = "coroutines")]
    pub(crate) fn current<'c>(cx: &'c Context<'_>) -> Option<&'c Turn<'c>> {
        Turn::here(cx).map(|(turn, _)| turn)
    }

    /// The turn of this context, if it is a process's poll on this thread, and the thread's depth.
    #[inline]
    fn here<'c>(cx: &'c Context<'_>) -> Option<(&'c Turn<'c>, usize)> {
        let waker = cx.waker();
        if !std::ptr::eq(waker.vtable(), &VTABLE) {
            return None;
        }
        // SAFETY: only `poll` makes a waker with this table, of a turn that outlives the context; clones have another
        // table.
        let turn: &Turn<'c> = unsafe { &*waker.data().cast() };
        let (thread, depth) = thread_and_depth();
        (turn.thread == thread).then_some((turn, depth))
    }

    /// # Panics
    /// Always: this turn polled an end of another process.
    #[cold]
    #[inline(never)]
    fn refuse_end(&self, owner: Owner, operation: u64) -> ! {
        const RULE: &str = "an end works only in polls of its own process: pass the messages on, not the end";
        match self.owners.node(owner) {
            Some(other) => panic!(
                "the process used {}, which is an end of another process, `{}`\nhelp: {RULE}",
                self.net.end_name(operation),
                self.net.topology.graph.node(other).name()
            ),
            None => panic!("the process used an end of another run\nhelp: {RULE}"),
        }
    }

    fn node(&self) -> NodeId {
        self.owners.node(self.owner).expect("a turn of this run")
    }

    /// The process's name.
    #[cfg(feature = "coroutines")]
    pub(crate) fn name(&self) -> &'a str {
        self.net.topology.graph.node(self.node()).name()
    }

    /// Begins or continues an operation. False if the turn's budget is used up: the operation stays pending.
    ///
    /// # Panics
    /// If another operation is pending.
    #[inline]
    pub(crate) fn admit(&self, operation: u64) -> bool {
        let pending = self.pending.get();
        if pending != operation && pending != NONE {
            refuse();
        }
        if self.left.get() == 0 {
            self.end_early(operation);
            return false;
        }
        true
    }

    /// Leaves the operation pending although it could complete: the process yields.
    fn end_early(&self, operation: u64) {
        self.suspended.set(Suspended::Yielded);
        self.pending.set(operation);
    }

    /// The end of the messages that the process may receive before it asks again, of those from `next` up to `tail`. `None`
    /// if this poll ends: the next message is another worker's, and this worker carries its own on.
    #[inline]
    pub(crate) fn messages(&self, operation: u64, meter: &Meter, next: usize, tail: usize) -> Option<usize> {
        match self.carrier {
            None => Some(tail),
            Some(worker) => self.own_messages((operation, worker), meter, next, tail),
        }
    }

    #[inline(never)]
    fn own_messages(
        &self,
        (operation, worker): (u64, WorkerId),
        meter: &Meter,
        next: usize,
        tail: usize,
    ) -> Option<usize> {
        let Some(origins) = meter.origins() else { return Some(tail) };
        let run = origins.run(next);
        let is_own = run.worker.is_none_or(|pusher| pusher == worker);
        if !is_own && self.left.get() < self.budget {
            self.end_early(operation);
            return None;
        }
        Some(tail.min(next.saturating_add(run.firings)))
    }

    /// Completes the operation. `mark` holds the number of the latest turn that used its end; `other` says, if it is known,
    /// whether the process at the other end waits.
    #[inline]
    pub(crate) fn complete(&self, operation: u64, mark: &AtomicU64, other: &WaitFlag) {
        self.pending.set(NONE);
        self.left.set(self.left.get() - 1);
        match other.take() {
            Some(false) => {}
            Some(true) => self.touched.push(operation),
            None => self.touch_once(operation, mark),
        }
    }

    #[inline]
    fn touch_once(&self, operation: u64, mark: &AtomicU64) {
        if mark.load(Ordering::Relaxed) != self.number {
            mark.store(self.number, Ordering::Relaxed);
            self.touched.push(operation);
        }
    }

    /// Notes an operation of an earlier turn whose effect on the channel comes only now.
    pub(super) fn touch(&self, operation: u64) {
        self.touched.push(operation);
    }

    /// Leaves the operation pending until a counter of its channel reaches `until`. `mine` is the state of this end.
    #[inline]
    pub(crate) fn wait(&self, operation: u64, suspended: Suspended, until: usize, mine: &WaitFlag) {
        self.pending.set(operation);
        mine.begin();
        // A process that was woken during its poll is polled again, whatever it waits for.
        if self.suspended.get() != Suspended::Yielded {
            self.suspended.set(suspended);
            self.until.set(until);
        }
    }

    /// The operations of the budget that were not used.
    pub(super) fn left(&self) -> usize {
        self.left.get()
    }

    /// The operation that has returned `Pending`, if any.
    #[inline]
    pub(crate) fn pending(&self) -> u64 {
        self.pending.get()
    }

    /// The operations that the turn has completed.
    pub(crate) fn touched(&self) -> &Touched {
        &self.touched
    }

    /// The reason for which the poll returned `Pending`, and the counter value that it waits for.
    pub(super) fn suspended(&self) -> (Suspended, usize) {
        (self.suspended.get(), self.until.get())
    }

    pub(super) fn was_cloned(&self) -> bool {
        self.cloned.load(Ordering::Relaxed)
    }

    /// # Panics
    /// If the process has ended with an operation pending.
    pub(super) fn assert_nothing_pending(&self) {
        assert!(self.pending.get() == NONE, "a pending receive or send was dropped");
    }
}

#[cold]
#[inline(never)]
fn refuse() -> ! {
    panic!(
        "the process started a receive or a send while another one was pending, or had been dropped pending\n\
         help: await each operation to its end; a process that chooses by readiness would depend on timing"
    )
}

#[cold]
#[inline(never)]
fn refuse_job() -> ! {
    panic!(
        "an operation of a channel began inside of a parallel loop, `join`, a task graph or a run\n\
         help: receive before it, and send after it"
    )
}

#[cold]
#[inline(never)]
fn refuse_waker(operation: u64) -> ! {
    let side = if sends(operation) { "send" } else { "receive" };
    panic!(
        "a {side} on channel {} was polled outside of its process's poll, or with another waker than its \
         process's\nhelp: await it in the process itself; a combinator with a waker of its own would show the process \
         which channel is ready",
        channel(operation).0
    )
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop);

/// Clones the waker: the clone owns what it needs and may outlive the turn.
///
/// # Safety
/// `turn` points to a [`Turn`] that is alive.
unsafe fn clone(turn: *const ()) -> RawWaker {
    // SAFETY: by this function's contract.
    let turn: &Turn<'_> = unsafe { &*turn.cast() };
    turn.cloned.store(true, Ordering::Relaxed);
    let waker = ManuallyDrop::new(Waker::from(Arc::new(foreign(turn))));
    RawWaker::new(waker.data(), waker.vtable())
}

/// Wakes the process during its poll: it will be polled again.
///
/// # Safety
/// As for `clone`.
unsafe fn wake(turn: *const ()) {
    // SAFETY: by this function's contract.
    let turn: &Turn<'_> = unsafe { &*turn.cast() };
    if turn.thread == here() {
        turn.suspended.set(Suspended::Yielded);
    } else {
        turn.cloned.store(true, Ordering::Relaxed);
        Arc::new(foreign(turn)).wake();
    }
}

/// The waker of this turn's process for other threads and later times.
fn foreign(turn: &Turn<'_>) -> NodeWaker {
    let node = turn.node();
    NodeWaker::new(turn.net.signals.clone(), node, turn.net.node(node).dedicated)
}

/// Does nothing: a turn's waker owns nothing.
///
/// # Safety
/// No requirement: the pointer is not used.
unsafe fn drop(_turn: *const ()) {}
