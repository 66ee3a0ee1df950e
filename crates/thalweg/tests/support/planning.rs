//! Random legal plans.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use thalweg::embed::graph::{Kind, NodeId};
use thalweg::embed::plan::Place;
use thalweg::graph::GraphData;
use thalweg::plan::{Misfit, NodeProfile, Plan, Profile, Wishes};
use thalweg_analysis::topological_order;

/// Random numbers of one plan: a linear congruential sequence (Knuth's MMIX), of which the upper half is used.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn is_one_in(&mut self, most: usize) -> bool {
        self.below(most) == 0
    }
}

/// A random plan that fits the graph, for 1 to 3 workers, with the policy and the budget of `made`.
pub fn legal(graph: &GraphData, made: &Plan, seed: u64) -> Plan {
    let mut random = Random(seed);
    let threads = 1 + random.below(3);
    legal_for(threads, graph, made, random)
}

/// As [`legal`], for this number of workers.
pub fn legal_on(threads: usize, graph: &GraphData, made: &Plan, seed: u64) -> Plan {
    legal_for(threads, graph, made, Random(seed))
}

fn legal_for(threads: usize, graph: &GraphData, made: &Plan, mut random: Random) -> Plan {
    let wishes = Wishes::default()
        .threads(threads)
        .policy(made.policy().to_owned())
        .pools(1 + random.below(3))
        .maybe(made.budget(), Wishes::budget);
    let mut plan = if random.is_one_in(2) {
        let busy = |_| NodeProfile::new(1, Duration::from_nanos(random.below(1000) as u64));
        let profile = Profile::new(Duration::ZERO, graph.node_ids().map(busy).collect(), Vec::new());
        Plan::with_profile(graph, &profile, &wishes)
    } else {
        let mut plan = Plan::new(graph, &wishes);
        (*plan.affinity_mut(), *plan.own_threads_mut()) = places(graph, &plan, &mut random);
        if !plan.has_pools() && random.is_one_in(2) {
            segments(graph, &mut plan, &mut random);
        }
        plan
    };
    if !plan.has_pools() {
        replicas(graph, &mut plan, &mut random);
    }
    sizes(graph, &mut plan, &mut random);
    repair(graph, &mut plan);
    plan
}

/// Random workers, and random nodes with a thread of their own. Where each worker serves one node, the other nodes keep theirs.
fn places(graph: &GraphData, plan: &Plan, random: &mut Random) -> (BTreeMap<NodeId, u32>, BTreeSet<NodeId>) {
    let (mut affinity, mut own_threads) = (BTreeMap::new(), plan.own_threads().clone());
    if plan.has_pools() {
        own_threads.extend(plan.affinity().keys().filter(|_| random.is_one_in(4)));
        affinity.extend(plan.affinity().iter().filter(|(node, _)| !own_threads.contains(node)));
        return (affinity, own_threads);
    }
    for id in graph.node_ids().filter(|id| graph.node(*id).kind() != Kind::Parallel) {
        match random.below(4) {
            0 => _ = own_threads.insert(id),
            1 | 2 if !own_threads.contains(&id) => {
                affinity.insert(id, random.below(plan.threads()) as u32);
            }
            _ => {}
        }
    }
    (affinity, own_threads)
}

/// Segments of nodes that follow each other, each with a worker. Some nodes are in none.
fn segments(graph: &GraphData, plan: &mut Plan, random: &mut Random) {
    let order = topological_order(graph).into_iter().filter(|node| !plan.own_threads().contains(node));
    let mut left: Vec<NodeId> = order.collect();
    while !left.is_empty() {
        let rest = left.split_off(left.len().min(1 + random.below(4)));
        let segment = std::mem::replace(&mut left, rest);
        if random.is_one_in(4) {
            continue;
        }
        let worker = random.below(plan.threads()) as u32;
        let bound = segment.iter().filter(|node| graph.node(**node).kind() != Kind::Parallel);
        plan.affinity_mut().extend(bound.map(|node| (*node, worker)));
        plan.segments_mut().push(segment);
    }
}

/// Lists of workers for some parallel nodes, of which half have shares.
fn replicas(graph: &GraphData, plan: &mut Plan, random: &mut Random) {
    for id in graph.node_ids().filter(|id| graph.node(*id).kind() == Kind::Parallel) {
        let limits = [graph.node(id).workers(), plan.replicas().get(&id).copied()];
        let limit = limits.into_iter().flatten().fold(plan.threads(), |least, most| least.min(most as usize));
        if limit == 0 || random.is_one_in(2) {
            continue;
        }
        let first = random.below(plan.threads());
        let workers = (0..1 + random.below(limit)).map(|at| ((first + at) % plan.threads()) as u32);
        let workers: Vec<u32> = workers.collect();
        if random.is_one_in(2) {
            let shares = workers.iter().map(|_| 1 + random.below(5) as u32).collect();
            plan.shares_mut().insert(id, shares);
        }
        plan.pools_mut().insert(id, workers);
    }
}

/// Random numbers wherever a plan has one, legal or not.
fn sizes(graph: &GraphData, plan: &mut Plan, random: &mut Random) {
    *plan.batch_mut() = 1 + random.below(50);
    *plan.window_mut() = 2 << random.below(6);
    *plan.held_mut() = random.below(2000);
    for id in graph.node_ids() {
        plan.claim_lengths_mut()[id.index()] = 1 + random.below(20);
        if random.is_one_in(2) && graph.node(id).kind() == Kind::Parallel {
            let workers = plan.pools().get(&id).map_or(1, |workers| workers.len() as u32);
            plan.replicas_mut().insert(id, workers + random.below(3) as u32);
        }
    }
    for id in graph.channel_ids() {
        let capacity = 1 + random.below(40);
        plan.capacities_mut()[id.index()] = capacity;
        plan.slots_mut().insert(id, capacity * (1 + random.below(8)));
        plan.byte_limits_mut().insert(id, 1 + random.below(500));
    }
}

/// Follows the errors of the check until the plan fits.
fn repair(graph: &GraphData, plan: &mut Plan) {
    while let Err(error) = plan.check(graph) {
        // A loop of which one node has a thread of its own cannot be inside a segment.
        if let (Place::Segment(at), Misfit::Returns { .. }) = (error.place(), error.misfit()) {
            plan.segments_mut().remove(at);
            continue;
        }
        let Place::Channel(channel) = error.place() else { panic!("{error}\n{plan}") };
        match error.misfit() {
            Misfit::Capacity { needed, .. } => plan.capacities_mut()[channel.index()] = *needed,
            Misfit::Slots { .. } | Misfit::Widen => _ = plan.slots_mut().remove(&channel),
            Misfit::Unweighed => _ = plan.byte_limits_mut().remove(&channel),
            _ => panic!("{error}\n{plan}"),
        }
    }
}
