//! The examples of `docs/streamit.md`: programs are written to files, and commands print the text below them.
#![cfg(unix)]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use tempfile::tempdir;

use crate::child::Command;

const MANUAL: &str = include_str!("../../../docs/streamit.md");

/// The code blocks of a text: the info string of their fence, and their lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut blocks, mut open) = (Vec::new(), None::<(&str, Vec<&str>)>);
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(kind), None) => open = Some((kind, Vec::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "unclosed code block");
    blocks
}

/// The standard output of a shell command in the folder of the programs.
fn stdout_of(command: &str, folder: &Path) -> String {
    let thalweg = Path::new(env!("CARGO_BIN_EXE_thalweg")).parent().unwrap();
    let mut path = OsString::from(thalweg);
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn examples_print_the_documented_output() {
    let folder = tempdir().unwrap();
    let (mut programs, mut commands) = (0, 0);
    for (kind, lines) in blocks(MANUAL) {
        if let Some(name) = kind.strip_prefix("streamit ") {
            fs::write(folder.path().join(name), lines.join("\n") + "\n").unwrap();
            programs += 1;
        }
        if kind != "console" {
            continue;
        }
        for part in lines.join("\n").split("$ ").skip(1) {
            let (command, expected) = part.split_once('\n').unwrap_or((part, ""));
            let found = stdout_of(command, folder.path());
            assert_eq!(found.trim_end(), expected.trim_end(), "$ {command}");
            commands += 1;
        }
    }
    assert!(programs > 8 && commands > 15, "{programs} programs and {commands} commands");
}
