//! Strongly connected components (Tarjan, 1972), without recursion.

/// The component number of each of `count` nodes. Numbers follow the edges: an edge leads to the same number or a
/// greater one.
pub(super) fn components(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut search = Search::new(count, edges);
    for node in 0..count {
        if search.index[node] == UNSEEN {
            search.from(node);
        }
    }
    // Tarjan's algorithm finds a component after all components that it reaches.
    let found = search.found;
    search.component.into_iter().map(|number| found - 1 - number).collect()
}

const UNSEEN: usize = usize::MAX;

struct Search {
    next: Vec<Vec<usize>>,
    index: Vec<usize>,
    low: Vec<usize>,
    component: Vec<usize>,
    open: Vec<usize>,
    seen: usize,
    found: usize,
}

impl Search {
    fn new(count: usize, edges: &[(usize, usize)]) -> Search {
        let mut next = vec![Vec::new(); count];
        edges.iter().for_each(|(from, to)| next[*from].push(*to));
        let (index, low, component) = (vec![UNSEEN; count], vec![0; count], vec![UNSEEN; count]);
        Search { next, index, low, component, open: Vec::new(), seen: 0, found: 0 }
    }

    fn enter(&mut self, node: usize) {
        self.index[node] = self.seen;
        self.low[node] = self.seen;
        self.seen += 1;
        self.open.push(node);
    }

    fn from(&mut self, root: usize) {
        self.enter(root);
        // The current path, each node with the number of edges done.
        let mut path = vec![(root, 0)];
        while let Some((node, edge)) = path.last_mut() {
            let (node, place) = (*node, *edge);
            *edge += 1;
            match self.next[node].get(place).copied() {
                Some(next) if self.index[next] == UNSEEN => {
                    self.enter(next);
                    path.push((next, 0));
                }
                Some(next) if self.component[next] == UNSEEN => {
                    self.low[node] = self.low[node].min(self.index[next]);
                }
                Some(_) => {}
                None => {
                    path.pop();
                    self.leave(node, path.last().map(|(before, _)| *before));
                }
            }
        }
    }

    fn leave(&mut self, node: usize, before: Option<usize>) {
        if let Some(before) = before {
            self.low[before] = self.low[before].min(self.low[node]);
        }
        if self.low[node] != self.index[node] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.component[member] = self.found;
            if member == node {
                break;
            }
        }
        self.found += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_numbers_follow_the_edges() {
        let found = components(5, &[(3, 1), (1, 2), (2, 1), (2, 0), (4, 0)]);
        assert_eq!(found[1], found[2]);
        assert!(found[3] < found[1] && found[1] < found[0] && found[4] < found[0]);
    }

    #[test]
    fn long_chains_use_no_recursion() {
        let edges: Vec<(usize, usize)> = (0..200_000).map(|node| (node, node + 1)).collect();
        let found = components(200_001, &edges);
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
