//! Copies items between queues, buffers and files.

use super::lend::Gates;
use super::{Run, Stage};
use crate::build::Memory;
use crate::plan::{Buffer, Port, held};
use thalweg_lang::interpret::Stop;

impl Run<'_> {
    /// Copies the content of queues after `steady` steady states of a part to its buffers.
    pub(super) fn fill_buffers(&mut self, stage: usize, steady: u64) {
        let Stage { part, memories, gates, .. } = &mut self.stages[stage];
        let Some(plan) = &part.plan else { return };
        *gates = Gates::new(plan, &mut self.ends);
        if memories.is_empty() {
            let mut sizes: Vec<u64> = plan.buffers.iter().map(|buffer| buffer.size).collect();
            // Buffers that may be in a file's memory are allocated when they are not.
            let few = crate::plan::sizes(plan, 1);
            gates.lenders().for_each(|buffer| sizes[buffer] = few[buffer].min(sizes[buffer]));
            // Buffers inside blocks have no memory.
            plan.inner.iter().for_each(|buffer| sizes[*buffer] = 0);
            let memory = |(buffer, size): (&Buffer, u64)| match size {
                0 => Memory::default(),
                _ => Memory::new(size as usize * buffer.bytes),
            };
            *memories = plan.buffers.iter().zip(sizes).map(memory).collect();
        }
        for (at, memory) in memories.iter_mut().enumerate() {
            self.state.set_buffer(plan.first + at, memory.pointer());
        }
        for channel in &plan.holding {
            let (channel, at) = (*channel, channel.0 as usize);
            let Some(view) = plan.views[at].as_ref().filter(|_| !plan.is_direct(channel)) else { continue };
            let facts = &self.stages[stage].facts;
            let (first, last) = held(facts, channel, steady);
            if first == last {
                continue;
            }
            let Some(buffer) = plan.buffers.iter().position(|buffer| buffer.channel == view.buffer) else {
                continue;
            };
            let inside = facts.has(self.native.compiled.flat.channel(channel).from().0);
            let items =
                if inside { self.peek_all(channel) } else { self.take(channel, (last - first) as u64) };
            let (bytes, info) = (plan.buffers[buffer].bytes, &plan.buffers[buffer]);
            let front = info.origin + info.advance * steady as i64;
            let memory = self.stages[stage].memories[buffer].bytes_mut();
            for (item, value) in items.chunks_exact(bytes.max(1)).enumerate() {
                let to = (view.of(first + item as i64) - front) as usize;
                memory[to * bytes..][..bytes].copy_from_slice(value);
            }
        }
    }

    /// Copies the content of buffers after `steady` steady states of a part back to queues.
    pub(super) fn empty_buffers(&mut self, stage: usize, steady: u64) {
        let Some(plan) = &self.native.parts[stage].plan else { return };
        self.copy_back(stage);
        for channel in &plan.holding {
            let (channel, at) = (*channel, channel.0 as usize);
            let Some(view) = plan.views[at].as_ref().filter(|_| !plan.is_direct(channel)) else { continue };
            let facts = &self.stages[stage].facts;
            let (from, to) = held(facts, channel, steady);
            let starts_here = facts.has(self.native.compiled.flat.channel(channel).from().0);
            let mut items = Vec::new();
            if from < to {
                let Some(buffer) = plan.buffers.iter().position(|buffer| buffer.channel == view.buffer)
                else {
                    continue;
                };
                let (bytes, buffer_info) = (plan.buffers[buffer].bytes, &plan.buffers[buffer]);
                let front = buffer_info.origin + buffer_info.advance * steady as i64;
                for item in from..to {
                    let at = (view.of(item) - front) as usize;
                    items.extend_from_slice(
                        &self.stages[stage].memories[buffer].bytes()[at * bytes..][..bytes],
                    );
                }
            }
            // Items that have entered the part and were not consumed precede those that wait outside.
            if !starts_here {
                items.extend(self.peek_all(channel));
            }
            let queue = self.queue(channel);
            (queue.read, queue.written) = (0, 0);
            self.put(channel, &items);
        }
    }

    /// Takes the input of `n` steady states, which is there.
    pub(super) fn take_input(&mut self, stage: usize, n: u64) {
        let native = self.native;
        let Some(plan) = &native.parts[stage].plan else {
            for node in &native.parts[stage].region.nodes {
                if self.ends.is_reader(*node) {
                    let count = n * self.stages[stage].facts.firings[node.0 as usize];
                    let mut items = Vec::new();
                    if self.ends.read(*node, count, &mut items).is_err() {
                        items.clear();
                    }
                    native.compiled.flat.outputs(*node).for_each(|output| self.put(output, &items));
                }
            }
            self.come_in(stage, n);
            return;
        };
        self.let_in(stage, plan, n);
        self.come_in(stage, n);
    }

    /// Writes the output of `n` steady states.
    pub(super) fn give_output(&mut self, stage: usize, n: u64) -> Result<(), Stop> {
        let native = self.native;
        let Some(plan) = &native.parts[stage].plan else {
            for node in &native.parts[stage].region.nodes {
                if self.ends.is_writer(*node) {
                    let count = n * self.stages[stage].facts.firings[node.0 as usize];
                    for input in native.compiled.flat.inputs(*node) {
                        let items = self.take(input, count);
                        self.ends.write(&native.compiled, *node, &items)?;
                    }
                }
            }
            return Ok(());
        };
        self.let_out(stage, plan, n)?;
        self.go_out(stage, n);
        Ok(())
    }
}

pub(super) fn is_in_line(port: &Port) -> bool {
    port.items.group == 1 && port.items.group_stride == 1
}

pub(super) fn place(port: &Port, firing: usize) -> usize {
    let (items, firing) = (&port.items, firing as i64);
    (items.base + firing / items.group * items.group_stride + firing % items.group * items.stride) as usize
}

pub(super) fn scatter(memory: &mut [u8], items: &[u8], port: &Port, bytes: usize, count: usize) {
    if is_in_line(port) {
        memory[port.items.base as usize * bytes..][..items.len()].copy_from_slice(items);
        return;
    }
    for (firing, item) in items.chunks_exact(bytes.max(1)).take(count).enumerate() {
        memory[place(port, firing) * bytes..][..bytes].copy_from_slice(item);
    }
}
