//! Sound in WAV files.

use super::wave::Wave;
use crate::standard::complain;
use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use thalweg_lang::files::{Layout, Sink, Source, Unnamed};
use thalweg_lang::hir::Type;
use thalweg_lang::value::{Shape, Value};

/// What sound is like where none is read.
pub(super) const SOUND: WavSpec =
    WavSpec { channels: 1, sample_rate: 44_100, bits_per_sample: 16, sample_format: SampleFormat::Int };

/// Whether samples are integers; else they are floats.
pub(super) fn is_int(item: &Layout<'_>) -> io::Result<bool> {
    match item.shape {
        Shape::Scalar(Type::Int) => Ok(true),
        Shape::Scalar(Type::Float) => Ok(false),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "sound is of `int` or `float` samples")),
    }
}

fn broken(error: hound::Error) -> io::Error {
    match error {
        // It has words of its own for this, which do not say what is wrong.
        hound::Error::IoError(error) if error.to_string() == "Failed to read enough bytes." => {
            io::Error::new(io::ErrorKind::UnexpectedEof, "the sound is cut off")
        }
        hound::Error::IoError(error) => error,
        error => {
            let why = error.to_string();
            let why = why.rsplit(": ").next().unwrap_or_default();
            let message =
                format!("its header is damaged, or of an unusual kind ({why}): save it anew as WAV");
            io::Error::new(io::ErrorKind::InvalidData, message)
        }
    }
}

/// The samples of a file, channels in turn: as they are, or from -1 to 1.
pub(super) struct Samples {
    path: PathBuf,
    reader: WavReader<Wave>,
    is_int: bool,
}

impl Samples {
    pub(super) fn open(path: PathBuf, is_int: bool) -> io::Result<Samples> {
        let reader = WavReader::new(Wave::open(&path)?).map_err(broken)?;
        Ok(Samples { path, reader, is_int })
    }

    /// What the sound is like.
    pub(super) fn spec(&self) -> WavSpec {
        self.reader.spec()
    }
}

impl Source for Samples {
    fn next(&mut self) -> io::Result<Option<Value>> {
        let format = self.reader.spec();
        let full = (1u64 << (format.bits_per_sample - 1)) as f32;
        let sample =
            match format.sample_format {
                SampleFormat::Int => {
                    let sample = self.reader.samples::<i32>().next().transpose().map_err(broken)?;
                    sample.map(|sample| {
                        if self.is_int { Value::Int(sample) } else { Value::Float(sample as f32 / full) }
                    })
                }
                SampleFormat::Float => {
                    let sample = self.reader.samples::<f32>().next().transpose().map_err(broken)?;
                    let integer = |sample: f32| (sample * 32768.0) as i32;
                    sample.map(|s| if self.is_int { Value::Int(integer(s)) } else { Value::Float(s) })
                }
            };
        Ok(sample)
    }

    fn rewind(&mut self) -> io::Result<bool> {
        self.reader = WavReader::new(Wave::open(&self.path)?).map_err(broken)?;
        Ok(true)
    }
}

/// Sound that is written: of integers, with as many bits a sample as what was read has, or 16; floats as they are.
pub(super) struct Sound {
    /// The file without a name of its own yet.
    file: Unnamed,
    path: PathBuf,
    bits: u16,
    channels: usize,
    /// Samples of a moment for which there is not one of each channel yet.
    moment: Vec<Value>,
    writer: WavWriter<BufWriter<File>>,
}

impl Sound {
    pub(super) fn create(path: &Path, is_int: bool, like: WavSpec) -> io::Result<Sound> {
        let is_plain = path.metadata().map_or(true, |there| there.is_file());
        if !is_plain {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "sound is written to plain files"));
        }
        let mut file = Unnamed::create(path)?;
        let format = match (is_int, like.sample_format) {
            (false, _) => WavSpec { bits_per_sample: 32, sample_format: SampleFormat::Float, ..like },
            (true, SampleFormat::Int) => like,
            (true, SampleFormat::Float) => {
                WavSpec { bits_per_sample: 16, sample_format: SampleFormat::Int, ..like }
            }
        };
        let writer = WavWriter::new(BufWriter::new(file.file().try_clone()?), format).map_err(broken)?;
        Ok(Sound {
            file,
            path: path.to_owned(),
            bits: format.bits_per_sample,
            channels: format.channels.into(),
            moment: Vec::new(),
            writer,
        })
    }

    fn write(&mut self, sample: &Value) -> io::Result<()> {
        let written = match sample {
            Value::Int(sample) => {
                let most = i32::MAX >> (32 - self.bits);
                self.writer.write_sample((*sample).clamp(-most - 1, most))
            }
            Value::Float(sample) => self.writer.write_sample(*sample),
            _ => Ok(()),
        };
        written.map_err(broken)
    }
}

impl Sink for Sound {
    fn give(&mut self, item: &Value) -> io::Result<()> {
        self.moment.push(item.clone());
        if self.moment.len() < self.channels {
            return Ok(());
        }
        let mut moment = std::mem::take(&mut self.moment);
        let written = moment.iter().try_for_each(|sample| self.write(sample));
        moment.clear();
        self.moment = moment;
        written
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let Sound { file, path, writer, moment, channels, .. } = *self;
        if !moment.is_empty() {
            complain(&format!(
                "warning: the file `{}`: the last {} of its samples are left out, since sound of {channels} channels has \
                 one of each",
                path.display(),
                moment.len()
            ));
        }
        writer.finalize().map_err(broken)?;
        file.appear()
    }
}
