//! How much code may do.

/// How many calls may be nested.
pub const MAX_CALLS: u32 = 1000;

/// The most words that one value may take: half a gigabyte.
pub const MAX_WORDS: u64 = 1 << 27;

/// Bytes of stack that code is given where nothing else is said, from where a machine is told to run:
/// whoever runs it sees to it that there are some more.
pub const STACK: usize = 768 << 10;

/// Bytes that a further stack has besides, where calls are nested so deep that they need one.
pub(super) const SPARE: usize = 1 << 20;

/// What code may still use. It is used up by what a machine does, and can be shared by several one
/// after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Statements and turns of loops; copying arrays and text counts as well, by size.
    pub steps: u64,
    /// Words of 4 bytes that variables take which live at one time.
    pub words: u64,
    /// Bytes of stack.
    pub stack: usize,
}

impl Budget {
    /// No bound on time or on the sum of all variables.
    pub fn unlimited() -> Budget {
        Budget { steps: u64::MAX, words: u64::MAX, stack: STACK }
    }

    /// Uses up steps, if there are as many.
    #[inline]
    pub fn step(&mut self, steps: u64) -> bool {
        match self.steps.checked_sub(steps) {
            Some(rest) => {
                self.steps = rest;
                true
            }
            None => {
                self.steps = 0;
                false
            }
        }
    }

    /// Takes room for words, if there is as much.
    pub fn take(&mut self, words: u64) -> bool {
        match self.words.checked_sub(words) {
            Some(rest) => {
                self.words = rest;
                true
            }
            None => false,
        }
    }

    /// Gives room back.
    pub fn give(&mut self, words: u64) {
        self.words = self.words.saturating_add(words);
    }
}
