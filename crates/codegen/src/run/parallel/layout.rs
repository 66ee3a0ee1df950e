//! The layout of a run on threads: the segments, and the ownership of memory.

use super::LEAST_OVERLAP;
use super::cut::Segment;
use super::memory::BatchMemory;
use super::reach::{Front, Reach};
use crate::Native;
use crate::plan::{Facts, Plan, sizes};
use crate::run::failing::Failing;

/// A region partitioned into segments.
pub(super) struct Layout<'a> {
    pub(super) native: &'a Native,
    pub(super) plan: &'a Plan,
    pub(super) segments: Vec<Segment>,
    pub(super) reach: Reach,
    /// By buffer: whether it is part of each batch; otherwise it belongs to one segment.
    pub(super) shared: Vec<bool>,
    facts: Facts<'a>,
    /// Steady states in a batch.
    pub(super) batch: u64,
    /// The size of each buffer, in items, for a batch.
    sizes: Vec<u64>,
    /// By actor: the positions at the front of a buffer that a producer has filled.
    pub(super) fronts: Vec<Vec<Front>>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(
        native: &'a Native,
        plan: &'a Plan,
        facts: Facts<'a>,
        segments: Vec<Segment>,
        outside: &[bool],
    ) -> Layout<'a> {
        let mut repeats = vec![false; plan.steps.len()];
        for segment in segments.iter().filter(|segment| segment.is_parallel()) {
            repeats[segment.steps.clone()].iter_mut().for_each(|step| *step = true);
        }
        outside.iter().zip(&mut repeats).for_each(|(outside, repeats)| *repeats &= !outside);
        let reach = Reach::of(plan, &repeats);
        let shared = shared(plan, &segments, outside);
        let fronts = plan.actors.iter().map(|actor| {
            let outputs = actor.outputs.iter().filter(|port| shared[port.buffer]);
            outputs.map(|port| Front::of(port, reach.from[port.buffer])).collect::<Vec<_>>()
        });
        let fronts = fronts.collect();
        Layout { native, plan, segments, shared, fronts, facts, batch: 0, sizes: Vec::new(), reach }
    }

    /// Sets the length of batches.
    pub(super) fn set_batch(&mut self, batch: u64) {
        self.batch = batch;
        self.sizes = sizes(self.plan, batch);
    }

    /// The least steady states for which a batch pays where input is slow: they exceed what is recomputed for
    /// it.
    pub(super) fn least(&self) -> u64 {
        (LEAST_OVERLAP * self.reach.states).clamp(1, self.batch)
    }

    /// Rounds up to whole calls, if more than one is needed.
    pub(super) fn calls(&self, states: u64) -> u64 {
        let scale = self.native.parts[0].scale;
        if states > scale { states.next_multiple_of(scale) } else { states.max(1) }
    }

    /// Bytes of a batch's memory for this many steady states, without the buffers that are lent.
    pub(super) fn bytes(&self, batch: u64, lent: &[usize]) -> u64 {
        let buffers = self.plan.buffers.iter().zip(&self.reach.first).enumerate();
        let buffers = buffers.filter(|(at, _)| self.shared[*at] && !lent.contains(at));
        buffers
            .map(|(_, (buffer, first))| {
                (first.unsigned_abs() + (buffer.keep + buffer.advance * batch as i64) as u64)
                    * buffer.bytes as u64
            })
            .sum()
    }

    /// The memory of a batch, without the buffers that are lent.
    pub(super) fn set(&self, lent: &[usize]) -> Vec<Option<BatchMemory>> {
        self.memories(|buffer| self.shared[buffer] && !lent.contains(&buffer), &self.sizes)
    }

    /// Whether batches have nothing of their own: no memory with these buffers lent; and no text, since
    /// parallel segments do not print.
    pub(super) fn is_bare(&self, lent: &[usize]) -> bool {
        self.segments.iter().all(|segment| segment.is_parallel()) && self.bytes(self.batch, lent) == 0
    }

    /// The memory of a batch that has none.
    pub(super) fn no_set(&self) -> Vec<Option<BatchMemory>> {
        self.memories(|_| false, &self.sizes)
    }

    /// The memory of the buffers that belong to a segment.
    pub(super) fn own(&self, segment: usize) -> Vec<Option<BatchMemory>> {
        let buffers = &self.segments[segment].own;
        let sizes: Vec<u64> = self.plan.buffers.iter().map(|buffer| buffer.size).collect();
        self.memories(|buffer| buffers.contains(&buffer), &sizes)
    }

    fn memories(&self, has: impl Fn(usize) -> bool, sizes: &[u64]) -> Vec<Option<BatchMemory>> {
        let buffers = self.plan.buffers.iter().enumerate();
        buffers
            .map(|(at, buffer)| {
                let front = self.reach.first[at].unsigned_abs();
                has(at).then(|| BatchMemory::new(front, sizes[at], buffer.bytes))
            })
            .collect()
    }

    /// The context of a failure after `first` steady states.
    pub(super) fn failing(&self, first: u64) -> Failing<'_> {
        Failing { native: self.native, plan: self.plan, facts: &self.facts, first }
    }
}

/// By buffer: whether several segments, or the steps that access files, use it.
fn shared(plan: &Plan, segments: &[Segment], outside: &[bool]) -> Vec<bool> {
    const OUTSIDE: usize = usize::MAX;
    let mut owner = vec![None; plan.buffers.len()];
    let mut shared = vec![false; plan.buffers.len()];
    for (at, step) in plan.steps.iter().enumerate() {
        let segment = segments.iter().position(|segment| segment.steps.contains(&at) && !outside[at]);
        let user = segment.unwrap_or(OUTSIDE);
        for actor in step.actors(plan) {
            let actor = &plan.actors[actor];
            for port in actor.inputs.iter().chain(&actor.outputs) {
                shared[port.buffer] |=
                    user == OUTSIDE || owner[port.buffer].is_some_and(|owner| owner != user);
                owner[port.buffer] = Some(user);
            }
        }
    }
    shared
}

/// Assigns to each segment the buffers that belong to it.
pub(super) fn interleave_buffers(plan: &Plan, segments: &mut [Segment], outside: &[bool]) {
    let shared = shared(plan, segments, outside);
    for segment in segments {
        let mut own = Vec::new();
        for actor in plan.steps[segment.steps.clone()].iter().flat_map(|step| step.actors(plan)) {
            let actor = &plan.actors[actor];
            own.extend(actor.inputs.iter().chain(&actor.outputs).map(|port| port.buffer));
        }
        own.sort_unstable();
        own.dedup();
        own.retain(|buffer| !shared[*buffer]);
        segment.own = own;
    }
}
