//! A compiled graph as it was divided for a run, and the plan of the next run.
//!
//! A compiler times its units for some milliseconds before it plans a run ([`Plan::compiled`]). The run then times *bodies*,
//! each of several units, for as long as it lasts. So the time of a body is divided among its units in proportion to what
//! the compiler has measured of them, the times of all runs are added, and the units are divided again by these times.

use crate::passes::{self, Given};
use crate::{Fingerprint, Plan, Profile, Units, Wishes};
use std::fmt;
use std::ops::Range;
use thalweg_graph::{GraphData, NodeId, data};

data! {
    /// A compiled graph, the plan that a run of it followed, and how the plan divided it into nodes of the engine.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Program {
        /// The graph that the plan is for. The engine's graph has a node for each body in place of it.
        view graph: GraphData => &GraphData;
        /// The plan.
        view plan: Plan => &Plan;
        /// The units. Their costs are those that the compiler measured, and 0 where it measured none, as for a run that follows a
        /// given plan.
        view units: Units => &Units;
        /// The bodies: the node of the engine that executed each, and its units by index.
        view bodies: Vec<(NodeId, Range<usize>)> => &[(NodeId, Range<usize>)];
    }
}

/// The reason why no plan follows from runs of a compiled graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NoNextPlan {
    /// In no run has the compiler measured units: each followed a given plan, ran on one thread, or had a thread for each unit.
    Unmeasured,
    /// The run of this index has other units than the first one.
    OtherUnits(usize),
}

impl fmt::Display for NoNextPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoNextPlan::Unmeasured => "no run has measured its pieces of code one by one",
            NoNextPlan::OtherUnits(_) => {
                "the runs are of different programs, or were divided into different pieces of code"
            }
        })
    }
}

thalweg_graph::error_type!(NoNextPlan);

impl Program {
    /// A program of which a run has executed these bodies.
    pub fn new(graph: GraphData, plan: Plan, units: Units, bodies: Vec<(NodeId, Range<usize>)>) -> Program {
        Program { graph, plan, units, bodies }
    }

    /// The plan for the next run of the first of these programs: segments, replicas of parallel nodes and affinity are decided
    /// anew from what all runs have measured, and all else stays. Each profile is that of the engine's graph.
    ///
    /// # Errors
    /// No run has measured its units, or the runs have different units.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort};
    /// # use thalweg_plan::{Division, NodeProfile, Plan, Profile, Program, Unit, Units, Wishes};
    /// # let item = Item::of::<f32>();
    /// # let mut graph = GraphData::new();
    /// # let a = graph.add(Node::sequential("a").output(OutPort::new("out", item)));
    /// # let b = graph.add(Node::sequential("b").input(InPort::new("in", item)).output(OutPort::new("out", item)));
    /// # let c = graph.add(Node::sequential("c").input(InPort::new("in", item)));
    /// # graph.connect((a, 0), (b, 0), Link::default()).unwrap();
    /// # graph.connect((b, 0), (c, 0), Link::default()).unwrap();
    /// // The compiler measured the same time for each of three units, so the first two became one body.
    /// let all = [a, b, c].map(|node| Unit::new(vec![node], 10, false)).to_vec();
    /// let units = Units::new(all, Division::Pipeline);
    /// let plan = Plan::compiled(&graph, &units, &Wishes::default().threads(2));
    /// assert_eq!(plan.segments(), [vec![a, b], vec![c]]);
    /// let bodies = vec![(NodeId(1), 0..2), (NodeId(2), 2..3)];
    /// let program = Program::new(graph, plan, units, bodies);
    ///
    /// // In the run the first body took 40 ms, and the second one 10 ms.
    /// let node = |ms| NodeProfile::new(1, Duration::from_millis(ms));
    /// let profile = Profile::new(Duration::from_millis(30), vec![node(0), node(40), node(10)], Vec::new());
    /// let next = Program::next_plan(&[(&program, profile)])?;
    /// assert_eq!(next.segments(), [vec![a], vec![b, c]]);
    /// # Ok::<(), thalweg_plan::NoNextPlan>(())
    /// ```
    pub fn next_plan(runs: &[(&Program, Profile)]) -> Result<Plan, NoNextPlan> {
        let (first, measured, times) = Program::measured(runs)?;
        // Without state each worker has a copy of everything, whatever it takes, and the compiler measures nothing.
        if !measured.are_measured() {
            return Ok(first.plan.clone());
        }
        let units = measured.with_times(&times);
        let (graph, wishes) = (&first.graph, &Wishes::default());
        let mut next = first.plan.clone();
        passes::refine(&Given { graph, profile: None, units: Some(&units), wishes }, &mut next);
        Ok(next)
    }

