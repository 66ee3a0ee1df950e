//! SIGKILL at a random moment. The output is whole or not there, and what is left goes with the next run.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg-cli --release --test all kills
//! ```
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::tempdir;

/// The default of `THALWEG_CASES`.
const CASES: u64 = 300;

fn thalweg(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

fn cases() -> u64 {
    std::env::var("THALWEG_CASES").map_or(CASES, |text| text.parse().expect("a number"))
}

/// All files below `root` with their contents.
fn contents(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found
                    .push((path.strip_prefix(root).unwrap().display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn killed_runs_leave_whole_outputs_or_none() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let tree = at("tree");
    for number in 0..20u32 {
        fs::create_dir_all(tree.join(number.to_string())).unwrap();
        let bytes: Vec<u8> =
            (0..40_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> (number % 24)) as u8).collect();
        fs::write(tree.join(number.to_string()).join("file"), bytes).unwrap();
    }
    let started = Instant::now();
    assert!(thalweg(folder.path(), &["dedup", "pack", "tree", "-o", "good.thd"]).status().unwrap().success());
    // Kills come at any time of a run, and some after it.
    let span = started.elapsed().as_micros() as u64 * 5 / 4;
    let (archive, files) = (fs::read(at("good.thd")).unwrap(), contents(&tree));
    let mut state = 1u64;
    for case in 0..cases() {
        let (arguments, output) = match case % 3 {
            0 => (&["dedup", "pack", "tree", "-fo", "out.thd"][..], "out.thd"),
            1 => (&["dedup", "unpack", "good.thd", "-o", "copy", "--no-sync"][..], "copy"),
            _ => (&["dedup", "pack", "tree", "-o", "new.thd", "--no-sync"][..], "new.thd"),
        };
        let mut child = thalweg(folder.path(), arguments).spawn().unwrap();
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sleep(Duration::from_micros((state >> 33) % span));
        child.kill().unwrap();
        child.wait().unwrap();
        let output = at(output);
        if output.is_dir() {
            assert!(contents(&output) == files, "case {case}");
            fs::remove_dir_all(&output).unwrap();
        } else if output.exists() {
            assert!(fs::read(&output).unwrap() == archive, "case {case}");
            if case % 3 == 2 {
                fs::remove_file(&output).unwrap();
            }
        }
    }
    assert!(thalweg(folder.path(), &["dedup", "pack", "tree", "-fo", "out.thd"]).status().unwrap().success());
    let names =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["good.thd", "out.thd", "tree"]);
    assert!(fs::read(at("out.thd")).unwrap() == archive);
}
