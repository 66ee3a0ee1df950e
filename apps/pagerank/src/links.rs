//! Links by their targets, in compressed rows.

use crate::edges::Edges;
use thalweg::Loop;

/// The pages of a block in which rows are sorted.
const SORTED: usize = 4096;

/// The links into each page, ordered by their sources, each source once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    /// The links into page `p` have the numbers `offsets[p]..offsets[p + 1]`.
    pub offsets: Vec<u64>,
    /// The source of each link.
    pub sources: Vec<u32>,
    /// The weight of each link, positive and finite. `None` if all are 1.
    pub weights: Option<Vec<f64>>,
}

impl Links {
    /// The links of `pages` pages. Of equal links without weights one is kept; the weights of equal links are added.
    pub(crate) fn new(pages: usize, edges: Edges, loops: &Loop) -> Links {
        let mut links = Links::by_target(pages, edges);
        match links.weights.take() {
            None => links.sort(loops),
            Some(weights) => links.sort_weighted(weights),
        }
        links.remove_duplicates();
        links
    }

    /// The number of links.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether there are no links.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The pages that link to a page, in order.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn sources_of(&self, page: usize) -> &[u32] {
        &self.sources[self.offsets[page] as usize..self.offsets[page + 1] as usize]
    }

    /// Distributes the links to the rows of their targets, and frees each chunk after that.
    fn by_target(pages: usize, edges: Edges) -> Links {
        // `offsets[target + 1]` is the place of the next link of `target`. When all links have their places, it is the
        // begin of the next row.
        let mut offsets = vec![0u64; pages + 2];
        for edge in edges.chunks.iter().flatten() {
            offsets[edge.target as usize + 2] += 1;
        }
        let mut sum = 0;
        for offset in &mut offsets {
            sum += *offset;
            *offset = sum;
        }
        let mut sources = vec![0u32; edges.len()];
        let mut weights = edges.weights.is_some().then(|| vec![0f64; edges.len()]);
        let mut given = edges.weights.into_iter().flatten();
        for chunk in edges.chunks {
            let chunk_weights = given.next();
            for (i, edge) in chunk.iter().enumerate() {
                let next = &mut offsets[edge.target as usize + 1];
                let at = *next as usize;
                *next += 1;
                sources[at] = edge.source;
                if let (Some(to), Some(from)) = (&mut weights, &chunk_weights) {
                    to[at] = from[i];
                }
            }
        }
        offsets.pop();
        Links { offsets, sources, weights }
    }

    /// Sorts each row by source.
    fn sort(&mut self, loops: &Loop) {
        let pages = self.offsets.len() - 1;
        let (mut rest, mut blocks) = (&mut self.sources[..], Vec::new());
        for first in (0..pages).step_by(SORTED) {
            let offsets = &self.offsets[first..=pages.min(first + SORTED)];
            let (block, others) = rest.split_at_mut(length(offsets));
            blocks.push((offsets, block));
            rest = others;
        }
        loops.for_chunks(&mut blocks, 1, |_, blocks| {
            for (offsets, block) in blocks {
                let mut rest = &mut block[..];
                for row in offsets.windows(2) {
                    let (row, others) = rest.split_at_mut(length(row));
                    row.sort_unstable();
                    rest = others;
                }
            }
        });
    }

    /// Sorts each row by source, equal sources in the order of the input.
    fn sort_weighted(&mut self, mut weights: Vec<f64>) {
        let mut pairs = Vec::new();
        for row in self.offsets.windows(2) {
            let row = row[0] as usize..row[1] as usize;
            pairs.clear();
            pairs.extend(self.sources[row.clone()].iter().copied().zip(weights[row.clone()].iter().copied()));
            pairs.sort_by_key(|(source, _)| *source);
            for (at, (source, weight)) in row.zip(&pairs) {
                (self.sources[at], weights[at]) = (*source, *weight);
            }
        }
        self.weights = Some(weights);
    }

    /// Merges equal links of the sorted rows, and moves the rows together.
    fn remove_duplicates(&mut self) {
        let (mut kept, mut begin) = (0, 0);
        for page in 0..self.offsets.len() - 1 {
            let end = self.offsets[page + 1] as usize;
            let first = kept;
            for at in begin..end {
                if kept > first && self.sources[kept - 1] == self.sources[at] {
                    if let Some(weights) = &mut self.weights {
                        weights[kept - 1] += weights[at];
                    }
                } else {
                    self.sources[kept] = self.sources[at];
                    if let Some(weights) = &mut self.weights {
                        weights[kept] = weights[at];
                    }
                    kept += 1;
                }
            }
            begin = end;
            self.offsets[page + 1] = kept as u64;
        }
        self.sources.truncate(kept);
        if let Some(weights) = &mut self.weights {
            weights.truncate(kept);
        }
    }
}

/// The number of links in the rows that these offsets delimit.
fn length(offsets: &[u64]) -> usize {
    match offsets {
        [first, .., last] => (last - first) as usize,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edge;
    use crate::memory::Budget;

    fn links(pages: usize, edges: &[(u32, u32, f64)], weighted: bool) -> Links {
        let mut list = Edges::new(weighted, Budget::new("test", u64::MAX, weighted, false));
        for (source, target, weight) in edges {
            list.push(Edge { source: *source, target: *target }, *weight, 0).unwrap();
        }
        Links::new(pages, list, &Loop::new().members(1))
    }

    #[test]
    fn rows_are_sorted_and_hold_each_source_once() {
        let edges = [(2, 0, 1.0), (0, 0, 1.0), (2, 0, 1.0), (1, 3, 1.0), (0, 3, 1.0), (1, 3, 1.0)];
        let links = links(4, &edges, false);
        assert_eq!(links.offsets, [0, 2, 2, 2, 4]);
        assert_eq!(links.sources, [0, 2, 0, 1]);
        assert_eq!(links.sources_of(3), [0, 1]);
    }

    #[test]
    fn weights_of_equal_links_are_added() {
        let links = links(2, &[(1, 0, 0.5), (0, 0, 4.0), (1, 0, 0.25), (0, 1, 3.0)], true);
        assert_eq!((links.offsets, links.sources), (vec![0, 2, 3], vec![0, 1, 0]));
        assert_eq!(links.weights.unwrap(), [4.0, 0.75, 3.0]);
    }

    #[test]
    fn graphs_may_have_no_pages_or_no_links() {
        assert_eq!(links(0, &[], false).offsets, [0]);
        assert_eq!(links(3, &[], true).offsets, [0; 4]);
        assert!(links(3, &[], true).is_empty());
    }
}
