//! Task graphs in virtual time: one thread plays all workers of a machine with memory domains.
//!
//! The decisions are those of [`thalweg_policy::tasks`], unchanged, so attempts, steals and remote accesses of 80 workers
//! can be counted on any machine. The algorithm is NABBIT's on-demand exploration with NABBITC's colours (chapter 5 of
//! *Locality-Aware Concurrency Platforms*).
//!
//! | file | what |
//! |---|---|
//! | `graph` | nodes with predecessors, work, and the colour of their data |
//! | [`shapes`] | graphs of the forms that the paper measures, and others |
//! | `paper` | the benchmarks of Table 5.1 |
//! | `colouring` | the colours that the scheduler sees: good, bad, invalid, none |
//! | `settings` | workers, memory domains, costs |
//! | `nodes` | which nodes exist, what they wait for, which nodes wait for them |
//! | `worker` | what one worker does next, step by step |
//! | `run` | the event heap |
//! | `memory` | where data is, and what a node costs on a worker |
//! | `levels` | the same graphs as parallel loops with barriers |
//! | `report` | counts of each worker |
//! | `bounds` | work, span and the bounds of Theorem 5.3.1 and Lemma 5.3.2 |
//!
//! # What is modelled
//!
//! - A node is created by the first worker that visits it as a predecessor, and its predecessors are visited in turn. A
//!   visit of a node that exists and is not computed adds the visiting node to its successors.
//! - A computed node notifies its successors; the one whose last predecessor it was is computed.
//! - Each step of a worker (a visit, a halving of a list, a notification, an attempt to steal, the computing of a node)
//!   takes time, and has its effect at once: steps of different workers never overlap inside a step.
//! - A worker without work attempts to steal until it finds an entry. While none is offered, attempts are counted and not
//!   made one by one (`run`), so long nodes take no longer to simulate than short ones.
//! - An access to data in another memory domain takes longer. The memory of a domain has no limit of bandwidth.
//!
//! # What is not
//!
//! Contention for deques, sleeping workers, failures, nodes that add nodes.

mod bounds;
mod colouring;
mod graph;
mod levels;
mod memory;
mod nodes;
mod paper;
mod report;
mod run;
mod settings;
pub mod shapes;
mod worker;

pub use bounds::Measures;
pub use colouring::Colouring;
pub use graph::{TaskGraph, TaskNode};
pub use levels::by_levels;
pub use paper::Benchmark;
pub use report::{Attempts, TaskReport, WorkerCounts};
pub use run::run;
pub use settings::{TaskCosts, TaskSettings};
