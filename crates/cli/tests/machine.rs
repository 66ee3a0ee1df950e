//! The command `thalweg machine`.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::tempdir;
use thalweg::machine::Machine;

use crate::child::Command;

const PLANNED: &str = "\
thalweg-machine 1
domains 8 memory 64 GiB
cores 10
cache 2 size 256 KiB per core
cache 3 size 30 MiB per domain
distance 21
";

fn machine(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.arg("machine").args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("starts")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn this_machine_is_printed_or_written() {
    let folder = tempdir().unwrap();
    let here = Machine::here();
    assert_eq!(stdout(&machine(folder.path(), &[])), here.to_string());
    let file = folder.path().join("here.machine");
    assert_eq!(stdout(&machine(folder.path(), &["-o", "here.machine"])), "");
    assert_eq!(fs::read_to_string(&file).unwrap(), here.to_string());
    let refused = machine(folder.path(), &["-o", "here.machine"]);
    let message = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1));
    assert!(message.contains("already exists") && message.contains("--force"), "{message}");
    fs::write(&file, "old").unwrap();
    stdout(&machine(folder.path(), &["-f", "-o", "here.machine"]));
    assert_eq!(fs::read_to_string(&file).unwrap(), here.to_string());
    assert_eq!(stdout(&machine(folder.path(), &["-o", "-"])), here.to_string());
}

#[test]
fn measured_costs_stand_behind_the_description() {
    let folder = tempdir().unwrap();
    let text = stdout(&machine(folder.path(), &["--measure"]));
    let here = Machine::here().to_string();
    let costs = text.strip_prefix(&here).unwrap_or_else(|| panic!("{text}"));
    assert!(costs.lines().all(|line| line.starts_with("cost ")), "{costs}");
    assert!(costs.contains("cost queue ") && costs.contains("cost wake "), "{costs}");
    assert!(costs.contains("cost steal ") || Machine::here().threads() == 1, "{costs}");
    assert_eq!(Machine::read(&text).unwrap().to_string(), text);
}

#[test]
fn a_description_is_checked_and_printed_in_its_usual_form() {
    let folder = tempdir().unwrap();
    let edited = PLANNED.replace("per domain", "per 10 cores  # as per domain");
    fs::write(folder.path().join("planned"), edited).unwrap();
    assert_eq!(stdout(&machine(folder.path(), &["--machine", "planned"])), PLANNED);
    stdout(&machine(folder.path(), &["--machine", "planned", "-o", "usual"]));
    assert_eq!(fs::read_to_string(folder.path().join("usual")).unwrap(), PLANNED);
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    let command = command.args(["machine", "--machine", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(PLANNED.as_bytes()).unwrap();
    assert_eq!(stdout(&child.output()), PLANNED);
}

#[test]
fn the_description_in_the_help_is_one() {
    let help = stdout(&machine(Path::new("."), &["--help"]));
    let (_, example) = help.split_once("of 10 cores:\n").unwrap();
    let example: String = example
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| format!("{}\n", line.trim()))
        .collect();
    assert_eq!(example, PLANNED);
}

#[test]
fn errors_name_the_file_and_the_line() {
    let folder = tempdir().unwrap();
    let file = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    file("wrong", PLANNED.replace("cores 10", "cores ten").as_bytes());
    file("orphan", b"thalweg-machine 1\ncores 4\n");
    file("old", b"thalweg-machine 0\n");
    file("bytes", b"\xff\xfe");
    file("planned", PLANNED.as_bytes());
    for (arguments, code, expected) in [
        (
            &["--machine", "wrong", "-o", "out"][..],
            1,
            &["error: wrong, line 3: expected a number", "`ten`", "\nhelp: `thalweg machine` prints"][..],
        ),
        (&["--machine", "orphan"], 1, &["orphan, line 2: expected `domains`", "\nhelp: add `domains 1`"]),
        (&["--machine", "old"], 1, &["old, line 1: unsupported version", "\nhelp: "]),
        (&["--machine", "bytes"], 1, &["bytes is not UTF-8 text", "\nhelp: `thalweg machine` prints"]),
        (&["--machine", "missing"], 1, &["missing", "No such file"]),
        (&["--machine", "."], 1, &["is a folder"]),
        (&["--machine", "planned", "-o", "missing/out"], 1, &["missing/out"]),
        (&["--machine", "planned", "--measure"], 2, &["--measure"]),
        (&["-f"], 2, &["--output"]),
    ] {
        let output = machine(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty() && !message.contains("panicked"), "{arguments:?}: {message}");
        assert!(expected.iter().all(|part| message.contains(part)), "{arguments:?}: {message}");
    }
    assert!(!folder.path().join("out").exists());
}

/// Neither `--force` nor another name of the file changes that.
#[test]
fn the_description_that_is_read_is_not_overwritten() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("planned"), PLANNED).unwrap();
    fs::hard_link(at("planned"), at("other")).unwrap();
    fs::write(at("a.fa"), ">chr\nACGTACGT\n").unwrap();
    fs::write(at("links"), "1 2\n2 1\n").unwrap();
    let verbs: [&[&str]; 3] = [
        &["machine", "--machine", "planned"],
        &["align", "a.fa", "a.fa", "--counts", "--machine", "planned"],
        &["demo", "pagerank", "links", "--counts", "--machine", "planned"],
    ];
    for verb in verbs {
        for output in ["planned", "./planned", "other"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
            command.args(verb).args(["-f", "-o", output]).current_dir(folder.path()).stdin(Stdio::null());
            let refused = command.output().unwrap();
            let message = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{verb:?}: {message}");
            assert!(message.contains("refusing to overwrite"), "{verb:?}: {message}");
            assert_eq!(fs::read_to_string(at("planned")).unwrap(), PLANNED, "{verb:?}");
        }
    }
}
