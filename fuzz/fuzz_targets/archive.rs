//! The archive reader on arbitrary bytes.
//!
//! Nearly every input would fail at the checksum of the first record. So the target also builds an archive from the
//! bytes: they become the tables and data of records with valid heads and checksums.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_dedup::{Entry, Limits, Params, pack_sequential, stat, verify};

/// A valid header, taken from an empty archive. Byte 12 is the kind of content, 1 for a tree.
fn header(tree: bool) -> Vec<u8> {
    let mut archive = Vec::new();
    pack_sequential(&b""[..], &mut archive, &Params::default()).expect("packs");
    archive.truncate(56);
    archive[12] = u8::from(tree);
    seal(archive)
}

fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let hash = check(&bytes);
    bytes.extend_from_slice(&hash);
    bytes
}

fn check(bytes: &[u8]) -> [u8; 8] {
    ::blake3::hash(bytes).as_bytes()[..8].try_into().expect("eight bytes")
}

fn record(sequence: u64, table: &[u8], data: &[u8], codec: u8) -> Vec<u8> {
    let mut head = vec![b'R'];
    head.extend_from_slice(&sequence.to_le_bytes());
    let length = (table.len() as u32).to_le_bytes();
    head.extend_from_slice(&[length, length].concat());
    head.push(0);
    let raw = if codec == 0 { data.len() } else { data.len() * 9 + 1 };
    head.extend_from_slice(&(raw as u32).to_le_bytes());
    head.extend_from_slice(&(data.len() as u32).to_le_bytes());
    head.push(codec);
    let mut out = seal(head);
    out.extend(seal([table, data].concat()));
    out
}

fuzz_target!(|bytes: &[u8]| {
    let read = |archive: &[u8]| {
        let _ = verify(archive, &Limits::default());
        let _ = stat(archive, &Limits::default(), &mut |_: &Entry, _: u64| Ok(()));
    };
    read(bytes);
    let Some((&choice, rest)) = bytes.split_first() else { return };
    let mut archive = header(choice & 1 == 1);
    for (sequence, part) in rest.chunks(256).enumerate() {
        let (table, data) = part.split_at(part.len() * usize::from(choice >> 4) / 16);
        archive.extend(record(sequence as u64, table, data, (choice >> 1) % 3));
    }
    read(&archive);
});
