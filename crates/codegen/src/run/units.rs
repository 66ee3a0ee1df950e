//! A program as plans see it: the graph of its filters, and the units of code that execute them.

use crate::Native;
use crate::parts::Part;
use crate::plan::{Plan as Steps, Step};
use crate::threads::Threads;
use thalweg::Options;
use thalweg::embed::graph::Kind;
use thalweg::embed::plan::{Body, Division, Program, Unit, Units};
use thalweg::embed::runtime::EmbedOptions;
use thalweg::graph::GraphData;
use thalweg::plan::{Plan, Wishes};
use thalweg_analysis::components;
use thalweg_lang::flat::{NodeId, NodeKind};
use thalweg_lang::interpret::Stop;
use thalweg_lang::tree::Code;

/// A plan that has been decided, and the bodies that it makes of the program's units.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) bodies: Vec<Body>,
    /// The units, with costs if they were measured.
    units: Units,
}

impl Planned {
    /// A plan of a program with these units.
    pub(super) fn new(native: &Native, plan: Plan, units: Units) -> Result<Planned, Stop> {
        let bodies = plan.bodies(native.graph(), units.all());
        let bodies = bodies.map_err(|error| Stop::Output(error.to_string()))?;
        Ok(Planned { plan, bodies, units })
    }

    /// Whether one thread executes everything.
    pub(super) fn is_whole(&self) -> bool {
        match &self.bodies[..] {
            [] => true,
            [body] => body.copies() == 1,
            _ => false,
        }
    }

    /// The program for the report of a run in which these nodes of the engine executed the bodies, or the first node everything
    /// if there are none.
    pub(super) fn program(self, native: &Native, nodes: &[NodeId]) -> Program {
        let bodies = match nodes {
            [] => vec![(NodeId(0), 0..self.units.all().len())],
            _ => nodes.iter().copied().zip(self.bodies.iter().map(|body| body.units().clone())).collect(),
        };
        Program::new(native.graph().clone(), self.plan, self.units, bodies)
    }

    /// The options of the graph of the engine: a driver, and the bodies in their order. If the plan gives workers to nodes
    /// and to all bodies with copies, each body has the workers of its nodes, or the next one if they have none, as where all are
    /// parallel.
    pub(super) fn engine(&self, options: &Options) -> Options {
        let options = options.of_divided(&self.plan);
        let nodes = |body: &Body| self.units.all()[body.units().clone()].iter().flat_map(Unit::nodes);
        let listed = |body: &Body| nodes(body).find(|node| self.plan.pools().contains_key(node)).copied();
        let is_unlisted = |body: &Body| body.copies() > 1 && listed(body).is_none();
        let has_workers = !self.plan.affinity().is_empty() || !self.plan.pools().is_empty();
        if !has_workers || self.bodies.iter().any(is_unlisted) {
            return options;
        }
        let given = |body: &Body| nodes(body).find_map(|node| self.plan.affinity().get(node).copied());
        let next = |at: usize| (at % self.plan.threads()) as u32;
        let workers = |(at, body): (usize, &Body)| match listed(body).filter(|_| given(body).is_none()) {
            Some(node) => (self.plan.pools()[&node].clone(), self.plan.shares().get(&node).cloned()),
            None => (vec![given(body).unwrap_or(next(at))], None),
        };
        let workers: Vec<(Vec<u32>, Option<Vec<u32>>)> =
            self.bodies.iter().enumerate().map(workers).collect();
        options.plan_with(move |graph, mut plan| {
            for (node, (workers, shares)) in graph.node_ids().skip(1).zip(&workers) {
                match graph.node(node).kind() {
                    _ if plan.own_threads().contains(&node) => {}
                    Kind::Parallel if workers.len() == 1 => {}
                    Kind::Parallel => {
                        plan.pools_mut().insert(node, workers.clone());
                        plan.shares_mut().extend(shares.clone().map(|shares| (node, shares)));
                    }
                    _ => _ = plan.affinity_mut().insert(node, workers[0]),
                }
            }
            Ok(plan)
        })
    }
}

impl Native {
    /// The graph that plans of this program are for: its filters, splitters and joiners. A node that several workers may
    /// execute at once, for different steady states, is parallel in it.
    pub fn graph(&self) -> &GraphData {
        self.graph.get_or_init(|| {
            let mut graph = self.compiled.flat.graph.clone();
            let loops = components(&graph);
            for node in self.compiled.flat.graph.node_ids() {
                let code = self.codes[node.index()].is_some();
                let free = match self.compiled.flat.kind(node) {
                    NodeKind::Filter(_) => code && !self.keeps[node.index()],
                    NodeKind::Split(_) | NodeKind::Join(_) => true,
                };
                if free && loops.members(loops.of(node)).len() == 1 {
                    *graph.node_mut(node).kind_mut() = Kind::Parallel;
                }
            }
            graph
        })
    }

    /// A plan that is made without a run, and so without times: each piece of code counts the same. A run with several
    /// threads and no plan measures times first, and its report has the plan.
    ///
    /// # Errors
    /// The engine's options have a plan that does not fit the program.
    pub fn plan(&self, threads: &Threads) -> Result<Plan, thalweg::Error> {
        let mut units = self.divided(threads.division());
        let costs = vec![1.0; units.all().len()];
        set_costs(&mut units, &costs);
        threads.engine.plan_of(self.graph(), |wishes| {
            let mut plan = Plan::compiled(self.graph(), &units, wishes);
            *plan.batch_mut() =
                threads.batch.map_or(plan.batch(), |batch| batch.min(u64::from(u32::MAX)) as usize);
            plan
        })
    }

