//! Ends and buffers: which buffers' items are those of a file, and where they stand.
//!
//! A buffer that nobody but a reader fills, one item after the other, holds a piece of the file as it is. So
//! for a call it may stand in the file's own memory: from the items on that the calls before have left, up to
//! as many behind the last one as firings may look at. Where the memory does not go that far (it does not at
//! the end of the file) items are copied into the buffer. A buffer that a writer empties in each call may
//! stand in the file's memory too.
//!
//! Buffers that may stand in files have memory of their own when they need it, and not more than that: where files
//! are memory that is for the last few steady states alone, behind whose items firings may look.
//!
//! What is lent is lent for one call: while it lasts nobody else touches the files.

use super::ends::Ends;
use super::failing::Failing;
use super::moves::{is_in_line, place, scatter};
use super::{Run, Stage, failed};
use crate::build::{LENDERS, Lent, Memory, State};
use crate::plan::{Actor, BEYOND, Plan, Port, sizes};
use thalweg_lang::interpret::Stop;

/// The end that an actor is.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    /// The actor, by its place in the plan.
    pub(super) actor: usize,
    /// The end, by its place among the readers or writers.
    pub(super) end: usize,
    pub(super) root: usize,
    /// Items that come through in a steady state.
    firings: u64,
    /// Bytes of an item.
    pub(super) bytes: usize,
    /// Bytes in the buffer before the first of these items, and all bytes that the next call needs.
    pub(super) before: usize,
    size: usize,
    /// Bytes by which a steady state moves the buffer.
    advance: usize,
    /// The buffer may stand in the file's memory; it does in this call.
    lends: bool,
    lent: bool,
}

/// All of them.
#[derive(Default, Debug)]
pub(super) struct Gates {
    pub(super) readers: Vec<Gate>,
    pub(super) writers: Vec<Gate>,
    /// Steady states of the next call.
    states: u64,
}

impl Gate {
    fn new(plan: &Plan, actor: usize, end: usize, port: &Port) -> Gate {
        let root = &plan.roots[port.root];
        Gate {
            actor,
            end,
            root: port.root,
            firings: plan.actors[actor].firings,
            bytes: root.bytes,
            before: port.items.base as usize * root.bytes,
            size: root.size as usize * root.bytes,
            advance: root.advance as usize * root.bytes,
            lends: is_in_line(port) && root.bytes > 0,
            lent: false,
        }
    }
}

impl Gate {
    /// Bytes that come through in a steady state.
    pub(super) fn each(&self) -> usize {
        self.firings as usize * self.bytes
    }

    /// Bytes that must be there beyond the last item.
    pub(super) fn beyond(&self) -> usize {
        BEYOND as usize * self.bytes
    }
}

impl Gates {
    /// Whether there are files and all may lend their memory.
    pub(super) fn all_lend(&self) -> bool {
        let mut all = self.readers.iter().chain(&self.writers).peekable();
        all.peek().is_some() && all.all(|gate| gate.lends)
    }

    /// Those of a plan. From now on readers keep what the buffers that they lend memory for need.
    pub(super) fn new(plan: &Plan, ends: &mut Ends) -> Gates {
        let mut gates = Gates { states: plan.scale, ..Gates::default() };
        for (at, actor) in plan.actors.iter().enumerate() {
            if let (Some(end), Some(port)) = (ends.reader_of(actor.node), actor.outputs.first()) {
                let mut gate = Gate::new(plan, at, end, port);
                gate.lends &= gates.readers.len() < LENDERS && fills_alone(plan, at, port.root);
                ends.readers[end].1.keep(gate.before, gate.size);
                gates.readers.push(gate);
            }
            if let (Some(end), Some(port)) = (ends.writer_of(actor.node), actor.inputs.first()) {
                let mut gate = Gate::new(plan, at, end, port);
                gate.lends &= gates.writers.len() < LENDERS && plan.roots[port.root].keep == 0;
                gate.lends &= gate.before == 0;
                gates.writers.push(gate);
            }
        }
        let borders = plan.inputs.iter().chain(&plan.outputs).map(|border| border.port.root);
        let used: Vec<usize> =
            gates.readers.iter().chain(&gates.writers).map(|gate| gate.root).chain(borders).collect();
        for gate in &mut gates.writers {
            // A buffer stands at one place.
            gate.lends &= used.iter().filter(|root| **root == gate.root).count() == 1;
        }
        gates
    }

