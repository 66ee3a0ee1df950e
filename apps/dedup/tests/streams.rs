//! Streams round-trip, for any content and any lengths of reads.

use crate::common;

use std::io::Cursor;

use common::{CODECS, ShortReads, noise, pack, small, text, unpack};
use proptest::prelude::*;
use thalweg::Options;
use thalweg_dedup::stage::{ArchiveWriter, Planner, Splitter, encode, sample};
use thalweg_dedup::{
    Archive, Codec, Entry, Error, Kind, Limits, Params, Quiet, Sink, extract, pack_sequential,
};

/// Random streams with repeated parts.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let part = (0..6u64, 0..5000usize, any::<bool>());
    prop::collection::vec(part, 0..20).prop_map(|parts| {
        parts.into_iter().fold(Vec::new(), |mut all, (seed, length, words)| {
            all.extend(if words { text(seed, length) } else { noise(seed, length) });
            all
        })
    })
}

fn pack_on(threads: usize, policy: &str, content: &[u8], params: &Params) -> Vec<u8> {
    let mut archive = Vec::new();
    let options = Options::new().threads(threads).policy(policy);
    thalweg_dedup::pack(content, &mut archive, params, &options).expect("packs");
    archive
}

/// Packs by calling the stages one by one.
fn pack_in_stages(content: &[u8], params: &Params) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new(), Kind::Stream, params).unwrap();
    let mut planner = Planner::new(params);
    let blocks = Splitter::stream(content, params, Box::new(Quiet)).map(|block| block.unwrap());
    for sampled in blocks.map(|block| sample(block, &params.matching)) {
        writer.record(encode(planner.add(sampled), params).unwrap()).unwrap();
    }
    writer.finish().unwrap().0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn round_trip(content in content(), codec in prop::sample::select(&CODECS[..]), window in 0u64..40_000) {
        let params = small(codec).window(window).index_bytes(window);
        let archive = pack(&content, &params);
        prop_assert!(unpack(&archive).unwrap() == content);
        prop_assert!(pack_in_stages(&content, &params) == archive);
        for threads in [1, 3] {
            prop_assert!(pack_on(threads, "auto", &content, &params) == archive);
        }
        let mut by_short_reads = Vec::new();
        pack_sequential(ShortReads(&content, 3), &mut by_short_reads, &params).unwrap();
        prop_assert!(by_short_reads == archive);
        let mut back = Vec::new();
        let limits = thalweg_dedup::Limits::default();
        thalweg_dedup::unpack_stream(ShortReads(&archive, 5), &mut back, &limits).unwrap();
        prop_assert!(back == content);
    }
}

#[test]
fn the_smallest_streams() {
    for codec in CODECS {
        for params in [Params::default().codec(codec), small(codec)] {
            for content in [&b""[..], b"x", b"xy", &[0; 63], &[0; 64], &[0; 65]] {
                assert!(unpack(&pack(content, &params)).unwrap() == content);
            }
        }
    }
}

#[test]
fn streams_round_trip_with_the_default_block_sizes() {
    let zeros = vec![0u8; 5 << 20];
    let mixed = [noise(1, 3 << 20), text(2, 1 << 20), noise(1, 3 << 20)].concat();
    for content in [zeros, mixed] {
        let archive = pack(&content, &Params::default());
        assert!(unpack(&archive).unwrap() == content);
        assert!(pack_in_stages(&content, &Params::default()) == archive);
        assert!(archive.len() < content.len() * 6 / 10);
    }
}

#[test]
fn every_policy_and_thread_count_gives_the_same_archive() {
    let content = [text(1, 1 << 20), noise(2, 1 << 20), text(1, 1 << 20), noise(3, 100)].concat();
    let params = small(Codec::Zstd).block(16 << 10, 32 << 10);
    let expected = pack(&content, &params);
    for policy in thalweg::embed::policy::registry::names() {
        for threads in [1, 2, 4, 7] {
            assert!(pack_on(threads, policy, &content, &params) == expected, "{policy} {threads}");
        }
    }
}

/// A writer that fails after the given number of bytes, like a full disk.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_ends_the_run_with_its_cause_at_any_thread_count() {
    let content = noise(9, 1 << 20);
    for threads in [1, 2, 4] {
        for room in [0, 100, 500_000] {
            let options = Options::new().threads(threads);
            let params = small(Codec::None);
            let failed = thalweg_dedup::pack(&content[..], Full(room), &params, &options);
            let Err(Error::Io { doing, source }) = failed else { panic!("{failed:?}") };
            assert!(doing.contains("byte offset"), "{doing}");
            assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
        }
    }
}

