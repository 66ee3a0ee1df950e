//! A segment at work on batches.
//!
//! **Ownership.** A thread that runs a segment takes an [`Own`], the segment's memory, from the pool, and
//! returns it after the batch; the pool's lock orders the accesses. A stateful segment has one `Own`, and the
//! engine runs one batch at a time in it. The driver fills the pool ([`Segments::begin`]) and empties it when no batch
//! is under way.
//!
//! **Flags.** `failed` is the first steady state of the first failed batch so far, `u64::MAX` if there is
//! none. Segments lower it by `fetch_min`, and skip batches behind it. `stopped` is set by the driver after a failure.
//! Both are relaxed: they publish no data, and a segment that misses a value only does needless work. The driver
//! receives batches in order and stops at the first failure, so it uses no batch that was skipped.

use super::layout::Layout;
use super::memory::BatchMemory;
use crate::build::{Address, Host, Inbox, Queue, Room, Sent, State};
use crate::run::{Interrupted, fault, locked, print};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use thalweg_lang::interpret::Stop;

/// A range of steady states on its way through the segments. Only its holder accesses its memory.
pub(in crate::run) struct Batch {
    /// The first steady state.
    pub(super) first: u64,
    /// The number of steady states; reduced if the one after them has failed.
    pub(super) n: u64,
    /// By buffer: the memory of buffers that several segments use.
    pub(super) set: Vec<Option<BatchMemory>>,
    /// Buffers that are in files.
    pub(super) lent: Lent,
    /// The text that has been printed.
    pub(super) text: Vec<u8>,
    pub(super) failure: Option<Stop>,
    /// As a token: its share.
    pub(super) share: usize,
}

/// Buffers that are in the memory of files: each with the address of its position 0.
pub(super) type Lent = Vec<(usize, Address)>;

impl Batch {
    /// A batch without steady states.
    pub(super) fn new(set: Vec<Option<BatchMemory>>) -> Self {
        let (lent, text) = (Lent::default(), Vec::new());
        Batch { first: 0, n: 0, set, lent, text, failure: None, share: 0 }
    }

    /// Whether it has no memory but that of files.
    fn is_bare(&self) -> bool {
        self.set.iter().all(Option::is_none)
    }
}

/// The program's state, and the content of each buffer's front, before the first batch.
pub(super) struct Begin<'a> {
    pub(super) state: State<'a>,
    pub(super) kept: Vec<Vec<u8>>,
    pub(super) first: u64,
}

/// The memory of a segment, used for one batch at a time.
pub(super) struct Own<'a> {
    begin: Arc<Begin<'a>>,
    pub(super) state: State<'a>,
    pub(super) memories: Vec<Option<BatchMemory>>,
    /// By actor, the content of its fronts for the next batch.
    carry: Vec<Vec<Vec<u8>>>,
    /// The steady state for which its content is ready, where that follows from its last batch alone.
    next: Option<u64>,
}

/// A segment and its shared state.
pub(super) struct Node<'s, 'a> {
    layout: &'s Layout<'a>,
    at: usize,
    pool: Mutex<Pool<'a>>,
    flags: &'s Flags<'s>,
}

/// The memory of a segment that no thread uses, and what further memory begins with.
#[derive(Default)]
struct Pool<'a> {
    begin: Option<Arc<Begin<'a>>>,
    free: Vec<Own<'a>>,
}

/// What all segments and the driver share.
pub(in crate::run) struct Flags<'p> {
    /// The first steady state of the first failed batch; later batches are skipped.
    failed: AtomicU64,
    /// Tells firings under way to stop.
    pub(super) stopped: AtomicBool,
    interrupted: Interrupted,
    /// A function for the steady states done.
    progress: Progress<'p>,
}

/// A function that reports the steady states done, unless another thread does so now.
pub(in crate::run) type Progress<'p> = &'p (dyn Fn(&dyn Fn() -> u64) + Sync);

impl<'p> Flags<'p> {
    pub(in crate::run) fn new(interrupted: Interrupted, progress: Progress<'p>) -> Flags<'p> {
        let (failed, stopped) = (AtomicU64::new(u64::MAX), AtomicBool::new(false));
        Flags { failed, stopped, interrupted, progress }
    }

    /// Reports progress, unless another thread does so now.
    pub(super) fn report(&self, done: impl Fn() -> u64) {
        (self.progress)(&done);
    }

    /// Whether firings under way must end.
    pub(super) fn stops(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || (self.interrupted)()
    }
}

/// A host that prints to a buffer.
struct Lines<'h, 'a> {
    layout: &'h Layout<'a>,
    stops: &'h dyn Fn() -> bool,
    text: &'h mut Vec<u8>,
}

impl Host for Lines<'_, '_> {
    fn print(&mut self, node: u32, which: u32, format: u32, args: &dyn Fn(usize) -> Vec<i32>) -> bool {
        let text = print(&self.layout.native.codes, node, which, format, args);
        self.text.extend(text.iter().flat_map(|text| text.bytes()));
        text.is_some()
    }

    fn queues(&self) -> usize {
        0
    }

