//! AES-128 over a block of memory, dealt out in parts (section 5.3.2).
//!
//! The paper's messages are pointer and length; so are these, for a part of the memory moves to the
//! worker and back as an owned slice. ECB is the paper's mode, and hides nothing of a text's patterns:
//! use CTR.

use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use thalweg::{Graph, Rx, Tx, Value, input, output};

use crate::job::{Job, fold};

/// Bytes of a block of the cipher.
const BLOCK: usize = 16;

/// How blocks are encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Each by itself.
    Ecb,
    /// By the encrypted counter: what this number says, and the block's place, big-endian.
    Ctr(u128),
}

/// Encrypts a part of a text in place; it begins at the block of number `first`. In counter mode the last block may be
/// shorter than the others.
///
/// ```
/// use thalweg_kpn::{Mode, encrypt};
///
/// let mut text = *b"sixteen bytes...and some";
/// encrypt(&[7; 16], Mode::Ctr(1), 0, &mut text);
/// assert_ne!(&text, b"sixteen bytes...and some");
/// encrypt(&[7; 16], Mode::Ctr(1), 0, &mut text); // the same undoes it
/// assert_eq!(&text, b"sixteen bytes...and some");
/// ```
///
/// # Panics
/// In ECB, where the text is not a whole number of blocks of 16 bytes.
pub fn encrypt(key: &[u8; 16], mode: Mode, first: u64, text: &mut [u8]) {
    let cipher = Aes128::new(&Array::from(*key));
    match mode {
        Mode::Ecb => {
            let (blocks, rest) = text.as_chunks_mut::<BLOCK>();
            assert!(rest.is_empty(), "ECB needs whole blocks");
            cipher.encrypt_blocks(Array::cast_slice_from_core_mut(blocks));
        }
        Mode::Ctr(start) => {
            for (chunk, number) in text.chunks_mut(BLOCK).zip(first..) {
                let mut pad = Array::from(start.wrapping_add(u128::from(number)).to_be_bytes());
                cipher.encrypt_block(&mut pad);
                chunk.iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= pad);
            }
        }
    }
}

/// `bytes` bytes (made by a generator, and made whole blocks) in as many parts as there are
/// `workers`, each encrypted `passes` times.
///
/// # Panics
/// Without workers.
pub fn aes(bytes: usize, workers: usize, passes: u32, mode: Mode) -> Job {
    assert!(workers > 0, "somebody must do it");
    let graph = Graph::new();
    let (backs, answers): (Vec<_>, Vec<_>) = (0..workers).map(|_| graph.feedback([])).unzip();
    let ins: Vec<_> = answers.into_iter().enumerate().map(|(i, s)| input(&format!("done{i}"), s)).collect();
    let outs: Vec<_> = (0..workers).map(|i| output(&format!("part{i}"))).collect();
    let hub = move |rxs: Vec<Rx<Box<[u8]>>>, txs: Vec<Tx<Part>>| async move {
        for (mut tx, part) in txs.into_iter().zip(parts(memory(bytes), workers)) {
            tx.send(part).await;
        }
        let mut sum = 0;
        for mut rx in rxs {
            sum = rx.recv().await.iter().fold(sum, |sum, part| fold_all(sum, part));
        }
        Value(sum)
    };
    let (parts, result) = graph.process("hub", ins, outs, hub);
    for (i, (back, part)) in backs.into_iter().zip(parts).enumerate() {
        let done = graph.process(
            &format!("worker{i}"),
            input("part", part),
            output("done"),
            move |mut rx, mut tx| async move {
                while let Some((first, mut part)) = rx.recv().await {
                    (0..passes).for_each(|pass| encrypt(&KEY, of_pass(mode, pass), first, &mut part));
                    tx.send(part).await;
                }
            },
        );
        done.feed(back);
    }
    Job::new(result, move || {
        let mut all = memory(bytes);
        (0..passes).for_each(|pass| encrypt(&KEY, of_pass(mode, pass), 0, &mut all));
        fold_all(0, &all)
    })
}

/// A key, as good as any where nothing is kept secret: that of FIPS 197, appendix B.
const KEY: [u8; 16] =
    [0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c];

/// The number of a part's first block, and its bytes.
type Part = (u64, Box<[u8]>);

/// A counter of its own for each pass, or the second would undo the first.
fn of_pass(mode: Mode, pass: u32) -> Mode {
    match mode {
        Mode::Ecb => Mode::Ecb,
        Mode::Ctr(start) => Mode::Ctr(start.wrapping_add(u128::from(pass) << 64)),
    }
}

fn memory(bytes: usize) -> Vec<u8> {
    let words = bytes.div_ceil(BLOCK) * 2;
    let mut all = Vec::with_capacity(words * 8);
    (1..=words as u64).for_each(|i| all.extend_from_slice(&fold(i, i << 7).to_le_bytes()));
    all
}

/// Adds whole blocks to a checksum.
fn fold_all(sum: u64, blocks: &[u8]) -> u64 {
    let (words, _) = blocks.as_chunks();
    words.iter().fold(sum, |sum, word| fold(sum, u64::from_le_bytes(*word)))
}

/// Equal parts of whole blocks.
fn parts(memory: Vec<u8>, count: usize) -> impl Iterator<Item = Part> {
    let blocks = memory.len() / BLOCK;
    (0..count).map(move |i| {
        let (from, to) = (blocks * i / count, blocks * (i + 1) / count);
        (from as u64, memory[from * BLOCK..to * BLOCK].into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(|byte| byte.is_ascii_hexdigit()).collect();
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(pair).collect()
    }

    /// NIST SP 800-38A, appendix F: four blocks of plain text for all modes.
    const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51 \
                         30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

    #[test]
    fn ecb_is_as_nist_says() {
        let mut text = bytes(PLAIN);
        encrypt(&KEY, Mode::Ecb, 0, &mut text);
        let expected = "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf \
                        43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4";
        assert_eq!(text, bytes(expected)); // F.1.1
    }

    #[test]
    fn ctr_is_as_nist_says_in_parts_too() {
        let start = 0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff;
        let expected = bytes(
            "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff \
             5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee",
        );
        let mut text = bytes(PLAIN);
        encrypt(&KEY, Mode::Ctr(start), 0, &mut text);
        assert_eq!(text, expected); // F.5.1
        let mut text = bytes(PLAIN);
        let (head, tail) = text.split_at_mut(3 * BLOCK);
        encrypt(&KEY, Mode::Ctr(start), 0, head);
        encrypt(&KEY, Mode::Ctr(start), 3, &mut tail[..5]);
        assert_eq!(text[..3 * BLOCK + 5], expected[..3 * BLOCK + 5]);
    }
}
