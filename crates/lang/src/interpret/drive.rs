//! The order of firings; see the parent module.

use super::fire::Fired;
use super::suspend::Suspended;
use super::world::World;
use super::{Options, Stop, deadlock, may_deadlock};
use crate::flat::{ChannelId, Firing, NodeId};
use crate::messages::{Blocked, Demand, Fires, has_messages};
use crate::schedule::{Cursor, Region};
use std::rc::Rc;

/// Runs until the iterations are complete, the input ends, or the run is interrupted; returns the iterations.
pub(super) fn drive(world: &Rc<World>, options: Options, progress: &mut dyn FnMut(u64)) -> Result<u64, Stop> {
    let mut fires = Nodes::new(world);
    let regions = &world.compiled.schedule.regions;
    let mut order: Box<dyn Order + '_> = match &regions[..] {
        [region] if has_messages(&world.compiled.tree) => {
            Box::new(OnDemand { world, demand: Demand::new(&world.compiled.flat, region, 0) })
        }
        regions => Box::new(Rounds::new(world, regions)),
    };
    let loops = may_deadlock(&world.compiled);
    let mut iterations = 0;
    while options.iterations.is_none_or(|most| iterations < most) && !world.interrupted() {
        let over = order.iterate(&mut fires)?.is_break();
        if over {
            flush(world, &mut fires)?;
        }
        if loops && !world.interrupted() {
            fail_on_deadlock(world)?;
        }
        if over {
            break;
        }
        iterations += 1;
        progress(iterations);
    }
    order.end(&mut fires)?;
    Ok(iterations)
}

/// Fails if some streams wait for each other and no further input can help. No node can fire at this point.
fn fail_on_deadlock(world: &World) -> Result<(), Stop> {
    let stuck = deadlock(&world.compiled.flat, |node| world.lacking(node));
    stuck.map_or(Ok(()), |error| Err(Stop::Fault(Box::new(error))))
}

/// After the end of the input: every node with inputs fires as long as it can. A feedback loop without outside
/// input is excluded, because it would fire forever.
fn flush(world: &World, fires: &mut Nodes<'_>) -> Result<(), Stop> {
    let flat = &world.compiled.flat;
    let mut progressed = true;
    while std::mem::take(&mut progressed) {
        for node in flat.graph.node_ids() {
            while flat.inputs(node).any(|input| !flat.channel(input).link().feedback())
                && !world.interrupted()
                && fires.try_fire(node)? == Fired::Yes
            {
                progressed = true;
            }
        }
    }
    Ok(())
}

/// The nodes, with the stacks of those that can suspend.
struct Nodes<'a> {
    world: &'a Rc<World>,
    /// By node: whether its firings can suspend.
    waits: Vec<bool>,
    suspended: Vec<Option<Suspended>>,
}

