//! Outputs are complete or not there, and what killed processes leave goes.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use tempfile::tempdir;
use thalweg_files::{Error, Folder, OutFile, OutFolder, PrivateFolder, remove_tree};

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("out");
    let mut output = OutFile::create(&path, false).unwrap();
    output.write_all(b"all").unwrap();
    assert!(!path.exists());
    output.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"all");
    assert!(matches!(OutFile::create(&path, false), Err(Error::Exists(_))));
    drop(OutFile::create(&path, true).unwrap());
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn of_two_writers_of_one_file_both_are_told_the_truth() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("out");
    let [mut first, mut second] = [(); 2].map(|()| OutFile::create(&path, false).unwrap());
    first.write_all(b"first").unwrap();
    second.write_all(b"second").unwrap();
    second.commit().unwrap();
    assert!(matches!(first.commit(), Err(Error::Exists(_))));
    assert_eq!(fs::read(&path).unwrap(), b"second");
    let mut third = OutFile::create(&path, true).unwrap();
    third.write_all(b"third").unwrap();
    third.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"third");
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn of_two_writers_of_one_folder_both_are_told_the_truth() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("out");
    let [first, second] = [(); 2].map(|()| OutFolder::create(&path, false).unwrap());
    let done = |output: OutFolder, name: &str| {
        fs::write(output.private().path().join(name), b"").unwrap();
        output.commit()
    };
    done(second, "second").unwrap();
    assert!(matches!(done(first, "first"), Err(Error::Exists(_))));
    assert_eq!(names(&path), ["second"]);
    assert_eq!(names(folder.path()), ["out"]);
    // Both may replace an empty folder. The first one fills it.
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let [first, second, third] = [(); 3].map(|()| OutFolder::create(&path, true).unwrap());
    done(second, "second").unwrap();
    assert!(matches!(done(first, "first"), Err(Error::NotReplaceable(_))));
    assert_eq!(names(&path), ["second"]);
    fs::remove_dir_all(&path).unwrap();
    fs::write(&path, b"a file").unwrap();
    assert!(matches!(done(third, "third"), Err(Error::NotReplaceable(_))));
    assert_eq!(names(folder.path()), ["out"]);
}

/// A folder whose owner may not change it can be renamed beside itself, so nothing is left to do after the renaming.
#[cfg(unix)]
#[test]
fn an_output_folder_has_its_permissions_before_it_has_its_name() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempdir().unwrap();
    let path = folder.path().join("out");
    for (mode, committed) in [(0o000, true), (0o555, true), (0o000, false)] {
        let output = OutFolder::create(&path, false).unwrap();
        let private = output.private().path();
        assert_eq!(fs::metadata(private).unwrap().permissions().mode() & 0o7777, 0o700);
        fs::write(private.join("file"), b"").unwrap();
        fs::set_permissions(private, fs::Permissions::from_mode(mode)).unwrap();
        if committed {
            output.commit().unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
            fs::remove_dir_all(&path).unwrap();
        } else {
            drop(output);
        }
        assert!(names(folder.path()).is_empty());
    }
}

