//! Zero-copy input and output: buffers in the memory of files.
//!
//! A buffer that only a reader fills, one item after the other, holds a contiguous piece of the file. For the
//! duration of a call it may be in the file's memory: from the items that earlier calls have left, to as far
//! behind the last item as firings may read. Where the file's memory does not reach that far (as at the end
//! of the file), the items are copied to the buffer's own memory. A buffer that a writer empties in each call
//! may be in the file's memory as well.
//!
//! | `lends` | `lent` | the buffer is in |
//! |---|---|---|
//! | no | no | its own memory, always |
//! | yes | no | its own memory, in this call |
//! | yes | yes | the file's memory, in this call |
//!
//! `let_in` decides `lent` for readers, `call` for writers. `copy_back` copies what is left to the buffer's own
//! memory and ends a loan; `lend_nothing` forbids all loans. Own memory of a buffer that lends is allocated
//! when it is first needed, and only as large as that call needs: with files in memory that is for the last
//! few steady states, since firings may read behind their items.
//!
//! A loan lasts for one call; nothing else accesses the files during the call.

use super::failing::Failing;
use super::moves::{is_in_line, place, scatter};
use super::{Run, Stage, failed};
use crate::build::{LENDERS, Lent, Memory, State};
use crate::files::Ends;
use crate::plan::{Actor, BEYOND, Plan, Port, sizes};
use thalweg_lang::interpret::Stop;

/// An actor that is a reader or a writer, with its buffer.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    /// The index of the actor in the plan.
    pub(super) actor: usize,
    /// The index among the readers or writers.
    pub(super) end: usize,
    pub(super) buffer: usize,
    /// Items that pass in a steady state.
    firings: u64,
    /// Bytes of an item.
    pub(super) bytes: usize,
    /// Bytes in the buffer before the first of these items, and all bytes that the next call needs.
    pub(super) before: usize,
    size: usize,
    /// Bytes by which a steady state moves the buffer.
    advance: usize,
    /// Whether the buffer may be in the file's memory, and whether it is in this call.
    lends: bool,
    lent: bool,
}

/// All gates of a part.
#[derive(Default, Debug)]
pub(super) struct Gates {
    pub(super) readers: Vec<Gate>,
    pub(super) writers: Vec<Gate>,
    /// Steady states of the next call.
    states: u64,
}

impl Gate {
    fn new(plan: &Plan, actor: usize, end: usize, port: &Port) -> Gate {
        let buffer = &plan.buffers[port.buffer];
        Gate {
            actor,
            end,
            buffer: port.buffer,
            firings: plan.actors[actor].firings,
            bytes: buffer.bytes,
            before: port.items.base as usize * buffer.bytes,
            size: buffer.size as usize * buffer.bytes,
            advance: buffer.advance as usize * buffer.bytes,
            lends: is_in_line(port) && buffer.bytes > 0,
            lent: false,
        }
    }
}

impl Gate {
    /// Bytes that pass in a steady state.
    pub(super) fn each(&self) -> usize {
        self.firings as usize * self.bytes
    }

    /// Bytes that must be readable beyond the last item.
    pub(super) fn beyond(&self) -> usize {
        BEYOND as usize * self.bytes
    }
}

impl Gates {
    /// Whether there are files, and all of them may lend their memory.
    pub(super) fn all_lend(&self) -> bool {
        let mut all = self.readers.iter().chain(&self.writers).peekable();
        all.peek().is_some() && all.all(|gate| gate.lends)
    }

    /// The gates of a plan. From now on the readers keep what the buffers in their memory need.
    pub(super) fn new(plan: &Plan, ends: &mut Ends) -> Gates {
        let mut gates = Gates { states: plan.scale, ..Gates::default() };
        for (at, actor) in plan.actors.iter().enumerate() {
            if let (Some(end), Some(port)) = (ends.reader_of(actor.node), actor.outputs.first()) {
                let mut gate = Gate::new(plan, at, end, port);
                gate.lends &= gates.readers.len() < LENDERS && fills_alone(plan, at, port.buffer);
                ends.readers[end].1.keep(gate.before, gate.size);
                gates.readers.push(gate);
            }
            if let (Some(end), Some(port)) = (ends.writer_of(actor.node), actor.inputs.first()) {
                let mut gate = Gate::new(plan, at, end, port);
                gate.lends &= gates.writers.len() < LENDERS && plan.buffers[port.buffer].keep == 0;
                gate.lends &= gate.before == 0;
                gates.writers.push(gate);
            }
        }
        let borders = plan.inputs.iter().chain(&plan.outputs).map(|border| border.port.buffer);
        let used: Vec<usize> =
            gates.readers.iter().chain(&gates.writers).map(|gate| gate.buffer).chain(borders).collect();
        for gate in &mut gates.writers {
            // A buffer can be in one place only.
            gate.lends &= used.iter().filter(|buffer| **buffer == gate.buffer).count() == 1;
        }
        gates
    }

