//! Random changes of archives, with new checksums too, so that the change gets past them. No archive makes the reader
//! panic, and none writes outside of its output or leaves a part of it. All readers follow one rule: they accept and refuse the
//! same archives, but for what only the data or the file system show.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg-dedup --release --test all mutations
//! ```
//!
//! `THALWEG_SEED` is the seed of the first case.
#![cfg(unix)]

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{small, text};
use tempfile::tempdir;
use thalweg_dedup::{
    Codec, Entry, Error, Limits, Quiet, Result, Source, Stat, Summary, pack_source_sequential, stat,
    unpack_tree, verify,
};

/// The default of `THALWEG_CASES`.
const CASES: u64 = 1000;
const HEAD_BYTES: usize = 35;
const HEADER_BYTES: usize = 64;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

struct Random(u64);

impl Random {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Archives of trees: without compression, so that changes reach tables and data, with it, and one of version 1.
fn archives() -> Vec<Vec<u8>> {
    let root = tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir_all(at("folder/inner")).unwrap();
    fs::write(at("folder/words"), text(1, 3000)).unwrap();
    fs::write(at("folder/copy"), text(1, 3000)).unwrap();
    fs::hard_link(at("folder/words"), at("hard")).unwrap();
    std::os::unix::fs::symlink("folder", at("link")).unwrap();
    let _ = xattr::set(at("folder/words"), "user.note", b"value"); // where the file system has attributes
    let pack = |codec| {
        let source = Source::Tree { root: root.path().into(), leave_out: Vec::new(), attributes: true };
        let mut archive = Vec::new();
        pack_source_sequential(source, &mut archive, &small(codec), Box::new(Quiet)).unwrap();
        archive
    };
    let old = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/archives/tree-1.thd");
    vec![pack(Codec::None), pack(Codec::Zstd), fs::read(old).unwrap()]
}

fn mutate(archive: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(archive.len());
        let end = (at + 1 + random.below(40)).min(archive.len());
        match random.below(7) {
            0 => archive[at] ^= 1 << random.below(8),
            1 => archive[at] = [0, 1, 0x7f, 0x80, 0xff, b'/', b'.'][random.below(7)],
            2 => drop(archive.drain(at..end)),
            3 => archive.truncate(at + 1),
            4 => {
                let part = archive[at..end].to_vec();
                let to = random.below(archive.len());
                archive.splice(to..to, part);
            }
            5 => archive[at] = archive[at].wrapping_add(1),
            _ => archive.insert(at, random.below(256) as u8),
        }
        if archive.is_empty() {
            archive.push(0);
        }
    }
}

fn check(bytes: &[u8]) -> [u8; 8] {
    blake3::hash(bytes).as_bytes()[..8].try_into().unwrap()
}

/// Gives all parts that have their place their checksums, and the footer its offset.
fn reseal(archive: &mut [u8]) {
    let u32_at = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let length = archive.len();
    if length >= HEADER_BYTES {
        let sum = check(&archive[..HEADER_BYTES - 8]);
        archive[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&sum);
    }
    let mut at = HEADER_BYTES;
    while archive.get(at) == Some(&b'R') && at + HEAD_BYTES <= length {
        let body = u32_at(archive, at + 13) + u32_at(archive, at + 22);
        let end = at + HEAD_BYTES + body;
        for (from, to) in [(at, at + HEAD_BYTES - 8), (at + HEAD_BYTES, end)] {
            if to + 8 <= length {
                let sum = check(&archive[from..to]);
                archive[to..to + 8].copy_from_slice(&sum);
            }
        }
        at = end + 8;
    }
    if archive.get(at) == Some(&b'E') && at + 97 <= length {
        archive[at + 49..at + 57].copy_from_slice(&(at as u64).to_le_bytes());
        let sum = check(&archive[at..at + 89]);
        archive[at + 89..at + 97].copy_from_slice(&sum);
    }
}

