//! The command `thalweg demo pipelines`.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::tempdir;

use crate::child::Command;

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["demo", "pipelines"]).args(arguments).current_dir(folder).output().expect("starts")
}

fn run(arguments: &[&str]) -> Output {
    run_in(Path::new("."), arguments)
}

/// Standard output without the line that has a time.
fn results(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter(|line| !line.starts_with("time")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_program_has_the_sequential_result_at_any_number_of_threads() {
    for (program, size) in [
        (&["des"][..], &["--bytes", "1000"][..]),
        (&["lz77"], &["--bytes", "40000"]),
        (&["dnn"], &["--layers", "10", "--inputs", "5"]),
        (&["synthetic"], &["--modules", "5", "--items", "50"]),
    ] {
        let arguments = [program, size].concat();
        let expected = results(&[&arguments[..], &["--check", "--threads", "1"]].concat());
        assert!(expected.starts_with(&format!("problem   {}, ", program[0])), "{expected}");
        assert!(expected.ends_with("check     the sequential program has the same result\n"), "{expected}");
        let more = results(&[&arguments[..], &["--threads", "3", "--policy", "prs"]].concat());
        assert!(expected.starts_with(&more) && more.contains("checksum  "), "{more}");
        assert_ne!(results(&[&arguments[..], &["--seed", "2"]].concat()), more);
    }
}

#[test]
fn files_come_back() {
    let folder = tempdir().unwrap();
    let text = include_bytes!("../../../ARCHITECTURE.md");
    fs::write(folder.path().join("text"), text).unwrap();
    for (there, back) in [
        (&["des", "text", "-o", "made"][..], &["des", "made", "--decrypt", "-o", "-"][..]),
        (&["lz77", "text", "-o", "made", "--check"], &["lz77", "made", "--decompress", "-o", "-", "--check"]),
    ] {
        let output = run_in(folder.path(), there);
        assert!(output.status.success(), "{output:?}");
        let made = fs::read(folder.path().join("made")).unwrap();
        assert!(made.len() != text.len() && made[..100] != text[..100]);
        let output = run_in(folder.path(), back);
        assert!(output.status.success() && output.stdout == text, "{back:?}");
        fs::remove_file(folder.path().join("made")).unwrap();
    }
}

#[test]
fn wrong_files_are_refused_with_the_byte() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("zeros"), vec![0; 1 << 20]).unwrap();
    fs::write(folder.path().join("odd"), b"0123456789").unwrap();
    assert!(run_in(folder.path(), &["lz77", "zeros", "-o", "small"]).status.success());
    for (arguments, why) in [
        (&["lz77", "odd", "--decompress"][..], "byte 0: not the header of this format's version 1"),
        (&["lz77", "small", "--decompress", "--memory", "1MB"], "the result has more than 512 KiB"),
        (&["lz77", "zeros", "--memory", "1MB"], "help: choose a shorter file, or raise --memory"),
        (&["des", "odd", "--decrypt"], "the block at byte 8 is shorter than 8 bytes"),
        (&["des", "zeros", "--decrypt"], "the block at byte 1048568 has no padding"),
    ] {
        let output = run_in(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(why), "{arguments:?}: {said}");
    }
}

#[test]
fn programs_that_cannot_be_are_refused_before_they_are_made() {
    for (arguments, code, why) in [
        (
            &["dnn", "--thin", "3"][..],
            2,
            "a perceptron observes 8 of the 3 perceptrons that cross a thin edge",
        ),
        (&["dnn", "--connections", "500", "--memory", "1M"], 1, "help: choose fewer layers"),
        (&["synthetic", "--cache", "4K", "--memory", "1K"], 1, "help: choose a smaller --cache"),
        (&["synthetic", "--cache", "4000"], 2, "expected 4 KiB to 256 MiB"),
        (&["synthetic", "--fixed", "small", "--times", "off"], 2, "cannot be used with"),
        (&["synthetic", "--describe", "--report", "--check"], 2, "--describe runs nothing"),
        (&["des", "--bytes", "1T"], 1, "help: choose a smaller --bytes"),
        (&["des", "--key", "+123456789abcdef"], 2, "expected 16 hexadecimal digits"),
        (&["des", "--decrypt"], 2, "<FILE>"),
        (&["lz77", "file", "--seed", "2"], 2, "cannot be used with"),
    ] {
        let output = run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && said.contains(why), "{arguments:?}: {said}");
    }
}

#[test]
fn a_pipeline_is_described_by_module() {
    let text = results(&["synthetic", "--describe", "--modules", "7", "--times", "off"]);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 8, "{text}");
    assert_eq!(lines[1], ["1", "6", "3", "253", "11868", "0", "2"], "{text}");
}

#[test]
fn the_graph_is_in_the_report() {
    let output = run(&["dnn", "--layers", "3", "--inputs", "2", "--report"]);
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(report.contains("layer 3") && report.contains("read"), "{report}");
}
