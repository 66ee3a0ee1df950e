//! Unfinished output files at the end of a process. The test is alone in its binary, since `remove_unfinished`
//! affects all files of the process.

use std::io::Write;
use thalweg_lang::files::{Output, UnfinishedFile, remove_unfinished};

#[test]
fn only_unfinished_files_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    assert!(!remove_unfinished());
    let mut done = Output::create(&folder.path().join("done")).unwrap();
    done.write_all(b"all").unwrap();
    done.finish().unwrap();
    drop(UnfinishedFile::create(&folder.path().join("dropped")).unwrap());
    assert!(!remove_unfinished());
    let begun = Output::create(&folder.path().join("begun")).unwrap();
    assert_eq!(names(), 2);
    assert!(remove_unfinished());
    assert_eq!(std::fs::read(folder.path().join("done")).unwrap(), b"all");
    assert_eq!(names(), 1);
    drop(begun);
}
