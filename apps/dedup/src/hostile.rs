//! Forged archives with valid checksums, which no packer writes, are refused.

use thalweg::Options;

use crate::Archive;
use crate::entry::{Entry, Meta};
use crate::format::*;
use crate::table::{put_duplicate, put_new};
use crate::wire::check;
use crate::{Codec, Error, Limits, Matching, Params, TreeSink, extract, extract_parallel, verify};

const FIRST_RECORD: u64 = HEADER_BYTES as u64;

fn header(kind: Kind) -> Header {
    Header::new(kind, &Params::default())
}

/// An archive of one record with this table and these data.
fn forge(kind: Kind, table: &[u8], data: &[u8]) -> Vec<u8> {
    let stored =
        |bytes: &[u8]| Part { raw: bytes.len() as u32, stored: bytes.len() as u32, codec: Codec::None };
    let mut archive = header(kind).encode();
    archive.extend(RecordHead { sequence: 0, table: stored(table), data: stored(data) }.encode());
    archive.extend([table, data].concat());
    archive.extend(check(&[table, data]).to_le_bytes());
    let footer = Footer { records: 1, ..Footer::default() };
    archive.extend(footer.encode(archive.len() as u64));
    archive
}

fn table(entries: &[Entry]) -> Vec<u8> {
    let mut table = Vec::new();
    entries.iter().for_each(|entry| entry.put(&mut table));
    table
}

fn meta(name: &[u8]) -> Meta {
    Meta { name: name.to_vec(), mode: 0o755, seconds: 0, nanos: 0 }
}

fn dir(name: &[u8]) -> Entry {
    Entry::Dir(meta(name))
}

fn file(name: &[u8]) -> Entry {
    Entry::File(meta(name))
}

fn link(name: &[u8], target: &[u8]) -> Entry {
    Entry::Link { name: name.to_vec(), target: target.to_vec() }
}

/// Unpacks to a new folder and checks that nothing is left there. Returns the error.
fn refused(archive: &[u8]) -> Error {
    let place = tempfile::tempdir().unwrap();
    let open = || Archive::open(archive, &Limits::default()).unwrap();
    let sink = || TreeSink::create(&place.path().join("out"), false).unwrap();
    let error = extract(open(), &mut sink()).unwrap_err();
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    let parallel = extract_parallel(open(), &mut sink(), &Options::new().threads(2)).unwrap_err();
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    assert_eq!(parallel.to_string(), error.to_string());
    error
}