#[test]
fn a_name_of_a_folder_and_a_missing_folder_are_refused_at_the_start() {
    let folder = tempdir().unwrap();
    let slash = folder.path().join("new/");
    assert!(matches!(OutFile::create(&slash, true), Err(Error::NamesFolder(_))));
    let error = OutFile::create(&folder.path().join("no/file"), false).unwrap_err();
    let error = std::io::Error::from(error);
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    let (file, missing) = (folder.path().join("no/file"), folder.path().join("no"));
    let text = format!("creating {}: there is no folder `{}`", file.display(), missing.display());
    assert_eq!(error.to_string(), text);
    assert!(names(folder.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn what_replaces_a_file_has_its_permissions_and_its_owner() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let folder = tempdir().unwrap();
    let path = folder.path().join("out");
    for mode in [0o600, 0o644, 0o6751] {
        fs::write(&path, b"old").unwrap();
        let root = chown(&path, Some(1234), Some(4321)).is_ok();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let output = OutFile::create(&path, true).unwrap();
        let written = output.file().metadata().unwrap();
        assert_eq!(written.mode() & 0o77, 0, "no other user can read it before it has the old permissions");
        output.commit().unwrap();
        let meta = fs::metadata(&path).unwrap();
        assert_eq!(meta.len(), 0);
        assert_eq!(meta.mode() & 0o7777, mode & 0o777, "set-user and set-group bits were for other contents");
        if root {
            assert_eq!((meta.uid(), meta.gid()), (1234, 4321));
        }
        fs::remove_file(&path).unwrap();
    }
    let made = OutFile::create(&path, false).unwrap().executable();
    assert_eq!(made.file().metadata().unwrap().mode() & 0o777, 0o600, "no other user can open and lock it");
    made.commit().unwrap();
    let mode = fs::metadata(&path).unwrap().mode();
    assert_eq!(mode & 0o111, (mode & 0o444) >> 2);
    OutFile::create(&path, true).unwrap().commit().unwrap();
    fs::remove_file(&path).unwrap();
    OutFile::create(&path, false).unwrap().commit().unwrap();
    fs::write(folder.path().join("any"), b"").unwrap();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().mode();
    assert_eq!(mode("out"), mode("any"), "a new file has the permissions of any other");
    assert_eq!(names(folder.path()), ["any", "out"]);
}

#[cfg(unix)]
#[test]
fn what_is_made_of_a_file_has_its_permissions_owner_and_time() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let folder = tempdir().unwrap();
    let (secret, path) = (folder.path().join("secret"), folder.path().join("out"));
    fs::write(&secret, b"secret").unwrap();
    let root = chown(&secret, Some(1234), Some(4321)).is_ok();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o4600)).unwrap();
    File::open(&secret).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    for replaced in [false, true] {
        let output = OutFile::create(&path, replaced).unwrap().like(fs::metadata(&secret).unwrap());
        output.commit().unwrap();
        let meta = fs::metadata(&path).unwrap();
        let mode = if replaced { 0o640 } else { 0o600 };
        assert_eq!((meta.len(), meta.mode() & 0o7777, meta.mtime()), (0, mode, 0));
        if root {
            assert_eq!((meta.uid(), meta.gid()), (1234, 4321));
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    }
}

/// The end of the names of hidden outputs of this machine.
#[cfg(unix)]
fn machine() -> String {
    let folder = tempdir().unwrap();
    let _output = OutFile::create(&folder.path().join("out"), false).unwrap();
    names(folder.path())[0].splitn(5, '-').last().unwrap().to_owned()
}

/// A killed process leaves an output without a lock. A running one holds its lock. Locks of another machine may not be seen.
#[cfg(unix)]
#[test]
fn outputs_without_a_lock_go_and_others_stay() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let machine = machine();
    let hidden = |number: usize| at(&format!(".thalweg-unfinished-1-{number}-{machine}"));
    fs::write(hidden(0), b"stale").unwrap();
    fs::create_dir_all(hidden(1).join("tree/inner")).unwrap();
    fs::write(hidden(1).join("tree/inner/file"), b"stale").unwrap();
    fs::write(hidden(2), b"being written").unwrap();
    let lock = File::open(hidden(2)).unwrap();
    lock.lock().unwrap();
    fs::create_dir(hidden(3)).unwrap();
    let folder_lock = File::open(hidden(3)).unwrap();
    folder_lock.lock().unwrap();
    std::os::unix::fs::symlink("/", hidden(4)).unwrap();
    let foreign = format!(".thalweg-unfinished-1-5-not-{machine}");
    fs::write(at(&foreign), b"perhaps being written").unwrap();
    fs::write(at(".thalweg-unfinished-notes"), b"of the user").unwrap();
    let output = OutFile::create(&at("out"), false).unwrap();
    let private = PrivateFolder::create(folder.path()).unwrap();
    output.commit().unwrap();
    private.remove().unwrap();
    let mut left: Vec<_> = (2..5).map(|number| format!(".thalweg-unfinished-1-{number}-{machine}")).collect();
    left.extend([foreign, ".thalweg-unfinished-notes".into(), "out".into()]);
    assert_eq!(names(folder.path()), left);
}

#[cfg(unix)]
#[test]
fn trees_of_any_depth_and_permissions_are_removed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempdir().unwrap();
    let root = Folder::open(folder.path()).unwrap();
    let mut at = root.try_clone().unwrap();
    let long = "n".repeat(200);
    for _ in 0..300 {
        at.create_folder(long.as_ref()).unwrap();
        at.create_file("file".as_ref()).unwrap();
        at = at.inner(long.as_ref()).unwrap();
    }
    drop(at);
    fs::set_permissions(folder.path().join(&long).join(&long), fs::Permissions::from_mode(0o000)).unwrap();
    std::os::unix::fs::symlink("/", folder.path().join(&long).join("link")).unwrap();
    remove_tree(&root, long.as_ref()).unwrap();
    assert_eq!(names(folder.path()), ["file"]);
}
