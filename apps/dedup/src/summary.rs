//! Counts of a run, added up from its blocks.

use std::ops::AddAssign;

use crate::format::Footer;

/// What was packed or unpacked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Bytes of the content.
    pub content_bytes: u64,
    /// Bytes of it not seen before.
    pub unique_bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Chunks of the content.
    pub chunks: u64,
    /// Chunks that refer to earlier ones.
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

/// Feeds the hash of the whole with one chunk. (Its own hash stands for its bytes, so that packing
/// hashes the content once.)
pub(crate) fn trail_chunk(trail: &mut Vec<u8>, length: u32, hash: &[u8; 32]) {
    trail.push(0);
    trail.extend_from_slice(&length.to_le_bytes());
    trail.extend_from_slice(hash);
}

/// Feeds the hash of the whole with one entry, by its encoding.
pub(crate) fn trail_entry(trail: &mut Vec<u8>, encoded: &[u8]) {
    trail.push(1);
    trail.extend_from_slice(&(encoded.len() as u32).to_le_bytes());
    trail.extend_from_slice(encoded);
}
