//! The files that a program reads and writes: those that it names, or replacements from the command line.

use super::run::SharedOutput;
use super::wav::{WavSink, WavSource, is_int};
use crate::interrupt::Interrupt;
use crate::standard::{self, is_dash};
use hound::WavSpec;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use thalweg::graph::shown;
use thalweg_lang::files::{self, Files, Form, Input, Layout, Named, Output, Sink, Source, of_file};

/// The files of a program.
pub(super) struct ProgramFiles {
    /// The file to read instead of the one that the program's only reader names.
    pub(super) input: Option<PathBuf>,
    /// The file to write instead of the one that the program's only writer names.
    pub(super) output: Option<PathBuf>,
    /// The encoding of items in files other than WAV.
    pub(super) form: Form,
    /// The format of WAV files to write: that of the last WAV file opened for reading.
    pub(super) wav: WavSpec,
    /// Standard output.
    pub(super) out: SharedOutput,
    /// Interrupts reads of pipes, and waits for their other ends.
    pub(super) interrupt: Interrupt,
}

fn is_wav(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("wav"))
}

/// The name of a file in messages.
fn name(path: &Path) -> String {
    shown(path).to_string()
}

impl Files for ProgramFiles {
    fn source(&mut self, named: &str, item: &Layout<'_>) -> io::Result<Box<dyn Source>> {
        let path = self.input.clone().unwrap_or_else(|| named.into());
        if !is_wav(&path) {
            let (name, interrupt) = (name(&path), self.interrupt.clone());
            return files::source(self.form, &name, Box::new(move || open(&path, &interrupt)), item);
        }
        let with_name = |error| of_file(&name(&path), &error);
        let source = WavSource::open(path.clone(), is_int(item).map_err(with_name)?).map_err(with_name)?;
        self.wav = source.spec();
        Ok(Box::new(Named::source(&name(&path), Box::new(source))))
    }

    fn sink(&mut self, named: &str, item: &Layout<'_>) -> io::Result<Box<dyn Sink>> {
        let path = self.output.clone().unwrap_or_else(|| named.into());
        let with_name = |error| of_file(&name(&path), &error);
        if is_wav(&path) {
            let sink = is_int(item)
                .and_then(|is_int| WavSink::create(&path, is_int, self.wav))
                .map_err(with_name)?;
            return Ok(Box::new(Named::sink(&name(&path), Box::new(sink))));
        }
        let output = if is_dash(&path) {
            Output::Open(Box::new(self.out.clone()))
        } else {
            create(&path, &self.interrupt).map_err(with_name)?
        };
        Ok(files::sink(self.form, &name(&path), output, item))
    }
}

/// Opens a file to read. A signal makes a blocked open or read of a pipe fail.
fn open(path: &Path, interrupt: &Interrupt) -> io::Result<Box<dyn Input>> {
    let file =
        if is_dash(path) { standard::stdin()? } else { interrupt.open(path, File::options().read(true))? };
    Ok(if file.metadata()?.is_file() { Box::new(file) } else { Box::new(interrupt.input(file)) })
}

/// Creates a file, or opens an existing pipe or device to write. A signal makes a wait for the reader of a pipe fail.
fn create(path: &Path, interrupt: &Interrupt) -> io::Result<Output> {
    if path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        return Ok(Output::Open(Box::new(interrupt.open(path, File::options().write(true))?)));
    }
    Output::create(path)
}
