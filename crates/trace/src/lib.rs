//! The report of a run: plain data about where time and items went.
//!
//! The runtime, or any other executor of a plan, makes a [`Report`] with [`Report::new`] and fills in its
//! measurements. A report prints as three tables: workers, nodes, channels. Advice, files and pages are made of it by
//! `thalweg-report`.
//!
//! ```
//! use std::time::Duration;
//! use thalweg_graph::{GraphData, Node};
//! use thalweg_trace::Report;
//!
//! let mut graph = GraphData::new();
//! graph.add(Node::sequential("clock"));
//! let mut report = Report::new(graph, "auto", 1);
//! *report.wall_mut() = Duration::from_millis(10);
//! *report.workers_mut()[0].application_mut() = Duration::from_millis(9);
//! *report.workers_mut()[0].idle_mut() = Duration::from_millis(1);
//! assert_eq!(report.breakdown()[0], 0.9);
//! assert!(report.to_string().contains("worker"));
//! ```

mod counts;
mod distribution;
mod parts;
mod profile;
mod rates;
mod report;
mod show;
mod snapshot;
pub mod table;
mod timeline;
pub mod units;
mod waits;

pub use counts::{Counts, MemberCounts};
pub use distribution::Distribution;
pub use parts::{ChannelReport, Growth, Limit, NodeReport, Service, TicketReport, WorkerReport};
pub use report::Report;
pub use snapshot::{ChannelSnapshot, NodeRate, NodeSnapshot, NodeStatus, Rates, Snapshot};
pub use timeline::{Ended, Event, Timeline, Track, What};
pub use units::{format_bytes, format_bytes_exactly};
pub use waits::{Cause, NodeWaits};
