//! Where bytes come from, and which of them are there without being waited for.

use std::fs::File;
use std::io::{self, Read, Stdin};
use std::path::Path;
use std::time::Duration;

/// Bytes that are read. What has none for now, like a pipe, lets its reader wait.
pub trait Input: Read {
    /// Whether the next read would wait for longer than this. What never waits does not either.
    ///
    /// # Errors
    /// It is not known.
    fn waits(&mut self, _patience: Duration) -> io::Result<bool> {
        Ok(false)
    }
}

/// A plain file.
impl Input for File {}

/// Something of which it is not known whether its reads wait, so that each may.
#[derive(Debug)]
pub struct Unsure<R>(pub R);

impl<R: Read> Read for Unsure<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl<R: Read> Input for Unsure<R> {
    fn waits(&mut self, _patience: Duration) -> io::Result<bool> {
        Ok(true)
    }
}

/// Opens a file, or a pipe with a name.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Input>> {
    let file = File::open(path)?;
    Ok(if file.metadata()?.is_file() { Box::new(file) } else { Box::new(Unsure(file)) })
}

/// Standard input.
pub(super) fn standard() -> Box<dyn Input> {
    Box::new(Unsure::<Stdin>(io::stdin()))
}

/// Opens what is read; again where a file is read again.
pub type Open = Box<dyn Fn() -> io::Result<Box<dyn Input>>>;

/// As much as is read at once: what a pipe holds.
const AT_ONCE: usize = 64 << 10;

/// Bytes that have been read ahead, and how to have more of them.
pub(super) struct Reader {
    input: Box<dyn Input>,
    again: Option<Open>,
    /// What has been read, and what of it is not taken yet.
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    ended: bool,
}

impl Reader {
    /// What `open` opens; if it may, again.
    pub(super) fn new(open: Open, again: bool) -> io::Result<Reader> {
        let input = open()?;
        Ok(Reader { input, again: again.then_some(open), buffer: Vec::new(), at: 0, end: 0, ended: false })
    }

    /// Bytes that have been read ahead.
    pub(super) fn ahead(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// So many of them are taken.
    pub(super) fn take(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Reads ahead, once; false at the end.
    pub(super) fn more(&mut self) -> io::Result<bool> {
        if self.at == self.end {
            (self.at, self.end) = (0, 0);
        } else if self.buffer.len() - self.end < AT_ONCE / 2 {
            self.buffer.copy_within(self.at..self.end, 0);
            (self.at, self.end) = (0, self.end - self.at);
        }
        let room = self.buffer.len().max(AT_ONCE).max(2 * self.end);
        self.buffer.resize(room, 0);
        let more = read(&mut *self.input, &mut self.buffer[self.end..])?;
        self.end += more;
        self.ended = more == 0;
        Ok(more > 0)
    }

    /// What has been read ahead, and what one read gives if that leaves room, less what is behind the last whole item of
    /// so many bytes, unless it is the end. That may be none; at the end it is `true`.
    pub(super) fn items(&mut self, room: &mut [u8], item: usize) -> io::Result<(usize, bool)> {
        let mut have = self.ahead().len().min(room.len());
        room[..have].copy_from_slice(&self.ahead()[..have]);
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

    /// Whether more would have to be waited for.
    pub(super) fn waits(&mut self, patience: Duration) -> io::Result<bool> {
        Ok(!self.ended && self.input.waits(patience)?)
    }

    /// Whether that is so until what has been read ahead is `enough`.
    pub(super) fn waits_for(
        &mut self,
        patience: Duration,
        mut enough: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<bool> {
        while !self.ended && !enough(self.ahead()) {
            if self.input.waits(patience)? {
                return Ok(true);
            }
            self.more()?;
        }
        Ok(false)
    }

    /// From the beginning, if that can be had.
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
