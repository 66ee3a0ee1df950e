//! A text to compress.

use crate::random::{Random, Weighted};

/// The different words.
const WORDS: usize = 5000;

/// The letters, the frequent ones more than once.
const LETTERS: &[u8] = b"eeeeeetttttaaaaooooiiiinnnnsssshhhrrrddlllcumwfgypbvkjxqz";

/// `bytes` bytes of words that are made up, whose frequencies are those of words in languages (one over the rank). It is no language: for a
/// ratio that means something, compress a text of yours.
pub fn input(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::part(seed, 0);
    let words: Vec<Vec<u8>> = (0..WORDS).map(|_| word(&mut random)).collect();
    let (ranks, mut random) = (Weighted::new(WORDS as u32, |rank| 1.0 / rank), Random::part(seed, 1));
    let mut text = Vec::with_capacity(bytes + 16);
    while text.len() < bytes {
        text.extend(&words[ranks.draw(&mut random) as usize - 1]);
        text.extend(match random.below(60) {
            0 => &b".\n"[..],
            1..4 => b". ",
            4..9 => b", ",
            _ => b" ",
        });
    }
    text.truncate(bytes);
    text
}

fn word(random: &mut Random) -> Vec<u8> {
    let length = 1 + random.below(5) + random.below(6);
    (0..length).map(|_| LETTERS[random.below(LETTERS.len() as u64) as usize]).collect()
}
