//! Task graphs of several forms. The data of each is divided among the workers of a machine, so a graph is made for a
//! number of workers.

use super::{TaskGraph, TaskNode};
use thalweg_policy::random::XorShift;
use thalweg_policy::tasks::{Colour, stretch};

/// Accesses of a block to data of its own, in the shapes that the paper measures: most of their time is memory's.
const BLOCK: u64 = 8;

/// The colours of `blocks` blocks: each worker has initialised a stretch of them.
fn colours(blocks: usize, workers: usize) -> Vec<Colour> {
    let of_worker = |worker| {
        let stretch = stretch(blocks as u64, workers, worker);
        stretch.map(move |_| Colour(worker as u32))
    };
    (0..workers).flat_map(of_worker).collect()
}

/// Ends a graph with a sink that needs these nodes and has no accesses.
fn with_sink(mut graph: TaskGraph, needs: &[u32]) -> TaskGraph {
    graph.add(TaskNode { work: 1, accesses: 0, reads: 0, data: Colour(0) }, needs);
    graph
}

/// A line of nodes with this work, all with data of worker 0.
pub fn chain(nodes: usize, work: u64) -> TaskGraph {
    let mut graph = TaskGraph::default();
    let node = TaskNode { work, accesses: 1, reads: 1, data: Colour(0) };
    let mut before = Vec::new();
    for _ in 0..nodes {
        before = vec![graph.add(node, &before)];
    }
    graph
}

/// A sink that needs `width` nodes with this work, which need nothing.
pub fn fan(width: usize, work: u64, workers: usize) -> TaskGraph {
    let mut graph = TaskGraph::default();
    let data = colours(width, workers);
    let leaves: Vec<u32> =
        data.into_iter().map(|data| graph.add(TaskNode { work, accesses: 1, reads: 1, data }, &[])).collect();
    with_sink(graph, &leaves)
}

/// Layers of `width` nodes with this work, each of which needs `degree` random nodes of the layer before.
pub fn layers(width: usize, depth: usize, degree: usize, work: u64, workers: usize, seed: u64) -> TaskGraph {
    let (mut graph, mut random) = (TaskGraph::default(), XorShift::new(seed, 0));
    let data = colours(width, workers);
    let mut before: Vec<u32> = Vec::new();
    for _ in 0..depth {
        let layer = data.iter().map(|&data| {
            let mut needs = match before.len() {
                0 => Vec::new(),
                count => (0..degree).map(|_| before[below(&mut random, count)]).collect(),
            };
            needs.sort_unstable();
            needs.dedup();
            graph.add(TaskNode { work, accesses: 1, reads: 1, data }, &needs)
        });
        before = layer.collect();
    }
    with_sink(graph, &before)
}

/// Steps over the same blocks, each of which waits for all blocks of the step before, as for a sum over them: an iteration of
/// the conjugate gradient method. A block accesses its own data alone.
pub fn steps(blocks: usize, steps: usize, workers: usize) -> TaskGraph {
    let (mut graph, data) = (TaskGraph::default(), colours(blocks, workers));
    let mut before = Vec::new();
    for _ in 0..steps {
        let step = data
            .iter()
            .map(|&data| graph.add(TaskNode { work: 0, accesses: BLOCK, reads: 0, data }, &before));
        before = step.collect();
    }
    with_sink(graph, &before)
}

/// Any graph: up to `nodes` nodes with random predecessors, work and data. The sink needs some of them.
pub fn random(nodes: usize, workers: usize, seed: u64) -> TaskGraph {
    let (mut graph, mut random) = (TaskGraph::default(), XorShift::new(seed, 1));
    let nodes = 1 + below(&mut random, nodes);
    let most = 1 + below(&mut random, 12);
    for key in 0..nodes {
        // Some graphs have long paths, others are wide.
        let reach = if seed.is_multiple_of(2) { key } else { key.min(5) };
        let degree = if reach == 0 { 0 } else { below(&mut random, most) };
        let mut needs: Vec<u32> = (0..degree).map(|_| (key - 1 - below(&mut random, reach)) as u32).collect();
        needs.sort_unstable();
        needs.dedup();
        let data = Colour(below(&mut random, workers) as u32);
        graph.add(TaskNode { work: below(&mut random, 50) as u64, accesses: 1, reads: 1, data }, &needs);
    }
    graph
}

/// Iterations over a grid of blocks, each of which needs itself and its four neighbours of the iteration before: heat,
/// and with all eight neighbours life.
pub fn stencil(rows: usize, columns: usize, iterations: usize, workers: usize) -> TaskGraph {
    grid(rows, columns, iterations, workers, &[(0, 0), (-1, 0), (0, -1), (0, 1), (1, 0)])
}

/// [`stencil`] with other neighbours, as differences of row and column.
pub fn grid(
    rows: usize,
    columns: usize,
    iterations: usize,
    workers: usize,
    neighbours: &[(isize, isize)],
) -> TaskGraph {
    let (mut graph, data) = (TaskGraph::default(), colours(rows * columns, workers));
    let blocks = rows * columns;
    for iteration in 0..iterations {
        for (block, &data) in data.iter().enumerate() {
            let near = neighbours.iter().filter_map(|&(down, right)| {
                let row = (block / columns).checked_add_signed(down).filter(|&row| row < rows)?;
                let column =
                    (block % columns).checked_add_signed(right).filter(|&column| column < columns)?;
                Some(row * columns + column)
            });
            let before = |near| ((iteration - 1) * blocks + near) as u32;
            let needs: Vec<u32> = if iteration == 0 { Vec::new() } else { near.map(before).collect() };
            graph.add(TaskNode { work: 0, accesses: BLOCK, reads: 1, data }, &needs);
        }
    }
    let last: Vec<u32> = (0..blocks).map(|block| ((iterations - 1) * blocks + block) as u32).collect();
    with_sink(graph, &last)
}

