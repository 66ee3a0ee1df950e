//! Byte inputs, and whether a read would block.

use std::fs::File;
use std::io::{self, Read, Stdin};
use std::path::Path;
use std::time::Duration;

/// An input of bytes. A pipe without data blocks its reader.
pub trait Input: Read + Send {
    /// Whether the next read would block for longer than `timeout`; false for inputs that never block.
    ///
    /// # Errors
    /// It cannot be determined.
    fn would_block(&mut self, _timeout: Duration) -> io::Result<bool> {
        Ok(false)
    }
}

/// A regular file never blocks.
impl Input for File {}

/// An input that may block in any read.
#[derive(Debug)]
pub struct MayBlock<R>(pub R);

impl<R: Read> Read for MayBlock<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl<R: Read + Send> Input for MayBlock<R> {
    fn would_block(&mut self, _patience: Duration) -> io::Result<bool> {
        Ok(true)
    }
}

/// Opens a file or a named pipe.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Input>> {
    let file = File::open(path)?;
    Ok(if file.metadata()?.is_file() { Box::new(file) } else { Box::new(MayBlock(file)) })
}

/// Standard input.
pub(super) fn standard() -> Box<dyn Input> {
    Box::new(MayBlock::<Stdin>(io::stdin()))
}

/// Opens an input; called again when the file is read again.
pub type Open = Box<dyn Fn() -> io::Result<Box<dyn Input>> + Send>;

/// The size of one read: the capacity of a pipe.
const READ_SIZE: usize = 64 << 10;

/// A buffered input.
pub(super) struct Reader {
    input: Box<dyn Input>,
    again: Option<Open>,
    /// Data read; `at..end` is not consumed yet.
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    ended: bool,
}

impl Reader {
    /// Opens an input; `again` allows it to be reopened.
    pub(super) fn new(open: Open, again: bool) -> io::Result<Reader> {
        let input = open()?;
        Ok(Reader { input, again: again.then_some(open), buffer: Vec::new(), at: 0, end: 0, ended: false })
    }

    /// Buffered bytes that are not consumed yet.
    pub(super) fn buffered(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Consumes buffered bytes.
    pub(super) fn take(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Reads more bytes into the buffer, once; false at the end.
    pub(super) fn more(&mut self) -> io::Result<bool> {
        if self.at == self.end {
            (self.at, self.end) = (0, 0);
        } else if self.buffer.len() - self.end < READ_SIZE / 2 {
            self.buffer.copy_within(self.at..self.end, 0);
            (self.at, self.end) = (0, self.end - self.at);
        }
        let room = self.buffer.len().max(READ_SIZE).max(2 * self.end);
        self.buffer.resize(room, 0);
        let more = read(&mut *self.input, &mut self.buffer[self.end..])?;
        self.end += more;
        self.ended = more == 0;
        Ok(more > 0)
    }

    /// Copies buffered bytes into `room`, followed by one read if less than an item of `item` bytes was buffered.
    /// Bytes after the last whole item stay buffered. Returns the number of bytes, which may be 0, and whether
    /// the input ended; at the end a partial item is included.
    pub(super) fn items(&mut self, room: &mut [u8], item: usize) -> io::Result<(usize, bool)> {
        let mut have = self.buffered().len().min(room.len());
        room[..have].copy_from_slice(&self.buffered()[..have]);
        self.take(have);
        if have < room.len() && have < item {
            let more = read(&mut *self.input, &mut room[have..])?;
            (have, self.ended) = (have + more, more == 0);
        }
        if self.ended {
            return Ok((have, true));
        }
        let rest = have % item;
        if self.at == self.end {
            (self.at, self.end) = (0, rest);
            self.buffer.resize(self.buffer.len().max(rest), 0);
            self.buffer[..rest].copy_from_slice(&room[have - rest..have]);
        } else {
            self.at -= rest;
        }
        Ok((have - rest, false))
    }

    /// Whether the next read would block.
    pub(super) fn would_block(&mut self, timeout: Duration) -> io::Result<bool> {
        Ok(!self.ended && self.input.would_block(timeout)?)
    }

    /// Whether reading until the buffered bytes are `enough` would block.
    pub(super) fn would_block_until(
        &mut self,
        timeout: Duration,
        mut enough: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<bool> {
        while !self.ended && !enough(self.buffered()) {
            if self.input.would_block(timeout)? {
                return Ok(true);
            }
            self.more()?;
        }
        Ok(false)
    }

    /// Returns to the beginning; false if the input cannot be reopened.
    pub(super) fn rewind(&mut self) -> io::Result<bool> {
        if let Some(open) = &self.again {
            self.input = open()?;
            (self.at, self.end, self.ended) = (0, 0, false);
        }
        Ok(self.again.is_some())
    }
}

fn read(input: &mut dyn Input, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
