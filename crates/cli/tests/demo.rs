//! The command `thalweg dedup demo`.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::{TempDir, tempdir};

use crate::child::Command;

fn demo(temporary: &Path, arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["dedup", "demo"])
        .args(arguments)
        .env("TMPDIR", temporary)
        .output()
        .expect("starts")
}

fn output_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn tree() -> TempDir {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let tree = tempdir().unwrap();
    let at = |name: &str| tree.path().join(name);
    fs::create_dir_all(at("a/forbidding")).unwrap();
    let content: Vec<u8> = (0..400_000u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    fs::write(at("a/forbidding/file"), &content).unwrap();
    fs::write(at("a/again"), &content).unwrap();
    fs::write(at("program"), b"#!/bin/sh\n").unwrap();
    symlink("a/again", at("link")).unwrap();
    fs::set_permissions(at("program"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(at("a/forbidding"), fs::Permissions::from_mode(0o555)).unwrap();
    tree
}

#[test]
fn a_folder_round_trips_and_no_file_is_left() {
    let (tree, temporary) = (tree(), tempdir().unwrap());
    let output = demo(temporary.path(), &[tree.path()]);
    let text = output_of(&output);
    assert!(output.status.success(), "{text}");
    for part in ["7 entries", "packed", "archive", "unique", "duplicates", "unpacked", "threads", "identical"]
    {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    assert!(output.stderr.is_empty(), "no progress bar off a terminal: {text}");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn an_entry_that_cannot_be_packed_is_a_failure() {
    let (tree, temporary) = (tree(), tempdir().unwrap());
    let made = Command::new("mkfifo").arg(tree.path().join("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let output = demo(temporary.path(), &[tree.path()]);
    let text = output_of(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("DIFFERENT: 1 entries") && text.contains("pipe is missing from the copy"),
        "{text}"
    );
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn errors_have_help() {
    let tree = tree();
    let inside = demo(&tree.path().join("a"), &[tree.path()]);
    assert!(!inside.status.success() && output_of(&inside).contains("TMPDIR"), "{}", output_of(&inside));
    let nowhere = demo(tree.path(), &[Path::new("/no/such/folder")]);
    assert!(!nowhere.status.success() && output_of(&nowhere).contains("/no/such/folder"));
    let without = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["dedup", "demo"])
        .env("PATH", tree.path())
        .output()
        .expect("starts");
    let text = output_of(&without);
    assert!(!without.status.success() && text.contains("https://rustup.rs"), "{text}");
}
