//! Why a document is no report or no timeline.

use super::place::{self, Step};
use std::fmt;

/// The reason why [`ReportExt::from_json`](crate::ReportExt::from_json) or [`TimelineExt::from_json`](crate::TimelineExt::from_json)
/// refuses a document, and the place.
///
/// ```
/// use thalweg_report::{ReadErrorKind, ReportExt};
/// use thalweg_trace::Report;
///
/// let text = Report::default().to_json().replace("\"threads\": 0", "\"threads\": -1");
/// let error = Report::from_json(&text).unwrap_err();
/// assert_eq!((error.line, error.path.as_str()), (5, "threads"));
/// assert!(matches!(error.kind, ReadErrorKind::Unexpected { .. }));
/// assert_eq!(
///     error.to_string(),
///     "line 5, column 14, `threads`: expected an integer from 0 to 2^64 - 1, found `-1`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, in characters, counted from 1.
    pub column: usize,
    /// The path of the value, such as `nodes[3].busy_ns`. Empty for the document as a whole.
    pub path: String,
    /// The reason.
    pub kind: ReadErrorKind,
}

/// What is wrong with a document. Messages quote at most 40 characters of it, without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The text is not JSON, or nests deeper than the reader goes.
    Syntax {
        /// What JSON has here.
        expected: String,
        /// What the text has.
        found: String,
    },
    /// The document has another version of the format.
    Version {
        /// Its version.
        found: u64,
        /// The version that this program reads.
        supported: u64,
    },
    /// The field that the path names is missing.
    Missing,
    /// A value has the wrong type, is out of range, or contradicts another part of the document.
    Unexpected {
        /// What the format has here.
        expected: String,
        /// What the document has.
        found: String,
    },
}

/// What is found behind the last character.
const END: &str = "the end of the text";

impl ReadError {
    pub(super) fn new(document: &str, at: usize, path: &[Step<'_>], kind: ReadErrorKind) -> ReadError {
        let (line, column) = place::position(document, at);
        ReadError { line, column, path: place::show(path), kind }
    }

    /// A syntax error at the character that begins at `at`.
    pub(super) fn syntax(document: &str, at: usize, path: &[Step<'_>], expected: &str) -> ReadError {
        let found = match document[at..].chars().next() {
            Some(c) => format!("`{}`", place::excerpt(c.encode_utf8(&mut [0; 4]))),
            None => END.to_owned(),
        };
        let kind = ReadErrorKind::Syntax { expected: expected.to_owned(), found };
        ReadError::new(document, at, path, kind)
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
            ReadErrorKind::Syntax { expected, found } => {
                write!(f, "invalid JSON: expected {expected}, found {found}")?;
                if found == END {
                    write!(f, "\n  help: the document is incomplete; copy or write it again")?;
                }
                Ok(())
            }
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
            ReadErrorKind::Missing => write!(f, "the field is missing"),
            ReadErrorKind::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
        }
    }
}

impl std::error::Error for ReadError {}
