//! Files of a run on threads; only the caller's thread reads and writes them.
//!
//! If all files lie in memory, batches use that memory directly. Otherwise items are copied into batches and
//! out of them.

use super::layout::Layout;
use super::node::{Batch, Begin, Lent};
use super::reach::Front;
use crate::build::{Memory, Pieces};
use crate::plan::{Actor, Facts, Plan, sizes};
use crate::run::ends::Ends;
use crate::run::input::{Patience, There};
use crate::run::lend::{Gate, Gates, is_aligned};
use crate::run::moves::{is_in_line, place};
use thalweg_lang::interpret::Stop;

/// What a reader has put at the front of the next batch.
struct Carry {
    actor: usize,
    front: Front,
    saved: Vec<u8>,
}

/// Files with items that are copied.
pub(super) struct Copied<'m> {
    layout: &'m Layout<'m>,
    facts: &'m Facts<'m>,
    ends: &'m mut Ends,
    carries: Vec<Carry>,
}

impl<'m> Copied<'m> {
    pub(super) fn new(
        layout: &'m Layout<'m>,
        facts: &'m Facts<'m>,
        ends: &'m mut Ends,
        begin: &Begin<'_>,
    ) -> Copied<'m> {
        let actors = layout.plan.actors.iter().enumerate();
        let readers = actors.filter(|(_, actor)| ends.is_reader(actor.node));
        let carries = readers.filter_map(|(actor, _)| {
            let front = layout.fronts[actor].first()?.clone();
            Some(Carry { actor, saved: begin.at(layout, &front), front })
        });
        let carries = carries.collect();
        Copied { layout, facts, ends, carries }
    }

    /// The steady states that there is input for.
    fn there(&mut self, want: u64, patience: Patience) -> There {
        self.ends.there(self.facts, want, patience)
    }

    /// Blocks for input, after flushing the output of all input so far.
    fn wait(&mut self) -> Result<(), Stop> {
        self.ends.flush(&self.layout.native.compiled)?;
        self.ends.available(self.facts, 1)?;
        Ok(())
    }

    /// Reads the input of a batch, which is there.
    fn read(&mut self, batch: &mut Batch<'_>) {
        for Carry { actor, front, saved } in &mut self.carries {
            let (actor, root) = (&self.layout.plan.actors[*actor], &self.layout.plan.roots[front.root]);
            let (Some(buffer), Some(reader)) = (&mut batch.set[front.root], self.ends.reader_of(actor.node))
            else {
                continue;
            };
            buffer.load(front, saved);
            let reader = &mut self.ends.readers[reader].1;
            let items = reader.next((batch.n * actor.firings) as usize * root.bytes);
            buffer.scatter(&actor.outputs[0], items);
            let taken = items.len();
            reader.pass(taken);
            buffer.save(front, root.advance * batch.n as i64, saved);
        }
    }

    /// Writes the output of a batch.
    fn write(&mut self, batch: &Batch<'_>) -> Result<(), Stop> {
        let compiled = &self.layout.native.compiled;
        for Actor { node, inputs, firings, .. } in &self.layout.plan.actors {
            let Some(port) = inputs.first().filter(|_| self.ends.is_writer(*node)) else { continue };
            let Some(buffer) = &batch.set[port.root] else { continue };
            let count = (batch.n * firings) as usize;
            if is_in_line(port) {
                self.ends.write(compiled, *node, buffer.items(port.items.base, count))?;
            } else {
                let mut items = Vec::with_capacity(count * buffer.item());
                (0..count).for_each(|at| items.extend_from_slice(buffer.items(place(port, at) as i64, 1)));
                self.ends.write(compiled, *node, &items)?;
            }
        }
        Ok(())
    }
}

/// A root in memory that is read, from its position 0 at the first batch.
struct Read<'m> {
    root: usize,
    memory: &'m [u8],
    /// Bytes of a steady state.
    each: usize,
}

/// A root in memory that is written, from its position 0 at the first batch.
struct Written<'m> {
    root: usize,
    memory: Pieces<'m>,
    each: usize,
}

/// Files that lie in memory.
pub(super) struct InPlace<'m> {
    read: Vec<Read<'m>>,
    written: Vec<Written<'m>>,
    first: u64,
    /// Steady states that they have items and room for.
    pub(super) states: u64,
}

