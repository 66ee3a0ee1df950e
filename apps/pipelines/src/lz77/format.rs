//! The file format: a header, blocks, and an end. Numbers are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | header: `LZ77`, the version 1, 14 (a block has 2^14 bytes), `\r\n` |
//! | 2 | block: the bytes that it has, 1 to 16,384 |
//! | 2 | the bytes that it takes here, at most as many; if as many, it is stored as it is |
//! | | the block, as it is or compressed |
//! | 4 | the CRC-32 of its bytes |
//! | 2 | end: 0 |
//! | 8 | the bytes of all blocks |
//!
//! A block of fewer than 16,384 bytes is the last one, and no byte follows the end.

use super::block::{self, Wrong};
use super::matches::Matcher;
use super::{BLOCK, Sizes};
use crate::Error;
use std::io::{ErrorKind, Read};

/// The first bytes of a file.
pub(super) const HEADER: [u8; 8] = *b"LZ77\x01\x0e\r\n";

/// The bytes of a file without blocks.
pub(super) const AROUND: u64 = HEADER.len() as u64 + 2 + 8;

/// The bytes of a block besides its content.
pub(super) const AROUND_BLOCK: u64 = 2 + 2 + 4;

/// A block in the file, and the bytes that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Lengths, content and checksum.
    pub(super) bytes: Vec<u8>,
    pub(super) plain: usize,
}

/// The frame of a block.
pub(super) fn frame(plain: &[u8], matcher: &mut Matcher) -> Frame {
    let packed = block::compress(plain, matcher);
    let content = if packed.len() < plain.len() { &packed } else { plain };
    let mut bytes = Vec::with_capacity(content.len() + 8);
    for length in [plain.len(), content.len()] {
        bytes.extend((length as u16).to_le_bytes());
    }
    bytes.extend(content);
    bytes.extend(crc32fast::hash(plain).to_le_bytes());
    Frame { bytes, plain: plain.len() }
}

/// What stands behind the last block.
pub(super) fn end(plain: u64) -> Vec<u8> {
    [&[0; 2][..], &plain.to_le_bytes()].concat()
}

/// A block in a compressed file.
#[derive(Debug)]
pub(super) struct Packed {
    /// The byte of the file at which its content begins.
    pub(super) offset: u64,
    /// The bytes that it has.
    length: usize,
    content: Vec<u8>,
    checksum: u32,
}

impl Packed {
    /// The bytes of the block, and those that it takes in the file.
    pub(super) fn unpack(self) -> Result<(Vec<u8>, usize), Error> {
        let Packed { offset, length, content, checksum } = self;
        let takes = content.len();
        let plain = match takes == length {
            true => content,
            false => block::decompress(&content, length)
                .map_err(|Wrong { at, what }| Error::Format { offset: offset + at as u64, what })?,
        };
        if crc32fast::hash(&plain) != checksum {
            return Err(Error::Format {
                offset: offset + takes as u64,
                what: "the checksum of the block is another one",
            });
        }
        Ok((plain, takes))
    }
}

/// The blocks of a compressed file.
#[derive(Debug)]
pub(super) struct Blocks<R> {
    from: R,
    sizes: Sizes,
    /// Whether the last block was not complete.
    is_last: bool,
    begun: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(from: R) -> Blocks<R> {
        Blocks { from, sizes: Sizes::default(), is_last: false, begun: false }
    }

    fn wrong<T>(&self, what: &'static str) -> Result<T, Error> {
        Err(Error::Format { offset: self.sizes.packed, what })
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        let count = read_up_to(&mut self.from, bytes)?;
        self.sizes.packed += count as u64;
        if count < bytes.len() { self.wrong("the file ends before its end mark") } else { Ok(()) }
    }

    /// The next block, or nothing behind the last one.
    pub(super) fn next(&mut self) -> Result<Option<Packed>, Error> {
        if !self.begun {
            self.header()?;
        }
        let begins = self.sizes.packed;
        let length = usize::from(u16::from_le_bytes(self.take()?));
        let wrong = |what| Err(Error::Format { offset: begins, what });
        if length == 0 {
            self.end()?;
            return Ok(None);
        }
        if self.is_last {
            return wrong("a block behind the last one");
        }
        if length > BLOCK {
            return wrong("a block of more than 16384 bytes");
        }
        let takes = usize::from(u16::from_le_bytes(self.take()?));
        if takes == 0 || takes > length {
            return Err(Error::Format {
                offset: begins + 2,
                what: "a block that takes no bytes, or more than it has",
            });
        }
        let offset = self.sizes.packed;
        let mut content = vec![0; takes];
        self.fill(&mut content)?;
        let checksum = u32::from_le_bytes(self.take()?);
        self.sizes.plain += length as u64;
        self.is_last = length < BLOCK;
        Ok(Some(Packed { offset, length, content, checksum }))
    }

    fn header(&mut self) -> Result<(), Error> {
        let header: [u8; HEADER.len()] = self.take()?;
        self.begun = true;
        match header.iter().zip(HEADER).position(|(byte, expected)| *byte != expected) {
            None => Ok(()),
            Some(at) => {
                Err(Error::Format { offset: at as u64, what: "not the header of this format's version 1" })
            }
        }
    }

    fn end(&mut self) -> Result<(), Error> {
        let offset = self.sizes.packed;
        if u64::from_le_bytes(self.take()?) != self.sizes.plain {
            return Err(Error::Format { offset, what: "the number of bytes of all blocks is another one" });
        }
        match read_up_to(&mut self.from, &mut [0])? {
            0 => Ok(()),
            _ => self.wrong("bytes behind the end"),
        }
    }
}

/// Reads until the bytes are full or the input ends. Returns their number.
pub(super) fn read_up_to(from: &mut impl Read, bytes: &mut [u8]) -> Result<usize, Error> {
    let mut count = 0;
    while count < bytes.len() {
        match from.read(&mut bytes[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(count)
}
