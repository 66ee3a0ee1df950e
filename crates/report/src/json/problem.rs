//! A value that contradicts another part of the document, before its place has a line and a column.

use super::place::{self, Step};
use super::{ReadError, ReadErrorKind};

/// What was checked, or what is wrong with it.
pub(super) type Check<T> = Result<T, Problem>;

/// What is wrong with the value at the end of a path.
#[derive(Debug)]
pub(super) struct Problem {
    /// From the inside out.
    path: Vec<Step>,
    what: What,
}

#[derive(Debug)]
enum What {
    /// What the document should have, and what it has; `None` if the text of the value says it.
    Expected(String, Option<String>),
    /// Both, in one sentence.
    Refused(String),
}

impl Problem {
    pub(super) fn new(expected: impl Into<String>) -> Problem {
        Problem { path: Vec::new(), what: What::Expected(expected.into(), None) }
    }

    /// A problem for which `found` says more than the text of the value does.
    pub(super) fn found(expected: impl Into<String>, found: String) -> Problem {
        Problem { path: Vec::new(), what: What::Expected(expected.into(), Some(found)) }
    }

    /// A problem in these words.
    pub(super) fn refused(reason: String) -> Problem {
        Problem { path: Vec::new(), what: What::Refused(reason) }
    }

    /// The same problem as seen from the array or object around the value.
    pub(super) fn within(mut self, step: impl Into<Step>) -> Problem {
        self.path.push(step.into());
        self
    }

    /// The error with the line, the column and the path of the value in the document.
    pub(super) fn located(mut self, document: &str) -> ReadError {
        self.path.reverse();
        let value = place::find(document, &self.path);
        let kind = ReadErrorKind::Content(match self.what {
            What::Refused(reason) => reason,
            What::Expected(expected, found) => {
                let found = found.unwrap_or_else(|| format!("`{}`", place::excerpt(value)));
                format!("expected {expected}, found {found}")
            }
        });
        ReadError::new(place::position_of(document, value), &self.path, kind)
    }
}

/// Checks the index of a node, channel or port of the graph, of which there are `count`.
pub(super) fn index(index: usize, count: usize, of: &str) -> Check<()> {
    if index < count { Ok(()) } else { Err(Problem::new(format!("the index of one of {count} {of}"))) }
}
