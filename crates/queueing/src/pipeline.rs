//! What a model reads: stages, edges, and how threads are given to them.
//!
//! A pipeline is an acyclic graph of stages in topological order. Times are in seconds. The *firings* of a stage are
//! counted per item of the source: a stage behind one that makes four items of one fires four times ([`Pipeline::firings`]).

use crate::error::{MAX_ITEMS, MAX_VARIATION, items, positive, threads, within};
use crate::{Error, PipelineFault};

/// One stage: a node of the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stage {
    /// The mean time of a firing, in seconds.
    pub service: f64,
    /// The coefficient of variation of a firing's time: standard deviation over mean.
    pub variation: f64,
    /// The maximum number of firings at once: 1 where the node is sequential, `None` where nothing limits it.
    pub limit: Option<u32>,
    /// The number of tickets that may be out, finished ones that wait for their turn included. `None` where a
    /// parallel stage's output has no order; then a thread keeps its result until the output has room.
    pub window: Option<u64>,
    /// How often the stage fires for what arrives on several inputs.
    pub join: Join,
    /// Whether the stage has a thread of its own where the others share theirs ([`Workers::Shared`]).
    pub own_thread: bool,
}

/// How a stage with several inputs fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Join {
    /// A firing takes from every input.
    #[default]
    All,
    /// A firing takes from any one input, so the inputs' rates add (equation 5).
    Each,
}

impl Join {
    /// The firings for what arrives on two inputs.
    pub(crate) fn merge(self, a: f64, b: f64) -> f64 {
        match self {
            Self::All => a.min(b),
            Self::Each => a + b,
        }
    }
}

impl Stage {
    /// A sequential stage: one firing at a time.
    pub fn sequential(service: f64, variation: f64) -> Self {
        Self { limit: Some(1), ..Self::parallel(service, variation) }
    }

    /// A parallel stage, with output in any order.
    pub fn parallel(service: f64, variation: f64) -> Self {
        Self { service, variation, limit: None, window: None, join: Join::All, own_thread: false }
    }

    /// The same stage with its output in order, through a window of `tickets`.
    #[must_use]
    pub fn ordered(self, tickets: u64) -> Self {
        Self { window: Some(tickets), ..self }
    }

    /// The same stage with a firing for each item that arrives on any input.
    #[must_use]
    pub fn merging(self) -> Self {
        Self { join: Join::Each, ..self }
    }

    /// The same stage with a thread of its own, besides those that other stages share.
    #[must_use]
    pub fn with_own_thread(self) -> Self {
        Self { own_thread: true, ..self }
    }

    fn check(&self) -> Result<(), Error> {
        positive("service time", self.service)?;
        within("coefficient of variation", self.variation, 0.0, MAX_VARIATION)?;
        self.limit.map_or(Ok(1), threads)?;
        self.window.map_or(Ok(1), |window| items("reorder window", window))?;
        Ok(())
    }
}

/// A channel between two stages.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Edge {
    /// The producing stage.
    pub from: usize,
    /// The consuming stage, after `from`.
    pub to: usize,
    /// The mean number of items that a firing of `from` pushes. Below 1: a share of the firings push one item.
    pub pushes: f64,
    /// The number of items that a firing of `to` pops.
    pub pops: f64,
    /// The number of items that the channel holds; `None` without a limit.
    pub capacity: Option<u64>,
    /// Whether the items in service and the results under way are among those (blocking before service): a firing begins
    /// where its results have room, and its items keep their places until it ends, in order where the stage is ordered.
    /// Otherwise the channel holds what waits alone, and a thread keeps a result that finds no room (blocking after
    /// service).
    pub in_place: bool,
}

impl Edge {
    /// A channel of `capacity` items on which each firing pushes and pops one item.
    pub fn new(from: usize, to: usize, capacity: u64) -> Self {
        Self { from, to, pushes: 1.0, pops: 1.0, capacity: Some(capacity), in_place: false }
    }

    /// The same channel with other mean rates.
    #[must_use]
    pub fn rates(self, pushes: f64, pops: f64) -> Self {
        Self { pushes, pops, ..self }
    }

    /// The same channel with items in service and results under way among those that it holds.
    #[must_use]
    pub fn in_place(self) -> Self {
        Self { in_place: true, ..self }
    }