#[test]
fn names_that_lead_out_of_the_tree_are_refused_with_their_offset() {
    let names = [&b"/etc/passwd"[..], b"..", b".", b"", b"../up", b"a/b", b"a/../../b", b"nul\0"];
    for name in names {
        for entry in [dir(name), file(name), link(name, b"x")] {
            let archive = forge(Kind::Tree, &table(&[dir(b""), entry]), b"");
            match refused(&archive) {
                Error::Unsafe { offset, .. } => assert_eq!(offset, FIRST_RECORD),
                other => panic!("{name:?}: {other}"),
            }
        }
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().to_str().unwrap().as_bytes();
    let tricks = [
        vec![dir(b""), link(b"x", target), dir(b"x"), file(b"evil")],
        vec![dir(b""), link(b"x", target), file(b"x/evil")],
        vec![dir(b""), link(b"x", target), file(b"x")],
        vec![link(b"", target), file(b"evil")],
        vec![dir(b""), Entry::Up, dir(b""), file(b"evil")],
    ];
    for entries in tricks {
        refused(&forge(Kind::Tree, &table(&entries), b""));
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}

#[test]
fn trees_without_a_root_an_end_or_in_wrong_order_are_refused() {
    let shapes = [
        vec![],
        vec![file(b"a")],
        vec![dir(b"named")],
        vec![dir(b"")],
        vec![dir(b""), dir(b"a"), Entry::Up],
        vec![Entry::Up],
        vec![dir(b""), file(b"b"), file(b"a")],
        vec![dir(b""), file(b"a"), file(b"a")],
    ];
    for entries in shapes {
        refused(&forge(Kind::Tree, &table(&entries), b""));
    }
}

#[test]
fn content_outside_of_a_file_is_refused() {
    let mut stray = table(&[dir(b"")]);
    put_new(&mut stray, 1);
    assert!(matches!(refused(&forge(Kind::Tree, &stray, b"x")), Error::Corrupt { .. }));
    let entry_in_stream = forge(Kind::Stream, &table(&[dir(b"")]), b"");
    assert!(verify(&entry_in_stream[..], &Limits::default()).is_err());
}

#[test]
fn references_outside_the_window_are_refused() {
    let refers = |length, distance| {
        let mut table = Vec::new();
        put_new(&mut table, 4);
        put_duplicate(&mut table, length, distance);
        put_new(&mut table, 4);
        forge(Kind::Stream, &table, b"12345678")
    };
    // (4, 4) is valid. Only the footer of that archive is not.
    for (length, distance, why) in [
        (4, 4, "hash"),
        (4, 5, "window"),
        (5, 4, "window"),
        (4, 0, "window"),
        (4, u64::MAX, "window"),
        (u32::MAX, u64::MAX, "window"),
    ] {
        let error = verify(&refers(length, distance)[..], &Limits::default()).unwrap_err().to_string();
        assert!(error.contains(why), "{length} {distance}: {error}");
    }
}

#[test]
fn tables_that_disagree_with_the_data_are_refused() {
    for lengths in [&[4u32, 5][..], &[4], &[], &[u32::MAX, u32::MAX]] {
        let mut table = Vec::new();
        lengths.iter().for_each(|length| put_new(&mut table, *length));
        let archive = forge(Kind::Stream, &table, b"12345678");
        let error = verify(&archive[..], &Limits::default()).unwrap_err();
        assert!(matches!(error, Error::Corrupt { offset: FIRST_RECORD, .. }), "{lengths:?}: {error}");
    }
    for bytes in [&[9u8][..], &[0], &[0, 0], &[0, 0x80, 0], &[1, 1], &[2, 200, 1]] {
        let archive = forge(Kind::Stream, bytes, b"");
        assert!(verify(&archive[..], &Limits::default()).is_err(), "{bytes:?}");
    }
}

#[test]
fn records_in_another_order_are_refused() {
    let none = Part { raw: 0, stored: 0, codec: Codec::None };
    let mut archive = header(Kind::Stream).encode();
    archive.extend(RecordHead { sequence: 1, table: none, data: none }.encode());
    let error = verify(&archive[..], &Limits::default()).unwrap_err().to_string();
    assert!(error.contains("found record 1, expected record 0"), "{error}");
}

#[test]
fn a_record_cannot_decompress_to_more_than_it_declares() {
    // 16 MiB of zeros, declared as 1 MiB.
    let bomb = zstd::bulk::compress(&vec![0; 16 << 20], 3).unwrap();
    let table = Part { raw: 0, stored: 0, codec: Codec::None };
    let data = Part { raw: 1 << 20, stored: bomb.len() as u32, codec: Codec::Zstd };
    let mut archive = header(Kind::Stream).encode();
    archive.extend(RecordHead { sequence: 0, table, data }.encode());
    archive.extend(&bomb);
    archive.extend(check(&[&bomb]).to_le_bytes());
    let error = verify(&archive[..], &Limits::default()).unwrap_err();
    assert!(matches!(error, Error::Corrupt { offset: FIRST_RECORD, .. }), "{error}");
}

#[test]
fn a_claimed_length_takes_no_memory_before_its_bytes_arrive() {
    let table = Part { raw: 0, stored: 0, codec: Codec::None };
    let data = Part { raw: 2 << 20, stored: 2 << 20, codec: Codec::None };
    let mut archive = header(Kind::Stream).encode();
    archive.extend(RecordHead { sequence: 0, table, data }.encode());
    let error = verify(&archive[..], &Limits::default()).unwrap_err();
    assert!(matches!(error, Error::Truncated { offset, .. } if offset == archive.len() as u64), "{error}");
}

#[test]
fn invalid_parameters_are_refused_before_anything_is_written() {
    let matching = |min, spacing| Params::default().matching(Matching { min, spacing });
    let bad = [
        matching(0, 64),
        matching(u32::MAX, 64),
        matching(128, 0),
        matching(128, 65),
        matching(128, 8192),
        Params::default().level(23),
        Params::default().codec(Codec::Gzip).level(10),
        Params::default().block(10, 20),
        Params::default().block(1 << 20, 1 << 30),
    ];
    for params in bad {
        let mut out = Vec::new();
        assert!(
            matches!(crate::pack_sequential(&b"x"[..], &mut out, &params), Err(Error::Params(_))),
            "{params:?}"
        );
        assert!(out.is_empty());
    }
}
