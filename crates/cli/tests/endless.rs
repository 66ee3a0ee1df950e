//! A signal stops StreamIt programs that do not end by themselves, even within a firing.
#![cfg(unix)]

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::tempdir;

use crate::child::{Command, Running, start};

const HANG: &str = "void->void pipeline Hang { add Count(); add Show(); }
void->int filter Count() { int n; work push 1 { push(n++); } }
int->void filter Show() { work pop 1 { int n = pop(); println(n); while (n == 3) { } } }";

const COUNT: &str = "void->void pipeline Sum { add Count(); add FileWriter<int>(\"out\"); }
void->int filter Count() { int n; work push 1 { push(n++); } }";

const COPY: &str = "void->void pipeline Copy { add FileReader<int>(\"in\"); add FileWriter<int>(\"out\"); }";

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

/// Waits until a run has begun to write a file.
fn wait_for_unfinished(folder: &Path) {
    let started = Instant::now();
    let unfinished = |file: fs::DirEntry| file.file_name().to_string_lossy().starts_with(".thalweg-");
    while !fs::read_dir(folder).unwrap().flatten().any(unfinished) {
        assert!(started.elapsed() < Duration::from_secs(60), "no file is created");
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(300));
}

/// A part of an output never has the name of the whole, and is as private as that.
#[test]
fn a_part_of_an_output_has_a_name_that_says_so() {
    use std::os::unix::fs::PermissionsExt;
    for engine in ["native", "interpreter"].into_iter().filter(|_| has_compiler()) {
        for (name, part) in [("out", "out.partial"), ("sound.wav", "sound.partial.wav")] {
            let folder = tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::write(at("program.str"), COUNT).unwrap();
            fs::write(at(name), "before").unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o600)).unwrap();
            let child = run(folder.path(), &["--engine", engine, "-o", name]);
            wait_for_unfinished(folder.path());
            let output = interrupt(child);
            assert_eq!(output.status.signal(), Some(2), "{output:?}");
            assert_eq!(fs::read(at(name)).unwrap(), b"before");
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(message, format!("interrupted: `{part}` has the output so far\n"));
            assert_eq!(fs::metadata(at(part)).unwrap().permissions().mode() & 0o777, 0o600);
            if name == "sound.wav" {
                let samples = hound::WavReader::open(at(part)).unwrap().into_samples::<i32>();
                let samples: Vec<_> = samples.map(Result::unwrap).collect();
                let whole = (0..).map(|n: i32| n.min(i32::from(i16::MAX)));
                assert!(!samples.is_empty() && samples.iter().copied().eq(whole.take(samples.len())));
            } else {
                let written = fs::read(at(part)).unwrap();
                let numbers =
                    written.chunks_exact(4).map(|item| i32::from_le_bytes(item.try_into().unwrap()));
                assert!(!written.is_empty() && numbers.eq(0..written.len() as i32 / 4));
            }
            let files = fs::read_dir(folder.path()).unwrap().flatten().filter(|file| file.path().is_file());
            assert_eq!(files.count(), 3, "the program, and what is named above");
        }
    }
}

/// An input is not lost to the part of an output either.
#[test]
fn a_part_does_not_replace_the_input() {
    const READS: &str =
        r#"void->void pipeline Main { add FileReader<int>("out.partial"); add FileWriter<int>("out"); }"#;
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("out"), [1; 8]).unwrap();
    fs::write(folder.path().join("out.partial"), [0; 8]).unwrap();
    std::os::unix::fs::symlink("out", folder.path().join("link")).unwrap();
    let cases: [(&str, &[&str]); 3] = [
        (COPY, &["--input", "out.partial", "-o", "out"]),
        (COPY, &["--input", "out.partial", "-o", "link"]),
        (READS, &[]),
    ];
    for (program, arguments) in cases {
        fs::write(folder.path().join("program.str"), program).unwrap();
        let output = run(folder.path(), arguments).output();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains("refusing to overwrite") && message.contains("out.partial"), "{message}");
    }
}

/// The reader of a pipe takes no more, so a write would last as long as the reader.
#[test]
fn a_write_to_a_pipe_that_is_full_is_stopped() {
    const SHOW: &str = "void->void pipeline Main { add Count(); add Show(); }
void->int filter Count() { int n; work push 1 { push(n++); } }
int->void filter Show() { work pop 1 { println(pop()); } }";
    for (program, arguments) in [(SHOW, &[][..]), (COUNT, &["-o", "-"]), (COUNT, &["-o", "pipe"])] {
        for engine in [&["--engine", "interpreter"][..], &["--threads", "1"], &["--threads", "2"]] {
            let folder = tempdir().unwrap();
            fs::write(folder.path().join("program.str"), program).unwrap();
            let pipe = folder.path().join("pipe");
            assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            let mut child = run(folder.path(), &[arguments, engine].concat());
            // Nothing reads the pipe further.
            let mut begun = [0; 1000];
            let _reader: Box<dyn Read> = if arguments.contains(&"pipe") {
                let mut reader = fs::File::open(pipe).unwrap();
                reader.read_exact(&mut begun).unwrap();
                Box::new(reader)
            } else {
                let mut reader = child.stdout.take().unwrap();
                reader.read_exact(&mut begun).unwrap();
                Box::new(reader)
            };
            sleep(Duration::from_millis(300));
            let output = interrupt(child);
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.signal(), Some(2), "{arguments:?}, {engine:?}: {message}");
            assert_eq!(message, "interrupted\n", "{arguments:?}, {engine:?}");
        }
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
    fs::write(folder.path().join("program.str"), COPY).unwrap();
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
