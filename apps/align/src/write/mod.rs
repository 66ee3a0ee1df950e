//! Writes what [`compare`](crate::compare) finds.

mod sam;
mod text;
mod tsv;

use std::io::{self, Write};
use std::str::FromStr;

use crate::{Error, Found, Result, Scoring, Sequence};

/// How alignments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Alignments that a person reads.
    Text,
    /// Sequence Alignment/Map, version 1.6.
    Sam,
    /// A line `query`, `target`, `score` for each pair, separated by tabs, below a line of these names.
    Tsv,
}

impl Format {
    /// Whether the format shows alignments, besides scores.
    pub fn needs_alignments(self) -> bool {
        self != Format::Tsv
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        match name {
            "text" => Ok(Format::Text),
            "sam" => Ok(Format::Sam),
            "tsv" => Ok(Format::Tsv),
            _ => Err(format!("{name:?} is no format; use text, sam or tsv")),
        }
    }
}

/// Writes alignments in a format.
#[derive(Debug)]
pub struct Writer<'a, W> {
    out: W,
    format: Format,
    queries: &'a [Sequence],
    targets: &'a [Sequence],
    scoring: &'a Scoring,
}

impl<'a, W: Write> Writer<'a, W> {
    /// A writer of alignments of `queries` with `targets`, which writes the header of the format. `command` is the
    /// command line that a SAM header has.
    ///
    /// # Errors
    /// Writing fails, or SAM does not allow the name of a sequence: one that two targets have, or one with other
    /// characters than printable ASCII, among others.
    pub fn new(
        mut out: W,
        format: Format,
        (queries, targets): (&'a [Sequence], &'a [Sequence]),
        scoring: &'a Scoring,
        command: &str,
    ) -> Result<Self> {
        match format {
            Format::Text => {}
            Format::Sam => {
                sam::check(queries, targets)?;
                sam::header(&mut out, targets, command).map_err(writing)?;
            }
            Format::Tsv => tsv::header(&mut out).map_err(writing)?,
        }
        Ok(Writer { out, format, queries, targets, scoring })
    }

    /// Writes what is reported of a query.
    ///
    /// # Errors
    /// Writing fails.
    pub fn write(&mut self, found: &Found) -> Result<()> {
        let (out, query) = (&mut self.out, &self.queries[found.query]);
        let written = match self.format {
            Format::Text => text::write(out, query, self.targets, &found.hits, self.scoring),
            Format::Sam => sam::write(out, query, self.targets, &found.hits),
            Format::Tsv => tsv::write(out, query, self.targets, &found.hits),
        };
        written.map_err(writing)
    }

    /// Ends the output, and returns the writer below.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(mut self) -> Result<W> {
        self.out.flush().map_err(writing)?;
        Ok(self.out)
    }
}

fn writing(error: io::Error) -> Error {
    Error::io("writing the alignments", error)
}
