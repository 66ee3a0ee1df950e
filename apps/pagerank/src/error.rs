//! Errors. Each message says what is wrong and where, with a `help:` line if the user can act.

use std::io;

use thalweg::embed::trace::format_bytes;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of reading or ranking a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading the input failed.
    #[error("reading {name}")]
    Read {
        /// The name of the input.
        name: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The input begins as gzip data does, but is not whole gzip data.
    #[error("{name} is truncated or damaged gzip data: {cause}\nhelp: copy it again in full")]
    Gzip {
        /// The name of the input.
        name: String,
        /// The decoder's message.
        cause: String,
    },
    /// A line is not what the format demands.
    #[error("{name}:{line}: {what}: `{text}`\nhelp: {help}")]
    Line {
        /// The name of the input.
        name: String,
        /// The number of the line, from 1.
        line: u64,
        /// The violated rule.
        what: String,
        /// The begin of the line. All but printable ASCII is escaped, so a terminal obeys none of it.
        text: String,
        /// A remedy.
        help: &'static str,
    },
    /// The input as a whole is not what its header declares.
    #[error("{name}: {what}\nhelp: {help}")]
    Content {
        /// The name of the input.
        name: String,
        /// The violated rule.
        what: String,
        /// A remedy.
        help: &'static str,
    },
    /// The graph needs more memory than the limit. The memory was not allocated.
    #[error(
        "{name} needs {} of memory for {links} links{}, the limit is {}\n\
         help: raise the limit with --memory if that much memory is available, or rank a smaller graph",
        format_bytes(*needed),
        pages.map_or_else(|| " without their pages".to_owned(), |pages| format!(" and {pages} pages")),
        format_bytes(*limit)
    )]
    Memory {
        /// The name of the input.
        name: String,
        /// The bytes needed for the links and pages below. The whole graph may need more.
        needed: u64,
        /// The limit, in bytes.
        limit: u64,
        /// The links declared, estimated or read so far.
        links: u64,
        /// The pages declared or read so far. `None` before any is read, if none are declared.
        pages: Option<u64>,
    },
    /// More pages than their 32-bit numbers can name.
    #[error(
        "{name} has more than {} pages, the largest supported number\nhelp: rank a part of the graph",
        u32::MAX
    )]
    TooManyPages {
        /// The name of the input.
        name: String,
    },
    /// The weights of a page's links have no usable sum.
    #[error(
        "the weights of the links of page {page} add up to {sum:e}, which cannot be divided by\n\
         help: scale the weights, or ignore them with --unweighted"
    )]
    Weights {
        /// The id of the page.
        page: u64,
        /// The sum.
        sum: f64,
    },
    /// The ranks still change by more than the tolerance.
    #[error(
        "the ranks still change by {residual:e} after {iterations} iterations, the tolerance is {tolerance:e}\n\
         help: raise --max-iterations or --tolerance; with --tolerance 0 all iterations run and none is missing"
    )]
    NotConverged {
        /// The iterations done.
        iterations: usize,
        /// The sum of the absolute changes of all ranks in the last iteration.
        residual: f64,
        /// The limit for it.
        tolerance: f64,
    },
    /// A setting is outside its range.
    #[error("{0}")]
    Setting(String),
    /// The observer of the iterations has stopped them.
    #[error("stopped before the end")]
    Stopped,
}
