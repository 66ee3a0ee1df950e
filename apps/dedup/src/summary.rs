//! The counts of a run: the sums over its blocks.

use std::ops::AddAssign;

use crate::format::Footer;

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Bytes of the content.
    pub content_bytes: u64,
    /// Bytes of the content without duplicates.
    pub unique_bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Chunks of the content.
    pub chunks: u64,
    /// Chunks that duplicate earlier ones.
    pub duplicates: u64,
    /// Folders, files and links.
    pub entries: u64,
    /// Records of the archive.
    pub records: u64,
}

impl Summary {
    pub(crate) fn footer(&self, root: [u8; 32]) -> Footer {
        Footer {
            records: self.records,
            content_bytes: self.content_bytes,
            unique_bytes: self.unique_bytes,
            chunks: self.chunks,
            duplicates: self.duplicates,
            entries: self.entries,
            root,
        }
    }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.content_bytes += other.content_bytes;
        self.unique_bytes += other.unique_bytes;
        self.archive_bytes += other.archive_bytes;
        self.chunks += other.chunks;
        self.duplicates += other.duplicates;
        self.entries += other.entries;
        self.records += other.records;
    }
}

/// Appends one chunk to the input of the content hash. The chunk's hash replaces its bytes, so packing hashes the
/// content only once. Returns the offset of the hash.
pub(crate) fn hash_chunk(hash_input: &mut Vec<u8>, length: u32, hash: &[u8; 32]) -> usize {
    hash_input.push(0);
    hash_input.extend_from_slice(&length.to_le_bytes());
    hash_input.extend_from_slice(hash);
    hash_input.len() - hash.len()
}

/// Appends one encoded entry to the input of the content hash.
pub(crate) fn hash_entry(hash_input: &mut Vec<u8>, encoded: &[u8]) {
    hash_input.push(1);
    hash_input.extend_from_slice(&(encoded.len() as u32).to_le_bytes());
    hash_input.extend_from_slice(encoded);
}
