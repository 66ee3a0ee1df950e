//! Properties of partitions: on random graphs, on graphs small enough for exhaustive search, and on planted clusters.

use super::split::{limit, lpt, split};
use super::weighted::Weighted;
use crate::random::XorShift;

fn below(random: &mut XorShift, n: u64) -> u64 {
    (random.number() >> 32) % n
}

/// A random graph: some vertices weigh nothing and some very much, and there are several components.
fn arbitrary(random: &mut XorShift, max_vertices: u64) -> Weighted {
    let count = 1 + below(random, max_vertices);
    let heavy = [2, 10, 1000][below(random, 3) as usize];
    let weights = (0..count).map(|_| below(random, heavy) * below(random, 10)).collect();
    let pick = |random: &mut XorShift| below(random, count) as u32;
    let edges: Vec<_> = (0..below(random, 3 * count + 1))
        .map(|_| (pick(random), pick(random), below(random, heavy)))
        .collect();
    Weighted::new(weights, below(random, 3), &edges)
}

fn arbitrary_parts(random: &mut XorShift, graph: &Weighted, parts: usize) -> Vec<u32> {
    (0..graph.len()).map(|_| below(random, parts as u64) as u32).collect()
}

fn heaviest(graph: &Weighted, part: &[u32], parts: usize) -> u64 {
    graph.loads(part, parts).into_iter().max().unwrap()
}

fn allowed(graph: &Weighted, parts: usize) -> u64 {
    limit(graph, parts, &lpt(graph, parts))
}

#[test]
fn random_graphs_are_balanced_and_never_cut_worse_than_before() {
    let mut random = XorShift::new(5, 0);
    for round in 0..600 {
        let graph = arbitrary(&mut random, if round % 10 == 0 { 400 } else { 60 });
        let parts = 1 + below(&mut random, 9) as usize;
        let before = arbitrary_parts(&mut random, &graph, parts);
        let part = split(&graph, parts, &before);
        assert_eq!(part.len(), graph.len());
        assert!(part.iter().all(|part| (*part as usize) < parts));
        assert!(heaviest(&graph, &part, parts) <= allowed(&graph, parts), "round {round}");
        let again = split(&graph, parts, &part);
        assert!(graph.cut(&again) <= graph.cut(&part), "round {round}: the previous partition was balanced");
        assert!(heaviest(&graph, &again, parts) <= allowed(&graph, parts));
        assert_eq!(part, split(&graph, parts, &before), "equal arguments, equal results");
    }
}

#[test]
fn balance_is_limited_by_single_vertices_only() {
    let mut random = XorShift::new(6, 0);
    for _ in 0..200 {
        let graph = arbitrary(&mut random, 50);
        let parts = 1 + below(&mut random, 5) as usize;
        let mean = graph.total() / parts as u64;
        let at_most = mean + mean / 20 + 1 + graph.heaviest();
        assert!(allowed(&graph, parts) <= at_most);
        let single = vec![0; graph.len()];
        assert!(heaviest(&graph, &split(&graph, parts, &single), parts) <= at_most);
    }
}

/// The least cut of all partitions into two parts of at most `limit` each.
fn least_cut(graph: &Weighted, limit: u64) -> u64 {
    let parts = |code: u32| (0..graph.len()).map(|vertex| code >> vertex & 1).collect::<Vec<u32>>();
    let balanced = (0..1u32 << graph.len()).map(parts).filter(|part| heaviest(graph, part, 2) <= limit);
    balanced.map(|part| graph.cut(&part)).min().unwrap()
}

#[test]
fn cuts_of_small_graphs_are_nearly_optimal() {
    let mut random = XorShift::new(7, 0);
    let (mut best, mut rounds, mut found, mut least) = (0, 0, 0, 0);
    while rounds < 150 {
        let made = arbitrary(&mut random, 11);
        // Moves cost nothing.
        let weights = (0..made.len()).map(|vertex| made.weight(vertex)).collect();
        let graph = Weighted::new(weights, 0, &made.edges().collect::<Vec<_>>());
        let before = arbitrary_parts(&mut random, &graph, 2);
        let cut = graph.cut(&split(&graph, 2, &before));
        let optimal = least_cut(&graph, allowed(&graph, 2));
        assert!(cut >= optimal);
        (found, least) = (found + cut, least + optimal);
        best += usize::from(cut == optimal);
        rounds += 1;
    }
    assert!(best * 100 >= rounds * 90, "{best} of {rounds} cuts are optimal");
    assert!(found * 100 <= least * 105, "total cut {found}, optimal {least}");
}

