//! Limits of elaboration.

/// Limits of the work and size of elaboration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Statements and loop iterations of all code together; copies of arrays and text count by size.
    pub steps: u64,
    /// Memory of all variables, parameters and fields together, in words of 4 bytes.
    pub words: u64,
    /// Streams, composites included.
    pub streams: u32,
    /// Nesting depth of streams.
    pub depth: u32,
}

/// 100 million steps (about four seconds), 2^28 words (1 GiB), 2^18 streams, nesting depth 500.
impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 100_000_000, words: 1 << 28, streams: 1 << 18, depth: 500 }
    }
}

/// The limit of reported errors.
pub(super) const MAX_ERRORS: usize = 50;

/// The limit of printed bytes.
pub(super) const MAX_PRINTED: usize = 16 << 20;

/// The stack size of the elaboration thread. Only touched pages take memory.
pub(super) const THREAD_STACK: usize = 64 << 20;

/// The part of it that the code of one stream may use; the rest is for nested streams.
pub(super) const CODE_STACK: usize = 32 << 20;
