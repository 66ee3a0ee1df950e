//! A signal stops StreamIt programs that do not end by themselves, even within a firing.
#![cfg(unix)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::tempdir;

use crate::child::{Running, start};

const HANG: &str = "void->void pipeline Hang { add Count(); add Show(); }
void->int filter Count() { int n; work push 1 { push(n++); } }
int->void filter Show() { work pop 1 { int n = pop(); println(n); while (n == 3) { } } }";

const COUNT: &str = "void->void pipeline Sum { add Count(); add FileWriter<int>(\"out\"); }
void->int filter Count() { int n; work push 1 { push(n++); } }";

fn run(folder: &Path, arguments: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["run", "program.str"]).args(arguments).env("XDG_CACHE_HOME", folder.join("cache"));
    command.current_dir(folder).stdin(Stdio::null());
    start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

/// Waits until the program has been compiled.
fn wait_for_code(folder: &Path) {
    let started = Instant::now();
    let is_code = |file: fs::DirEntry| {
        let name = file.file_name().into_string().unwrap();
        // An unfinished file has a name that begins with a dot.
        name.ends_with(".so") && !name.starts_with('.')
    };
    let is_compiled = || {
        let files = fs::read_dir(folder.join("cache/thalweg")).into_iter().flatten();
        files.flatten().any(is_code)
    };
    while !is_compiled() {
        assert!(started.elapsed() < Duration::from_secs(60), "the program is not compiled");
        sleep(Duration::from_millis(5));
    }
}

/// Sends SIGINT, and returns the output of the command when it has ended.
fn interrupt(mut child: Running) -> Output {
    child.send(Signal::INT);
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(1) {
            panic!("the command does not end");
        }
        sleep(Duration::from_millis(5));
    }
    child.output()
}

fn has_compiler() -> bool {
    let named = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    Command::new(named).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn an_endless_firing_is_stopped() {
    for threads in ["1", "2"].into_iter().filter(|_| has_compiler()) {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join("program.str"), HANG).unwrap();
        let child = run(folder.path(), &["--engine", "native", "--threads", threads]);
        wait_for_code(folder.path());
        sleep(Duration::from_millis(300));
        let output = interrupt(child);
        assert_eq!(output.status.signal(), Some(2), "{output:?}");
        if threads == "1" {
            assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n1\n2\n3\n");
        }
    }
}

#[test]
fn files_have_the_output_before_the_signal() {
    for engine in ["native", "interpreter"].into_iter().filter(|_| has_compiler()) {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join("program.str"), COUNT).unwrap();
        let child = run(folder.path(), &["--engine", engine]);
        if engine == "native" {
            wait_for_code(folder.path());
        }
        sleep(Duration::from_millis(300));
        let output = interrupt(child);
        assert_eq!(output.status.signal(), Some(2), "{output:?}");
        let written = fs::read(folder.path().join("out")).unwrap();
        let numbers = written.chunks_exact(4).map(|item| i32::from_le_bytes(item.try_into().unwrap()));
        assert!(!written.is_empty() && numbers.eq(0..written.len() as i32 / 4));
    }
}

/// Only the command opens these named pipes.
#[test]
fn waiting_for_the_other_end_of_a_pipe_is_stopped() {
    let reads = "void->void pipeline Read { add FileReader<int>(\"pipe\"); add FileWriter<int>(\"out\"); }";
    let writes = COUNT.replace("\"out\"", "\"pipe\"");
    for text in [reads, &writes] {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join("program.str"), text).unwrap();
        let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
        assert!(made.success());
        let child = run(folder.path(), &["--engine", "interpreter"]);
        sleep(Duration::from_millis(500));
        let output = interrupt(child);
        assert_eq!(output.status.signal(), Some(2), "{output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.starts_with("interrupted") && message.lines().count() == 1, "{message}");
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 2, "a file is left");
    }
}

#[test]
fn named_pipes_are_read_and_written() {
    let folder = tempdir().unwrap();
    let text = "void->void pipeline Copy { add FileReader<int>(\"in\"); add FileWriter<int>(\"out\"); }";
    fs::write(folder.path().join("program.str"), text).unwrap();
    for pipe in ["in", "out"] {
        assert!(Command::new("mkfifo").arg(folder.path().join(pipe)).status().unwrap().success());
    }
    let child = run(folder.path(), &["--engine", "interpreter"]);
    let bytes: Vec<u8> = (0..40_000).map(|i| (i % 251) as u8).collect();
    let (input, given) = (folder.path().join("in"), bytes.clone());
    let writer = std::thread::spawn(move || fs::write(input, given).unwrap());
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), bytes);
    writer.join().unwrap();
    assert!(child.output().status.success());
}
