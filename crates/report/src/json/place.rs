//! Where something is in a document: line, column and path.

use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use thalweg_graph::beginning;

/// A step of a path, from a value to one inside it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Field(Cow<'static, str>),
    Entry(usize),
}

impl From<&'static str> for Step {
    fn from(name: &'static str) -> Step {
        Step::Field(name.into())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Step {
        Step::Entry(index)
    }
}

/// Characters of a text from the document that a message shows.
const SHOWN: usize = 40;

/// Characters of a message.
const MESSAGE: usize = 240;

/// The text of the value at the end of a path, or of the innermost one on the way that the document has.
pub(super) fn find<'d>(document: &'d str, path: &[Step]) -> &'d str {
    let mut value = document.trim_ascii();
    for step in path {
        let inner = match step {
            Step::Entry(index) => {
                parts::<Vec<&RawValue>>(value).and_then(|entries| entries.get(*index).copied())
            }
            Step::Field(name) => {
                parts::<HashMap<String, &RawValue>>(value).and_then(|fields| fields.get(&**name).copied())
            }
        };
        let Some(inner) = inner else { break };
        value = inner.get();
    }
    value
}

fn parts<'d, T: serde::Deserialize<'d>>(value: &'d str) -> Option<T> {
    serde_json::from_str(value).ok()
}

/// The line and the column where a part of the document begins, both counted from 1, the column in characters.
pub(super) fn position_of(document: &str, part: &str) -> (usize, usize) {
    position(document, part.as_ptr().addr().saturating_sub(document.as_ptr().addr()))
}

/// The line and the column of a byte.
pub(super) fn position(document: &str, at: usize) -> (usize, usize) {
    let before = beginning(document, at);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// A line and the number of its last byte that serde_json has read, as line and column in characters.
pub(super) fn in_characters(document: &str, line: usize, bytes: usize) -> (usize, usize) {
    let text = document.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
    (line.max(1), beginning(text, bytes.saturating_sub(1)).chars().count() + 1)
}

/// A path as text: `graph.nodes[3].name`. Names of fields come from the document, so unusual ones are quoted.
pub(super) fn show(path: &[Step]) -> String {
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
    let mut shown = shown(text.chars().take(SHOWN));
    if text.chars().nth(SHOWN).is_some() {
        shown += "...";
    }
    shown
}

/// A message with texts from the document: without its middle if it is long, and as a terminal can show it.
pub(super) fn shortened(message: &str) -> String {
    let text = shown(message.chars());
    let length = text.chars().count();
    if length <= MESSAGE {
        return text;
    }
    let half = MESSAGE / 2;
    let [begin, end] = [0, length - half].map(|from| text.chars().skip(from).take(half).collect::<String>());
    format!("{begin}...{end}")
}

fn shown(text: impl Iterator<Item = char>) -> String {
    let mut shown = String::new();
    for c in text {
        // Quotes stay as they are, since JSON is full of them.
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
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
        assert_eq!(in_characters("a\n\"ö\" x", 2, 6), (2, 5));
        assert_eq!(in_characters("", 1, 0), (1, 1));
    }

    #[test]
    fn values_are_found_by_their_paths() {
        let document = " {\"a\": [1, {\"b c\": \"x\"}], \"d\": {}}\n";
        let found = |path: &[Step]| find(document, path);
        assert_eq!(found(&[Step::from("a"), Step::from(1), Step::from("b c")]), "\"x\"");
        assert_eq!(found(&[Step::from("d"), Step::from("missing")]), "{}");
        assert_eq!(found(&[Step::from(3)]), document.trim());
        assert_eq!(position_of(document, found(&[Step::from("a"), Step::from(0)])), (1, 9));
    }

    #[test]
    fn paths_quote_unusual_fields() {
        let path = [Step::from("a_1"), Step::from(2), Step::from("x\ny"), Step::from("")];
        assert_eq!(show(&path), "a_1[2].\"x\\ny\".\"\"");
        assert_eq!(show(&[]), "");
    }

    #[test]
    fn excerpts_and_messages_are_short() {
        assert_eq!(excerpt(&"x".repeat(SHOWN)), "x".repeat(SHOWN));
        assert_eq!(excerpt(&"x".repeat(SHOWN + 1)), format!("{}...", "x".repeat(SHOWN)));
        assert_eq!(excerpt("\"a\u{1b}[1m\""), "\"a\\u{1b}[1m\"");
        assert_eq!(shortened(&"ä".repeat(MESSAGE)).chars().count(), MESSAGE);
        let long = shortened(&format!("a{}\u{1b}z", "x".repeat(1000)));
        assert!(
            long.starts_with("axx") && long.ends_with("x\\u{1b}z") && long.len() < MESSAGE + 10,
            "{long}"
        );
    }
}
