//! Nodes one by one, from queue to queue.

use super::{Flow, Run, failed};
use crate::Level;
use crate::build::{Memory, Queue};
use crate::emit::expr::cell_bytes;
use crate::plan::{BEYOND, item};
use thalweg_lang::flat::{ChannelId, Firing, NodeId};
use thalweg_lang::interpret::Stop;
use thalweg_lang::schedule::Phase;

impl Run<'_> {
    /// Bytes of an item of a channel.
    pub(super) fn item_bytes(&self, channel: ChannelId) -> usize {
        // What cannot be native is refused before a run begins.
        let item = item(&self.native.compiled, channel);
        item.map_or(0, |(cell, cells)| cell_bytes(cell) * cells)
    }

    fn rings(&self) -> bool {
        self.native.level == Level::Plain && self.native.parts.len() == 1
    }

    pub(super) fn queue(&mut self, channel: ChannelId) -> &mut Queue {
        &mut self.state.queues()[channel.0 as usize]
    }

    /// Items in a queue.
    pub(super) fn held(&mut self, channel: ChannelId) -> u64 {
        let queue = self.queue(channel);
        (queue.written - queue.read) as u64
    }

    /// Queues with the items that are there before anything runs.
    pub(super) fn fill_queues(&mut self) {
        let compiled = &self.native.compiled;
        for (at, channel) in compiled.flat.channels.iter().enumerate() {
            let id = ChannelId(at as u32);
            let mut room = compiled.schedule.buffers[at].unwrap_or(0).max(channel.initial.len() as u64) + 1;
            if self.rings() {
                room += self.native.parts[0].scale * self.through(id);
            }
            self.widen(id, room);
            let mut bytes = Vec::new();
            for item in &channel.initial {
                super::ends::to_bytes(item, &channel.item, &compiled.tree.structs, &mut bytes);
            }
            self.put(id, &bytes);
        }
    }

    /// Items that go through a channel in a steady state.
    fn through(&self, channel: ChannelId) -> u64 {
        let (flat, from) = (&self.native.compiled.flat, self.native.compiled.flat.channel(channel).from);
        let port = flat.node(from).outputs.iter().position(|output| *output == channel).unwrap_or(0);
        let push = flat.push(&self.native.compiled.tree, from, port, Firing::Later).unwrap_or(0);
        push * self.stages[0].facts.firings[from.0 as usize]
    }

    /// Room for so many items besides those that are there.
    pub(super) fn make_room(&mut self, channel: ChannelId, more: u64) {
        let bytes = self.item_bytes(channel).max(1);
        let room = ((self.queues[channel.0 as usize].bytes().len() / bytes) as u64).saturating_sub(BEYOND);
        let (rings, queue) = (self.rings(), *self.queue(channel));
        let held = (queue.written - queue.read) as u64;
        if rings {
            if held + more > queue.mask as u64 + 1 {
                self.widen(channel, held + more);
            }
        } else if queue.written as u64 + more > room {
            if held + more <= room {
                let memory = self.queues[channel.0 as usize].bytes_mut();
                memory.copy_within(queue.read as usize * bytes..queue.written as usize * bytes, 0);
                let queue = self.queue(channel);
                (queue.read, queue.written) = (0, held as i64);
            } else {
                self.widen(channel, 2 * (held + more));
            }
        }
    }

    /// A larger memory for a queue.
    fn widen(&mut self, channel: ChannelId, room: u64) {
        let room = room.next_power_of_two();
        let bytes = self.item_bytes(channel);
        let items = self.peek_all(channel);
        let mut memory = Memory::new((room + BEYOND) as usize * bytes);
        memory.bytes_mut()[..items.len()].copy_from_slice(&items);
        let pointer = memory.pointer();
        self.queues[channel.0 as usize] = memory;
        let queue = self.queue(channel);
        let held = queue.written - queue.read;
        *queue = Queue { items: pointer.cast(), read: 0, written: held, mask: room as i64 - 1 };
    }

    /// The items of a queue as bytes.
    pub(super) fn peek_all(&mut self, channel: ChannelId) -> Vec<u8> {
        let (rings, bytes, queue) = (self.rings(), self.item_bytes(channel), *self.queue(channel));
        let memory = self.queues[channel.0 as usize].bytes();
        let place = |item: i64| if rings { (item & queue.mask) as usize } else { item as usize };
        let mut items = Vec::new();
        for item in queue.read..queue.written {
            items.extend_from_slice(&memory[place(item) * bytes..][..bytes]);
        }
        items
    }

    /// Puts items into a queue.
    pub(super) fn put(&mut self, channel: ChannelId, items: &[u8]) {
        let bytes = self.item_bytes(channel);
        if bytes == 0 || items.is_empty() {
            return;
        }
        self.make_room(channel, (items.len() / bytes) as u64);
        let (rings, queue) = (self.rings(), *self.queue(channel));
        let memory = self.queues[channel.0 as usize].bytes_mut();
        for (at, item) in items.chunks_exact(bytes).enumerate() {
            let place = queue.written + at as i64;
            let place = if rings { place & queue.mask } else { place } as usize;
            memory[place * bytes..][..bytes].copy_from_slice(item);
        }
        self.queue(channel).written += (items.len() / bytes) as i64;
    }

    /// Takes items from a queue.
    pub(super) fn take(&mut self, channel: ChannelId, count: u64) -> Vec<u8> {
        let bytes = self.item_bytes(channel);
        let mut items = self.peek_all(channel);
        items.truncate(count as usize * bytes);
        self.queue(channel).read += count as i64;
        items
    }

    /// Phases, as far as they go.
    pub(super) fn phases(&mut self, phases: &[Phase]) -> Result<Flow, Stop> {
        for phase in phases {
            let flow = match phase {
                Phase::Fire(node, count) => self.fire(*node, *count)?,
                Phase::Repeat(times, inner) => {
                    let mut flow = Flow::On;
                    for _ in 0..*times {
                        flow = self.phases(inner)?;
                        if flow == Flow::Over {
                            break;
                        }
                    }
                    flow
                }
            };
            if flow == Flow::Over {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    /// Fires a node so many times, or as often as it can.
    fn fire(&mut self, node: NodeId, count: u64) -> Result<Flow, Stop> {
        let mut able = self.able(node, count);
        if self.ends.is_reader(node) {
            let output = self.native.compiled.flat.node(node).outputs.first().copied();
            let items = self.ends.read(node, able)?;
            if let Some(output) = output {
                let bytes = self.item_bytes(output).max(1);
                able = (items.len() / bytes) as u64;
                self.put(output, &items);
            }
        } else if self.ends.is_writer(node) {
            let inputs = &self.native.compiled.flat.node(node).inputs;
            if let Some(input) = inputs.first() {
                let items = self.take(*input, able);
                self.ends.write(&self.native.compiled, node, &items)?;
            }
        } else if able > 0 {
            self.room_for(node, able);
            if !self.state.fire(node.0, able, &mut self.printer) {
                return Err(failed(self.native, &mut self.state, &mut self.printer));
            }
        }
        self.fired[node.0 as usize] += able;
        Ok(if able < count { Flow::Over } else { Flow::On })
    }

    fn room_for(&mut self, node: NodeId, firings: u64) {
        let (flat, tree) = (&self.native.compiled.flat, &self.native.compiled.tree);
        for (port, output) in flat.node(node).outputs.iter().enumerate() {
            let each = |firing| flat.push(tree, node, port, firing).unwrap_or(0);
            self.make_room(*output, each(Firing::First) + each(Firing::Later) * firings);
        }
    }

    /// How often a node can fire, up to a number.
    fn able(&mut self, node: NodeId, want: u64) -> u64 {
        let (flat, tree) = (&self.native.compiled.flat, &self.native.compiled.tree);
        let mut able = want;
        for (port, input) in flat.node(node).inputs.iter().enumerate() {
            let mut held = self.held(*input);
            let mut firings = 0;
            if self.fired[node.0 as usize] == 0 {
                let first = Firing::First;
                if held < flat.peek(tree, node, port, first) {
                    return 0;
                }
                held -= flat.pop(tree, node, port, first).unwrap_or(0);
                firings = 1;
            }
            let (pop, peek) = (
                flat.pop(tree, node, port, Firing::Later).unwrap_or(0),
                flat.peek(tree, node, port, Firing::Later),
            );
            firings += match held.checked_sub(peek) {
                None => 0,
                Some(_) if pop == 0 => want,
                Some(spare) => spare / pop + 1,
            };
            able = able.min(firings);
        }
        able
    }

    /// Everything that takes items fires as long as it can.
    pub(super) fn flush(&mut self, interrupted: &dyn Fn() -> bool) -> Result<(), Stop> {
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) {
            for node in 0..self.native.compiled.flat.nodes.len() as u32 {
                let node = NodeId(node);
                if self.native.compiled.flat.node(node).inputs.is_empty() || interrupted() {
                    continue;
                }
                let able = self.able(node, u64::from(u32::MAX));
                if able > 0 {
                    self.fire(node, able)?;
                    goes_on = true;
                }
            }
        }
        Ok(())
    }
}
