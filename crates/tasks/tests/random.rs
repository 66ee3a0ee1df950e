//! Random task graphs against a topological reference, at several numbers of members.

use std::sync::atomic::{AtomicU64, Ordering};
use thalweg_tasks::{Colour, During, OnDemand, StaticGraph, TaskError, TaskGraph, TaskOptions};

/// A sequence of numbers that depends on a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// The predecessors of each node, of which all have smaller numbers; a node may have one twice. `near` bounds how far back
/// they are: small numbers make deep graphs, large ones wide graphs.
pub(crate) fn graph(seed: u64, nodes: usize, degree: usize, near: usize) -> Vec<Vec<u32>> {
    let mut random = Random(seed);
    let mut predecessors = |node: usize| match node {
        0 => Vec::new(),
        _ => {
            let count = random.below(degree + 1);
            let pick = |_| (node - 1 - random.below(near.min(node))) as u32;
            (0..count).map(pick).collect()
        }
    };
    (0..nodes).map(&mut predecessors).collect()
}

/// What each node computes: it depends on the node and on the order of its inputs.
fn mix(node: u32, inputs: impl Iterator<Item = u64>) -> u64 {
    inputs.fold(u64::from(node) + 1, |mixed, input| mixed.rotate_left(7).wrapping_mul(0x9E37_79B9) ^ input)
}

fn reference(graph: &[Vec<u32>]) -> Vec<u64> {
    let mut results = Vec::new();
    for (node, predecessors) in (0..).zip(graph) {
        results.push(mix(node, predecessors.iter().map(|predecessor| results[*predecessor as usize])));
    }
    results
}

/// For each node, whether the sink can be reached from it.
fn needed(graph: &[Vec<u32>], sink: u32) -> Vec<bool> {
    let (mut found, mut left) = (vec![false; graph.len()], vec![sink]);
    while let Some(node) = left.pop() {
        if !std::mem::replace(&mut found[node as usize], true) {
            left.extend(&graph[node as usize]);
        }
    }
    found
}

/// Keys that are not the numbers themselves.
fn key(node: u32) -> String {
    format!("node {}", node.wrapping_mul(0x9E37_79B1))
}

const CASES: &[(u64, usize, usize, usize)] = match cfg!(miri) {
    true => &[(1, 1, 0, 1), (2, 10, 3, 10)],
    false => {
        &[(1, 1, 0, 1), (2, 50, 3, 50), (3, 400, 2, 5), (4, 600, 8, 600), (5, 900, 3, 40), (6, 300, 40, 300)]
    }
};

/// The seeds of the runs of each case.
const SEEDS: u64 = if cfg!(miri) { 1 } else { 4 };

/// The numbers of members.
const MEMBERS: &[usize] = if cfg!(miri) { &[1, 3] } else { &[1, 2, 3, 4] };

#[test]
fn graphs_on_demand_agree_with_the_reference() {
    crate::in_team(|| {
        for &(seed, nodes, degree, near) in CASES {
            let graph = graph(seed, nodes, degree, near);
            let (expected, sink) = (reference(&graph), nodes as u32 - 1);
            let number = |key: &String| {
                let key: u32 = key[5..].parse().expect("a number");
                key.wrapping_mul(0xE8B2F51) // the inverse of the factor in `key`
            };
            assert_eq!(number(&key(77)), 77);
            let on_demand = OnDemand::new(
                |name: &String, needs: &mut Vec<String>| {
                    needs.extend(graph[number(name) as usize].iter().map(|node| key(*node)));
                },
                |name: &String, context| mix(number(name), context.inputs().copied()),
            )
            .colour(|name| (number(name) % 3 > 0).then_some(Colour(number(name) % 5)));
            for &members in MEMBERS {
                for seed in 0..SEEDS {
                    let options = TaskOptions::new().members(members).seed(seed).domains([0, 0, 1, 1]);
                    let finished = on_demand.run_with(key(sink), &options).expect("no cycle");
                    assert_eq!(finished.sink(), expected.last().unwrap());
                    assert_eq!(
                        finished.len(),
                        needed(&graph, sink).into_iter().filter(|needed| *needed).count()
                    );
                    assert_eq!(finished.iter().count(), finished.len());
                    for (name, result) in finished.iter() {
                        assert_eq!(*result, expected[number(name) as usize]);
                        assert_eq!(finished.get(name.as_str()), Some(result));
                    }
                    assert_eq!(finished.get("node x"), None);
                }
            }
        }
    });
}

