//! A plan from a mapping.

use super::{Buffers, Copies, Mapper, Mapping, Pipeline, Target};
use crate::passes::capacities::min_capacity;
use crate::{Plan, Profile};
use std::collections::BTreeMap;
use std::fmt;
use thalweg_graph::{GraphData, Kind, NodeId};

/// Why a mapping fits no plan: a mistake of the mapper.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadMapping {
    /// A stage is in no segment and has no copies, or is in several.
    Stage {
        /// The stage.
        stage: usize,
        /// How often it occurs.
        times: usize,
    },
    /// A segment or a copy names a stage or a worker that there is not.
    Unknown {
        /// The stage.
        stage: usize,
        /// The worker.
        worker: usize,
    },
    /// A stage has more copies than it may, or a share of 0, or a worker twice.
    Copies {
        /// The stage.
        stage: usize,
        /// The maximum number of copies.
        most: usize,
    },
}

impl fmt::Display for BadMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadMapping::Stage { stage, times } => {
                write!(f, "the mapper has placed stage {stage} {times} times, expected once")
            }
            BadMapping::Unknown { stage, worker } => {
                write!(
                    f,
                    "the mapper has placed stage {stage} on worker {worker}: there is no such stage or worker"
                )
            }
            BadMapping::Copies { stage, most } => write!(
                f,
                "the mapper has given stage {stage} more than {most} workers, one of them twice, or a share of 0"
            ),
        }
    }
}

thalweg_graph::error_type!(BadMapping);

/// The remarks of the mapper, and the assumptions that do not hold.
fn notes(mapping: &Mapping, graph: &GraphData, pipeline: &Pipeline) -> Vec<String> {
    mapping.notes().iter().cloned().chain(mapping.assumptions(graph, pipeline)).collect()
}

impl Plan {
    /// The pipeline that a mapper gets for this plan: its nodes but those with threads of their own, and its workers.
    pub fn pipeline(&self, graph: &GraphData, profile: &Profile, target: &Target) -> Pipeline {
        let target = match self.budget {
            Some(budget) => target.clone().with_most(budget as u64 / 2),
            None => target.clone(),
        };
        Pipeline::new(graph, profile, &self.own_threads, self.threads, &target)
    }

