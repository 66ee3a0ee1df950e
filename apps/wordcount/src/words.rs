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

/// The next word at or after `from`, as a range.
#[inline(always)]
pub(crate) fn next(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let start = from + text[from..].iter().position(|byte| is_in_word(*byte))?;
    let run = &text[start..text.len().min(start + LONGEST)];
    let length = run.iter().position(|byte| !is_in_word(*byte)).unwrap_or(run.len());
    Some((start, start + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<&[u8]> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let (start, end) = next(text, at)?;
            at = end;
            Some(&text[start..end])
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
