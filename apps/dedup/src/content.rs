//! The content of a file that may change while it is read.
//!
//! Of a file that grows, the archive has as many bytes as the file had when it was opened, so packing ends even if the
//! file grows faster than it is read. Of a file that shrinks, the archive has the bytes that were read. The length 0 says
//! nothing: files of the kernel have it, whatever they hold. Of such a file, the archive has at most 64 MiB.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use thalweg::embed::graph::shown;
use thalweg_files::{Status, status};

use crate::Error;

/// The maximum number of bytes that are read of a file with the length 0.
const WITHOUT_LENGTH: u64 = 64 << 20;

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

    /// The length that is read.
    fn length(&self) -> u64 {
        if self.before.size == 0 { WITHOUT_LENGTH } else { self.before.size }
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
        } else if self.before.size == 0 && read == WITHOUT_LENGTH {
            "has the length 0 and did not end while it was read".into()
        } else if !same_time || size < read && size > 0 {
            "changed while it was read".into()
        } else {
            return Ok(());
        };
        Err(Error::Changed(format!("{} {how}; the archive has {read} bytes of it", shown(&self.path))))
    }

    /// The error of a read that ends the run.
    pub fn unreadable(&self, source: io::Error) -> Error {
        Error::io(format!("reading {} at byte offset {}", shown(&self.path), self.read), source)
    }

    /// The error of a read that failed after some bytes, which the archive has.
    pub fn failed(&self, source: io::Error) -> Error {
        let doing = format!("reading {} (the archive has its first {} bytes)", shown(&self.path), self.read);
        Error::io(doing, source)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Reads to the end, but at most twice what may be read. Returns how many bytes, and what has changed.
    fn read(mut content: Content) -> (u64, Option<String>) {
        let mut bytes = Vec::new();
        while content.read(4 << 20, &mut bytes).unwrap() > 0 && content.read <= 2 * WITHOUT_LENGTH {
            bytes.clear();
        }
        (content.read, content.check().err().map(|changed| changed.to_string()))
    }

    #[test]
    fn reading_a_file_of_length_0_ends() {
        let file = tempfile::tempfile().unwrap();
        let before = status(&file).unwrap();
        let content = || Content::new(file.try_clone().unwrap(), before, "file".into());
        assert_eq!(read(content()), (0, None));
        file.set_len(1 << 40).unwrap();
        let (bytes, changed) = read(content());
        assert_eq!(bytes, WITHOUT_LENGTH);
        assert!(changed.unwrap().contains("grew while it was read: from 0"));
        // A file that has no end, and no other length than 0.
        let endless = File::open("/dev/zero").unwrap();
        let (bytes, changed) = read(Content::new(endless, before, "file".into()));
        assert_eq!(bytes, WITHOUT_LENGTH);
        assert!(changed.unwrap().contains("did not end"));
    }
}
