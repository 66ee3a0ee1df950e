//! StreamIt programs between pipes: all results of the available input are written before the program blocks on more
//! input.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::tempdir;

use crate::child::{Command, Running};

const SUMS: &str = "void->void pipeline Sums {
    add FileReader<int>(\"given\"); add int->int filter { work pop 2 push 1 { push(pop() + pop()); } };
    add FileWriter<int>(\"made\");
}";

const PRINTS: &str = "void->void pipeline Sums {
    add FileReader<int>(\"given\"); add int->void filter { work pop 2 { println(pop() + pop()); } };
}";

/// Each result depends on many items, so threads compute some intermediate items twice.
const WINDOWS: &str = "void->void pipeline Windows {
    add FileReader<int>(\"given\"); add Window(300); add Window(50); add FileWriter<int>(\"made\");
}
int->int filter Window(int n) {
    work pop 1 push 1 peek n { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + peek(i); pop(); push(s); }
}";

const ENGINES: [&[&str]; 5] = [
    &["--engine", "interpreter"],
    &["--threads", "1"],
    &["--threads", "2"],
    &["--threads", "2", "--mode", "pipeline"],
    &["-O", "0", "--threads", "1"],
];

fn start(folder: &Path, program: &str, arguments: &[&str]) -> Running {
    fs::write(folder.join("program.str"), program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["run", "program.str"]).args(arguments).env("XDG_CACHE_HOME", folder.join("cache"));
    command.current_dir(folder).stdin(Stdio::piped());
    crate::child::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

/// The standard output of a command, line by line.
fn lines(child: &mut Running) -> Receiver<String> {
    let (out, (sender, lines)) = (BufReader::new(child.stdout.take().unwrap()), channel());
    spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    lines
}

#[test]
fn results_are_written_before_the_program_blocks() {
    let folder = tempdir().unwrap();
    for (program, output) in [(SUMS, &["--out", "-"][..]), (PRINTS, &[])] {
        for engine in ENGINES {
            let arguments = [&["--text", "--in", "-"], output, engine].concat();
            let mut child = start(folder.path(), program, &arguments);
            let lines = lines(&mut child);
            let mut input = child.stdin.take().unwrap();
            for turn in 0..4 {
                // A blank ends the second number. The line has not ended.
                write!(input, "{turn} 1 ").unwrap();
                let line = lines.recv_timeout(Duration::from_secs(60));
                assert_eq!(line.ok(), Some((turn + 1).to_string()), "{arguments:?}");
            }
            drop(input);
            assert_eq!(child.output().status.code(), Some(0));
            assert!(lines.recv().is_err());
        }
    }
}

#[test]
fn a_signal_leaves_all_results_of_the_available_input() {
    let folder = tempdir().unwrap();
    for engine in ENGINES {
        let arguments = [&["--text", "--in", "-", "--out", "made"], engine].concat();
        let mut child = start(folder.path(), SUMS, &arguments);
        child.stdin.as_mut().unwrap().write_all(b"1 2 3 4 5 6 7 ").unwrap();
        // The program creates its output file after it was compiled, and soon reads the available input.
        let begun = Instant::now();
        let unfinished = |name: fs::DirEntry| name.file_name().to_string_lossy().starts_with(".thalweg");
        while !fs::read_dir(folder.path()).unwrap().flatten().any(unfinished) {
            assert!(begun.elapsed() < Duration::from_secs(60), "the output file is not created");
            sleep(Duration::from_millis(5));
        }
        sleep(Duration::from_millis(500));
        child.send(Signal::INT);
        let input = child.stdin.take();
        let output = child.output();
        drop(input);
        assert_eq!(output.status.signal(), Some(2), "{engine:?}");
        let part = folder.path().join("made.partial");
        assert_eq!(fs::read_to_string(&part).unwrap(), "3\n7\n11\n", "{engine:?}");
        fs::remove_file(part).unwrap();
    }
}

/// Input arrives in pieces of various lengths, which end within items, at various speeds.
#[test]
fn input_in_pieces_has_the_same_result_as_a_file() {
    let folder = tempdir().unwrap();
    let given: Vec<u8> =
        (0..100_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 3).to_le_bytes()).collect();
    fs::write(folder.path().join("given"), &given).unwrap();
    for program in [SUMS, WINDOWS] {
        let mut child = start(folder.path(), program, &["--threads", "1"]);
        assert!(child.wait().unwrap().success());
        let expected = fs::read(folder.path().join("made")).unwrap();
        for engine in &ENGINES[1..] {
            let arguments = [&["--in", "-", "--out", "-"], *engine].concat();
            let mut child = start(folder.path(), program, &arguments);
            let (mut input, given) = (child.stdin.take().unwrap(), given.clone());
            let writer = spawn(move || {
                let (mut rest, mut turn) = (&given[..], 0u64);
                while !rest.is_empty() {
                    turn += 1;
                    let length = [1, 3, 250, 4097, 65_539, 7, 30_001][turn as usize % 7].min(rest.len());
                    input.write_all(&rest[..length]).unwrap();
                    rest = &rest[length..];
                    sleep(Duration::from_micros([0, 0, 5000, 100, 1000][turn as usize % 5]));
                }
            });
            let mut made = Vec::new();
            child.stdout.take().unwrap().read_to_end(&mut made).unwrap();
            assert!(child.wait().unwrap().success());
            writer.join().unwrap();
            assert!(made == expected, "{arguments:?}: {} bytes, expected {}", made.len(), expected.len());
        }
    }
}