    fn more(&mut self, _channel: usize, _queues: &mut [Queue], _items: u64) -> Room {
        unreachable!("steady states use no queues")
    }

    fn send(&mut self, _sent: Sent, _args: &dyn Fn(usize) -> Vec<i32>, _inboxes: &mut [Inbox]) -> bool {
        unreachable!("programs that send messages run on one thread")
    }

    fn take(&mut self, _node: u32, _firing: u64, _inboxes: &mut [Inbox]) -> Option<(u32, &[i32])> {
        unreachable!("programs that send messages run on one thread")
    }

    fn stops(&mut self) -> bool {
        (self.stops)()
    }
}

impl<'s, 'a> Node<'s, 'a> {
    pub(super) fn new(layout: &'s Layout<'a>, at: usize, flags: &'s Flags<'s>) -> Node<'s, 'a> {
        Node { layout, at, pool: Mutex::default(), flags }
    }

    /// Begins anew, with memory for this many threads. No batch may be under way. The driver allocates this memory, so
    /// that it reuses pages freed by earlier runs; a thread that has just started would get fresh pages.
    pub(super) fn begin(&self, begin: &Arc<Begin<'a>>, threads: usize) {
        self.flags.failed.store(u64::MAX, Ordering::Relaxed);
        let ready = if self.is_parallel() { threads } else { 1 };
        let free = (0..ready).map(|_| self.fork(begin.clone())).collect();
        *locked(&self.pool) = Pool { begin: Some(begin.clone()), free };
    }

    /// The segment's memory as after the last batch. The pool is empty afterwards.
    pub(super) fn at_end(&self, last: &mut Batch) -> Own<'a> {
        let mut own = self.take();
        *locked(&self.pool) = Pool::default();
        if self.is_parallel() {
            // These firings were done before and did not fail.
            _ = self.repeat(&mut own, last, last.n, &|| false);
        }
        own
    }

