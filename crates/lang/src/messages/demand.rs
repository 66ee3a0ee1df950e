//! Demand order: the firings required before a node can fire.

use crate::Compiled;
use crate::flat::{ChannelId, Firing, Flat, NodeId};
use crate::schedule::{Phase, Region};
use std::convert::Infallible;
use std::ops::{ControlFlow, Deref};

/// Reasons why a node cannot fire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Blocked<E> {
    /// It waits for itself through a feedback loop.
    Cycle(NodeId),
    /// A firing failed, or the input has ended.
    Failed(E),
}

/// Executes firings.
pub trait Fires {
    /// The reason of a failed firing.
    type Error;

    /// A channel with too few items for the node's next firing.
    fn lacks(&mut self, node: NodeId) -> Option<ChannelId>;

    /// Fires the node; its input is complete.
    ///
    /// # Errors
    /// The firing fails, or the input has ended.
    fn fire(&mut self, node: NodeId) -> Result<(), Self::Error>;

    /// The number of firings of the node.
    fn fired(&self, node: NodeId) -> u64;
}

/// Fires a node once, after the firings that it requires.
///
/// # Errors
/// The node waits for itself, or a firing fails.
pub fn pull<F: Fires>(flat: &Flat, fires: &mut F, target: NodeId) -> Result<(), Blocked<F::Error>> {
    let mut pending = vec![target];
    let mut is_pending = vec![false; flat.nodes().len()];
    is_pending[target.0 as usize] = true;
    while let Some(node) = pending.last().copied() {
        match fires.lacks(node) {
            None => {
                fires.fire(node).map_err(Blocked::Failed)?;
                is_pending[node.0 as usize] = false;
                pending.pop();
            }
            Some(channel) => {
                let from = flat.channel(channel).from().0;
                if std::mem::replace(&mut is_pending[from.0 as usize], true) {
                    return Err(Blocked::Cycle(node));
                }
                pending.push(from);
            }
        }
    }
    Ok(())
}

/// Executes one region on demand of its sinks.
pub struct Demand<'a> {
    flat: &'a Flat,
    region: &'a Region,
    /// Firings of each node in the initialisation.
    first: Vec<u64>,
    iterations: u64,
}

impl<'a> Demand<'a> {
    /// The state after `iterations` iterations.
    pub fn new(flat: &'a Flat, region: &'a Region, iterations: u64) -> Demand<'a> {
        let mut first = vec![0; flat.nodes().len()];
        count(&region.init, 1, &mut first);
        Demand { flat, region, first, iterations }
    }

    /// Executes an iteration; breaks at the end of the input.
    ///
    /// # Errors
    /// A firing fails, or a node waits for itself.
    pub fn iterate<F: Fires>(
        &mut self,
        fires: &mut F,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<ControlFlow<()>, Blocked<F::Error>>
    where
        F::Error: IsOver,
    {
        self.iterations += 1;
        self.fire_up_to(fires, interrupted, |node| self.flat.node(node).outputs().is_empty())
    }

    /// Completes the nodes that no sink needed, up to the firings of their schedule.
    ///
    /// # Errors
    /// A firing fails, or a node waits for itself.
    pub fn end<F: Fires>(
        &self,
        fires: &mut F,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<(), Blocked<F::Error>>
    where
        F::Error: IsOver,
    {
        self.fire_up_to(fires, interrupted, |_| true).map(|_| ())
    }

    /// Brings the selected nodes to the number of firings of their schedule so far.
    fn fire_up_to<F: Fires>(
        &self,
        fires: &mut F,
        interrupted: &dyn Fn() -> bool,
        which: impl Fn(NodeId) -> bool,
    ) -> Result<ControlFlow<()>, Blocked<F::Error>>
    where
        F::Error: IsOver,
    {
        let nodes = self.region.nodes.iter().zip(&self.region.repetitions).filter(|(node, _)| which(**node));
        let targets: Vec<(NodeId, u64)> = nodes
            .map(|(node, repetitions)| (*node, self.first[node.0 as usize] + repetitions * self.iterations))
            .collect();
        let mut progressed = true;
        while std::mem::take(&mut progressed) {
            for (node, aim) in &targets {
                if fires.fired(*node) >= *aim {
                    continue;
                }
                if interrupted() {
                    return Ok(ControlFlow::Continue(()));
                }
                progressed = true;
                match pull(self.flat, fires, *node) {
                    Err(Blocked::Failed(error)) if error.is_over() => return Ok(ControlFlow::Break(())),
                    done => done?,
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// A reason that can be the end of the input.
pub trait IsOver {
    /// Whether it is the end of the input.
    fn is_over(&self) -> bool;
}

impl<T> IsOver for Option<T> {
    fn is_over(&self) -> bool {
        self.is_none()
    }
}

impl IsOver for Infallible {
    fn is_over(&self) -> bool {
        false
    }
}

/// Item counts of channels: simulates firings without executing them.
#[derive(Clone)]
pub struct Counts<C> {
    compiled: C,
    items: Vec<u64>,
    firings: Vec<u64>,
}

impl<C: Deref<Target = Compiled>> Counts<C> {
    /// The initial state.
    pub fn new(compiled: C) -> Counts<C> {
        let items = compiled.flat.channels().iter().map(|channel| channel.link().initial() as u64).collect();
        let firings = vec![0; compiled.flat.nodes().len()];
        Counts { compiled, items, firings }
    }

    /// The number of items in each channel.
    pub fn items(&self) -> &[u64] {
        &self.items
    }

    /// The number of firings of each node.
    pub fn firings(&self) -> &[u64] {
        &self.firings
    }

    fn firing(&self, node: NodeId) -> Firing {
        if self.firings[node.0 as usize] == 0 { Firing::First } else { Firing::Later }
    }
}

impl<C: Deref<Target = Compiled>> Fires for Counts<C> {
    type Error = Infallible;

    fn lacks(&mut self, node: NodeId) -> Option<ChannelId> {
        let (flat, firing) = (&self.compiled.flat, self.firing(node));
        let needs = |at| flat.peek(node, at, firing);
        let mut inputs = flat.inputs(node).enumerate();
        inputs.find(|(at, channel)| self.items[channel.index()] < needs(*at)).map(|(_, channel)| channel)
    }

    fn fire(&mut self, node: NodeId) -> Result<(), Infallible> {
        let firing = self.firing(node);
        let flat = &self.compiled.flat;
        for (at, channel) in flat.inputs(node).enumerate() {
            self.items[channel.0 as usize] -= flat.pop(node, at, firing).unwrap_or(0);
        }
        for (at, channel) in flat.outputs(node).enumerate() {
            self.items[channel.0 as usize] += flat.push(node, at, firing).unwrap_or(0);
        }
        self.firings[node.0 as usize] += 1;
        Ok(())
    }

    fn fired(&self, node: NodeId) -> u64 {
        self.firings[node.0 as usize]
    }
}

/// Adds up the firings of each node in phases.
fn count(phases: &[Phase], times: u64, firings: &mut [u64]) {
    for phase in phases {
        match phase {
            Phase::Fire(node, each) => firings[node.0 as usize] += times * each,
            Phase::Repeat(again, inner) => count(inner, times * again, firings),
        }
    }
}
