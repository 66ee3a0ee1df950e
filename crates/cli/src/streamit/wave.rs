//! The headers of WAV files, before the samples are decoded.
//!
//! Who writes a WAV file to a pipe does not know its length, and leaves 0, or as much as the header can say. Such
//! sound goes to the end of the file.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes of a file, with the length of its samples as it is.
pub(super) struct Wave {
    bytes: BufReader<File>,
    at: u64,
    /// Where the length stands, and what it is; a pipe is taken at its word.
    length: Option<(u64, [u8; 4])>,
}

/// From this on a length is one that nobody knew.
const UNKNOWN: u32 = 0x7fff_f000;

/// What stands in a header before the samples.
#[derive(Default)]
struct Head {
    /// The length of the file, by its own words.
    file: u32,
    /// What samples are, how many bits each has, and bytes of one of each channel.
    format: u16,
    bits: u16,
    moment: u16,
    /// Where the samples begin, and how many bytes of them there are said to be.
    first: u64,
    length: u32,
}

impl Wave {
    /// Opens a file.
    ///
    /// # Errors
    /// It is no sound, or of a kind that cannot be read.
    pub(super) fn open(path: &Path) -> io::Result<Wave> {
        let mut bytes = BufReader::new(File::open(path)?);
        let all = bytes.get_ref().metadata()?;
        if !all.is_file() {
            return Ok(Wave { bytes, at: 0, length: None });
        }
        let head = Head::read(&mut bytes)?;
        head.check()?;
        let length = head.samples(all.len())?;
        bytes.seek(SeekFrom::Start(0))?;
        Ok(Wave { bytes, at: 0, length: Some((head.first - 4, length.to_le_bytes())) })
    }
}

impl Read for Wave {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(room)?;
        for (place, byte) in self.length.iter().flat_map(|(place, length)| (*place..).zip(*length)) {
            if let Some(there) = place.checked_sub(self.at).and_then(|at| room[..count].get_mut(at as usize))
            {
                *there = byte;
            }
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl Head {
    fn read(bytes: &mut BufReader<File>) -> io::Result<Head> {
        let begin: [u8; 12] = some(bytes).map_err(|_| no_sound())?;
        if !begin.starts_with(b"RIFF") || !begin.ends_with(b"WAVE") {
            return Err(no_sound());
        }
        let mut head = Head { file: number(&begin[4..]), ..Head::default() };
        loop {
            let chunk: [u8; 8] = some(bytes)?;
            let length = number(&chunk[4..]);
            if chunk.starts_with(b"data") {
                (head.first, head.length) = (bytes.stream_position()?, length);
                return Ok(head);
            }
            let next = bytes.stream_position()? + u64::from(length) + u64::from(length % 2);
            if chunk.starts_with(b"fmt ") {
                let format: [u8; 16] = some(bytes)?;
                head.format = word(&format);
                (head.moment, head.bits) = (word(&format[12..]), word(&format[14..]));
                if head.format == EXTENDED && length >= 26 {
                    // What is meant stands further behind.
                    let more: [u8; 10] = some(bytes)?;
                    head.format = word(&more[8..]);
                }
            }
            bytes.seek(SeekFrom::Start(next))?;
        }
    }

    fn check(&self) -> io::Result<()> {
        let kind = match (self.format, self.bits) {
            (INTEGERS, 8 | 16 | 24 | 32) | (FLOATS, 32) => return Ok(()),
            (INTEGERS, bits) => format!("integers of {bits} bits"),
            (FLOATS, bits) => format!("floats of {bits} bits"),
            (format, _) => format!("compressed, or of a format ({format}) that is not known"),
        };
        let message = format!(
            "its samples are {kind}; those that can be read are integers of 8, 16, 24 or 32 bits, and floats of 32 bits"
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    /// Bytes of samples in a file of so many.
    fn samples(&self, all: u64) -> io::Result<u32> {
        let rest = all.saturating_sub(self.first);
        // A file without samples may have something else behind them, of which it knows.
        let unsaid = self.length == 0 && (u64::from(self.file) + 8 <= self.first || self.file >= UNKNOWN);
        let known = !unsaid && (self.length < UNKNOWN || u64::from(self.length) <= rest);
        if known {
            return Ok(self.length);
        }
        let rest = rest - rest % u64::from(self.moment.max(1));
        u32::try_from(rest).map_err(|_| {
            io::Error::new(io::ErrorKind::Unsupported, "sound of more than 4 gigabytes cannot be read")
        })
    }
}

/// Formats of samples; the last one says that another number has it.
const INTEGERS: u16 = 1;
const FLOATS: u16 = 3;
const EXTENDED: u16 = 0xfffe;

fn some<const N: usize>(bytes: &mut impl Read) -> io::Result<[u8; N]> {
    let mut some = [0; N];
    bytes.read_exact(&mut some).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the sound is cut off"),
        _ => error,
    })?;
    Ok(some)
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn word(bytes: &[u8]) -> u16 {
    bytes.iter().take(2).rev().fold(0, |number, byte| number << 8 | u16::from(*byte))
}

fn no_sound() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is no sound file (WAV)")
}