    /// The plan with segments, workers, shares and capacities by a mapper. All else stays: also the policy, of which `static`
    /// alone runs each node where the plan says. The plan must fit the graph.
    ///
    /// Capacities that the graph sets, and those of channels with initial items, stay.
    ///
    /// # Errors
    /// The mapping is not one of this pipeline: a mistake of the mapper.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};
    /// use thalweg_plan::mappers::{self, Target};
    /// use thalweg_plan::{ChannelProfile, NodeProfile, Plan, Profile, Wishes};
    ///
    /// let item = Item::of::<u64>();
    /// let mut graph = GraphData::new();
    /// let a = graph.add(Node::sequential("a").output(OutPort::new("out", item).with_push(Rate::Static(1))));
    /// let b = graph.add(Node::sequential("b").input(InPort::new("in", item)));
    /// graph.connect((a, 0), (b, 0), Link::default()).unwrap();
    ///
    /// let node = NodeProfile::new(1000, Duration::from_millis(5));
    /// let profile = Profile::new(Duration::from_millis(6), vec![node, node], vec![ChannelProfile::new(1000, 8000)]);
    /// let plan = Plan::new(&graph, &Wishes::default().threads(2).policy("static"));
    /// let mapper = mappers::named("seg-both")?;
    /// let plan = plan.mapped(&graph, &profile, mapper, &Target::default())?;
    /// assert_eq!((plan.mapper(), plan.segments()), (Some("seg-both"), &[vec![a], vec![b]][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mapped(
        &self,
        graph: &GraphData,
        profile: &Profile,
        mapper: &(impl Mapper + ?Sized),
        target: &Target,
    ) -> Result<Plan, BadMapping> {
        let pipeline = self.pipeline(graph, profile, target);
        self.with_mapping(graph, &pipeline, mapper.name(), &mapper.map(&pipeline))
    }

    /// [`Plan::mapped`] with the mapping of [`Plan::pipeline`] that the mapper of this name has made.
    ///
    /// # Errors
    /// The mapping is not one of this pipeline.
    pub fn with_mapping(
        &self,
        graph: &GraphData,
        pipeline: &Pipeline,
        mapper: &str,
        mapping: &Mapping,
    ) -> Result<Plan, BadMapping> {
        let place = mapping.place(pipeline)?;
        let mut plan = self.undecided_by(mapper);
        plan.notes = notes(mapping, graph, pipeline);
        plan.segments = mapping.segments().iter().map(|segment| segment.nodes(pipeline)).collect();
        for segment in mapping.segments() {
            for node in segment.nodes(pipeline) {
                plan.put(graph, node, segment.worker());
            }
        }
        for copies in mapping.copies() {
            plan.share(pipeline.stages()[copies.stage()].nodes()[0], copies);
        }
        plan.size(graph, pipeline, mapping, &place);
        Ok(plan)
    }

    /// The plan of a compiled graph with segments, copies and workers by a mapper, from its units as a [`Pipeline`]
    /// ([`Program::pipeline`](crate::Program::pipeline)). All else stays; the compiler sizes buffers.
    ///
    /// # Errors
    /// The mapping is not one of this pipeline: a mistake of the mapper.
    pub fn mapped_units(
        &self,
        graph: &GraphData,
        pipeline: &Pipeline,
        mapper: &str,
        mapping: &Mapping,
    ) -> Result<Plan, BadMapping> {
        mapping.place(pipeline)?;
        let mut plan = self.undecided_by(mapper);
        plan.notes = notes(mapping, graph, pipeline);
        for segment in mapping.segments() {
            let nodes = segment.nodes(pipeline);
            for node in &nodes {
                plan.put(graph, *node, segment.worker());
                if graph.node(*node).kind() == Kind::Parallel {
                    plan.replicas.insert(*node, 1);
                }
            }
            plan.segments.push(nodes);
        }
        for copies in mapping.copies() {
            let nodes = pipeline.stages()[copies.stage()].nodes();
            for node in nodes.iter().filter(|node| graph.node(**node).kind() == Kind::Parallel) {
                plan.replicas.insert(*node, copies.workers().len() as u32);
                plan.share(*node, copies);
            }
            plan.segments.push(nodes.to_vec());
        }
        // A unit without nodes is in the body before or behind it. Segments are in the order of the data.
        plan.segments.retain(|nodes| !nodes.is_empty());
        let stages = pipeline.stages().iter().enumerate();
        let stage_of: BTreeMap<NodeId, usize> =
            stages.flat_map(|(at, stage)| stage.nodes().iter().map(move |node| (*node, at))).collect();
        plan.segments.sort_by_key(|nodes| stage_of[&nodes[0]]);
        Ok(plan)
    }

    /// The plan without what mappers decide.
    fn undecided_by(&self, mapper: &str) -> Plan {
        let mut plan = Plan { mapper: Some(mapper.to_owned()), ..self.clone() };
        (plan.replicas, plan.regions, plan.segments) = (BTreeMap::new(), Vec::new(), Vec::new());
        (plan.pools, plan.shares, plan.affinity) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        plan
    }

    /// Gives a node to the workers of its copies.
    fn share(&mut self, node: NodeId, copies: &Copies) {
        self.pools.insert(node, copies.workers().iter().map(|(worker, _)| *worker as u32).collect());
        self.shares.insert(node, copies.workers().iter().map(|(_, share)| *share).collect());
    }

    /// Gives a node to a worker.
    fn put(&mut self, graph: &GraphData, node: NodeId, worker: usize) {
        if graph.node(node).kind() == Kind::Parallel {
            self.pools.insert(node, vec![worker as u32]);
        } else {
            self.affinity.insert(node, worker as u32);
        }
    }

    /// Sizes the buffers of the pipeline's edges by the mapping's rules, and in proportion less if they exceed the target's
    /// bytes.
    fn size(&mut self, graph: &GraphData, pipeline: &Pipeline, mapping: &Mapping, place: &[Option<usize>]) {
        let between = pipeline.target().buffers().unwrap_or(mapping.between());
        let mut sizes = BTreeMap::new();
        for edge in pipeline.edges() {
            let link = graph.channel(edge.channel()).link();
            if link.capacity().is_some() || link.initial() > 0 {
                continue;
            }
            let is_inside = place[edge.from()].is_some() && place[edge.from()] == place[edge.to()];
            let rule: Buffers = if is_inside { mapping.inside() } else { between };
            let size = rule.capacity(graph, pipeline, edge.channel(), edge.items());
            sizes.extend(size.map(|size| (edge.channel(), size)));
        }
        let item = |id| graph.channel(id).item().bytes() as f64;
        let all: f64 = sizes.iter().map(|(id, items)| *items as f64 * item(*id)).sum();
        let part = (pipeline.target().most() as f64 / all.max(1.0)).min(1.0);
        for (id, items) in sizes {
            let least = min_capacity(graph, graph.channel(id));
            let items = if part < 1.0 { ((items as f64 * part) as usize).max(least) } else { items };
            self.capacities[id.index()] = items;
            self.slots.remove(&id);
        }
    }
}

impl super::Segment {
    /// Its nodes, in the order of the data.
    fn nodes(&self, pipeline: &Pipeline) -> Vec<NodeId> {
        let stages = &pipeline.stages()[self.stages().clone()];
        stages.iter().flat_map(|stage| stage.nodes()).copied().collect()
    }
}

impl Mapping {
    /// The segment of each stage, by index; `None` for a replicated one.
    fn place(&self, pipeline: &Pipeline) -> Result<Vec<Option<usize>>, BadMapping> {
        let count = pipeline.stages().len();
        let (mut place, mut times) = (vec![None; count], vec![0; count]);
        for (i, segment) in self.segments().iter().enumerate() {
            let (stages, worker) = (segment.stages().clone(), segment.worker());
            if stages.end > count || stages.is_empty() || worker >= pipeline.workers() {
                return Err(BadMapping::Unknown { stage: stages.start, worker });
            }
            for stage in stages {
                (place[stage], times[stage]) = (Some(i), times[stage] + 1);
            }
        }
        for copies in self.copies() {
            let stage = copies.stage();
            let Some(most) = pipeline.stages().get(stage).map(|stage| stage.copies()) else {
                return Err(BadMapping::Unknown { stage, worker: 0 });
            };
            times[stage] += 1;
            let mut workers: Vec<usize> = copies.workers().iter().map(|(worker, _)| *worker).collect();
            workers.sort_unstable();
            if let Some(worker) = workers.last().filter(|worker| **worker >= pipeline.workers()) {
                return Err(BadMapping::Unknown { stage, worker: *worker });
            }
            let twice = workers.windows(2).any(|pair| pair[0] == pair[1]);
            let zero = copies.workers().iter().any(|(_, share)| *share == 0);
            // A stage that may have one worker only is placed by a segment.
            if workers.is_empty() || workers.len() > most || most == 1 || twice || zero {
                return Err(BadMapping::Copies { stage, most });
            }
        }
        match times.iter().position(|times| *times != 1) {
            Some(stage) => Err(BadMapping::Stage { stage, times: times[stage] }),
            None => Ok(place),
        }
    }
}
