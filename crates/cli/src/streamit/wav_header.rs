//! Corrects the lengths in headers of WAV files before the samples are decoded.
//!
//! A program that writes a WAV file to a pipe does not know its length in advance. It leaves 0 in the header, or the
//! largest number. The samples of such a file extend to its end.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The bytes of a WAV file, with the corrected length of its samples.
pub(super) struct WavFile {
    bytes: BufReader<File>,
    position: u64,
    /// The offset and the corrected bytes of the length field. `None` for a pipe, which is read unchanged.
    length: Option<(u64, [u8; 4])>,
}

/// Writers that do not know the length write this number or a larger one.
const UNKNOWN: u32 = 0x7fff_f000;

/// The fields of the header before the samples.
#[derive(Default)]
struct WavHeader {
    /// The length of the file in the RIFF header.
    file: u32,
    /// The format tag of the samples.
    format: u16,
    /// Bits of a sample.
    bits: u16,
    /// Bytes of a frame: one sample for each channel.
    frame: u16,
    /// The offset of the first sample.
    first: u64,
    /// Bytes of samples in the header of the data chunk.
    length: u32,
}

impl WavFile {
    /// Opens a file.
    ///
    /// # Errors
    /// The file is not a WAV file, or its sample format is not supported.
    pub(super) fn open(path: &Path) -> io::Result<WavFile> {
        let mut bytes = BufReader::new(File::open(path)?);
        let meta = bytes.get_ref().metadata()?;
        if !meta.is_file() {
            return Ok(WavFile { bytes, position: 0, length: None });
        }
        let header = WavHeader::read(&mut bytes)?;
        header.check()?;
        let length = header.sample_bytes(meta.len())?;
        bytes.seek(SeekFrom::Start(0))?;
        Ok(WavFile { bytes, position: 0, length: Some((header.first - 4, length.to_le_bytes())) })
    }
}

impl Read for WavFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        for (offset, byte) in self.length.iter().flat_map(|(offset, length)| (*offset..).zip(*length)) {
            let index = offset.checked_sub(self.position);
            if let Some(read) = index.and_then(|index| buffer[..count].get_mut(index as usize)) {
                *read = byte;
            }
        }
        self.position += count as u64;
        Ok(count)
    }
}

impl WavHeader {
    fn read(bytes: &mut BufReader<File>) -> io::Result<WavHeader> {
        let riff: [u8; 12] = read_array(bytes).map_err(|_| not_wav())?;
        if !riff.starts_with(b"RIFF") || !riff.ends_with(b"WAVE") {
            return Err(not_wav());
        }
        let mut header = WavHeader { file: u32_at(&riff[4..]), ..WavHeader::default() };
        loop {
            let chunk: [u8; 8] = read_array(bytes)?;
            let length = u32_at(&chunk[4..]);
            if chunk.starts_with(b"data") {
                (header.first, header.length) = (bytes.stream_position()?, length);
                return Ok(header);
            }
            let next = bytes.stream_position()? + u64::from(length) + u64::from(length % 2);
            if chunk.starts_with(b"fmt ") {
                let format: [u8; 16] = read_array(bytes)?;
                header.format = u16_at(&format);
                (header.frame, header.bits) = (u16_at(&format[12..]), u16_at(&format[14..]));
                if header.format == EXTENDED && length >= 26 {
                    // The extension has the actual format tag.
                    let extension: [u8; 10] = read_array(bytes)?;
                    header.format = u16_at(&extension[8..]);
                }
            }
            bytes.seek(SeekFrom::Start(next))?;
        }
    }

    fn check(&self) -> io::Result<()> {
        let found = match (self.format, self.bits) {
            (INTEGERS, 8 | 16 | 24 | 32) | (FLOATS, 32) => return Ok(()),
            (INTEGERS, bits) => format!("integers of {bits} bits"),
            (FLOATS, bits) => format!("floats of {bits} bits"),
            (format, _) => format!("compressed or unknown (format tag {format})"),
        };
        let message = format!(
            "unsupported samples: found {found}, expected integers of 8, 16, 24 or 32 bits, or floats of 32 bits"
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    /// The bytes of samples in a file of `file_bytes` bytes.
    fn sample_bytes(&self, file_bytes: u64) -> io::Result<u32> {
        let rest = file_bytes.saturating_sub(self.first);
        // A length of 0 is correct in a file without samples that has other chunks after them. Then the length of the
        // file in its header includes those chunks.
        let unset = self.length == 0 && (u64::from(self.file) + 8 <= self.first || self.file >= UNKNOWN);
        let known = !unset && (self.length < UNKNOWN || u64::from(self.length) <= rest);
        if known {
            return Ok(self.length);
        }
        let rest = rest - rest % u64::from(self.frame.max(1));
        u32::try_from(rest).map_err(|_| {
            io::Error::new(io::ErrorKind::Unsupported, "WAV files of more than 4 GiB are not supported")
        })
    }
}

/// The format tag of integer samples.
const INTEGERS: u16 = 1;
/// The format tag of float samples.
const FLOATS: u16 = 3;
/// The format tag of a header with an extension that has the actual format tag.
const EXTENDED: u16 = 0xfffe;

fn read_array<const N: usize>(bytes: &mut impl Read) -> io::Result<[u8; N]> {
    let mut array = [0; N];
    bytes.read_exact(&mut array).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the WAV file is truncated"),
        _ => error,
    })?;
    Ok(array)
}

/// The little-endian number at the start of `bytes`.
fn u32_at(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The little-endian number at the start of `bytes`.
fn u16_at(bytes: &[u8]) -> u16 {
    bytes.iter().take(2).rev().fold(0, |number, byte| number << 8 | u16::from(*byte))
}

fn not_wav() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not a WAV file")
}
