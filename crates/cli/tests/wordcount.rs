//! The command `thalweg demo wordcount`.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::tempdir;

use crate::child::Command;

fn wordcount(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["demo", "wordcount"]).args(arguments).current_dir(folder);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    wordcount(folder, arguments).stdin(Stdio::null()).output().expect("starts")
}

/// Text of a few thousand distinct words, some of which are not UTF-8.
fn text() -> Vec<u8> {
    let mut state = 7u64;
    let mut text = Vec::new();
    for _ in 0..200_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let rank = ((state >> 40) % 70) * ((state >> 50) % 70);
        text.extend_from_slice(format!("Word{rank}").as_bytes());
        text.extend_from_slice(if state >> 63 == 1 { b"\xE9, " } else { b"\n" });
    }
    text
}

fn expected(text: &[u8]) -> Vec<u8> {
    let mut counts: BTreeMap<&[u8], u64> = BTreeMap::new();
    let separates = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte > 127);
    text.split(separates)
        .filter(|word| !word.is_empty())
        .for_each(|word| *counts.entry(word).or_default() += 1);
    let mut order: Vec<_> = counts.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut out = Vec::new();
    for (word, count) in order {
        out.extend_from_slice(format!("{count} ").as_bytes());
        out.extend_from_slice(word);
        out.push(b'\n');
    }
    out
}

