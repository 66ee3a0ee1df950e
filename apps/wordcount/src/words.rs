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

/// Text in which case is as it is asked for, with room for a copy where that is needed.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    lower: Vec<u8>,
}

impl Folded {
    /// The text itself, or its copy.
    pub fn text<'a>(&'a mut self, text: &'a [u8], case: Case) -> &'a [u8] {
        if case == Case::Kept {
            return text;
        }
        self.lower.clear();
        self.lower.extend_from_slice(text);
        self.lower.make_ascii_lowercase();
        &self.lower
    }
}

/// Whether the byte belongs to words.
#[inline(always)]
pub(crate) fn is_in_word(byte: u8) -> bool {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    letter | digit | (byte > 127)
}

/// Bytes that are looked at together: each is a bit of a number.
const CHUNK: usize = 64;

/// Chunks whose words are found before any is told of.
const CHUNKS: usize = 32;

/// Tells of the words of a text in turn, where each begins and ends.
///
/// Processors cannot foresee where words end, so nothing here branches on a byte: compilers make a few
/// vector instructions of the look at a chunk, and its words begin and end where bits change.
#[inline(always)]
pub(crate) fn each(text: &[u8], mut found: impl FnMut(usize, usize)) {
    let (chunks, rest) = text.as_chunks::<CHUNK>();
    // Ends in a zero at least, and so every word ends.
    let mut last = [0; CHUNK];
    last[..rest.len()].copy_from_slice(rest);
    let mut edges = Edges::new();
    for chunks in chunks.chunks(CHUNKS).chain([&[last][..]]) {
        chunks.iter().for_each(|chunk| edges.add(chunk));
        for [start, end] in edges.pairs() {
            if end - start <= LONGEST {
                found(*start, *end);
            } else {
                pieces(*start, *end).for_each(|(start, end)| found(start, end));
            }
        }
        edges.keep_open();
    }
}

/// A run that is too long, as words.
#[cold]
fn pieces(start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> {
    (start..end).step_by(LONGEST).map(move |start| (start, end.min(start + LONGEST)))
}

/// Edges written at a time, more than there are or not: chunks with as many as this are rare enough
/// that the number of times is mostly foreseen.
const AT_A_TIME: usize = 8;

/// Where words begin and end, by turns.
struct Edges {
    at: [usize; CHUNKS * CHUNK + 1 + AT_A_TIME],
    count: usize,
    /// Bytes looked at.
    seen: usize,
    /// Whether the last of them belongs to a word: one or zero.
    inside: u64,
}

impl Edges {
    fn new() -> Edges {
        Edges { at: [0; CHUNKS * CHUNK + 1 + AT_A_TIME], count: 0, seen: 0, inside: 0 }
    }

    #[inline(always)]
    fn add(&mut self, chunk: &[u8; CHUNK]) {
        let bits = bits(chunk);
        let mut left = bits ^ (bits << 1 | self.inside);
        self.inside = bits >> (CHUNK - 1);
        let mut next = self.count;
        self.count += left.count_ones() as usize;
        loop {
            let places: &mut [usize; AT_A_TIME] =
                self.at[next..].first_chunk_mut().expect("there is room for an edge at each byte and more");
            for place in places {
                *place = self.seen + left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
            }
            if left == 0 {
                break;
            }
            next += AT_A_TIME;
        }
        self.seen += CHUNK;
    }

    /// Words that have begun and ended.
    fn pairs(&self) -> &[[usize; 2]] {
        self.at[..self.count].as_chunks().0
    }

    /// Forgets all but a beginning whose end was not seen.
    fn keep_open(&mut self) {
        if self.count % 2 == 1 {
            self.at[0] = self.at[self.count - 1];
        }
        self.count %= 2;
    }
}

/// A bit for each byte, the first byte's the lowest: whether it belongs to words.
#[inline(always)]
fn bits(chunk: &[u8; CHUNK]) -> u64 {
    let inside = chunk.map(|byte| u8::from(is_in_word(byte)));
    // The multiplication brings the lowest bits of eight bytes together in the highest byte.
    let eight = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    inside.as_chunks().0.iter().rev().fold(0, |bits, bytes| bits << 8 | eight(bytes))
}

/// Bytes of a short word: most words are, and such a word is a number.
pub(crate) const SHORT: usize = 16;

/// By length: the bytes of a short word.
static BYTES: [u128; SHORT + 1] = {
    let mut masks = [0; SHORT + 1];
    let mut length = 1;
    while length <= SHORT {
        masks[length] = masks[length - 1] << 8 | 0xFF;
        length += 1;
    }
    masks
};

/// The first bytes of the word that begins at `start`, padded with zeros, which no word contains. Equal
/// for equal short words alone.
#[inline(always)]
pub(crate) fn key(text: &[u8], start: usize, length: usize) -> u128 {
    let bytes = text[start..].first_chunk::<SHORT>().copied().unwrap_or_else(|| padded(&text[start..]));
    u128::from_le_bytes(bytes) & BYTES[length.min(SHORT)]
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
        let mut words = Vec::new();
        each(text, |start, end| {
            let (word, key) = (&text[start..end], key(text, start, end - start).to_le_bytes());
            let short = &word[..word.len().min(SHORT)];
            assert_eq!(&key[..short.len()], short);
            assert!(key[short.len()..].iter().all(|byte| *byte == 0));
            words.push(word);
        });
        words
    }

    /// What words are, byte by byte.
    fn plainly(text: &[u8]) -> Vec<&[u8]> {
        let outside = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte > 127);
        text.split(outside).flat_map(|run| run.chunks(LONGEST)).collect()
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
        assert_eq!(words(&text[..2 * LONGEST]).len(), 2);
    }

    /// All bytes, words that begin and end at every place of a chunk and go on over several, all or no edges.
    #[test]
    fn words_are_what_they_are_byte_by_byte() {
        let mut state = 1u64;
        for round in 0..400usize {
            let length = round * 17 % 5000;
            let text: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let byte = (state >> 33) as u8;
                    if (state >> 50) % 40 < round as u64 / 10 { byte } else { b'k' }
                })
                .collect();
            assert_eq!(words(&text), plainly(&text), "{round}");
        }
        let dense: Vec<u8> = b"a ".repeat(5000);
        assert_eq!(words(&dense), plainly(&dense));
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(words(&all), plainly(&all));
    }
}
