//! The content of an input, plain or compressed with gzip.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

use crate::WithoutMark;
use crate::gzip::Members;

/// The first bytes of gzip data.
pub(crate) const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An input with a text, which gzip may have compressed.
///
/// It implements no [`Read`], so that functions can take `impl Into<Content>`: any reader is one.
pub struct Content<'a> {
    input: Box<dyn Read + 'a>,
    warn: Warn<'a>,
}

/// A function that is called with a warning.
pub(crate) type Warn<'a> = Box<dyn FnMut(&str) + 'a>;

impl<'a, R: Read + 'a> From<R> for Content<'a> {
    fn from(input: R) -> Content<'a> {
        Content { input: Box::new(input), warn: Box::new(|_| {}) }
    }
}

impl<'a> Content<'a> {
    /// Calls `warn` if bytes after the gzip data are ignored, with a text that says so.
    pub fn warn_by(self, warn: impl FnMut(&str) + 'a) -> Content<'a> {
        Content { warn: Box::new(warn), ..self }
    }

    /// A reader of the text. The first bytes decide whether it is decompressed.
    ///
    /// # Errors
    /// Reading fails.
    pub fn open(mut self) -> io::Result<Opened<'a>> {
        let mut begin = Vec::new();
        self.input.by_ref().take(GZIP.len() as u64).read_to_end(&mut begin)?;
        let is_gzip = begin == GZIP;
        let taken = Rc::new(Cell::new(0));
        let raw = Raw { begin: Cursor::new(begin), input: self.input, taken: taken.clone() };
        let bytes = if is_gzip { Bytes::Gzip(Members::new(raw, self.warn)) } else { Bytes::Plain(raw) };
        Ok(Opened { text: WithoutMark::new(bytes), is_gzip, taken })
    }
}

impl fmt::Debug for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").finish_non_exhaustive()
    }
}

/// A reader of a text, without buffer.
pub struct Opened<'a> {
    text: WithoutMark<Bytes<'a>>,
    is_gzip: bool,
    taken: Rc<Cell<u64>>,
}

impl Opened<'_> {
    /// Whether the text is decompressed.
    pub fn is_gzip(&self) -> bool {
        self.is_gzip
    }

    /// The bytes taken from the input so far, before they are decompressed.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }
}

impl Read for Opened<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.text.read(bytes)
    }
}

impl fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("is_gzip", &self.is_gzip).finish_non_exhaustive()
    }
}

enum Bytes<'a> {
    Plain(Raw<'a>),
    Gzip(Members<'a>),
}

impl Read for Bytes<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Bytes::Plain(raw) => raw.read(bytes),
            Bytes::Gzip(members) => members.read(bytes),
        }
    }
}

/// The bytes of the input, which are counted. Those that show its kind are read again.
pub(crate) struct Raw<'a> {
    begin: Cursor<Vec<u8>>,
    input: Box<dyn Read + 'a>,
    taken: Rc<Cell<u64>>,
}

impl Read for Raw<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = match self.begin.read(bytes)? {
            0 => self.input.read(bytes)?,
            read => read,
        };
        self.taken.set(self.taken.get() + read as u64);
        Ok(read)
    }
}
