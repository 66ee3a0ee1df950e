//! What a word is.

/// Bytes of a word at most; a longer run counts as several.
pub const LONGEST: usize = 1 << 16;

/// Whether `A` and `a` are one letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Case {
    /// They are two.
    #[default]
    Kept,
    /// They are one, written `a`; of ASCII letters only.
    Ignored,
}

/// By byte: whether it belongs to words.
static IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte > 127 || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// Whether the byte belongs to words.
#[inline(always)]
pub(crate) fn is_in_word(byte: u8) -> bool {
    IN_WORD[byte as usize]
}

/// Where the next word begins, at or after `from`.
#[inline(always)]
pub(crate) fn start(text: &[u8], from: usize) -> Option<usize> {
    text[from..].iter().position(|byte| is_in_word(*byte)).map(|skipped| from + skipped)
}

/// Where the word ends that begins at `start`.
pub(crate) fn end(text: &[u8], start: usize) -> usize {
    let run = &text[start..text.len().min(start + LONGEST)];
    start + run.iter().position(|byte| !is_in_word(*byte)).unwrap_or(run.len())
}

/// Bytes of a short word: most words are, and such a word is a number.
pub(crate) const SHORT: usize = 16;

/// The first bytes of the word that begins at `start`, padded with zeros, and how many they are.
#[inline(always)]
pub(crate) fn short(text: &[u8], start: usize) -> (u128, usize) {
    let bytes = text[start..].first_chunk::<SHORT>().copied().unwrap_or_else(|| padded(&text[start..]));
    // All bytes at once, which compilers make a few vector instructions of; a branch for each would
    // be foreseen wrongly once a word.
    let outside = bytes.map(|byte| {
        let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let digit = byte.wrapping_sub(b'0') < 10;
        if letter | digit | (byte > 127) { 0 } else { 0xFF }
    });
    let bits = u128::from_le_bytes(outside).trailing_zeros();
    let word = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
    (u128::from_le_bytes(bytes) & word, bits as usize / 8)
}

#[cold]
fn padded(text: &[u8]) -> [u8; SHORT] {
    let mut bytes = [0; SHORT];
    bytes[..text.len()].copy_from_slice(text);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<&[u8]> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let start = start(text, at)?;
            at = end(text, start);
            let short = short(text, start);
            assert_eq!(short.1, (at - start).min(SHORT));
            assert_eq!(&short.0.to_le_bytes()[..short.1], &text[start..start + short.1]);
            Some(&text[start..at])
        })
        .collect()
    }

    #[test]
    fn words_are_letters_digits_and_high_bytes() {
        assert_eq!(
            words(b" it's 2 o'clock--now\0then\xFF\n"),
            [&b"it"[..], b"s", b"2", b"o", b"clock", b"now", b"then\xFF"]
        );
        assert_eq!(words("zw\u{f6}lf \u{2014} na\u{ef}ve".as_bytes())[0], "zw\u{f6}lf".as_bytes());
        assert!(words(b"").is_empty() && words(b" .,;\n").is_empty());
    }

    #[test]
    fn a_run_too_long_is_several_words() {
        let text = vec![b'x'; 2 * LONGEST + 5];
        assert_eq!(words(&text).iter().map(|word| word.len()).collect::<Vec<_>>(), [LONGEST, LONGEST, 5]);
    }
}