    /// The units as a mapper sees them, for the next run of the first of these programs: a stage for each, with the times that all runs
    /// have measured. [`Plan::mapped_units`] makes a plan of what the mapper decides.
    ///
    /// # Errors
    /// As [`Program::next_plan`].
    #[cfg(feature = "mappers")]
    pub fn pipeline(
        runs: &[(&Program, Profile)],
        target: &crate::mappers::Target,
    ) -> Result<crate::mappers::Pipeline, NoNextPlan> {
        let (first, measured, times) = Program::measured(runs)?;
        let units = measured.scaled(&times, 1.0);
        let states = runs.iter().map(|(program, profile)| program.states(profile)).sum();
        let threads = first.plan.threads;
        Ok(crate::mappers::Pipeline::of_units(&first.graph, &units, states, threads, target))
    }

    /// The first program, the units with the costs that a compiler has measured, and nanoseconds of each unit in all runs. If all are
    /// without state, none may have measured them.
    fn measured<'r>(
        runs: &[(&'r Program, Profile)],
    ) -> Result<(&'r Program, &'r Units, Vec<f64>), NoNextPlan> {
        let [(first, _), ..] = runs else { return Err(NoNextPlan::Unmeasured) };
        if let Some(run) = runs.iter().position(|(program, _)| !program.has_code_of(first)) {
            return Err(NoNextPlan::OtherUnits(run));
        }
        let measured = runs.iter().map(|(program, _)| &program.units).find(|units| units.are_measured());
        let is_copied = first.units.all.iter().all(|unit| unit.stateless);
        let measured = measured.or(is_copied.then_some(&first.units)).ok_or(NoNextPlan::Unmeasured)?;
        let mut times = vec![0.0; measured.all.len()];
        for (program, profile) in runs {
            let units = if program.units.are_measured() { &program.units } else { measured };
            let of_run = program.times(profile, units);
            times.iter_mut().zip(of_run).for_each(|(time, of_run)| *time += of_run);
        }
        Ok((first, measured, times))
    }

    /// The maximum number of steady states of a run with this profile: the last batch of a body may have been shorter.
    #[cfg(feature = "mappers")]
    fn states(&self, profile: &Profile) -> f64 {
        let firings = |node: &NodeId| profile.nodes().get(node.index()).map_or(0, |node| node.firings());
        let batches = self.bodies.iter().map(|(node, _)| firings(node)).max().unwrap_or(0);
        batches as f64 * self.plan.batch as f64
    }

    /// Whether both are the same graph, divided into the same pieces of code.
    fn has_code_of(&self, other: &Program) -> bool {
        let (units, others) = (self.units.all.iter(), other.units.all.iter());
        Fingerprint::of(&self.graph) == Fingerprint::of(&other.graph)
            && units.map(|unit| &unit.nodes).eq(others.map(|unit| &unit.nodes))
    }

    /// By unit: nanoseconds in a run with this profile. The time of a body is divided in proportion to the costs of
    /// `measured`.
    fn times(&self, profile: &Profile, measured: &Units) -> Vec<f64> {
        let cost = |unit: usize| measured.all[unit].cost.max(1) as f64;
        let mut times = vec![0.0; measured.all.len()];
        for (node, units) in &self.bodies {
            let units = units.start..units.end.min(times.len());
            let (busy, sum) = (profile.busy_ns(node.index()) as f64, units.clone().map(cost).sum::<f64>());
            for unit in units {
                times[unit] += busy * cost(unit) / sum;
            }
        }
        times
    }
}

/// Maximum cost of a unit that is made of times: products of costs with percents and threads fit.
const MAX_COST: f64 = (1u64 << 30) as f64;

impl Units {
    /// Whether the compiler has measured them.
    fn are_measured(&self) -> bool {
        self.all.iter().any(|unit| unit.cost > 0)
    }

    /// The same units with costs in proportion to `times`; unchanged if these are all 0. The costs of the whole and of hand-overs
    /// keep their proportion to the sum of all units.
    fn with_times(&self, times: &[f64]) -> Units {
        let longest = times.iter().copied().fold(0.0, f64::max);
        if longest <= 0.0 {
            return self.clone();
        }
        self.scaled(times, MAX_COST / longest)
    }

