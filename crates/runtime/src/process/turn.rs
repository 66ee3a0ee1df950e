//! One poll of a process: what its ends must know, reached through the waker they are polled with.

use super::drops::here;
use crate::channel::Waits;
use crate::channel::operation::{channel, sends};
use crate::net::ExternalEvent;
use crate::net::{Net, Signals};
use crate::net::{Owner, Owners};
use crate::sched::sleep::Sleeper;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use thalweg_graph::NodeId;

/// No operation is pending.
pub(super) const NONE: u64 = u64::MAX;

/// Operations that a turn has completed, each once: the channels whose other ends may now go on.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Most turns touch few.
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
        more.truncate(at); // of an earlier turn
        more.push(operation);
    }

    /// If it is one, that.
    #[inline]
    pub(crate) fn only(&self) -> Option<u64> {
        (self.length.get() == 1).then(|| self.first[0].get())
    }

    /// How many.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length.get()
    }

    /// One of them.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> u64 {
        match self.first.get(at) {
            Some(operation) => operation.get(),
            None => self.more.borrow()[at - self.first.len()],
        }
    }
}

/// What a turn ended with, if not with the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rest {
    /// Nothing of ours: a future of another kind is awaited.
    Foreign,
    /// Its time was over, or it asked to be polled again.
    Yielded,
    /// A message is missing on the pending operation's channel.
    Items,
    /// Room is missing there.
    Room,
    /// Room by weight is missing there.
    Bytes,
}

/// A poll under way; one thread's, one after the other.
pub(crate) struct Turn<'a> {
    net: &'a Net<'a>,
    /// The thread that polls: others may have the waker, by reference, and may wake with it and clone
    /// it, but nothing else.
    thread: usize,
    owners: Owners,
    /// The owner that is polled.
    owner: Owner,
    /// The process's polls so far: what an end has touched in this one, it marks with it.
    number: u64,
    /// Operations this poll may still complete.
    left: Cell<usize>,
    /// The process's pending operation, from this poll or an earlier one.
    pending: Cell<u64>,
    rest: Cell<Rest>,
    /// The counter it waits for.
    until: Cell<usize>,
    cloned: AtomicBool,
    touched: Touched,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(net: &'a Net<'a>) -> Turn<'a> {
        Turn {
            net,
            thread: here(),
            owners: net.owners,
            owner: net.owners.of(NodeId(0)),
            number: 0,
            left: Cell::new(0),
            pending: Cell::new(NONE),
            rest: Cell::new(Rest::Foreign),
            until: Cell::new(0),
            cloned: AtomicBool::new(false),
            touched: Touched::default(),
        }
    }

    /// Begins the `number`th poll of a process, for at most `operations` operations, and returns its owner.
    #[inline]
    pub(super) fn begin(&mut self, node: NodeId, number: u64, budget: usize, pending: u64) -> Owner {
        (self.owner, self.number) = (self.owners.of(node), number);
        self.left.set(budget);
        self.pending.set(pending);
        self.rest.set(Rest::Foreign);
        *self.cloned.get_mut() = false;
        self.touched.clear();
        self.owner
    }

    /// Polls the process with this turn as its waker.
    #[inline]
    pub(super) fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        let raw = RawWaker::new(std::ptr::from_ref(self).cast(), &VTABLE);
        // SAFETY: the functions of `VTABLE` keep the contract of wakers for a pointer to a turn
        // that is alive, and it is: the waker is gone before this function returns, and its clones
        // point elsewhere. From other threads they touch only what does not change and `cloned`.
        let waker = ManuallyDrop::new(unsafe { Waker::from_raw(raw) });
        future.poll(&mut Context::from_waker(&waker))
    }

    /// The turn of the process that polls with this context, which must be `owner`, for an operation.
    ///
    /// # Panics
    /// Where an end is polled by anything else.
    #[inline]
    pub(crate) fn of<'c>(cx: &'c Context<'_>, owner: Owner, operation: u64) -> &'c Turn<'c> {
        let Some(turn) = Turn::current(cx) else { refuse_waker(operation) };
        if turn.owner != owner {
            turn.refuse_end(owner, operation);
        }
        turn
    }

    /// The turn of the process that polls with this context on this thread, if one does.
    #[inline]
    pub(crate) fn current<'c>(cx: &'c Context<'_>) -> Option<&'c Turn<'c>> {
        let waker = cx.waker();
        if !std::ptr::eq(waker.vtable(), &VTABLE) {
            return None;
        }
        // SAFETY: only `poll` makes a waker with this table, of a turn that outlives the context;
        // clones have another.
        let turn: &Turn<'c> = unsafe { &*waker.data().cast() };
        (turn.thread == here()).then_some(turn)
    }

    /// # Panics
    /// In any case: an end of another process was polled in this turn.
    #[cold]
    #[inline(never)]
    fn refuse_end(&self, owner: Owner, operation: u64) -> ! {
        const RULE: &str = "an end works in the poll of its own process alone: send on what it receives, \
                            or send to it what it is to send";
        match self.owners.node(owner) {
            Some(other) => panic!(
                "it used {}, which is an end of another process, `{}`: {RULE}",
                self.net.end_name(operation),
                self.net.topology.graph.node(other).name
            ),
            None => panic!("it used an end of another run: {RULE}"),
        }
    }

    fn node(&self) -> NodeId {
        self.owners.node(self.owner).expect("a turn of this run")
    }

    /// The process's name.
    pub(crate) fn name(&self) -> &'a str {
        &self.net.topology.graph.node(self.node()).name
    }

    /// An operation begins, or goes on. True if it may complete in this turn.
    ///
    /// # Panics
    /// Where another one is pending.
    #[inline]
    pub(crate) fn admit(&self, operation: u64) -> bool {
        let pending = self.pending.get();
        if pending != operation && pending != NONE {
            refuse();
        }
        if self.left.get() == 0 {
            self.rest.set(Rest::Yielded);
            self.pending.set(operation);
            return false;
        }
        true
    }

    /// The operation is complete. `mark` is its end's; `other` says, where it is known, whether the node at the other end
    /// waits for it.
    #[inline]
    pub(crate) fn complete(&self, operation: u64, mark: &AtomicU64, other: &Waits) {
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

    /// Notes that an operation of an earlier turn has changed something.
    pub(super) fn touch(&self, operation: u64) {
        self.touched.push(operation);
    }

    /// The operation waits until a counter of its channel has come so far; `mine` is its end's.
    #[inline]
    pub(crate) fn wait(&self, operation: u64, rest: Rest, until: usize, mine: &Waits) {
        self.pending.set(operation);
        mine.begin();
        // A process woken while it was polled is polled again, whatever it waits for.
        if self.rest.get() != Rest::Yielded {
            self.rest.set(rest);
            self.until.set(until);
        }
    }

    /// Operations that were not used.
    pub(super) fn left(&self) -> usize {
        self.left.get()
    }

    /// The operation that has returned `Pending`, if any.
    #[inline]
    pub(crate) fn pending(&self) -> u64 {
        self.pending.get()
    }

    /// What it has changed.
    pub(crate) fn touched(&self) -> &Touched {
        &self.touched
    }

    /// What the turn ended with, and the counter it waits for.
    pub(super) fn rest(&self) -> (Rest, usize) {
        (self.rest.get(), self.until.get())
    }

    pub(super) fn was_cloned(&self) -> bool {
        self.cloned.load(Ordering::Relaxed)
    }

    /// # Panics
    /// Where the process has ended with an operation pending.
    pub(super) fn assert_nothing_pending(&self) {
        assert!(self.pending.get() == NONE, "a pending receive or send was dropped");
    }
}