/// `parts` clusters of `size` vertices, dense inside, with single light edges between them.
fn planted(parts: u32, size: u32) -> (Weighted, Vec<u32>) {
    let mut random = XorShift::new(8, 0);
    let mut edges = Vec::new();
    for vertex in 0..parts * size {
        for _ in 0..4 {
            let other = vertex / size * size + below(&mut random, u64::from(size)) as u32;
            edges.push((vertex, other, 10));
        }
        if vertex % size == 0 {
            edges.push((vertex, (vertex + size) % (parts * size), 1));
        }
    }
    // Shuffled, so that numbers do not reveal the clusters.
    let mut names: Vec<u32> = (0..parts * size).collect();
    for at in (1..names.len()).rev() {
        names.swap(at, below(&mut random, at as u64 + 1) as usize);
    }
    let name = |vertex: u32| names[vertex as usize];
    let named: Vec<_> = edges.iter().map(|(from, to, weight)| (name(*from), name(*to), *weight)).collect();
    let mut cluster = vec![0; names.len()];
    (0..parts * size).for_each(|vertex| cluster[name(vertex) as usize] = vertex / size);
    (Weighted::new(vec![3; names.len()], 1, &named), cluster)
}

#[test]
fn planted_clusters_are_found() {
    for (parts, size) in [(2, 20), (2, 500), (4, 100), (8, 60)] {
        let (graph, cluster) = planted(parts, size);
        let scattered: Vec<u32> = (0..graph.len() as u32).map(|vertex| vertex % parts).collect();
        let part = split(&graph, parts as usize, &scattered);
        let (cut, planted) = (graph.cut(&part), graph.cut(&cluster));
        assert!(cut <= planted, "{parts} of {size}: {cut} cut, {planted} planted");
    }
}

#[test]
fn a_chain_is_cut_once_between_two_parts() {
    let edges: Vec<(u32, u32, u64)> = (1..300).map(|at| (at - 1, at, 5)).collect();
    let graph = Weighted::new(vec![7; 300], 0, &edges);
    for parts in 2..6 {
        let before: Vec<u32> = (0..300).map(|at| at % parts).collect();
        let part = split(&graph, parts as usize, &before);
        assert!(graph.cut(&part) <= 5 * u64::from(parts), "{parts}: {}", graph.cut(&part));
    }
}

#[test]
fn a_small_change_moves_few_vertices() {
    let edges: Vec<(u32, u32, u64)> = (1..100).map(|at| (at - 1, at, 50)).collect();
    let halves: Vec<u32> = (0..100).map(|at| at / 50).collect();
    let even = Weighted::new(vec![10; 100], 20, &edges);
    assert_eq!(split(&even, 2, &halves), halves, "no move gains anything");
    // Ten vertices have become three times as heavy, so the border between the parts moves.
    let weights = (0..100).map(|at| if at < 10 { 30 } else { 10 }).collect();
    let part = split(&Weighted::new(weights, 20, &edges), 2, &halves);
    let moved = part.iter().zip(&halves).filter(|(now, before)| now != before).count();
    assert!((1..=12).contains(&moved), "{moved} moved");
    assert!(even.cut(&part) <= 100, "it is cut in {} places", even.cut(&part) / 50);
}

#[test]
fn large_graphs_take_no_recursion_and_little_time() {
    let count = 200_000;
    let edges: Vec<(u32, u32, u64)> = (1..count).map(|at| (at - 1, at, 1)).collect();
    let graph = Weighted::new(vec![1; count as usize], 1, &edges);
    let part = split(&graph, 4, &vec![0; count as usize]);
    assert!(heaviest(&graph, &part, 4) <= allowed(&graph, 4));
    assert!(graph.cut(&part) <= 100, "{}", graph.cut(&part));
    let leaves: Vec<(u32, u32, u64)> = (1..count).map(|leaf| (0, leaf, 1)).collect();
    let star = Weighted::new(vec![1; count as usize], 1, &leaves);
    let part = split(&star, 4, &vec![0; count as usize]);
    assert!(heaviest(&star, &part, 4) <= allowed(&star, 4));
}