#[test]
fn explicit_graphs_agree_with_the_reference() {
    crate::in_team(|| {
        for &(seed, nodes, degree, near) in CASES {
            let graph = graph(seed, nodes, degree, near);
            let expected = reference(&graph);
            let edges =
                (0..).zip(&graph).flat_map(|(node, all)| all.iter().map(move |before| (*before, node)));
            let results: Vec<AtomicU64> = graph.iter().map(|_| AtomicU64::new(0)).collect();
            let compute = |node: u32| {
                let inputs = graph[node as usize].iter();
                let inputs = inputs.map(|before| results[*before as usize].load(Ordering::Relaxed));
                // A node that is computed twice has another result.
                results[node as usize].fetch_add(mix(node, inputs), Ordering::Relaxed);
            };
            let plain = StaticGraph::from_edges(nodes as u32, edges.clone());
            let coloured = StaticGraph::from_edges(nodes as u32, edges);
            let coloured = coloured.colours(|node| (node % 3 > 0).then_some(Colour(node % 5)));
            for mut graph in [plain, coloured] {
                for &members in MEMBERS {
                    for seed in 0..SEEDS {
                        results.iter().for_each(|result| result.store(0, Ordering::Relaxed));
                        let options = TaskOptions::new().members(members).seed(seed).domains([0, 0, 1, 1]);
                        let counts = graph.run_with(&options, compute).expect("no cycle");
                        assert_eq!(counts.total().nodes(), nodes as u64);
                        let found = results.iter().map(|result| result.load(Ordering::Relaxed));
                        assert!(found.eq(expected.iter().copied()), "{members} members, seed {seed}");
                    }
                }
            }
        }
    });
}

#[test]
fn both_ways_to_build_make_the_same_graph() {
    crate::in_team(|| {
        let nodes = if cfg!(miri) { 20 } else { 200 };
        let graph = graph(9, nodes, 5, 50);
        let edges = (0..).zip(&graph).flat_map(|(node, all)| all.iter().map(move |before| (*before, node)));
        let mut by_edges = StaticGraph::from_edges(nodes as u32, edges);
        let mut by_lists = StaticGraph::from_successors(nodes as u32, |node, successors| {
            for (after, all) in (0..).zip(&graph) {
                successors.extend(all.iter().filter(|before| **before == node).map(|_| after));
            }
        });
        assert_eq!((by_edges.nodes(), by_edges.edges()), (by_lists.nodes(), by_lists.edges()));
        let order = |graph: &mut StaticGraph| {
            let order = std::sync::Mutex::new(Vec::new());
            graph
                .run_with(&TaskOptions::new().members(1), |node| order.lock().unwrap().push(node))
                .expect("no cycle");
            order.into_inner().unwrap()
        };
        assert_eq!(order(&mut by_edges), order(&mut by_lists));
    });
}

/// Random graphs in which one node fails, panics, or closes a cycle, between runs without.
#[test]
#[cfg_attr(miri, ignore = "hundreds of runs, many of which panic")]
fn random_graphs_end_with_their_failure() {
    crate::in_team(|| {
        for seed in 0..60 {
            let mut random = Random(seed);
            let nodes = 2 + random.below(300);
            let before = graph(seed, nodes, 1 + random.below(6), 1 + random.below(nodes));
            let edges = || (0..).zip(&before).flat_map(|(node, all)| all.iter().map(move |all| (*all, node)));
            let (sink, bad) = (nodes as u32 - 1, random.below(nodes) as u32);
            let options = TaskOptions::new().members(1 + random.below(4)).seed(seed);

            let mut explicit = StaticGraph::from_edges(nodes as u32, edges());
            let error = explicit.try_run_with(&options, |node| if node == bad { Err(node) } else { Ok(()) });
            assert_eq!(error, Err(TaskError::Failed { key: bad, cause: bad }));
            let error = explicit.run_with(&options, |node| assert!(node != bad, "bad node"));
            let message = "bad node".to_owned();
            assert_eq!(error, Err(TaskError::Panicked { key: bad, during: During::Compute, message }));
            assert_eq!(explicit.run_with(&options, |_| {}).expect("no cycle").total().nodes(), nodes as u64);

            // An edge back from the last node closes a cycle through it, if it needs `bad`.
            let cyclic = needed(&before, sink)[bad as usize];
            let mut explicit = StaticGraph::from_edges(nodes as u32, edges().chain([(sink, bad)]));
            match explicit.run_with(&options, |_| {}) {
                Ok(counts) => assert_eq!((cyclic, counts.total().nodes()), (false, nodes as u64)),
                Err(TaskError::Cycle { keys }) => {
                    assert!(cyclic && keys.contains(&sink) && keys.contains(&bad), "{keys:?}");
                }
                Err(other) => panic!("{other}"),
            }
            let on_demand = OnDemand::new(
                |node: &u32, needs: &mut Vec<u32>| {
                    needs.extend(&before[*node as usize]);
                    needs.extend((*node == bad).then_some(sink));
                },
                |node: &u32, _| assert!(*node != sink, "the sink of a cycle is computed"),
            );
            match on_demand.run_with(sink, &options) {
                Err(TaskError::Cycle { keys }) => assert!(cyclic && keys.contains(&bad), "{keys:?}"),
                Err(TaskError::Panicked { key, .. }) => assert_eq!((cyclic, key), (false, sink)),
                other => panic!("{other:?}"),
            }
        }
    });
}