#[test]
fn a_copy_with_an_insertion_takes_little_more() {
    let original = noise(3, 4 << 20);
    let mut both = original.clone();
    both.extend_from_slice(&original[..1000]);
    both.extend_from_slice(b"inserted");
    both.extend_from_slice(&original[1000..]);
    let mut archive = Vec::new();
    let summary = pack_sequential(Cursor::new(&both), &mut archive, &Params::default()).unwrap();
    let extra = summary.unique_bytes - original.len() as u64;
    assert!(extra < 2000, "{extra} bytes of the second copy were not recognised");
}

/// A copy of `original` with some bytes replaced, inserted and removed, about `distance` bytes apart.
fn edited(original: &[u8], distance: usize) -> Vec<u8> {
    let mut copy = Vec::new();
    for (i, part) in original.chunks(distance).enumerate() {
        match i % 3 {
            0 => copy.extend([part, b"inserted"].concat()),
            1 => copy.extend(&part[part.len().min(5)..]),
            _ => copy.extend(part.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == part.len() / 2))),
        }
    }
    copy
}

#[test]
fn edited_copies_are_mostly_duplicates() {
    let original = noise(5, 1 << 20);
    for (distance, most) in [(1000, 500_000), (5000, 100_000), (50_000, 10_000)] {
        let content = [original.clone(), edited(&original, distance)].concat();
        let mut archive = Vec::new();
        let summary = pack_sequential(&content[..], &mut archive, &Params::default()).unwrap();
        let extra = summary.unique_bytes - original.len() as u64;
        assert!(extra < most, "edits every {distance} bytes take {extra} bytes");
        assert!(unpack(&archive).unwrap() == content);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edited_copies_round_trip(
        seed in 0..9u64,
        length in 0..9000usize,
        distances in prop::collection::vec(40..2000usize, 1..6),
        window in 0u64..30_000,
    ) {
        let original = [noise(seed, length), text(seed, length / 2), vec![0; length / 3]].concat();
        let copies = distances.iter().flat_map(|distance| edited(&original, *distance));
        let content: Vec<u8> = original.iter().copied().chain(copies).collect();
        let params = small(Codec::Zstd).window(window);
        let archive = pack(&content, &params);
        // The unpacker refuses matches beyond the window.
        prop_assert!(unpack(&archive).unwrap() == content);
        prop_assert!(pack_on(3, "auto", &content, &params) == archive);
    }
}

#[test]
fn data_beyond_the_window_is_stored_again() {
    let part = noise(4, 50_000);
    let content = [part.clone(), noise(5, 100_000), part].concat();
    let unique = |window| {
        let params = small(Codec::None).window(window);
        pack_sequential(&content[..], &mut Vec::new(), &params).unwrap().unique_bytes
    };
    assert!(unique(1 << 20) < 160_000);
    assert_eq!(unique(40_000), content.len() as u64);
}

#[test]
fn archive_bytes_are_stable() {
    // The bytes with codec none depend on this crate alone. Those with zstd also depend on its version, which the lock
    // file fixes. If a change of the bytes is intended, raise the format version, or say in the commit why not.
    let content = [text(7, 300_000), noise(8, 100_000), text(7, 300_000)].concat();
    let name = |codec| blake3_hex(&pack(&content, &Params::default().codec(codec)));
    assert_eq!(name(Codec::None), "021994a8263cc7b892f0e156a33a33bc1e9cea1ad0fe8a1b8dd535ee5c900bc8");
    assert_eq!(name(Codec::Zstd), "b28c1d1cbb3fb628684212cc928200837500dc01868a76afb77905b196462134");
}

#[test]
fn a_window_beyond_the_positions_of_the_index_is_refused() {
    let packed = |window| pack_sequential(&b"x"[..], &mut Vec::new(), &Params::default().window(window));
    assert!(packed(u64::from(u32::MAX)).is_ok());
    assert!(matches!(packed(1 << 32), Err(Error::Params(why)) if why.contains("window 4294967296")));
}

/// Counts the calls with content.
#[derive(Default)]
struct Calls(usize);

impl Sink for Calls {
    fn entry(&mut self, _entry: &Entry, _offset: u64) -> thalweg_dedup::Result<()> {
        Ok(())
    }

    fn data(&mut self, _bytes: &[u8]) -> thalweg_dedup::Result<()> {
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn short_duplicates_reach_the_sink_together() {
    let original = noise(9, 100_000);
    let content: Vec<u8> = [&original[..], &edited(&original, 1000)].concat();
    let archive = pack(&content, &Params::default());
    let mut calls = Calls::default();
    let summary = extract(Archive::open(&archive[..], &Limits::default()).unwrap(), &mut calls).unwrap();
    assert!(summary.duplicates > 60, "{}", summary.duplicates);
    assert!(calls.0 <= 3, "{} calls", calls.0);
}

fn blake3_hex(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
