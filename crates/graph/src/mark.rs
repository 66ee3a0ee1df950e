//! The byte order mark with which some programs begin a text.

/// The byte order mark of UTF-8 texts. Everything that is read from a text skips it there.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A text without the byte order mark with which it may begin.
///
/// ```
/// use thalweg_graph::without_mark;
///
/// assert_eq!(without_mark("\u{feff}1 2"), "1 2");
/// assert_eq!(without_mark("1 2"), "1 2");
/// ```
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}
