//! Stream graphs as data: nodes, ports, rates and channels, without the code of the nodes.
//!
//! A [`GraphData`] is the user's graph in a form that every later step reads: `thalweg-analysis` derives facts
//! from it, a `Plan` decides how to run it, and the runtime keeps the code of its nodes beside it.
//! Each channel connects exactly one output port to exactly one input port.
//!
//! ```
//! use thalweg_graph::{GraphData, InPort, Item, Link, Node, OutPort, Rate};
//!
//! let mut graph = GraphData::new();
//! let numbers = graph.add(Node::sequential("numbers").output(OutPort::new("out", Item::of::<u64>())));
//! let sum = graph.add(Node::sequential("sum").input(InPort::new("in", Item::of::<u64>())));
//! graph.connect((numbers, 0), (sum, 0), Link::default()).unwrap();
//! assert!(graph.check().is_ok());
//! ```

mod channel;
mod check;
mod data;
mod details;
#[cfg(feature = "text")]
mod dot;
mod error_type;
mod graph;
mod id;
mod item;
mod mark;
mod names;
mod node;
mod shapes;
mod shown;
#[cfg(feature = "text")]
mod text;

pub use channel::{Channel, Link};
pub use check::Fault;
pub use details::{Footprint, Messages, Router, Span, Weights};
pub use graph::GraphData;
pub use id::{ChannelId, NodeId, Port};
pub use item::Item;
pub use mark::{BYTE_ORDER_MARK, without_mark};
pub use node::{Bounds, FirstPop, InPort, InShape, Kind, Node, OutPort, OutShape, Rate};
pub use shown::{beginning, shown, shown_bytes};
