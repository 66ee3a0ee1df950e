//! Trees that change while they are packed: what cannot be read is reported, and all else is in the archive.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::tempdir;
use thalweg_dedup::{
    Error, Limits, Observer, Params, Result, Source, pack_source_sequential, unpack_stream, unpack_tree,
    verify,
};

use crate::watchdog::watch;

/// Changes the tree once, when the first bytes of content have been read, and keeps the failures.
struct Changes<F> {
    change: Option<F>,
    failures: Arc<Mutex<Vec<String>>>,
}

impl<F: FnOnce() + Send> Observer for Changes<F> {
    fn bytes(&mut self, _count: u64) {
        if let Some(change) = self.change.take() {
            change();
        }
    }

    fn skipped(&mut self, path: &Path, why: &str) {
        self.failures.lock().unwrap().push(format!("skipped {}: {why}", path.display()));
    }

    fn failed(&mut self, why: Error) -> Result<()> {
        self.failures.lock().unwrap().push(why.to_string());
        Ok(())
    }
}

/// Packs `root`, changes it in between, and returns the failures and the unpacked tree.
fn pack(root: &Path, change: impl FnOnce() + Send) -> (Vec<String>, tempfile::TempDir) {
    let failures = Arc::default();
    let observer = Changes { change: Some(change), failures: Arc::clone(&failures) };
    let source = Source::Tree { root: root.into(), leave_out: Vec::new(), attributes: false };
    let mut archive = Vec::new();
    pack_source_sequential(source, &mut archive, &Params::default(), Box::new(observer)).unwrap();
    let place = tempdir().unwrap();
    unpack_tree(&archive[..], &place.path().join("out"), &Limits::default()).unwrap();
    let failures = failures.lock().unwrap().clone();
    (failures, place)
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn what_vanishes_is_left_out_and_the_rest_is_packed() {
    let root = tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::write(at("a"), b"first").unwrap();
    fs::write(at("file"), b"x").unwrap();
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("folder/inside"), b"x").unwrap();
    symlink("a", at("link")).unwrap();
    fs::write(at("z"), b"last").unwrap();
    let (failures, place) = pack(root.path(), || {
        fs::remove_file(at("file")).unwrap();
        fs::remove_dir_all(at("folder")).unwrap();
        fs::remove_file(at("link")).unwrap();
    });
    assert_eq!(names(&place.path().join("out")), ["a", "z"]);
    assert_eq!(failures.len(), 3);
    for (failure, name) in failures.iter().zip(["file", "folder", "link"]) {
        assert_eq!(*failure, format!("reading {}", at(name).display()));
    }
}

/// The walk has found their names before they change, and finds their kinds afterwards.
#[test]
fn what_changes_its_kind_is_packed_as_what_it_is() {
    let root = tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    for name in ["a", "b", "c", "d", "e"] {
        fs::write(at(name), name).unwrap();
    }
    fs::create_dir(at("f")).unwrap();
    symlink("a", at("g")).unwrap();
    let (failures, place) = pack(root.path(), || {
        for name in ["b", "c", "d", "e", "g"] {
            fs::remove_file(at(name)).unwrap();
        }
        fs::create_dir(at("b")).unwrap();
        fs::write(at("b/inside"), b"x").unwrap();
        symlink("a", at("c")).unwrap();
        let made = watch("mkfifo", || Command::new("mkfifo").arg(at("d")).status().unwrap());
        assert!(made.success());
        let _socket = std::os::unix::net::UnixListener::bind(at("e")).unwrap();
        fs::remove_dir(at("f")).unwrap();
        fs::write(at("f"), b"now a file").unwrap();
        fs::write(at("g"), b"now a file too").unwrap();
    });
    let out = place.path().join("out");
    assert_eq!(names(&out), ["a", "b", "c", "f", "g"]);
    assert_eq!(names(&out.join("b")), ["inside"]);
    assert_eq!(fs::read_link(out.join("c")).unwrap(), Path::new("a"));
    assert_eq!(fs::read(out.join("f")).unwrap(), b"now a file");
    assert!(fs::symlink_metadata(out.join("g")).unwrap().is_file());
    let skipped =
        ["d", "e"].map(|name| format!("skipped {}: it is not a file, folder or link", at(name).display()));
    assert_eq!(failures, skipped);
}

