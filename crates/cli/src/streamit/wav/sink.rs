//! A WAV file that is written.

use super::header::Format;
use crate::standard::eprint;
use hound::{SampleFormat, WavSpec, WavWriter};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use thalweg::embed::graph::shown;
use thalweg_files::OutFile;
use thalweg_lang::files::Sink;
use thalweg_lang::value::Value;

/// Bits of an integer sample that is made of a float, or of the input's float.
const BITS_OF_FLOAT: u16 = 16;

/// The maximum number of bytes of samples. It has 32 bits, and so has that of the file, which includes the header.
const MAX_BYTES: u32 = u32::MAX - 100;

/// What the user or the program demands of sound that is written.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Wanted {
    /// Samples of a channel in a second.
    pub rate: Option<u32>,
    /// Integer samples with this number of bits.
    pub bits: Option<u16>,
}

/// A WAV file that is written. Integers have as many bits as in the file that was read, or 16. Floats have 32 bits.
pub(crate) struct WavSink {
    /// The file, which gets its name when it is finished.
    file: OutFile,
    path: PathBuf,
    /// Bits of an `int` that the program writes, of which the largest is full scale.
    bits_of_int: u16,
    format: WavSpec,
    /// The samples of an incomplete frame (one sample for each channel).
    frame: Vec<Value>,
    writer: WavWriter<BufWriter<File>>,
    /// The bytes of samples that the file has room for.
    left: u32,
}

impl WavSink {
    /// Sound of `int` or `float` items, in the format of the sound that was read, `like`, but for what is `wanted`.
    pub fn create(path: &Path, is_int: bool, like: Format, wanted: Wanted) -> io::Result<WavSink> {
        let is_regular = path.metadata().map_or(true, |meta| meta.is_file());
        if !is_regular {
            let message = "a WAV file can only be written to a regular file";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let bits_of_int = if like.floats { BITS_OF_FLOAT } else { 8 * like.bytes };
        let bits = wanted.bits.or(is_int.then_some(bits_of_int));
        let format = WavSpec {
            channels: like.channels,
            sample_rate: wanted.rate.unwrap_or(like.rate),
            bits_per_sample: bits.unwrap_or(32),
            sample_format: if bits.is_some() { SampleFormat::Int } else { SampleFormat::Float },
        };
        check(&format)?;
        let file = OutFile::create(path, true)?.durable(false);
        let writer = WavWriter::new(BufWriter::new(file.file().try_clone()?), format).map_err(wav_error)?;
        let (path, frame, left) = (path.to_owned(), Vec::new(), MAX_BYTES);
        Ok(WavSink { file, path, bits_of_int, format, frame, writer, left })
    }

    fn write(&mut self, sample: &Value) -> io::Result<()> {
        let is_int = self.format.sample_format == SampleFormat::Int;
        let written = match *sample {
            Value::Int(sample) => {
                let sample = rescaled(sample, self.bits_of_int, self.format.bits_per_sample);
                self.writer.write_sample(sample)
            }
            Value::Float(sample) if is_int => {
                let full_scale = (1u64 << (self.format.bits_per_sample - 1)) as f32;
                // The conversion saturates, and makes 0 of NaN.
                let sample = (sample * full_scale).round() as i32;
                self.writer.write_sample(clamped(sample.into(), self.format.bits_per_sample))
            }
            Value::Float(sample) => self.writer.write_sample(sample),
            _ => Ok(()),
        };
        written.map_err(wav_error)
    }
}

/// Refuses a format that the fields of a header cannot hold. The WAV library would panic, or write other numbers.
fn check(format: &WavSpec) -> io::Result<()> {
    let (rate, frame) = (format.sample_rate, bytes_of_frame(format));
    if rate == 0 {
        let message = "the sound that the program reads has the sample rate 0: choose one with `--rate HZ`";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    if u16::try_from(frame).is_err() || rate.checked_mul(frame).is_none() {
        let (channels, bits) = (format.channels, format.bits_per_sample);
        let message =
            format!("a WAV file cannot hold {channels} channels of {bits} bits at {rate} samples a second");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(())
}

/// The bytes of a sample of each channel.
fn bytes_of_frame(format: &WavSpec) -> u32 {
    u32::from(format.channels) * u32::from(format.bits_per_sample / 8)
}

/// A sample of `from` bits as one of `to` bits, rounded and clamped.
fn rescaled(sample: i32, from: u16, to: u16) -> i32 {
    let sample = i64::from(sample);
    let scaled = match from.checked_sub(to) {
        Some(0) => sample,
        Some(less) => (sample + (1 << (less - 1))) >> less,
        None => sample << (to - from),
    };
    clamped(scaled, to)
}

/// The nearest sample of `bits` bits.
fn clamped(sample: i64, bits: u16) -> i32 {
    let max = i32::MAX >> (32 - bits);
    sample.clamp(i64::from(-max - 1), max.into()) as i32
}

/// Converts an error of the WAV library.
fn wav_error(error: hound::Error) -> io::Error {
    match error {
        hound::Error::IoError(error) => error,
        error => io::Error::other(error),
    }
}

impl Sink for WavSink {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        self.frame.push(item.clone());
        if self.frame.len() < self.format.channels.into() {
            return Ok(());
        }
        let left = self.left.checked_sub(bytes_of_frame(&self.format));
        self.left = left
            .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "a WAV file holds 4 GiB at most"))?;
        let mut frame = std::mem::take(&mut self.frame);
        let written = frame.iter().try_for_each(|sample| self.write(sample));
        frame.clear();
        self.frame = frame;
        written
    }

    fn mark_partial(&mut self) {
        self.file.mark_partial();
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let WavSink { file, path, writer, frame, format, .. } = *self;
        if !frame.is_empty() {
            eprint(&format!(
                "warning: the file `{}`: dropped the last {} samples, which are less than a frame of {} channels",
                shown(path),
                frame.len(),
                format.channels
            ));
        }
        writer.finalize().map_err(wav_error)?;
        Ok(file.commit()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_full_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let like = Format { channels: 2, rate: 8000, bytes: 2, floats: false };
        let path = folder.path().join("made.wav");
        let mut sink = WavSink::create(&path, true, like, Wanted::default()).unwrap();
        sink.left = 7;
        let pushed = [1, 2, 3, 4].map(|sample| sink.push(&Value::Int(sample)).map_err(|error| error.kind()));
        assert_eq!(pushed, [Ok(()), Ok(()), Ok(()), Err(io::ErrorKind::FileTooLarge)]);
    }

    #[test]
    fn samples_keep_their_share_of_full_scale() {
        assert_eq!(
            [0x7f_ffff, -0x80_0000, 127, 128, -129].map(|s| rescaled(s, 24, 16)),
            [32767, -32768, 0, 1, -1]
        );
        assert_eq!([127, -128].map(|sample| rescaled(sample, 8, 16)), [32512, -32768]);
        assert_eq!([40_000, -40_000].map(|sample| rescaled(sample, 16, 16)), [32767, -32768]);
        assert_eq!([i32::MAX, i32::MIN].map(|sample| rescaled(sample, 32, 32)), [i32::MAX, i32::MIN]);
    }
}
