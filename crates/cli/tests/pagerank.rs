//! The command `thalweg demo pagerank`.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::tempdir;

use crate::child::Command;

/// A star: four pages link to page 9.
const STAR: &str = "# a star\n1\t9\n2\t9\n3\t9\n4\t9\n";

fn pagerank(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["demo", "pagerank"]).args(arguments).current_dir(folder);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    pagerank(folder, arguments).stdin(Stdio::null()).output().expect("starts")
}

/// Standard output and standard error of a run that succeeds.
fn texts(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn ranks_are_printed_in_order() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("star"), STAR).unwrap();
    let (ranks, messages) = texts(folder.path(), &["star"]);
    let lines: Vec<(&str, f64)> = ranks
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(id, rank)| (id, rank.parse().unwrap()))
        .collect();
    assert_eq!(lines.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["9", "1", "2", "3", "4"]);
    assert!((lines[0].1 - 4.4 / 8.4).abs() < 1e-9 && (lines[4].1 - 1.0 / 8.4).abs() < 1e-9, "{lines:?}");
    assert!(
        messages.starts_with("star: up to 4 links; 12 B of memory for a link, 88 B for a page: 48 B"),
        "{messages}"
    );
    assert!(messages.contains("ranked 5 pages (1 dangling) and 4 links: "), "{messages}");
    assert_eq!(
        texts(folder.path(), &["star", "--top", "2", "-q"]),
        (ranks.lines().take(2).fold(String::new(), |all, line| all + line + "\n"), String::new())
    );
}

#[test]
fn standard_input_and_files_have_the_same_ranks() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("star"), STAR).unwrap();
    let mut child = pagerank(folder.path(), &["-", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(STAR.as_bytes()).unwrap();
    let output = child.output();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), texts(folder.path(), &["star"]).0);
}

#[test]
fn ranks_are_the_same_at_any_number_of_threads() {
    let folder = tempdir().unwrap();
    let rmat = ["--rmat", "12", "--edge-factor", "4", "--seed", "3", "--pages-per-task", "100"];
    let one = texts(folder.path(), &[&rmat[..], &["--threads", "1"]].concat()).0;
    assert_eq!(one.lines().count(), 4096);
    for threads in ["2", "5"] {
        assert!(
            texts(folder.path(), &[&rmat[..], &["--threads", threads]].concat()).0 == one,
            "{threads} threads"
        );
    }
}

#[test]
fn schedules_give_the_same_ranks_and_their_accesses_are_counted() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("two.machine"), "thalweg-machine 1\ndomains 2\ncores 4\n").unwrap();
    let rmat = ["--rmat", "12", "--edge-factor", "4", "--pages-per-task", "100", "--threads", "2"];
    let expected = texts(folder.path(), &rmat).0;
    for schedule in ["loops", "static-loops", "tasks", "random-tasks"] {
        let counts = ["--schedule", schedule, "--counts", "--machine", "two.machine", "-q"];
        let (ranks, messages) = texts(folder.path(), &[&rmat[..], &counts].concat());
        assert!(ranks == expected, "{schedule}");
        let lines: Vec<&str> = messages.lines().collect();
        assert!(lines[0].starts_with("threads: ") && lines[0].contains(" memory domain"), "{messages}");
        assert!(lines[1].starts_with("remote: tasks "), "{messages}");
        assert!(lines.len() == 3 && lines[2].contains(" attempts, of which coloured "), "{messages}");
        // This machine may have one domain or several.
        let here = texts(folder.path(), &[&rmat[..], &["--schedule", schedule, "--counts"]].concat());
        assert!(here.0 == expected && here.1.contains("\nremote: tasks "), "{}", here.1);
    }
    let one = texts(folder.path(), &[&rmat[..7], &["1", "--counts", "--machine", "two.machine"]].concat()).1;
    let first = "threads: 1, in 1 memory domain\nremote: tasks 0 of ";
    assert!(one.contains(first), "{one}");
    let output = run(folder.path(), &[&rmat[..], &["--machine", "two.machine"]].concat());
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn output_files_are_written_whole_and_replaced_only_with_force() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("star"), STAR).unwrap();
    let all = ["star", "--format", "json", "-o", "ranks.json", "--plot", "plot.svg", "-q"];
    assert_eq!(texts(folder.path(), &all), (String::new(), String::new()));
    let json = fs::read_to_string(folder.path().join("ranks.json")).unwrap();
    assert!(
        json.starts_with("{\"version\":1,\"pages\":5,\"links\":4,\"dangling\":1,\"iterations\":"),
        "{json}"
    );
    assert!(json.ends_with("}]}\n") && json.contains("\"ranks\":[{\"page\":9,\"rank\":5.23"), "{json}");
    assert!(fs::read_to_string(folder.path().join("plot.svg")).unwrap().contains("<svg"));
    assert_eq!(names(folder.path()), ["plot.svg", "ranks.json", "star"]);

    for (arguments, why) in [
        (&["star", "-o", "ranks.json"][..], "ranks.json already exists"),
        (&["star", "--plot", "plot.svg"], "plot.svg already exists"),
        (&["star", "-fo", "star"], "refusing to overwrite star"),
        (&["star", "-fo", "./x", "--plot", "x"], "refusing to overwrite x"),
        (&["star", "-o", "nowhere/x"], "nowhere"),
        (&["star", "--plot", "-"], "plot is not written to standard output"),
    ] {
        let output = run(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}");
        assert!(message.starts_with("error: ") && message.contains(why), "{message}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("star")).unwrap(), STAR);
    texts(folder.path(), &["star", "--top", "1", "-fo", "ranks.json"]);
    assert!(fs::read_to_string(folder.path().join("ranks.json")).unwrap().starts_with("9\t5.23"));
}

#[test]
fn zeros_after_gzip_data_are_padding_and_other_bytes_a_warning() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("star"), STAR).unwrap();
    let expected = texts(folder.path(), &["star", "-q"]).0;
    assert!(Command::new("gzip").arg("star").current_dir(folder.path()).status().unwrap().success());
    let zipped = fs::read(folder.path().join("star.gz")).unwrap();
    for (tail, warning) in [
        (&[0; 448][..], ""),
        (b"\0garbage", "warning: star.gz: ignored what follows the gzip data: it is no gzip data\n"),
    ] {
        fs::write(folder.path().join("star.gz"), [&zipped, tail].concat()).unwrap();
        assert_eq!(texts(folder.path(), &["star.gz", "-q"]), (expected.clone(), warning.to_owned()));
    }
    fs::write(folder.path().join("star.gz"), [&zipped[..], &zipped[..20]].concat()).unwrap();
    let message = String::from_utf8(run(folder.path(), &["star.gz", "-q"]).stderr).unwrap();
    assert!(message.contains("star.gz is truncated or damaged gzip data"), "{message}");
}

