//! The format of a log: a head, and entries of a fixed length, each with a checksum.
//!
//! ```text
//! magic 8 │ length of the head 4 │ head │ hash of the head 32 │ (part 4 │ batch 4 │ bytes 8 │ checksum 16) ...
//! ```
//!
//! Numbers are little-endian. The hash of the head is the key of the checksums, and a checksum has the number of its entry:
//! so an entry of another log, or at another place, is none. The head has a nonce, so that no two logs have equal hashes.
//!
//! What is behind the first entry whose checksum is wrong is ignored: it was written by halves. An earlier entry is true as long as
//! the file has the bytes, so a log without its last entries costs work and nothing else.

use std::io;

use super::head::Head;
use crate::ticket::Ticket;

const MAGIC: [u8; 8] = *b"thlwgrs1";
const NONCE: usize = 16;
const CHECKSUM: usize = 16;
const ENTRY: usize = 16 + CHECKSUM;

/// The first `bytes` of the file are on the disk, and are what the batches before `next` give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub next: Ticket,
    pub bytes: u64,
}

impl Default for Entry {
    /// What a log without entries says.
    fn default() -> Entry {
        Entry { next: Ticket::first_of(0), bytes: 0 }
    }
}

/// A log that was read.
pub(super) struct Log {
    pub head: Head,
    pub last: Entry,
    /// Bytes up to the end of the last entry.
    pub length: usize,
    key: [u8; 32],
    entries: u64,
}

/// What makes the bytes of a log.
pub(super) struct Writer {
    key: [u8; 32],
    entries: u64,
}

impl Writer {
    /// The bytes of a log without entries, and what makes those.
    pub fn new(head: &Head) -> io::Result<(Vec<u8>, Writer)> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let head = postcard::to_stdvec(&(nonce, head)).map_err(io::Error::other)?;
        let length = u32::try_from(head.len()).map_err(io::Error::other)?;
        let key = blake3::hash(&head).into();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend(&head);
        bytes.extend(&key);
        Ok((bytes, Writer { key, entries: 0 }))
    }

    /// The bytes of the next entry.
    pub fn entry(&mut self, entry: Entry) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[0..4].copy_from_slice(&entry.next.part.to_le_bytes());
        bytes[4..8].copy_from_slice(&entry.next.batch.to_le_bytes());
        bytes[8..16].copy_from_slice(&entry.bytes.to_le_bytes());
        let checksum = checksum(&self.key, self.entries, &bytes[..16]);
        bytes[16..].copy_from_slice(&checksum.as_bytes()[..CHECKSUM]);
        self.entries += 1;
        bytes
    }
}

impl Log {
    /// Reads a log. `None`: its head is damaged, or of another version.
    pub fn read(bytes: &[u8]) -> Option<Log> {
        let (length, rest) = bytes.strip_prefix(&MAGIC)?.split_first_chunk::<4>()?;
        let (head, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let (key, entries) = rest.split_first_chunk::<32>()?;
        if blake3::hash(head) != blake3::Hash::from_bytes(*key) {
            return None;
        }
        let (_, head) = postcard::from_bytes::<([u8; NONCE], Head)>(head).ok()?;
        let mut log =
            Log { head, last: Entry::default(), length: bytes.len() - entries.len(), key: *key, entries: 0 };
        for entry in entries.chunks_exact(ENTRY) {
            let (said, sum) = entry.split_at(16);
            if checksum(&log.key, log.entries, said).as_bytes()[..CHECKSUM] != *sum {
                break;
            }
            let number = |at: usize| u32::from_le_bytes([said[at], said[at + 1], said[at + 2], said[at + 3]]);
            let bytes = u64::from(number(8)) | u64::from(number(12)) << 32;
            log.last = Entry { next: Ticket { part: number(0), batch: number(4) }, bytes };
            log.length += ENTRY;
            log.entries += 1;
        }
        Some(log)
    }

    /// What makes the entries behind the last.
    pub fn writer(&self) -> Writer {
        Writer { key: self.key, entries: self.entries }
    }
}

fn checksum(key: &[u8; 32], number: u64, entry: &[u8]) -> blake3::Hash {
    blake3::Hasher::new_keyed(key).update(&number.to_le_bytes()).update(entry).finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::head::example;
    use proptest::prelude::*;

    fn entry(n: u32) -> Entry {
        Entry { next: Ticket { part: n / 3, batch: n % 3 }, bytes: u64::from(n) << 30 }
    }

    /// A log with entries 1 to `entries`.
    fn log(entries: u32) -> Vec<u8> {
        let (mut bytes, mut writer) = Writer::new(&example(9)).unwrap();
        (1..=entries).for_each(|n| bytes.extend(writer.entry(entry(n))));
        bytes
    }

    #[test]
    fn a_log_that_is_cut_has_the_entries_that_are_whole() {
        let whole = log(5);
        let empty = log(0).len();
        for length in 0..=whole.len() {
            let read = Log::read(&whole[..length]);
            assert_eq!(read.is_some(), length >= empty, "{length}");
            let Some(read) = read else { continue };
            let entries = (length - empty) / ENTRY;
            let last = if entries == 0 { Entry::default() } else { entry(entries as u32) };
            assert_eq!((read.last, read.length, &read.head), (last, empty + entries * ENTRY, &example(9)));
            // What is added is behind it.
            let mut more = whole[..read.length].to_vec();
            more.extend(read.writer().entry(entry(70)));
            assert_eq!(Log::read(&more).unwrap().last, entry(70));
        }
    }

    #[test]
    fn entries_of_another_log_or_place_are_none() {
        let (one, other, empty) = (log(5), log(5), log(0).len());
        let mixed = [&one[..empty + ENTRY], &other[empty + ENTRY..]].concat();
        assert_eq!(Log::read(&mixed).unwrap().last, entry(1));
        let without = [&one[..empty + ENTRY], &one[empty + 2 * ENTRY..]].concat();
        assert_eq!(Log::read(&without).unwrap().last, entry(1));
    }

    proptest! {
        /// A log with changed bytes is refused, or says what it has said at an earlier time.
        #[test]
        fn a_changed_log_says_nothing_wrong(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            cut in proptest::option::of(any::<prop::sample::Index>()),
        ) {
            let mut bytes = log(6);
            for (at, to) in changes {
                let at = at.index(bytes.len());
                bytes[at] = to;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Some(read) = Log::read(&bytes) {
                prop_assert_eq!(&read.head, &example(9));
                prop_assert!((1..=6).map(entry).chain([Entry::default()]).any(|entry| entry == read.last));
            }
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let with_magic = [&MAGIC[..], &bytes].concat();
            prop_assert!(Log::read(&bytes).is_none() && Log::read(&with_magic).is_none());
        }
    }
}
