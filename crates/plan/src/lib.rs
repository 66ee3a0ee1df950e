//! Decides how to run a graph: channel capacities, claim lengths, threads, policy.
//!
//! [`Plan::new`] makes a [`Plan`] from a graph and a user's [`Wishes`]. A plan can be printed, edited, read back
//! and run again. It holds decisions only. The runtime carries them out.
//!
//! ```
//! use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort};
//! use thalweg_plan::{Plan, Wishes};
//!
//! let mut graph = GraphData::new();
//! let numbers = graph.add(Node::sequential("numbers").output(OutPort::new("out", Item::of::<u64>())));
//! let sum = graph.add(Node::sequential("sum").input(InPort::new("in", Item::of::<u64>())));
//! graph.connect((numbers, 0), (sum, 0), Link::default()).unwrap();
//!
//! let plan = Plan::new(&graph, &Wishes { threads: Some(2), ..Wishes::default() });
//! assert_eq!(plan.capacities, [2048]);
//! assert_eq!(plan.to_string().parse::<Plan>().unwrap(), plan);
//! ```

mod check;
mod escape;
mod plan;
mod read;
mod show;
mod size;
mod threads;

pub use check::PlanError;
pub use plan::{Plan, Raised, Wishes};
pub use read::ReadError;
pub use show::Annotated;
pub use size::max_capacity;
pub use threads::threads;