    pub(super) fn flags(&self) -> &Flags<'s> {
        self.flags
    }

    /// Takes memory from the pool.
    pub(super) fn take(&self) -> Own<'a> {
        let (free, begin) = {
            let mut pool = locked(&self.pool);
            (pool.free.pop(), pool.begin.clone())
        };
        free.unwrap_or_else(|| self.fork(begin.expect("the driver has begun")))
    }

    pub(super) fn put_back(&self, own: Own<'a>) {
        locked(&self.pool).free.push(own);
    }

    fn fork(&self, begin: Arc<Begin<'a>>) -> Own<'a> {
        let mut own = Own {
            state: begin.state.fork(),
            memories: self.layout.own(self.at),
            carry: self.first_carry(&begin),
            next: None,
            begin,
        };
        self.set_kept(&mut own);
        for (at, memory) in own.memories.iter_mut().enumerate() {
            if let Some(memory) = memory {
                own.state.set_buffer(at, memory.pointer(0));
            }
        }
        own
    }

    fn set_kept(&self, own: &mut Own<'a>) {
        for (memory, kept) in own.memories.iter_mut().zip(&own.begin.kept) {
            if let Some(memory) = memory {
                memory.items_mut(0, kept.len() / memory.item().max(1)).copy_from_slice(kept);
            }
        }
    }

    /// The content of fronts before the first batch.
    fn first_carry(&self, begin: &Begin<'_>) -> Vec<Vec<Vec<u8>>> {
        let fronts = self.layout.fronts.iter();
        fronts.map(|fronts| fronts.iter().map(|front| begin.at(self.layout, front)).collect()).collect()
    }

    fn is_parallel(&self) -> bool {
        self.layout.segments[self.at].is_parallel()
    }

    fn steps(&self) -> std::ops::Range<usize> {
        self.layout.segments[self.at].steps.clone()
    }

    /// Does the segment's part of a batch.
    pub(super) fn run(&self, mut batch: Batch) -> Batch {
        let mut own = self.take();
        self.run_with(&mut own, &mut batch);
        self.put_back(own);
        batch
    }

    /// Like [`Node::run`], with given memory. If that memory was used for the preceding batch, and all other
    /// buffers are in files, nothing is recomputed.
    pub(super) fn run_with(&self, own: &mut Own<'a>, batch: &mut Batch) {
        let first = batch.first;
        let behind = || first > self.flags.failed.load(Ordering::Relaxed);
        if behind() {
            return;
        }
        // Firings behind a failure may never end.
        let stops: &dyn Fn() -> bool = &|| self.flags.stops() || behind();
        if stops() {
            // The driver drops it.
            (batch.n, batch.failure) = (0, Some(Stop::Interrupted));
            return;
        }
        if own.next.take() != Some(batch.first)
            && let Err(stop) = self.prepare(own, batch, stops)
        {
            // The preceding batch, which the driver receives first, has failed in the same firing.
            (batch.n, batch.failure) = (0, Some(stop));
        }
        self.work(own, batch, stops);
        if batch.failure.is_some() {
            self.flags.failed.fetch_min(batch.first, Ordering::Relaxed);
        } else if batch.is_bare() {
            own.next = Some(batch.first + batch.n);
        }
        if !self.is_parallel() {
            self.each_front(|actor, at, front| {
                let further = self.layout.plan.buffers[front.buffer].advance * batch.n as i64;
                if let Some(memory) = &batch.set[front.buffer] {
                    memory.save(front, further, &mut own.carry[actor][at]);
                }
            });
        }
    }

    fn each_front(&self, mut f: impl FnMut(usize, usize, &super::reach::Front)) {
        for actor in
            self.layout.plan.steps[self.steps()].iter().flat_map(|step| step.actors(self.layout.plan))
        {
            for (at, front) in self.layout.fronts[actor].iter().enumerate() {
                f(actor, at, front);
            }
        }
    }

    /// Provides what the batch needs of the time before it.
    fn prepare(&self, own: &mut Own<'a>, batch: &mut Batch, stops: &dyn Fn() -> bool) -> Result<(), Stop> {
        let anew = self.is_parallel() && batch.first > own.begin.first;
        if anew {
            return self.repeat(own, batch, 0, stops);
        }
        if self.is_parallel() {
            // Its memory may contain that of a later batch, which was done before.
            self.set_kept(own);
        }
        self.each_front(|actor, at, front| {
            if let Some(memory) = &mut batch.set[front.buffer] {
                memory.load(front, &own.carry[actor][at]);
            }
        });
        Ok(())
    }

    /// Repeats the firings that pushed what is needed after `after` steady states of a batch.
    fn repeat(
        &self,
        own: &mut Own<'a>,
        batch: &mut Batch,
        after: u64,
        stops: &dyn Fn() -> bool,
    ) -> Result<(), Stop> {
        let (layout, states) = (self.layout, self.layout.reach.states);
        self.place(own, batch, after as i64 - states as i64);
        for (at, buffer) in layout.plan.buffers.iter().enumerate() {
            if let Some(memory) = &mut own.memories[at] {
                own.state.set_buffer(at, memory.pointer(-(states as i64) * buffer.advance));
            }
        }
        own.state.seek(batch.first + after - states);
        let mut done = true;
        for step in self.steps() {
            let (again, all) =
                (layout.reach.again[step], states * layout.plan.steps[step].times(layout.plan));
            if again > 0 && done {
                let mut lines = Lines { layout, stops, text: &mut batch.text };
                done = own.state.firings(step, all - again..all, &mut lines);
            }
        }
        for (at, memory) in own.memories.iter_mut().enumerate() {
            if let Some(memory) = memory {
                own.state.set_buffer(at, memory.pointer(0));
            }
        }
        if done { Ok(()) } else { Err(fault(layout.native, own.state.failure(), None)) }
    }

    /// Sets the addresses of the batch's memory, `from` steady states on.
    fn place(&self, own: &mut Own<'a>, batch: &mut Batch, from: i64) {
        for (at, buffer) in self.layout.plan.buffers.iter().enumerate() {
            let further = from * buffer.advance;
            if let Some(memory) = &mut batch.set[at] {
                own.state.set_buffer(at, memory.pointer(further));
            } else if let Some((_, zero)) = batch.lent.iter().find(|(buffer, _)| *buffer == at) {
                own.state.set_buffer(at, zero.further(further as isize * buffer.bytes as isize).pointer());
            }
        }
    }

    fn work(&self, own: &mut Own<'a>, batch: &mut Batch, stops: &dyn Fn() -> bool) {
        let mut done = 0;
        while done < batch.n {
            let n = self.layout.native.parts[0].scale.min(batch.n - done);
            self.place(own, batch, done as i64);
            own.state.seek(batch.first + done);
            self.steady(own, batch, (done, n), stops);
            for (at, buffer) in self.layout.plan.buffers.iter().enumerate() {
                if let Some(memory) = &mut own.memories[at] {
                    memory.move_on(buffer.advance * n as i64, buffer.keep);
                }
            }
            done += n;
        }
    }

    /// Runs `n` steady states after the first `done` of the batch.
    fn steady(&self, own: &mut Own<'a>, batch: &mut Batch, (done, n): (u64, u64), stops: &dyn Fn() -> bool) {
        let layout = self.layout;
        let mut lines = Lines { layout, stops, text: &mut batch.text };
        if !own.state.steps(self.steps(), n, &mut lines) {
            let failing = layout.failing(batch.first + done);
            let (n, stop) = failing.settle(&mut own.state, self.steps(), n, &mut lines);
            (batch.n, batch.failure) = (done + n, Some(stop));
        }
    }
}

impl Begin<'_> {
    /// The content of a front before the first batch; zero before position 0.
    pub(super) fn at(&self, layout: &Layout<'_>, front: &super::reach::Front) -> Vec<u8> {
        let (item, kept) = (layout.plan.buffers[front.buffer].bytes, &self.kept[front.buffer]);
        let mut bytes = Vec::new();
        for place in front.runs.iter().flat_map(|(first, count)| *first..first + count) {
            let from = usize::try_from(place).unwrap_or(usize::MAX).saturating_mul(item);
            match kept.get(from..from.saturating_add(item)) {
                Some(value) => bytes.extend_from_slice(value),
                None => bytes.resize(bytes.len() + item, 0),
            }
        }
        bytes
    }
}
