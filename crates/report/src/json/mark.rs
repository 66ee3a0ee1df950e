//! The mark and the version of a file, by which reports are distinguished from timelines and from other JSON.

use super::timeline::{FORMAT as TIMELINE, VERSION as TIMELINE_VERSION};
use super::{FORMAT as REPORT, Problem, ReadError, ReadErrorKind, VERSION as REPORT_VERSION, parse, place};
use serde::Deserialize;

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

#[derive(Deserialize)]
#[serde(expecting = "the object of a file of thalweg")]
struct Mark {
    format: String,
    version: u64,
}

#[derive(Deserialize)]
#[serde(expecting = "the object of a timeline")]
struct InTimeline {
    #[serde(rename = "otherData")]
    other_data: Mark,
}

/// Checks the mark and the version of a report. All else may differ in other versions.
pub(super) fn check_report(text: &str) -> Result<(), ReadError> {
    check(text, parse::parse(text), &[], REPORT, REPORT_VERSION)
}

/// Checks the mark and the version of a timeline.
pub(super) fn check_timeline(text: &str) -> Result<(), ReadError> {
    let mark = parse::parse(text).map(|InTimeline { other_data }| other_data);
    check(text, mark, &["otherData"], TIMELINE, TIMELINE_VERSION)
}

fn check(
    text: &str,
    mark: Result<Mark, ReadError>,
    around: &[&'static str],
    format: &str,
    supported: u64,
) -> Result<(), ReadError> {
    let mark = mark?;
    let at = |problem: Problem, field: &'static str| {
        around.iter().rev().fold(problem.within(field), |problem, field| problem.within(*field)).located(text)
    };
    if mark.format != format {
        return Err(at(Problem::new(format!("`{}`", place::excerpt(format))), "format"));
    }
    if mark.version != supported {
        let kind = ReadErrorKind::Version { found: mark.version, supported };
        return Err(ReadError { kind, ..at(Problem::new(""), "version") });
    }
    Ok(())
}
