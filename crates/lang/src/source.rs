//! Source files, and places in them.

use std::path::Path;

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
    /// The file cannot be read.
    pub fn read(&mut self, path: &Path) -> std::io::Result<u32> {
        let bytes = std::fs::read(path)?;
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().iter().map(|byte| char::from(*byte)).collect());
        Ok(self.add(path.display().to_string(), text))
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
        &self.files[span.file as usize].text[span.start as usize..span.end as usize]
    }

    /// Line and column where a span begins, both from 1; the column counts characters.
    pub fn position(&self, span: Span) -> (usize, usize) {
        let before = &self.files[span.file as usize].text[..span.start as usize];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (line, column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_from_one() {
        let sources = Sources::of("a.str", "one\ntwo three");
        let span = Span { file: 0, start: 8, end: 13 };
        assert_eq!(sources.text(span), "three");
        assert_eq!(sources.position(span), (2, 5));
    }
}
