//! Random pipelines in virtual time beside the queueing model: channels of few places, pools and threads for all nodes.

use crate::support::FREE;
use thalweg_graph::{Kind, NodeId};
use thalweg_plan::{POOLS, Plan, Wishes};
use thalweg_policy::{Auto, Pools};
use thalweg_queueing::{self as queueing, Edge, Pipeline, Stage, tandem};
use thalweg_sim::{Cost, Model, Settings, run_planned};

const FIRINGS: u64 = 2_500;
/// The number of pipelines of each kind, and those at the median and at the 95th percentile.
const COUNT: [usize; 3] = [60, 30, 57];

/// A generator of random numbers (S. Vigna's SplitMix64).
struct Random(u64);

impl Random {
    /// A number from 0 to below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// A chain of 2 to 6 nodes with constant or exponential times and capacities from 1 to 32.
fn chain(random: &mut Random) -> (Model, Vec<Stage>, Vec<u64>) {
    let mut model = Model::new();
    let (mut stages, mut capacities) = (Vec::new(), Vec::new());
    let mut last: Option<NodeId> = None;
    for stream in 0..2 + random.below(5) {
        let mean = 500 + random.below(2_500);
        let (cost, variation) = match random.below(3) {
            0 => (Cost::Fixed(mean), 0.0),
            _ => (Cost::Exponential { mean, stream }, 1.0),
        };
        let is_parallel = last.is_some() && random.below(2) == 0;
        let node = match last {
            None => model.source("source", FIRINGS, cost),
            Some(_) if is_parallel => model.parallel("parallel", cost),
            Some(_) => model.sequential("sequential", cost),
        };
        stages.push(match is_parallel {
            true => Stage::parallel(mean as f64, variation),
            false => Stage::sequential(mean as f64, variation).ordered(1),
        });
        if let Some(last) = last {
            model.join(last, node);
            capacities.push([1, 2, 3, 5, 8, 16, 32][random.below(7) as usize]);
        }
        last = Some(node);
    }
    (model, stages, capacities)
}

/// The errors of the model and of threads over work, sorted, for pools or for threads of all nodes.
fn errors(pools: bool) -> [Vec<f64>; 2] {
    let mut random = Random(if pools { 5 } else { 6 });
    let mut errors = [Vec::new(), Vec::new()];
    for _ in 0..COUNT[0] {
        let (model, stages, capacities) = chain(&mut random);
        let count = 1 + random.below(if pools { 4 } else { 12 }) as usize;
        let wishes = Wishes::default().claim_length(1);
        let wishes = if pools { wishes.policy(POOLS).pools(count) } else { wishes.threads(count) };
        let mut plan = Plan::new(&model.graph, &wishes);
        *plan.capacities_mut() = capacities.iter().map(|capacity| *capacity as usize).collect();
        let window = plan.window() as u64;
        let report = match pools {
            true => run_planned(&Pools, &model, &FREE, plan),
            false => run_planned(&Auto, &model, &Settings { workers: count, ..FREE }, plan),
        };
        let measured = FIRINGS as f64 / report.unwrap().makespan as f64;
        let ordered = |stage: &Stage| if stage.limit == Some(1) { *stage } else { stage.ordered(window) };
        let edges =
            capacities.iter().zip(1..).map(|(capacity, to)| Edge::new(to - 1, to, *capacity).in_place());
        let pipeline = Pipeline::new(stages.iter().map(ordered).collect(), edges.collect()).unwrap();
        let of = |node: &thalweg_graph::Node| if node.kind() == Kind::Parallel { count as u32 } else { 1 };
        let settings = match pools {
            true => queueing::Settings::pools(model.graph.nodes().iter().map(of).collect::<Vec<_>>()),
            false => queueing::Settings::shared(count as u32),
        };
        let predicted = tandem::predict(&pipeline, &settings).unwrap();
        errors[0].push((predicted.throughput / measured - 1.0).abs());
        errors[1].push((predicted.bound / measured - 1.0).abs());
    }
    errors.iter_mut().for_each(|errors| errors.sort_by(f64::total_cmp));
    errors
}

#[test]
fn the_model_is_near_the_virtual_host() {
    for (name, pools) in [("pools", true), ("threads for all nodes", false)] {
        let [ours, bound] = errors(pools);
        let of = |errors: &[f64]| (errors[COUNT[1]], errors[COUNT[2]]);
        let (ours, bound) = (of(&ours), of(&bound));
        eprintln!("{name}: median and 95th percentile {ours:.3?}, of threads over work {bound:.3?}");
        assert!(ours.0 < 0.1 && ours.1 < 0.25, "{name}: {ours:?}");
        assert!(ours.0 < bound.0 && ours.1 < bound.1, "{name}: {ours:?} {bound:?}");
    }
}
