//! Copies items between parts: from queues to buffers and back.

use super::Run;
use super::moves::{is_in_line, place, scatter};
use crate::plan::Border;

impl Run<'_> {
    /// Takes the input of `n` steady states, which is in the queues, from other parts; ensures room for their
    /// output.
    pub(super) fn come_in(&mut self, stage: usize, n: u64) {
        let Some(plan) = &self.native.parts[stage].plan else { return self.room_between(stage, n) };
        for Border { channel, port, items, direct, .. } in &plan.inputs {
            if *direct {
                let bytes = plan.buffers[port.buffer].bytes;
                let at = self.queue(*channel).read as usize * bytes;
                let pointer = self.around.queues.memory_mut(channel.0 as usize).pointer_at(at);
                self.state.set_buffer(plan.first + port.buffer, pointer);
            } else {
                let (count, bytes) = (n * items, plan.buffers[port.buffer].bytes);
                let items = self.take(*channel, count);
                let memory = self.stages[stage].memories[port.buffer].bytes_mut();
                scatter(memory, &items, port, bytes, count as usize);
            }
        }
        for Border { channel, port, items, direct, .. } in &plan.outputs {
            self.make_room(*channel, n * items);
            if *direct {
                let bytes = plan.buffers[port.buffer].bytes;
                let at = self.queue(*channel).written as usize * bytes;
                let pointer = self.around.queues.memory_mut(channel.0 as usize).pointer_at(at);
                self.state.set_buffer(plan.first + port.buffer, pointer);
            }
        }
    }

    /// Passes the output of `n` steady states on to other parts.
    pub(super) fn go_out(&mut self, stage: usize, n: u64) {
        let Some(plan) = &self.native.parts[stage].plan else { return };
        for border in plan.inputs.iter().filter(|border| border.direct) {
            self.queue(border.channel).read += (n * border.items) as i64;
        }
        for Border { channel, port, items, direct, .. } in &plan.outputs {
            let (count, bytes) = ((n * items) as usize, plan.buffers[port.buffer].bytes);
            if *direct {
                self.queue(*channel).written += count as i64;
                continue;
            }
            let memory = self.stages[stage].memories[port.buffer].bytes();
            let items = if is_in_line(port) {
                memory[port.items.base as usize * bytes..][..count * bytes].to_vec()
            } else {
                (0..count)
                    .flat_map(|item| memory[place(port, item) * bytes..][..bytes].iter())
                    .copied()
                    .collect()
            };
            self.put(*channel, &items);
        }
    }

    /// The bytes of a part's steady state that other regions take.
    pub(super) fn bytes_between(&self, stage: usize) -> usize {
        let (flat, part) = (&self.native.compiled.flat, &self.native.parts[stage]);
        let outputs = part.region.nodes.iter().flat_map(|node| flat.outputs(*node));
        let counted = outputs.filter(|output| self.around.queues.is_counted(output.index()));
        let charge = |output| self.through(stage, output) as usize * self.item_bytes(output);
        counted.map(|output| self.around.queues.charge_of(output.index(), charge(output))).sum()
    }

    /// Ensures room for the output of `n` steady states, node by node.
    fn room_between(&mut self, stage: usize, n: u64) {
        if self.native.rings() {
            return;
        }
        for node in &self.native.parts[stage].region.nodes {
            for output in self.native.compiled.flat.outputs(*node) {
                let through = self.through(stage, output);
                self.make_room(output, n * through);
            }
        }
    }
}
