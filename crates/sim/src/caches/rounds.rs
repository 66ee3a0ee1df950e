//! The synchronous schedule of section 2.2.3.
//!
//! In a round each worker loads each of its segments once, in order, and runs it if its input holds the items of a round. The
//! thesis takes `X = M prod in(i) out(i)` items of the source for a round, which no machine word holds for a real pipeline. Here X
//! is the smallest number for which every node fires a whole number of times and each channel between segments carries at least M
//! bytes: the least common multiple of the denominators of all gains, times what M needs.
//!
//! Workers take turns from the last to the first, so each finds what the others have left in the round before, and a channel
//! between workers holds the items of one round.

use super::{Caches, Memory, Misses};
use thalweg_analysis::{Gain, Gains, gcd};
use thalweg_graph::{GraphData, NodeId};
use thalweg_plan::Plan;

/// A round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// The misses of each worker.
    pub misses: Vec<Misses>,
    /// Firings of the last node.
    pub fired: u64,
}

impl Round {
    /// Its length in parallel transfers of blocks: the most misses of a worker.
    pub fn length(&self) -> u64 {
        self.misses.iter().map(|misses| misses.all()).max().unwrap_or(0)
    }
}

/// Rounds of the synchronous schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rounds {
    /// Items of the source in a round: X.
    pub items: u64,
    /// The rounds.
    pub all: Vec<Round>,
}

/// Runs `count` rounds of a pipeline whose nodes are all in segments of the plan, the first node of the first segment being its
/// source. `None` if a rate is dynamic, a node is in no segment, or X exceeds 2^64.
pub fn rounds(
    graph: &GraphData,
    plan: &Plan,
    caches: &mut Caches,
    cache: u64,
    count: usize,
) -> Option<Rounds> {
    let source = *plan.segments().first()?.first()?;
    let gains = Gains::of(graph, source);
    let of_nodes: Vec<Gain> = graph.node_ids().map(|node| gains.node(node)).collect::<Option<_>>()?;
    let segment = |node: NodeId| plan.segments().iter().position(|segment| segment.contains(&node));
    let segments: Vec<usize> = graph.node_ids().map(segment).collect::<Option<_>>()?;
    let crosses = |index: usize| {
        let channel = &graph.channels()[index];
        segments[channel.from().0.index()] != segments[channel.to().0.index()]
    };
    let mut period = 1_u64;
    for gain in &of_nodes {
        period = lcm(period, u64::try_from(gain.denom()).ok()?)?;
    }
    let mut times = 1;
    for id in graph.channel_ids().filter(|id| crosses(id.index())) {
        let carried = firings(gains.channel(id)?, period)? * graph.channel(id).item().bytes() as u64;
        times = times.max(cache.div_ceil(carried.max(1)));
    }
    let items = period.checked_mul(times)?;
    let mut plan_of_round = plan.clone();
    for id in graph.channel_ids().filter(|id| crosses(id.index())) {
        plan_of_round.capacities_mut()[id.index()] =
            usize::try_from(firings(gains.channel(id)?, items)?).ok()?;
    }
    let of_round: Vec<u64> = of_nodes.iter().map(|gain| firings(*gain, items)).collect::<Option<_>>()?;
    let mut state =
        State { graph, plan: &plan_of_round, memory: Memory::new(graph, &plan_of_round), of_round };
    let all = (0..count).map(|_| state.round(caches)).collect();
    Some(Rounds { items, all })
}

/// A gain times a number of items, which makes it whole.
fn firings(gain: Gain, items: u64) -> Option<u64> {
    let product = gain.numer().checked_mul(items.into())?;
    u64::try_from(product / gain.denom()).ok()
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    (a / gcd(a, b)).checked_mul(b)
}

struct State<'a> {
    graph: &'a GraphData,
    plan: &'a Plan,
    memory: Memory<'a>,
    /// The firings of each node in a round.
    of_round: Vec<u64>,
}

impl State<'_> {
    fn round(&mut self, caches: &mut Caches) -> Round {
        let before: Vec<Misses> = (0..caches.workers()).map(|worker| caches.misses(worker)).collect();
        let workers = self.plan.workers(self.graph);
        let worker_of = |segment: &[NodeId]| segment.iter().find_map(|node| workers.of(*node)).unwrap_or(0);
        let last = self.plan.segments().last().and_then(|segment| segment.last()).copied();
        let mut fired = 0;
        for worker in (0..caches.workers()).rev() {
            for segment in self.plan.segments().iter().filter(|segment| worker_of(segment) == worker) {
                if self.is_ready(segment) {
                    self.run(caches, worker, segment);
                    if segment.last().copied() == last {
                        fired = last.map_or(0, |last| self.of_round[last.index()]);
                    }
                }
            }
        }
        let since = |(worker, before): (usize, Misses)| caches.misses(worker).since(before);
        Round { misses: before.into_iter().enumerate().map(since).collect(), fired }
    }

    /// Whether the channels into a segment hold the items of a round, and those out of it have room for them.
    fn is_ready(&self, segment: &[NodeId]) -> bool {
        segment.iter().all(|node| {
            let data = self.graph.node(*node);
            let outside = |other: NodeId| !segment.contains(&other);
            let inputs = data.inputs().iter().filter_map(|port| port.channel());
            let outputs = data.outputs().iter().filter_map(|port| port.channel());
            let full =
                |id: thalweg_graph::ChannelId| self.memory.items(id.index()) == self.memory.slots(id.index());
            inputs.filter(|id| outside(self.graph.channel(*id).from().0)).all(full)
                && outputs
                    .filter(|id| outside(self.graph.channel(*id).to().0))
                    .all(|id| self.memory.items(id.index()) == 0)
        })
    }

    /// Fires the nodes of a segment as often as a round asks: always the last that is ready and has not finished.
    fn run(&mut self, caches: &mut Caches, worker: usize, segment: &[NodeId]) {
        let mut left: Vec<u64> = segment.iter().map(|node| self.of_round[node.index()]).collect();
        loop {
            let ready = |at: &usize| left[*at] > 0 && self.memory.is_ready(segment[*at]);
            let Some(at) = (0..segment.len()).rev().find(ready) else { return };
            left[at] -= 1;
            self.memory.fire(caches, worker, segment[at]);
        }
    }
}
