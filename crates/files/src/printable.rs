//! Names as text that a terminal only prints.

use std::ffi::OsStr;

/// The name or path as text, with control characters escaped. They could control the terminal or, as a line break, fake
/// a line of output.
pub fn printable(name: impl AsRef<OsStr>) -> String {
    escape(&name.as_ref().to_string_lossy())
}

/// The name as text, as [`printable`].
pub fn printable_bytes(name: &[u8]) -> String {
    escape(&String::from_utf8_lossy(name))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_nothing_else() {
        assert_eq!(printable_bytes(b"\x1b[31m\r\nx\x7f"), "\\u{1b}[31m\\r\\nx\\u{7f}");
        assert_eq!(printable_bytes("\u{9b}1m".as_bytes()), "\\u{9b}1m");
        assert_eq!(printable("a \"b\" \\ ü"), "a \"b\" \\ ü");
        assert_eq!(printable_bytes(b"\xff"), "\u{fffd}");
    }
}