impl<'m> InPlace<'m> {
    /// Up to `most` steady states after `first`; `None` where not all files lie in memory.
    pub(super) fn new(
        plan: &Plan,
        gates: &Gates,
        ends: &'m mut Ends,
        first: u64,
        most: u64,
    ) -> Option<InPlace<'m>> {
        let Ends { readers, writers } = ends;
        let (mut states, mut read, mut written) = (most, Vec::new(), Vec::new());
        for gate in &gates.readers {
            let memory = readers[gate.end].1.lend_all(gate.before).filter(|memory| is_aligned(memory))?;
            states = states.min(fitting(plan, gate, memory.len()));
            read.push(Read { root: gate.root, memory, each: gate.each() });
        }
        if !gates.all_lend() || states == 0 || states == u64::MAX {
            return None;
        }
        for (end, (_, writer)) in writers.iter_mut().enumerate() {
            let gate = gates.writers.iter().find(|gate| gate.end == end)?;
            let bytes = usize::try_from(states).ok()?.checked_mul(gate.each())?.checked_add(gate.beyond())?;
            let room = writer.room(bytes).filter(|room| room.len() >= bytes && is_aligned(room))?;
            written.push(Written { root: gate.root, memory: Pieces::new(room), each: gate.each() });
        }
        Some(InPlace { read, written, first, states })
    }

    /// Sets the places of a batch in the files.
    ///
    /// # Safety
    /// No other batch has been lent the places of any of its steady states.
    pub(super) unsafe fn lend(&self, batch: &mut Batch<'m>) {
        batch.n = batch.n.min(self.first + self.states - batch.first);
        let (before, n) = ((batch.first - self.first) as usize, batch.n as usize);
        batch.lent.read.clear();
        let read = self.read.iter().map(|read| (read.root, read.memory, before * read.each));
        batch.lent.read.extend(read);
        batch.lent.written.clear();
        batch.lent.written.extend(self.written.iter().map(|Written { root, memory, each }| {
            // SAFETY: each steady state has bytes of its own, and only this batch has been lent these, as the
            // caller vouches.
            (*root, unsafe { memory.lend(before * each, n * each) })
        }));
    }

    /// The roots that need no other memory.
    pub(super) fn roots(&self) -> Vec<usize> {
        let read = self.read.iter().map(|read| read.root);
        read.chain(self.written.iter().map(|written| written.root)).collect()
    }

    /// Bytes of a steady state.
    pub(super) fn each(&self) -> u64 {
        let read = self.read.iter().map(|read| read.each);
        read.chain(self.written.iter().map(|written| written.each)).sum::<usize>() as u64
    }
}

/// The steady states for which this many bytes of a reader's root suffice.
fn fitting(plan: &Plan, gate: &Gate, bytes: usize) -> u64 {
    let (items, root) = ((bytes / gate.bytes) as u64, &plan.roots[gate.root]);
    let fits = |states: u64| sizes(plan, states)[gate.root] <= items;
    if root.advance <= 0 || !fits(1) {
        return 0;
    }
    let mut states = items / root.advance as u64;
    while !fits(states) {
        states -= 1;
    }
    states
}

/// All files of a run.
pub(super) enum Files<'m> {
    Copied(Copied<'m>),
    InPlace(InPlace<'m>),
}

impl<'m> Files<'m> {
    /// The steady states, up to `want`, that there is input for.
    pub(super) fn there(&mut self, want: u64, patience: Patience) -> There {
        match self {
            Files::Copied(files) => files.there(want, patience),
            Files::InPlace(_) => There { n: want, over: false },
        }
    }

    /// Blocks for input.
    pub(super) fn wait(&mut self) -> Result<(), Stop> {
        match self {
            Files::Copied(files) => files.wait(),
            Files::InPlace(_) => Ok(()),
        }
    }

    pub(super) fn read(&mut self, batch: &mut Batch<'m>) {
        match self {
            Files::Copied(files) => files.read(batch),
            // SAFETY: the caller reads batches in order, each beginning where the one before ends.
            Files::InPlace(files) => unsafe { files.lend(batch) },
        }
    }

    pub(super) fn write(&mut self, batch: &Batch<'m>) -> Result<(), Stop> {
        match self {
            Files::Copied(files) => files.write(batch),
            Files::InPlace(_) => Ok(()),
        }
    }
}

/// Consumes what batches have read from files in memory, completes what they have written, and copies what is
/// left at the front of readers' roots to the buffers.
pub(super) fn settle(
    layout: &Layout<'_>,
    gates: &Gates,
    ends: &mut Ends,
    buffers: &mut [Memory],
    states: u64,
) -> Result<(), Stop> {
    for gate in &gates.readers {
        let reader = &mut ends.readers[gate.end].1;
        reader.pass(states as usize * gate.each());
        let left = reader.last(gate.before).unwrap_or_default();
        buffers[gate.root].bytes_mut()[..left.len()].copy_from_slice(left);
    }
    for gate in &gates.writers {
        let node = layout.plan.actors[gate.actor].node;
        ends.writers[gate.end].1.filled(&layout.native.compiled, node, states as usize * gate.each())?;
    }
    Ok(())
}

impl Lent<'_> {
    /// The address `further` bytes after position 0 of a root, if the root is lent.
    pub(super) fn pointer(&mut self, root: usize, further: isize) -> Option<*mut u8> {
        if let Some((_, memory, zero)) = self.read.iter().find(|(at, ..)| *at == root) {
            let place = memory.as_ptr().wrapping_add(*zero).wrapping_offset(further);
            return Some(place.cast_mut());
        }
        let (_, memory) = self.written.iter_mut().find(|(at, _)| *at == root)?;
        Some(memory.as_mut_ptr().wrapping_offset(further))
    }
}