#[test]
fn mistakes_are_errors_with_help() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("star"), STAR).unwrap();
    fs::write(folder.path().join("bad"), "1 2\n1 \x1b[31m\n").unwrap();
    fs::write(folder.path().join("cut.gz"), b"\x1f\x8b\x08\0").unwrap();
    for (arguments, why) in [
        (&["bad"][..], "bad:2: expected a number from 0 to 18446744073709551615: `1 \\x1b[31m`\nhelp: "),
        (&["cut.gz"], "cut.gz is truncated or damaged gzip data"),
        (&["nothing"], "opening nothing: No such file"),
        (&["."], ". is a folder"),
        (
            &["star", "--memory", "40"],
            "star needs 48 B of memory for 4 links without their pages, the limit is 40 B",
        ),
        (&["star", "--max-iterations", "2"], "the ranks still change by"),
        (&["star", "--damping", "1.5"], "the damping must be from 0 to below 1, it is 1.5"),
        (&["star", "--threads", "0"], "threads 0: at least 1 is needed"),
        (&["star", "--counts", "--machine", "star"], "star, line 2: "),
        (&["--rmat", "31", "--memory", "1G"], "an R-MAT graph of scale 31 needs"),
    ] {
        let output = run(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {message}");
        assert!(
            output.stdout.is_empty() && message.contains(why) && message.contains("error: "),
            "{message}"
        );
        assert!(!message.contains("panicked") && !message.contains('\u{1b}'), "{message}");
    }
    // Four links and five pages.
    texts(folder.path(), &["star", "--memory", "488"]);
    assert!(!run(folder.path(), &["star", "--memory", "487"]).status.success());
    for arguments in
        [&[][..], &["star", "--rmat", "3"], &["--rmat", "32"], &["star", "--seed", "1"], &["a", "b"]]
    {
        assert_eq!(run(folder.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempdir().unwrap();
    pagerank(folder.path(), &["--rmat", "15", "--edge-factor", "1", "-q"]).assert_ends_without_a_reader();
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_the_iterations() {
    let folder = tempdir().unwrap();
    let (own, other) = crate::terminal::terminal();
    let arguments = ["--rmat", "10", "--tolerance", "0", "--max-iterations", "20000", "--top", "1"];
    let child = pagerank(folder.path(), &arguments)
        .env("TERM", "xterm")
        .stdout(Stdio::null())
        .stderr(other)
        .spawn()
        .unwrap();
    let bytes = crate::terminal::all_written(own, child);
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("/20000 iterations"), "no progress bar: {text:?}");
    assert!(text.contains("ranked 1024 pages"), "{text:?}");
}

#[test]
fn a_signal_ends_reading_and_ranking_and_leaves_no_file() {
    let folder = tempdir().unwrap();
    let endless = ["--rmat", "12", "--tolerance", "0", "--max-iterations", "1000000000", "-o", "ranks"];
    for arguments in [&["-", "-o", "ranks"][..], &endless] {
        let mut command = pagerank(folder.path(), arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = crate::child::start(command);
        // The handler is installed at the start.
        sleep(Duration::from_millis(200));
        child.send(Signal::INT);
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if started.elapsed() > Duration::from_secs(10) {
                panic!("the command does not end: {arguments:?}");
            }
            sleep(Duration::from_millis(5));
        }
        let output = child.output();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(2), "{message}");
        assert!(message.contains("interrupted") && !message.contains("error"), "{message}");
        assert!(names(folder.path()).is_empty());
    }
}
