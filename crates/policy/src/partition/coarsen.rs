//! Graphs of fewer vertices that stand for larger ones: pairs that have much to do with each other
//! become one.

use super::weighted::Weighted;
use std::cmp::Reverse;

const NOBODY: u32 = u32::MAX;

/// A coarser graph.
#[derive(Debug)]
pub(super) struct Coarse {
    pub(super) graph: Weighted,
    /// By vertex of the finer graph: the vertex that stands for it.
    pub(super) of: Vec<u32>,
}

impl Coarse {
    /// The graph with its vertices paired: the ends of the heaviest edges first, and those left over
    /// with one left over by the same neighbour, as the leaves of a star are. A pair weighs `most` at
    /// most. Where `within` is given, pairs are of one of its parts.
    pub(super) fn new(graph: &Weighted, most: u64, within: Option<&[u32]>) -> Coarse {
        let fits = |one: usize, other: usize| {
            graph.weight(one) + graph.weight(other) <= most
                && within.is_none_or(|part| part[one] == part[other])
        };
        let mut edges: Vec<(u32, u32, u64)> = graph.edges().collect();
        let together = |from: u32, to: u32| graph.weight(from as usize) + graph.weight(to as usize);
        // Of equal edges, the one between the lightest: weights so stay even.
        edges.sort_unstable_by_key(|&(from, to, weight)| (Reverse(weight), together(from, to), from, to));
        let mut partner = vec![NOBODY; graph.len()];
        for (from, to, _) in edges {
            let (one, other) = (from as usize, to as usize);
            if partner[one] == NOBODY && partner[other] == NOBODY && fits(one, other) {
                (partner[one], partner[other]) = (to, from);
            }
        }
        pair_siblings(graph, &mut partner, fits);
        contract(graph, &partner)
    }
}

/// Pairs vertices that have been left over with others that have the same nearest neighbour, or, like
/// them, none.
fn pair_siblings(graph: &Weighted, partner: &mut [u32], fits: impl Fn(usize, usize) -> bool) {
    // By nearest neighbour, none being the last: who waits for a sibling.
    let mut waiting = vec![NOBODY; graph.len() + 1];
    for vertex in 0..graph.len() {
        if partner[vertex] != NOBODY {
            continue;
        }
        let nearest = graph.neighbours(vertex).iter().max_by_key(|(to, weight)| (*weight, !*to));
        let place = &mut waiting[nearest.map_or(graph.len(), |(to, _)| *to as usize)];
        let other = std::mem::replace(place, vertex as u32);
        if other != NOBODY && fits(vertex, other as usize) {
            (partner[vertex], partner[other as usize]) = (other, vertex as u32);
            *place = NOBODY;
        }
    }
}

fn contract(graph: &Weighted, partner: &[u32]) -> Coarse {
    let mut of = vec![NOBODY; graph.len()];
    let (mut weights, mut stays) = (Vec::new(), Vec::new());
    for vertex in 0..graph.len() {
        if of[vertex] != NOBODY {
            continue;
        }
        let number = weights.len() as u32;
        of[vertex] = number;
        weights.push(graph.weight(vertex));
        stays.push(graph.stay(vertex));
        if let Some(other) = Some(partner[vertex]).filter(|other| *other != NOBODY) {
            let other = other as usize;
            of[other] = number;
            weights[number as usize] += graph.weight(other);
            stays[number as usize] += graph.stay(other);
        }
    }
    let edges: Vec<(u32, u32, u64)> =
        graph.edges().map(|(from, to, weight)| (of[from as usize], of[to as usize], weight)).collect();
    Coarse { graph: Weighted::with_stays(weights, stays, &edges), of }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_shrinks_by_half() {
        let edges: Vec<(u32, u32, u64)> = (1..101).map(|leaf| (0, leaf, 1)).collect();
        let coarse = Coarse::new(&Weighted::new(vec![1; 101], 1, &edges), 10, None);
        assert!(coarse.graph.len() <= 52, "{}", coarse.graph.len());
        assert_eq!(coarse.graph.total(), 101);
    }

    #[test]
    fn heavy_edges_disappear_first_and_weights_are_kept() {
        let chain = [(0, 1, 1), (1, 2, 9), (2, 3, 1), (3, 4, 9), (4, 5, 1)];
        let graph = Weighted::new(vec![1; 6], 1, &chain);
        let coarse = Coarse::new(&graph, 10, None);
        assert!(coarse.of[1] == coarse.of[2] && coarse.of[3] == coarse.of[4]);
        let of: u64 = (0..coarse.graph.len()).map(|vertex| coarse.graph.stay(vertex)).sum();
        assert_eq!((coarse.graph.total(), of), (6, 6));
    }

    #[test]
    fn pairs_keep_to_their_part_and_their_weight() {
        let edges: Vec<(u32, u32, u64)> = (1..50).map(|at| (at - 1, at, 1 + u64::from(at % 3))).collect();
        let weights: Vec<u64> = (0..50).map(|at| 1 + at % 5).collect();
        let graph = Weighted::new(weights, 1, &edges);
        let part: Vec<u32> = (0..50).map(|at| at / 7 % 2).collect();
        let coarse = Coarse::new(&graph, 7, Some(&part));
        assert!((0..coarse.graph.len()).all(|vertex| coarse.graph.weight(vertex) <= 7));
        for one in 0..50 {
            for other in 0..50 {
                assert!(coarse.of[one] != coarse.of[other] || part[one] == part[other]);
            }
        }
    }
}
