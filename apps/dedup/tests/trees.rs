//! Trees round-trip, or leave no output.
#![cfg(unix)]

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use common::{noise, small, text};
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};
use thalweg_dedup::{
    Codec, Error, Limits, Observer, Params, Quiet, Source, Summary, pack_source_sequential, unpack_tree,
    verify,
};

fn pack_tree(root: &Path, params: &Params) -> (Vec<u8>, Summary) {
    let source = Source::Tree { root: root.into(), leave_out: Vec::new(), attributes: false };
    let mut archive = Vec::new();
    let summary = pack_source_sequential(source, &mut archive, params, Box::new(Quiet)).expect("packs");
    (archive, summary)
}

/// All entries below `root`: path, mode, time, and content or target.
fn snapshot(root: &Path) -> Vec<(Vec<u8>, u32, i64, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let meta = fs::metadata(&folder).unwrap();
        let name = folder.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
        found.push((name, meta.mode(), meta.mtime_nsec() + meta.mtime(), b"folder".to_vec()));
        for item in fs::read_dir(&folder).unwrap() {
            let path = item.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
            if meta.is_dir() {
                folders.push(path);
            } else if meta.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.push((name, 0, 0, target.as_os_str().as_bytes().to_vec()));
            } else {
                let content = fs::read(&path).unwrap();
                found.push((name, meta.mode(), meta.mtime_nsec() + meta.mtime(), content));
            }
        }
    }
    found.sort();
    found
}

fn check_round_trip(root: &Path, params: &Params) -> Summary {
    let (archive, summary) = pack_tree(root, params);
    let place = tempdir().unwrap();
    let output = place.path().join("out");
    let unpacked = unpack_tree(&archive[..], &output, &Limits::default()).unwrap();
    assert_eq!(unpacked, summary);
    assert!(snapshot(root) == snapshot(&output));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "a temporary file is left");
    assert!(pack_tree(&output, params).0 == archive, "packing the copy gives the same archive");
    summary
}

/// A tree with every kind of entry that an archive can hold.
fn sample() -> TempDir {
    let root = tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir_all(at("a/deep/er")).unwrap();
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("a/one"), b"1").unwrap();
    fs::write(at("a/nothing"), b"").unwrap();
    fs::write(at("a/deep/er/words"), text(1, 40_000)).unwrap();
    fs::write(at("copy"), text(1, 40_000)).unwrap();
    fs::write(at("noise"), noise(2, 30_000)).unwrap();
    fs::write(root.path().join(OsStr::from_bytes(b"not \xff unicode")), b"x").unwrap();
    symlink("a/one", at("link")).unwrap();
    symlink("/no/such/thing", at("dangling")).unwrap();
    fs::set_permissions(at("a/one"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(at("empty"), fs::Permissions::from_mode(0o500)).unwrap();
    fs::set_permissions(at("a/deep"), fs::Permissions::from_mode(0o555)).unwrap();
    root
}

#[test]
fn a_tree_of_all_kinds_of_entries_round_trips() {
    let root = sample();
    for codec in common::CODECS {
        let summary = check_round_trip(root.path(), &small(codec));
        assert!(summary.unique_bytes <= 71_000, "a copied file is recognised: {summary:?}");
        check_round_trip(root.path(), &Params::default().codec(codec));
    }
    fs::set_permissions(root.path().join("a/deep"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn an_empty_tree_and_many_empty_files_round_trip() {
    let root = tempdir().unwrap();
    check_round_trip(root.path(), &Params::default());
    for name in 0..2000 {
        fs::write(root.path().join(name.to_string()), b"").unwrap();
    }
    check_round_trip(root.path(), &Params::default());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_trees_round_trip(
        files in prop::collection::vec((0..4u8, 0..4u8, 1..=255u8, 0..5u64, 0..9000usize), 0..25)
    ) {
        let root = tempdir().unwrap();
        for (outer, inner, name, seed, length) in files {
            let folder = root.path().join(outer.to_string()).join(inner.to_string());
            fs::create_dir_all(&folder).unwrap();
            let name = [name, b'.', b'x'];
            if name[0] != b'/' {
                fs::write(folder.join(OsStr::from_bytes(&name)), noise(seed, length)).unwrap();
            }
        }
        check_round_trip(root.path(), &small(Codec::Zstd));
    }
}

#[test]
fn a_damaged_tree_leaves_nothing_behind() {
    let root = sample();
    let (archive, _) = pack_tree(root.path(), &small(Codec::Zstd));
    fs::set_permissions(root.path().join("a/deep"), fs::Permissions::from_mode(0o755)).unwrap();
    let place = tempdir().unwrap();
    let output = place.path().join("out");
    for length in (0..archive.len()).step_by(997).chain([archive.len() - 1]) {
        assert!(unpack_tree(&archive[..length], &output, &Limits::default()).is_err());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "after {length} bytes");
    }
}

#[test]
fn an_existing_output_is_not_touched() {
    let root = sample();
    let (archive, _) = pack_tree(root.path(), &Params::default());
    fs::set_permissions(root.path().join("a/deep"), fs::Permissions::from_mode(0o755)).unwrap();
    let place = tempdir().unwrap();
    fs::write(place.path().join("file"), b"mine").unwrap();
    symlink("nowhere", place.path().join("link")).unwrap();
    fs::create_dir(place.path().join("folder")).unwrap();
    for name in ["file", "link", "folder"] {
        let refused = unpack_tree(&archive[..], &place.path().join(name), &Limits::default());
        // Only the empty folder could be replaced with `force`.
        let replaced = matches!(refused, Err(Error::Output(thalweg_files::Error::Exists(_))));
        assert!(
            replaced || matches!(refused, Err(Error::Output(thalweg_files::Error::NotReplaceable(_)))),
            "{name}: {refused:?}"
        );
        assert_eq!(replaced, name == "folder", "{name}");
    }
    assert_eq!(fs::read(place.path().join("file")).unwrap(), b"mine");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
}

#[derive(Default)]
struct Skipped(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl Observer for Skipped {
    fn skipped(&mut self, path: &Path, _why: &str) {
        self.0.lock().unwrap().push(path.display().to_string());
    }
}

#[test]
fn special_files_are_skipped_and_named() {
    let root = tempdir().unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
    fs::write(root.path().join("file"), b"content").unwrap();
    let skipped = Skipped::default();
    let names = skipped.0.clone();
    let source = Source::Tree { root: root.path().into(), leave_out: Vec::new(), attributes: false };
    let mut archive = Vec::new();
    pack_source_sequential(source, &mut archive, &Params::default(), Box::new(skipped)).unwrap();
    assert!(names.lock().unwrap().iter().all(|n| n.ends_with("socket")));
    assert_eq!(names.lock().unwrap().len(), 1);
    assert_eq!(verify(&archive[..], &Limits::default()).unwrap().entries, 2);
}
