//! What an archive keeps of entries beside names and contents.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use tempfile::tempdir;
use thalweg_dedup::{
    Archive, Attribute, Entry, Error, Limits, Meta, Params, Quiet, Sink, Source, Summary, TreeSink, extract,
    pack_source_sequential, stat, unpack_stream, unpack_tree, verify,
};
use thalweg_files::Folder;

fn pack(root: &Path, attributes: bool) -> Vec<u8> {
    let source = Source::Tree { root: root.into(), leave_out: Vec::new(), attributes };
    let mut archive = Vec::new();
    pack_source_sequential(source, &mut archive, &Params::default(), Box::new(Quiet)).unwrap();
    archive
}

fn unpack(archive: &[u8], output: &Path, how: impl FnOnce(TreeSink) -> TreeSink) -> Result<Summary, Error> {
    let mut sink = how(TreeSink::create(output, false)?.durable(false));
    let summary = extract(Archive::open(archive, &Limits::default())?, &mut sink)?;
    sink.commit()?;
    Ok(summary)
}

/// Whether this user may give files away.
fn superuser(folder: &Path) -> bool {
    fs::metadata(folder).unwrap().uid() == 0
}

#[test]
fn hard_links_are_names_of_one_file_again() {
    let root = tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir_all(at("a/b/c")).unwrap();
    fs::write(at("a/b/c/first"), b"one file").unwrap();
    fs::hard_link(at("a/b/c/first"), at("a/b/c/second")).unwrap();
    fs::hard_link(at("a/b/c/first"), at("a/third")).unwrap();
    fs::write(at("a/other"), b"another").unwrap();
    fs::hard_link(at("a/other"), at("z")).unwrap();
    fs::hard_link(at("a/b/c/first"), at("zz")).unwrap();
    symlink("a/other", at("l")).unwrap();
    fs::hard_link(at("l"), at("zl")).unwrap();
    // Another name is outside of the tree.
    let outside = tempdir().unwrap();
    fs::write(at("m"), b"shared with the outside").unwrap();
    fs::hard_link(at("m"), outside.path().join("m")).unwrap();
    let archive = pack(root.path(), false);
    let place = tempdir().unwrap();
    let out = place.path().join("out");
    unpack(&archive, &out, |sink| sink).unwrap();
    let inode = |name: &str| fs::metadata(out.join(name)).unwrap().ino();
    let first = inode("a/b/c/first");
    assert!(["a/b/c/second", "a/third", "zz"].iter().all(|name| inode(name) == first));
    assert_eq!(inode("a/other"), inode("z"));
    assert_ne!(first, inode("z"));
    assert_eq!(fs::metadata(out.join("zz")).unwrap().nlink(), 4);
    assert_eq!(fs::metadata(out.join("m")).unwrap().nlink(), 1);
    assert_eq!(fs::read(out.join("zz")).unwrap(), b"one file");
    let link = |name: &str| {
        (fs::symlink_metadata(out.join(name)).unwrap().ino(), fs::read_link(out.join(name)).unwrap())
    };
    assert_eq!((link("l"), link("l").1), (link("zl"), "a/other".into()));
    let mut links = Vec::new();
    let mut list = |entry: &Entry, _: u64| {
        if let Entry::HardLink { name, file } = entry {
            links.push((String::from_utf8(name.clone()).unwrap(), *file));
        }
        Ok(())
    };
    stat(&archive[..], &Limits::default(), &mut list).unwrap();
    let expected = [("second", 0), ("third", 0), ("z", 1), ("zl", 2), ("zz", 0)];
    assert_eq!(links, expected.map(|(name, file)| (name.to_owned(), file)));
}

#[test]
fn times_of_links_are_kept() {
    let root = tempdir().unwrap();
    symlink("nowhere", root.path().join("link")).unwrap();
    let folder = Folder::open(root.path()).unwrap();
    folder.set_time("link".as_ref(), -12_345, 678_000_000).unwrap();
    let place = tempdir().unwrap();
    unpack(&pack(root.path(), false), &place.path().join("out"), |sink| sink).unwrap();
    let meta = fs::symlink_metadata(place.path().join("out/link")).unwrap();
    assert_eq!((meta.mtime(), meta.mtime_nsec()), (-12_345, 678_000_000));
}

