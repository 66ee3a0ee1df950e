//! Memory of programs: their own, and memory lent to them.

use super::abi::Block;
use std::marker::PhantomData;

/// The most memory areas lent for reading, and for writing.
pub(crate) const LENDERS: usize = 4;

/// Memory that holds buffers during a call: the index of the buffer, and the memory. An empty slice lends
/// nothing.
#[derive(Default)]
pub(crate) struct Lent<'a> {
    /// Only read by the program.
    pub(crate) read: [(usize, &'a [u8]); LENDERS],
    pub(crate) written: [(usize, &'a mut [u8]); LENDERS],
}

/// Memory that any thread lends piece by piece.
pub(crate) struct Pieces<'m> {
    memory: *mut u8,
    bytes: usize,
    lent: PhantomData<&'m mut [u8]>,
}

// SAFETY: a `Pieces` is a pointer to bytes that it borrows exclusively; `lend` hands out each byte at most
// once, as its callers vouch, so no byte is accessed by two threads.
unsafe impl Send for Pieces<'_> {}
// SAFETY: as for `Send`: `lend` takes `&self`, and its callers vouch that pieces do not overlap.
unsafe impl Sync for Pieces<'_> {}

impl<'m> Pieces<'m> {
    pub(crate) fn new(memory: &'m mut [u8]) -> Pieces<'m> {
        Pieces { memory: memory.as_mut_ptr(), bytes: memory.len(), lent: PhantomData }
    }

    /// Lends `bytes` bytes that begin at offset `from`.
    ///
    /// # Safety
    /// None of them has been lent before.
    pub(crate) unsafe fn lend(&self, from: usize, bytes: usize) -> &'m mut [u8] {
        assert!(from <= self.bytes && bytes <= self.bytes - from);
        // SAFETY: the range is inside, as checked above, and lent only once, as the caller vouches.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(from), bytes) }
    }
}

/// Memory that programs read and write, viewed as bytes here.
#[derive(Default, Debug)]
pub(crate) struct Memory {
    blocks: Vec<Block>,
}

impl Memory {
    /// At least this many bytes, all zero.
    pub(crate) fn new(bytes: usize) -> Memory {
        Memory { blocks: vec![[0; 8]; bytes.div_ceil(size_of::<Block>()) + 1] }
    }

    /// Grows it to the size of a new one of this many bytes; its content stays.
    pub(crate) fn grow(&mut self, bytes: usize) {
        self.blocks.resize(bytes.div_ceil(size_of::<Block>()) + 1, [0; 8]);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: any initialised words are valid bytes, and the slice has the length of the blocks.
        unsafe {
            std::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.blocks.len() * size_of::<Block>())
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let bytes = self.blocks.len() * size_of::<Block>();
        // SAFETY: as in `bytes`, and any bytes are valid words.
        unsafe { std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), bytes) }
    }

    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.blocks.as_mut_ptr().cast()
    }

    /// A pointer to the byte at an offset.
    pub(crate) fn pointer_at(&mut self, at: usize) -> *mut u8 {
        self.bytes_mut()[at..].as_mut_ptr()
    }
}
