//! Reads and writes WAV files as streams of samples.

use super::wav_header::WavFile;
use crate::standard::eprint;
use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use thalweg::graph::shown;
use thalweg_files::OutFile;
use thalweg_lang::files::{Layout, Sink, Source};
use thalweg_lang::hir::Type;
use thalweg_lang::value::{Shape, Value};

/// The format of a WAV file to write if the program reads none.
pub(super) const DEFAULT_WAV: WavSpec =
    WavSpec { channels: 1, sample_rate: 44_100, bits_per_sample: 16, sample_format: SampleFormat::Int };

/// Whether items are integers. Otherwise they are floats. Fails for other types.
pub(super) fn is_int(item: &Layout<'_>) -> io::Result<bool> {
    match item.shape {
        Shape::Scalar(Type::Int) => Ok(true),
        Shape::Scalar(Type::Float) => Ok(false),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "a WAV file holds `int` or `float` samples")),
    }
}

/// Converts an error of the WAV library, with a message that names the problem.
fn wav_error(error: hound::Error) -> io::Error {
    match error {
        // The library's own message for a truncated file.
        hound::Error::IoError(error) if error.to_string() == "Failed to read enough bytes." => {
            io::Error::new(io::ErrorKind::UnexpectedEof, "the WAV file is truncated")
        }
        hound::Error::IoError(error) => error,
        error => {
            let why = error.to_string();
            let why = why.rsplit(": ").next().unwrap_or_default();
            let message =
                format!("the WAV header is damaged or not supported ({why}); save the file again as WAV");
            io::Error::new(io::ErrorKind::InvalidData, message)
        }
    }
}

/// The samples of a WAV file, with interleaved channels: `int` samples as stored, or `float` samples from -1 to 1.
pub(super) struct WavSource {
    path: PathBuf,
    reader: WavReader<WavFile>,
    is_int: bool,
}

impl WavSource {
    pub(super) fn open(path: PathBuf, is_int: bool) -> io::Result<WavSource> {
        let reader = WavReader::new(WavFile::open(&path)?).map_err(wav_error)?;
        Ok(WavSource { path, reader, is_int })
    }

    /// The format of the file.
    pub(super) fn spec(&self) -> WavSpec {
        self.reader.spec()
    }
}

impl Source for WavSource {
    fn next(&mut self) -> io::Result<Option<Value>> {
        let format = self.reader.spec();
        let full_scale = (1u64 << (format.bits_per_sample - 1)) as f32;
        let sample = match format.sample_format {
            SampleFormat::Int => {
                let sample = self.reader.samples::<i32>().next().transpose().map_err(wav_error)?;
                sample.map(|sample| {
                    if self.is_int { Value::Int(sample) } else { Value::Float(sample as f32 / full_scale) }
                })
            }
            SampleFormat::Float => {
                let sample = self.reader.samples::<f32>().next().transpose().map_err(wav_error)?;
                let integer = |sample: f32| (sample * 32768.0) as i32;
                sample.map(|s| if self.is_int { Value::Int(integer(s)) } else { Value::Float(s) })
            }
        };
        Ok(sample)
    }

    fn rewind(&mut self) -> io::Result<bool> {
        self.reader = WavReader::new(WavFile::open(&self.path)?).map_err(wav_error)?;
        Ok(true)
    }
}

/// A WAV file that is written. Integers have as many bits as in the file that was read, or 16. Floats have 32 bits.
pub(super) struct WavSink {
    /// The file, which gets its name when it is finished.
    file: OutFile,
    path: PathBuf,
    bits: u16,
    channels: usize,
    /// The samples of an incomplete frame (one sample for each channel).
    frame: Vec<Value>,
    writer: WavWriter<BufWriter<File>>,
}

impl WavSink {
    pub(super) fn create(path: &Path, is_int: bool, like: WavSpec) -> io::Result<WavSink> {
        let is_regular = path.metadata().map_or(true, |meta| meta.is_file());
        if !is_regular {
            let message = "a WAV file can only be written to a regular file";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let file = OutFile::create(path, true)?.durable(false);
        let format = match (is_int, like.sample_format) {
            (false, _) => WavSpec { bits_per_sample: 32, sample_format: SampleFormat::Float, ..like },
            (true, SampleFormat::Int) => like,
            (true, SampleFormat::Float) => {
                WavSpec { bits_per_sample: 16, sample_format: SampleFormat::Int, ..like }
            }
        };
        let writer = WavWriter::new(BufWriter::new(file.file().try_clone()?), format).map_err(wav_error)?;
        Ok(WavSink {
            file,
            path: path.to_owned(),
            bits: format.bits_per_sample,
            channels: format.channels.into(),
            frame: Vec::new(),
            writer,
        })
    }

    fn write(&mut self, sample: &Value) -> io::Result<()> {
        let written = match sample {
            Value::Int(sample) => {
                let max = i32::MAX >> (32 - self.bits);
                self.writer.write_sample((*sample).clamp(-max - 1, max))
            }
            Value::Float(sample) => self.writer.write_sample(*sample),
            _ => Ok(()),
        };
        written.map_err(wav_error)
    }
}

impl Sink for WavSink {
    fn push(&mut self, item: &Value) -> io::Result<()> {
        self.frame.push(item.clone());
        if self.frame.len() < self.channels {
            return Ok(());
        }
        let mut frame = std::mem::take(&mut self.frame);
        let written = frame.iter().try_for_each(|sample| self.write(sample));
        frame.clear();
        self.frame = frame;
        written
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let WavSink { file, path, writer, frame, channels, .. } = *self;
        if !frame.is_empty() {
            eprint(&format!(
                "warning: the file `{}`: dropped the last {} samples, which are less than a frame of {channels} channels",
                shown(path),
                frame.len()
            ));
        }
        writer.finalize().map_err(wav_error)?;
        Ok(file.commit()?)
    }
}
