//! The bounds of *Locality-Aware Concurrency Platforms* (J. Maglalang, 2017), chapter 2, in the model of its section 2.1.
//!
//! Items are bytes, so M and B count items as in the thesis. The bounds are asymptotic: each test has one constant for its sweep.

use crate::support::drawn::{B, M, Random, pipeline};
use thalweg_graph::{Footprint, GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};
use thalweg_plan::mappers;
use thalweg_plan::{Plan, Wishes};
use thalweg_sim::caches::{Caches, Memory, Misses, rounds};

/// Lemma 2.2.1 and Corollary 2.2.1: whichever ready module any of P processors fires next, a processor on which the last module of
/// a segment of state 2M fires 2M gain(v) / gain(e) times misses M/B blocks, and P processors on which it fires 6 P M times as often
/// miss P M/B together, up to a constant.
#[test]
fn no_schedule_fires_a_large_segment_without_misses() {
    for seed in 0..12 {
        let mut random = Random(seed * 1_000_003);
        let processors = 1 + (seed as usize % 3);
        let drawn = pipeline(12, M / 6, &mut random);
        let total: u64 = drawn.graph.node_ids().map(|node| drawn.graph.footprint(node).bytes()).sum();
        let cache = total / 2; // the state of the segment is 2M of this M
        let mut plan = Plan::new(&drawn.graph, &Wishes::default().threads(processors));
        plan.capacities_mut().fill(200);
        let mut memory = Memory::new(&drawn.graph, &plan);
        let mut caches = Caches::new(processors, cache, B);
        let last = drawn.graph.nodes().len() - 1;
        let least_gain = *drawn.gains.iter().min().unwrap() as f64;
        let window = 2.0 * cache as f64 * drawn.gains[last - 1] as f64 / least_gain;
        let window = window / drawn.gains[last - 1] as f64; // firings of a sink that pops one item of its edge's gain
        let mut fired = vec![0_u64; processors];
        let mut before = vec![Misses::default(); processors];
        let (mut all, mut windows) = (0_u64, 0);
        for _ in 0..400_000 {
            let node = NodeId(random.below(last as u64 + 1) as u32);
            if !memory.is_ready(node) {
                continue;
            }
            // Stay with a processor for some time, so that some schedules are good ones.
            let processor = (all / 700 % processors as u64) as usize;
            memory.fire(&mut caches, processor, node);
            all += 1;
            if node.index() == last {
                fired[processor] += drawn.graph.node(node).inputs()[0].pop().fixed().unwrap();
                if fired[processor] as f64 >= window * drawn.gains[last - 1] as f64 {
                    let misses = caches.misses(processor).since(before[processor]).all();
                    assert!(misses >= cache / B, "seed {seed}: {misses} misses, expected {}", cache / B);
                    (fired[processor], before[processor]) = (0, caches.misses(processor));
                    windows += 1;
                }
            }
        }
        assert!(windows > 0, "seed {seed} has no window");
    }
}

/// Lemmas 2.2.4 and 2.2.5 and Corollary 2.2.2: in a round a worker misses O((X/B) procLoad) blocks, and T items of the source take
/// O((T/B) max procLoad) parallel transfers. The constant is 1.5. Caches have 2M: a cache that
/// evicts the oldest block needs twice the size of one that knows the future (Sleator and Tarjan), for which the bound is stated.
#[test]
fn seg_cache_misses_in_proportion_to_its_load() {
    const CONSTANT: f64 = 1.5;
    for seed in 0..24 {
        let mut random = Random(seed * 7_777_777);
        let workers = 1 + seed as usize % 8;
        let count = 12 + random.below(30) as usize;
        let drawn = pipeline(count, M / 6 - 20, &mut random);
        let plan = drawn.plan("seg-cache", workers, M);
        if plan.segments().len() == 1 {
            continue;
        }
        let loads = drawn.loads(&plan, workers);
        let mut caches = Caches::new(workers, 2 * M, B);
        let rounds = rounds(&drawn.graph, &plan, &mut caches, M, workers + 3).unwrap();
        let each = rounds.items as f64 / B as f64;
        for (number, round) in rounds.all.iter().enumerate() {
            for (worker, misses) in round.misses.iter().enumerate() {
                let most = CONSTANT * each * loads[worker] + 2.0 * count as f64; // blocks that are begun
                assert!(misses.all() as f64 <= most, "seed {seed}, round {number}: {misses:?}, {most}");
            }
        }
        // The workers become ready in turn, and then every round fires the sink.
        let (first, later) = rounds.all.split_at(workers);
        let greatest = loads.iter().copied().fold(0.0, f64::max);
        let per_round = drawn.graph.node(NodeId(count as u32 - 1)).inputs()[0].pop().fixed().unwrap();
        assert!(
            later.iter().all(
                |round| round.fired * per_round == rounds.items * drawn.gains[count - 2] / drawn.gains[0]
            )
        );
        let time: u64 = first.iter().chain(later).map(|round| round.length()).sum();
        let passed = later.len() as u64 * rounds.items;
        let bound =
            CONSTANT * 2.0 * passed as f64 / B as f64 * greatest + (rounds.all.len() * 2 * count) as f64;
        assert!(time as f64 <= bound, "seed {seed}: {time} transfers for {passed} items, bound {bound}");
    }
}

