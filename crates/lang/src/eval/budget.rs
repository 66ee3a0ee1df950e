//! Limits on the execution of code.

/// The limit of nested calls.
pub const MAX_CALLS: u32 = 1000;

/// The limit of words in one value: half a gigabyte.
pub const MAX_WORDS: u64 = 1 << 27;

/// The default stack budget of code in bytes, counted from the entry into a machine. The thread must have some
/// more stack than this.
pub const STACK: usize = 768 << 10;

/// Extra bytes of an additional stack, allocated when nested calls need one.
pub(super) const SPARE: usize = 1 << 20;

/// The remaining budget of code. Machines consume it; several can share it in sequence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Statements and loop iterations; copies of arrays and text count by size.
    pub steps: u64,
    /// Memory of live variables, in words of 4 bytes.
    pub words: u64,
    /// Stack, in bytes.
    pub stack: usize,
}

impl Budget {
    /// No limit on time or on the sum of all variables.
    pub fn unlimited() -> Budget {
        Budget { steps: u64::MAX, words: u64::MAX, stack: STACK }
    }

    /// Consumes steps; false and empty if too few are left.
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

    /// Consumes memory; false if too little is left.
    pub fn reserve(&mut self, words: u64) -> bool {
        match self.words.checked_sub(words) {
            Some(rest) => {
                self.words = rest;
                true
            }
            None => false,
        }
    }

    /// Returns memory.
    pub fn release(&mut self, words: u64) {
        self.words = self.words.saturating_add(words);
    }
}
