//! Nodes one by one, from queue to queue.

use super::{Flow, Run, failed};
use crate::build::{Flowed, Queue};
use thalweg_lang::flat::{ChannelId, Firing, NodeId};
use thalweg_lang::interpret::{Lack, Stop};
use thalweg_lang::schedule::Phase;

impl Run<'_> {
    /// Bytes of an item of a channel.
    pub(super) fn item_bytes(&self, channel: ChannelId) -> usize {
        self.around.queues.item_bytes(channel.0 as usize)
    }

    pub(super) fn queue(&mut self, channel: ChannelId) -> &mut Queue {
        &mut self.state.queues()[channel.0 as usize]
    }

    /// The number of items in a queue.
    pub(super) fn held(&mut self, channel: ChannelId) -> u64 {
        let queue = self.queue(channel);
        (queue.written - queue.read) as u64
    }

    /// Sets up the queues with their initial items. Where all is one fused part, few queues are needed, and
    /// these are allocated when they are.
    pub(super) fn fill_queues(&mut self) {
        let compiled = &self.native.compiled;
        let fused = matches!(&self.native.parts[..], [part] if part.plan.is_some()) && !self.native.flows();
        for (at, channel) in compiled.flat.channels().iter().enumerate() {
            let id = ChannelId(at as u32);
            if fused && channel.link().initial() == 0 {
                self.state.queues()[at].mask = -1;
                continue;
            }
            let mut room =
                compiled.schedule.buffers[at].unwrap_or(0).max(channel.link().initial() as u64) + 1;
            if self.native.rings() {
                room += self.native.parts[0].scale * self.through(0, id);
            }
            self.around.queues.widen(at, &mut self.state.queues()[at], room);
            let mut bytes = Vec::new();
            for item in compiled.flat.initial(id) {
                crate::files::to_bytes(item, compiled.flat.shape(id), &compiled.tree.structs, &mut bytes);
            }
            self.put(id, &bytes);
        }
    }

    /// Items that go through a channel in a steady state.
    pub(super) fn through(&self, stage: usize, channel: ChannelId) -> u64 {
        let (flat, (from, port)) =
            (&self.native.compiled.flat, self.native.compiled.flat.channel(channel).from());
        let push = flat.push(from, port, Firing::Later).unwrap_or(0);
        push * self.stages[stage].facts.firings[from.0 as usize]
    }

    /// Ensures room for further items.
    pub(super) fn make_room(&mut self, channel: ChannelId, more: u64) {
        let at = channel.0 as usize;
        self.around.queues.make_room(at, &mut self.state.queues()[at], more);
    }

    /// The items of a queue as bytes.
    pub(super) fn peek_all(&mut self, channel: ChannelId) -> Vec<u8> {
        let at = channel.0 as usize;
        self.around.queues.peek_all(at, &self.state.queues()[at])
    }

    /// Appends items to a queue.
    pub(super) fn put(&mut self, channel: ChannelId, items: &[u8]) {
        let bytes = self.item_bytes(channel);
        if bytes == 0 || items.is_empty() {
            return;
        }
        self.make_room(channel, (items.len() / bytes) as u64);
        let at = channel.0 as usize;
        self.around.queues.put(at, &mut self.state.queues()[at], items);
    }

    /// Removes items from a queue.
    pub(super) fn take(&mut self, channel: ChannelId, count: u64) -> Vec<u8> {
        let (at, queue) = (channel.0 as usize, *self.queue(channel));
        let front = Queue { written: queue.read + count as i64, ..queue };
        self.queue(channel).read += count as i64;
        self.around.queues.peek_all(at, &front)
    }

    /// Moves all items out of a queue.
    pub(super) fn move_out(&mut self, channel: ChannelId, into: &mut Vec<u8>) {
        let at = channel.0 as usize;
        self.around.queues.move_out(at, &mut self.state.queues()[at], into);
    }

    /// Runs phases as far as possible.
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

    /// Fires a node `count` times, or as often as possible.
    fn fire(&mut self, node: NodeId, count: u64) -> Result<Flow, Stop> {
        let fired = self.fire_some(node, count)?;
        Ok(if fired < count { Flow::Over } else { Flow::On })
    }

    /// Fires a node up to `count` times; returns the number of firings.
    pub(super) fn fire_some(&mut self, node: NodeId, count: u64) -> Result<u64, Stop> {
        if self.native.waits[node.0 as usize].is_some() {
            return self.fire_flow(node, count);
        }
        let mut able = self.able(node, count);
        if self.ends.is_reader(node) {
            let output = self.native.compiled.flat.output(node);
            self.await_items(node, able)?;
            let mut items = Vec::new();
            self.ends.read(node, able, &mut items)?;
            if let Some(output) = output {
                let bytes = self.item_bytes(output).max(1);
                able = (items.len() / bytes) as u64;
                self.put(output, &items);
            }
        } else if self.ends.is_writer(node) {
            if let Some(input) = self.native.compiled.flat.input(node) {
                let items = self.take(input, able);
                self.ends.write(&self.native.compiled, node, &items)?;
            }
        } else if able > 0 {
            self.room_for(node, able);
            if !self.state.fire(node.0, able, &mut self.around) {
                return Err(failed(self.native, &mut self.state, &mut self.around));
            }
        }
        self.fired[node.0 as usize] += able;
        let flat = &self.native.compiled.flat;
        if flat.inputs(node).chain(flat.outputs(node)).any(|at| self.around.queues.is_counted(at.index())) {
            self.within_budget()?;
        }
        Ok(able)
    }

    /// Counts the items of queues; fails where they exceed the budget.
    pub(super) fn within_budget(&mut self) -> Result<(), Stop> {
        self.around.queues.count(self.state.queues());
        self.around.over(self.native).map_or(Ok(()), Err)
    }

    /// Fires a node with dynamic rates, each firing of which may wait in the middle.
    fn fire_flow(&mut self, node: NodeId, count: u64) -> Result<u64, Stop> {
        let (at, count) = (node.0 as usize, count.min(i64::MAX as u64));
        if let (Some(input), Some(items)) = (self.native.compiled.flat.input(node), self.awaited[at])
            && self.held(input) < items
        {
            return Ok(0);
        }
        if self.awaited[at].is_none() && self.is_direct(node) {
            self.fired[at] = self.state.fired(node.0);
        }
        let (flowed, fired) = match self.native.waits[at] {
            Some(0) | None => self.state.flow(node.0, count, &mut self.around),
            Some(stack) => {
                let flat = &self.native.compiled.flat;
                self.state
                    .flow_apart(node.0, count, (&mut self.fibers, stack), &mut self.around)
                    .map_err(|why| Stop::Output(format!("`{}`: {why}", flat.node(node).name())))?
            }
        };
        self.awaited[at] = if let Flowed::Waits(items) = flowed { Some(items) } else { None };
        if self.awaited[at].is_some() {
            self.state.set_apart(node.0, self.awaited[at].unwrap_or(0));
        }
        self.fired[at] += fired;
        if flowed == Flowed::Failed {
            return Err(failed(self.native, &mut self.state, &mut self.around));
        }
        self.within_budget()?;
        Ok(fired)
    }

    fn room_for(&mut self, node: NodeId, firings: u64) {
        let flat = &self.native.compiled.flat;
        for (port, output) in flat.outputs(node).enumerate() {
            let each = |firing| flat.push(node, port, firing).unwrap_or(0);
            self.make_room(output, each(Firing::First) + each(Firing::Later) * firings);
        }
    }

    /// An input with fewer items than the next firing needs to begin.
    pub(super) fn lacks(&mut self, node: NodeId) -> Option<ChannelId> {
        let flat = &self.native.compiled.flat;
        let mut inputs = flat.inputs(node).enumerate();
        inputs.find(|(port, input)| self.held(*input) < self.needs(node, *port)).map(|(_, input)| input)
    }

    /// Items that an input must hold for the next firing to begin.
    fn needs(&self, node: NodeId, port: usize) -> u64 {
        let flat = &self.native.compiled.flat;
        let firing = if self.fired[node.0 as usize] == 0 { Firing::First } else { Firing::Later };
        flat.peek(node, port, firing)
    }

    /// All items that a node lacks to continue, or to begin its next firing.
    pub(super) fn lacking(&mut self, node: NodeId) -> Vec<Lack> {
        let awaited = self.awaited[node.0 as usize];
        let flat = &self.native.compiled.flat;
        let lack = |(port, channel): (usize, ChannelId)| {
            let needs = awaited.unwrap_or_else(|| self.needs(node, port));
            let more = needs.saturating_sub(self.held(channel));
            (more > 0).then_some(Lack { channel, more })
        };
        flat.inputs(node).enumerate().filter_map(lack).collect()
    }

    /// The number of firings, up to `want`, that there are items for.
    fn able(&mut self, node: NodeId, want: u64) -> u64 {
        let flat = &self.native.compiled.flat;
        let mut able = want;
        for (port, input) in flat.inputs(node).enumerate() {
            let mut held = self.held(input);
            let mut firings = 0;
            if self.fired[node.0 as usize] == 0 {
                let first = Firing::First;
                if held < flat.peek(node, port, first) {
                    return 0;
                }
                held -= flat.pop(node, port, first).unwrap_or(0);
                firings = 1;
            }
            let (pop, peek) =
                (flat.pop(node, port, Firing::Later).unwrap_or(0), flat.peek(node, port, Firing::Later));
            firings += match held.checked_sub(peek) {
                None => 0,
                Some(_) if pop == 0 => want,
                Some(spare) => spare / pop + 1,
            };
            able = able.min(firings);
        }
        able
    }

    /// Fires every node with inputs as long as it can. A feedback loop without input from outside is skipped:
    /// it takes only its own items, and would fire forever.
    pub(super) fn flush(&mut self, interrupted: &dyn Fn() -> bool) -> Result<(), Stop> {
        let flat = &self.native.compiled.flat;
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) {
            for node in 0..flat.nodes().len() as u32 {
                let node = NodeId(node);
                let takes = flat.inputs(node).any(|input| !flat.channel(input).link().feedback());
                if takes && !interrupted() && self.fire_some(node, u64::from(u32::MAX))? > 0 {
                    goes_on = true;
                }
            }
        }
        Ok(())
    }
}
