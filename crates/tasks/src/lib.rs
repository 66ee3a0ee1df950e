//! Task graphs with locality, on the threads of the engine.
//!
//! A *node* is computed once, after the nodes that it needs. The threads of a run, its *members*, each have tasks of their
//! own; a member without any steals from another one, and prefers tasks whose data is near. Results do not depend on
//! the number of members, as long as what a node computes depends on its key and its inputs alone.
//!
//! # Graphs on demand
//!
//! A [`TaskGraph`] says what a node needs and how it is computed; a run begins at a *sink* and computes what that needs.
//! Nodes are named by keys, and may [add](Context::also) nodes while the graph runs.
//!
//! ```
//! use thalweg_tasks::{OnDemand, TaskGraph};
//!
//! // The edit distance of two words: a cell of the table needs three others.
//! let (a, b) = (b"kitten", b"sitting");
//! let distance = OnDemand::new(
//!     |&(row, column): &(usize, usize), needs: &mut Vec<(usize, usize)>| {
//!         if row > 0 && column > 0 {
//!             needs.extend([(row - 1, column), (row, column - 1), (row - 1, column - 1)]);
//!         }
//!     },
//!     |&(row, column), context| match context.is_empty() {
//!         true => row + column,
//!         false => {
//!             let changed = usize::from(a[row - 1] != b[column - 1]);
//!             let cell = |at| -> usize { *context.input(at) };
//!             (cell(0) + 1).min(cell(1) + 1).min(cell(2) + changed)
//!         }
//!     },
//! );
//! let finished = distance.run((a.len(), b.len()))?;
//! assert_eq!(finished.sink(), &3);
//! assert_eq!(finished[&(1, 1)], 1); // k and s
//! # Ok::<(), thalweg_tasks::TaskError<(usize, usize)>>(())
//! ```
//!
//! # Explicit graphs
//!
//! In a [`StaticGraph`] nodes are numbers, and edges are given before the run. It allocates nothing for a node while it
//! runs, and can be run again.
//!
//! ```
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use thalweg_tasks::StaticGraph;
//!
//! let mut diamond = StaticGraph::from_edges(4, [(0, 1), (0, 2), (1, 3), (2, 3)]);
//! let order = AtomicU32::new(0);
//! let places: [AtomicU32; 4] = Default::default();
//! diamond.run(|node| {
//!     places[node as usize].store(order.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
//! })?;
//! assert_eq!((places[0].load(Ordering::Relaxed), places[3].load(Ordering::Relaxed)), (0, 3));
//! # Ok::<(), thalweg_tasks::TaskError<u32>>(())
//! ```
//!
//! # Locality
//!
//! A [`Colour`] is a hint at where a node's data is: that of a member's number means "near this member". A list of tasks is
//! executed by a member from its own colour on (*morphing continuations*), and a member that searches for work tries to
//! steal tasks of its own colour, then of its memory domain's, before it takes any ([`SearchSettings`]). Wrong colours
//! cost time and change no result. [`TaskOptions::domains`] describes which members share memory, and turns on the counts
//! of remote accesses in [`Counts`].
//!
//! The algorithms are those of NabbitC, chapter 5 of *Locality-Aware Concurrency Platforms*, and each module says where it
//! differs. The decisions are plain code in `thalweg_policy::tasks`, so the virtual host makes the same ones.
//!
//! # Errors
//!
//! A node that fails, or any function that panics, ends the run with the key of the node ([`TaskError`]). Nodes that wait for
//! each other are an error that has the cycle.

mod counts;
mod demand;
mod entry;
mod error;
mod exec;
mod fixed;
mod options;
mod sync;
mod team;

pub use demand::{Context, OnDemand, Outcome, TaskGraph, TaskResults};
pub use error::{During, TaskError};
#[cfg(not(loom))]
pub use exec::time_per_steal;
pub use fixed::StaticGraph;
pub use options::TaskOptions;
pub use thalweg_policy::tasks::{Colour, SearchSettings};
pub use thalweg_runtime::{Counts, MemberCounts};