    /// The buffers that may stand in files.
    pub(super) fn lenders(&self) -> impl Iterator<Item = usize> {
        self.readers.iter().chain(&self.writers).filter(|gate| gate.lends).map(|gate| gate.root)
    }

    /// The next call is of so many steady states.
    fn measure(&mut self, plan: &Plan, n: u64) {
        if std::mem::replace(&mut self.states, n) != n {
            let sizes = sizes(plan, n);
            for gate in self.readers.iter_mut().chain(&mut self.writers) {
                gate.size = sizes[gate.root] as usize * gate.bytes;
            }
        }
    }

    /// What ends lend for a call of a plan whose first buffer is told.
    fn lend<'a>(&self, ends: &'a mut Ends, first: usize) -> Lent<'a> {
        let mut lent = Lent::default();
        for (gate, place) in self.readers.iter().zip(&mut lent.read).filter(|(gate, _)| gate.lent) {
            let memory = ends.readers[gate.end].1.lend(gate.before, gate.size);
            *place = (first + gate.root, memory.unwrap_or_default());
        }
        for (end, (_, writer)) in ends.writers.iter_mut().enumerate() {
            let mut gates = self.writers.iter().zip(&mut lent.written);
            let Some((gate, place)) = gates.find(|(gate, _)| gate.end == end && gate.lent) else { continue };
            *place = (first + gate.root, writer.room(gate.size).unwrap_or_default());
        }
        lent
    }
}

/// Whether an actor's items are the only ones that come into a root.
fn fills_alone(plan: &Plan, actor: usize, root: usize) -> bool {
    let comes_in = plan.inputs.iter().chain(&plan.outputs).any(|border| border.port.root == root);
    let fills = |actor: &Actor| actor.outputs.iter().any(|port| port.root == root && port.items.window > 0);
    !comes_in && plan.actors.iter().enumerate().all(|(at, other)| at == actor || !fills(other))
}

/// A buffer that is not lent gets the memory that the next call needs.
fn grow(state: &mut State<'_>, plan: &Plan, buffers: &mut [Memory], gate: &Gate) {
    let memory = &mut buffers[gate.root];
    if memory.bytes().len() < gate.size {
        memory.grow(gate.size);
        state.set_buffer(plan.first + gate.root, memory.pointer());
    }
}

/// Scalars have 4 bytes at most.
pub(super) fn is_aligned(memory: &[u8]) -> bool {
    memory.as_ptr().cast::<u32>().is_aligned()
}