/// As tar does: by the superuser, or on request.
#[test]
fn owners_and_special_bits_are_restored_by_the_superuser_or_on_request() {
    let root = tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("file"), b"x").unwrap();
    symlink("file", at("link")).unwrap();
    let superuser = superuser(root.path());
    if superuser {
        chown(at("folder"), Some(1234), Some(4321)).unwrap();
        chown(at("file"), Some(1234), Some(4321)).unwrap();
        lchown(at("link"), Some(1234), Some(4321)).unwrap();
    }
    fs::set_permissions(at("file"), fs::Permissions::from_mode(0o6755)).unwrap();
    fs::set_permissions(at("folder"), fs::Permissions::from_mode(0o3770)).unwrap();
    let archive = pack(root.path(), false);
    let place = tempdir().unwrap();
    let found = |out: &Path, name: &str| {
        let meta = fs::symlink_metadata(out.join(name)).unwrap();
        (meta.uid(), meta.gid(), meta.mode() & 0o7777)
    };
    let same = place.path().join("same");
    unpack(&archive, &same, |sink| sink.owners(true)).unwrap();
    for name in ["file", "folder", "link"] {
        assert_eq!(found(&same, name), found(root.path(), name), "{name}");
    }
    let own = place.path().join("own");
    unpack(&archive, &own, |sink| sink.owners(false)).unwrap();
    let me = fs::metadata(place.path()).unwrap().uid();
    assert_eq!(found(&own, "file").0, me);
    assert_eq!((found(&own, "file").2, found(&own, "folder").2), (0o755, 0o770));
    assert_eq!(found(&own, "link").0, me);
    let default = place.path().join("default");
    unpack(&archive, &default, |sink| sink).unwrap();
    assert_eq!(found(&default, "file"), found(if superuser { &same } else { &own }, "file"));
}

/// No tree with other attributes than those of the archive gets its name.
#[test]
fn a_tree_whose_root_cannot_get_its_attributes_leaves_nothing() {
    let place = tempdir().unwrap();
    let sink = || TreeSink::create(&place.path().join("out"), false).unwrap().extended_attributes(true);
    let refused = Attribute { name: b"system.unknown".to_vec(), value: b"x".to_vec() };
    let root = Meta { mode: 0o755, attributes: vec![refused], ..Meta::default() };
    let mut first = sink();
    let mut second = sink().on_failure(|_| ());
    for sink in [&mut first, &mut second] {
        sink.entry(&Entry::Dir(root.clone()), 0).unwrap();
        sink.entry(&Entry::Up, 0).unwrap();
    }
    let error = first.commit().unwrap_err();
    assert!(error.to_string().contains("setting attributes of"), "{error}");
    assert!(!place.path().join("out").exists());
    second.commit().unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn extended_attributes_are_kept_on_request() {
    let root = tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, b"x").unwrap();
    let set = xattr::set(&file, "user.b", b"\0binary")
        .and_then(|()| xattr::set(&file, "user.a", b""))
        .and_then(|()| xattr::set(root.path(), "user.root", &[7; 1000]));
    if set.is_err() {
        eprintln!("skipped: this file system has no extended attributes");
        return;
    }
    let place = tempdir().unwrap();
    let [with, without, asked] = ["with", "without", "asked"].map(|name| place.path().join(name));
    let archive = pack(root.path(), true);
    unpack(&archive, &with, |sink| sink.extended_attributes(true)).unwrap();
    let get = |path: &Path, name: &str| xattr::get(path, name).unwrap();
    assert_eq!(get(&with.join("file"), "user.b").unwrap(), b"\0binary");
    assert_eq!(get(&with.join("file"), "user.a").unwrap(), b"");
    assert_eq!(get(&with, "user.root").unwrap(), [7; 1000]);
    assert!(pack(&with, true) == archive);
    unpack(&archive, &without, |sink| sink).unwrap();
    assert_eq!(get(&without.join("file"), "user.b"), None);
    unpack(&pack(root.path(), false), &asked, |sink| sink.extended_attributes(true)).unwrap();
    assert_eq!(get(&asked, "user.root"), None);
}

