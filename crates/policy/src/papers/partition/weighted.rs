//! Undirected graphs with weighted vertices and edges.

/// An undirected graph with weighted vertices and edges. Vertices are numbered from 0. There are no parallel edges
/// and no loops.
#[derive(Clone, Debug)]
pub struct Weighted {
    /// By vertex: its weight.
    weights: Vec<u64>,
    /// By vertex: the cost of moving it out of its previous part.
    move_costs: Vec<u64>,
    /// By vertex: the index of its first neighbour; one more entry holds the number of all neighbours.
    first: Vec<usize>,
    /// The neighbours of all vertices, with the weights of the edges.
    neighbours: Vec<(u32, u64)>,
}

impl Weighted {
    /// A graph of vertices with these weights, each of which costs `move_cost` to move. Parallel edges are merged;
    /// edges of weight 0 and loops are left out.
    ///
    /// # Panics
    /// If an edge names a vertex that does not exist.
    pub fn new(weights: Vec<u64>, move_cost: u64, edges: &[(u32, u32, u64)]) -> Weighted {
        let move_costs = vec![move_cost; weights.len()];
        Weighted::with_move_costs(weights, move_costs, edges)
    }

    pub(super) fn with_move_costs(
        weights: Vec<u64>,
        move_costs: Vec<u64>,
        edges: &[(u32, u32, u64)],
    ) -> Weighted {
        let real = || edges.iter().filter(|(from, to, weight)| from != to && *weight > 0);
        let mut first = vec![0; weights.len() + 1];
        for &(from, to, _) in real() {
            first[from as usize + 1] += 1;
            first[to as usize + 1] += 1;
        }
        for vertex in 0..weights.len() {
            first[vertex + 1] += first[vertex];
        }
        let (mut at, mut neighbours) = (first.clone(), vec![(0, 0); first[weights.len()]]);
        for &(from, to, weight) in real() {
            for (one, other) in [(from, to), (to, from)] {
                neighbours[at[one as usize]] = (other, weight);
                at[one as usize] += 1;
            }
        }
        merge(&mut first, &mut neighbours);
        Weighted { weights, move_costs, first, neighbours }
    }

    /// The number of vertices.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether the graph has no vertices.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The weight of a vertex.
    pub fn weight(&self, vertex: usize) -> u64 {
        self.weights[vertex]
    }

    /// The total weight of the vertices.
    pub fn total(&self) -> u64 {
        self.weights.iter().sum()
    }

    /// The weight of the heaviest vertex.
    pub(super) fn heaviest(&self) -> u64 {
        self.weights.iter().copied().max().unwrap_or(0)
    }

    /// The cost of moving a vertex out of its previous part.
    pub(super) fn move_cost(&self, vertex: usize) -> u64 {
        self.move_costs[vertex]
    }

    /// The neighbours of a vertex, in ascending order, with the weights of the edges.
    pub fn neighbours(&self, vertex: usize) -> &[(u32, u64)] {
        &self.neighbours[self.first[vertex]..self.first[vertex + 1]]
    }

    /// The edges, each once.
    pub(super) fn edges(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        (0..self.len()).flat_map(move |vertex| {
            let later = move |(to, _): &&(u32, u64)| *to as usize > vertex;
            self.neighbours(vertex)
                .iter()
                .filter(later)
                .map(move |(to, weight)| (vertex as u32, *to, *weight))
        })
    }

    /// The weight of the edges between different parts; `part` holds the part of each vertex.
    pub fn cut(&self, part: &[u32]) -> u64 {
        let crossing = |(from, to, _): &(u32, u32, u64)| part[*from as usize] != part[*to as usize];
        self.edges().filter(crossing).map(|(_, _, weight)| weight).sum()
    }

    /// By part: the total weight of its vertices.
    pub fn loads(&self, part: &[u32], parts: usize) -> Vec<u64> {
        let mut loads = vec![0; parts];
        for (weight, part) in self.weights.iter().zip(part) {
            loads[*part as usize] += weight;
        }
        loads
    }
}

/// Merges the edges of each vertex to the same neighbour.
fn merge(first: &mut [usize], neighbours: &mut Vec<(u32, u64)>) {
    let (mut kept, mut begin) = (0, 0);
    for vertex in 0..first.len() - 1 {
        let (end, start) = (first[vertex + 1], kept);
        neighbours[begin..end].sort_unstable();
        for at in begin..end {
            let (to, weight) = neighbours[at];
            if kept > start && neighbours[kept - 1].0 == to {
                neighbours[kept - 1].1 += weight;
            } else {
                neighbours[kept] = (to, weight);
                kept += 1;
            }
        }
        begin = end;
        first[vertex + 1] = kept;
    }
    neighbours.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_edges_are_merged_and_loops_left_out() {
        let graph = Weighted::new(vec![1, 2, 3], 1, &[(0, 1, 4), (1, 0, 5), (2, 2, 9), (1, 2, 0), (2, 0, 1)]);
        assert_eq!(graph.neighbours(0), [(1, 9), (2, 1)]);
        assert_eq!(graph.neighbours(1), [(0, 9)]);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1, 9), (0, 2, 1)]);
        assert_eq!((graph.cut(&[0, 1, 0]), graph.cut(&[0, 0, 1])), (9, 1));
        assert_eq!(graph.loads(&[1, 1, 0], 2), [3, 3]);
    }
}