impl Run<'_> {
    /// Steady states of a part, in one call, after so many. Where it fails: how many have been done all the
    /// same, and why no more.
    pub(super) fn call(&mut self, stage: usize, done: u64, n: u64) -> Result<(), (u64, Stop)> {
        let Run { native, stages, ends, state, around, .. } = self;
        let Stage { part, facts, gates, buffers, .. } = &mut stages[stage];
        for gate in &mut gates.writers {
            let room = if gate.lends { ends.writers[gate.end].1.room(gate.size) } else { None };
            gate.lent = room.is_some_and(|room| room.len() >= gate.size && is_aligned(room));
            let stays =
                gate.lent || gates.readers.iter().any(|reader| reader.lent && reader.root == gate.root);
            if let (false, Some(plan)) = (stays, &part.plan) {
                grow(state, plan, buffers, gate);
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

    /// From now on nothing is lent, whoever runs the steps.
    pub(super) fn lend_nothing(&mut self, stage: usize) {
        let Some(plan) = &self.native.parts[stage].plan else { return };
        let Stage { gates, buffers, .. } = &mut self.stages[stage];
        gates.measure(plan, plan.scale);
        for gate in gates.readers.iter_mut().chain(&mut gates.writers) {
            gate.lends = false;
            grow(&mut self.state, plan, buffers, gate);
        }
    }

    /// Of so many steady states, for which there is input, those that can be done where it stands: all, if it is
    /// only a few that cannot.
    pub(super) fn in_place(&self, stage: usize, n: u64) -> u64 {
        let Some(plan) = &self.native.parts[stage].plan else { return n };
        let turn = plan.turn(crate::lanes(self.native.level));
        let gates = &self.stages[stage].gates;
        let sizes = if gates.states == n { None } else { Some(sizes(plan, n)) };
        let fits = |gate: &Gate| {
            let size = sizes.as_ref().map_or(gate.size, |sizes| sizes[gate.root] as usize * gate.bytes);
            let over = size.saturating_sub(self.ends.readers[gate.end].1.reach(gate.before));
            n.saturating_sub(over.div_ceil(gate.advance.max(1)) as u64)
        };
        let most = gates.readers.iter().filter(|gate| gate.lends).map(fits).min().unwrap_or(n);
        if most < n && most >= turn { most - most % turn } else { n }
    }

    /// The input of so many steady states, which is there: it stays where it is, or goes to its buffer.
    pub(super) fn let_in(&mut self, stage: usize, plan: &Plan, n: u64) {
        let Stage { gates, buffers, .. } = &mut self.stages[stage];
        gates.measure(plan, n);
        for gate in &mut gates.readers {
            let reader = &mut self.ends.readers[gate.end].1;
            let lent = gate.lends && reader.lend(gate.before, gate.size).is_some_and(is_aligned);
            if !lent {
                grow(&mut self.state, plan, buffers, gate);
            }
            let memory = buffers[gate.root].bytes_mut();
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

    /// Writes what so many steady states have given.
    pub(super) fn let_out(&mut self, stage: usize, plan: &Plan, n: u64) -> Result<(), Stop> {
        let Run { ends, stages, native, .. } = self;
        let Stage { gates, buffers, .. } = &stages[stage];
        for gate in &gates.writers {
            let (actor, count) = (&plan.actors[gate.actor], (n * gate.firings) as usize);
            let writer = &mut ends.writers[gate.end].1;
            if gate.lent {
                writer.filled(&native.compiled, actor.node, count * gate.bytes)?;
                continue;
            }
            let lender = gates.readers.iter().find(|reader| reader.lent && reader.root == gate.root);
            let memory = match lender {
                Some(lender) => ends.readers[lender.end].1.lend(lender.before, lender.size),
                None => Some(buffers[gate.root].bytes()),
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

    /// What is left moves to the front.
    pub(super) fn move_on(&mut self, stage: usize, n: u64) {
        let Some(plan) = &self.native.parts[stage].plan else { return };
        let Stage { gates, buffers, .. } = &mut self.stages[stage];
        for gate in gates.readers.iter().filter(|gate| gate.lent) {
            self.ends.readers[gate.end].1.pass((n * gate.firings) as usize * gate.bytes);
        }
        for (at, (root, memory)) in plan.roots.iter().zip(buffers).enumerate() {
            let (from, keep) =
                (n as usize * root.advance as usize * root.bytes, root.keep as usize * root.bytes);
            let stays = gates.readers.iter().any(|gate| gate.lent && gate.root == at);
            if keep > 0 && from > 0 && !stays {
                memory.bytes_mut().copy_within(from..from + keep, 0);
            }
        }
    }

    /// Buffers that stand in files get what is left there.
    pub(super) fn land(&mut self, stage: usize) {
        let Stage { gates, buffers, .. } = &mut self.stages[stage];
        for gate in gates.readers.iter_mut().filter(|gate| gate.lent) {
            let left = self.ends.readers[gate.end].1.last(gate.before).unwrap_or_default();
            buffers[gate.root].bytes_mut()[..left.len()].copy_from_slice(left);
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
        fn give(&mut self, _item: &Value) -> io::Result<()> {
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
    fn buffers_of_one_end_may_stand_in_its_file() {
        assert_eq!(lenders("add Sum();"), (vec![true], vec![true]));
        assert_eq!(lenders(""), (vec![true], vec![false]));
        let beside = "add splitjoin { split duplicate; add Sum(); add FileWriter<int>(\"more\"); join roundrobin(1, 0); };";
        assert_eq!(lenders(beside), (vec![true], vec![false, true]));
        let joined = "add splitjoin { split roundrobin(1, 0); add Sum(); add FileReader<int>(\"more\");
            join roundrobin; };";
        assert_eq!(lenders(joined), (vec![true, false], vec![false]));
    }
}
