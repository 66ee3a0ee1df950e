//! Standard streams that are closed or full: an error with a message, for every verb and for built programs.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::{TempDir, tempdir};

use crate::child::Command;

/// A program that reads and prints, and one that only writes a file.
const PRINTS: &str = "void->void pipeline Main {
    add FileReader<int>(\"-\"); add int->void filter { work pop 1 { println(pop()); } };
}";
const WRITES: &str = "void->void pipeline Main {
    add void->int filter { work push 1 { push(7); } }; add FileWriter<int>(\"made\");
}";

fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("star", "1 9\n2 9\n");
    write("a.fa", ">a\nACGTACGTACGT\n");
    write("prints.str", PRINTS);
    write("writes.str", WRITES);
    folder
}

/// Runs a command line in a shell, where `thalweg` is the command.
fn shell(folder: &Path, line: &str) -> Output {
    let mut command = Command::new("sh");
    let line = format!("thalweg() {{ \"$THALWEG\" \"$@\"; }}; {line}");
    command.args(["-c", &line]).env("THALWEG", env!("CARGO_BIN_EXE_thalweg")).current_dir(folder);
    command.env("XDG_CACHE_HOME", folder.join("cache")).stdin(Stdio::null()).output().expect("starts")
}

fn check(folder: &Path, line: &str, code: i32, message: &str) {
    let output = shell(folder, line);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}: {text}");
    assert!(text.contains(message) && !text.contains("panicked"), "{line}: {text}");
    assert!(code == 0 || text.lines().any(|line| line.starts_with("error: ")), "{line}: {text}");
}

/// Commands that print to standard output.
const PRINT: [&str; 13] = [
    "--help",
    "--version",
    "run --help",
    "demo wordcount star",
    "demo pagerank star",
    "demo life glider -g 3 -o -",
    "demo stencil heat --scale 512",
    "align a.fa a.fa",
    "check prints.str",
    "graph prints.str",
    "machine",
    "dedup pack star -o -",
    "dedup --help",
];

#[test]
fn closed_output_is_an_error() {
    let folder = folder();
    for arguments in PRINT {
        check(folder.path(), &format!("thalweg {arguments} >&-"), 1, "standard output is closed");
    }
    check(
        folder.path(),
        "printf 'abcd' | thalweg run prints.str --engine interpreter >&-",
        1,
        "standard output is closed",
    );
    // Nothing is printed, so nothing is lost.
    check(folder.path(), "thalweg run writes.str --engine interpreter -i 3 >&-", 0, "");
    assert_eq!(fs::metadata(folder.path().join("made")).unwrap().len(), 12);
}

#[test]
fn a_full_output_is_an_error() {
    let folder = folder();
    for arguments in PRINT {
        check(folder.path(), &format!("thalweg {arguments} > /dev/full"), 1, "No space left");
    }
}

#[test]
fn closed_input_is_an_error() {
    let folder = folder();
    for arguments in [
        "demo wordcount",
        "demo pagerank -",
        "align - a.fa",
        "demo life -",
        "machine --machine -",
        "show -",
        "dedup verify -",
        "dedup pack - -o made",
        "run prints.str --engine interpreter",
    ] {
        check(folder.path(), &format!("thalweg {arguments} <&-"), 1, "standard input is closed");
    }
    assert!(!folder.path().join("made").exists());
    // The streams are examined, and not only `/dev/null` in place of a closed one.
    check(folder.path(), "thalweg demo wordcount < /dev/null > /dev/null", 0, "");
    check(folder.path(), "thalweg demo wordcount <> /dev/null >&0", 0, "");
}

#[test]
fn built_programs_have_the_same_errors() {
    let folder = folder();
    // A compiler is not needed for it.
    let built = shell(folder.path(), "CC=/bin/false thalweg build prints.str -o prints");
    assert!(built.status.success(), "{built:?}");
    check(folder.path(), "./prints --help >&-", 1, "standard output is closed");
    check(folder.path(), "./prints --version > /dev/full", 1, "No space left");
    check(folder.path(), "./prints <&-", 1, "standard input is closed");
    check(folder.path(), "printf 'abcd' | ./prints > /dev/full", 1, "No space left");
}
