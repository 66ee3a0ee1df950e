//! Damaged archives are refused, never unpacked to wrong content.

use crate::common;

use common::{CODECS, noise, pack, small, text, unpack};
use thalweg_dedup::{Codec, Error, Limits, Params, pack_sequential, stat, verify};

/// A small archive with several records, with duplicates and incompressible data.
fn archive(codec: Codec) -> Vec<u8> {
    let part = text(1, 2500);
    pack(&[part.clone(), noise(2, 300), part].concat(), &small(codec))
}

#[test]
fn every_truncation_is_an_error_with_its_offset() {
    for codec in CODECS {
        let archive = archive(codec);
        for length in 0..archive.len() {
            match verify(&archive[..length], &Limits::default()) {
                Err(Error::Truncated { offset, .. }) => assert_eq!(offset, length as u64),
                other => panic!("{length} of {} bytes: {other:?}", archive.len()),
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    for codec in CODECS {
        let mut archive = archive(codec);
        assert!(archive.len() < 6000, "a larger archive makes this test slow");
        for at in 0..archive.len() {
            let bit = 1 << (at % 8);
            archive[at] ^= bit;
            let found = verify(&archive[..], &Limits::default());
            assert!(found.is_err(), "byte {at}: {found:?}");
            archive[at] ^= bit;
        }
        for at in (0..archive.len()).step_by(7) {
            archive[at] ^= 0xff;
            assert!(unpack(&archive).is_err(), "byte {at}");
            archive[at] ^= 0xff;
        }
        assert!(unpack(&archive).is_ok());
    }
}

#[test]
fn bytes_after_the_end_are_an_error() {
    let mut archive = archive(Codec::Zstd);
    let end = archive.len() as u64;
    archive.push(b'\n');
    match verify(&archive[..], &Limits::default()) {
        Err(Error::Corrupt { offset, .. }) => assert_eq!(offset, end),
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_formats_and_newer_versions_are_refused() {
    let other = verify(&b"PK\x03\x04 this is some other format"[..], &Limits::default());
    assert!(matches!(other, Err(Error::NotAnArchive)));
    let mut newer = archive(Codec::Zstd);
    newer[8] = 3;
    let found = verify(&newer[..], &Limits::default());
    assert!(matches!(found, Err(Error::Version { found: 3, supported: 2 })));
}

#[test]
fn a_window_beyond_the_limit_is_refused_and_one_within_is_not_allocated_at_once() {
    let mut archive = Vec::new();
    pack_sequential(&b"x"[..], &mut archive, &Params::default().window(1 << 31)).unwrap();
    let refused = verify(&archive[..], &Limits::default()).unwrap_err();
    assert!(matches!(refused, Error::Window { needed, .. } if needed == 1 << 31));
    // The limit is two gibibytes. Only the one byte of content takes memory.
    verify(&archive[..], &Limits::default().window(1 << 31)).unwrap();
}

#[test]
fn stat_checks_what_it_does_not_decompress() {
    let archive = archive(Codec::Zstd);
    let mut none = |_: &thalweg_dedup::Entry, _: u64| Ok(());
    let found = stat(&archive[..], &Limits::default(), &mut none).unwrap();
    assert_eq!(found.archive_bytes, archive.len() as u64);
    assert_eq!(found.footer.content_bytes, 5300);
    for at in 0..archive.len() {
        let mut damaged = archive.clone();
        damaged[at] ^= 0x10;
        assert!(stat(&damaged[..], &Limits::default(), &mut none).is_err(), "byte {at}");
    }
}

/// A tree of two equal files, packed when duplicates were whole chunks: 4 to 64 KiB long, with a window of 256 MiB.
#[test]
fn an_archive_of_an_earlier_packer_is_read() {
    let archive = include_bytes!("fixtures/chunks.thd");
    let summary = verify(&archive[..], &Limits::default()).unwrap();
    assert_eq!((summary.content_bytes, summary.unique_bytes, summary.entries), (12_000, 6000, 3));
    let found =
        stat(&archive[..], &Limits::default(), &mut |_: &thalweg_dedup::Entry, _: u64| Ok(())).unwrap();
    assert_eq!((found.header.matching.min, found.header.window), (4 << 10, 256 << 20));
}
