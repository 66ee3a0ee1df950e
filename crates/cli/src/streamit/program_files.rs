//! The files that a program reads and writes: those that it names, or replacements from the command line.

use super::run::SharedOutput;
use super::wav::{DEFAULT, Described, Format, Samples, Standard, Wanted, WavSink, is_int};
use crate::interrupt::Interrupt;
use crate::standard::{self, is_dash};
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thalweg::embed::graph::shown;
use thalweg_files::partial_name;
use thalweg_lang::files::{self, Files, Form, Input, Layout, Named, Output, STANDARD, Sink, Source, of_file};

/// The files of a program.
pub(super) struct ProgramFiles {
    /// The file to read instead of the one that the program's only reader names.
    pub(super) input: Option<PathBuf>,
    /// The file to write instead of the one that the program's only writer names.
    pub(super) output: Option<PathBuf>,
    /// The encoding of items in files other than WAV.
    pub(super) form: Form,
    /// The sound that was opened last.
    pub(super) sound: Sound,
    /// What the options demand of sound that is written.
    pub(super) wanted: Wanted,
    /// Standard output.
    pub(super) out: SharedOutput,
    /// Interrupts reads of pipes, and waits for their other ends.
    pub(super) interrupt: Interrupt,
    /// The files that were created, which have their names when they are finished.
    pub(super) created: Vec<PathBuf>,
}

/// Sound that a program reads, which decides the format of sound that it writes.
pub(super) enum Sound {
    None,
    File(Format),
    /// The beginning of standard input may not have been read.
    Standard(Standard),
}

impl Sound {
    fn format(&self) -> io::Result<Format> {
        Ok(match self {
            Sound::None => DEFAULT,
            Sound::File(format) => *format,
            Sound::Standard(standard) => standard.format()?.unwrap_or(DEFAULT),
        })
    }
}

pub(super) fn is_wav(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("wav"))
}

/// The name of a file in messages.
fn name(path: &Path) -> String {
    shown(path).to_string()
}

/// The file that an interrupted run leaves in place of an output. The target of a link is replaced, not the link.
pub(super) fn partial_path(output: &Path) -> PathBuf {
    let replaced = if output.is_symlink() { output.canonicalize().ok() } else { None };
    partial_name(replaced.as_deref().unwrap_or(output))
}

impl ProgramFiles {
    /// What an interrupted run has written, as its last message.
    pub(super) fn partial_note(&self) -> String {
        let names = self.created.iter().map(|path| format!("`{}`", shown(&partial_path(path))));
        match &names.collect::<Vec<_>>()[..] {
            [] => "interrupted".to_owned(),
            [one] => format!("interrupted: {one} has the output so far"),
            several => format!("interrupted: {} have the output so far", several.join(", ")),
        }
    }

    /// Opens a WAV file. The first header decides the format, also where the input is opened again.
    fn sound(&mut self, path: PathBuf, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let name = name(&path);
        let with_name = |error| of_file(&name, &error);
        let is_int = is_int(item).map_err(with_name)?;
        let (interrupt, described) = (self.interrupt.clone(), Described::new(format!("the file `{name}`")));
        let samples = move || {
            let (input, bytes) = open(&path, &interrupt)?;
            Samples::new(input, bytes, is_int, described.clone())
        };
        let first = samples().map_err(with_name)?;
        self.sound = Sound::File(first.format());
        let first = Mutex::new(Some(first));
        let again = move || {
            let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
            first.map_or_else(&samples, Ok).map(|samples| Box::new(samples) as Box<dyn Input>)
        };
        files::source(Form::Binary, &name, Box::new(again), item)
    }

    /// Opens standard input, which is sound if it begins as a WAV file does.
    fn standard(&mut self, is_int: bool, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let dash = Path::new(STANDARD);
        let (input, bytes) = open(dash, &self.interrupt).map_err(|error| of_file(STANDARD, &error))?;
        let standard = Standard::new(input, bytes, is_int, Described::new("standard input".to_owned()));
        self.sound = Sound::Standard(standard.clone());
        files::source(Form::Binary, STANDARD, Box::new(move || Ok(Box::new(standard.clone()))), item)
    }
}

impl Files for ProgramFiles {
    fn source(&mut self, named: &str, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let path = self.input.clone().unwrap_or_else(|| named.into());
        if is_wav(&path) {
            return self.sound(path, item);
        }
        match is_int(item) {
            Ok(is_int) if is_dash(&path) && self.form == Form::Binary => self.standard(is_int, item),
            _ => {
                let (name, interrupt) = (name(&path), self.interrupt.clone());
                files::source(self.form, &name, Box::new(move || Ok(open(&path, &interrupt)?.0)), item)
            }
        }
    }

    fn sink(&mut self, named: &str, item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        self.sink_at_rate(named, item, None)
    }

    fn sink_at_rate(
        &mut self,
        named: &str,
        item: &Layout<'_>,
        rate: Option<u32>,
    ) -> io::Result<Box<dyn Sink>> {
        let path = self.output.clone().unwrap_or_else(|| named.into());
        let with_name = |error| of_file(&name(&path), &error);
        if is_wav(&path) {
            let format = self.sound.format().map_err(|error| of_file(STANDARD, &error))?;
            let wanted = Wanted { rate: self.wanted.rate.or(rate), ..self.wanted };
            let sink = is_int(item)
                .and_then(|is_int| WavSink::create(&path, is_int, format, wanted))
                .map_err(with_name)?;
            self.created.push(path.clone());
            return Ok(Box::new(Named::sink(&name(&path), Box::new(sink))));
        }
        let output = if is_dash(&path) {
            Output::Open(Box::new(self.out.clone()))
        } else {
            create(&path, &self.interrupt).map_err(with_name)?
        };
        if let Output::New(_) = output {
            self.created.push(path.clone());
        }
        Ok(files::sink(self.form, &name(&path), output, item))
    }
}

/// Opens a file to read, or standard input. Returns also its bytes from the present place on, if it is a regular file. A
/// signal makes a blocked open or read of a pipe fail.
fn open(path: &Path, interrupt: &Interrupt) -> io::Result<(Box<dyn Input>, Option<u64>)> {
    let mut file =
        if is_dash(path) { standard::stdin()? } else { interrupt.open(path, File::options().read(true))? };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok((Box::new(interrupt.input(file)), None));
    }
    let bytes = meta.len().saturating_sub(file.stream_position()?);
    Ok((Box::new(file), Some(bytes)))
}

/// Creates a file, or opens an existing pipe or device to write. A signal makes a wait for the reader of a pipe fail, also one
/// for room.
fn create(path: &Path, interrupt: &Interrupt) -> io::Result<Output> {
    if path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        let file = interrupt.open(path, File::options().write(true))?;
        return Ok(Output::Open(Box::new(interrupt.output(file)?)));
    }
    Output::create(path)
}
