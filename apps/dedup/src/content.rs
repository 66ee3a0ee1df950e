//! The content of a file that may change while it is read.
//!
//! Of a file that grows, the archive has as many bytes as the file had when it was opened, so packing ends even if the
//! file grows faster than it is read. Of a file that shrinks, the archive has the bytes that were read.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use thalweg::graph::shown;
use thalweg_files::{Status, status};

use crate::Error;

/// A file that is read to its end.
pub(crate) struct Content {
    file: File,
    /// When it was opened.
    before: Status,
    path: PathBuf,
    read: u64,
}

impl Content {
    pub fn new(file: File, before: Status, path: PathBuf) -> Self {
        Content { file, before, path, read: 0 }
    }

    /// Appends up to `count` bytes to `bytes`, fewer at the end of the file alone. Returns their number. After an error,
    /// `bytes` has what was read before it.
    pub fn read(&mut self, count: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let before = bytes.len();
        let count = (count as u64).min(self.length() - self.read);
        let done = (&mut self.file).take(count).read_to_end(bytes);
        self.read += (bytes.len() - before) as u64;
        done
    }

    /// The length that is read. Files of the kernel have the length 0, whatever they hold.
    fn length(&self) -> u64 {
        if self.before.size == 0 { u64::MAX } else { self.before.size }
    }

    /// An error if the file, which has ended, is not the one that was opened.
    pub fn check(&self) -> Result<(), Error> {
        let Ok(after) = status(&self.file) else { return Ok(()) };
        let (read, size) = (self.read, after.size);
        let same_time = (after.seconds, after.nanos) == (self.before.seconds, self.before.nanos);
        let how = if read < self.before.size {
            format!("shrank while it was read: from {} to {size} bytes", self.before.size)
        } else if size > self.before.size {
            format!("grew while it was read: from {} to {size} bytes", self.before.size)
        } else if !same_time || size < read && size > 0 {
            "changed while it was read".into()
        } else {
            return Ok(());
        };
        Err(Error::Changed(format!("{} {how}; the archive has {read} bytes of it", shown(&self.path))))
    }

    /// The error of a read that failed after some bytes.
    pub fn failed(&self, source: io::Error) -> Error {
        let doing = format!("reading {} (the archive has its first {} bytes)", shown(&self.path), self.read);
        Error::io(doing, source)
    }
}
