//! Who must fire before a node can, and the order of firings that follows from it.

use crate::Compiled;
use crate::flat::{ChannelId, Firing, Flat, NodeId};
use crate::schedule::{Phase, Region};
use std::convert::Infallible;
use std::ops::{ControlFlow, Deref};

/// Why a node cannot be brought to fire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Blocked<E> {
    /// It waits for itself, round a loop.
    Circle(NodeId),
    /// Somebody's firing failed, or there is nothing more to come.
    Failed(E),
}

/// Things that fire.
pub trait Fires {
    /// Why they do not.
    type Error;

    /// A channel that has too few items for the node's next firing.
    fn lacks(&mut self, node: NodeId) -> Option<ChannelId>;

    /// Fires the node; what it needs is there.
    ///
    /// # Errors
    /// It fails, or has nothing more to give.
    fn fire(&mut self, node: NodeId) -> Result<(), Self::Error>;

    /// How often the node has fired.
    fn fired(&self, node: NodeId) -> u64;
}

/// Fires a node once, and before it whoever must.
///
/// # Errors
/// It waits for itself, or somebody fails.
pub fn pull<F: Fires>(flat: &Flat, fires: &mut F, target: NodeId) -> Result<(), Blocked<F::Error>> {
    let mut waiting = vec![target];
    let mut is_waiting = vec![false; flat.nodes.len()];
    is_waiting[target.0 as usize] = true;
    while let Some(node) = waiting.last().copied() {
        match fires.lacks(node) {
            None => {
                fires.fire(node).map_err(Blocked::Failed)?;
                is_waiting[node.0 as usize] = false;
                waiting.pop();
            }
            Some(channel) => {
                let from = flat.channels[channel.0 as usize].from;
                if std::mem::replace(&mut is_waiting[from.0 as usize], true) {
                    return Err(Blocked::Circle(node));
                }
                waiting.push(from);
            }
        }
    }
    Ok(())
}

/// One region, by what its ends need.
pub struct Demand<'a> {
    flat: &'a Flat,
    region: &'a Region,
    /// How often each node fires in the initialisation.
    first: Vec<u64>,
    iterations: u64,
}

impl<'a> Demand<'a> {
    /// After so many iterations.
    pub fn new(flat: &'a Flat, region: &'a Region, iterations: u64) -> Demand<'a> {
        let mut first = vec![0; flat.nodes.len()];
        count(&region.init, 1, &mut first);
        Demand { flat, region, first, iterations }
    }

    /// Does an iteration; breaks where the input is over.
    ///
    /// # Errors
    /// Somebody fails, or waits for itself.
    pub fn iterate<F: Fires>(
        &mut self,
        fires: &mut F,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<ControlFlow<()>, Blocked<F::Error>>
    where
        F::Error: IsOver,
    {
        self.iterations += 1;
        self.bring(fires, interrupted, |node| self.flat.node(node).outputs.is_empty())
    }

    /// Whoever has not been needed yet fires as often as its schedule says.
    ///
    /// # Errors
    /// Somebody fails, or waits for itself.
    pub fn end<F: Fires>(
        &self,
        fires: &mut F,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<(), Blocked<F::Error>>
    where
        F::Error: IsOver,
    {
        self.bring(fires, interrupted, |_| true).map(|_| ())
    }

    /// Brings the nodes that pass to as many firings as their schedule has by now.
    fn bring<F: Fires>(
        &self,
        fires: &mut F,
        interrupted: &dyn Fn() -> bool,
        which: impl Fn(NodeId) -> bool,
    ) -> Result<ControlFlow<()>, Blocked<F::Error>>
    where
        F::Error: IsOver,
    {
        let nodes = self.region.nodes.iter().zip(&self.region.repetitions).filter(|(node, _)| which(**node));
        let aims: Vec<(NodeId, u64)> = nodes
            .map(|(node, repetitions)| (*node, self.first[node.0 as usize] + repetitions * self.iterations))
            .collect();
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) {
            for (node, aim) in &aims {
                if fires.fired(*node) >= *aim {
                    continue;
                }
                if interrupted() {
                    return Ok(ControlFlow::Continue(()));
                }
                goes_on = true;
                match pull(self.flat, fires, *node) {
                    Err(Blocked::Failed(error)) if error.is_over() => return Ok(ControlFlow::Break(())),
                    done => done?,
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Why something does not fire, where that may be the end of the input.
pub trait IsOver {
    /// Whether it is.
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

/// Items in channels, as numbers: firings without what they do.
#[derive(Clone)]
pub struct Counts<C> {
    compiled: C,
    items: Vec<u64>,
    firings: Vec<u64>,
}

impl<C: Deref<Target = Compiled>> Counts<C> {
    /// Before anything fires.
    pub fn new(compiled: C) -> Counts<C> {
        let items = compiled.flat.channels.iter().map(|channel| channel.initial.len() as u64).collect();
        let firings = vec![0; compiled.flat.nodes.len()];
        Counts { compiled, items, firings }
    }

    /// Items in each channel.
    pub fn items(&self) -> &[u64] {
        &self.items
    }

    /// Firings of each node.
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
        let mut inputs = flat.node(node).inputs.iter().enumerate();
        let needs = |at| flat.peek(&self.compiled.tree, node, at, firing);
        inputs.find(|(at, channel)| self.items[channel.0 as usize] < needs(*at)).map(|(_, channel)| *channel)
    }

    fn fire(&mut self, node: NodeId) -> Result<(), Infallible> {
        let firing = self.firing(node);
        let (flat, tree) = (&self.compiled.flat, &self.compiled.tree);
        for (at, channel) in flat.node(node).inputs.iter().enumerate() {
            self.items[channel.0 as usize] -= flat.pop(tree, node, at, firing).unwrap_or(0);
        }
        for (at, channel) in flat.node(node).outputs.iter().enumerate() {
            self.items[channel.0 as usize] += flat.push(tree, node, at, firing).unwrap_or(0);
        }
        self.firings[node.0 as usize] += 1;
        Ok(())
    }

    fn fired(&self, node: NodeId) -> u64 {
        self.firings[node.0 as usize]
    }
}

/// Adds up how often nodes fire in phases.
fn count(phases: &[Phase], times: u64, firings: &mut [u64]) {
    for phase in phases {
        match phase {
            Phase::Fire(node, each) => firings[node.0 as usize] += times * each,
            Phase::Repeat(again, inner) => count(inner, times * again, firings),
        }
    }
}
