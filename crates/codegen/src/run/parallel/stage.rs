//! A segment at work on batches.

use super::layout::Layout;
use super::memory::Buffer;
use crate::build::{Host, State};
use crate::plan::Step;
use crate::run::{fault, print};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::Stop;

/// Some steady states on their way through the segments: who has it has its memory.
pub(super) struct Batch {
    /// The first of all steady states.
    pub(super) first: u64,
    /// How many; fewer than at first where something has failed in the one after them.
    pub(super) n: u64,
    /// Memory by root, of those that several segments come to.
    pub(super) set: Vec<Option<Buffer>>,
    /// What has been printed.
    pub(super) text: Vec<u8>,
    pub(super) failure: Option<Stop>,
}

/// What a program keeps, and what stands at the front of each root, when the first batch begins.
pub(super) struct Begin<'a> {
    pub(super) state: State<'a>,
    pub(super) fronts: Vec<Vec<u8>>,
    pub(super) first: u64,
}

/// A segment's memory, one for each batch at a time.
pub(super) struct Own<'a> {
    pub(super) state: State<'a>,
    pub(super) buffers: Vec<Option<Buffer>>,
    /// What it has filled of the next batch's front: by actor, and its borders.
    carry: Vec<Vec<Vec<u8>>>,
}

/// A segment and what it needs.
pub(super) struct Stage<'a> {
    layout: &'a Layout<'a>,
    begin: &'a Begin<'a>,
    at: usize,
    pool: Mutex<Vec<Own<'a>>>,
    /// The first batch that has failed; none after it is worth doing.
    failed: &'a AtomicU64,
}

/// Prints into a text.
struct Lines<'a> {
    layout: &'a Layout<'a>,
    text: &'a mut Vec<u8>,
}