/// Theorem 2.2.6: no static schedule on caches of M/6 is faster than a constant part of `seg-cache` on caches of M. Tried against
/// the mappings of all other mappers: all take at least twice as long.
#[test]
fn no_other_mapping_is_much_faster_on_smaller_caches() {
    const PART: f64 = 2.0;
    for seed in 0..12 {
        let mut random = Random(seed * 31_337);
        let workers = 1 + seed as usize % 4;
        let drawn = pipeline(24, M / 6 - 20, &mut random);
        let time = |mapper: &str, map_for: u64, cache: u64| {
            let plan = drawn.plan(mapper, workers, map_for);
            let mut caches = Caches::new(workers, cache, B);
            // In rounds of one size, so that each is compared for the same items.
            let rounds = rounds(&drawn.graph, &plan, &mut caches, M, workers + 3)?;
            let later = &rounds.all[workers..];
            let length: u64 = later.iter().map(|round| round.length()).sum();
            Some(length as f64 / (rounds.items * later.len() as u64) as f64)
        };
        let ours = time("seg-cache", M, 2 * M).unwrap();
        for (name, _) in mappers::names().filter(|(name, _)| !name.contains("replicated") && *name != "best")
        {
            let theirs = time(name, M / 6, M / 6).unwrap();
            assert!(
                theirs >= PART * ours,
                "seed {seed}, {name}: {theirs} transfers an item, seg-cache {ours}"
            );
        }
    }
}

/// Section 2.2.2: a schedule that moves modules between processors beats the bound for static schedules. The thesis' P = k M^2/B
/// does not fit its own assignment of M/B processors to each of 2kM/B modules, which needs 2 k M^2/B^2 (errata F1).
#[test]
fn a_schedule_that_moves_modules_beats_the_static_bound() {
    const K: u64 = 2;
    let (cache, block) = (16_u64, 4_u64);
    let modules = 2 * K * cache / block;
    let each = cache / block;
    let processors = (modules * each) as usize;
    assert_eq!(processors as u64, 2 * K * cache * cache / (block * block));
    let item = Item::named("byte", 1);
    let mut graph = GraphData::new();
    for i in 0..modules {
        let mut node = Node::sequential(format!("n{i}"));
        if i > 0 {
            node = node.input(InPort::new("in", item));
        }
        if i + 1 < modules {
            node = node.output(OutPort::new("out", item).with_push(Rate::Static(1)));
        }
        let id = graph.add(node);
        graph.set_footprint(id, Footprint::Declared(block));
        if i > 0 {
            graph.connect((NodeId(i as u32 - 1), 0), (id, 0), Link::default()).unwrap();
        }
    }
    let mut plan = Plan::new(&graph, &Wishes::default().threads(processors));
    plan.capacities_mut().fill((cache * cache) as usize);
    let mut memory = Memory::new(&graph, &plan);
    let mut caches = Caches::new(processors, cache + block, block);
    // Half of every buffer is filled first.
    for module in 0..modules as u32 - 1 {
        for _ in 0..(modules - u64::from(module) - 1) * cache * cache / 2 / (modules - u64::from(module) - 1)
        {
            memory.fire(&mut caches, 0, NodeId(module));
            for before in (0..module).rev() {
                memory.fire(&mut caches, 0, NodeId(before));
            }
        }
    }
    for round in 0..4 {
        // From the last module to the first, so that each takes from the full half of its input.
        let mut length = 0;
        for module in (0..modules).rev() {
            let (mut load, mut execute) = (0, 0);
            for processor in module * each..(module + 1) * each {
                let before = caches.misses(processor as usize);
                (0..cache / 2)
                    .for_each(|_| memory.fire(&mut caches, processor as usize, NodeId(module as u32)));
                let misses = caches.misses(processor as usize).since(before);
                // Items are loaded at the same time on all processors, states one after the other.
                load = load.max(misses.all() - misses.state);
                execute += misses.state;
            }
            length = length.max(load + execute);
        }
        assert!(length <= 2 * cache / block, "round {round}: {length} transfers");
    }
    // Each round fires every module M^2/(2B) times in 2M/B transfers: T/M in all, where a static schedule needs T/B.
    assert_eq!(each * cache / 2, cache * cache / (2 * block));
}
