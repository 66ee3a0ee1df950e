//! Forged archives with valid checksums, which no packer writes, are refused.
#![cfg(unix)]

use thalweg::Options;

use crate::Archive;
use crate::entry::{Entry, Meta, Time};
use crate::format::*;
use crate::table::{put_duplicate, put_new};
use crate::wire::check;
use crate::{Codec, Error, Limits, Matching, Params, TreeSink, extract, extract_parallel, stat, verify};

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
    Meta { name: name.to_vec(), mode: 0o755, time: Some(Time { seconds: 0, nanos: 0 }), ..Meta::default() }
}

fn dir(name: &[u8]) -> Entry {
    Entry::Dir(meta(name))
}

fn file(name: &[u8]) -> Entry {
    Entry::File(meta(name))
}

fn link(name: &[u8], target: &[u8]) -> Entry {
    Entry::Link { meta: meta(name), target: target.to_vec() }
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
    // One rule: what unpacking refuses, the other readers refuse for the same reason.
    assert_eq!(verify(archive, &Limits::default()).unwrap_err().to_string(), error.to_string());
    let found = stat(archive, &Limits::default(), &mut |_: &Entry, _: u64| Ok(()));
    assert_eq!(found.unwrap_err().to_string(), error.to_string());
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

/// No system has such links.
#[test]
fn empty_targets_and_targets_with_zero_bytes_are_refused() {
    for target in [&b""[..], b"\0", b"a\0b"] {
        let archive = forge(Kind::Tree, &table(&[dir(b""), link(b"a", target), Entry::Up]), b"");
        assert!(matches!(refused(&archive), Error::Unsafe { .. }), "{target:?}");
    }
}

/// The totals of these archives are wrong, which takes no data to see.
#[test]
fn totals_that_do_not_match_are_refused_without_the_data() {
    let mut chunks = Vec::new();
    put_new(&mut chunks, 4);
    put_duplicate(&mut chunks, 4, 4);
    for archive in [
        forge(Kind::Tree, &table(&[dir(b""), file(b"a"), Entry::Up]), b""),
        forge(Kind::Stream, &chunks, b"1234"),
    ] {
        let found = stat(&archive[..], &Limits::default(), &mut |_: &Entry, _: u64| Ok(()));
        assert!(found.unwrap_err().to_string().contains("the totals in the footer"));
    }
}

/// In time proportional to depth and hard links: by way of the root it would take minutes.
#[test]
fn hard_links_to_deep_files_take_no_longer_for_their_depth() {
    const DEPTH: usize = 2000;
    /// Fewer than the names that a file may have on ext4.
    const LINKS: u64 = 60_000;
    let begin = std::time::Instant::now();
    let place = tempfile::tempdir().unwrap();
    let mut sink = TreeSink::create(&place.path().join("out"), false).unwrap().durable(false);
    let mut put = |entry: Entry| crate::Sink::entry(&mut sink, &entry, 7).unwrap();
    // Folders that their owner cannot read get their attributes at the end.
    let closed = Entry::Dir(Meta { mode: 0, ..meta(b"d") });
    put(dir(b""));
    (0..DEPTH).for_each(|_| put(closed.clone()));
    put(shared(b"first"));
    (0..DEPTH).for_each(|_| put(Entry::Up));
    (0..DEPTH).for_each(|depth| put(dir(if depth == 0 { b"e" } else { b"d" })));
    put(shared(b"second"));
    let links = (0..LINKS).map(|number| hard_link(format!("x{number:06}").as_bytes(), number % 2));
    let links: Vec<Entry> = links.collect();
    // Half of the links lie at the bottom, half at the top.
    let (low, high) = links.split_at(LINKS as usize / 2);
    low.iter().for_each(|link| put(link.clone()));
    (0..DEPTH).for_each(|_| put(Entry::Up));
    high.iter().for_each(|link| put(link.clone()));
    put(Entry::Up);
    sink.commit().unwrap();
    let out = thalweg_files::Folder::open(place.path()).unwrap();
    assert_eq!(out.names().unwrap(), ["out"], "the folder of second names is gone");
    thalweg_files::remove_tree(&out, "out".as_ref()).unwrap();
    assert!(begin.elapsed() < std::time::Duration::from_secs(60), "{:?}", begin.elapsed());
}

fn shared(name: &[u8]) -> Entry {
    Entry::File(Meta { shared: true, ..meta(name) })
}

fn hard_link(name: &[u8], file: u64) -> Entry {
    Entry::HardLink { name: name.to_vec(), file }
}

#[test]
fn hard_links_lead_only_to_files_of_the_tree_before_them() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, b"secret").unwrap();
    let target = secret.to_str().unwrap().as_bytes();
    let tricks = [
        vec![dir(b""), hard_link(b"x", 0)],               // to no file
        vec![dir(b""), shared(b"a"), hard_link(b"x", 1)], // to a file that is not there
        vec![dir(b""), shared(b"a"), hard_link(b"x", u64::MAX)],
        vec![dir(b""), hard_link(b"a", 0), shared(b"b")], // to a later file
        vec![dir(b""), file(b"a"), hard_link(b"x", 0)],   // to a file that is not shared
        vec![dir(b""), link(b"a", target), hard_link(b"x", 0)], // to a symbolic link
        vec![dir(b""), shared(b"a"), hard_link(b"../x", 0)], // with a name that leads out
        vec![dir(b""), shared(b"a"), hard_link(b"/tmp/x", 0)],
        vec![dir(b""), shared(b"a"), hard_link(b"..", 0)],
        vec![dir(b""), shared(b"a"), hard_link(b"", 0)],
        vec![dir(b""), shared(b"b"), hard_link(b"a", 0)], // out of order
        vec![dir(b""), shared(b"a"), hard_link(b"a", 0)], // over its file
        vec![dir(b""), link(b"a", target), hard_link(b"a", 0)], // over a link
        vec![hard_link(b"", 0)],                          // as the root
        vec![dir(b""), Entry::Up, hard_link(b"x", 0)],    // after the tree
    ];
    for entries in tricks {
        let error = refused(&forge(Kind::Tree, &table(&entries), b""));
        assert!(matches!(error, Error::Unsafe { .. } | Error::Corrupt { .. }), "{entries:?}: {error}");
        let names = std::fs::metadata(&secret).unwrap();
        assert_eq!(std::os::unix::fs::MetadataExt::nlink(&names), 1, "{entries:?}");
    }
}

