//! Distinguishes reports from timelines by their text.

use super::{FORMAT as REPORT, timeline::FORMAT as TIMELINE};
use crate::{Report, Timeline};

impl Report {
    /// Whether a text, or its first 200 bytes, has the mark of a report in JSON. [`Report::from_json`] may refuse it
    /// nevertheless.
    ///
    /// ```
    /// use thalweg_trace::{Report, Timeline};
    ///
    /// let text = Report::default().to_json();
    /// assert!(Report::is_json(&text) && !Timeline::is_json(&text) && !Report::is_json("{}"));
    /// ```
    pub fn is_json(text: &str) -> bool {
        is_first(text, REPORT, TIMELINE)
    }
}

impl Timeline {
    /// Whether a text, or its first 200 bytes, has the mark of a timeline in JSON. [`Timeline::from_json`] may refuse it
    /// nevertheless.
    pub fn is_json(text: &str) -> bool {
        is_first(text, TIMELINE, REPORT)
    }
}

/// Whether the mark comes before the other one, which may be the name of a node.
fn is_first(text: &str, mark: &str, other: &str) -> bool {
    let place = |mark: &str| text.find(&format!("\"{mark}\""));
    match (place(mark), place(other)) {
        (Some(mark), Some(other)) => mark < other,
        (mark, _) => mark.is_some(),
    }
}
