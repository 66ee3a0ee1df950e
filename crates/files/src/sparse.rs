//! Files with holes in place of zeros.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::iter;

/// The length of the blocks that become holes. The blocks of most file systems have this length.
const BLOCK: usize = 4096;

static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// A new file that is written from its beginning to its end. Blocks of zeros can become holes, which take no space on the
/// disk and are read as zeros.
#[derive(Debug)]
pub struct SparseFile {
    file: File,
    holes: bool,
    /// The bytes written and skipped.
    length: u64,
    /// The bytes skipped since the last ones written.
    skipped: u64,
}

impl SparseFile {
    /// Writes to `file`, which is empty, without holes.
    pub fn new(file: File) -> Self {
        SparseFile { file, holes: false, length: 0, skipped: 0 }
    }

    /// Sets whether blocks of zeros become holes, before anything is written.
    pub fn set_holes(&mut self, holes: bool) {
        self.holes = holes;
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its length, which it does not have yet if it ends in a hole.
    ///
    /// # Errors
    /// The file cannot have this length.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.skipped > 0 {
            self.file.set_len(self.length)?;
        }
        Ok(())
    }

    /// Writes the bytes before the first block of zeros, or skips the zeros at the beginning.
    fn write_or_skip(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let zeros = length_while(bytes, self.length, true);
        if zeros > 0 {
            self.skipped += zeros as u64;
            return Ok(zeros);
        }
        if self.skipped > 0 {
            self.file.seek(SeekFrom::Start(self.length))?;
            self.skipped = 0;
        }
        self.file.write(&bytes[..length_while(bytes, self.length, false)])
    }
}

impl Write for SparseFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.holes {
            return self.file.write(bytes);
        }
        let done = self.write_or_skip(bytes)?;
        self.length += done as u64;
        Ok(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The length of the first blocks of `bytes`, which begin at `offset` in the file, that are zeros or are not. The first
/// and the last block may be parts of blocks.
fn length_while(bytes: &[u8], offset: u64, zeros: bool) -> usize {
    let to_border = BLOCK - (offset % BLOCK as u64) as usize;
    let (first, rest) = bytes.split_at(to_border.min(bytes.len()));
    let blocks = iter::once(first).chain(rest.chunks(BLOCK)).filter(|block| !block.is_empty());
    blocks.take_while(|block| (**block == ZEROS[..block.len()]) == zeros).map(<[u8]>::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// Bytes, and the number of times that they follow.
    type Run = (u8, usize);

    fn content(runs: &[Run]) -> Vec<u8> {
        runs.iter().flat_map(|(byte, count)| iter::repeat_n(*byte, *count)).collect()
    }

    /// Writes `bytes` in parts of this length. Returns the file.
    fn written(bytes: &[u8], part: usize, holes: bool) -> File {
        let mut sparse = SparseFile::new(tempfile::tempfile().unwrap());
        sparse.set_holes(holes);
        bytes.chunks(part).for_each(|part| sparse.write_all(part).unwrap());
        sparse.finish().unwrap();
        sparse.file
    }

    #[test]
    fn the_content_is_the_same_with_and_without_holes() {
        let contents: &[&[Run]] = &[
            &[],
            &[(0, 1)],
            &[(0, BLOCK)],
            &[(1, 1)],
            &[(1, 1), (0, 3 * BLOCK)],
            &[(0, 3 * BLOCK), (1, 1)],
            &[(0, BLOCK - 1), (1, 2), (0, BLOCK), (2, BLOCK), (0, 5 * BLOCK + 7)],
            &[(1, BLOCK / 2), (0, 2 * BLOCK), (1, BLOCK), (0, 10), (1, 3 * BLOCK)],
        ];
        for runs in contents {
            let bytes = content(runs);
            for part in [1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 1 << 20] {
                for holes in [false, true] {
                    let mut found = Vec::new();
                    let mut file = written(&bytes, part, holes);
                    file.seek(SeekFrom::Start(0)).unwrap();
                    file.read_to_end(&mut found).unwrap();
                    assert!(found == bytes, "{runs:?} in parts of {part}, holes: {holes}");
                }
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn zeros_take_no_space() {
        use std::os::unix::fs::MetadataExt;
        let bytes = content(&[(0, 4 << 20), (1, 1), (0, 4 << 20)]);
        let space = |part, holes| written(&bytes, part, holes).metadata().unwrap().blocks() * 512;
        assert!(space(1 << 20, false) >= bytes.len() as u64);
        for part in [1000, 1 << 20] {
            assert!(space(part, true) <= 1 << 16, "{}", space(part, true));
        }
    }
}
