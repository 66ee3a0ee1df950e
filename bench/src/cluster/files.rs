//! The files of the jobs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file in blocks.
pub struct Blocks {
    file: File,
    length: u64,
    /// Bytes of a block.
    size: u64,
}

impl Blocks {
    pub fn open(path: impl AsRef<Path>, size: u64) -> io::Result<Blocks> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Blocks { file, length, size })
    }

    pub fn count(&self) -> usize {
        self.length.div_ceil(self.size) as usize
    }

    /// The bytes of a block.
    pub fn bytes(&self, block: usize) -> io::Result<Vec<u8>> {
        let at = block as u64 * self.size;
        self.read(at, at + self.size)
    }

    /// The words that begin in a block.
    pub fn text(&self, block: usize) -> io::Result<Vec<u8>> {
        let at = block as u64 * self.size;
        let from = at.saturating_sub(1);
        // Words are much shorter.
        let mut text = self.read(from, at + self.size + 64)?;
        let is_space = |byte: &u8| *byte <= b' ';
        let end = (at + self.size - from) as usize;
        if let Some(last) = text.get(end - 1..).and_then(|rest| rest.iter().position(is_space)) {
            text.truncate(end - 1 + last);
        }
        if at > 0 {
            let first = text.iter().position(is_space).unwrap_or(text.len());
            text.drain(..first);
        }
        Ok(text)
    }

    fn read(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; to.min(self.length).saturating_sub(from) as usize];
        self.file.read_exact_at(&mut bytes, from)?;
        Ok(bytes)
    }
}

/// Writes words with their counts, sorted by the words.
pub fn lines_of_counts<W: AsRef<[u8]> + Ord>(output: &Path, mut counts: Vec<(W, u64)>) -> io::Result<()> {
    counts.sort_unstable();
    let mut file = BufWriter::with_capacity(1 << 16, File::create(output)?);
    for (word, count) in counts {
        file.write_all(word.as_ref())?;
        writeln!(file, " {count}")?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_text_have_each_word_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let text: Vec<u8> = (0..500_000u32).flat_map(|n| format!("w{n} ").into_bytes()).collect();
        std::fs::write(&path, &text).unwrap();
        let blocks = Blocks::open(&path, 100_000).unwrap();
        let all: Vec<u8> = (0..blocks.count()).flat_map(|block| blocks.text(block).unwrap()).collect();
        let words = |text: &[u8]| text.split(|b| *b == b' ').filter(|w| !w.is_empty()).count();
        assert!(blocks.count() > 30);
        assert_eq!((words(&all), words(&text)), (500_000, 500_000));
        let bytes: Vec<u8> = (0..blocks.count()).flat_map(|block| blocks.bytes(block).unwrap()).collect();
        assert!(bytes == text);
    }
}
