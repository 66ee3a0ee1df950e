//! Reads the header of a WAV file, up to its first sample.
//!
//! The file is a list of chunks. `fmt ` has the format of the samples, and `data` has the samples. A chunk of odd length
//! has a pad byte behind it. In a file that begins with `RF64` or `BW64`, the chunk `ds64` has the length of the samples
//! in 64 bits.
//!
//! A program that writes a WAV file to a pipe does not know its length in advance. It leaves 0 in the header, or a large
//! number. The samples of such a file extend to its end.

use std::io::{self, Read};

/// The first four bytes of the files that are read, and of those that the messages name.
const KINDS: [&[u8; 4]; 4] = [b"RIFF", b"RF64", b"BW64", b"RIFX"];

/// The format tag of integer samples.
const INTEGERS: u16 = 1;
/// The format tag of float samples.
const FLOATS: u16 = 3;
/// The format tag of a header with an extension that has the actual format tag.
const EXTENSIBLE: u16 = 0xfffe;
/// What follows a format tag in the extension.
const TAG_TAIL: [u8; 14] =
    [0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71];

/// The bytes of `fmt ` without an extension, and with it.
const FORMAT: usize = 16;
const EXTENDED_FORMAT: usize = 40;

/// The format of samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Format {
    pub channels: u16,
    pub rate: u32,
    /// Bytes of a sample, from 1 to 4. Samples with fewer valid bits are left-aligned, so full scale is that of all bits.
    pub bytes: u16,
    pub floats: bool,
}

/// What precedes the samples.
#[derive(Debug)]
pub(super) struct Header {
    pub format: Format,
    /// The bytes before the first sample.
    pub first: u64,
    /// The bytes of samples. `None` if they extend to the end of the file.
    pub length: Option<u64>,
}

/// Whether `bytes` may be the beginning of a WAV file. Bytes after the first 12 are not examined.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    let (kind, rest) = bytes.split_at(bytes.len().min(4));
    let form = rest.get(4..).unwrap_or_default();
    let form = &form[..form.len().min(4)];
    KINDS.iter().any(|known| known.starts_with(kind)) && b"WAVE".starts_with(form)
}

/// The bytes that show whether a file is a WAV file.
pub(super) const BEGIN: usize = 12;

impl Header {
    /// Reads the header. `bytes` is the number of all bytes of the input, if it is known.
    ///
    /// # Errors
    /// The input is not a WAV file, or the format of its samples is not supported.
    pub fn read(input: impl Read, bytes: Option<u64>) -> io::Result<Header> {
        let mut chunks = Chunks { input, position: 0 };
        let begin: [u8; BEGIN] = chunks.array().map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => not_wav(),
            _ => error,
        })?;
        if !may_begin(&begin) {
            return Err(not_wav());
        }
        if begin.starts_with(b"RIFX") {
            return Err(unsupported(
                "unsupported samples: found big-endian numbers (RIFX), expected RIFF or RF64",
            ));
        }
        let is_long = !begin.starts_with(b"RIFF");
        let riff = u32_at(&begin[4..]);
        let (mut format, mut long) = (None, None);
        loop {
            let chunk: [u8; 8] = chunks.array()?;
            let length = u32_at(&chunk[4..]);
            match &chunk[..4] {
                b"data" => {
                    let format =
                        format.ok_or_else(|| damaged("it has no `fmt ` chunk before its samples"))?;
                    let first = chunks.position;
                    let length = match long {
                        Some(long) if length == u32::MAX => {
                            Some(long).filter(|long| (1..u64::MAX).contains(long))
                        }
                        _ => sample_bytes(length, riff, first, bytes),
                    };
                    return Ok(Header { format, first, length });
                }
                b"fmt " => format = Some(Format::read(&chunks.start::<EXTENDED_FORMAT>(length)?)?),
                b"ds64" if is_long => long = u64_at(&chunks.start::<16>(length)?, 8),
                _ => drop(chunks.start::<0>(length)?),
            }
        }
    }
}

