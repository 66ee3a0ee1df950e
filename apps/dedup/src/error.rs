//! Errors. Each message says what failed and where, with a `help:` line if the user can act.

use std::io;

use thalweg::embed::trace::format_bytes_exactly as exact;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of packing or unpacking.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call to the operating system failed.
    #[error("{doing}")]
    Io {
        /// The failed operation and its file, such as `reading a.txt`.
        doing: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The input does not begin with the magic of an archive.
    #[error(
        "not a thalweg dedup archive: no magic at byte offset 0\n\
         help: check that this is the right file"
    )]
    NotAnArchive,
    /// The archive has another version of the format.
    #[error(
        "unsupported format version {found} (byte offset 8), expected {supported}\n\
         help: use a release of thalweg that reads version {found}"
    )]
    Version {
        /// The version of the archive.
        found: u16,
        /// The version that this crate reads.
        supported: u16,
    },
    /// The archive ends too early.
    #[error(
        "the archive is truncated: it ends at byte offset {offset}, inside {what}\n\
         help: copy it again in full"
    )]
    Truncated {
        /// The length of the archive.
        offset: u64,
        /// The part of the archive that is incomplete.
        what: &'static str,
    },
    /// The bytes of the archive are not those that a packer wrote.
    #[error(
        "the archive is corrupted at byte offset {offset}: {what}\n\
         help: restore it from another copy"
    )]
    Corrupt {
        /// The offset of the damaged record or field.
        offset: u64,
        /// The violated property.
        what: String,
    },
    /// An entry would be written outside the output folder.
    #[error("unsafe entry at byte offset {offset}: {what} (this program does not write such archives)")]
    Unsafe {
        /// The offset of the record that holds the entry.
        offset: u64,
        /// The reason.
        what: String,
    },
    /// Unpacking needs more memory than its limit.
    #[error(
        "the archive needs a window of {} (header, byte offset 40), the limit is {}\n\
         help: raise the limit with --window-limit {} if that much memory is available",
        exact(*needed), exact(*limit), exact(*needed)
    )]
    Window {
        /// The window in the header.
        needed: u64,
        /// The limit that it exceeds.
        limit: u64,
    },
    /// The output would exceed its limit.
    #[error(
        "the output exceeds the limit of {} (record at byte offset {offset})\n\
         help: raise the limit with --limit if this much output is expected",
        exact(*limit)
    )]
    OutputLimit {
        /// The limit.
        limit: u64,
        /// The offset of the record whose content exceeds it.
        offset: u64,
    },
    /// The archive holds a tree where a stream is expected, or the reverse.
    #[error("the archive holds {found}, expected {wanted}")]
    Kind {
        /// The content of the archive.
        found: &'static str,
        /// The content that the caller expects.
        wanted: &'static str,
    },
    /// The output cannot be created, or cannot get its name.
    #[error(transparent)]
    Output(#[from] thalweg_files::Error),
    /// An entry changed while it was packed, as the text says.
    #[error("{0}")]
    Changed(String),
    /// The engine ended the run: a stage panicked, or the options are invalid.
    #[error(transparent)]
    Engine(#[from] thalweg::Error),
    /// A stop was requested by [`crate::Stop`].
    #[error("stopped before the end")]
    Stopped,
    /// An invalid parameter.
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

/// Adds the failed operation to an I/O error.
pub(crate) trait Doing<T> {
    /// Describes the operation by `doing`, which is called on failure only.
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::io(doing(), source))
    }
}
