//! Files that stand for those that a program names, and sound.

use super::run::Shared;
use super::sound::{Samples, Sound, is_int};
use crate::interrupt::Interrupt;
use crate::standard::{self, is_dash};
use hound::WavSpec;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use thalweg_lang::files::{self, Files, Form, Input, Layout, Named, Output, Sink, Source, of_file};

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
        self.sound = samples.spec();
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
