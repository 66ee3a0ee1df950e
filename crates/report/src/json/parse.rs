//! Reads JSON by serde_json, which knows lines and columns, and serde_path_to_error, which knows paths.

use super::place::{self, Step};
use super::{ReadError, ReadErrorKind};
use serde::Deserialize;
use serde_json::error::Category;
use serde_path_to_error::Segment;

/// Reads a document.
///
/// serde_json bounds the depth of arrays and objects to 128, refuses numbers out of range, and reads whole numbers exactly.
pub(super) fn parse<'d, T: Deserialize<'d>>(document: &'d str) -> Result<T, ReadError> {
    serde_json::from_str(document).map_err(|error| refused::<T>(document, &error))
}

/// Reads a document, whose mark has been checked.
pub(super) fn parse_marked<'d, T: Deserialize<'d>>(
    document: &'d str,
    mark: Result<(), ReadError>,
) -> Result<T, ReadError> {
    match (mark, parse(document)) {
        (Ok(()), parsed) => parsed,
        // What reads all fields knows the path of the place that is not JSON.
        (Err(mark), Err(error)) if mark.kind.is_syntax() && error.kind.is_syntax() => Err(error),
        (Err(mark), _) => Err(mark),
    }
}

/// The error with its path, for which the document is read again: paths cost time.
#[cold]
fn refused<'d, T: Deserialize<'d>>(document: &'d str, error: &serde_json::Error) -> ReadError {
    let mut deserializer = serde_json::Deserializer::from_str(document);
    let path = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Ok(_) => Vec::new(), // the error is behind the value
        Err(error) => error.path().iter().filter_map(step).collect(),
    };
    // serde_json says the place in every message, where it has stopped. That of a value is its beginning here.
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = place::shortened(text.strip_suffix(&place).unwrap_or(&text));
    match error.classify() {
        Category::Data => {
            let at = place::position_of(document, place::find(document, &path));
            ReadError::new(at, &path, ReadErrorKind::Content(text))
        }
        Category::Eof => {
            ReadError::new(place::position(document, document.len()), &path, ReadErrorKind::Incomplete)
        }
        Category::Syntax | Category::Io => {
            let at = place::in_characters(document, error.line(), error.column());
            ReadError::new(at, &path, ReadErrorKind::Syntax(text))
        }
    }
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Seq { index } => Some(Step::Entry(*index)),
        Segment::Map { key } => Some(Step::Field(key.clone().into())),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}
