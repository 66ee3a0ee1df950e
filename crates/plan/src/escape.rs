//! Escapes a string so that it is one word of the text form.

use std::fmt::Write;

/// Writes each character that would end the word or the line, or start a comment, as `\u{hex}`.
pub(crate) fn escape(text: &str) -> String {
    let mut word = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() || c == '#' || c == '\\' {
            write!(word, "{}", c.escape_unicode()).expect("writing to a String cannot fail");
        } else {
            word.push(c);
        }
    }
    word
}

/// As [`escape`], for a text that ends its line: single spaces between words stay.
pub(crate) fn escape_line(text: &str) -> String {
    let word = escape(text);
    let line = word.replace("\\u{20}", " ");
    if line.split(' ').eq(line.split_whitespace()) { line } else { word }
}

/// The inverse of [`escape`]. Returns `None` for an invalid escape.
pub(crate) fn unescape(word: &str) -> Option<String> {
    let mut text = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('\\') {
        let (hex, after) = after.strip_prefix("u{")?.split_once('}')?;
        text.push_str(before);
        text.push(char::from_u32(u32::from_str_radix(hex, 16).ok()?)?);
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}
