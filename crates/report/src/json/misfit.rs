//! A value that is not what the format has in its place, before the place has a line and a path.

use super::place::{self, Step};
use super::value::Value;
use super::{ReadError, ReadErrorKind};

/// What is wrong with the value between these offsets.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) problem: Problem,
}

/// What is wrong with a value.
#[derive(Debug)]
pub(super) enum Problem {
    /// An object lacks this field.
    Missing(&'static str),
    /// The document has another version.
    Version { found: u64, supported: u64 },
    /// Another value is expected. Where `found` is `None`, the text of the value says what was found.
    Unexpected { expected: String, found: Option<String> },
}

impl Misfit {
    /// The error with the line, the column and the path of its value in the document.
    pub(super) fn located(self, document: &str, root: &Value<'_>) -> ReadError {
        let mut path = place::path_to(root, self.start);
        let kind = match self.problem {
            Problem::Missing(field) => {
                path.push(Step::Field(field.into()));
                ReadErrorKind::Missing
            }
            Problem::Version { found, supported } => ReadErrorKind::Version { found, supported },
            Problem::Unexpected { expected, found } => {
                let found =
                    found.unwrap_or_else(|| format!("`{}`", place::excerpt(&document[self.start..self.end])));
                ReadErrorKind::Unexpected { expected, found }
            }
        };
        ReadError::new(document, self.start, &path, kind)
    }
}
