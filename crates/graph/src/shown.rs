//! Names from outside, as text for a terminal.

use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter, Write};

/// A name that comes from outside, such as that of a file, a node or a policy, as text for a message: a terminal obeys
/// none of it, and it takes one line. Control characters and those that are invisible or change the direction of text are
/// escaped as in Rust, and so is the backslash; bytes that are not UTF-8 are `\xNN`.
///
/// ```
/// use thalweg_graph::shown;
///
/// assert_eq!(shown("it's a name").to_string(), "it's a name");
/// assert_eq!(shown("a\x1b[2J\nb\\c").to_string(), r"a\u{1b}[2J\nb\\c");
/// assert_eq!(shown(std::path::Path::new("a/b")).to_string(), "a/b");
/// ```
pub fn shown<T: AsRef<OsStr>>(name: T) -> impl Display {
    Shown(name)
}

/// The bytes of a name, as [`shown`].
pub fn shown_bytes(name: &[u8]) -> impl Display {
    ShownBytes(name)
}

/// The longest beginning of a text that has at most `bytes` bytes and ends with a whole character.
///
/// ```
/// assert_eq!(thalweg_graph::beginning("tränk", 3), "tr");
/// assert_eq!(thalweg_graph::beginning("tränk", 90), "tränk");
/// ```
pub fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

struct Shown<T>(T);

impl<T: AsRef<OsStr>> Display for Shown<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        ShownBytes(self.0.as_ref().as_encoded_bytes()).fmt(f)
    }
}

struct ShownBytes<'a>(&'a [u8]);

impl Display for ShownBytes<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            chunk.valid().chars().try_for_each(|c| write_char(f, c))?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

fn write_char(f: &mut Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '\'' | '"' => f.write_char(c),
        c if is_invisible(c) => write!(f, "{}", c.escape_unicode()),
        c => write!(f, "{}", c.escape_debug()),
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_no_character_of_a_name() {
        for c in (0..0x300).chain(0x2000..0x2100).filter_map(char::from_u32) {
            let text = shown(format!("a{c}b")).to_string();
            assert!(!text.chars().any(|c| c.is_control() || is_invisible(c)), "{c:?}: {text:?}");
        }
        assert_eq!(shown("\u{e9}\u{202e}\r").to_string(), "\u{e9}\\u{202e}\\r");
    }

    #[test]
    fn other_bytes_are_shown_by_their_numbers() {
        assert_eq!(shown_bytes(b"a\xff\xc3\xa4\xc3").to_string(), "a\\xff\u{e4}\\xc3");
    }
}
