//! What can go wrong, said so that the reader knows what, where and what to do.

use std::io;
use std::path::PathBuf;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any failure of packing or unpacking.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("{doing}")]
    Io {
        /// What was being done, and to which file.
        doing: String,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The input does not begin as an archive does.
    #[error(
        "not a thalweg dedup archive: the first bytes differ from the magic at byte offset 0; \
         was it made by another program, or is it the wrong file?"
    )]
    Foreign,
    /// The archive is of another version of the format.
    #[error(
        "the archive has format version {found} (byte offset 8) and this program reads version \
         {supported}; use a program that knows that version"
    )]
    Version {
        /// The version the archive names.
        found: u16,
        /// The version this crate reads.
        supported: u16,
    },
    /// The archive ends too early.
    #[error(
        "the archive is truncated: it ends at byte offset {offset}, inside {what}; copy it again in full"
    )]
    Truncated {
        /// Where the bytes end.
        offset: u64,
        /// What should have been there.
        what: &'static str,
    },
    /// The archive's bytes are not what a packer wrote.
    #[error("the archive is corrupted at byte offset {offset}: {what}; restore it from another copy")]
    Corrupt {
        /// The record (or field) that is wrong.
        offset: u64,
        /// What is wrong with it.
        what: String,
    },
    /// An entry would be written outside of the output folder.
    #[error(
        "refused an unsafe entry at byte offset {offset}: {what}; the archive was not made by this program"
    )]
    Unsafe {
        /// The record that holds the entry.
        offset: u64,
        /// What is wrong with it.
        what: String,
    },
    /// Unpacking needs more memory than it may take.
    #[error(
        "the archive refers {needed} bytes back (header, byte offset 40) and the limit is {limit}; \
         raise the window limit (--window-limit) if that much memory is there"
    )]
    Window {
        /// The window in the header.
        needed: u64,
        /// The limit it exceeds.
        limit: u64,
    },
    /// The archive holds a tree where a stream is wanted, or the reverse.
    #[error("the archive holds {found} and {wanted} was asked for")]
    Kind {
        /// What the archive holds.
        found: &'static str,
        /// What the caller wanted.
        wanted: &'static str,
    },
    /// The output exists already.
    #[error("{} exists already; choose another name, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// A folder, or whatever else is not replaced, has the output's name.
    #[error(
        "{} exists already, and only files and empty folders are replaced; choose another name, or move it away",
        .0.display()
    )]
    InTheWay(PathBuf),
    /// The engine ended the run: a panic in a stage, or options that make no sense.
    #[error(transparent)]
    Engine(#[from] thalweg::Error),
    /// [`crate::Stop`] was asked for.
    #[error("stopped before the end")]
    Stopped,
    /// A parameter that cannot work.
    #[error("{0}")]
    Params(String),
}

impl Error {
    pub(crate) fn corrupt(offset: u64, what: impl Into<String>) -> Self {
        Error::Corrupt { offset, what: what.into() }
    }

    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Error::Io { doing: doing.into(), source }
    }
}

/// Adds to an input/output error what was being done.
pub(crate) trait Doing<T> {
    /// `doing` is only called on failure.
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::io(doing(), source))
    }
}
