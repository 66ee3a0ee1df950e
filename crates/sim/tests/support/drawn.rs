//! Pipelines drawn at random, with what mappers need to know of them. Items are bytes.

use std::ops::Range;
use thalweg_graph::{Footprint, GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};
use thalweg_plan::mappers::{self, Target};
use thalweg_plan::{ChannelProfile, NodeProfile, Plan, Profile, Wishes};
use thalweg_policy::random::mix;

/// The bytes of a cache.
pub const M: u64 = 384;
/// The bytes of a block.
pub const B: u64 = 8;

/// Random numbers from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 += 1;
        mix(self.0) % bound
    }
}

/// A pipeline: the gain of each edge, in a unit of all, and the state of each module.
pub struct Drawn {
    pub graph: GraphData,
    pub gains: Vec<u64>,
    pub profile: Profile,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A pipeline of `count` modules. Rates follow from the gains: in = g / gcd, out = g' / gcd.
pub fn pipeline(count: usize, most_state: u64, random: &mut Random) -> Drawn {
    const GAINS: [u64; 5] = [1, 2, 3, 4, 6];
    let gains: Vec<u64> = (1..count).map(|_| GAINS[random.below(5) as usize]).collect();
    let item = Item::named("byte", 1);
    let mut graph = GraphData::new();
    let (mut nodes, mut channels) = (Vec::new(), Vec::new());
    // The period in which every module fires a whole number of times.
    let items = 12 * M;
    for i in 0..count {
        let (before, after) = (i.checked_sub(1).map(|i| gains[i]), gains.get(i).copied());
        let common = gcd(before.unwrap_or(0), after.unwrap_or(0)).max(1);
        let mut node = Node::sequential(format!("n{i}"));
        if let Some(before) = before {
            node = node.input(InPort::new("in", item).with_pop(Rate::Static(before / common)));
        }
        if let Some(after) = after {
            node = node.output(OutPort::new("out", item).with_push(Rate::Static(after / common)));
        }
        let state = 1 + random.below(most_state);
        let id = graph.add(node);
        graph.set_footprint(id, Footprint::Declared(state));
        let firings = items / gains[0] * common;
        nodes.push(
            NodeProfile::new(firings, std::time::Duration::from_nanos(firings))
                .with_state(graph.footprint(id)),
        );
        if i > 0 {
            graph.connect((NodeId(i as u32 - 1), 0), (id, 0), Link::default()).unwrap();
            let carried = items / gains[0] * gains[i - 1];
            channels.push(ChannelProfile::new(carried, carried));
        }
    }
    let profile = Profile::new(std::time::Duration::from_secs(1), nodes, channels);
    Drawn { graph, gains, profile }
}

impl Drawn {
    pub fn plan(&self, mapper: &str, workers: usize, cache: u64) -> Plan {
        let plan = Plan::new(&self.graph, &Wishes::default().threads(workers));
        let target = Target::default().with_cache(cache);
        plan.mapped(&self.graph, &self.profile, mappers::named(mapper).unwrap(), &target).unwrap()
    }

    /// The bytes of state of some modules.
    pub fn state(&self, modules: Range<usize>) -> u64 {
        modules.map(|module| self.graph.footprint(NodeId(module as u32)).bytes()).sum()
    }

    /// The gain of the last module, in the unit of [`Drawn::gains`].
    pub fn gain_of_sink(&self) -> f64 {
        let sink = self.graph.node(NodeId(self.gains.len() as u32));
        self.gains[self.gains.len() - 1] as f64 / sink.inputs()[0].pop().fixed().unwrap() as f64
    }

    /// For an item of the source, the items that cross the ends of each worker's segments: procLoad, without outer ends.
    pub fn loads(&self, plan: &Plan, workers: usize) -> Vec<f64> {
        let mut loads = vec![0.0; workers];
        let of = plan.workers(&self.graph);
        for pair in plan.segments().windows(2) {
            let crossing = self.gains[pair[0].last().unwrap().index()] as f64 / self.gains[0] as f64;
            for segment in pair {
                loads[of.of(segment[0]).unwrap()] += crossing;
            }
        }
        loads
    }
}
