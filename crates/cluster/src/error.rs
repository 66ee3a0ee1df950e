//! Why a run of several processes failed, the same in all of them.

use std::error::Error as StdError;
use std::fmt;

/// Why a run failed.
///
/// All processes that still live return the same error, that of the process that failed first; if several fail at the
/// same moment, each may return its own. The error of a user's function is [the source](StdError::source) in the process
/// in which it was returned; the others have its text.
pub struct Error {
    text: String,
    process: Option<usize>,
    help: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Error {
        Error { text: text.into(), process: None, help: None, source: None }
    }

    /// The error of a process. Its text names the process already.
    pub(crate) fn of(process: usize, text: impl Into<String>) -> Error {
        Error { process: Some(process), ..Error::new(text) }
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Error {
        Error { help: Some(help.into()), ..self }
    }

    /// Adds a help to that which the error may have.
    pub(crate) fn and_help(self, more: String) -> Error {
        let help = self.help.as_ref().map_or(more.clone(), |help| format!("{help}; {more}"));
        self.with_help(help)
    }

    pub(crate) fn with_source(self, source: Option<Box<dyn StdError + Send + Sync>>) -> Error {
        Error { source, ..self }
    }

    /// The process that failed, or that does not answer. `None`: this one, before it had a connection.
    pub fn process(&self) -> Option<usize> {
        self.process
    }

    /// What to do.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// What the other processes get of it.
    pub(crate) fn to_others(&self) -> Error {
        Error { text: self.text.clone(), process: self.process, help: self.help.clone(), source: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// As it is displayed, and what to do: `main` shows this of an error that it returns.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "\nhelp: {help}"))
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_shows_has_the_help() {
        let error = Error::of(1, "process 1: no").with_help("do");
        assert_eq!(
            (error.to_string(), format!("{error:?}")),
            ("process 1: no".into(), "process 1: no\nhelp: do".into())
        );
        assert_eq!(format!("{:?}", Error::new("no")), "no");
    }
}