impl Host for Lines<'_> {
    fn print(&mut self, node: u32, which: u32, format: u32, args: &dyn Fn(usize) -> Vec<i32>) -> bool {
        let text = print(&self.layout.native.codes, node, which, format, args);
        self.text.extend(text.iter().flat_map(|text| text.bytes()));
        text.is_some()
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        layout: &'a Layout<'a>,
        begin: &'a Begin<'a>,
        at: usize,
        failed: &'a AtomicU64,
    ) -> Stage<'a> {
        Stage { layout, begin, at, pool: Mutex::default(), failed }
    }

    /// The segment's memory as it is after the last batch.
    pub(super) fn at_end(&self, last: &mut Batch) -> Own<'a> {
        let mut own = self.take();
        if self.is_parallel() {
            // It has been done before, and did not fail.
            _ = self.repeat(&mut own, last, last.n);
        }
        own
    }

    /// Memory that is not in use.
    fn take(&self) -> Own<'a> {
        let pooled = self.pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        pooled.unwrap_or_else(|| self.fork())
    }

    fn fork(&self) -> Own<'a> {
        let mut own = Own {
            state: self.begin.state.fork(),
            buffers: self.layout.own(self.at),
            carry: self.first_carry(),
        };
        self.set_fronts(&mut own);
        for (at, buffer) in own.buffers.iter_mut().enumerate() {
            if let Some(buffer) = buffer {
                own.state.set_buffer(at, buffer.pointer(0));
            }
        }
        own
    }

    fn set_fronts(&self, own: &mut Own<'a>) {
        for (buffer, front) in own.buffers.iter_mut().zip(&self.begin.fronts) {
            if let Some(buffer) = buffer {
                buffer.items_mut(0, front.len() / buffer.item().max(1)).copy_from_slice(front);
            }
        }
    }

    /// What stands at borders before the first batch.
    fn first_carry(&self) -> Vec<Vec<Vec<u8>>> {
        let borders = self.layout.borders.iter();
        borders.map(|borders| borders.iter().map(|border| self.begin.at(self.layout, border)).collect()).collect()
    }

    fn is_parallel(&self) -> bool {
        self.layout.segments[self.at].parallel
    }

    fn steps(&self) -> std::ops::Range<usize> {
        self.layout.segments[self.at].steps.clone()
    }

    /// Does the segment's part of a batch.
    pub(super) fn run(&self, mut batch: Batch) -> Batch {
        if batch.first > self.failed.load(Ordering::Relaxed) {
            return batch;
        }
        let mut own = self.take();
        if let Err(stop) = self.prepare(&mut own, &mut batch) {
            // The batch before, which comes out before, has failed in the same firing.
            (batch.n, batch.failure) = (0, Some(stop));
        }
        self.work(&mut own, &mut batch);
        if batch.failure.is_some() {
            self.failed.fetch_min(batch.first, Ordering::Relaxed);
        }
        if !self.is_parallel() {
            self.each_border(|actor, at, border| {
                let further = self.layout.plan.roots[border.root].advance * batch.n as i64;
                if let Some(buffer) = &batch.set[border.root] {
                    buffer.save(border, further, &mut own.carry[actor][at]);
                }
            });
        }
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).push(own);
        batch
    }

    fn each_border(&self, mut f: impl FnMut(usize, usize, &super::reach::Border)) {
        for actor in self.layout.plan.steps[self.steps()].iter().flat_map(Step::actors) {
            for (at, border) in self.layout.borders[actor].iter().enumerate() {
                f(actor, at, border);
            }
        }
    }

    /// What the batch needs of the time before it.
    fn prepare(&self, own: &mut Own<'a>, batch: &mut Batch) -> Result<(), Stop> {
        let anew = self.is_parallel() && batch.first > self.begin.first;
        if anew {
            return self.repeat(own, batch, 0);
        }
        if self.is_parallel() {
            // Its memory may be that of a later batch, which was done before.
            self.set_fronts(own);
        }
        self.each_border(|actor, at, border| {
            if let Some(buffer) = &mut batch.set[border.root] {
                buffer.load(border, &own.carry[actor][at]);
            }
        });
        Ok(())
    }

    /// Repeats the firings whose items are needed after so many steady states of a batch.
    fn repeat(&self, own: &mut Own<'a>, batch: &mut Batch, after: u64) -> Result<(), Stop> {
        let (layout, states) = (self.layout, self.layout.reach.states);
        self.place(own, batch, after as i64 - states as i64);
        for (at, root) in layout.plan.roots.iter().enumerate() {
            if let Some(buffer) = &mut own.buffers[at] {
                own.state.set_buffer(at, buffer.pointer(-(states as i64) * root.advance));
            }
        }
        own.state.seek(batch.first + after - states);
        let mut done = true;
        for step in self.steps() {
            let (again, all) = (layout.reach.again[step], states * layout.plan.steps[step].times(layout.plan));
            if again > 0 && done {
                let mut lines = Lines { layout, text: &mut batch.text };
                done = own.state.firings(step, all - again..all, &mut lines);
            }
        }
        for (at, buffer) in own.buffers.iter_mut().enumerate() {
            if let Some(buffer) = buffer {
                own.state.set_buffer(at, buffer.pointer(0));
            }
        }
        if done { Ok(()) } else { Err(fault(layout.native, own.state.failure())) }
    }

    /// Says where the batch's memory is, from so many steady states on.
    fn place(&self, own: &mut Own<'a>, batch: &mut Batch, from: i64) {
        for (at, root) in self.layout.plan.roots.iter().enumerate() {
            if let Some(buffer) = &mut batch.set[at] {
                own.state.set_buffer(at, buffer.pointer(from * root.advance));
            }
        }
    }

    fn work(&self, own: &mut Own<'a>, batch: &mut Batch) {
        let mut done = 0;
        while done < batch.n {
            let n = self.layout.native.scale.min(batch.n - done);
            self.place(own, batch, done as i64);
            own.state.seek(batch.first + done);
            self.steady(own, batch, done, n);
            for (at, root) in self.layout.plan.roots.iter().enumerate() {
                if let Some(buffer) = &mut own.buffers[at] {
                    buffer.move_on(root.advance * n as i64, root.keep);
                }
            }
            done += n;
        }
    }

    /// So many steady states after so many of the batch. Where a step fails, those after it do the steady
    /// states before that one: what they fail in came first.
    fn steady(&self, own: &mut Own<'a>, batch: &mut Batch, done: u64, mut n: u64) {
        let (layout, mut steps) = (self.layout, self.steps());
        loop {
            let mut lines = Lines { layout, text: &mut batch.text };
            if own.state.steps(steps.clone(), n, &mut lines) {
                return;
            }
            let failure = own.state.failure();
            let node = NodeId(failure.node);
            let (at, firing) = (node.0 as usize, failure.firing as u64);
            let before = (firing - 1 - layout.begun[at]) / layout.firings[at].max(1);
            n = before.saturating_sub(batch.first + done).min(n - 1);
            batch.failure = Some(fault(layout.native, failure));
            batch.n = done + n;
            let failed = layout.step_of(node).unwrap_or(steps.end);
            steps.start = (failed + 1).min(steps.end);
        }
    }
}

impl Begin<'_> {
    /// What stands at a border when the first batch begins; nothing does before the front.
    pub(super) fn at(&self, layout: &Layout<'_>, border: &super::reach::Border) -> Vec<u8> {
        let (item, front) = (layout.plan.roots[border.root].bytes, &self.fronts[border.root]);
        let mut bytes = Vec::new();
        for place in border.runs.iter().flat_map(|(first, count)| *first..first + count) {
            let from = usize::try_from(place).unwrap_or(usize::MAX).saturating_mul(item);
            match front.get(from..from.saturating_add(item)) {
                Some(value) => bytes.extend_from_slice(value),
                None => bytes.resize(bytes.len() + item, 0),
            }
        }
        bytes
    }
}
