//! Bounds on what a program may do while its streams are made.

/// How much a program may do while its streams are made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Statements and turns of loops of all code together; copying arrays and text counts by size.
    pub steps: u64,
    /// Words of 4 bytes that all variables, parameters and fields take together.
    pub words: u64,
    /// Streams, composites included.
    pub streams: u32,
    /// Streams in each other.
    pub depth: u32,
}

/// 100 million steps, which take about four seconds, 2^28 words (a gigabyte), 2^18 streams, 500 of them in each other.
impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 100_000_000, words: 1 << 28, streams: 1 << 18, depth: 500 }
    }
}

/// How many errors are reported.
pub(super) const MAX_ERRORS: usize = 50;

/// Bytes that may be printed.
pub(super) const MAX_PRINTED: usize = 16 << 20;

/// Stack of the thread that makes streams. Memory is there only for what is touched.
pub(super) const THREAD_STACK: usize = 64 << 20;

/// What of it the code of one stream may use: the rest is for streams in each other.
pub(super) const CODE_STACK: usize = 32 << 20;
