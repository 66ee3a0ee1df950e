//! Distinguishes reports from timelines by their text.

use super::{FORMAT as REPORT, timeline::FORMAT as TIMELINE};

/// Whether a text, or its first 200 bytes, has the mark of a report.
pub(crate) fn is_report(text: &str) -> bool {
    is_first(text, REPORT, TIMELINE)
}

/// Whether a text, or its first 200 bytes, has the mark of a timeline.
pub(crate) fn is_timeline(text: &str) -> bool {
    is_first(text, TIMELINE, REPORT)
}

/// Whether the mark comes before the other one, which may be the name of a node.
fn is_first(text: &str, mark: &str, other: &str) -> bool {
    let place = |mark: &str| text.find(&format!("\"{mark}\""));
    match (place(mark), place(other)) {
        (Some(mark), Some(other)) => mark < other,
        (mark, _) => mark.is_some(),
    }
}