impl Format {
    /// Reads what `fmt ` has.
    fn read(chunk: &[u8]) -> io::Result<Format> {
        if chunk.len() < FORMAT {
            let found = chunk.len();
            return Err(damaged(&format!("`fmt ` has {found} bytes, expected at least {FORMAT}")));
        }
        let number = |at: usize| u16::from(chunk[at]) | u16::from(chunk[at + 1]) << 8;
        let (tag, channels, frame, bits) = (number(0), number(2), number(12), number(14));
        let tag = match (tag, chunk.get(24..EXTENDED_FORMAT)) {
            // A tail of its own is a format without a tag.
            (EXTENSIBLE, Some(id)) if id[2..] == TAG_TAIL => number(24),
            (tag, _) => tag,
        };
        let found = match tag {
            INTEGERS => format!("integers of {bits} bits"),
            FLOATS => format!("floats of {bits} bits"),
            tag => format!("compressed or unknown (format tag {tag})"),
        };
        let bytes = frame.checked_div(channels).unwrap_or(0);
        let is_whole = bytes * channels == frame && (1..=u32::from(bytes) * 8).contains(&bits.into());
        match (tag, bytes, bits) {
            (INTEGERS | FLOATS, ..) if !is_whole => Err(damaged(&format!(
                "frames of {frame} bytes do not fit {channels} channels of {bits} bits"
            ))),
            (INTEGERS, 1..=4, _) | (FLOATS, 4, 32) => {
                Ok(Format { channels, rate: u32_at(&chunk[4..]), bytes, floats: tag == FLOATS })
            }
            _ => Err(unsupported(&format!(
                "unsupported samples: found {found}, expected integers of 8, 16, 24 or 32 bits, or floats of 32 bits"
            ))),
        }
    }
}

/// Reads chunks, and counts bytes.
struct Chunks<R> {
    input: R,
    position: u64,
}

impl<R: Read> Chunks<R> {
    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut array = [0; N];
        self.input.read_exact(&mut array).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => truncated(),
            _ => error,
        })?;
        self.position += N as u64;
        Ok(array)
    }

    /// The first `N` bytes of a chunk of `length` bytes, or all if there are fewer. Skips the others and the pad byte.
    fn start<const N: usize>(&mut self, length: u32) -> io::Result<Vec<u8>> {
        let mut start = Vec::new();
        self.input.by_ref().take((N as u64).min(length.into())).read_to_end(&mut start)?;
        let all = u64::from(length) + u64::from(length % 2);
        let skipped = io::copy(&mut self.input.by_ref().take(all - start.len() as u64), &mut io::sink())?;
        if start.len() as u64 + skipped < all {
            return Err(truncated());
        }
        self.position += all;
        Ok(start)
    }
}

/// The bytes of samples, of which the header says `length`. `riff` is the length of the file in its header, and `bytes`
/// the actual one, if it is known. `None` if the samples extend to the end.
fn sample_bytes(length: u32, riff: u32, first: u64, bytes: Option<u64>) -> Option<u64> {
    let declared = u64::from(length);
    // A length of 0 is correct in a file without samples that has other chunks after them. Then the length of the file in
    // its header includes those chunks.
    let is_unset = length == 0 && (u64::from(riff) + 8 <= first || is_placeholder(riff));
    // A file that has as many bytes is that long, although the number looks like a placeholder.
    let is_there = bytes.is_some_and(|bytes| declared <= bytes.saturating_sub(first));
    let is_unknown = is_unset || is_placeholder(length) && !is_there;
    (!is_unknown).then_some(declared)
}

/// Whether writers that do not know a length write this number, or this number and the bytes of the header: the largest
/// one, 0x7fff_f000 or 0x8000_0000 in most programs.
fn is_placeholder(length: u32) -> bool {
    (0x7fff_f000..0x8000_1000).contains(&length) || length >= 0xffff_f000
}

/// The little-endian number at the start of `bytes`.
fn u32_at(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The little-endian number at `at`.
fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

fn not_wav() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not a WAV file")
}

fn damaged(what: &str) -> io::Error {
    let message = format!("the WAV header is damaged: {what}; save the file again as WAV");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn unsupported(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}

pub(super) fn truncated() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the WAV file is truncated")
}
