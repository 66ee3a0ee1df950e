//! Memory of programs: their own, and what they are lent.

use super::abi::Block;
use std::marker::PhantomData;

/// The most memory that is lent for reading, and for writing.
pub(crate) const LENDERS: usize = 4;

/// Memory in which buffers stand during a call: which buffer, and where. What is empty is not lent.
#[derive(Default)]
pub(crate) struct Lent<'a> {
    /// Nothing is written there.
    pub(crate) read: [(usize, &'a [u8]); LENDERS],
    pub(crate) written: [(usize, &'a mut [u8]); LENDERS],
}

/// Memory that is lent piece by piece, by any thread.
pub(crate) struct Pieces<'m> {
    memory: *mut u8,
    bytes: usize,
    lent: PhantomData<&'m mut [u8]>,
}

// SAFETY: it is bytes that go to other threads, each to one at a time, as those who lend them vouch.
unsafe impl Send for Pieces<'_> {}
// SAFETY: as above.
unsafe impl Sync for Pieces<'_> {}

impl<'m> Pieces<'m> {
    pub(crate) fn new(memory: &'m mut [u8]) -> Pieces<'m> {
        Pieces { memory: memory.as_mut_ptr(), bytes: memory.len(), lent: PhantomData }
    }

    /// So many bytes from a place on.
    ///
    /// # Safety
    /// None of them has been lent before.
    pub(crate) unsafe fn lend(&self, from: usize, bytes: usize) -> &'m mut [u8] {
        assert!(from <= self.bytes && bytes <= self.bytes - from);
        // SAFETY: it is inside, as has been looked, and nobody else's, as the caller vouches.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(from), bytes) }
    }
}

/// Memory that programs read and write, seen as bytes from here.
#[derive(Default, Debug)]
pub(crate) struct Memory {
    blocks: Vec<Block>,
}

impl Memory {
    /// So many bytes of zeros.
    pub(crate) fn new(bytes: usize) -> Memory {
        Memory { blocks: vec![[0; 8]; bytes.div_ceil(size_of::<Block>()) + 1] }
    }

    /// Makes it as long as a new one of so many bytes; what is in it stays.
    pub(crate) fn grow(&mut self, bytes: usize) {
        self.blocks.resize(bytes.div_ceil(size_of::<Block>()) + 1, [0; 8]);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: words are bytes, and the slice is as long as they are.
        unsafe {
            std::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.blocks.len() * size_of::<Block>())
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let bytes = self.blocks.len() * size_of::<Block>();
        // SAFETY: as above, and any bytes are words.
        unsafe { std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), bytes) }
    }

    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.blocks.as_mut_ptr().cast()
    }

    /// Where a byte of it is.
    pub(crate) fn pointer_at(&mut self, at: usize) -> *mut u8 {
        self.bytes_mut()[at..].as_mut_ptr()
    }
}
