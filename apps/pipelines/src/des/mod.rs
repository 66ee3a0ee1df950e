//! DES, the Data Encryption Standard (FIPS 46-3): each block of 64 bits by itself.
//!
//! ```text
//! read ─▶ permute ─▶ 16 rounds ─▶ permute back ─▶ write
//! ```
//!
//! Figure 4.10a has 2 + 16 + 2 kernels. We read it as: source and initial permutation, the rounds, final permutation and sink. A
//! firing takes one block and gives one block, so the volume is the same on all 19 channels. What kernels hold is read only:
//! a table of all S-boxes, which they share, and the key of a round. So all kernels between source and sink are parallel.
//!
//! Nothing is safe that is encrypted so: keys of 56 bits are found by trial, and equal blocks look equal.

use crate::Error;
use crate::random::Random;
use std::ops::ControlFlow;
use thalweg::{Graph, Output, Stream, output};

mod key;
mod round;
mod tables;

pub use round::STATE_BYTES;
use tables::{BOXES, EXPANSION, FINAL, INITIAL, PERMUTATION, choose};

/// The bytes of a block.
pub const BLOCK: usize = 8;

/// What the program is given beside its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The key, of which each eighth bit is a parity and counts for nothing.
    pub key: u64,
    /// Decrypts, in place of encrypting.
    pub decrypt: bool,
}

impl Default for Parameters {
    /// The key of a published example, for encryption.
    fn default() -> Self {
        Parameters { key: 0x1334_5779_9BBC_DFF1, decrypt: false }
    }
}

impl Parameters {
    /// The keys of the rounds, in their order.
    fn keys(&self) -> [u64; 16] {
        let mut keys = key::schedule(self.key);
        if self.decrypt {
            keys.reverse();
        }
        keys
    }
}

/// Random blocks.
pub fn input(blocks: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    (0..blocks).map(|_| random.number()).collect()
}

/// The blocks of a text. Behind it are 1 to 8 bytes that each have their number as value (PKCS #5), so [`unpadded`] finds its
/// end.
pub fn padded(text: &[u8]) -> Vec<u64> {
    let (whole, rest) = text.as_chunks::<BLOCK>();
    let mut last = [(BLOCK - rest.len()) as u8; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    whole.iter().chain([&last]).map(|bytes| u64::from_be_bytes(*bytes)).collect()
}

/// The text in the blocks of [`padded`].
///
/// # Errors
/// [`Error::Padding`] if the last block does not end as [`padded`] ends it: the key is another one, or the text was changed.
pub fn unpadded(blocks: &[u64]) -> Result<Vec<u8>, Error> {
    let mut bytes = to_bytes(blocks);
    let added = bytes.last().map_or(0, |last| usize::from(*last));
    let is_padding = (1..=BLOCK).contains(&added)
        && bytes[bytes.len() - added..].iter().all(|byte| usize::from(*byte) == added);
    if !is_padding {
        return Err(Error::Padding { offset: bytes.len().saturating_sub(BLOCK) as u64 });
    }
    bytes.truncate(bytes.len() - added);
    Ok(bytes)
}

/// The blocks of a file of whole blocks.
///
/// # Errors
/// [`Error::Blocks`] if the last block is not complete.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<u64>, Error> {
    match bytes.as_chunks() {
        (blocks, []) => Ok(blocks.iter().map(|block| u64::from_be_bytes(*block)).collect()),
        (blocks, _) => Err(Error::Blocks { offset: (blocks.len() * BLOCK) as u64 }),
    }
}

/// The bytes of blocks.
pub fn to_bytes(blocks: &[u64]) -> Vec<u8> {
    blocks.iter().flat_map(|block| block.to_be_bytes()).collect()
}

/// The program. Its result is the blocks, encrypted or decrypted.
///
/// ```
/// use thalweg_pipelines::des;
///
/// let blocks = [0x0123_4567_89AB_CDEF];
/// let encrypted = des::graph(&blocks, &des::Parameters { key: 0x1334_5779_9BBC_DFF1, decrypt: false });
/// assert_eq!(encrypted.run()?.into_value(), [0x85E8_1354_0F0A_B405]);
/// # Ok::<(), thalweg::Error>(())
/// ```
pub fn graph<'env>(blocks: &'env [u64], parameters: &Parameters) -> Output<'env, Vec<u64>> {
    let mut rest = blocks.iter();
    let read = Graph::new().kernel("read", (), output("block").push(1)).sequential(move |(), out| {
        let Some(block) = rest.next() else { return ControlFlow::Break(()) };
        out.push(*block);
        ControlFlow::Continue(())
    });
    let permuted = each("permute", read, |block| choose(block, 64, &INITIAL));
    let rounds = parameters.keys().into_iter().enumerate().fold(permuted, |blocks, (number, key)| {
        each(&format!("round {}", number + 1), blocks, move |block| round::round(block, key))
            .state_bytes(STATE_BYTES as u64)
    });
    // The last round exchanges no halves, so they are exchanged again.
    let back = each("permute back", rounds, |block| choose(block.rotate_left(32), 64, &FINAL));
    back.collect().named("write")
}

/// Adds a kernel that makes a block of each.
fn each<'env>(
    name: &str,
    blocks: Stream<'env, u64>,
    make: impl Fn(u64) -> u64 + Send + Sync + 'env,
) -> Stream<'env, u64> {
    blocks.kernel(name, output("block").push(1)).parallel(move |blocks, out| out.push(make(blocks.pop())))
}

/// The program without a graph, by the tables of the standard alone.
pub fn sequential(blocks: &[u64], parameters: &Parameters) -> Vec<u64> {
    let keys = parameters.keys();
    blocks.iter().map(|block| by_tables(*block, &keys)).collect()
}

fn by_tables(block: u64, keys: &[u64; 16]) -> u64 {
    let permuted = choose(block, 64, &INITIAL);
    let (mut left, mut right) = (permuted >> 32, permuted & 0xFFFF_FFFF);
    for key in keys {
        let mixed = choose(right, 32, &EXPANSION) ^ key;
        let mut outputs = 0;
        for (number, table) in BOXES.iter().enumerate() {
            let bits = (mixed >> (42 - 6 * number) & 63) as usize;
            let (row, column) = (bits >> 4 & 2 | bits & 1, bits >> 1 & 15);
            outputs = outputs << 4 | u64::from(table[16 * row + column]);
        }
        (left, right) = (right, left ^ choose(outputs, 32, &PERMUTATION));
    }
    choose(right << 32 | left, 64, &FINAL)
}
