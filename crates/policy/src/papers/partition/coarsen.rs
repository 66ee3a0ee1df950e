//! Coarsening: pairs of vertices that are joined by heavy edges become one vertex.

use super::weighted::Weighted;
use std::cmp::Reverse;

const NONE: u32 = u32::MAX;

/// A coarser graph.
#[derive(Debug)]
pub(super) struct Coarse {
    pub(super) graph: Weighted,
    /// By vertex of the finer graph: its vertex in the coarser graph.
    pub(super) of: Vec<u32>,
}

impl Coarse {
    /// Merges pairs of vertices: first the ends of the heaviest edges, then remaining vertices with the same
    /// nearest neighbour, such as the leaves of a star. A pair weighs at most `max_weight`. If `within` is given,
    /// both vertices of a pair are in the same of its parts.
    pub(super) fn new(graph: &Weighted, max_weight: u64, within: Option<&[u32]>) -> Coarse {
        let fits = |one: usize, other: usize| {
            graph.weight(one) + graph.weight(other) <= max_weight
                && within.is_none_or(|part| part[one] == part[other])
        };
        let mut edges: Vec<(u32, u32, u64)> = graph.edges().collect();
        let together = |from: u32, to: u32| graph.weight(from as usize) + graph.weight(to as usize);
        // Of equal edges, the one between the lightest vertices is first, which keeps weights even.
        edges.sort_unstable_by_key(|&(from, to, weight)| (Reverse(weight), together(from, to), from, to));
        let mut partner = vec![NONE; graph.len()];
        for (from, to, _) in edges {
            let (one, other) = (from as usize, to as usize);
            if partner[one] == NONE && partner[other] == NONE && fits(one, other) {
                (partner[one], partner[other]) = (to, from);
            }
        }
        pair_siblings(graph, &mut partner, fits);
        contract(graph, &partner)
    }
}

/// Pairs the remaining vertices that have the same nearest neighbour, or have no neighbour.
fn pair_siblings(graph: &Weighted, partner: &mut [u32], fits: impl Fn(usize, usize) -> bool) {
    // By nearest neighbour, with one more entry for none: the vertex that waits for a sibling.
    let mut waiting = vec![NONE; graph.len() + 1];
    for vertex in 0..graph.len() {
        if partner[vertex] != NONE {
            continue;
        }
        let nearest = graph.neighbours(vertex).iter().max_by_key(|(to, weight)| (*weight, !*to));
        let slot = &mut waiting[nearest.map_or(graph.len(), |(to, _)| *to as usize)];
        let other = std::mem::replace(slot, vertex as u32);
        if other != NONE && fits(vertex, other as usize) {
            (partner[vertex], partner[other as usize]) = (other, vertex as u32);
            *slot = NONE;
        }
    }
}

fn contract(graph: &Weighted, partner: &[u32]) -> Coarse {
    let mut of = vec![NONE; graph.len()];
    let (mut weights, mut move_costs) = (Vec::new(), Vec::new());
    for vertex in 0..graph.len() {
        if of[vertex] != NONE {
            continue;
        }
        let number = weights.len() as u32;
        of[vertex] = number;
        weights.push(graph.weight(vertex));
        move_costs.push(graph.move_cost(vertex));
        if let Some(other) = Some(partner[vertex]).filter(|other| *other != NONE) {
            let other = other as usize;
            of[other] = number;
            weights[number as usize] += graph.weight(other);
            move_costs[number as usize] += graph.move_cost(other);
        }
    }
    let edges: Vec<(u32, u32, u64)> =
        graph.edges().map(|(from, to, weight)| (of[from as usize], of[to as usize], weight)).collect();
    Coarse { graph: Weighted::with_move_costs(weights, move_costs, &edges), of }
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
    fn heavy_edges_are_contracted_first_and_weights_are_kept() {
        let chain = [(0, 1, 1), (1, 2, 9), (2, 3, 1), (3, 4, 9), (4, 5, 1)];
        let graph = Weighted::new(vec![1; 6], 1, &chain);
        let coarse = Coarse::new(&graph, 10, None);
        assert!(coarse.of[1] == coarse.of[2] && coarse.of[3] == coarse.of[4]);
        let move_costs: u64 = (0..coarse.graph.len()).map(|vertex| coarse.graph.move_cost(vertex)).sum();
        assert_eq!((coarse.graph.total(), move_costs), (6, 6));
    }

    #[test]
    fn pairs_respect_parts_and_the_maximum_weight() {
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
