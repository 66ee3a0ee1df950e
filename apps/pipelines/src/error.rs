//! What is wrong with an input.

use std::io;

/// A text that cannot be decrypted or decompressed. Offsets are bytes from the beginning of the input.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The length of an encrypted text is no multiple of 8.
    #[error("the block at byte {offset} is shorter than 8 bytes")]
    Blocks {
        /// The first byte of the last block.
        offset: u64,
    },
    /// The last block does not say where the text ends.
    #[error("the block at byte {offset} has no padding: the key is another one, or the text was changed")]
    Padding {
        /// The first byte of the last block.
        offset: u64,
    },
    /// A compressed text is not as the format demands.
    #[error("byte {offset}: {what}")]
    Format {
        /// The byte that is wrong, or the end of an input that is too short.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The input cannot be read, or the output not written.
    #[error(transparent)]
    Io(#[from] io::Error),
}
