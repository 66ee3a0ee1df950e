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
    expected: String,
    /// What the document has; `None` if the text of the value says it.
    found: Option<String>,
}

impl Problem {
    pub(super) fn new(expected: impl Into<String>) -> Problem {
        Problem { path: Vec::new(), expected: expected.into(), found: None }
    }

    /// A problem for which `found` says more than the text of the value does.
    pub(super) fn found(expected: impl Into<String>, found: String) -> Problem {
        Problem { found: Some(found), ..Problem::new(expected) }
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
        let found = self.found.unwrap_or_else(|| format!("`{}`", place::excerpt(value)));
        let kind = ReadErrorKind::Content(format!("expected {}, found {found}", self.expected));
        ReadError::new(place::position_of(document, value), &self.path, kind)
    }
}

/// Checks the index of a node, channel or port of the graph, of which there are `count`.
pub(super) fn index(index: usize, count: usize, of: &str) -> Check<()> {
    if index < count { Ok(()) } else { Err(Problem::new(format!("the index of one of {count} {of}"))) }
}