#[cold]
#[inline(never)]
fn refuse() -> ! {
    panic!(
        "it started a receive or a send while another one was pending (or was dropped pending): a process \
         that chooses by what is ready would depend on timing"
    )
}

#[cold]
#[inline(never)]
fn refuse_waker(operation: u64) -> ! {
    let side = if sends(operation) { "send" } else { "receive" };
    panic!(
        "a {side} on channel {} was polled outside of its process's poll, or with another waker than its \
         process's: await it in the process itself; a combinator that brings its own waker lets a process \
         see which channel is ready, and so depend on timing",
        channel(operation).0
    )
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop);

/// A clone is for others: it outlives the turn.
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

/// Wakes the process while it is polled: it is to be polled again.
///
/// # Safety
/// As for `clone`.
unsafe fn wake(turn: *const ()) {
    // SAFETY: by this function's contract.
    let turn: &Turn<'_> = unsafe { &*turn.cast() };
    if turn.thread == here() {
        turn.rest.set(Rest::Yielded);
    } else {
        turn.cloned.store(true, Ordering::Relaxed);
        Arc::new(foreign(turn)).wake();
    }
}

/// What wakes the process of this turn from anywhere.
fn foreign(turn: &Turn<'_>) -> Foreign {
    let node = turn.node();
    let sleeper = turn.net.cells.nodes[node.index()].dedicated.map(|sleeper| sleeper as Sleeper);
    Foreign { signals: turn.net.signals.clone(), node, sleeper }
}

/// A turn's waker owns nothing.
///
/// # Safety
/// None is needed: the pointer is not used.
unsafe fn drop(_turn: *const ()) {}

/// What wakes a process from elsewhere, however late.
struct Foreign {
    signals: Arc<Signals>,
    node: NodeId,
    sleeper: Option<Sleeper>,
}

impl Wake for Foreign {
    fn wake(self: Arc<Self>) {
        match self.sleeper {
            Some(sleeper) => self.signals.sleep.wake_dedicated(sleeper),
            None => self.signals.inject(ExternalEvent::Woken(self.node)),
        }
    }
}
