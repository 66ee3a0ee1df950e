//! Byte outputs: files that appear when complete, and outputs written directly.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use thalweg_files::OutFile;

/// A byte output.
pub enum Output {
    /// An output written directly: standard output, a device, a named pipe.
    Open(Box<dyn Write + Send>),
    /// A file that does not have its name yet.
    New(OutFile),
}

impl Output {
    /// Creates a file. An existing file that is not a regular file is written directly; for a symbolic link the
    /// target is replaced.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> io::Result<Output> {
        match fs::metadata(path) {
            Ok(existing) if existing.is_dir() => {
                Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"))
            }
            Ok(existing) if !existing.is_file() => {
                Ok(Output::Open(Box::new(File::options().write(true).open(path)?)))
            }
            _ => Ok(Output::New(OutFile::create(path, true)?.durable(false))),
        }
    }

    /// Completes the output.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Open(mut out) => out.flush(),
            Output::New(file) => Ok(file.commit()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Open(out) => out.write(bytes),
            Output::New(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Open(out) => out.flush(),
            Output::New(file) => file.flush(),
        }
    }
}
