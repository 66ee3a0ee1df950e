//! Reports beyond their text: advice, files, comparisons and pages.
//!
//! [`ReportExt`] adds methods to [`Report`](thalweg_trace::Report), and [`TimelineExt`] to
//! [`Timeline`](thalweg_trace::Timeline). [`Comparison`] says what differs between two reports.
//!
//! ```
//! use std::time::Duration;
//! use thalweg_graph::{GraphData, Node};
//! use thalweg_report::ReportExt;
//! use thalweg_trace::Report;
//!
//! let mut graph = GraphData::new();
//! graph.add(Node::sequential("clock"));
//! let mut report = Report::new(graph, "auto", 1);
//! *report.wall_mut() = Duration::from_millis(10);
//! *report.nodes_mut()[0].busy_mut() = Duration::from_millis(9);
//! assert!(report.advice().contains("clock"));
//! assert_eq!(Report::from_json(&report.to_json())?, report);
//! # Ok::<(), thalweg_report::ReadError>(())
//! ```

mod advice;
mod compare;
mod ext;
mod json;
mod page;
mod predict;
mod waits;

pub use advice::{Finding, FindingKind};
pub use compare::{Change, ChannelChange, Comparison, NodeChange};
pub use ext::{ReportExt, TimelineExt};
pub use json::{ReadError, ReadErrorKind};
pub use predict::{
    Beside, Grid, GridError, PaperPrediction, Prediction, Predictions, Row, StagePrediction, Unpredictable,
};
