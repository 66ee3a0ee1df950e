//! Why a document is no report or no timeline.

use super::place::{self, Step};
use std::fmt;
use thalweg_graph::data;

data! {
    /// The reason why [`ReportExt::from_json`](crate::ReportExt::from_json) or
    /// [`TimelineExt::from_json`](crate::TimelineExt::from_json) refuses a document, and the place.
    ///
    /// ```
    /// use thalweg_report::{ReadErrorKind, ReportExt};
    /// use thalweg_trace::Report;
    ///
    /// let text = Report::default().to_json().replace("\"threads\": 0", "\"threads\": -1");
    /// let error = Report::from_json(&text).unwrap_err();
    /// assert_eq!((error.line(), error.path()), (5, "threads"));
    /// assert!(matches!(error.kind(), ReadErrorKind::Content(_)));
    /// assert_eq!(
    ///     error.to_string(),
    ///     "line 5, column 14, `threads`: invalid value: integer `-1`, expected usize"
    /// );
    /// ```
    #[derive(Clone, PartialEq, Eq)]
    pub struct ReadError {
        /// The line, counted from 1.
        copy line: usize;
        /// The column, in characters, counted from 1.
        copy column: usize;
        /// The path of the value, such as `nodes[3].busy_ns`, or of the array or object that lacks one. Empty for the document
        /// as a whole.
        view path: String => &str;
        /// The reason.
        view kind: ReadErrorKind => &ReadErrorKind;
    }
}

/// What is wrong with a document. Messages quote a short part of it, without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The text ends before the document does.
    Incomplete,
    /// The text is not JSON, or nests deeper than the reader goes: what the reader of JSON says.
    Syntax(String),
    /// The document has another version of the format.
    Version {
        /// Its version.
        found: u64,
        /// The version that this program reads.
        supported: u64,
    },
    /// A field is missing, or twice there; a value has the wrong type, is out of range, or contradicts another part of the
    /// document.
    Content(String),
}

impl ReadError {
    pub(super) fn new((line, column): (usize, usize), path: &[Step], kind: ReadErrorKind) -> ReadError {
        ReadError { line, column, path: place::show(path), kind }
    }
}

impl ReadErrorKind {
    /// Whether the text is not JSON.
    pub(super) fn is_syntax(&self) -> bool {
        matches!(self, ReadErrorKind::Incomplete | ReadErrorKind::Syntax(_))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, ", `{}`", self.path)?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl fmt::Display for ReadErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadErrorKind::Incomplete => {
                write!(f, "the text ends here\n  help: the document is incomplete; copy or write it again")
            }
            ReadErrorKind::Syntax(reason) => write!(f, "invalid JSON: {reason}"),
            ReadErrorKind::Version { found, supported } => {
                let help = if found > supported {
                    "read it with a thalweg as new as the one that wrote it"
                } else {
                    "repeat the run and save its results again"
                };
                write!(
                    f,
                    "unsupported version: the file has version {found}, this thalweg reads version \
                     {supported}\n  help: {help}"
                )
            }
            ReadErrorKind::Content(reason) => f.write_str(reason),
        }
    }
}

thalweg_graph::error_type!(ReadError);