impl<'a> Nodes<'a> {
    fn new(world: &'a Rc<World>) -> Nodes<'a> {
        let compiled = &world.compiled;
        let waits = |node: NodeId| {
            let decides = |firing| compiled.flat.pop(node, 0, firing).is_none();
            world.filter(node).is_some() && (decides(Firing::First) || decides(Firing::Later))
        };
        let count = world.nodes.len() as u32;
        Nodes {
            world,
            waits: (0..count).map(|node| waits(NodeId(node))).collect(),
            suspended: (0..count).map(|_| None).collect(),
        }
    }

    fn try_fire(&mut self, node: NodeId) -> Result<Fired, Stop> {
        if !self.waits[node.0 as usize] {
            return self.world.fire(node, &|| unreachable!("a static rate waits before it fires"));
        }
        let suspended = &mut self.suspended[node.0 as usize];
        match suspended {
            Some(suspended) => suspended.fire(),
            None => suspended.insert(Suspended::new(self.world, node)?).fire(),
        }
    }
}

/// The order of firings.
trait Order {
    /// Executes an iteration; breaks at the end of the input.
    fn iterate(&mut self, fires: &mut Nodes<'_>) -> Result<Flow, Stop>;

    /// Completes the nodes that no iteration needed.
    fn end(&mut self, fires: &mut Nodes<'_>) -> Result<(), Stop>;
}

type Flow = std::ops::ControlFlow<()>;

/// Executes regions by their schedules.
struct Rounds<'a> {
    world: &'a World,
    /// Each region: its position, and whether it has no input from other regions.
    regions: Vec<(Cursor<'a>, bool)>,
}

/// Why a region stopped.
#[derive(PartialEq, Eq)]
enum Pause {
    /// A steady state is complete.
    Steady,
    /// It lacks items.
    Lacks,
    /// Its input has ended.
    Over,
}

impl<'a> Rounds<'a> {
    fn new(world: &'a World, regions: &'a [Region]) -> Rounds<'a> {
        let (flat, region_of) = (&world.compiled.flat, world.compiled.schedule.region_of());
        let mut first = vec![true; regions.len()];
        for channel in flat.channels().iter().filter(|channel| !channel.link().feedback()) {
            let (from, to) = (region_of[channel.from().0.index()], region_of[channel.to().0.index()]);
            first[to] &= from == to;
        }
        let cursors = regions.iter().map(Cursor::new);
        Rounds { world, regions: cursors.zip(first).collect() }
    }

    /// Runs a region to the end of a steady state, or until it cannot continue.
    fn run(&mut self, region: usize, fires: &mut Nodes<'_>) -> Result<(Pause, bool), Stop> {
        let cursor = &mut self.regions[region].0;
        let mut moved = false;
        loop {
            let Some((node, _)) = cursor.due() else {
                cursor.start_steady_state();
                return Ok((Pause::Steady, moved));
            };
            if self.world.interrupted() {
                return Ok((Pause::Over, moved));
            }
            match fires.try_fire(node)? {
                Fired::Yes => cursor.advance(1),
                Fired::Lacks(_) => return Ok((Pause::Lacks, moved)),
                Fired::Over => return Ok((Pause::Over, moved)),
            }
            moved = true;
        }
    }

    /// Runs the regions with inputs from others until none can continue.
    fn stabilise(&mut self, fires: &mut Nodes<'_>) -> Result<(), Stop> {
        let mut progressed = true;
        while std::mem::take(&mut progressed) {
            for region in 0..self.regions.len() {
                while !self.regions[region].1 && !self.world.interrupted() {
                    let (pause, moved) = self.run(region, fires)?;
                    progressed |= moved;
                    if pause != Pause::Steady || !moved {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Order for Rounds<'_> {
    fn iterate(&mut self, fires: &mut Nodes<'_>) -> Result<Flow, Stop> {
        let mut over = false;
        for region in 0..self.regions.len() {
            if self.regions[region].1 {
                over |= self.run(region, fires)?.0 != Pause::Steady;
            }
        }
        self.stabilise(fires)?;
        Ok(if over { Flow::Break(()) } else { Flow::Continue(()) })
    }

    fn end(&mut self, _fires: &mut Nodes<'_>) -> Result<(), Stop> {
        Ok(())
    }
}

/// Executes one region on demand of its sinks.
struct OnDemand<'a> {
    world: &'a World,
    demand: Demand<'a>,
}

impl OnDemand<'_> {
    fn why(&self, blocked: Blocked<Option<Stop>>) -> Result<(), Stop> {
        match blocked {
            Blocked::Failed(None) => Ok(()),
            Blocked::Failed(Some(stop)) => Err(stop),
            Blocked::Cycle(node) => Err(self.world.fault(node, "it waits for itself")),
        }
    }
}

impl Order for OnDemand<'_> {
    fn iterate(&mut self, fires: &mut Nodes<'_>) -> Result<Flow, Stop> {
        let done = self.demand.iterate(fires, &|| self.world.interrupted());
        done.or_else(|blocked| self.why(blocked).map(|()| Flow::Break(())))
    }

    fn end(&mut self, fires: &mut Nodes<'_>) -> Result<(), Stop> {
        let done = self.demand.end(fires, &|| self.world.interrupted());
        done.or_else(|blocked| self.why(blocked))
    }
}

impl Fires for Nodes<'_> {
    /// A failure; `None` at the end of the input.
    type Error = Option<Stop>;

    fn lacks(&mut self, node: NodeId) -> Option<ChannelId> {
        self.world.lacks(node)
    }

    fn fire(&mut self, node: NodeId) -> Result<(), Option<Stop>> {
        match self.try_fire(node).map_err(Some)? {
            Fired::Yes => Ok(()),
            Fired::Lacks(_) | Fired::Over => Err(None),
        }
    }

    fn fired(&self, node: NodeId) -> u64 {
        self.world.firings[node.0 as usize].get()
    }
}