    /// The buffers that may be in files.
    pub(super) fn lenders(&self) -> impl Iterator<Item = usize> {
        self.readers.iter().chain(&self.writers).filter(|gate| gate.lends).map(|gate| gate.buffer)
    }

    /// Sets the number of steady states of the next call.
    fn measure(&mut self, plan: &Plan, n: u64) {
        if std::mem::replace(&mut self.states, n) != n {
            let sizes = sizes(plan, n);
            for gate in self.readers.iter_mut().chain(&mut self.writers) {
                gate.size = sizes[gate.buffer] as usize * gate.bytes;
            }
        }
    }

    /// The memory that files lend for a call; `first` is the index of the plan's first buffer.
    fn lend<'a>(&self, ends: &'a mut Ends, first: usize) -> Lent<'a> {
        let mut lent = Lent::default();
        for (gate, place) in self.readers.iter().zip(&mut lent.read).filter(|(gate, _)| gate.lent) {
            let memory = ends.readers[gate.end].1.lend(gate.before, gate.size);
            *place = (first + gate.buffer, memory.unwrap_or_default());
        }
        for (end, (_, writer)) in ends.writers.iter_mut().enumerate() {
            let mut gates = self.writers.iter().zip(&mut lent.written);
            let Some((gate, place)) = gates.find(|(gate, _)| gate.end == end && gate.lent) else { continue };
            *place = (first + gate.buffer, writer.room(gate.size).unwrap_or_default());
        }
        lent
    }
}

/// Whether only this actor writes a buffer.
fn fills_alone(plan: &Plan, actor: usize, buffer: usize) -> bool {
    let comes_in = plan.inputs.iter().chain(&plan.outputs).any(|border| border.port.buffer == buffer);
    let fills =
        |actor: &Actor| actor.outputs.iter().any(|port| port.buffer == buffer && port.items.window > 0);
    !comes_in && plan.actors.iter().enumerate().all(|(at, other)| at == actor || !fills(other))
}

/// Allocates the memory that the next call needs for a buffer that is not lent.
fn grow(state: &mut State<'_>, plan: &Plan, memories: &mut [Memory], gate: &Gate) {
    let memory = &mut memories[gate.buffer];
    if memory.bytes().len() < gate.size {
        memory.grow(gate.size);
        state.set_buffer(plan.first + gate.buffer, memory.pointer());
    }
}

/// Scalars have at most 4 bytes.
pub(super) fn is_aligned(memory: &[u8]) -> bool {
    memory.as_ptr().cast::<u32>().is_aligned()
}

