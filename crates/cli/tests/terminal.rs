//! The progress bar and the output of StreamIt programs on a terminal.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::tempdir;

use crate::child::{Command, Running};

const COUNT: &str = "void->void pipeline Main { add Count(); add Show(); }
void->int filter Count() {
    int n;
    work push 1 { float s = 0; for (int i = 0; i < 20000000; i++) s += sin(s + i); if (s > 1e9) n++; push(n++); }
}
int->void filter Show() { work pop 1 { print(\"item \"); println(pop()); } }";

/// A pseudoterminal: the controlling side, and the side for the command.
pub fn terminal() -> (File, OwnedFd) {
    let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&own).unwrap();
    unlockpt(&own).unwrap();
    let name = ptsname(&own, Vec::new()).unwrap().into_string().unwrap();
    (own.into(), File::options().read(true).write(true).open(name).unwrap().into())
}

/// All that a command and its processes write to a terminal. The command ends without an error.
pub fn all_written(mut own: File, mut command: Running) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Reading fails when all processes have closed the other side.
    _ = own.read_to_end(&mut bytes);
    assert!(command.wait().unwrap().success());
    bytes
}

/// Runs a command with a pseudo-terminal for standard output and standard error. Returns what it writes.
fn on_terminal(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
    let (mut own, other) = terminal();
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).env("XDG_CACHE_HOME", folder.join("cache")).env_remove("NO_COLOR");
    command
        .env("TERM", "xterm")
        .env("CI", "true")
        .envs(variables.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null());
    let mut child = command.stdout(other.try_clone().unwrap()).stderr(other).spawn().unwrap();
    drop(command); // which has the other side too
    let mut bytes = Vec::new();
    _ = own.read_to_end(&mut bytes);
    (child.wait().unwrap().code().unwrap(), String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("program.str"), COUNT).unwrap();
    for more in [&[][..], &["--watch"]] {
        let run = [&["run", "program.str", "-i", "3", "--threads", "1"], more].concat();
        let (code, text) = on_terminal(folder.path(), &run, &[("TERM", "dumb")]);
        assert_eq!(code, 0, "{text}");
        assert!(!text.contains(['\u{1b}', '\r']) && text.contains("item 2\n"), "{text:?}");
    }
    for arguments in [&["--help"][..], &["run", "--help"], &["run", "--none"]] {
        let (_, text) = on_terminal(folder.path(), arguments, &[("TERM", "dumb")]);
        assert!(!text.contains('\u{1b}') && text.contains("Usage"), "{text:?}");
    }
}

#[test]
fn colours_can_be_switched_off() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("program.str"), "void->void pipeline Main { add Nothing(); }").unwrap();
    for arguments in [&["check", "program.str"][..], &["run", "--none"]] {
        for (variables, coloured) in [
            (&[][..], true),
            (&[("NO_COLOR", "")], true),
            (&[("NO_COLOR", "1")], false),
            (&[("TERM", "dumb")], false),
        ] {
            let (code, text) = on_terminal(folder.path(), arguments, variables);
            assert!(code != 0 && text.contains("\u{1b}[") == coloured, "{variables:?}: {text:?}");
        }
    }
}

#[test]
fn data_go_to_a_terminal_on_request_alone() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("file"), b"some text").unwrap();
    let run = |arguments: &[&str]| on_terminal(folder.path(), &[&["dedup"], arguments].concat(), &[]);
    assert_eq!(run(&["pack", "file", "-o", "a.thd"]).0, 0);
    for (verb, written) in
        [(&["pack", "file", "-o", "-"], "THD"), (&["unpack", "a.thd", "-o", "-"], "some text")]
    {
        let (code, text) = run(verb);
        assert!(
            code == 1 && text.contains("binary data to a terminal") && !text.contains(written),
            "{text:?}"
        );
        let (code, text) = run(&[&verb[..], &["--force"]].concat());
        assert!(code == 0 && text.contains(written), "{text:?}");
    }
}

/// The final content of the lines of a terminal: the text after the last carriage return or escape.
fn shown(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let last = |line: &str| line.rsplit(['\r', '\u{1b}']).next().unwrap_or_default().to_owned();
    // `[2K` is the rest of the escape sequence that deletes the line.
    text.lines().map(|line| last(line).trim_start_matches("[2K").to_owned()).collect()
}

#[test]
fn output_does_not_mix_with_the_progress_bar() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("program.str"), COUNT).unwrap();
    for engine in [&["--threads", "1"], &["--threads", "2"]] {
        let (own, other) = terminal();
        let child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
            .args(["run", "program.str", "-i", "3"])
            .args(engine)
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .env("TERM", "xterm")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(other.try_clone().unwrap())
            .stderr(other)
            .spawn()
            .unwrap();
        let bytes = all_written(own, child);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.contains("iterations"), "no progress bar: {text:?}");
        assert_eq!(shown(&bytes), ["item 0", "item 1", "item 2"], "{text:?}");
    }
}