/// One V-cycle of multigrid over a square of blocks with this side, a power of two: each coarser block needs four finer
/// ones, and on the way back each finer block needs itself and the coarser one.
///
/// # Panics
/// The side is not a power of two.
pub fn multigrid(side: usize, workers: usize) -> TaskGraph {
    assert!(side.is_power_of_two(), "a side of {side} blocks is not a power of two");
    let mut graph = TaskGraph::default();
    let data = colours(side * side, workers);
    // A block of a coarser level has the data of the first of its finest blocks.
    let data = |level: usize, block: usize| {
        let width = side >> level;
        data[((block / width) << level) * side + ((block % width) << level)]
    };
    let node = |data| TaskNode { work: 0, accesses: BLOCK, reads: 1, data };
    let mut down: Vec<Vec<u32>> =
        vec![(0..side * side).map(|block| graph.add(node(data(0, block)), &[])).collect()];
    for level in 1..=side.ilog2() as usize {
        let (width, finer) = (side >> level, &down[level - 1]);
        let coarse = (0..width * width).map(|block| {
            let corner = 4 * (block / width) * width + 2 * (block % width);
            let needs = [0, 1, 2 * width, 2 * width + 1].map(|other| finer[corner + other]);
            graph.add(node(data(level, block)), &needs)
        });
        let coarse = coarse.collect();
        down.push(coarse);
    }
    let mut up = down.pop().unwrap_or_default();
    for (level, before) in down.iter().enumerate().rev() {
        let width = side >> level;
        let finer = (0..width * width).map(|block| {
            let coarser = up[(block / width / 2) * (width / 2) + block % width / 2];
            graph.add(node(data(level, block)), &[before[block], coarser])
        });
        up = finer.collect();
    }
    with_sink(graph, &up)
}

/// A wavefront: each block needs the blocks above it, left of it, and both. With `cubic` the work of a block grows with its
/// row and column, as for a general cost of gaps (Smith-Waterman in n³).
pub fn wavefront(rows: usize, columns: usize, cubic: bool, workers: usize) -> TaskGraph {
    let (mut graph, data) = (TaskGraph::default(), colours(rows * columns, workers));
    for (block, &data) in data.iter().enumerate() {
        let (row, column) = (block / columns, block % columns);
        let mut needs = Vec::new();
        if row > 0 && column > 0 {
            needs.push((block - columns - 1) as u32);
        }
        if row > 0 {
            needs.push((block - columns) as u32);
        }
        if column > 0 {
            needs.push((block - 1) as u32);
        }
        let accesses = if cubic { 1 + (row + column) as u64 / 8 } else { BLOCK };
        graph.add(TaskNode { work: 500, accesses, reads: 1, data }, &needs);
    }
    graph
}

/// How the blocks of [`pages`] are linked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Links {
    /// The share of links to blocks nearby, from 0 to 1. The others are to random blocks, to those with low numbers
    /// more often.
    pub nearby: f64,
    /// The number of links of most blocks. Some have several times as many.
    pub usual: usize,
}

impl Links {
    /// A crawl in the order of its addresses: pages are linked within their site.
    pub const CRAWL: Links = Links { nearby: 0.95, usual: 6 };
    /// A social network: links go anywhere, and the degrees differ widely.
    pub const SOCIAL: Links = Links { nearby: 0.2, usual: 20 };
}

/// Iterations of PageRank over blocks of pages: a block needs the blocks of the iteration before that link to it, and its
/// work is in proportion to its links.
pub fn pages(blocks: usize, iterations: usize, links: Links, workers: usize, seed: u64) -> TaskGraph {
    let mut random = XorShift::new(seed, 2);
    let linked: Vec<Vec<usize>> =
        (0..blocks).map(|block| linked(block, blocks, links, &mut random)).collect();
    let (mut graph, data) = (TaskGraph::default(), colours(blocks, workers));
    for iteration in 0..iterations {
        for (block, &data) in data.iter().enumerate() {
            let before = |&other: &usize| ((iteration - 1) * blocks + other) as u32;
            let needs: Vec<u32> =
                if iteration == 0 { Vec::new() } else { linked[block].iter().map(before).collect() };
            graph.add(TaskNode { work: 0, accesses: 4 * linked[block].len() as u64, reads: 1, data }, &needs);
        }
    }
    let last: Vec<u32> = (0..blocks).map(|block| ((iterations - 1) * blocks + block) as u32).collect();
    with_sink(graph, &last)
}

/// The blocks that link to a block: itself, and others once each.
fn linked(block: usize, blocks: usize, links: Links, random: &mut XorShift) -> Vec<usize> {
    let heavy = if below(random, 16) == 0 { 1 + below(random, 8) } else { 1 };
    let count = 1 + below(random, 2 * links.usual * heavy);
    let mut all = vec![block];
    for _ in 0..count {
        let other = if (below(random, 1_000) as f64) < links.nearby * 1_000.0 {
            (block + blocks + below(random, 9) - 4) % blocks
        } else {
            // The smaller of two random numbers: some blocks are linked to far more than others.
            below(random, blocks).min(below(random, blocks))
        };
        all.push(other);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// A random number below `n`.
fn below(random: &mut XorShift, n: usize) -> usize {
    (((random.number() >> 32) * n as u64) >> 32) as usize
}
