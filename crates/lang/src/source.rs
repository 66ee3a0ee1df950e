//! Source files, and places in them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes that decide whether a file is text, before the rest is read.
const BEGIN: u64 = 1 << 16;

/// The most bytes of a source file.
const MOST: u64 = 1 << 28;

/// A stretch of one source file of [`Sources`], in bytes.
pub use thalweg_graph::Span;

/// A file's name and text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name as the user wrote it.
    pub name: String,
    /// The file's content.
    pub text: String,
}

/// The files of a program; they share one name space.
#[derive(Clone, Default, Debug)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// No files.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// A program of one text.
    pub fn of(name: impl Into<String>, text: impl Into<String>) -> Sources {
        let mut sources = Sources::new();
        sources.add(name, text);
        sources
    }

    /// Adds a text and returns its file number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.files.push(Source { name: name.into(), text: text.into() });
        self.files.len() as u32 - 1
    }

    /// Reads a file. A file that is not valid UTF-8 is decoded as Latin-1, the usual encoding of old programs.
    ///
    /// # Errors
    /// The file cannot be read, or is no text.
    pub fn read(&mut self, path: &Path) -> std::io::Result<u32> {
        self.read_from(thalweg_graph::shown(path).to_string(), File::open(path)?)
    }

    /// Reads a text, such as standard input, and returns its number. Errors are those of [`Sources::read`].
    pub fn read_from(&mut self, name: impl Into<String>, text: impl Read) -> std::io::Result<u32> {
        let bytes = read_text(text)?;
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().iter().map(|byte| char::from(*byte)).collect());
        Ok(self.add(name, text))
    }

    /// The files, by number.
    pub fn files(&self) -> &[Source] {
        &self.files
    }

    /// A hash of all names and texts: equal digests mean equal programs.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for part in self.files.iter().flat_map(|file| [&file.name, &file.text]) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        &self.files[span.file() as usize].text[span.start() as usize..span.end() as usize]
    }

    /// Line and column where a span begins, both from 1; the column counts characters.
    pub fn position(&self, span: Span) -> (usize, usize) {
        let before = &self.files[span.file() as usize].text[..span.start() as usize];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (line, column)
    }
}

/// Reads all bytes, unless they are no text.
fn read_text(mut file: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A device may have no end, so its begin is examined before the rest is read.
    file.by_ref().take(BEGIN).read_to_end(&mut bytes)?;
    check_text(&bytes)?;
    file.take(MOST).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {MOST} bytes")));
    }
    check_text(&bytes)?;
    Ok(bytes)
}

/// Fails for a null byte, and for other control characters in a text that is not UTF-8. (In UTF-8, the lexer reports
/// these with their place.)
fn check_text(bytes: &[u8]) -> io::Result<()> {
    let is_control = |byte: &u8| *byte < b' ' && !byte.is_ascii_whitespace() && *byte != 0x0b;
    let found = bytes.iter().position(|byte| *byte == 0).or_else(|| {
        // The begin of a file may end within a character.
        let is_utf8 = std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
        if is_utf8 { None } else { bytes.iter().position(is_control) }
    });
    let Some(at) = found else { return Ok(()) };
    let what = format!("it is no text: byte 0x{:02x} at offset {at}", bytes[at]);
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("{what}\nhelp: name a StreamIt program")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_refused() {
        for text in
            [&b""[..], b"void\t// \x0b\x0c\r\n", "\u{e9}\u{1b}".as_bytes(), b"Latin \xe9\n", b"cut \xc3"]
        {
            assert!(check_text(text).is_ok(), "{text:?}");
        }
        for (bytes, at) in [(&b"ab\0"[..], 2), (b"\xff\x1b", 1), (b"\x7fELF\x02\xff", 4)] {
            let message = check_text(bytes).unwrap_err().to_string();
            assert!(message.contains(&format!("at offset {at}\nhelp: ")), "{message}");
        }
    }

    #[test]
    fn positions_count_from_one() {
        let sources = Sources::of("a.str", "one\ntwo three");
        let span = Span::new(0, 8, 13);
        assert_eq!(sources.text(span), "three");
        assert_eq!(sources.position(span), (2, 5));
    }
}
