//! Facts about a stream graph: pure functions of the graph alone.
//!
//! - [`components`] and [`topological_order`]: strongly connected components, and an order of all nodes.
//! - [`Balance`]: the relative numbers of firings by which static rates balance, and what is wrong with rates.
//! - [`returning_channel`]: whether sets of nodes can each be executed as one node.
//! - [`regions`]: the parts of the graph with static rates; [`regions_through`]: of a part of its channels.
//! - [`repetitions`]: the firings of each node of a region in a period.
//! - [`mod@schedule`]: an initialisation and a steady state of each region, and the buffers that these need.
//! - [`dead_cycles`]: cycles that lack initial items.
//! - [`deadlock_candidates`]: the nodes that can be part of a deadlock.
//! - [`check`]: all legality checks.
//!
//! No function recurses with the graph, and all take time in proportion to it, so a graph of a million nodes is no
//! special case. (Contrived rates make [`dead_cycles`] and the schedule of a loop take longer, up to a limit.)
//!
//! ```
//! use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort, Rate};
//!
//! let item = Item::of::<u8>();
//! let mut graph = GraphData::new();
//! let pairs = graph.add(Node::sequential("pairs").output(OutPort::new("out", item).with_push(Rate::Static(2))));
//! let triples = graph.add(Node::parallel("triples").input(InPort::new("in", item).with_pop(Rate::Static(3))));
//! graph.connect((pairs, 0), (triples, 0), Link::default()).unwrap();
//!
//! assert!(thalweg_analysis::check(&graph).is_ok());
//! let regions = thalweg_analysis::regions(&graph);
//! assert_eq!(thalweg_analysis::repetitions(&graph, &regions[0]), Ok(vec![3, 2]));
//! ```

// Without it some helpers have no caller.
#![cfg_attr(not(feature = "schedules"), allow(dead_code))]

mod balance;
mod check;
mod components;
mod convex;
mod cycles;
mod deadlock_candidates;
mod gains;
mod groups;
mod order;
mod rates;
mod ratio;
mod regions;
mod repetitions;
#[cfg(feature = "schedules")]
pub mod schedule;
mod sets;

pub use balance::{Balance, RateFault};
pub use check::check;
pub use components::{Components, components, topological_order};
pub use convex::returning_channel;
pub use cycles::dead_cycles;
pub use deadlock_candidates::deadlock_candidates;
pub use gains::{Gain, Gains};
pub use ratio::gcd;
pub use regions::{Region, regions, regions_through};
pub use repetitions::repetitions;
