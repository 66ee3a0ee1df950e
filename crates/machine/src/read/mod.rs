//! Parses a machine from text.
//!
//! Each line has one statement; `show` lists them. `#` starts a comment, and empty lines are skipped. Statements of
//! different kinds come in any order, but that `cores` belong to the `domains` above them.
//!
//! Invariant: reading allocates in proportion to the text and to the most units and domains of a machine, and panics
//! for no text.

mod resolve;
mod statements;

use crate::Machine;
use statements::Reader;
use std::fmt;
use std::str::FromStr;

/// An error in the text of a machine.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    line: usize,
    what: String,
}

impl ReadError {
    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The error.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "machine, line {}: {}", self.line, self.what)
    }
}

thalweg_graph::error_type!(ReadError);

impl FromStr for Machine {
    type Err = ReadError;

    /// [`Machine::read`].
    fn from_str(text: &str) -> Result<Machine, ReadError> {
        Machine::read(text)
    }
}

impl Machine {
    /// Parses the text form that a machine prints.
    ///
    /// ```
    /// use thalweg_machine::Machine;
    ///
    /// let text = "thalweg-machine 1\ndomains 1\ncores 4 units 2\nlimit cores 2.5\n";
    /// assert_eq!(Machine::read(text)?.threads(), 2);
    ///
    /// let error = Machine::read(&text.replace("2.5", "many")).unwrap_err();
    /// assert_eq!(error.to_string(), "machine, line 4: expected a number of cores, as `1.5`, found `many`");
    /// # Ok::<(), thalweg_machine::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// The first line is not the header or has another version, a statement is unknown or repeated, a number is out of
    /// range, a CPU is unknown or listed twice, caches are not nested, or there is no core. The error names the line.
    pub fn read(text: &str) -> Result<Machine, ReadError> {
        let mut reader = Reader::default();
        let mut last = 0;
        // Some editors begin a text with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (i, line) in text.lines().enumerate() {
            last = i + 1;
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                reader.at = last;
                reader.line(line).map_err(|what| ReadError { line: last, what })?;
            }
        }
        reader.finish(last + 1)
    }
}
