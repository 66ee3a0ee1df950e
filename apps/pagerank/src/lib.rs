//! Ranks the pages of a graph by PageRank, on all cores.
//!
//! ```text
//!  edge list ─────┐                    rows by target             blocks of pages, in parallel
//!  Matrix Market ─┼─▶ links, numbered ─────────────────▶ Graph ──────────────────────────────▶ Ranking
//!  R-MAT ─────────┘                                             ▲ one iteration: all blocks │
//!                                                               └───────────────────────────┘
//! ```
//!
//! [`Input`] reads a graph and [`Rmat`] makes one. [`PageRank`] ranks its pages: an iteration is [`rank_block`] for each
//! block of pages, and sums are formed in the order of pages and blocks, so the ranks are the same bits at any number of
//! threads. A [`Schedule`] says whether the blocks are those of parallel loops or tasks of a graph; a [`Recording`] of a run
//! says which thread had which block, and how many accesses were remote. Equal links count once, as in a `DiGraph` of networkx; weights of equal links are added.
//!
//! A graph is refused before it is allocated if it needs more memory than its limit ([`Input::memory`]).
//!
//! ```
//! use std::ops::ControlFlow;
//! use thalweg_pagerank::{PageRank, Rmat};
//!
//! let graph = Rmat::new(10).seed(7).graph(|size| assert_eq!(size.bytes_per_link, 12))?;
//! let ranking = PageRank::new().run(&graph, |_| ControlFlow::Continue(()))?;
//! assert!((ranking.ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
//! assert_eq!(ranking.top(&graph, 3).len(), 3);
//! # Ok::<(), thalweg_pagerank::Error>(())
//! ```

mod edge_list;
mod edges;
mod error;
mod field;
mod graph;
mod ids;
mod input;
mod kernel;
mod links;
mod matrix_market;
mod memory;
mod neighbours;
mod output;
mod rank;
mod recording;
mod rmat;
mod schedule;
mod state;
mod tasks;
mod text;

pub use error::{Error, Result};
pub use graph::Graph;
pub use input::Input;
pub use kernel::{Block, Share, Step, rank_block};
pub use links::Links;
pub use memory::Estimate;
pub use output::{write_json, write_tsv};
pub use rank::{Iteration, PageRank, Ranking};
pub use recording::{Accesses, Recording};
pub use rmat::Rmat;
#[doc(hidden)]
pub use schedule::Each;
pub use schedule::Schedule;
