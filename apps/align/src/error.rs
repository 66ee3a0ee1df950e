//! Errors. Each message says what failed and where, with a `help:` line if the user can act.

use std::io;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of reading or aligning sequences.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input could not be read, or the output could not be written.
    #[error("{doing}")]
    Io {
        /// The failed operation and its file, such as `reading a.fa`.
        doing: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file is not FASTA.
    #[error("{file}, line {line}: {what}\nhelp: {help}")]
    Malformed {
        /// The name of the file.
        file: String,
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong.
        what: String,
        /// What the user can do.
        help: &'static str,
    },
    /// A name that SAM does not allow.
    #[error("{what}\nhelp: {help}")]
    Name {
        /// What is wrong.
        what: String,
        /// What the user can do.
        help: &'static str,
    },
    /// The work or its memory exceeds a limit.
    #[error("{what}\nhelp: {help}")]
    TooLarge {
        /// What is too large, with the value and the limit.
        what: String,
        /// What the user can do.
        help: &'static str,
    },
    /// Scores or gap costs that do not define an alignment.
    #[error("{what}\nhelp: {help}")]
    Scoring {
        /// What is wrong.
        what: String,
        /// What the user can do.
        help: &'static str,
    },
    /// [`Watch::stopped`](crate::Watch::stopped) has returned `true`.
    #[error("stopped before the end")]
    Stopped,
}

impl Error {
    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Error::Io { doing: doing.into(), source }
    }

    pub(crate) fn scoring(what: impl Into<String>, help: &'static str) -> Self {
        Error::Scoring { what: what.into(), help }
    }
}
