//! StreamIt programs when the system refuses to start a thread: for any of the threads, the run ends with an error
//! that names the cause.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::tempdir;

use crate::child::Command;

const PROGRAM: &str = "void->void pipeline Main {
    add FileReader<int>(\"given\");
    add int->int filter { work pop * push * { int x = pop(); while (x < 0) x = pop(); push(x); } };
    add int->int filter { int n; work pop 1 push * { n += pop(); push(n); } };
    add int->int filter { work pop 1 push * { int x = pop(); if (x & 1) push(x); } };
    add FileWriter<int>(\"made\");
}";

/// Bytes of the stack of a thread. They are so large that a limit on the address space limits the number of threads.
const STACK: u64 = 1 << 30;

/// Runs the program with an address space of `limit` KiB. Returns `None` if it does not end.
fn run_within(folder: &Path, limit: &str, arguments: &[&str]) -> Option<Output> {
    let mut child = Command::new("sh")
        .args([
            "-c",
            "ulimit -v $0 && exec \"$@\"",
            limit,
            env!("CARGO_BIN_EXE_thalweg"),
            "run",
            "program.str",
        ])
        .args(arguments)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("RUST_MIN_STACK", STACK.to_string())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            return None;
        }
        sleep(Duration::from_millis(2));
    }
    Some(child.output())
}

#[test]
fn a_thread_that_cannot_be_started_ends_the_run() {
    let folder = tempdir().unwrap();
    let (folder, made) = (folder.path(), folder.path().join("made"));
    fs::write(folder.join("program.str"), PROGRAM).unwrap();
    // Enough items that a run does not end before it starts its threads: it times its parts for some milliseconds first.
    for (mode, items) in [("filters", 4_000_000i32), ("pipeline", 4_000_000), ("os-thread", 20_000)] {
        let given: Vec<u8> = (0..items).flat_map(|i| (i % 13 - 6).to_ne_bytes()).collect();
        fs::write(folder.join("given"), given).unwrap();
        let alone = run_within(folder, "unlimited", &["--threads", "1"]).expect("ends");
        assert!(alone.status.success(), "{alone:?}");
        let expected = fs::read(&made).unwrap();
        let (mut refused, mut done) = (0, 0);
        for threads in 0..10 {
            _ = fs::remove_file(&made);
            let limit = (threads * STACK / 1024 + (700 << 10)).to_string();
            let output = run_within(folder, &limit, &["--threads", "2", "--mode", mode]);
            let output = output.unwrap_or_else(|| panic!("{mode}, {threads} threads: does not end"));
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.success() {
                assert_eq!(fs::read(&made).unwrap(), expected, "{mode}, {threads} threads");
                done += 1;
            } else if said.contains("cannot start a thread") {
                assert!(!made.exists(), "{mode}, {threads} threads");
                refused += 1;
            } else {
                // The thread of the signal handler, which every program has.
                assert!(said.contains("Ctrl-C") && threads < 2, "{mode}, {threads} threads: {said}");
            }
        }
        assert!(refused > 0 && done > 0, "{mode}: {refused}, {done}");
    }
}