/// Content after a hard link would change a file that is complete.
#[test]
fn a_hard_link_has_no_content() {
    let mut entries = table(&[dir(b""), shared(b"a"), hard_link(b"b", 0)]);
    put_new(&mut entries, 1);
    assert!(matches!(refused(&forge(Kind::Tree, &entries, b"x")), Error::Corrupt { .. }));
}

/// The attributes of the system are not for archives to set.
#[test]
fn attributes_of_the_system_are_not_restored() {
    let attribute = crate::Attribute { name: b"security.capability".to_vec(), value: vec![1; 20] };
    let with = Meta { attributes: vec![attribute], ..meta(b"a") };
    let archive = forge(Kind::Tree, &table(&[dir(b""), Entry::File(with), Entry::Up]), b"");
    let place = tempfile::tempdir().unwrap();
    let open = || Archive::open(&archive[..], &Limits::default()).unwrap();
    let sink = || TreeSink::create(&place.path().join("out"), false).unwrap().extended_attributes(true);
    let error = extract(open(), &mut sink()).unwrap_err();
    assert!(error.to_string().contains("setting attributes of a"), "{error}");
    // With a receiver the run goes on, to the footer, which is wrong.
    let (sent, received) = std::sync::mpsc::channel();
    let mut sink = sink().on_failure(move |error| sent.send(error.to_string()).unwrap());
    assert!(matches!(extract(open(), &mut sink), Err(Error::Corrupt { .. })));
    assert!(received.recv().unwrap().contains("setting attributes of a"));
}

/// References, entries and attributes: a small archive of much output ends before more than the limit is written.
#[test]
fn no_more_than_the_limit_arrives_at_the_sink() {
    struct Count(u64);
    impl crate::Sink for Count {
        fn entry(&mut self, entry: &Entry, _offset: u64) -> crate::Result<()> {
            let mut encoded = Vec::new();
            entry.put(&mut encoded);
            self.0 += encoded.len() as u64;
            Ok(())
        }

        fn data(&mut self, bytes: &[u8]) -> crate::Result<()> {
            self.0 += bytes.len() as u64;
            Ok(())
        }
    }
    let mut references = Vec::new();
    put_new(&mut references, 1000);
    (0..100_000).for_each(|_| put_duplicate(&mut references, 1000, 1000));
    let stream = forge(Kind::Stream, &references, &[7; 1000]);
    let names: Vec<Vec<u8>> = (0..50_000).map(|number| format!("{number:06}").into_bytes()).collect();
    let files: Vec<Entry> = [dir(b"")].into_iter().chain(names.iter().map(|name| file(name))).collect();
    for archive in [stream, forge(Kind::Tree, &table(&files), b"")] {
        for limit in [0, 1, 999, 1000, 100_000] {
            let limits = Limits::default().output(limit);
            let mut count = Count(0);
            let ended = extract(Archive::open(&archive[..], &limits).unwrap(), &mut count);
            let offset = FIRST_RECORD;
            assert!(
                matches!(ended, Err(Error::OutputLimit { limit: l, offset: o }) if l == limit && o == offset),
                "{ended:?}"
            );
            assert!(count.0 <= limit && count.0 + 1000 >= limit, "{} of {limit}", count.0);
            let open = Archive::open(&archive[..], &limits).unwrap();
            let parallel = extract_parallel(open, &mut Count(0), &Options::new().threads(2));
            assert!(matches!(parallel, Err(Error::OutputLimit { .. })));
        }
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
