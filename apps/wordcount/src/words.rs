//! Finds the words of a text.

/// The maximum bytes of a word. A longer run counts as several words.
pub const LONGEST: usize = 1 << 16;

/// Whether case is significant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Case {
    /// `A` and `a` are different letters.
    #[default]
    Kept,
    /// `A` counts as `a`. Affects ASCII letters only.
    Ignored,
}

/// Converts text to lower case if required, with a reusable buffer.
#[derive(Debug, Default)]
pub(crate) struct CaseFolder {
    lower: Vec<u8>,
}

impl CaseFolder {
    /// The text itself, or its copy in lower case if `case` is ignored.
    pub fn fold<'a>(&'a mut self, text: &'a [u8], case: Case) -> &'a [u8] {
        if case == Case::Kept {
            return text;
        }
        self.lower.clear();
        self.lower.extend_from_slice(text);
        self.lower.make_ascii_lowercase();
        &self.lower
    }
}

/// Whether the byte is a part of words.
#[inline(always)]
pub(crate) fn is_in_word(byte: u8) -> bool {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    letter | digit | (byte > 127)
}

/// Bytes that are classified together. Each becomes a bit of a `u64`.
const CHUNK: usize = 64;

/// Chunks that are classified before their words are reported.
const CHUNKS: usize = 32;

/// Calls `found` with the start and the end of each word of a text, in order.
///
/// Processors cannot predict where words end, so this code has no branch on a byte. Compilers classify a chunk by a few
/// vector instructions, and words begin and end where the bits change.
#[inline(always)]
pub(crate) fn for_each_word(text: &[u8], mut found: impl FnMut(usize, usize)) {
    let (chunks, rest) = text.as_chunks::<CHUNK>();
    // `rest` is shorter than a chunk, so `last` ends in a zero, which ends the last word.
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

/// Divides a run of more than [`LONGEST`] bytes into words.
#[cold]
fn pieces(start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> {
    (start..end).step_by(LONGEST).map(move |start| (start, end.min(start + LONGEST)))
}

/// Edges that are written at a time, even if a chunk has fewer. Few chunks have more edges, so processors predict the
/// number of iterations well.
const BATCH: usize = 8;

/// The offsets at which words begin and end, alternately.
struct Edges {
    at: [usize; CHUNKS * CHUNK + 1 + BATCH],
    count: usize,
    /// Bytes classified so far.
    seen: usize,
    /// 1 if the last of these bytes is in a word, otherwise 0.
    inside: u64,
}

impl Edges {
    fn new() -> Edges {
        Edges { at: [0; CHUNKS * CHUNK + 1 + BATCH], count: 0, seen: 0, inside: 0 }
    }

    #[inline(always)]
    fn add(&mut self, chunk: &[u8; CHUNK]) {
        let bits = bits(chunk);
        let mut left = bits ^ (bits << 1 | self.inside);
        self.inside = bits >> (CHUNK - 1);
        let mut next = self.count;
        self.count += left.count_ones() as usize;
        loop {
            let edges: &mut [usize; BATCH] = self.at[next..]
                .first_chunk_mut()
                .expect("`at` has room for an edge at each byte and a batch");
            for edge in edges {
                *edge = self.seen + left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
            }
            if left == 0 {
                break;
            }
            next += BATCH;
        }
        self.seen += CHUNK;
    }

    /// The complete words: pairs of start and end.
    fn pairs(&self) -> &[[usize; 2]] {
        self.at[..self.count].as_chunks().0
    }

    /// Removes the complete words. Keeps the start of an unfinished word.
    fn keep_open(&mut self) {
        if self.count % 2 == 1 {
            self.at[0] = self.at[self.count - 1];
        }
        self.count %= 2;
    }
}

/// A bit for each byte, the lowest for the first byte: whether the byte is a part of words.
#[inline(always)]
fn bits(chunk: &[u8; CHUNK]) -> u64 {
    let inside = chunk.map(|byte| u8::from(is_in_word(byte)));
    // The multiplication collects the lowest bits of eight bytes in the highest byte.
    let eight = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    inside.as_chunks().0.iter().rev().fold(0, |bits, bytes| bits << 8 | eight(bytes))
}

/// The maximum bytes of a short word, which has a number as its key. Most words are short.
pub(crate) const SHORT: usize = 16;

/// Masks of the first bytes of a key, by length.
static MASKS: [u128; SHORT + 1] = {
    let mut masks = [0; SHORT + 1];
    let mut length = 1;
    while length <= SHORT {
        masks[length] = masks[length - 1] << 8 | 0xFF;
        length += 1;
    }
    masks
};

/// The key of the word that begins at `start`: its first bytes, padded with zeros, which no word contains. Short words
/// have equal keys if and only if they are equal.
#[inline(always)]
pub(crate) fn key(text: &[u8], start: usize, length: usize) -> u128 {
    let bytes = text[start..].first_chunk::<SHORT>().copied().unwrap_or_else(|| padded(&text[start..]));
    u128::from_le_bytes(bytes) & MASKS[length.min(SHORT)]
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
        for_each_word(text, |start, end| {
            let (word, key) = (&text[start..end], key(text, start, end - start).to_le_bytes());
            let short = &word[..word.len().min(SHORT)];
            assert_eq!(&key[..short.len()], short);
            assert!(key[short.len()..].iter().all(|byte| *byte == 0));
            words.push(word);
        });
        words
    }

    /// The words of a text, found byte by byte.
    fn words_by_bytes(text: &[u8]) -> Vec<&[u8]> {
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
    fn a_long_run_is_several_words() {
        let text = vec![b'x'; 2 * LONGEST + 5];
        assert_eq!(words(&text).iter().map(|word| word.len()).collect::<Vec<_>>(), [LONGEST, LONGEST, 5]);
        assert_eq!(words(&text[..2 * LONGEST]).len(), 2);
    }

    /// Texts with all bytes, with words that begin and end at every offset of a chunk or span several chunks, and with
    /// an edge at every byte.
    #[test]
    fn words_are_those_found_byte_by_byte() {
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
            assert_eq!(words(&text), words_by_bytes(&text), "{round}");
        }
        let dense: Vec<u8> = b"a ".repeat(5000);
        assert_eq!(words(&dense), words_by_bytes(&dense));
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(words(&all), words_by_bytes(&all));
    }
}