    /// The same units with costs that are `scale` times these.
    fn scaled(&self, times: &[f64], scale: f64) -> Units {
        let mut units = self.clone();
        for (unit, time) in units.all.iter_mut().zip(times) {
            unit.cost = (time * scale) as u64;
        }
        let sum = |units: &Units| units.all.iter().map(|unit| unit.cost as f64).sum::<f64>();
        let scale = sum(&units) / sum(self).max(1.0);
        let scaled = |cost: u64| (cost as f64 * scale) as u64;
        units.whole = self.whole.map(scaled);
        units.hand_overs.iter_mut().for_each(|items| items.cost = scaled(items.cost));
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Division, HandOver, NodeProfile, Unit};
    use std::time::Duration;
    use thalweg_graph::{InPort, Item, Link, Node, OutPort, Rate};

    /// A chain of nodes, parallel where `stateless`, each a unit of the same cost.
    fn chain(stateless: &[bool], division: Division) -> (GraphData, Units) {
        let item = Item::of::<u8>();
        let mut graph = GraphData::new();
        let last = stateless.len() - 1;
        for (at, stateless) in stateless.iter().enumerate() {
            let name = format!("n{at}");
            let node = if *stateless { Node::parallel(name) } else { Node::sequential(name) };
            let node = if at > 0 { node.input(InPort::new("in", item)) } else { node };
            let output = OutPort::new("out", item).with_push(Rate::Static(1));
            graph.add(if at < last { node.output(output) } else { node });
        }
        for at in 0..last as u32 {
            graph.connect((NodeId(at), 0), (NodeId(at + 1), 0), Link::default()).unwrap();
        }
        let unit = |(at, stateless): (usize, &bool)| Unit {
            nodes: vec![NodeId(at as u32)],
            cost: 10,
            stateless: *stateless,
        };
        let units = Units {
            all: stateless.iter().enumerate().map(unit).collect(),
            whole: Some(60),
            hand_overs: vec![HandOver { from: Some(0), to: Some(1), cost: 2 }],
            division,
            joins: true,
            pieces: 1,
            least_copied: 10,
            least_gain: 0,
        };
        (graph, units)
    }

    /// A run on two threads in which the bodies, each of these units, took these milliseconds.
    fn run(graph: &GraphData, units: &Units, bodies: &[(Range<usize>, u64)]) -> (Program, Profile) {
        let plan = Plan::compiled(graph, units, &Wishes::default().threads(2));
        let nodes = bodies.iter().map(|(_, ms)| NodeProfile::new(1, Duration::from_millis(*ms)));
        let nodes = std::iter::once(NodeProfile::default()).chain(nodes).collect();
        let bodies = bodies.iter().enumerate().map(|(at, (units, _))| (NodeId(at as u32 + 1), units.clone()));
        let program = Program::new(graph.clone(), plan, units.clone(), bodies.collect());
        (program, Profile::new(Duration::from_millis(1), nodes, Vec::new()))
    }

    fn next(runs: &[&(Program, Profile)]) -> Result<Plan, NoNextPlan> {
        let runs: Vec<_> = runs.iter().map(|(program, profile)| (program, profile.clone())).collect();
        Program::next_plan(&runs)
    }

    fn lengths(plan: &Plan) -> Vec<usize> {
        plan.segments.iter().map(Vec::len).collect()
    }

    /// Units whose costs are unknown, as those of a run that follows a plan.
    fn unmeasured(units: &Units) -> Units {
        let mut units = Units { division: Division::Whole, ..units.clone() };
        units.all.iter_mut().for_each(|unit| unit.cost = 0);
        units
    }

    #[test]
    fn segments_follow_the_times_of_all_runs() {
        let (graph, units) = chain(&[false; 4], Division::Pipeline);
        let measured = run(&graph, &units, &[(0..2, 2), (2..4, 18)]);
        assert_eq!(lengths(measured.0.plan()), [2, 2]);
        let after_one = next(&[&measured]).unwrap();
        assert_eq!(lengths(&after_one), [3, 1]);
        // The second run executes the third unit by itself, and finds that it takes the most.
        let fine = run(&graph, &unmeasured(&units), &[(0..2, 20), (2..3, 80), (3..4, 4)]);
        for runs in [[&measured, &fine], [&fine, &measured]] {
            let after_both = next(&runs).unwrap();
            assert_eq!((lengths(&after_both), after_both.threads), (vec![2, 2], 2));
            Plan::read(&after_both.to_string(), &graph).unwrap();
        }
    }

