//! Files that stand for those that a program names, and sound.

use super::run::Shared;
use crate::interrupt::Interrupt;
use crate::standard::{self, is_dash};
use hound::{SampleFormat, WavSpec, WavWriter};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use thalweg_lang::files::{self, Files, Form, Input, Layout, Named, Output, Sink, Source, Unnamed, of_file};
use thalweg_lang::hir::Type;
use thalweg_lang::value::{Shape, Value};

/// The program's files, or others in their place.
pub(super) struct Media {
    /// What is read in place of what the program's only reader names.
    pub(super) input: Option<PathBuf>,
    /// What is written in place of what the program's only writer names.
    pub(super) output: Option<PathBuf>,
    /// How items stand in files that are no sound.
    pub(super) form: Form,
    /// What sound is like that is written: like what was read.
    pub(super) sound: WavSpec,
    /// Standard output.
    pub(super) out: Shared,
    /// Ends waits for input, and for the other ends of pipes.
    pub(super) interrupt: Interrupt,
}

/// What sound is like where none is read.
pub(super) const SOUND: WavSpec =
    WavSpec { channels: 1, sample_rate: 44_100, bits_per_sample: 16, sample_format: SampleFormat::Int };

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
            let (name, interrupt) = (name(&path), self.interrupt.clone());
            return files::source(self.form, &name, Box::new(move || open(&path, &interrupt)), item);
        }
        let named = |error| of_file(&name(&path), &error);
        let samples = Samples::open(path.clone(), is_int(item).map_err(named)?).map_err(named)?;
        self.sound = samples.reader.spec();
        Ok(Box::new(Named::source(&name(&path), Box::new(samples))))
    }

    fn sink(&mut self, said: &str, item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        let path = self.output.clone().unwrap_or_else(|| said.into());
        let named = |error| of_file(&name(&path), &error);
        if is_sound(&path) {
            let sound =
                is_int(item).and_then(|is_int| Sound::create(&path, is_int, self.sound)).map_err(named)?;
            return Ok(Box::new(Named::sink(&name(&path), Box::new(sound))));
        }
        let output = if is_dash(&path) {
            Output::Open(Box::new(self.out.clone()))
        } else {
            create(&path, &self.interrupt).map_err(named)?
        };
        Ok(files::sink(self.form, &name(&path), output, item))
    }
}

/// Opens what is read; a signal ends the wait for a pipe.
fn open(path: &Path, interrupt: &Interrupt) -> io::Result<Box<dyn Input>> {
    let file =
        if is_dash(path) { standard::stdin()? } else { interrupt.open(path, File::options().read(true))? };
    Ok(if file.metadata()?.is_file() { Box::new(file) } else { Box::new(interrupt.input(file)) })
}

/// Makes what is written; a signal ends the wait for who reads a pipe.
fn create(path: &Path, interrupt: &Interrupt) -> io::Result<Output> {
    if path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Ok(Output::Open(Box::new(interrupt.open(path, File::options().write(true))?)));
    }
    Output::create(path)
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
        // It has words of its own for this, which do not say what is wrong.
        hound::Error::IoError(error) if error.to_string() == "Failed to read enough bytes." => {
            io::Error::new(io::ErrorKind::UnexpectedEof, "the sound is cut off")
        }
        hound::Error::IoError(error) => error,
        error => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
    }
}

/// What is said of a file that does not begin as sound does, however short it is.
fn no_sound(path: &Path) -> Option<io::Error> {
    // The other end of a pipe would be waited for.
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut begin = Vec::new();
    File::open(path).ok()?.take(12).read_to_end(&mut begin).ok()?;
    let is_sound = begin.starts_with(b"RIFF") && begin.ends_with(b"WAVE");
    (!is_sound).then(|| io::Error::new(io::ErrorKind::InvalidData, "it is no sound file (WAV)"))
}

/// The samples of a file, channels in turn: as they are, or from -1 to 1.
struct Samples {
    path: PathBuf,
    reader: hound::WavReader<BufReader<File>>,
    is_int: bool,
}

impl Samples {
    fn open(path: PathBuf, is_int: bool) -> io::Result<Samples> {
        let reader =
            hound::WavReader::open(&path).map_err(|error| no_sound(&path).unwrap_or(broken(error)))?;
        Ok(Samples { path, reader, is_int })
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
        self.reader = hound::WavReader::open(&self.path).map_err(broken)?;
        Ok(true)
    }
}

/// Sound that is written: of integers, with as many bits a sample as what was read has, or 16; floats as they are.
struct Sound {
    /// The file without a name of its own yet.
    file: Unnamed,
    bits: u16,
    writer: WavWriter<BufWriter<File>>,
}

impl Sound {
    fn create(path: &Path, is_int: bool, like: WavSpec) -> io::Result<Sound> {
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
        Ok(Sound { file, bits: format.bits_per_sample, writer })
    }
}

impl Sink for Sound {
    fn give(&mut self, item: &Value) -> io::Result<()> {
        let written = match item {
            Value::Int(sample) => {
                let most = i32::MAX >> (32 - self.bits);
                self.writer.write_sample((*sample).clamp(-most - 1, most))
            }
            Value::Float(sample) => self.writer.write_sample(*sample),
            _ => Ok(()),
        };
        written.map_err(broken)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let Sound { file, writer, .. } = *self;
        writer.finalize().map_err(broken)?;
        file.appear()
    }
}
