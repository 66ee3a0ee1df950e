//! Files that stand for those that a program names, and sound.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use thalweg_lang::files::{Disk, Files, Layout, Sink, Source, appear};
use thalweg_lang::hir::Type;
use thalweg_lang::value::{Shape, Value};

/// The program's files, or others in their place.
#[derive(Debug)]
pub(super) struct Media {
    /// What is read in place of what the program's only reader names.
    pub(super) input: Option<PathBuf>,
    /// What is written in place of what the program's only writer names.
    pub(super) output: Option<PathBuf>,
    /// How items stand in files that are no sound.
    pub(super) disk: Disk,
    /// Samples a second and channels of sound that is written: those of what was read.
    pub(super) sound: (u32, u16),
}

fn is_sound(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("wav"))
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Files for Media {
    fn source(&mut self, said: &str, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let path = self.input.clone().unwrap_or_else(|| said.into());
        if !is_sound(&path) {
            return self.disk.source(&name(&path), item);
        }
        let samples = Samples::open(path, is_int(item)?)?;
        let format = samples.reader.spec();
        self.sound = (format.sample_rate, format.channels);
        Ok(Box::new(samples))
    }

    fn sink(&mut self, said: &str, item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        let path = self.output.clone().unwrap_or_else(|| said.into());
        if !is_sound(&path) {
            return self.disk.sink(&name(&path), item);
        }
        Ok(Box::new(Sound::create(path, is_int(item)?, self.sound)?))
    }
}

/// Whether samples are integers; else they are floats.
fn is_int(item: &Layout<'_>) -> io::Result<bool> {
    match item.shape {
        Shape::Scalar(Type::Int) => Ok(true),
        Shape::Scalar(Type::Float) => Ok(false),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "sound is of `int` or `float` samples")),
    }
}

fn broken(error: hound::Error) -> io::Error {
    match error {
        hound::Error::IoError(error) => error,
        error => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
    }
}

/// The samples of a file, channels in turn: as they are, or from -1 to 1.
struct Samples {
    path: PathBuf,
    reader: hound::WavReader<BufReader<File>>,
    is_int: bool,
}

impl Samples {
    fn open(path: PathBuf, is_int: bool) -> io::Result<Samples> {
        let reader = hound::WavReader::open(&path).map_err(broken)?;
        Ok(Samples { path, reader, is_int })
    }
}

impl Source for Samples {
    fn next(&mut self) -> io::Result<Option<Value>> {
        let format = self.reader.spec();
        let full = (1u64 << (format.bits_per_sample - 1)) as f32;
        let sample =
            match format.sample_format {
                hound::SampleFormat::Int => {
                    let sample = self.reader.samples::<i32>().next().transpose().map_err(broken)?;
                    sample.map(|sample| {
                        if self.is_int { Value::Int(sample) } else { Value::Float(sample as f32 / full) }
                    })
                }
                hound::SampleFormat::Float => {
                    let sample = self.reader.samples::<f32>().next().transpose().map_err(broken)?;
                    let integer = |sample: f32| (sample * 32768.0) as i32;
                    sample.map(|s| if self.is_int { Value::Int(integer(s)) } else { Value::Float(s) })
                }
            };
        Ok(sample)
    }

    fn rewind(&mut self) -> io::Result<bool> {
        self.reader = hound::WavReader::open(&self.path).map_err(broken)?;
        Ok(true)
    }
}

/// Sound that is written: 16 bits a sample for integers, floats as they are.
struct Sound {
    path: PathBuf,
    /// The file without a name of its own yet.
    file: tempfile::NamedTempFile,
    writer: hound::WavWriter<BufWriter<File>>,
}

impl Sound {
    fn create(path: PathBuf, is_int: bool, (sample_rate, channels): (u32, u16)) -> io::Result<Sound> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new().prefix(".thalweg-").tempfile_in(folder)?;
        let (bits_per_sample, sample_format) =
            if is_int { (16, hound::SampleFormat::Int) } else { (32, hound::SampleFormat::Float) };
        let format = hound::WavSpec { channels, sample_rate, bits_per_sample, sample_format };
        let writer = hound::WavWriter::new(BufWriter::new(file.reopen()?), format).map_err(broken)?;
        Ok(Sound { path, file, writer })
    }
}

impl Sink for Sound {
    fn give(&mut self, item: &Value) -> io::Result<()> {
        let written = match item {
            Value::Int(sample) => {
                let range = i32::from(i16::MIN)..=i32::from(i16::MAX);
                self.writer.write_sample((*sample).clamp(*range.start(), *range.end()))
            }
            Value::Float(sample) => self.writer.write_sample(*sample),
            _ => Ok(()),
        };
        written.map_err(broken)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let Sound { path, file, writer } = *self;
        writer.finalize().map_err(broken)?;
        appear(file, &path)
    }
}
