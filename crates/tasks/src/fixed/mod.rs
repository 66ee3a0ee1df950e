//! Explicit graphs: nodes have dense numbers, and edges are given before the run.

mod build;
mod cycle;
mod run;

use crate::error::TaskError;
use crate::options::TaskOptions;
use std::convert::Infallible;
use std::sync::atomic::AtomicU64;
use thalweg_policy::tasks::Colour;
use thalweg_runtime::Counts;

/// A task graph with nodes 0 to n, less one, and edges that say which node must come before which. It may be run any
/// number of times.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use thalweg_tasks::StaticGraph;
///
/// // The longest common subsequence of two texts: each cell needs the three cells above and to the left.
/// let (a, b) = (b"locality-aware", b"local awareness");
/// let (rows, columns) = (a.len() as u32 + 1, b.len() as u32 + 1);
/// let at = |row: u32, column: u32| row * columns + column;
/// let mut graph = StaticGraph::from_successors(rows * columns, |node, successors| {
///     let (row, column) = (node / columns, node % columns);
///     successors.extend((column + 1 < columns).then(|| at(row, column + 1)));
///     successors.extend((row + 1 < rows).then(|| at(row + 1, column)));
/// });
/// let cells: Vec<AtomicU64> = (0..rows * columns).map(|_| AtomicU64::new(0)).collect();
/// graph.run(|node| {
///     let (row, column) = (node / columns, node % columns);
///     if row == 0 || column == 0 {
///         return;
///     }
///     let cell = |row, column| cells[at(row, column) as usize].load(Ordering::Relaxed);
///     let longest = match a[row as usize - 1] == b[column as usize - 1] {
///         true => cell(row - 1, column - 1) + 1,
///         false => cell(row - 1, column).max(cell(row, column - 1)),
///     };
///     cells[node as usize].store(longest, Ordering::Relaxed);
/// })?;
/// assert_eq!(cells.last().unwrap().load(Ordering::Relaxed), 10); // "localaware"
/// # Ok::<(), thalweg_tasks::TaskError<u32>>(())
/// ```
#[derive(Debug)]
pub struct StaticGraph {
    /// By node: the number of its predecessors in the upper half, and in the lower half how many of these the current run
    /// has not computed yet. Between two runs, and once a node may be computed, the halves are equal.
    counters: Box<[AtomicU64]>,
    successors: Lists,
    /// The nodes without predecessors.
    sources: Vec<u32>,
    colours: Option<Colours>,
}

/// A list of nodes for each node.
#[derive(Debug)]
struct Lists {
    /// The list of node `n` is from `borders[n]` to `borders[n + 1]`.
    borders: Box<[u32]>,
    nodes: Box<[u32]>,
}

/// The colours of a graph's nodes.
#[derive(Debug)]
struct Colours {
    /// By node.
    of: Box<[Option<Colour>]>,
    /// The predecessors of each node, whose colours are counted.
    predecessors: Lists,
}

impl Lists {
    #[inline]
    fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.nodes[self.borders[node] as usize..self.borders[node + 1] as usize]
    }
}

impl StaticGraph {
    /// A graph of `nodes` nodes with these edges: the first node of each pair comes before the second one. An edge that
    /// comes twice counts twice. The graph takes 12 bytes for each node, 4 more for one without predecessors, and 4 for each
    /// edge; while it is built, 16 more for each edge.
    ///
    /// # Panics
    /// A number is not below `nodes`, or there are more than 2^32 - 1 edges.
    pub fn from_edges(nodes: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> StaticGraph {
        build::from_edges(nodes, &edges.into_iter().collect::<Vec<_>>())
    }

    /// A graph of `nodes` nodes; `successors` appends to its list the nodes that must come after this one. Cheaper than
    /// [`StaticGraph::from_edges`]: the lists are stored as they come.
    ///
    /// # Panics
    /// As [`StaticGraph::from_edges`].
    pub fn from_successors(nodes: u32, successors: impl FnMut(u32, &mut Vec<u32>)) -> StaticGraph {
        build::from_successors(nodes, successors)
    }

    /// Sets a colour for each node: a hint at the member near which its data is.
    #[must_use]
    pub fn colours(mut self, colour: impl FnMut(u32) -> Option<Colour>) -> StaticGraph {
        let of = (0..self.nodes()).map(colour).collect();
        self.colours = Some(Colours { of, predecessors: build::transposed(&self.successors) });
        self
    }

    /// The number of nodes.
    pub fn nodes(&self) -> u32 {
        self.counters.len() as u32
    }

    /// The number of edges.
    pub fn edges(&self) -> u32 {
        self.successors.nodes.len() as u32
    }

    /// Calls `compute` with each node, on any thread, after its predecessors, with default options.
    ///
    /// # Errors
    /// A call panicked, or the graph has a cycle; then the nodes that wait for the cycle are not computed.
    pub fn run(&mut self, compute: impl Fn(u32) + Sync) -> Result<Counts, TaskError<u32>> {
        self.run_with(&TaskOptions::new(), compute)
    }

    /// As [`StaticGraph::run`], with options.
    ///
    /// # Errors
    /// As [`StaticGraph::run`].
    pub fn run_with(
        &mut self,
        options: &TaskOptions,
        compute: impl Fn(u32) + Sync,
    ) -> Result<Counts, TaskError<u32>> {
        self.try_run_with(options, |node| {
            compute(node);
            Ok::<(), Infallible>(())
        })
    }

    /// As [`StaticGraph::run`], for nodes that may fail.
    ///
    /// ```
    /// use thalweg_tasks::{TaskError, StaticGraph};
    ///
    /// let mut graph = StaticGraph::from_edges(2, [(0, 1)]);
    /// let error = graph.try_run(|node| if node == 0 { Err("bad") } else { Ok(()) });
    /// assert_eq!(error, Err(TaskError::Failed { key: 0, cause: "bad" }));
    /// ```
    ///
    /// # Errors
    /// As [`StaticGraph::run`], and the first error of a node.
    pub fn try_run<E: Send>(
        &mut self,
        compute: impl Fn(u32) -> Result<(), E> + Sync,
    ) -> Result<Counts, TaskError<u32, E>> {
        self.try_run_with(&TaskOptions::new(), compute)
    }

    /// As [`StaticGraph::try_run`], with options.
    ///
    /// # Errors
    /// As [`StaticGraph::try_run`].
    pub fn try_run_with<E: Send>(
        &mut self,
        options: &TaskOptions,
        compute: impl Fn(u32) -> Result<(), E> + Sync,
    ) -> Result<Counts, TaskError<u32, E>> {
        let graph = ResetsCounters(self);
        let counts = run::run(graph.0, options, &compute)?;
        std::mem::forget(graph); // All nodes were reached, and have set their counters back.
        Ok(counts)
    }
}

/// Sets the counters of a graph back when its run ends early, also by a panic (a node's error may panic when it is dropped):
/// some nodes were not reached, and wait for fewer predecessors than they have.
struct ResetsCounters<'g>(&'g mut StaticGraph);

impl Drop for ResetsCounters<'_> {
    fn drop(&mut self) {
        self.0.counters.iter_mut().for_each(|counter| *counter.get_mut() = full(*counter.get_mut()));
    }
}

/// The counter of a node none of whose predecessors was computed.
#[inline]
fn full(counter: u64) -> u64 {
    let predecessors = counter >> 32;
    predecessors << 32 | predecessors
}
