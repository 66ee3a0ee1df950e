//! Errors of patterns and worlds.

use thalweg::embed::trace::format_bytes;

use super::Rule;

/// An error of a pattern or of a world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text of a pattern is not in the RLE format.
    #[error("line {line}, column {column}: {what}")]
    Rle {
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
        /// What is wrong, and a `help:` line.
        what: String,
    },
    /// The world would take more memory than it may.
    #[error(
        "a world of {width} x {height} cells takes {} at generation {generation}, the limit is {}\n\
         help: {}, or raise --memory",
        format_bytes(*bytes as u64), format_bytes(*limit as u64),
        if *begins { "choose a pattern or a --size with a smaller rectangle around its cells" } else { "run fewer generations" }
    )]
    Memory {
        /// Cells of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Bytes of two generations, saturated.
        bytes: usize,
        /// Bytes that it may have.
        limit: usize,
        /// The generation at which the world has to grow to this size.
        generation: u64,
        /// Whether it begins with this size.
        begins: bool,
    },
    /// The pattern is larger than the torus.
    #[error(
        "the pattern has {} x {} cells, the torus {} x {}\nhelp: choose a larger --size",
        .pattern.0, .pattern.1, .torus.0, .torus.1
    )]
    Size {
        /// Width and height of the pattern.
        pattern: (usize, usize),
        /// Width and height of the torus.
        torus: (usize, usize),
    },
    /// The rule makes all cells of an unbounded plane alive.
    #[error("rule {0} makes cells without neighbours alive, everywhere on a plane\nhelp: use --torus")]
    FillsThePlane(
        /// The rule.
        Rule,
    ),
}
