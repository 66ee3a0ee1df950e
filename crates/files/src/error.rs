//! Errors. Each message says what failed and where, with a `help:` line if the user can act.

use std::io;
use std::path::{Path, PathBuf};

use thalweg_graph::shown;

/// Result of the outputs.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call to the operating system failed.
    #[error("{doing}")]
    Io {
        /// The failed operation and its file, such as `creating a.txt`.
        doing: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The output already exists.
    #[error("{} already exists\nhelp: choose another name, or replace it with --force", shown(.0))]
    Exists(PathBuf),
    /// The output exists and is never replaced: a folder where the output is a file, or anything but an empty folder where
    /// the output is a folder.
    #[error(
        "{} already exists, and a file replaces only a file, a folder only an empty folder\n\
         help: choose another name, or move it away",
        shown(.0)
    )]
    NotReplaceable(PathBuf),
    /// The name is one of a folder, and the output is a file.
    #[error(
        "{} names a folder, and the output is a file\n\
         help: name the file in it",
        shown(.0)
    )]
    NamesFolder(PathBuf),
}

impl Error {
    /// A failed operation on the file or folder `path`.
    pub(crate) fn io(what: &str, path: &Path, source: io::Error) -> Self {
        Error::Io { doing: format!("{what} {}", shown(path)), source }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            // The text has the cause too: not every reader of an I/O error asks for its source.
            Error::Io { doing, source } => io::Error::new(source.kind(), format!("{doing}: {source}")),
            Error::Exists(_) => io::Error::new(io::ErrorKind::AlreadyExists, error),
            Error::NotReplaceable(_) | Error::NamesFolder(_) => {
                io::Error::new(io::ErrorKind::InvalidInput, error)
            }
        }
    }
}

/// Adds the failed operation and its path to an I/O error.
pub(crate) trait Doing<T> {
    fn doing(self, what: &str, path: &Path) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: &str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::io(what, path, source))
    }
}
