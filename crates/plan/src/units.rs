//! Graphs that a compiler executes: the pieces of code, and how they become bodies.

use crate::passes::divide;
use crate::{Misfit, Place, Plan, PlanError};
use std::ops::Range;
use thalweg_graph::{GraphData, Kind, NodeId, data};

data! {
    /// Nodes that one piece of compiled code executes. No plan separates them.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Unit {
        /// The nodes.
        view nodes: Vec<NodeId> => &[NodeId], nodes_mut;
        /// The time of a steady state on one thread, relative to that of the other units.
        copy cost: u64, cost_mut;
        /// Whether several workers may execute it at the same time, for different steady states.
        copy stateless: bool, stateless_mut;
    }
}

impl Unit {
    /// The unit of these nodes.
    pub fn new(nodes: Vec<NodeId>, cost: u64, stateless: bool) -> Unit {
        Unit { nodes, cost, stateless }
    }
}

data! {
    /// Items that go from one unit to another, or between a unit and the files.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HandOver {
        /// The unit that pushes them, by index. `None` if they are read.
        copy from: Option<usize>;
        /// The unit that pops them, by index. `None` if they are written.
        copy to: Option<usize>;
        /// The time that each of two segments needs for them in a steady state, if the units are in different ones; for
        /// items of files, that of a segment, and of the thread that reads and writes. In the unit of [`Unit::cost`].
        copy cost: u64;
    }
}

impl HandOver {
    /// Items that go from one unit to another, by index.
    pub fn new(from: Option<usize>, to: Option<usize>, cost: u64) -> HandOver {
        HandOver { from, to, cost }
    }
}

data! {
    /// The units of a compiled graph, in an order of the data, and how the plan makes segments of them.
    ///
    /// [`Plan::compiled`] decides the segments. A segment becomes a *body*, code that the engine runs as one node; if its
    /// nodes have replicas, several workers run it at once.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Units {
        /// The units.
        view all: Vec<Unit> => &[Unit], all_mut;
        /// The time of a steady state of all units on one thread, where it is known to differ from the sum of their costs.
        copy whole: Option<u64>, whole_mut;
        /// What handing items from unit to unit costs in addition, where that is known.
        view hand_overs: Vec<HandOver> => &[HandOver], hand_overs_mut;
        /// How they become segments.
        copy division: Division, division_mut;
        /// Whether neighbours without state share their copies. Otherwise each unit without state is a segment by itself.
        copy joins: bool, joins_mut;
        /// The number of segments for each worker into which units with state are cut, if their costs allow it.
        copy pieces: u64, pieces_mut;
        /// The minimum part of a worker's share of the work, in percent, for which units without state get copies.
        copy least_copied: u64, least_copied_mut;
        /// The minimum expected speed-up over one worker, in percent. Where less is expected, the whole is one segment.
        copy least_gain: u64, least_gain_mut;
    }
}

impl Units {
    /// These units without known costs of the whole and of hand-overs. Units with state are cut into one segment for each
    /// worker, and units without state that take a tenth of a worker's share or more get copies.
    pub fn new(all: Vec<Unit>, division: Division) -> Units {
        Units {
            all,
            whole: None,
            hand_overs: Vec::new(),
            division,
            joins: false,
            pieces: 1,
            least_copied: 10,
            least_gain: 0,
        }
    }
}

/// How the units of a compiled graph become segments.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Hash)]
pub enum Division {
    /// Data parallelism: what has no state gets a copy for each worker, and the rest is cut into segments of balanced
    /// work.
    #[default]
    Copies,
    /// Hardware pipelining: at most as many segments as workers, of balanced work, each for one worker.
    Pipeline,
    /// A segment for each unit, without copies.
    Each,
    /// One segment, without copies.
    Whole,
}

data! {
    /// A segment of a compiled graph, as a plan says.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Body {
        /// Its units, by index.
        view units: Range<usize> => &Range<usize>;
        /// The maximum number of workers that run it at the same time.
        copy copies: usize;
    }
}

impl Body {
    /// The segment of these units, which at most `copies` workers run at the same time.
    pub fn new(units: Range<usize>, copies: usize) -> Body {
        Body { units, copies }
    }
}