/// Whether a reader sees the error in the data, which `stat` does not decompress: it accepts such an archive, or refuses it for
/// something that comes later.
fn is_of_data(error: &Error) -> bool {
    let text = error.to_string();
    let what =
        ["the content hash", "zstd: ", "gzip: ", " decompressed, expected ", "the output exceeds the limit"];
    what.iter().any(|what| text.contains(what))
}

/// Whether unpacking fails for what no other reader does: it writes to a file system, and this call unpacks trees alone.
fn is_of_output(error: &Error) -> bool {
    matches!(error, Error::Io { .. } | Error::Output(_) | Error::Kind { .. })
}

/// Checks that the readers agree.
fn check_one_rule(
    (found, verified, unpacked): (&Result<Stat>, &Result<Summary>, &Result<Summary>),
    context: &str,
) {
    match (found, verified) {
        (Ok(found), Ok(verified)) => {
            let of_footer = (found.footer.entries, found.footer.content_bytes, found.archive_bytes);
            assert_eq!(
                of_footer,
                (verified.entries, verified.content_bytes, verified.archive_bytes),
                "{context}"
            );
        }
        (_, Err(error)) if is_of_data(error) => {}
        (Err(found), Err(verified)) => assert_eq!(found.to_string(), verified.to_string(), "{context}"),
        _ => panic!("{context}: stat {found:?}, verify {verified:?}"),
    }
    match (verified, unpacked) {
        (_, Err(error)) if is_of_output(error) => {}
        (Ok(verified), Ok(unpacked)) => assert_eq!(verified, unpacked, "{context}"),
        (Err(verified), Err(unpacked)) => assert_eq!(verified.to_string(), unpacked.to_string(), "{context}"),
        _ => panic!("{context}: verify {verified:?}, unpack {unpacked:?}"),
    }
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn no_mutation_panics_or_writes_elsewhere() {
    let archives = archives();
    let (first, cases) = (setting("THALWEG_SEED").unwrap_or(0), setting("THALWEG_CASES").unwrap_or(CASES));
    let place = tempdir().unwrap();
    let inner = place.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let out = inner.join("out");
    // The archives have windows of up to 256 MiB, which take no memory before there is data.
    let limits = Limits::default().output(1 << 20);
    // What gets past the checksums is refused for another reason, or is as good.
    let (mut refused, mut resealed_parts, mut refused_by_stat) = (0, 0, 0);
    for seed in first..first + cases {
        let mut random = Random(seed);
        let archive = &archives[random.below(archives.len())];
        let mut changed = archive.clone();
        mutate(&mut changed, &mut random);
        let sealed = random.below(4) > 0;
        if sealed {
            reseal(&mut changed);
        }
        let verified = verify(&changed[..], &limits);
        let found = stat(&changed[..], &limits, &mut |_: &Entry, _: u64| Ok(()));
        let unpacked = unpack_tree(&changed[..], &out, &limits);
        check_one_rule((&found, &verified, &unpacked), &format!("seed {seed}"));
        refused_by_stat += u64::from(found.is_err());
        assert!(sealed || verified.is_err() || changed == *archive, "seed {seed}: a change is not noticed");
        match unpacked {
            Ok(_) => fs::remove_dir_all(&out).unwrap(),
            Err(error) => {
                refused += 1;
                resealed_parts += u64::from(!error.to_string().contains("checksum"));
            }
        }
        assert_eq!((count(&inner), count(place.path())), (0, 1), "seed {seed}: something is left");
    }
    assert!(
        refused * 10 > cases * 8 && resealed_parts * 10 > cases * 3,
        "{refused} {resealed_parts} of {cases}"
    );
    // Some of these changes are in the data alone.
    let of_data = refused - refused_by_stat;
    assert!(
        of_data * 50 > cases && refused_by_stat * 2 > cases,
        "{refused_by_stat} of {refused} refused by stat"
    );
}
