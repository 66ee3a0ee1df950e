//! Skips a byte order mark.

use std::io::{self, Read};

use thalweg_graph::BYTE_ORDER_MARK;

/// A reader of a text without the byte order mark with which it may begin.
#[derive(Debug)]
pub struct WithoutMark<R> {
    input: R,
    /// Bytes of the beginning that were examined, and are no mark.
    begin: Vec<u8>,
    /// Whether the beginning was examined.
    decided: bool,
}

impl<R: Read> WithoutMark<R> {
    /// A reader of the text in `input`.
    pub fn new(input: R) -> WithoutMark<R> {
        WithoutMark { input, begin: Vec::new(), decided: false }
    }

    /// Reads the first bytes one by one, as long as they may be a mark: no more of them is awaited than needed.
    fn decide(&mut self) -> io::Result<()> {
        let mark = BYTE_ORDER_MARK.as_bytes();
        while !self.decided {
            let mut byte = [0];
            let read = self.input.read(&mut byte)?;
            self.begin.extend_from_slice(&byte[..read]);
            self.decided = read == 0 || !mark.starts_with(&self.begin);
            if self.begin == mark {
                self.begin.clear();
                self.decided = true;
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for WithoutMark<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.decide()?;
        if self.begin.is_empty() {
            return self.input.read(bytes);
        }
        let count = self.begin.len().min(bytes.len());
        bytes[..count].copy_from_slice(&self.begin[..count]);
        self.begin.drain(..count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mark_at_the_beginning_is_skipped() {
        for (input, output) in [
            (&b""[..], &b""[..]),
            (b"ab", b"ab"),
            (b"\xef\xbb\xbf", b""),
            (b"\xef\xbb\xbfab", b"ab"),
            (b"\xef\xbb\xbf\xef\xbb\xbfab", b"\xef\xbb\xbfab"),
            (b"\xef\xbbab", b"\xef\xbbab"),
            (b"\xef", b"\xef"),
            (b"a\xef\xbb\xbf", b"a\xef\xbb\xbf"),
        ] {
            let mut read = Vec::new();
            WithoutMark::new(input).read_to_end(&mut read).unwrap();
            assert_eq!(read, output, "{input:?}");
        }
    }
}
