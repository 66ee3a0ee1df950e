//! Unfinished outputs at the end of a process. The test is alone in its binary, since `remove_unfinished` affects all
//! outputs of the process.

use std::io::Write;

use thalweg_files::{OutFile, remove_unfinished, unfinished};

#[test]
fn only_unfinished_files_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    assert!(!remove_unfinished());
    let mut done = OutFile::create(&folder.path().join("done"), false).unwrap();
    done.write_all(b"all").unwrap();
    done.commit().unwrap();
    drop(OutFile::create(&folder.path().join("dropped"), false).unwrap());
    assert!(!remove_unfinished());
    let begun = OutFile::create(&folder.path().join("begun"), false).unwrap();
    assert_eq!((names(), unfinished().len()), (2, 1));
    assert!(remove_unfinished());
    assert_eq!(std::fs::read(folder.path().join("done")).unwrap(), b"all");
    assert_eq!((names(), unfinished().len()), (1, 0));
    drop(begun);
}
