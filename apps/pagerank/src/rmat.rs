//! Random graphs by recursive subdivision (R-MAT).

use crate::edges::{CHUNK, Edge, Edges};
use crate::graph::{Graph, Ids};
use crate::memory::{Budget, Estimate};
use crate::{Error, Result};
use thalweg::Loop;

/// Each level of subdivision chooses a quarter of the adjacency matrix with the probabilities 0.57, 0.19, 0.19 and 0.05
/// (Graph500). These are their sums, as multiples of 2^-32: the number of those that a random number reaches is the
/// quarter.
const BORDERS: [u32; 3] = [2_448_131_359, 3_264_175_145, 4_080_218_931];

/// A random graph whose numbers of links are distributed as unevenly as those of the web (Chakrabarti, Zhan and
/// Faloutsos, *R-MAT: a recursive model for graph mining*, 2004), with the parameters of Graph500. Pages are not
/// permuted: low numbers have most links. Links that are drawn twice exist once.
///
/// The graph is a function of scale, edge factor and seed.
///
/// ```
/// let graph = thalweg_pagerank::Rmat::new(8).edge_factor(4).graph(|_| {})?;
/// assert_eq!(graph.pages(), 256);
/// assert!(graph.links().len() > 500 && graph.links().len() <= 1024);
/// # Ok::<(), thalweg_pagerank::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rmat {
    scale: u32,
    edge_factor: u32,
    seed: u64,
    memory: u64,
    threads: Option<usize>,
}

impl Rmat {
    /// A graph of `2^scale` pages with 16 links each.
    pub fn new(scale: u32) -> Rmat {
        Rmat { scale, edge_factor: 16, seed: 1, memory: u64::MAX, threads: None }
    }

    /// The links that are drawn, divided by the number of pages.
    pub fn edge_factor(self, edge_factor: u32) -> Rmat {
        Rmat { edge_factor, ..self }
    }

    /// The seed of the random numbers.
    pub fn seed(self, seed: u64) -> Rmat {
        Rmat { seed, ..self }
    }

    /// The memory that the graph and its ranking may use, in bytes (default: no limit).
    pub fn memory(self, bytes: u64) -> Rmat {
        Rmat { memory: bytes, ..self }
    }

    /// The largest number of threads (default: all that the process may run at once).
    pub fn threads(self, threads: usize) -> Rmat {
        Rmat { threads: Some(threads), ..self }
    }

    /// Makes the graph. `announce` gets its size before.
    ///
    /// # Errors
    /// The scale is not from 1 to 31, or the graph needs more memory than allowed.
    pub fn graph(&self, announce: impl FnOnce(&Estimate)) -> Result<Graph> {
        if !(1..=31).contains(&self.scale) {
            return Err(Error::Setting(format!(
                "the scale must be from 1 to 31, it is {}\nhelp: a graph of scale 20 has about a million pages",
                self.scale
            )));
        }
        let pages = 1u64 << self.scale;
        let links = pages * u64::from(self.edge_factor);
        let name = format!("an R-MAT graph of scale {}", self.scale);
        let budget = Budget::new(&name, self.memory, false, false);
        announce(&budget.estimate(Some(links), Some(pages), true));
        budget.check(links, Some(pages))?;

        let loops = self.threads.map_or(Loop::new(), |threads| Loop::new().members(threads));
        let edges = self.edges(links, budget, &loops);
        Graph::new(Ids::Numbered { first: 0 }, pages as usize, edges, &loops)
    }

    fn edges(&self, links: u64, budget: Budget, loops: &Loop) -> Edges {
        let mut edges = Edges::new(false, budget);
        let mut rest = links;
        while rest > 0 {
            let length = rest.min(CHUNK as u64);
            edges.chunks.push(vec![Edge::default(); length as usize]);
            rest -= length;
        }
        loops.for_chunks(&mut edges.chunks, 1, |first, chunks| {
            let first = first as u64 * CHUNK as u64;
            chunks.iter_mut().flatten().zip(first..).for_each(|(edge, number)| *edge = self.edge(number));
        });
        edges
    }

    /// The link with this number. Each has random numbers of its own, so threads can draw them in any order.
    fn edge(&self, number: u64) -> Edge {
        let mut random = Random(mix(self.seed) ^ mix(!number));
        let (mut edge, mut bits) = (Edge::default(), 0u64);
        for level in 0..self.scale {
            bits = if level % 2 == 0 { random.next() } else { bits >> 32 };
            // Without branches, which no processor could predict.
            let quarter = BORDERS.iter().map(|border| u32::from(bits as u32 >= *border)).sum::<u32>();
            edge.source = edge.source << 1 | quarter >> 1;
            edge.target = edge.target << 1 | quarter & 1;
        }
        edge
    }
}

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
}

fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_are_chosen_as_often_as_declared() {
        let rmat = Rmat::new(1).seed(3);
        let mut counts = [0; 4];
        for number in 0..100_000 {
            let edge = rmat.edge(number);
            counts[(edge.source * 2 + edge.target) as usize] += 1;
        }
        for (count, share) in counts.iter().zip([0.57, 0.19, 0.19, 0.05]) {
            // Five standard deviations are 0.008 at most.
            assert!((f64::from(*count) / 1e5 - share).abs() < 0.008, "{counts:?}");
        }
    }
}
