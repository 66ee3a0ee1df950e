//! Destinations of unpacked content.

use std::io::Write;

use crate::entry::Entry;
use crate::error::Doing;
use crate::{Error, Result};

/// Receives content in stream order. The caller has checked the entries: each name is a single safe path component,
/// greater than the previous name in its folder, and every folder is closed.
pub trait Sink {
    /// Receives the next entry of a tree, from the record at `offset`.
    fn entry(&mut self, entry: &Entry, offset: u64) -> Result<()>;

    /// Receives the next bytes of the stream, or of the last file entry.
    fn data(&mut self, bytes: &[u8]) -> Result<()>;
}

/// A sink that discards the content, to check an archive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl Sink for Discard {
    fn entry(&mut self, _entry: &Entry, _offset: u64) -> Result<()> {
        Ok(())
    }

    fn data(&mut self, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// A sink that writes a stream to `out`.
#[derive(Debug)]
pub struct StreamSink<W> {
    out: W,
    written: u64,
}

impl<W: Write> StreamSink<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        StreamSink { out, written: 0 }
    }

    /// Flushes the output and returns it.
    pub fn finish(mut self) -> Result<W> {
        self.out.flush().doing(|| self.writing())?;
        Ok(self.out)
    }

    fn writing(&self) -> String {
        format!("writing the output at byte offset {}", self.written)
    }
}

impl<W: Write> Sink for StreamSink<W> {
    fn entry(&mut self, _entry: &Entry, offset: u64) -> Result<()> {
        Err(Error::corrupt(offset, "a stream archive has a tree entry"))
    }

    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).doing(|| self.writing())?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}
