//! Where something is in a document: line, column and path.

use super::value::{Form, Value};
use std::borrow::Cow;
use std::fmt::Write;
use thalweg_graph::beginning;

/// A step of a path, from a value to one inside it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step<'a> {
    Field(Cow<'a, str>),
    Entry(usize),
}

/// Characters of a text from the document that a message shows.
const SHOWN: usize = 40;

/// The line and the column of a byte, both counted from 1, the column in characters.
pub(super) fn position(document: &str, at: usize) -> (usize, usize) {
    let before = beginning(document, at);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// The steps from the root to the value that begins at `at`. Values that contain each other begin at different bytes.
pub(super) fn path_to<'a>(root: &Value<'a>, at: usize) -> Vec<Step<'a>> {
    let mut path = Vec::new();
    let mut value = root.clone();
    while let Some((step, inner)) = inside(value, at) {
        path.push(step);
        value = inner;
    }
    path
}

/// The field or entry of a value that contains the byte at `at`.
fn inside<'a>(value: Value<'a>, at: usize) -> Option<(Step<'a>, Value<'a>)> {
    let contains = |value: &Value<'_>| (value.start..value.end).contains(&at);
    match value.form {
        Form::Array(entries) => {
            let (entry, value) = entries.iter().enumerate().find(|(_, value)| contains(value))?;
            Some((Step::Entry(entry), value))
        }
        Form::Object(fields) => {
            let (key, value) = fields.into_iter().find(|(_, value)| contains(value))?;
            Some((Step::Field(key), value))
        }
        _ => None,
    }
}

/// A path as text: `graph.nodes[3].name`. Names of fields come from the document, so unusual ones are quoted.
pub(super) fn show(path: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Entry(entry) => write!(text, "[{entry}]").expect("writing to a String cannot fail"),
            Step::Field(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text += &field(name);
            }
        }
    }
    text
}

fn field(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty();
    if plain && name.len() <= SHOWN { name.to_owned() } else { format!("\"{}\"", excerpt(name)) }
}

/// The beginning of a text from the document, which a terminal can show: no control characters, no line breaks.
pub(super) fn excerpt(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(SHOWN) {
        // Quotes stay as they are, since JSON is full of them.
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown += "...";
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        assert_eq!(position("", 0), (1, 1));
        assert_eq!(position("a\n\"ö\" x", 7), (2, 5));
        assert_eq!(position("a\n", 2), (2, 1));
    }

    #[test]
    fn paths_quote_unusual_fields() {
        let path =
            [Step::Field("a_1".into()), Step::Entry(2), Step::Field("x\ny".into()), Step::Field("".into())];
        assert_eq!(show(&path), "a_1[2].\"x\\ny\".\"\"");
        assert_eq!(show(&[]), "");
    }

    #[test]
    fn excerpts_are_short() {
        assert_eq!(excerpt(&"x".repeat(SHOWN)), "x".repeat(SHOWN));
        assert_eq!(excerpt(&"x".repeat(SHOWN + 1)), format!("{}...", "x".repeat(SHOWN)));
        assert_eq!(excerpt("\"a\u{1b}[1m\""), "\"a\\u{1b}[1m\"");
    }
}
