//! Where unpacked content goes.

use std::io::Write;

use crate::entry::Entry;
use crate::error::Doing;
use crate::{Error, Result};

/// Takes content in stream order. Entries have been checked: their names are plain, each is larger
/// than the one before it in its folder, and folders are closed in order.
pub trait Sink {
    /// The next entry of a tree, from the record at `offset`.
    fn entry(&mut self, entry: &Entry, offset: u64) -> Result<()>;

    /// Further content of the stream, or of the file whose entry came last.
    fn data(&mut self, bytes: &[u8]) -> Result<()>;
}

/// Forgets everything: for checking an archive.
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

/// Writes a stream.
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

    /// Flushes and gives back the output.
    pub fn finish(mut self) -> Result<W> {
        self.out.flush().doing(|| self.place())?;
        Ok(self.out)
    }

    fn place(&self) -> String {
        format!("writing the output at byte offset {}", self.written)
    }
}

impl<W: Write> Sink for StreamSink<W> {
    fn entry(&mut self, _entry: &Entry, offset: u64) -> Result<()> {
        Err(Error::corrupt(offset, "a stream has an entry in it"))
    }

    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).doing(|| self.place())?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}
