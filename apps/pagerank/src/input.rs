//! Reads a graph in any of the formats.

use crate::edges::{Edge, Edges};
use crate::graph::{Graph, Ids};
use crate::ids::IdTable;
use crate::memory::{Budget, Estimate};
use crate::text::Text;
use crate::{Result, edge_list, matrix_market};
use thalweg::Loop;
use thalweg_inputs::Content;

/// How to read a graph. The format (edge list or Matrix Market, plain or gzip) is recognised by the content. A byte
/// order mark is skipped.
///
/// ```
/// use thalweg_pagerank::Input;
///
/// let text = "# pages that link to pages\n30\t10\n20 10\n";
/// let graph = Input::new("small").read(text.as_bytes(), None, |_| {})?;
/// assert_eq!((graph.pages(), graph.links().len(), graph.dangling()), (3, 2, 1));
/// assert_eq!([0, 1, 2].map(|page| graph.id(page)), [10, 20, 30]);
/// # Ok::<(), thalweg_pagerank::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Input {
    pub(crate) name: String,
    memory: u64,
    pub(crate) undirected: bool,
    reverse: bool,
    pub(crate) weights: bool,
    pub(crate) extra_columns: bool,
    threads: Option<usize>,
}

impl Input {
    /// An input with this name, for messages.
    pub fn new(name: impl Into<String>) -> Input {
        Input {
            name: name.into(),
            memory: u64::MAX,
            undirected: false,
            reverse: false,
            weights: true,
            extra_columns: false,
            threads: None,
        }
    }

    /// The memory that the graph and its ranking may use, in bytes (default: no limit). What needs more is refused
    /// before it is allocated.
    pub fn memory(self, bytes: u64) -> Input {
        Input { memory: bytes, ..self }
    }

    /// Whether each link leads in both directions.
    pub fn undirected(self, undirected: bool) -> Input {
        Input { undirected, ..self }
    }

    /// Whether each link leads from its second page to its first one.
    pub fn reverse(self, reverse: bool) -> Input {
        Input { reverse, ..self }
    }

    /// Whether the values of a Matrix Market file are weights (default), or ignored.
    pub fn weights(self, weights: bool) -> Input {
        Input { weights, ..self }
    }

    /// Whether an edge list may have more than two columns. The others are ignored.
    pub fn extra_columns(self, extra_columns: bool) -> Input {
        Input { extra_columns, ..self }
    }

    /// The largest number of threads (default: all that the process may run at once).
    pub fn threads(self, threads: usize) -> Input {
        Input { threads: Some(threads), ..self }
    }

    /// Reads a graph. `length` is the number of bytes of the input, if it is known; it serves the estimate, which is passed
    /// to `announce` before the links are read.
    ///
    /// # Errors
    /// Reading fails, the content is malformed, or the graph needs more memory than allowed.
    pub fn read<'a>(
        &self,
        input: impl Into<Content<'a>>,
        length: Option<u64>,
        announce: impl FnOnce(&Estimate),
    ) -> Result<Graph> {
        let mut text = Text::new(&self.name, input)?;
        let is_matrix = matrix_market::is_begin(text.sample()?.bytes);
        match is_matrix {
            true => matrix_market::read(self, &mut text, announce),
            false => edge_list::read(self, &mut text, length, announce),
        }
    }

    /// The budget of a graph in this input.
    pub(crate) fn budget(&self, weighted: bool, named: bool) -> Budget {
        Budget::new(&self.name, self.memory, weighted, named)
    }

    pub(crate) fn loops(&self) -> Loop {
        let loops = Loop::new();
        self.threads.map_or(loops, |threads| loops.members(threads))
    }

    /// Adds a link, and its opposite if it leads in both directions.
    pub(crate) fn add(
        &self,
        edges: &mut Edges,
        (source, target): (u32, u32),
        weight: f64,
        both: bool,
        pages: u64,
    ) -> Result<()> {
        let (source, target) = if self.reverse { (target, source) } else { (source, target) };
        edges.push(Edge { source, target }, weight, pages)?;
        if both && source != target {
            edges.push(Edge { source: target, target: source }, weight, pages)?;
        }
        Ok(())
    }

    /// The graph of links between pages with ids.
    pub(crate) fn named_graph(&self, table: IdTable, mut edges: Edges) -> Result<Graph> {
        let pages = table.len();
        edges.check(pages as u64)?;
        let (ids, new) = table.sorted();
        let loops = self.loops();
        if let Some(new) = new {
            loops.for_chunks(&mut edges.chunks, 1, |_, chunks| {
                for edge in chunks.iter_mut().flatten() {
                    edge.source = new[edge.source as usize];
                    edge.target = new[edge.target as usize];
                }
            });
        }
        Graph::new(Ids::Named(ids), pages, edges, &loops)
    }
}
