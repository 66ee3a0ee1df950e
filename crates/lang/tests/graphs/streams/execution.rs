//! Executes schedules firing by firing, as defined, with the number of items on each channel.

use thalweg_lang::flat::{ChannelId, Firing, Flat, NodeId};
use thalweg_lang::schedule::{Phase, Region, Schedule};
use thalweg_lang::tree::Tree;

/// Executes each region's initialisation and three steady states.
///
/// # Errors
/// The first violation of the schedule's contract.
pub fn verify(flat: &Flat, tree: &Tree, schedule: &Schedule) -> Result<(), String> {
    order(flat, schedule)?;
    for region in &schedule.regions {
        let mut run = Run::new(flat, tree, schedule);
        run.phases(&region.init)?;
        if let Some(node) =
            region.nodes.iter().zip(&region.repetitions).find(|(node, count)| {
                **count > 0 && run.has_prework(**node) && run.fired[node.0 as usize] == 0
            })
        {
            return Err(format!("{:?} has not executed its prework", node.0));
        }
        let held = run.held.clone();
        for _ in 0..3 {
            let before = run.fired.clone();
            run.phases(&region.steady)?;
            run.repeats(region, &before)?;
            if run.held != held {
                return Err(format!("a steady state changes {held:?} to {:?}", run.held));
            }
        }
        run.sizes(schedule)?;
    }
    Ok(())
}

/// Checks that regions are in data-flow order and that dynamic channels connect different regions.
fn order(flat: &Flat, schedule: &Schedule) -> Result<(), String> {
    let mut all: Vec<NodeId> = schedule.regions.iter().flat_map(|region| region.nodes.clone()).collect();
    all.sort_unstable();
    if all != (0..flat.nodes().len() as u32).map(NodeId).collect::<Vec<_>>() {
        return Err("a node is not in exactly one region".into());
    }
    let region = schedule.region_of();
    for (id, channel) in flat.channels().iter().enumerate() {
        let (from, to) = (region[channel.from.0.index()], region[channel.to.0.index()]);
        if !channel.link.feedback && from > to {
            return Err(format!("channel {id} goes back from region {from} to {to}"));
        }
        if from == to && flat.is_dynamic(ChannelId(id as u32)) {
            return Err(format!("dynamic channel {id} is inside a region"));
        }
    }
    Ok(())
}

struct Run<'a> {
    flat: &'a Flat,
    tree: &'a Tree,
    /// Whether a channel is inside a region.
    inside: Vec<bool>,
    fired: Vec<u64>,
    held: Vec<u64>,
    /// The maximum of `held` so far.
    most: Vec<u64>,
}

impl<'a> Run<'a> {
    fn new(flat: &'a Flat, tree: &'a Tree, schedule: &Schedule) -> Run<'a> {
        let region = schedule.region_of();
        let same = |from: NodeId, to: NodeId| region[from.0 as usize] == region[to.0 as usize];
        let inside = flat.channels().iter().map(|channel| same(channel.from.0, channel.to.0)).collect();
        let held: Vec<u64> = flat.channels().iter().map(|channel| channel.link.initial as u64).collect();
        Run { flat, tree, inside, fired: vec![0; flat.nodes().len()], most: held.clone(), held }
    }

    fn has_prework(&self, node: NodeId) -> bool {
        let Some(id) = self.flat.filter(node) else { return false };
        self.tree.filters[id.0 as usize].prework.is_some()
    }

    fn phases(&mut self, phases: &[Phase]) -> Result<(), String> {
        for phase in phases {
            match phase {
                Phase::Fire(node, count) => (0..*count).try_for_each(|_| self.fire(*node))?,
                Phase::Repeat(count, phases) => (0..*count).try_for_each(|_| self.phases(phases))?,
            }
        }
        Ok(())
    }

    fn fire(&mut self, node: NodeId) -> Result<(), String> {
        let firing = if self.fired[node.0 as usize] == 0 { Firing::First } else { Firing::Later };
        self.fired[node.0 as usize] += 1;
        for (port, id) in self.flat.inputs(node).enumerate() {
            let id = id.0 as usize;
            if !self.inside[id] {
                continue;
            }
            let (peek, held) = (self.flat.peek(node, port, firing), self.held[id]);
            if held < peek {
                let name = &self.flat.node(node).name;
                return Err(format!("{name} needs {peek} items, but the channel holds {held}"));
            }
            self.held[id] -= self.flat.pop(node, port, firing).unwrap();
        }
        for (port, id) in self.flat.outputs(node).enumerate() {
            let id = id.0 as usize;
            if self.inside[id] {
                self.held[id] += self.flat.push(node, port, firing).unwrap();
                self.most[id] = self.most[id].max(self.held[id]);
            }
        }
        Ok(())
    }

    fn repeats(&self, region: &Region, before: &[u64]) -> Result<(), String> {
        for (node, count) in region.nodes.iter().zip(&region.repetitions) {
            let fired = self.fired[node.0 as usize] - before[node.0 as usize];
            if fired != *count {
                return Err(format!("{} fires {fired} times, not {count}", self.flat.node(*node).name));
            }
        }
        Ok(())
    }

    /// Checks that each channel inside a region has a buffer that holds its items.
    fn sizes(&self, schedule: &Schedule) -> Result<(), String> {
        for (id, size) in schedule.buffers.iter().enumerate() {
            if size.is_some() != self.inside[id] {
                return Err(format!("channel {id} has the size {size:?}"));
            }
            if size.is_some_and(|size| size < self.most[id]) {
                return Err(format!("channel {id} holds {} in {size:?}", self.most[id]));
            }
        }
        Ok(())
    }
}
