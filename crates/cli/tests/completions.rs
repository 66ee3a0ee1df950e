//! Completions for shells.
#![cfg(unix)]

use std::fs;
use std::process::{Output, Stdio};

use tempfile::tempdir;

use crate::child::Command;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).stdin(Stdio::null()).output().expect("starts")
}

#[test]
fn each_shell_has_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run(&["completions", shell]);
        let text = String::from_utf8(output.stdout).unwrap();
        for word in ["wordcount", "unpack", "save-report", "interpreter"] {
            assert!(output.status.success() && text.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(run(&["completions", "tcsh"]).status.code(), Some(2));
}

/// Bash runs its script, where bash is installed.
#[test]
fn bash_completes_verbs_options_and_values() {
    let script = run(&["completions", "bash"]).stdout;
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("script"), script).unwrap();
    for (words, expected) in [
        ("thalweg demo wordc", "wordcount"),
        ("thalweg dedup unp", "unpack"),
        ("thalweg run --save-r", "--save-report"),
        ("thalweg run --engine inter", "interpreter"),
    ] {
        let complete = format!(
            "source ./script; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _thalweg thalweg \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        let mut bash = Command::new("bash");
        let Ok(output) = bash.args(["-c", &complete]).current_dir(folder.path()).output() else { return };
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{words}: {output:?}");
    }
}
