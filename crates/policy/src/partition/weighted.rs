//! Undirected graphs with weights.

/// Vertices have numbers from 0 on. Of two vertices there is at most one edge, and none of a vertex
/// to itself.
#[derive(Clone, Debug)]
pub struct Weighted {
    /// By vertex: its weight.
    weights: Vec<u64>,
    /// By vertex: what it costs that it leaves the part it was in before.
    stays: Vec<u64>,
    /// By vertex: where its neighbours begin, and at last where they all end.
    first: Vec<usize>,
    /// Neighbours with the weights of their edges.
    neighbours: Vec<(u32, u64)>,
}

impl Weighted {
    /// A graph of vertices with these weights, each of which costs `stay` to move. Edges between the
    /// same two are one; those without weight, and loops, are left out.
    ///
    /// # Panics
    /// If an edge names a vertex that there is not.
    pub fn new(weights: Vec<u64>, stay: u64, edges: &[(u32, u32, u64)]) -> Weighted {
        let stays = vec![stay; weights.len()];
        Weighted::with_stays(weights, stays, edges)
    }

    pub(super) fn with_stays(weights: Vec<u64>, stays: Vec<u64>, edges: &[(u32, u32, u64)]) -> Weighted {
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
        Weighted { weights, stays, first, neighbours }
    }

    /// How many vertices there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// A vertex's weight.
    pub fn weight(&self, vertex: usize) -> u64 {
        self.weights[vertex]
    }

    /// The weight of all vertices.
    pub fn total(&self) -> u64 {
        self.weights.iter().sum()
    }

    /// The heaviest vertex's weight.
    pub(super) fn heaviest(&self) -> u64 {
        self.weights.iter().copied().max().unwrap_or(0)
    }

    /// What it costs that a vertex leaves the part it was in before.
    pub(super) fn stay(&self, vertex: usize) -> u64 {
        self.stays[vertex]
    }

    /// A vertex's neighbours, by number, with the weights of their edges.
    pub fn neighbours(&self, vertex: usize) -> &[(u32, u64)] {
        &self.neighbours[self.first[vertex]..self.first[vertex + 1]]
    }

    /// Every edge, once.
    pub(super) fn edges(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        (0..self.len()).flat_map(move |vertex| {
            let later = move |(to, _): &&(u32, u64)| *to as usize > vertex;
            self.neighbours(vertex)
                .iter()
                .filter(later)
                .map(move |(to, weight)| (vertex as u32, *to, *weight))
        })
    }

    /// The weight of the edges between parts, where `part` says by vertex which it is in.
    pub fn cut(&self, part: &[u32]) -> u64 {
        let crossing = |(from, to, _): &(u32, u32, u64)| part[*from as usize] != part[*to as usize];
        self.edges().filter(crossing).map(|(_, _, weight)| weight).sum()
    }

    /// By part: the weight of its vertices.
    pub fn loads(&self, part: &[u32], parts: usize) -> Vec<u64> {
        let mut loads = vec![0; parts];
        for (weight, part) in self.weights.iter().zip(part) {
            loads[*part as usize] += weight;
        }
        loads
    }
}

/// Makes one of all edges to the same neighbour.
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
    fn edges_are_merged_and_loops_left_out() {
        let graph = Weighted::new(vec![1, 2, 3], 1, &[(0, 1, 4), (1, 0, 5), (2, 2, 9), (1, 2, 0), (2, 0, 1)]);
        assert_eq!(graph.neighbours(0), [(1, 9), (2, 1)]);
        assert_eq!(graph.neighbours(1), [(0, 9)]);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1, 9), (0, 2, 1)]);
        assert_eq!((graph.cut(&[0, 1, 0]), graph.cut(&[0, 0, 1])), (9, 1));
        assert_eq!(graph.loads(&[1, 1, 0], 2), [3, 3]);
    }
}
