//! How a graph is to be run: channel capacities, claim lengths, threads, policy.
//!
//! A [`Plan`] is made from a graph and a user's [`Wishes`], can be printed, edited, read back and
//! run again. It holds decisions only; how they are carried out is the runtime's matter.
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
mod plan;
mod read;
mod show;
mod size;
mod threads;
mod word;

pub use check::Misfit;
pub use plan::{Plan, Raised, Wishes};
pub use read::ReadError;
pub use show::Annotated;
pub use size::widest;
pub use threads::threads;
