//! The program of a report of compiled code: its graph and plan, its units, and the bodies that the plan made of them.

use super::forms::Each;
use super::graph::{GraphEntries, GraphLines};
use super::problem::{Check, Problem, index};
use super::read_plan;
use serde::{Deserialize, Serialize, Serializer};
use std::ops::Range;
use std::sync::Arc;
use thalweg_graph::{GraphData, NodeId};
use thalweg_plan::{Division, HandOver, Program, Unit, Units};

/// A program as it is written.
#[derive(Serialize)]
pub(super) struct ProgramLines<'r> {
    graph: GraphLines<'r>,
    plan: String,
    units: UnitsEntry,
    #[serde(serialize_with = "bodies")]
    bodies: &'r [(NodeId, Range<usize>)],
}

/// A program as it is read.
#[derive(Deserialize)]
#[serde(expecting = "the object of a program")]
pub(super) struct ProgramEntry {
    graph: GraphEntries,
    plan: String,
    units: UnitsEntry,
    bodies: Vec<BodyEntry>,
}

#[derive(Serialize, Deserialize)]
struct UnitsEntry {
    #[serde(with = "DivisionForm")]
    division: Division,
    joins: bool,
    pieces: u64,
    least_copied: u64,
    least_gain: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<u64>,
    all: Vec<UnitEntry>,
    hand_overs: Vec<HandOverEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Division", rename_all = "lowercase")]
enum DivisionForm {
    Copies,
    Pipeline,
    Each,
    Whole,
}

#[derive(Serialize, Deserialize)]
struct UnitEntry {
    nodes: Vec<u32>,
    cost: u64,
    stateless: bool,
}

#[derive(Serialize, Deserialize)]
struct HandOverEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<usize>,
    cost: u64,
}

/// A node of the run's graph, and the range of units that it executed.
#[derive(Serialize, Deserialize)]
struct BodyEntry {
    node: u32,
    units: (usize, usize),
}

/// Maximum cost in a file: the sum of all of its costs, multiplied by a percentage, fits into 128 bits.
const MAX_COST: u64 = 1 << 62;

/// Maximum percentage in a file, and maximum number of segments for each worker.
const MAX_SETTING: u64 = 1 << 20;

/// Checks that a number is at most `most`.
fn at_most(most: u64, number: u64) -> Check<u64> {
    if number <= most { Ok(number) } else { Err(Problem::new(format!("at most {most}"))) }
}

/// Writes the bodies.
fn bodies<S: Serializer>(bodies: &[(NodeId, Range<usize>)], serializer: S) -> Result<S::Ok, S::Error> {
    let entry =
        |(node, units): &(NodeId, Range<usize>)| BodyEntry { node: node.0, units: (units.start, units.end) };
    Each(|| bodies.iter().map(entry)).serialize(serializer)
}

impl<'r> ProgramLines<'r> {
    pub(super) fn new(program: &'r Program) -> ProgramLines<'r> {
        ProgramLines {
            graph: GraphLines(program.graph()),
            plan: program.plan().to_string(),
            units: UnitsEntry::from(program.units()),
            bodies: program.bodies(),
        }
    }
}

impl ProgramEntry {
    /// The program of a run of this graph.
    pub(super) fn build(self, run: &GraphData) -> Check<Arc<Program>> {
        let graph = self.graph.build().map_err(|problem| problem.within("graph"))?;
        let plan = Arc::unwrap_or_clone(read_plan(&self.plan)?);
        let units = self.units.build(&graph).map_err(|problem| problem.within("units"))?;
        let mut free = 0..units.all().len();
        let body = |(i, body): (usize, BodyEntry)| {
            body.check(run, &mut free).map_err(|problem| problem.within(i).within("bodies"))
        };
        let bodies = self.bodies.into_iter().enumerate().map(body).collect::<Check<_>>()?;
        Ok(Arc::new(Program::new(graph, plan, units, bodies)))
    }
}

impl From<&Units> for UnitsEntry {
    fn from(units: &Units) -> UnitsEntry {
        let unit = |unit: &Unit| UnitEntry {
            nodes: unit.nodes().iter().map(|node| node.0).collect(),
            cost: unit.cost(),
            stateless: unit.stateless(),
        };
        let hand_over =
            |items: &HandOver| HandOverEntry { from: items.from(), to: items.to(), cost: items.cost() };
        UnitsEntry {
            division: units.division(),
            joins: units.joins(),
            pieces: units.pieces(),
            least_copied: units.least_copied(),
            least_gain: units.least_gain(),
            whole: units.whole(),
            all: units.all().iter().map(unit).collect(),
            hand_overs: units.hand_overs().iter().map(hand_over).collect(),
        }
    }
}

impl UnitsEntry {
    fn build(self, graph: &GraphData) -> Check<Units> {
        let UnitsEntry { division, joins, pieces, least_copied, least_gain, whole, all, hand_overs } = self;
        let unit = |(i, entry): (usize, UnitEntry)| {
            entry.build(graph).map_err(|problem| problem.within(i).within("all"))
        };
        let setting =
            |name: &'static str, number| at_most(MAX_SETTING, number).map_err(|problem| problem.within(name));
        let pieces = setting("pieces", pieces)?;
        let (least_copied, least_gain) =
            (setting("least_copied", least_copied)?, setting("least_gain", least_gain)?);
        let cost = |cost| at_most(MAX_COST, cost).map_err(|problem| problem.within("cost"));
        let whole = whole.map(|whole| at_most(MAX_COST, whole).map_err(|problem| problem.within("whole")));
        let whole = whole.transpose()?;
        let all: Vec<Unit> = all.into_iter().enumerate().map(unit).collect::<Check<_>>()?;
        let hand_over = |(i, entry): (usize, HandOverEntry)| {
            let cost = cost(entry.cost).map_err(|problem| problem.within(i).within("hand_overs"))?;
            Ok(HandOver::new(entry.from, entry.to, cost))
        };
        let hand_overs = hand_overs.into_iter().enumerate().map(hand_over).collect::<Check<_>>()?;
        let mut units = Units::new(all, division);
        (*units.whole_mut(), *units.hand_overs_mut(), *units.joins_mut()) = (whole, hand_overs, joins);
        (*units.pieces_mut(), *units.least_copied_mut(), *units.least_gain_mut()) =
            (pieces, least_copied, least_gain);
        Ok(units)
    }
}

impl UnitEntry {
    fn build(self, graph: &GraphData) -> Check<Unit> {
        let node = |(i, node): (usize, u32)| {
            let node = NodeId(node);
            index(node.index(), graph.nodes().len(), "nodes")
                .map_err(|problem| problem.within(i).within("nodes"))?;
            Ok(node)
        };
        let nodes = self.nodes.into_iter().enumerate().map(node).collect::<Check<_>>()?;
        let cost = at_most(MAX_COST, self.cost).map_err(|problem| problem.within("cost"))?;
        Ok(Unit::new(nodes, cost, self.stateless))
    }
}

impl BodyEntry {
    /// The body, in a run of this graph. Its units are some of the `free` ones, and those before its last are not free for
    /// the bodies after it.
    fn check(self, run: &GraphData, free: &mut Range<usize>) -> Check<(NodeId, Range<usize>)> {
        let (node, (start, end)) = (NodeId(self.node), self.units);
        index(node.index(), run.nodes().len(), "nodes").map_err(|problem| problem.within("node"))?;
        if start > end || start < free.start || end > free.end {
            return Err(Problem::new(format!("a range of units within [{}, {}]", free.start, free.end))
                .within("units"));
        }
        free.start = end;
        Ok((node, start..end))
    }
}