#[test]
fn of_a_file_that_shrinks_or_grows_the_archive_has_what_was_read() {
    let root = tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let long = vec![7; 24 << 20]; // several blocks, so it is read in several steps
    // Whether the file is opened to append, its new length, what the failure says, and the bytes kept.
    let cases =
        [(false, 12 << 20, "shrank", 12 << 20), (true, 0, "grew", 24 << 20), (false, 0, "changed", 24 << 20)];
    for (append, length, how, kept) in cases {
        fs::write(at("a"), &long).unwrap();
        fs::write(at("z"), b"last").unwrap();
        let (failures, place) = pack(root.path(), || {
            let mut file = File::options().write(true).append(append).open(at("a")).unwrap();
            if length > 0 {
                file.set_len(length).unwrap();
            } else {
                file.write_all(&[7]).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
        });
        assert_eq!(failures.len(), 1, "{how}: {failures:?}");
        assert!(
            failures[0].contains(how) && failures[0].contains(&format!("{kept} bytes of it")),
            "{failures:?}"
        );
        assert_eq!(fs::read(place.path().join("out/a")).unwrap(), long[..kept], "{how}");
        assert_eq!(fs::read(place.path().join("out/z")).unwrap(), b"last");
    }
}

#[test]
fn a_single_file_that_shrinks_or_grows_is_reported_as_one_of_a_tree() {
    struct Strict<F>(F);
    impl<F: FnMut(u64) + Send> Observer for Strict<F> {
        fn bytes(&mut self, count: u64) {
            (self.0)(count);
        }
    }
    let folder = tempdir().unwrap();
    let path = folder.path().join("a");
    let long = vec![7; 24 << 20];
    let cases =
        [(Some(12 << 20), "shrank", 12 << 20), (Some(30 << 20), "grew", 24 << 20), (None, "", 24 << 20)];
    for (length, how, kept) in cases {
        fs::write(&path, &long).unwrap();
        let failures = Arc::default();
        let change = || {
            length
                .into_iter()
                .for_each(|n| File::options().write(true).open(&path).unwrap().set_len(n).unwrap())
        };
        let observer = Changes { change: Some(change), failures: Arc::clone(&failures) };
        let source = Source::file(File::open(&path).unwrap(), &path).unwrap();
        let mut archive = Vec::new();
        pack_source_sequential(source, &mut archive, &Params::default(), Box::new(observer)).unwrap();
        let mut back = Vec::new();
        unpack_stream(&archive[..], &mut back, &Limits::default()).unwrap();
        assert!(back == long[..kept], "{how}");
        let failures = failures.lock().unwrap();
        assert_eq!(failures.len(), usize::from(length.is_some()), "{failures:?}");
        assert!(failures.iter().all(|failure| failure.contains(how)), "{failures:?}");
    }
    let source = Source::file(File::open(&path).unwrap(), &path).unwrap();
    let end = |_: u64| File::options().write(true).open(&path).unwrap().set_len(5).unwrap();
    let ended = pack_source_sequential(source, Vec::new(), &Params::default(), Box::new(Strict(end)));
    assert!(matches!(ended, Err(Error::Changed(why)) if why.contains("shrank")));
}

/// Files of the kernel have the length 0.
#[cfg(target_os = "linux")]
#[test]
fn a_file_without_a_length_is_read_to_its_end() {
    let (failures, place) = pack(Path::new("/proc/sys/kernel/random"), || ());
    assert!(failures.is_empty(), "{failures:?}");
    let read = |path: PathBuf| fs::read(path).unwrap();
    assert_eq!(read(place.path().join("out/boot_id")), read("/proc/sys/kernel/random/boot_id".into()));
}

#[test]
fn without_an_observer_that_goes_on_the_first_failure_ends_the_run() {
    struct Strict(Option<PathBuf>);
    impl Observer for Strict {
        fn bytes(&mut self, _count: u64) {
            if let Some(path) = self.0.take() {
                fs::remove_file(path).unwrap();
            }
        }
    }
    let root = tempdir().unwrap();
    fs::write(root.path().join("a"), b"first").unwrap();
    fs::write(root.path().join("b"), b"second").unwrap();
    let source = Source::Tree { root: root.path().into(), leave_out: Vec::new(), attributes: false };
    let observer = Box::new(Strict(Some(root.path().join("b"))));
    let ended = pack_source_sequential(source, Vec::new(), &Params::default(), observer);
    assert!(matches!(ended, Err(Error::Io { doing, .. }) if doing.ends_with("/b")));
}

/// Files become folders, links and pipes and back while they are packed. Packing neither fails nor waits, and the archive
/// is sound.
#[test]
fn entries_that_change_their_kind_do_no_harm() {
    let root = tempdir().unwrap();
    fs::write(root.path().join("first"), vec![1; 100_000]).unwrap();
    let at = root.path().join("x");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::write(&at, b"file").unwrap();
                fs::remove_file(&at).unwrap();
                fs::create_dir(&at).unwrap();
                fs::remove_dir(&at).unwrap();
                symlink("first", &at).unwrap();
                fs::remove_file(&at).unwrap();
                std::os::unix::net::UnixListener::bind(&at).unwrap();
                fs::remove_file(&at).unwrap();
            }
        });
        for _ in 0..300 {
            let observer = Changes { change: Some(|| ()), failures: Arc::default() };
            let source = Source::Tree { root: root.path().into(), leave_out: Vec::new(), attributes: false };
            let mut archive = Vec::new();
            let packed = pack_source_sequential(source, &mut archive, &Params::default(), Box::new(observer));
            let good = packed.and_then(|_| verify(&archive[..], &Limits::default()));
            if good.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            good.unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
}