    #[test]
    fn a_unit_that_takes_longer_than_measured_gets_copies() {
        let (graph, mut units) = chain(&[true, false], Division::Copies);
        (units.all[0].cost, units.all[1].cost) = (1, 99);
        let measured = run(&graph, &units, &[(0..1, 60), (1..2, 40)]);
        assert_eq!(measured.0.plan().replicas[&NodeId(0)], 1);
        let next = next(&[&measured]).unwrap();
        assert_eq!((next.replicas[&NodeId(0)], lengths(&next)), (2, vec![1, 1]));
    }

    /// Most of the time is in a unit without state. The others have their steady states' items between them.
    #[cfg(feature = "mappers")]
    #[test]
    fn mappers_see_units_as_stages_and_copy_those_without_state() {
        use crate::mappers::{Target, named};
        let (graph, units) = chain(&[false, true, false], Division::Copies);
        let (program, profile) = run(&graph, &units, &[(0..1, 2), (1..2, 8), (2..3, 3)]);
        let target = Target::default().with_miss(1e-6);
        let pipeline = Program::pipeline(&[(&program, profile)], &target).unwrap();
        let work: Vec<f64> = pipeline.stages().iter().map(|stage| stage.work()).collect();
        assert_eq!(work, [2e6, 8e6, 3e6]);
        let states = program.plan.batch as f64;
        assert!(pipeline.edges().iter().all(|edge| edge.items() == states), "one item each");
        let mapped = |name: &str| {
            let mapping = named(name).unwrap().map(&pipeline);
            program.plan.mapped_units(&graph, &pipeline, name, &mapping).unwrap()
        };
        let (whole, shared) = (mapped("seg-runtime"), mapped("seg-runtime-replicated"));
        assert_eq!((lengths(&whole), whole.replicas[&NodeId(1)]), (vec![2, 1], 1));
        assert_eq!((lengths(&shared), shared.replicas[&NodeId(1)]), (vec![1, 1, 1], 2));
        assert_eq!((&shared.pools[&NodeId(1)][..], shared.affinity[&NodeId(2)]), (&[0, 1][..], 1));
        for plan in [whole, shared] {
            plan.check(&graph).unwrap();
            assert_eq!(Plan::read(&plan.on(&graph).to_string(), &graph).unwrap(), plan);
            assert!(plan.bodies(&graph, units.all()).is_ok());
        }
    }

    #[test]
    fn hand_overs_keep_their_share() {
        let (_, units) = chain(&[false; 3], Division::Copies);
        let timed = units.with_times(&[1.0, 2.0, 1.0]);
        let sum: u64 = timed.all.iter().map(|unit| unit.cost).sum();
        assert_eq!(timed.whole, Some(2 * sum));
        assert_eq!(timed.hand_overs[0].cost, sum / 15);
        assert_eq!(units.with_times(&[0.0; 3]), units);
    }

    #[test]
    fn runs_without_measured_units_and_of_other_programs_are_refused() {
        let (graph, units) = chain(&[false; 3], Division::Pipeline);
        let given = run(&graph, &unmeasured(&units), &[(0..3, 1)]);
        assert_eq!(next(&[&given]), Err(NoNextPlan::Unmeasured));
        assert_eq!(next(&[]), Err(NoNextPlan::Unmeasured));
        let (longer, others) = chain(&[false; 4], Division::Pipeline);
        let other = run(&longer, &others, &[(0..4, 1)]);
        assert_eq!(next(&[&given, &other]), Err(NoNextPlan::OtherUnits(1)));
        // As many units, of another graph.
        let (parallel, others) = chain(&[true; 3], Division::Pipeline);
        assert_eq!(next(&[&given, &run(&parallel, &others, &[(0..3, 1)])]), Err(NoNextPlan::OtherUnits(1)));
    }

    #[test]
    fn copies_of_everything_need_no_times() {
        let (graph, units) = chain(&[true; 2], Division::Copies);
        let all = run(&graph, &unmeasured(&units), &[(0..2, 1)]);
        assert_eq!(next(&[&all]).as_ref(), Ok(all.0.plan()));
        // A pipeline has segments in place of copies, and times decide where it is cut.
        let (graph, units) = chain(&[true; 3], Division::Pipeline);
        let cut = run(&graph, &units, &[(0..2, 40), (2..3, 10)]);
        assert_eq!((lengths(cut.0.plan()), lengths(&next(&[&cut]).unwrap())), (vec![2, 1], vec![1, 2]));
    }
}