/// Longer than the system accepts in a call, and deeper than a process may have files open.
#[test]
fn paths_of_any_length_are_packed_and_unpacked() {
    let root = tempdir().unwrap();
    let name = OsStr::new("a folder with quite a long name, as deep trees have them");
    let mut at = Folder::open(root.path()).unwrap();
    for _ in 0..300 {
        at.create_folder(name).unwrap();
        at = at.inner(name).unwrap();
    }
    std::io::Write::write_all(&mut at.create_file("file".as_ref()).unwrap(), b"deep").unwrap();
    at.create_hard_link("other name".as_ref(), &at, "file".as_ref()).unwrap();
    at.create_link("link".as_ref(), "file".as_ref()).unwrap();
    let archive = pack(root.path(), false);
    let place = tempdir().unwrap();
    let out = place.path().join("out");
    let summary = unpack(&archive, &out, |sink| sink).unwrap();
    assert_eq!(summary.entries, 304);
    assert!(pack(&out, false) == archive);
    // `tempfile` cannot remove them.
    for folder in [root.path(), &out] {
        thalweg_files::remove_tree(&Folder::open(folder).unwrap(), name).unwrap();
    }
}

fn archive_of_version_1(name: &str) -> Vec<u8> {
    fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/archives").join(name)).unwrap()
}

/// The archives were made by the last packer of version 1.
#[test]
fn archives_of_version_1_are_read_as_before() {
    let words = b"some words\n".repeat(2000);
    let stream = archive_of_version_1("stream-1.thd");
    let mut content = Vec::new();
    unpack_stream(&stream[..], &mut content, &Limits::default()).unwrap();
    assert!(content == words);
    let tree = archive_of_version_1("tree-1.thd");
    assert_eq!(
        stat(&tree[..], &Limits::default(), &mut |_: &Entry, _: u64| Ok(())).unwrap().header.version,
        1
    );
    let place = tempdir().unwrap();
    let out = place.path().join("out");
    unpack_tree(&tree[..], &out, &Limits::default()).unwrap();
    for name in ["copy", "hard", "folder/words"] {
        assert!(fs::read(out.join(name)).unwrap() == words, "{name}");
    }
    let meta = |name: &str| fs::symlink_metadata(out.join(name)).unwrap();
    assert_eq!(fs::read_link(out.join("link")).unwrap(), Path::new("folder/words"));
    assert!(meta("link").mtime() > 1_700_000_000, "its time is not stored");
    assert_eq!((meta("copy").mtime(), meta("copy").mtime_nsec()), (-2, 250_000_000));
    assert_eq!(meta("folder").mtime(), 981_173_106);
    assert_eq!(meta("copy").mode() & 0o7777, 0o640);
    assert_eq!(
        meta("folder/inner/one").mode() & 0o7777,
        0o755,
        "no owner is stored, so no special bits are restored"
    );
    assert_eq!(meta("hard").nlink(), 1);
    assert!(meta("empty").is_dir());
}

#[test]
fn archives_of_version_1_are_refused_if_damaged() {
    for name in ["tree-1.thd", "stream-1.thd"] {
        let archive = archive_of_version_1(name);
        verify(&archive[..], &Limits::default()).unwrap();
        for at in 0..archive.len() {
            let mut damaged = archive.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(verify(&damaged[..], &Limits::default()).is_err(), "{name}: byte {at}");
        }
    }
}

/// Times that no system can represent lose nothing else.
#[test]
fn a_time_of_the_distant_past_or_future_does_no_harm() {
    let root = tempdir().unwrap();
    let file = File::create(root.path().join("file")).unwrap();
    let future = UNIX_EPOCH + Duration::from_secs(1 << 33);
    file.set_times(FileTimes::new().set_modified(future)).unwrap();
    let place = tempdir().unwrap();
    unpack(&pack(root.path(), false), &place.path().join("out"), |sink| sink).unwrap();
    let kept = fs::metadata(place.path().join("out/file")).unwrap().mtime();
    assert_eq!(kept, fs::metadata(root.path().join("file")).unwrap().mtime());
}