    /// The same channel without a limit.
    #[must_use]
    pub fn unbounded(self) -> Self {
        Self { capacity: None, ..self }
    }

    /// Equation 5's `p_ji`: firings of the consumer that a firing of the producer causes. May exceed 1.
    pub fn branching(&self) -> f64 {
        self.pushes / self.pops
    }

    fn check(&self, index: usize, stages: usize) -> Result<(), Error> {
        if self.from >= self.to || self.to >= stages {
            return Err(Error::Pipeline(PipelineFault::Order { edge: index }));
        }
        within("items pushed by a firing", self.pushes, 0.0, MAX_ITEMS as f64)?;
        within("items popped by a firing", self.pops, 1.0, MAX_ITEMS as f64)?;
        let least = if self.in_place { 1.0 } else { 0.0 };
        within("capacity", self.capacity.unwrap_or(1) as f64, least, MAX_ITEMS as f64)?;
        Ok(())
    }

    /// The firings of either end that have places in the channel at once.
    fn places(&self) -> u64 {
        let places =
            self.capacity.map_or(MAX_ITEMS as f64, |capacity| capacity as f64 / self.pushes.max(self.pops));
        (places as u64).max(1)
    }
}

/// A checked description: numbers in range, edges to later stages.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    stages: Vec<Stage>,
    edges: Vec<Edge>,
    firings: Vec<f64>,
    /// The firings of each stage that the channels in place allow at once.
    places: Vec<u64>,
}

impl Pipeline {
    /// Checks stages and edges.
    ///
    /// # Errors
    /// A number out of range, no stage, an edge that does not lead to a later stage.
    pub fn new(stages: Vec<Stage>, edges: Vec<Edge>) -> Result<Self, Error> {
        if stages.is_empty() {
            return Err(Error::Pipeline(PipelineFault::Empty));
        }
        for stage in &stages {
            stage.check()?;
        }
        for (index, edge) in edges.iter().enumerate() {
            edge.check(index, stages.len())?;
        }
        let firings = firings(&stages, &edges);
        for count in &firings {
            within("firings per item of the source", *count, 0.0, MAX_ITEMS as f64)?;
        }
        let places = places(stages.len(), &edges);
        Ok(Self { stages, edges, firings, places })
    }

    /// Stages in a row, with one item a firing and `capacity` items in each channel.
    ///
    /// # Errors
    /// A number out of range, no stage.
    pub fn chain(stages: Vec<Stage>, capacity: u64) -> Result<Self, Error> {
        let edges = (1..stages.len()).map(|to| Edge::new(to - 1, to, capacity)).collect();
        Self::new(stages, edges)
    }

    /// The stages.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The firings of each stage per item of the source; 1 for stages without input.
    pub fn firings(&self) -> &[f64] {
        &self.firings
    }

    /// The tickets that stage `i` may have out at once; `None` where its output has no order.
    pub(crate) fn window(&self, i: usize) -> Option<u64> {
        self.stages[i].window.map(|window| window.min(self.places[i]))
    }

    /// The threads that can work at stage `i`, of `offered` threads, which it may share with others.
    fn usable(&self, i: usize, offered: u32, shared: bool) -> u32 {
        let stage = &self.stages[i];
        let tickets = stage.window.unwrap_or(u64::MAX).min(self.places[i]);
        let offered = if shared && stage.own_thread { 1 } else { offered };
        offered.min(stage.limit.unwrap_or(u32::MAX)).min(u32::try_from(tickets).unwrap_or(u32::MAX))
    }

    /// The mean time of an item of the source in each stage, in seconds: firings times service time.
    pub fn demands(&self) -> impl Iterator<Item = f64> + '_ {
        self.stages.iter().zip(&self.firings).map(|(stage, firings)| stage.service * firings)
    }

    /// The mean time of an item of the source in all stages together, in seconds.
    pub fn work(&self) -> f64 {
        self.demands().sum()
    }

    /// The part of that time in stages whose threads are shared, in seconds; 0 where every stage has a thread of its own.
    pub(crate) fn shared_work(&self) -> f64 {
        let demands = self.stages.iter().zip(self.demands());
        // Not by `sum`, which is -0.0 of nothing: threads over that would be minus infinity.
        demands.filter(|(stage, _)| !stage.own_thread).fold(0.0, |sum, (_, demand)| sum + demand)
    }

    /// The same pipeline with other capacities: `change` maps each limited capacity.
    ///
    /// # Errors
    /// A capacity out of range.
    pub fn with_capacities(&self, change: impl Fn(u64) -> u64) -> Result<Self, Error> {
        let edge = |edge: &Edge| Edge { capacity: edge.capacity.map(&change), ..*edge };
        Self::new(self.stages.clone(), self.edges.iter().map(edge).collect())
    }
}

