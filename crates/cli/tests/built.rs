//! A program that `thalweg build` has made handles signals, limits and wrong arguments as the command itself does. All tests
//! share one, which is built without a C compiler: what they test does not depend on how it computes.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::{TempDir, tempdir};

use crate::child::{Command, Running};

/// Writes numbers. One firing takes longer than any test.
const PROGRAM: &str = "void->void pipeline Slow { add Numbers(); add FileWriter<int>(\"made\"); }
void->int filter Numbers() {
    int n;
    work push 1 {
        float s = 0;
        if (n == 5000) for (int i = 0; i < 2000000000; i++) s += sin(s + i);
        if (s > 1e9) n++;
        push(n++);
    }
}";

/// The executable. It stays until the tests end.
fn program() -> &'static Path {
    static PROGRAM_FILE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    &PROGRAM_FILE
        .get_or_init(|| {
            let folder = tempdir().unwrap();
            fs::write(folder.path().join("p.str"), PROGRAM).unwrap();
            let mut build = Command::new(env!("CARGO_BIN_EXE_thalweg"));
            build.args(["build", "p.str", "-o", "program"]).current_dir(folder.path());
            let built = build.env("CC", "/bin/false").stdin(Stdio::null()).output().unwrap();
            assert!(built.status.success(), "{built:?}");
            let path = folder.path().join("program");
            (folder, path)
        })
        .1
}

/// Runs a line in a shell, in which `$0` is the program.
fn shell(folder: &Path, line: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", line]).arg(program()).current_dir(folder).stdin(Stdio::null());
    command.output().unwrap()
}

fn start(folder: &Path, line: &str) -> Running {
    let mut command = Command::new("sh");
    command.args(["-c", line]).arg(program()).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    crate::child::start(command.stderr(Stdio::piped()))
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// Waits until the program has created its output.
fn wait_for_output(child: &mut Running, folder: &Path) {
    let started = Instant::now();
    while names(folder).is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended without output");
        assert!(started.elapsed() < Duration::from_secs(60), "it creates no output");
        sleep(Duration::from_millis(5));
    }
}

/// The exit code and the message of a process.
fn ended(mut child: Running) -> (Option<i32>, String) {
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    (child.wait().unwrap().code(), message)
}

/// The firing that takes long does not end in time for the first signal.
#[test]
fn a_second_signal_ends_it_and_removes_the_output() {
    for _ in 0..20 {
        let folder = tempdir().unwrap();
        let mut child = start(folder.path(), "exec \"$0\"");
        wait_for_output(&mut child, folder.path());
        sleep(Duration::from_millis(200));
        child.send(Signal::INT);
        // A stopped process lets time pass, so that the signals are two events.
        sleep(Duration::from_millis(2));
        child.send(Signal::STOP);
        sleep(Duration::from_millis(400));
        child.send(Signal::TERM);
        child.send(Signal::CONT);
        let (code, message) = ended(child);
        assert_eq!(code, None, "it died of the signal: {message}");
        // The long firing may not have begun. The first signal then ends the program, and the second one may still come
        // before its exit, while an output is being created or completed. That one stays; the next output sweeps it if it is
        // hidden.
        if !names(folder.path()).is_empty() {
            assert!(message.starts_with("interrupted"), "{message}");
            continue;
        }
        assert_eq!(message, "interrupted twice: the unfinished output was removed\n");
        return;
    }
    panic!("no second signal came in time");
}

/// It waits for the reader of a pipe when the hang-up comes.
#[test]
fn an_ignored_hangup_stays_ignored() {
    let folder = tempdir().unwrap();
    let mut child = start(folder.path(), "mkfifo pipe && trap '' HUP && exec \"$0\" -i 1000 -o pipe");
    let started = Instant::now();
    while fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap() != "program\n" {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        assert!(started.elapsed() < Duration::from_secs(60), "it does not begin");
        sleep(Duration::from_millis(5));
    }
    child.send(Signal::HUP);
    sleep(Duration::from_millis(100));
    child.send(Signal::HUP);
    let mut reader = Command::new("timeout");
    let read = reader.args(["60", "cat", "pipe"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(ended(child), (Some(0), String::new()));
    assert_eq!(read.stdout.len(), 4000);
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_leaves_nothing() {
    let folder = tempdir().unwrap();
    let output = shell(folder.path(), "ulimit -f 1; exec \"$0\" -i 2000");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("File too large") && message.contains("`made`"), "{message}");
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn closed_and_full_outputs_are_errors() {
    let folder = tempdir().unwrap();
    for (line, what) in [
        ("exec \"$0\" -i 1000 -o - >&-", "standard output is closed"),
        ("exec \"$0\" -i 1000 -o - > /dev/full", "No space left"),
        ("exec \"$0\" -i 1000 -o /dev/full", "No space left"),
        ("exec \"$0\" --help > /dev/full", "No space left"),
    ] {
        let output = shell(folder.path(), line);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {message}");
        assert!(message.contains(what), "{line}: {message}");
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn wrong_arguments_have_the_exit_code_of_the_command() {
    let folder = tempdir().unwrap();
    for arguments in [
        "--no-such-option",
        "other.str",
        "-i x",
        "-i -1",
        "--threads 0",
        "-O 1",
        "--save-report -",
        "--mode luck",
    ] {
        let output = shell(folder.path(), &format!("exec \"$0\" {arguments}"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.starts_with("error: ") && output.stdout.is_empty(), "{arguments}: {message}");
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn the_help_has_examples_and_exit_codes() {
    let folder = tempdir().unwrap();
    let output = shell(folder.path(), "exec \"$0\" --help");
    let text = String::from_utf8(output.stdout).unwrap();
    for words in ["StreamIt program `Slow`", "\nExamples:\n  ./PROGRAM", "\nExit codes:\n", "Engine options:"]
    {
        assert!(output.status.success() && text.contains(words), "{words}: {text}");
    }
}