impl Plan {
    /// The bodies that the plan makes of the units of a compiled graph, in the order of the units; the whole if the plan
    /// has no segments.
    ///
    /// The nodes of `units` are nodes of `graph`.
    ///
    /// # Errors
    /// A unit is in no segment or in several, or the units of a segment do not follow each other.
    pub fn bodies(&self, graph: &GraphData, units: &[Unit]) -> Result<Vec<Body>, PlanError> {
        if self.segments.is_empty() {
            return Ok(vec![Body { units: 0..units.len(), copies: 1 }]);
        }
        let of = divide::parts(graph.nodes().len(), &self.segments);
        let mut bodies: Vec<(usize, Body)> = Vec::new();
        for (at, unit) in units.iter().enumerate() {
            let Some(first) = unit.nodes.first().copied() else { continue };
            let name = |node: NodeId| graph.node(node).name().to_string();
            let other = unit.nodes.iter().copied().find(|node| of[node.index()] != of[first.index()]);
            if let Some(other) = other {
                let (place, misfit) = (Place::Node(first), Misfit::Together(name(other)));
                return Err(PlanError { place, name: name(first), misfit });
            }
            let Some(segment) = of[first.index()] else {
                return Err(PlanError {
                    place: Place::Node(first),
                    name: name(first),
                    misfit: Misfit::NoSegment,
                });
            };
            let copies = self.copies(graph, unit);
            let continues = bodies.last().is_some_and(|(last, _)| *last == segment);
            if !continues && bodies.iter().any(|(before, _)| *before == segment) {
                let (place, misfit) = (Place::Segment(segment), Misfit::Scattered);
                return Err(PlanError { place, name: name(first), misfit });
            }
            match bodies.last_mut().filter(|_| continues) {
                Some((_, body)) => {
                    body.units.end = at + 1;
                    body.copies = body.copies.min(copies);
                }
                // A unit without nodes belongs to the body before or behind it.
                None => {
                    let start = bodies.last().map_or(0, |(_, body)| body.units.end);
                    bodies.push((segment, Body { units: start..at + 1, copies }));
                }
            }
        }
        if let Some((_, last)) = bodies.last_mut() {
            last.units.end = units.len();
        }
        let limited = |(_, body): (usize, Body)| Body {
            copies: if body.copies == usize::MAX { 1 } else { body.copies },
            ..body
        };
        Ok(bodies.into_iter().map(limited).collect())
    }

    /// The maximum number of workers of a unit: the least number of replicas of its parallel nodes. `usize::MAX` if it has none, as
    /// where it only accesses files.
    fn copies(&self, graph: &GraphData, unit: &Unit) -> usize {
        if !unit.stateless {
            return 1;
        }
        let parallel = unit.nodes.iter().filter(|node| graph.node(**node).kind() == Kind::Parallel);
        let replicas =
            parallel.map(|node| self.replicas.get(node).map_or(self.threads, |most| *most as usize));
        replicas.min().map_or(usize::MAX, |most| most.min(self.threads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wishes;
    use thalweg_graph::{InPort, Item, Link, Node, OutPort};

    /// The graph `a -> b -> c`.
    fn chain() -> GraphData {
        let item = Item::of::<u8>();
        let mut graph = GraphData::new();
        let a = graph.add(Node::sequential("a").output(OutPort::new("out", item)));
        let b = Node::parallel("b").input(InPort::new("in", item)).output(OutPort::new("out", item));
        let b = graph.add(b);
        let c = graph.add(Node::sequential("c").input(InPort::new("in", item)));
        graph.connect((a, 0), (b, 0), Link::default()).unwrap();
        graph.connect((b, 0), (c, 0), Link::default()).unwrap();
        graph
    }

    /// The bodies of units of these nodes, in a plan with these segments; or what does not fit.
    fn bodies(units: &[&[u32]], segments: &[&[u32]]) -> Result<Vec<Body>, Misfit> {
        let (graph, nodes) = (chain(), |nodes: &&[u32]| nodes.iter().map(|node| NodeId(*node)).collect());
        let mut plan = Plan::new(&graph, &Wishes::default().threads(3));
        plan.segments = segments.iter().map(nodes).collect();
        let unit = |of: &&[u32]| Unit { nodes: nodes(of), cost: 1, stateless: **of == [1] };
        let units: Vec<Unit> = units.iter().map(unit).collect();
        plan.bodies(&graph, &units).map_err(|error| error.misfit)
    }

    fn body(units: Range<usize>, copies: usize) -> Body {
        Body { units, copies }
    }

    #[test]
    fn each_segment_is_a_body() {
        assert_eq!(
            bodies(&[&[0], &[1], &[2]], &[&[0], &[1], &[2]]),
            Ok(vec![body(0..1, 1), body(1..2, 3), body(2..3, 1)])
        );
        assert_eq!(bodies(&[&[0], &[1], &[2]], &[&[0, 1], &[2]]), Ok(vec![body(0..2, 1), body(2..3, 1)]));
        assert_eq!(bodies(&[&[0], &[1], &[2]], &[]), Ok(vec![body(0..3, 1)]));
    }

    #[test]
    fn units_without_nodes_are_in_a_body_too() {
        let all = bodies(&[&[], &[0, 1], &[], &[2], &[]], &[&[0, 1], &[2]]);
        assert_eq!(all, Ok(vec![body(0..2, 1), body(2..5, 1)]));
    }

    #[test]
    fn units_are_not_separated_or_scattered() {
        assert_eq!(bodies(&[&[0, 1], &[2]], &[&[0], &[1, 2]]), Err(Misfit::Together("b".to_owned())));
        assert_eq!(bodies(&[&[0], &[1], &[2]], &[&[0, 2], &[1]]), Err(Misfit::Scattered));
        assert_eq!(bodies(&[&[0], &[1], &[2]], &[&[0, 1]]), Err(Misfit::NoSegment));
    }
}
