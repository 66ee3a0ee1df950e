//! The limit on the memory of a verb: `--memory`, within the address space of the process.

use std::error::Error;

use thalweg::embed::machine::{address_space_left, available_memory};

/// Address space that is not for data: code, buffers, and for each thread its stack and the heap that the allocator reserves.
const RESERVED: u64 = 64 << 20;
const RESERVED_BY_THREAD: u64 = 72 << 20;

/// Address space for the stacks of a thread: its own, and the one on which it handles an overflow of that.
const STACKS: u64 = (2 << 20) + (128 << 10);

/// Whether the address space of the process has room for this many threads. Rust ends the process if the second stack of a
/// thread cannot be allocated.
pub(crate) fn has_room_for_threads(threads: u64) -> bool {
    let needed = STACKS.saturating_mul(threads).saturating_add(RESERVED);
    address_space_left().is_none_or(|left| needed <= left)
}

/// The memory that data may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub bytes: u64,
    /// Whether the limit is the address space, and not the one that the user has given.
    is_address_space: bool,
}

impl Limit {
    /// The limit that the user has given, otherwise what the system has available. In either case, at most the address
    /// space that the process has left: an allocation beyond it would end the process.
    pub fn new(given: Option<u64>) -> Limit {
        let bytes = given.or_else(available_memory).unwrap_or(u64::MAX);
        let reserved = RESERVED + RESERVED_BY_THREAD * thalweg::loops::team_size() as u64;
        match address_space_left().map(|left| left.saturating_sub(reserved)) {
            Some(left) if left < bytes => Limit { bytes: left, is_address_space: true },
            _ => Limit { bytes, is_address_space: false },
        }
    }

    /// The limit for structures that count their bytes in `usize`.
    pub fn size(self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// What follows an error of too little memory.
    pub fn note(self) -> &'static str {
        match self.is_address_space {
            true => {
                "\nnote: the limit is the address space of the process (ulimit -v), less what its threads need"
            }
            false => "",
        }
    }

    /// The error, with the note if `is_memory` says that the limit is its cause.
    pub fn explain<E: Error + Send + Sync + 'static>(
        self,
        error: E,
        is_memory: impl Fn(&E) -> bool,
    ) -> anyhow::Error {
        match is_memory(&error) {
            true => anyhow::anyhow!("{error}{}", self.note()),
            false => error.into(),
        }
    }
}
