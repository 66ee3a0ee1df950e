//! Divides text into blocks that end between words.

use std::io::{self, Read};

use crate::words::{LONGEST, is_in_word};

/// Bytes read at a time. Large enough that the cost of a block is negligible, small enough to stay in a cache.
pub(crate) const BLOCK: usize = 1 << 18;

/// Reads a text in blocks.
pub(crate) struct Blocks<R> {
    input: R,
    /// The bytes after the last block: the beginning of a word that may continue in the next read.
    partial_word: Vec<u8>,
    /// Bytes to read at a time, unless a word is longer.
    size: usize,
    at_end: bool,
}

impl<R: Read> Blocks<R> {
    /// Blocks of about `size` bytes.
    pub fn new(input: R, size: usize) -> Self {
        Blocks { input, partial_word: Vec::new(), size: size.max(1), at_end: false }
    }

    /// Reads the next block. Returns `None` after the last.
    ///
    /// # Errors
    /// Reading failed.
    pub fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        while !self.at_end {
            let mut block = std::mem::take(&mut self.partial_word);
            // A word that is longer than a block takes twice as much each time, so that its bytes are copied twice at most.
            let size = self.size.max(block.len());
            block.reserve_exact(size);
            let read = self.input.by_ref().take(size as u64).read_to_end(&mut block)?;
            if read == 0 {
                self.at_end = true;
                return Ok(Some(block).filter(|block| !block.is_empty()));
            }
            let end = end_of_words(&block);
            self.partial_word.extend_from_slice(&block[end..]);
            block.truncate(end);
            if !block.is_empty() {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }
}

/// The blocks of a text in memory, of about `size` bytes each, as slices of the text.
pub(crate) fn slices(mut text: &[u8], size: usize) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let mut block = size.max(1);
        let end = loop {
            if block >= text.len() {
                break text.len();
            }
            match end_of_words(&text[..block]) {
                0 => block *= 2,
                end => break end,
            }
        };
        let (first, rest) = text.split_at(end);
        text = rest;
        Some(first).filter(|block| !block.is_empty())
    })
}

/// The end of the last complete word of a block: after its last separator. In a block without separators, the end of
/// the last complete piece of [`LONGEST`] bytes.
fn end_of_words(block: &[u8]) -> usize {
    match block.iter().rposition(|byte| !is_in_word(*byte)) {
        Some(separator) => separator + 1,
        None => block.len() / LONGEST * LONGEST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, Table, sequential};

    /// A reader that returns reads of varying lengths, as a pipe may.
    struct ShortReads<'a>(&'a [u8], usize);

    impl Read for ShortReads<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 * 31 % 1009 + 1;
            let count = self.1.min(into.len()).min(self.0.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn slices_of_any_size_have_the_same_words() {
        let mut text = b"some, words ".repeat(300);
        text.extend(vec![b'y'; 3 * LONGEST + 7]);
        text.extend(b" and an end".repeat(3));
        for size in [0, 1, 3, 100, LONGEST - 1, LONGEST + 9, 1 << 20] {
            assert_eq!(slices(&text, size).collect::<Vec<_>>().concat(), text);
            let mut table = Table::new();
            slices(&text, size).for_each(|block| table.add_text(block));
            let ranking = crate::Ranking::merge(vec![crate::ranking::sorted(&table)]);
            assert!(ranking.iter().eq(sequential(&text, Case::Kept).iter()), "{size}");
        }
        assert_eq!(slices(b"", 5).count(), 0);
    }

    #[test]
    fn blocks_do_not_split_words_and_split_long_runs_alike() {
        let mut text = b"short words ".repeat(50_000);
        text.extend(vec![b'y'; 5 * LONGEST + 7]);
        text.extend(b" and an end".repeat(3));
        let mut table = Table::new();
        let mut blocks = Blocks::new(ShortReads(&text, 7), BLOCK);
        while let Some(block) = blocks.next().unwrap() {
            table.add_text(&block);
        }
        assert!(
            crate::Ranking::merge(vec![crate::ranking::sorted(&table)]).iter().eq(sequential(
                &text,
                Case::Kept
            )
            .iter())
        );
    }
}
