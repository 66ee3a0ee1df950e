//! Memory of programs: their own, and memory lent to them.

use super::abi::Block;

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

/// An address in the memory of a file, for the batches of a run. Only generated code accesses what is there, and each
/// batch only the places of its own steady states. The memory stays where it is until all batches are back: the driver
/// neither reads nor writes the file before that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Address(*mut u8);

// SAFETY: an address is a number here; what generated code does with it is a matter of `State`.
unsafe impl Send for Address {}
// SAFETY: as for `Send`.
unsafe impl Sync for Address {}

impl Address {
    /// The beginning of memory that is only read.
    pub(crate) fn of(memory: &[u8]) -> Address {
        Address(memory.as_ptr().cast_mut())
    }

    /// The beginning of memory that is written.
    pub(crate) fn of_mut(memory: &mut [u8]) -> Address {
        Address(memory.as_mut_ptr())
    }

    /// The address this many bytes further.
    pub(crate) fn further(self, bytes: isize) -> Address {
        Address(self.0.wrapping_offset(bytes))
    }

    /// The address as generated code takes it.
    pub(crate) fn pointer(self) -> *mut u8 {
        self.0
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