impl Run<'_> {
    /// Runs `n` steady states of a part in one call, after `done`. On failure: the steady states that are
    /// complete all the same, and the reason.
    pub(super) fn call(&mut self, stage: usize, done: u64, n: u64) -> Result<(), (u64, Stop)> {
        let Run { native, stages, ends, state, around, .. } = self;
        let Stage { part, facts, gates, memories, .. } = &mut stages[stage];
        for gate in &mut gates.writers {
            let room = if gate.lends { ends.writers[gate.end].1.room(gate.size) } else { None };
            gate.lent = room.is_some_and(|room| room.len() >= gate.size && is_aligned(room));
            let stays =
                gate.lent || gates.readers.iter().any(|reader| reader.lent && reader.buffer == gate.buffer);
            if let (false, Some(plan)) = (stays, &part.plan) {
                grow(state, plan, memories, gate);
            }
        }
        let lent = gates.lend(ends, part.plan.as_ref().map_or(0, |plan| plan.first));
        state.lend(lent, |state| {
            if state.steady(stage as u32, n, around) {
                return Ok(());
            }
            match &part.plan {
                Some(plan) if around.may_settle() && state.has_steps() => {
                    let failing = Failing { native, plan, facts, first: done };
                    Err(failing.settle(state, 0..plan.steps.len(), n, around))
                }
                _ => Err((0, failed(native, state, around))),
            }
        })
    }

    /// Forbids loans from now on, for whichever thread runs the steps.
    pub(super) fn lend_nothing(&mut self, stage: usize) {
        let Some(plan) = &self.native.parts[stage].plan else { return };
        let Stage { gates, memories, .. } = &mut self.stages[stage];
        gates.measure(plan, plan.scale);
        for gate in gates.readers.iter_mut().chain(&mut gates.writers) {
            gate.lends = false;
            grow(&mut self.state, plan, memories, gate);
        }
    }

    /// Of `n` steady states, for which there is input: those that can be done in the file's memory; all, if
    /// only a few cannot.
    pub(super) fn in_place(&self, stage: usize, n: u64) -> u64 {
        let Some(plan) = &self.native.parts[stage].plan else { return n };
        let multiple = plan.multiple(crate::lanes(self.native.level));
        let gates = &self.stages[stage].gates;
        let sizes = if gates.states == n { None } else { Some(sizes(plan, n)) };
        let fits = |gate: &Gate| {
            let size = sizes.as_ref().map_or(gate.size, |sizes| sizes[gate.buffer] as usize * gate.bytes);
            let over = size.saturating_sub(self.ends.readers[gate.end].1.reach(gate.before));
            n.saturating_sub(over.div_ceil(gate.advance.max(1)) as u64)
        };
        let most = gates.readers.iter().filter(|gate| gate.lends).map(fits).min().unwrap_or(n);
        if most < n && most >= multiple { most - most % multiple } else { n }
    }

    /// Provides the input of `n` steady states, which is there: in the file's memory, or copied to the
    /// buffer.
    pub(super) fn let_in(&mut self, stage: usize, plan: &Plan, n: u64) {
        let Stage { gates, memories, .. } = &mut self.stages[stage];
        gates.measure(plan, n);
        for gate in &mut gates.readers {
            let reader = &mut self.ends.readers[gate.end].1;
            let lent = gate.lends && reader.lend(gate.before, gate.size).is_some_and(is_aligned);
            if !lent {
                grow(&mut self.state, plan, memories, gate);
            }
            let memory = memories[gate.buffer].bytes_mut();
            if std::mem::replace(&mut gate.lent, lent) && !lent {
                let left = reader.last(gate.before).unwrap_or_default();
                memory[..left.len()].copy_from_slice(left);
            }
            if !lent {
                let count = (n * gate.firings) as usize;
                let items = reader.next(count * gate.bytes);
                scatter(memory, items, &plan.actors[gate.actor].outputs[0], gate.bytes, count);
                let bytes = items.len();
                reader.pass(bytes);
            }
        }
    }

    /// Writes the output of `n` steady states.
    pub(super) fn let_out(&mut self, stage: usize, plan: &Plan, n: u64) -> Result<(), Stop> {
        let Run { ends, stages, native, .. } = self;
        let Stage { gates, memories, .. } = &stages[stage];
        for gate in &gates.writers {
            let (actor, count) = (&plan.actors[gate.actor], (n * gate.firings) as usize);
            let writer = &mut ends.writers[gate.end].1;
            if gate.lent {
                writer.filled(&native.compiled, actor.node, count * gate.bytes)?;
                continue;
            }
            let lender = gates.readers.iter().find(|reader| reader.lent && reader.buffer == gate.buffer);
            let memory = match lender {
                Some(lender) => ends.readers[lender.end].1.lend(lender.before, lender.size),
                None => Some(memories[gate.buffer].bytes()),
            };
            let (memory, port) = (memory.unwrap_or_default(), &actor.inputs[0]);
            if is_in_line(port) {
                writer.write(&native.compiled, actor.node, &memory[gate.before..][..count * gate.bytes])?;
            } else {
                let mut items = Vec::with_capacity(count * gate.bytes);
                for firing in 0..count {
                    items.extend_from_slice(&memory[place(port, firing) * gate.bytes..][..gate.bytes]);
                }
                writer.write(&native.compiled, actor.node, &items)?;
            }
        }
        Ok(())
    }

    /// Moves what is left to the front of buffers.
    pub(super) fn move_on(&mut self, stage: usize, n: u64) {
        let Some(plan) = &self.native.parts[stage].plan else { return };
        let Stage { gates, memories, .. } = &mut self.stages[stage];
        for gate in gates.readers.iter().filter(|gate| gate.lent) {
            self.ends.readers[gate.end].1.pass((n * gate.firings) as usize * gate.bytes);
        }
        for (at, (buffer, memory)) in plan.buffers.iter().zip(memories).enumerate() {
            let (from, keep) =
                (n as usize * buffer.advance as usize * buffer.bytes, buffer.keep as usize * buffer.bytes);
            let stays = gates.readers.iter().any(|gate| gate.lent && gate.buffer == at);
            if keep > 0 && from > 0 && !stays {
                memory.bytes_mut().copy_within(from..from + keep, 0);
            }
        }
    }

    /// Ends all loans: copies what is left to the buffers' own memory.
    pub(super) fn copy_back(&mut self, stage: usize) {
        let Stage { gates, memories, .. } = &mut self.stages[stage];
        for gate in gates.readers.iter_mut().filter(|gate| gate.lent) {
            let left = self.ends.readers[gate.end].1.last(gate.before).unwrap_or_default();
            memories[gate.buffer].bytes_mut()[..left.len()].copy_from_slice(left);
            gate.lent = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Facts, Merged, plan};
    use std::io;
    use thalweg_lang::files::{Files, Layout, Sink, Source};
    use thalweg_lang::interpret::Options;
    use thalweg_lang::value::Value;

    struct Nothing;

    impl Files for Nothing {
        fn source(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
            Ok(Box::new(Nothing))
        }

        fn sink(&mut self, _name: &str, _item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
            Ok(Box::new(Nothing))
        }
    }

    impl Source for Nothing {
        fn next(&mut self) -> io::Result<Option<Value>> {
            Ok(None)
        }

        fn rewind(&mut self) -> io::Result<bool> {
            Ok(false)
        }
    }

    impl Sink for Nothing {
        fn push(&mut self, _item: &Value) -> io::Result<()> {
            Ok(())
        }

        fn finish(self: Box<Self>) -> io::Result<()> {
            Ok(())
        }
    }

    /// Which readers and writers of a program's middle may lend memory.
    fn lenders(middle: &str) -> (Vec<bool>, Vec<bool>) {
        let text = format!(
            "void->void pipeline Main {{ add FileReader<int>(\"in\"); {middle} add FileWriter<int>(\"out\"); }}
             int->int filter Sum() {{ work pop 2 push 1 peek 9 {{ push(pop() + peek(7)); pop(); }} }}"
        );
        let compiled = thalweg_lang::compile(&thalweg_lang::Sources::of("test.str", &text)).unwrap();
        let facts = Facts::new(&compiled, &compiled.schedule.regions[0]);
        let mut ends = Ends::open(&compiled, Options::default(), &mut Nothing).unwrap();
        let gates = Gates::new(&plan(&facts, &Merged::nothing(&facts), &[], (false, 1)).unwrap(), &mut ends);
        let lends = |gates: &[Gate]| gates.iter().map(|gate| gate.lends).collect();
        (lends(&gates.readers), lends(&gates.writers))
    }

    #[test]
    fn buffers_of_one_file_may_be_in_its_memory() {
        assert_eq!(lenders("add Sum();"), (vec![true], vec![true]));
        assert_eq!(lenders(""), (vec![true], vec![false]));
        let beside = "add splitjoin { split duplicate; add Sum(); add FileWriter<int>(\"more\"); join roundrobin(1, 0); };";
        assert_eq!(lenders(beside), (vec![true], vec![false, true]));
        let joined = "add splitjoin { split roundrobin(1, 0); add Sum(); add FileReader<int>(\"more\");
            join roundrobin; };";
        assert_eq!(lenders(joined), (vec![true, false], vec![false]));
    }
}
