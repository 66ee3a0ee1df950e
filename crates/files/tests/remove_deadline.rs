//! A process that is to end removes no longer than it may. Alone, since the limit holds for the whole process.

use std::fs;
use std::time::Duration;

use tempfile::tempdir;
use thalweg_files::{Folder, OutFolder, left, remove_no_longer_than, remove_tree};

#[test]
fn what_is_not_removed_in_time_is_named() {
    let folder = tempdir().unwrap();
    let create = |name: &str| {
        let output = OutFolder::create(&folder.path().join(name), false).unwrap();
        (0..100).for_each(|number| fs::write(output.private().path().join(number.to_string()), b"").unwrap());
        output
    };
    drop(create("soon"));
    assert_eq!((left().len(), fs::read_dir(folder.path()).unwrap().count()), (0, 0));
    remove_no_longer_than(Duration::ZERO);
    let output = create("late");
    let path = output.private().path().to_owned();
    drop(output);
    assert_eq!(left(), std::slice::from_ref(&path));
    assert!(path.is_dir());
    let open = Folder::open(folder.path()).unwrap();
    remove_tree(&open, path.file_name().unwrap()).unwrap_err();
}
