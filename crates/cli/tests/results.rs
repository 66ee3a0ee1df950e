//! `--save-report` and `--timeline`, which all verbs on the engine have.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::{TempDir, tempdir};
use thalweg::Report;
use thalweg::embed::trace::What;
use thalweg::trace::{ReportExt, Timeline, TimelineExt};

use crate::child::Command;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).current_dir(folder).env("TMPDIR", folder).stdin(Stdio::null());
    command.output().expect("starts")
}

fn good(folder: &Path, arguments: &[&str]) -> Output {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The message of a command that fails, and neither prints nor leaves a file.
fn bad(folder: &Path, arguments: &[&str]) -> String {
    let before = names(folder);
    let output = run(folder, arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && !message.contains("panicked"), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}: the run has begun");
    assert_eq!(names(folder), before);
    message
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// A folder with a text and a folder with a file in it.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("text"), "one two two\n".repeat(20_000)).unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("tree/file"), "x".repeat(300_000)).unwrap();
    folder
}

fn report(path: &Path) -> Report {
    Report::from_json(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_verb_saves_its_report_and_timeline() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    for (arguments, node) in [
        (&["demo", "wordcount", "text"][..], "count"),
        (&["dedup", "pack", "tree", "-o", "a.thd"], "compress"),
        (&["dedup", "unpack", "a.thd", "-o", "copy"], "assemble"),
        (&["dedup", "verify", "a.thd"], "decode"),
    ] {
        let files = ["--save-report", "report.json", "--timeline", "timeline.json", "--threads", "2"];
        let output = good(folder.path(), &[arguments, &files].concat());
        assert!(output.stderr.is_empty(), "{output:?}");
        let report = report(&path("report.json"));
        assert!(
            report.graph().nodes().iter().any(|data| data.name().contains(node)),
            "{arguments:?}: {report}"
        );
        let text = fs::read_to_string(path("timeline.json")).unwrap();
        let timeline = Timeline::from_json(&text, report.graph()).unwrap();
        let events = timeline.tracks().iter().flat_map(|track| track.events());
        let activations = events.filter(|event| matches!(event.what(), What::Activation { .. })).count();
        assert!(activations > 0, "{arguments:?}");
    }
    let hidden: Vec<String> = names(folder.path()).into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn the_report_can_be_printed_and_saved() {
    let folder = folder();
    let output = good(folder.path(), &["demo", "wordcount", "text", "--report", "--save-report", "r.json"]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains(&report(&folder.path().join("r.json")).to_string()), "{printed}");
    assert!(report(&folder.path().join("r.json")).timeline().is_none());
}

/// A demo runs twice, and each run has files of its own.
#[test]
fn a_demo_saves_two_reports() {
    let folder = folder();
    good(folder.path(), &["dedup", "demo", "tree", "--save-report", "r.json", "--timeline", "t"]);
    let node = |name: &str, node: &str| {
        let report = report(&folder.path().join(name));
        report.graph().nodes().iter().any(|data| data.name().contains(node))
    };
    assert!(node("r-pack.json", "compress") && node("r-unpack.json", "decode"));
    assert_eq!(names(folder.path()), ["r-pack.json", "r-unpack.json", "t-pack", "t-unpack", "text", "tree"]);
}

#[test]
fn the_timeline_keeps_the_events_that_are_asked_for() {
    let folder = folder();
    good(
        folder.path(),
        &["demo", "wordcount", "text", "--save-report", "r", "--timeline", "t", "--timeline-events", "3"],
    );
    let report = report(&folder.path().join("r"));
    let graph = report.graph();
    let timeline = Timeline::from_json(&fs::read_to_string(folder.path().join("t")).unwrap(), graph).unwrap();
    assert!(timeline.tracks().iter().all(|track| track.events().len() <= 3), "{timeline:?}");
    assert!(timeline.tracks().iter().any(|track| track.lost() > 0), "{timeline:?}");
}

/// An older report or timeline is replaced; any other file is left as it is.
#[test]
fn only_results_are_overwritten() {
    let folder = folder();
    for _ in 0..2 {
        good(folder.path(), &["demo", "wordcount", "text", "--save-report", "r", "--timeline", "t"]);
    }
    good(folder.path(), &["demo", "wordcount", "text", "--save-report", "t"]);
    fs::write(folder.path().join("empty"), "").unwrap();
    good(folder.path(), &["demo", "wordcount", "text", "--save-report", "empty"]);
    fs::write(folder.path().join("notes"), "precious").unwrap();
    for option in ["--save-report", "--timeline"] {
        let message = bad(folder.path(), &["demo", "wordcount", "text", option, "notes"]);
        assert!(
            message.contains(
                "error: refusing to overwrite notes, which is neither a report nor a timeline\nhelp: "
            ),
            "{message}"
        );
    }
    assert_eq!(fs::read_to_string(folder.path().join("notes")).unwrap(), "precious");
}

#[test]
fn mistakes_are_found_before_the_run() {
    let folder = folder();
    good(folder.path(), &["demo", "wordcount", "text", "--save-report", "r"]);
    let cases = [
        (
            &["demo", "wordcount", "r", "--save-report", "r"][..],
            "refusing to overwrite r, which this command also reads or writes",
        ),
        (
            &["demo", "wordcount", "r", "--save-report", "tree/../r"],
            "refusing to overwrite tree/../r, which this command also",
        ),
        (
            &["demo", "wordcount", "text", "--save-report", "x", "--timeline", "x"],
            "refusing to overwrite x, which this command also",
        ),
        (
            &["dedup", "pack", "tree", "-o", "a", "--timeline", "a"],
            "refusing to overwrite a, which this command also",
        ),
        (&["demo", "wordcount", "text", "--save-report", "tree"], "tree is a folder, expected a file"),
        (
            &["demo", "wordcount", "text", "--timeline", "none/t"],
            "creating none/t: there is no folder `none`",
        ),
        (
            &["demo", "wordcount", "text", "--timeline", "new/"],
            "new/: it names a folder\nhelp: name the file in it",
        ),
        (
            &["demo", "wordcount", "text", "--timeline", "-"],
            "not written to standard output\nhelp: name a file",
        ),
        (&["demo", "wordcount", "text", "--timeline-events", "9"], "--timeline <FILE>"),
        (
            &["demo", "wordcount", "text", "--timeline", "t", "--timeline-events", "0"],
            "expected a number from 1 to 67108864",
        ),
    ];
    for (arguments, expected) in cases {
        let message = bad(folder.path(), arguments);
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}

/// A file appears when it is complete; a device is written directly.
#[test]
fn a_full_disk_leaves_no_file() {
    let folder = folder();
    if !Path::new("/dev/full").exists() {
        return;
    }
    let output = run(folder.path(), &["demo", "wordcount", "text", "--save-report", "/dev/full"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("writing /dev/full: No space left"), "{message}");
    assert_eq!(names(folder.path()), ["text", "tree"]);
}