    /// Whether a node reads or writes a file.
    fn is_end(&self, node: NodeId) -> bool {
        let filter = self.compiled.flat.filter(node);
        let code = filter.map(|filter| &self.compiled.tree.filters[filter.0 as usize].code);
        matches!(code, Some(Code::FileReader(_) | Code::FileWriter(..)))
    }

    /// By step of the only part's plan: whether it reads or writes files.
    pub(super) fn outside(&self, part: &Part) -> Vec<bool> {
        let Some(plan) = &part.plan else { return Vec::new() };
        let is_end = |actor: usize| self.is_end(plan.actors[actor].node);
        plan.steps.iter().map(|step| step.actors(plan).into_iter().any(is_end)).collect()
    }

    /// The units of the program, without costs, in the order in which code executes them: regions, or the steps of the
    /// plan of a program of one region.
    ///
    /// A node without code of its own (a splitter, or a filter whose work another one does) belongs to the last unit
    /// among those of its producers.
    pub(super) fn units(&self) -> Vec<Unit> {
        match &self.parts[..] {
            [part] if self.is_static() && part.plan.is_some() => self.steps(part),
            _ => self.regions(),
        }
    }

    fn regions(&self) -> Vec<Unit> {
        let parallel = |node: &NodeId| self.graph().node(*node).kind() == Kind::Parallel;
        let unit = |nodes: &Vec<NodeId>| {
            let stateless = nodes.iter().all(|node| parallel(node) || self.is_end(*node));
            Unit::new(nodes.clone(), 0, stateless)
        };
        self.compiled.schedule.regions.iter().map(|region| unit(&region.nodes)).collect()
    }

    fn steps(&self, part: &Part) -> Vec<Unit> {
        let Some(plan) = &part.plan else { return Vec::new() };
        let flat = &self.compiled.flat;
        let mut unit_of: Vec<Option<usize>> = vec![None; flat.nodes().len()];
        for (at, step) in plan.steps.iter().enumerate() {
            let actors = step.actors(plan).into_iter().map(|actor| plan.actors[actor].node);
            let inside = match step {
                Step::Unrolled(block) => &plan.blocks[*block].nodes[..],
                _ => &[],
            };
            for node in actors.chain(inside.iter().copied()) {
                unit_of[node.index()].get_or_insert(at);
            }
        }
        let outside = self.outside(part);
        let stateless = |at: usize| outside[at] || repeatable(plan, &self.keeps, at);
        let unit = |at| Unit::new(Vec::new(), 0, stateless(at));
        let mut units: Vec<Unit> = (0..plan.steps.len()).map(unit).collect();
        if units.is_empty() {
            return units;
        }
        // Nodes are in data-flow order.
        for node in flat.graph.node_ids() {
            let producers = flat.inputs(node).filter(|input| !flat.channel(*input).link().feedback());
            let producers = producers.filter_map(|input| unit_of[flat.channel(input).from().0.index()]);
            let at = unit_of[node.index()].or_else(|| producers.max()).unwrap_or(0);
            unit_of[node.index()] = Some(at);
            units[at].nodes_mut().push(node);
        }
        units
    }

    /// The plan that the caller gives, if it does: checked before anything runs.
    pub(super) fn given(&self, options: &Options) -> Result<Option<Planned>, Stop> {
        let Some(plan) = options.planned() else { return Ok(None) };
        let plan = self.choose(options, |_| plan.clone())?;
        Planned::new(self, plan, self.divided(Division::Whole)).map(Some)
    }

    /// The plan of a run on one thread.
    pub(super) fn whole(&self, options: &Options) -> Result<Planned, Stop> {
        let units = self.divided(Division::Whole);
        let plan = self.choose(options, |wishes| Plan::compiled(self.graph(), &units, wishes))?;
        Planned::new(self, plan, units)
    }

    /// The plan that the caller's options choose, or `make` from their wishes.
    pub(super) fn choose(&self, options: &Options, make: impl FnOnce(&Wishes) -> Plan) -> Result<Plan, Stop> {
        options.plan_of(self.graph(), make).map_err(refused)
    }

    /// The units for this division, without costs.
    pub(super) fn divided(&self, division: Division) -> Units {
        let mut units = Units::new(self.units(), division);
        *units.joins_mut() = self.is_static();
        units
    }
}

/// Seconds as costs of a plan.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// The most seconds that a unit takes.
    most: f64,
}

impl Scale {
    pub(super) fn cost(self, seconds: f64) -> u64 {
        (seconds / self.most * f64::from(1 << 30)) as u64
    }
}

/// Sets the costs of units from the seconds that each takes.
pub(super) fn set_costs(units: &mut Units, costs: &[f64]) -> Scale {
    let scale = Scale { most: costs.iter().copied().fold(f64::MIN_POSITIVE, f64::max) };
    for (unit, cost) in units.all_mut().iter_mut().zip(costs) {
        *unit.cost_mut() = scale.cost(*cost);
    }
    scale
}

/// A plan that does not fit.
fn refused(error: thalweg::Error) -> Stop {
    Stop::Output(format!("{error:?}"))
}

/// Whether a step can be recomputed for each batch if its segment is parallel: it is no feedback loop, and
/// none of its actors has state.
fn repeatable(plan: &Steps, keeps: &[bool], step: usize) -> bool {
    let step = &plan.steps[step];
    let keeps = |actor: usize| keeps[plan.actors[actor].node.0 as usize];
    !matches!(step, Step::Rounds(_)) && !step.actors(plan).into_iter().any(keeps)
}
