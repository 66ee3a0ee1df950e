//! Static execution in virtual time: random graphs under random plans, and what its workers run.

use crate::support::FREE;
use std::collections::BTreeSet;
use thalweg_graph::{GraphData, Kind, Link, NodeId};
use thalweg_plan::{Plan, Wishes};
use thalweg_policy::static_plan::Spare;
use thalweg_policy::{Auto, Decision, Static};
use thalweg_sim::{Cost, Failure, Model, Ratio, Report, Settings, run, run_planned, shapes};

/// A generator of random numbers (S. Vigna's SplitMix64).
struct Random(u64);

impl Random {
    /// A number from 0 to below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// Splits, joins and chains behind one or two sources. Every node of a layer pops from nodes of earlier layers, in proportion to how
/// often these fire, so that the graph runs to its end at any capacity.
fn random_model(random: &mut Random) -> Model {
    let mut model = Model::new();
    // The firings of each node for one round of the sources.
    let mut made: Vec<(NodeId, u32)> = Vec::new();
    for i in 0..1 + random.below(2) {
        let rate = 1 + random.below(4) as u32;
        let rounds = 20 + random.below(60) as u64;
        let cost = Cost::Fixed(20 + random.below(200) as u64);
        made.push((model.source(&format!("source{i}"), rounds * u64::from(rate), cost), rate));
    }
    for i in 0..1 + random.below(9) {
        let cost = Cost::Fixed(20 + random.below(400) as u64);
        let name = format!("node{i}");
        let node = match random.below(3) {
            0 => model.parallel(&name, cost),
            _ => model.sequential(&name, cost),
        };
        let rate = 1 + random.below(4) as u32;
        let producers: BTreeSet<usize> = (0..1 + random.below(2)).map(|_| random.below(made.len())).collect();
        for producer in producers {
            let (from, pushes) = made[producer];
            let divisor = gcd(pushes, rate);
            let (push, pop) = (Ratio::new(rate / divisor, 1), Ratio::new(pushes / divisor, 1));
            model.join_rated((from, push), (node, pop), Link::default());
        }
        if random.below(4) == 0 {
            let initial = 1 + random.below(3);
            model.join_rated((node, Ratio::ONE), (node, Ratio::ONE), Link::default().with_initial(initial));
        }
        made.push((node, rate));
    }
    model
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A random plan for 1 to 8 workers: segments of nodes that follow each other, at times some of the nodes in none, replicas with
/// and without shares, and capacities from the least to large ones.
fn random_plan(model: &Model, random: &mut Random) -> Plan {
    let graph = &model.graph;
    let threads = 1 + random.below(8);
    let capacity = [1, 2, 3, 7, 64, 1000][random.below(6)];
    let claim = [1, 2, 5, 64][random.below(4)];
    let wishes = Wishes::default().threads(threads).policy("static").capacity(capacity).claim_length(claim);
    let mut plan = Plan::new(graph, &wishes);
    let for_workers = |node: &NodeId| !graph.node(*node).blocking();
    let mut left: Vec<NodeId> = in_order(graph).into_iter().filter(for_workers).collect();
    while !left.is_empty() {
        let rest = left.split_off(left.len().min(1 + random.below(4)));
        let segment = std::mem::replace(&mut left, rest);
        let worker = random.below(threads) as u32;
        if random.below(5) == 0 {
            continue;
        }
        let bound = segment.iter().filter(|node| graph.node(**node).kind() != Kind::Parallel);
        plan.affinity_mut().extend(bound.map(|node| (*node, worker)));
        plan.segments_mut().push(segment);
    }
    for node in graph.node_ids().filter(|node| graph.node(*node).kind() == Kind::Parallel) {
        if random.below(3) == 0 {
            continue;
        }
        let workers: BTreeSet<u32> = (0..1 + random.below(4)).map(|_| random.below(threads) as u32).collect();
        let workers: Vec<u32> = workers.into_iter().collect();
        if random.below(2) == 0 {
            let shares = workers.iter().map(|_| 1 + random.below(5) as u32).collect();
            plan.shares_mut().insert(node, shares);
        }
        plan.pools_mut().insert(node, workers);
    }
    plan.check(graph).unwrap_or_else(|error| panic!("{error}\n{plan:?}"));
    plan
}

/// The nodes, producers before consumers, but around loops.
fn in_order(graph: &GraphData) -> Vec<NodeId> {
    let (mut left, mut order): (Vec<NodeId>, Vec<NodeId>) = (graph.node_ids().collect(), Vec::new());
    while !left.is_empty() {
        let is_next = |node: &NodeId| {
            let channels = graph.node(*node).inputs().iter().filter_map(|port| port.channel());
            let mut producers = channels.map(|id| graph.channel(id).from().0);
            producers.all(|from| from == *node || order.contains(&from))
        };
        let next = left.iter().position(is_next).unwrap_or(0);
        order.push(left.remove(next));
    }
    order
}

fn try_play(model: &Model, plan: &Plan, settings: &Settings) -> Result<Report, Failure> {
    try_play_with(Spare::Sleep, model, plan, settings)
}

fn try_play_with(spare: Spare, model: &Model, plan: &Plan, settings: &Settings) -> Result<Report, Failure> {
    let settings = Settings { workers: plan.threads(), ..*settings };
    run_planned(&Static::new(spare), model, &settings, plan.clone())
}

fn play(model: &Model, plan: &Plan, settings: &Settings) -> Report {
    try_play(model, plan, settings).unwrap_or_else(|failure| panic!("{failure}\n{:?}\n{plan:?}", model.graph))
}

/// Whether no worker has activated a node that the plan gives to others.
fn runs_own_only(model: &Model, plan: &Plan, report: &Report) -> bool {
    let assignment = plan.assignment(&model.graph);
    report.decisions.iter().all(|entry| match entry.decision {
        Decision::Activate(node) => assignment.workers_of(node).contains(&(entry.worker as u32)),
        Decision::Idle => true,
    })
}

fn assert_own(model: &Model, plan: &Plan, report: &Report) {
    assert!(runs_own_only(model, plan, report), "{:?}\n{plan:?}", report.decisions);
}

/// Channels do not grow in virtual time, so some of the plans have too little room for their graph, whatever the policy.
#[test]
fn random_plans_give_the_firings_of_auto() {
    let mut random = Random(1);
    let mut ended = 0;
    for case in 0..250 {
        let model = random_model(&mut random);
        let plan = random_plan(&model, &mut random);
        let waits = if random.below(4) == 0 { 10 } else { 0 };
        let foresight = random.below(2) == 0;
        let settings = Settings { workers: 3, foresight, ticket_wait: waits, ..Settings::default() };
        match (run_planned(&Auto, &model, &settings, plan.clone()), try_play(&model, &plan, &settings)) {
            (Ok(expected), Ok(report)) => {
                ended += 1;
                assert_eq!(report.firings, expected.firings, "case {case}\n{plan:?}");
                assert_own(&model, &plan, &report);
            }
            (Err(Failure::Deadlock { .. }), Err(Failure::Deadlock { .. })) => {}
            (expected, got) => panic!("case {case}: {expected:?}, {got:?}\n{:?}\n{plan:?}", model.graph),
        }
    }
    assert!(ended > 125, "{ended} of 250 ended");
}

/// Help changes where nodes run, and neither how often nor whether the run ends.
#[test]
fn help_gives_the_firings_of_auto() {
    let mut random = Random(3);
    let mut helped = 0;
    for case in 0..150 {
        let model = random_model(&mut random);
        let plan = random_plan(&model, &mut random);
        let settings = Settings { workers: 3, foresight: random.below(2) == 0, ..Settings::default() };
        let by_auto = run_planned(&Auto, &model, &settings, plan.clone());
        match (by_auto, try_play_with(Spare::Help, &model, &plan, &settings)) {
            (Ok(expected), Ok(report)) => {
                assert_eq!(report.firings, expected.firings, "case {case}\n{plan:?}");
                helped += usize::from(!runs_own_only(&model, &plan, &report));
            }
            (Err(Failure::Deadlock { .. }), Err(Failure::Deadlock { .. })) => {}
            (expected, got) => panic!("case {case}: {expected:?}, {got:?}\n{:?}\n{plan:?}", model.graph),
        }
    }
    assert!(helped > 50, "workers helped in {helped} of 150 runs");
}

/// Two segments, the second with nine times the work of the first: alone, the first worker sleeps most of the time.
#[test]
fn a_worker_that_helps_shares_work_that_the_plan_has_misjudged() {
    let mut model = Model::new();
    let source = model.source("source", 10_000, Cost::Fixed(10));
    let costs = [10, 60, 60, 60];
    let stages = costs.map(|cost| model.sequential("stage", Cost::Fixed(cost)));
    let ends = [source].into_iter().chain(stages);
    for (from, to) in ends.zip(stages) {
        model.join(from, to);
    }
    let wishes = Wishes::default().threads(2).policy("static").capacity(64).claim_length(8);
    let mut plan = Plan::new(&model.graph, &wishes);
    *plan.segments_mut() = vec![vec![source, stages[0]], stages[1..].to_vec()];
    plan.affinity_mut().extend([(source, 0), (stages[1], 1)]);
    let spares = [Spare::Sleep, Spare::Help];
    let makespans = spares.map(|spare| try_play_with(spare, &model, &plan, &FREE).unwrap().makespan);
    assert!(makespans[0] >= 10_000 * 180 && makespans[1] < 10_000 * 110, "{makespans:?}");
}

#[test]
fn random_plans_of_all_shapes_end() {
    let mut random = Random(2);
    for (shape, model) in shapes::all() {
        let expected = run(&Auto, &model, &Settings::default()).unwrap().firings;
        for _ in 0..12 {
            let plan = random_plan(&model, &mut random);
            let settings = Settings { patience: 1, wake: 1, window: 2, ..Settings::default() };
            let report = play(&model, &plan, &settings);
            assert_eq!(report.firings, expected, "{shape}\n{plan:?}");
            assert_own(&model, &plan, &report);
        }
    }
}

/// A segment is entered where its input is half full and its output half empty, and left where one of them is empty or full. So two
/// segments of one worker take turns of half a channel and more, where claims are short.
#[test]
fn a_worker_stays_in_a_segment_for_half_a_channel() {
    let model = shapes::chain_of(4, 6_000, 10);
    let wishes = Wishes::default().threads(1).policy("static").capacity(100).claim_length(1);
    let mut plan = Plan::new(&model.graph, &wishes);
    *plan.segments_mut() = vec![vec![NodeId(0), NodeId(1)], vec![NodeId(2), NodeId(3)]];
    let report = play(&model, &plan, &Settings::default());
    let nodes = report.decisions.iter().filter_map(|entry| match entry.decision {
        Decision::Activate(node) => Some(node.0 >= 2),
        Decision::Idle => None,
    });
    let in_second: Vec<bool> = nodes.collect();
    let switches = in_second.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // Each pass takes at least 50 items through a segment; the round-robin switches twice each time.
    let round_robin = 2 * in_second.len() / thalweg_policy::static_plan::FAIR_EVERY as usize;
    assert!(switches <= 2 * 6_000 / 50 + round_robin + 2, "{switches} switches");
    let by_auto = run_planned(&Auto, &model, &Settings { workers: 1, ..Settings::default() }, plan.clone());
    assert_eq!(by_auto.unwrap().firings, report.firings);
}

/// Two replicas with claims of 12 and 4 firings. The source publishes 16 items at a time, and takes longer for them than both need:
/// each replica claims once, so they take three and one of four parts.
#[test]
fn replicas_that_claim_equally_often_take_their_shares() {
    let mut model = Model::new();
    let source = model.source("source", 1_600, Cost::Fixed(110));
    let work = model.parallel("work", Cost::Fixed(100));
    let sink = model.sequential("sink", Cost::Fixed(1));
    model.join(source, work);
    model.join(work, sink);
    let wishes = Wishes::default().threads(4).policy("static").capacity(64).claim_length(16);
    let mut plan = Plan::new(&model.graph, &wishes);
    plan.claim_lengths_mut()[work.index()] = 12;
    plan.affinity_mut().extend([(source, 0), (sink, 3)]);
    plan.pools_mut().insert(work, vec![2, 1]);
    plan.shares_mut().insert(work, vec![3, 1]);
    let report = play(&model, &plan, &FREE);
    assert_own(&model, &plan, &report);
    assert_eq!([report.busy[2], report.busy[1]], [120_000, 40_000]);
}

#[test]
fn workers_that_the_settings_lack_are_left_out_of_lists() {
    let model = shapes::farm(300, 10, 100);
    let mut plan = Plan::new(&model.graph, &Wishes::default().threads(8).policy("static"));
    plan.pools_mut().insert(NodeId(1), vec![7, 1, 5]);
    plan.shares_mut().insert(NodeId(1), vec![1, 2, 3]);
    for workers in 1..=8 {
        let settings = Settings { workers, ..Settings::default() };
        let report = run_planned(&Static::default(), &model, &settings, plan.clone()).unwrap();
        assert_eq!(report.firings, [300, 300, 300], "{workers} workers");
    }
}
