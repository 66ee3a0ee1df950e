//! Which blocks have links into which.

use std::ops::Range;

use crate::graph::Graph;
use thalweg::Loop;

/// Runs of links that are sorted at once.
const MANY: usize = if cfg!(test) { 3 } else { 1 << 16 };

/// The links between blocks of pages.
pub(crate) struct Neighbours {
    /// By block: the blocks that have links into it, in order, with the numbers of these links.
    pub sources: Vec<Vec<(u32, u64)>>,
}

impl Neighbours {
    pub fn new(graph: &Graph, pages_per_block: usize) -> Neighbours {
        let blocks = graph.pages().div_ceil(pages_per_block);
        let pages = |block: usize| -> Range<usize> {
            block * pages_per_block..graph.pages().min((block + 1) * pages_per_block)
        };
        let one = |block| sources(graph, pages(block), pages_per_block);
        Neighbours { sources: Loop::new().collect(blocks, one) }
    }

    /// By block: the blocks that have links into it or to which it has links, in order.
    pub fn both(&self) -> Vec<Vec<u32>> {
        let mut both: Vec<Vec<u32>> =
            self.sources.iter().map(|sources| sources.iter().map(|(source, _)| *source).collect()).collect();
        for (block, sources) in self.sources.iter().enumerate() {
            sources.iter().for_each(|(source, _)| both[*source as usize].push(block as u32));
        }
        for list in &mut both {
            list.sort_unstable();
            list.dedup();
        }
        both
    }
}

/// The blocks that have links into these pages. Sorts many links at once, but not all, so memory is in proportion to the blocks.
fn sources(graph: &Graph, pages: Range<usize>, pages_per_block: usize) -> Vec<(u32, u64)> {
    let mut blocks: Vec<(u32, u64)> = Vec::new();
    let mut most = MANY;
    for source in pages.flat_map(|page| graph.links().sources_of(page)) {
        let block = (*source as usize / pages_per_block) as u32;
        match blocks.last_mut() {
            Some((last, links)) if *last == block => *links += 1,
            _ => blocks.push((block, 1)),
        }
        if blocks.len() == most {
            merge(&mut blocks);
            most = MANY.max(2 * blocks.len());
        }
    }
    merge(&mut blocks);
    blocks
}

/// Orders blocks, and adds the links of equal ones.
fn merge(blocks: &mut Vec<(u32, u64)>) {
    blocks.sort_unstable_by_key(|(block, _)| *block);
    blocks.dedup_by(|(block, links), (kept, sum)| {
        let is_same = block == kept;
        *sum += if is_same { *links } else { 0 };
        is_same
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;

    #[test]
    fn links_are_counted_by_blocks() {
        // Pages 0 to 5, in blocks of 2: 0 and 1 link to block 1, and page 5 to page 4, twice from different pages.
        let text = "0 2\n1 2\n1 3\n5 4\n4 4\n";
        // (Links are merged in threes.)
        let graph = Input::new("test").read(text.as_bytes(), None, |_| {}).unwrap();
        let neighbours = Neighbours::new(&graph, 2);
        assert_eq!(neighbours.sources, [vec![], vec![(0, 3)], vec![(2, 2)]]);
        assert_eq!(neighbours.both(), [vec![1], vec![0], vec![2]]);
    }
}