/// Visits by the edges, which come in any order: sums or minima over the inputs of each stage.
fn firings(stages: &[Stage], edges: &[Edge]) -> Vec<f64> {
    let mut order: Vec<&Edge> = edges.iter().collect();
    order.sort_by_key(|edge| edge.from);
    let mut caused: Vec<Option<f64>> = vec![None; stages.len()];
    for edge in order {
        // All edges into `from` come from earlier stages, so its count is complete.
        let more = caused[edge.from].unwrap_or(1.0) * edge.branching();
        let join = stages[edge.to].join;
        caused[edge.to] = Some(caused[edge.to].map_or(more, |sum| join.merge(sum, more)));
    }
    caused.into_iter().map(|count| count.unwrap_or(1.0)).collect()
}

/// The firings that the channels in place allow at once, of each of `count` stages.
fn places(count: usize, edges: &[Edge]) -> Vec<u64> {
    let mut places = vec![u64::MAX; count];
    for edge in edges.iter().filter(|edge| edge.in_place) {
        for stage in [edge.from, edge.to] {
            places[stage] = places[stage].min(edge.places());
        }
    }
    places
}

/// How threads are given to stages. A stage uses no more than its limit and its window allow.
#[derive(Clone, Debug, PartialEq)]
pub enum Workers {
    /// Each stage has threads of its own, as many as stated.
    Pools(Vec<u32>),
    /// All threads work at all stages but those with threads of their own.
    Shared(u32),
    /// Each stage but those with threads of their own has the threads of these numbers, which may work at other stages too.
    Assigned(Vec<Vec<u32>>),
}

/// How a pipeline runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The threads.
    pub workers: Workers,
    /// The maximum number of items of the source under way at once; `None` without a limit.
    pub tokens: Option<u64>,
}

impl Settings {
    /// A pool for each stage, without a limit of tokens.
    pub fn pools(threads: impl Into<Vec<u32>>) -> Self {
        Self { workers: Workers::Pools(threads.into()), tokens: None }
    }

    /// Threads for all stages together, without a limit of tokens.
    pub fn shared(threads: u32) -> Self {
        Self { workers: Workers::Shared(threads), tokens: None }
    }

    /// The same settings with at most `tokens` items under way.
    #[must_use]
    pub fn tokens(self, tokens: u64) -> Self {
        Self { tokens: Some(tokens), ..self }
    }

    /// The threads that each stage can use.
    ///
    /// # Errors
    /// A number out of range, a wrong number of pools.
    pub(crate) fn threads(&self, pipeline: &Pipeline) -> Result<Vec<u32>, Error> {
        self.tokens.map_or(Ok(1), |tokens| items("number of tokens", tokens))?;
        let stages = pipeline.stages();
        match &self.workers {
            Workers::Pools(pools) if pools.len() != stages.len() => {
                Err(Error::Pipeline(PipelineFault::Pools { stages: stages.len(), pools: pools.len() }))
            }
            Workers::Pools(pools) => {
                pools.iter().enumerate().map(|(i, c)| Ok(pipeline.usable(i, threads(*c)?, false))).collect()
            }
            Workers::Assigned(lists) if lists.len() != stages.len() => {
                Err(Error::Pipeline(PipelineFault::Pools { stages: stages.len(), pools: lists.len() }))
            }
            Workers::Assigned(lists) => {
                lists
                    .iter()
                    .flatten()
                    .try_for_each(|worker| threads(worker.saturating_add(1)).map(|_| ()))?;
                let of = |(i, list): (usize, &Vec<u32>)| {
                    let offered = if stages[i].own_thread { 1 } else { list.len() as u32 };
                    Ok(pipeline.usable(i, threads(offered)?, true))
                };
                lists.iter().enumerate().map(of).collect()
            }
            Workers::Shared(p) => {
                let p = threads(*p)?;
                Ok((0..stages.len()).map(|i| pipeline.usable(i, p, true)).collect())
            }
        }
    }
}