#[test]
fn output_is_the_same_for_all_threads_and_policies() {
    let folder = tempdir().unwrap();
    let text = text();
    fs::write(folder.path().join("text"), &text).unwrap();
    let expected = expected(&text);
    for more in
        [&[][..], &["--threads", "1"], &["--threads", "5", "--policy", "qes"], &["--policy", "ws-last"]]
    {
        let output = run(folder.path(), &[&["text"], more].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(output.stdout == expected, "{more:?}");
    }
    for more in [&[][..], &["--threads", "5", "--policy", "ws-cur"]] {
        let output = run(folder.path(), &[&["text", "--map-reduce", "--report"], more].concat());
        assert!(output.status.success() && output.stdout == expected, "{more:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("reducer0"), "{output:?}");
    }
    let top = run(folder.path(), &["text", "--top", "3"]).stdout;
    assert!(expected.starts_with(&top) && top.iter().filter(|byte| **byte == b'\n').count() == 3);
}

#[test]
fn files_and_pipes_are_counted_together() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("a"), "The end").unwrap();
    fs::write(folder.path().join("b"), "THE beginning").unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    let output = run(folder.path(), &["a", "empty", "b", "-i"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2 the\n1 beginning\n1 end\n");
    let mut child = wordcount(folder.path(), &[]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"x y x").unwrap();
    assert_eq!(child.output().stdout, b"2 x\n1 y\n");
    assert_eq!(run(folder.path(), &["empty"]).stdout, b"");
}

#[test]
fn errors_name_the_invalid_argument() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("a"), "a").unwrap();
    for (arguments, why) in [
        (&["a", "nothing"][..], "nothing"),
        (&["a", "."], "is a folder"),
        (&["a", "--policy", "luck"], "luck"),
    ] {
        let output = run(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(message.contains(why) && !message.contains("panicked"), "{message}");
        assert_eq!(message.matches("No such file").count(), usize::from(why == "nothing"), "{message}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempdir().unwrap();
    let text: String = (0..300_000).map(|i| format!("w{i} ")).collect();
    fs::write(folder.path().join("text"), text).unwrap();
    wordcount(folder.path(), &["text"]).assert_ends_without_a_reader();
}

/// The command in several processes.
#[cfg(feature = "cluster")]
fn in_processes(folder: &Path, processes: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    let thalweg = env!("CARGO_BIN_EXE_thalweg");
    command.args(["launch", "-n", &processes.to_string(), "--", thalweg, "demo", "wordcount"]);
    command.args(arguments).current_dir(folder);
    command
}

#[cfg(feature = "cluster")]
fn launched(folder: &Path, processes: usize, arguments: &[&str]) -> Output {
    in_processes(folder, processes, arguments).stdin(Stdio::null()).output().expect("starts")
}

#[cfg(feature = "cluster")]
#[test]
fn several_processes_print_what_one_does() {
    let folder = tempdir().unwrap();
    let text = text();
    fs::write(folder.path().join("text"), &text).unwrap();
    fs::write(folder.path().join("marked"), [b"\xEF\xBB\xBFWord7 ", &text[..1000]].concat()).unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    fs::write(folder.path().join("long"), "y".repeat(200_000)).unwrap();
    for arguments in
        [&["text", "empty", "marked", "long", "text"][..], &["-i", "marked", "--top", "5"], &["empty"]]
    {
        let alone = run(folder.path(), arguments);
        assert!(alone.status.success(), "{alone:?}");
        for processes in 1..=3 {
            let output = launched(folder.path(), processes, arguments);
            assert!(output.status.success() && output.stderr.is_empty(), "{processes}: {output:?}");
            assert!(output.stdout == alone.stdout, "{processes} {arguments:?}");
        }
    }
}

#[cfg(feature = "cluster")]
#[test]
fn several_processes_count_what_process_0_reads() {
    let folder = tempdir().unwrap();
    let text = text();
    fs::write(folder.path().join("text"), &text).unwrap();
    fs::write(folder.path().join("marked"), b"\xEF\xBB\xBFWord7 end").unwrap();
    for (arguments, alone) in [
        (&["marked", "-", "text", "--threads", "2"][..], &["marked", "text", "text"][..]),
        (&["-i", "--top", "9"], &["text", "-i", "--top", "9"]),
    ] {
        let alone = run(folder.path(), alone);
        for processes in 1..=3 {
            let mut command = in_processes(folder.path(), processes, arguments);
            let input = fs::File::open(folder.path().join("text")).unwrap();
            let output = command.stdin(input).output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{processes}: {output:?}");
            assert!(output.stdout == alone.stdout, "{processes} {arguments:?}");
        }
    }
    let empty = launched(folder.path(), 2, &["-", "--report"]);
    let said = String::from_utf8_lossy(&empty.stderr);
    assert!(empty.status.success() && empty.stdout.is_empty() && said.contains("\n1 -> 0 "), "{said}");
}

#[cfg(feature = "cluster")]
#[test]
fn processes_of_a_file_of_hosts_find_each_other() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("text"), text()).unwrap();
    let ports = [0, 1].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let hosts = ports.iter().map(|port| format!("{}\n", port.local_addr().unwrap())).collect::<String>();
    fs::write(folder.path().join("hosts"), hosts).unwrap();
    drop(ports);
    let start = |process| {
        let mut command = wordcount(folder.path(), &["text", "--hosts", "hosts", "--process", process]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let [first, second] = ["0", "1"].map(start).map(|child| child.output());
    assert!(first.status.success() && first.stdout == expected(&text()), "{first:?}");
    assert!(second.status.success() && second.stdout.is_empty() && second.stderr.is_empty(), "{second:?}");
    let wrong = run(folder.path(), &["text", "--hosts", "hosts", "--process", "2"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("hosts has processes 0 to 1"), "{wrong:?}");
    assert_eq!(run(folder.path(), &["text", "--hosts", "hosts"]).status.code(), Some(2));
}

#[cfg(feature = "cluster")]
#[test]
fn process_0_alone_says_what_is_wrong() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("text"), "x").unwrap();
    for (arguments, why) in [
        (&["text", "none"][..], "error: reading none: No such file or directory (os error 2)\n"),
        (&["."], "error: . is a folder, expected a file\nhelp: name its files\n"),
        (&["/dev/null"], "error: /dev/null is no regular file, and several processes read parts of it\n"),
        (&["-", "none"], "error: reading none: No such file or directory (os error 2)\n"),
        (
            &["-", "--save-report", "r"],
            "error: several processes count standard input without --save-report\n",
        ),
        (
            &["text", "--map-reduce"],
            "error: several processes do not count with --map-reduce\nhelp: remove it\n",
        ),
    ] {
        let output = launched(folder.path(), 3, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
        assert_eq!(said.matches(why).count(), 1, "{said}");
        // The other line is that of the launcher.
        assert_eq!(said.matches("error: ").count(), 2, "{said}");
    }
}
