//! Executes schedules firing by firing, as defined, with the number of items on each channel.

use thalweg_analysis::schedule::{Phase, Region, Schedule};
use thalweg_graph::{Channel, ChannelId, GraphData, NodeId, Rate};

/// Executes each region's initialisation and three steady states.
///
/// # Errors
/// The first violation of the schedule's contract.
pub fn verify(graph: &GraphData, schedule: &Schedule) -> Result<(), String> {
    order(graph, schedule)?;
    for region in &schedule.regions {
        let mut run = Run::new(graph, schedule);
        run.phases(&region.init)?;
        let missed = |(node, count): &(&NodeId, &u64)| {
            **count > 0 && graph.has_prework(**node) && run.fired[node.index()] == 0
        };
        if let Some((node, _)) = region.nodes.iter().zip(&region.repetitions).find(missed) {
            return Err(format!("{} has not executed its prework", graph.node(*node).name()));
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
fn order(graph: &GraphData, schedule: &Schedule) -> Result<(), String> {
    let mut all: Vec<NodeId> = schedule.regions.iter().flat_map(|region| region.nodes.clone()).collect();
    all.sort_unstable();
    if all != graph.node_ids().collect::<Vec<_>>() {
        return Err("a node is not in exactly one region".into());
    }
    let region = schedule.region_of();
    let cycles = thalweg_analysis::components(graph);
    for id in graph.channel_ids() {
        let channel = graph.channel(id);
        let (from, to) = (channel.from().0, channel.to().0);
        let around = cycles.of(from) == cycles.of(to);
        if !around && region[from.index()] > region[to.index()] {
            return Err(format!("channel {} goes back", graph.channel_name(id)));
        }
        if from != to && region[from.index()] == region[to.index()] && is_dynamic(graph, channel) {
            return Err(format!("dynamic channel {} is inside a region", graph.channel_name(id)));
        }
    }
    Ok(())
}

fn is_dynamic(graph: &GraphData, channel: &Channel) -> bool {
    let output = &graph.node(channel.from().0).outputs()[channel.from().1];
    let input = &graph.node(channel.to().0).inputs()[channel.to().1];
    let rates =
        [Some(output.push()), output.first(), Some(input.pop()), input.first().map(|first| first.pop())];
    rates.contains(&Some(Rate::Dynamic))
}

struct Run<'a> {
    graph: &'a GraphData,
    /// Whether a channel is inside a region.
    inside: Vec<bool>,
    fired: Vec<u64>,
    held: Vec<u64>,
    /// The maximum of `held` so far.
    most: Vec<u64>,
}

impl<'a> Run<'a> {
    fn new(graph: &'a GraphData, schedule: &Schedule) -> Run<'a> {
        let region = schedule.region_of();
        let inside = |channel: &Channel| {
            let same = region[channel.from().0.index()] == region[channel.to().0.index()];
            same && !is_dynamic(graph, channel)
        };
        let inside = graph.channels().iter().map(inside).collect();
        let held: Vec<u64> = graph.channels().iter().map(|channel| channel.link().initial() as u64).collect();
        Run { graph, inside, fired: vec![0; graph.nodes().len()], most: held.clone(), held }
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
        let first = self.fired[node.index()] == 0;
        self.fired[node.index()] += 1;
        let fired = self.graph.node(node);
        let is_inside = |id: &ChannelId| self.inside[id.index()];
        for port in fired.inputs() {
            let Some(id) = port.channel().filter(is_inside) else { continue };
            let (pop, peek) =
                port.first().filter(|_| first).map_or((port.pop(), port.peek()), |it| (it.pop(), it.peek()));
            let (pop, held) = (pop.fixed().unwrap(), &mut self.held[id.index()]);
            if *held < peek.max(pop) {
                return Err(format!("{} needs {peek} items, but the channel holds {held}", fired.name()));
            }
            *held -= pop;
        }
        for port in fired.outputs() {
            let Some(id) = port.channel().filter(is_inside) else { continue };
            let push = port.first().filter(|_| first).unwrap_or(port.push());
            self.held[id.index()] += push.fixed().unwrap();
            self.most[id.index()] = self.most[id.index()].max(self.held[id.index()]);
        }
        Ok(())
    }

    fn repeats(&self, region: &Region, before: &[u64]) -> Result<(), String> {
        for (node, count) in region.nodes.iter().zip(&region.repetitions) {
            let fired = self.fired[node.index()] - before[node.index()];
            if fired != *count {
                return Err(format!("{} fires {fired} times, not {count}", self.graph.node(*node).name()));
            }
        }
        Ok(())
    }

    /// Checks that each channel inside a region has a buffer that holds its items.
    fn sizes(&self, schedule: &Schedule) -> Result<(), String> {
        for (id, size) in schedule.buffers.iter().enumerate() {
            let carries = self.most[id] > 0;
            if carries && size.is_some() != self.inside[id] {
                return Err(format!("channel {id} has the size {size:?}"));
            }
            if size.is_some_and(|size| size < self.most[id]) {
                return Err(format!("channel {id} holds {} in {size:?}", self.most[id]));
            }
        }
        Ok(())
    }
}
