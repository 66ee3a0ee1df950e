//! Reads JSON by serde_json, which knows lines and columns, and serde_path_to_error, which knows paths.

use super::place::{self, Step};
use super::problem::{Check, Problem};
use super::strict::Strict;
use super::{ReadError, ReadErrorKind};
use serde::Deserialize;
use serde_json::error::Category;
use serde_path_to_error::Segment;

/// Reads a document.
///
/// serde_json bounds the depth of arrays and objects to 128, refuses numbers out of range, and reads whole numbers exactly.
pub(super) fn parse<'d, T: Deserialize<'d>>(document: &'d str) -> Result<T, ReadError> {
    value(document).map_err(|error| refused::<T>(document, &error))
}

/// Reads a value that a document has, and that is JSON.
pub(super) fn parse_part<'d, T: Deserialize<'d>>(text: &'d str) -> Check<T> {
    value(text).map_err(|error| {
        let path = path_of::<T>(text).into_iter().rev();
        path.fold(Problem::refused(reason(&error)), Problem::within)
    })
}

fn value<'d, T: Deserialize<'d>>(text: &'d str) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Strict(&mut deserializer))?;
    deserializer.end()?;
    Ok(value)
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

/// The error with its path.
#[cold]
fn refused<'d, T: Deserialize<'d>>(document: &'d str, error: &serde_json::Error) -> ReadError {
    let (path, text) = (path_of::<T>(document), reason(error));
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

/// The path of what is refused, for which the text is read again: paths cost time.
fn path_of<'d, T: Deserialize<'d>>(text: &'d str) -> Vec<Step> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, T>(Strict(&mut deserializer)) {
        Ok(_) => Vec::new(), // the error is behind the value
        Err(error) => error.path().iter().filter_map(step).collect(),
    }
}

/// What serde_json says, without the place, which it says in every message: where it has stopped. That of a value is its
/// beginning here.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    place::shortened(text.strip_suffix(&place).unwrap_or(&text))
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Seq { index } => Some(Step::Entry(*index)),
        Segment::Map { key } => Some(Step::Field(key.clone().into())),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}
