//! Files of a run on threads; only the driver reads and writes them.
//!
//! If all files lie in memory, batches use that memory directly. Otherwise items are copied into batches and
//! out of them.

use super::layout::Layout;
use super::node::{Batch, Begin};
use super::reach::Front;
use crate::build::{Address, Memory};
use crate::files::{Ends, There, Timeouts};
use crate::plan::{Actor, Facts, Plan, sizes};
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
pub(super) struct Copied<'m, 'a> {
    layout: &'m Layout<'a>,
    facts: &'m Facts<'a>,
    ends: &'m mut Ends,
    carries: Vec<Carry>,
}

impl<'m, 'a> Copied<'m, 'a> {
    pub(super) fn new(
        layout: &'m Layout<'a>,
        facts: &'m Facts<'a>,
        ends: &'m mut Ends,
        begin: &Begin<'_>,
    ) -> Copied<'m, 'a> {
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
    fn there(&mut self, want: u64, timeouts: Timeouts) -> There {
        self.ends.there(self.facts, want, timeouts)
    }

    /// Blocks for input, after flushing the output of all input so far.
    fn wait(&mut self) -> Result<(), Stop> {
        self.ends.flush(&self.layout.native.compiled)?;
        self.ends.available(self.facts, 1)?;
        Ok(())
    }

    /// Reads the input of a batch, which is there.
    fn read(&mut self, batch: &mut Batch) {
        for Carry { actor, front, saved } in &mut self.carries {
            let (actor, buffer) = (&self.layout.plan.actors[*actor], &self.layout.plan.buffers[front.buffer]);
            let (Some(memory), Some(reader)) =
                (&mut batch.set[front.buffer], self.ends.reader_of(actor.node))
            else {
                continue;
            };
            memory.load(front, saved);
            let reader = &mut self.ends.readers[reader].1;
            let items = reader.next((batch.n * actor.firings) as usize * buffer.bytes);
            memory.scatter(&actor.outputs[0], items);
            let taken = items.len();
            reader.pass(taken);
            memory.save(front, buffer.advance * batch.n as i64, saved);
        }
    }

    /// Writes the output of a batch.
    fn write(&mut self, batch: &Batch) -> Result<(), Stop> {
        let compiled = &self.layout.native.compiled;
        for Actor { node, inputs, firings, .. } in &self.layout.plan.actors {
            let Some(port) = inputs.first().filter(|_| self.ends.is_writer(*node)) else { continue };
            let Some(memory) = &batch.set[port.buffer] else { continue };
            let count = (batch.n * firings) as usize;
            if is_in_line(port) {
                self.ends.write(compiled, *node, memory.items(port.items.base, count))?;
            } else {
                let mut items = Vec::with_capacity(count * memory.item());
                (0..count).for_each(|at| items.extend_from_slice(memory.items(place(port, at) as i64, 1)));
                self.ends.write(compiled, *node, &items)?;
            }
        }
        Ok(())
    }
}

/// A buffer in memory, from its position 0 at the first batch.
struct Lender {
    buffer: usize,
    memory: Address,
    /// Bytes of a steady state.
    each: usize,
}

/// Files that lie in memory. Until all batches are back nothing else reads or writes the files.
pub(super) struct InPlace {
    lenders: Vec<Lender>,
    first: u64,
    /// Steady states that they have items and room for.
    pub(super) states: u64,
}

impl InPlace {
    /// Up to `most` steady states after `first`; `None` where not all files lie in memory.
    pub(super) fn new(plan: &Plan, gates: &Gates, ends: &mut Ends, first: u64, most: u64) -> Option<InPlace> {
        let Ends { readers, writers } = ends;
        let (mut states, mut lenders) = (most, Vec::new());
        for gate in &gates.readers {
            let memory = readers[gate.end].1.lend_all(gate.before).filter(|memory| is_aligned(memory))?;
            states = states.min(fitting(plan, gate, memory.len()));
            lenders.push(Lender { buffer: gate.buffer, memory: Address::of(memory), each: gate.each() });
        }
        if !gates.all_lend() || states == 0 || states == u64::MAX {
            return None;
        }
        for (end, (_, writer)) in writers.iter_mut().enumerate() {
            let gate = gates.writers.iter().find(|gate| gate.end == end)?;
            let bytes = usize::try_from(states).ok()?.checked_mul(gate.each())?.checked_add(gate.beyond())?;
            let room = writer.room(bytes).filter(|room| room.len() >= bytes && is_aligned(room))?;
            lenders.push(Lender { buffer: gate.buffer, memory: Address::of_mut(room), each: gate.each() });
        }
        Some(InPlace { lenders, first, states })
    }

    /// Sets the places of a batch in the files: those of its steady states, which no other batch has.
    pub(super) fn lend(&self, batch: &mut Batch) {
        batch.n = batch.n.min(self.first + self.states - batch.first);
        let before = (batch.first - self.first) as usize;
        batch.lent.clear();
        let zero = |lender: &Lender| (lender.buffer, lender.memory.further((before * lender.each) as isize));
        batch.lent.extend(self.lenders.iter().map(zero));
    }

    /// The buffers that need no other memory.
    pub(super) fn buffers(&self) -> Vec<usize> {
        self.lenders.iter().map(|lender| lender.buffer).collect()
    }

    /// Bytes of a steady state.
    pub(super) fn each(&self) -> u64 {
        self.lenders.iter().map(|lender| lender.each).sum::<usize>() as u64
    }
}

/// The steady states for which this many bytes of a reader's buffer suffice.
fn fitting(plan: &Plan, gate: &Gate, bytes: usize) -> u64 {
    let (items, buffer) = ((bytes / gate.bytes) as u64, &plan.buffers[gate.buffer]);
    let fits = |states: u64| sizes(plan, states)[gate.buffer] <= items;
    if buffer.advance <= 0 || !fits(1) {
        return 0;
    }
    let mut states = items / buffer.advance as u64;
    while !fits(states) {
        states -= 1;
    }
    states
}

/// All files of a run.
pub(super) enum Files<'m, 'a> {
    Copied(Copied<'m, 'a>),
    InPlace(&'m InPlace),
}

impl Files<'_, '_> {
    /// The steady states, up to `want`, that there is input for.
    pub(super) fn there(&mut self, want: u64, timeouts: Timeouts) -> There {
        match self {
            Files::Copied(files) => files.there(want, timeouts),
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

    pub(super) fn read(&mut self, batch: &mut Batch) {
        match self {
            Files::Copied(files) => files.read(batch),
            Files::InPlace(files) => files.lend(batch),
        }
    }

    pub(super) fn write(&mut self, batch: &Batch) -> Result<(), Stop> {
        match self {
            Files::Copied(files) => files.write(batch),
            Files::InPlace(_) => Ok(()),
        }
    }
}

/// Consumes what batches have read from files in memory, completes what they have written, and copies what is
/// left at the front of readers' buffers to the buffers.
pub(super) fn settle(
    layout: &Layout<'_>,
    gates: &Gates,
    ends: &mut Ends,
    memories: &mut [Memory],
    states: u64,
) -> Result<(), Stop> {
    for gate in &gates.readers {
        let reader = &mut ends.readers[gate.end].1;
        reader.pass(states as usize * gate.each());
        let left = reader.last(gate.before).unwrap_or_default();
        memories[gate.buffer].bytes_mut()[..left.len()].copy_from_slice(left);
    }
    for gate in &gates.writers {
        let node = layout.plan.actors[gate.actor].node;
        ends.writers[gate.end].1.filled(&layout.native.compiled, node, states as usize * gate.each())?;
    }
    Ok(())
}
