//! The report of a run: plain data about where time and items went.
//!
//! The runtime, or any other executor of a plan, makes a [`Report`] with [`Report::new`] and fills in its
//! measurements. A report prints as three tables (workers, nodes, channels) and advice about what bounded the run;
//! [`Report::to_html`] draws it as a page. [`Report::to_json`] and [`Report::from_json`] keep it in a file, and a
//! [`Comparison`] says what differs between two reports.
//!
//! ```
//! use std::time::Duration;
//! use thalweg_graph::{GraphData, Node};
//! use thalweg_trace::Report;
//!
//! let mut graph = GraphData::new();
//! graph.add(Node::sequential("clock"));
//! let mut report = Report::new(graph, "auto", 1);
//! report.wall = Duration::from_millis(10);
//! report.workers[0].application = Duration::from_millis(9);
//! report.workers[0].idle = Duration::from_millis(1);
//! assert_eq!(report.breakdown()[0], 0.9);
//! assert!(report.to_string().contains("worker"));
//! ```

// Without it some helpers have no caller.
#![cfg_attr(not(feature = "files"), allow(dead_code))]

mod advice;
#[cfg(feature = "files")]
mod compare;
mod counts;
mod distribution;
#[cfg(feature = "files")]
mod json;
#[cfg(feature = "files")]
mod page;
mod parts;
mod profile;
mod rates;
mod report;
mod show;
mod snapshot;
mod table;
mod timeline;
mod units;
mod waits;

pub use advice::{Finding, FindingKind};
#[cfg(feature = "files")]
pub use compare::{Change, ChannelChange, Comparison, NodeChange};
pub use counts::{Counts, MemberCounts};
pub use distribution::Distribution;
#[cfg(feature = "files")]
pub use json::{ReadError, ReadErrorKind};
pub use parts::{ChannelReport, Growth, Limit, NodeReport, Service, WorkerReport};
pub use report::Report;
pub use snapshot::{ChannelSnapshot, NodeRate, NodeSnapshot, NodeStatus, Rates, Snapshot};
pub use timeline::{Ended, Event, Timeline, Track, What};
pub use units::{format_bytes, format_bytes_exactly};
pub use waits::{Cause, NodeWaits};
