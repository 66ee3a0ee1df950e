//! The command `thalweg demo life`.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::tempdir;

use crate::child::Command;

const GLIDER: &str = "#N Glider\nx = 3, y = 3\nbo$2bo$3o!\n";

fn life(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["demo", "life"]).args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    life(folder, arguments).output().expect("starts")
}

/// The lines of the summary but the last, which has the time.
fn facts(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    // More threads than cores are announced.
    let is_silent = said.lines().all(|line| line.starts_with("note: --threads "));
    assert!(output.status.success() && is_silent, "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(lines.pop().unwrap().starts_with("time "), "{text}");
    lines
}

#[test]
fn the_r_pentomino_settles_as_known() {
    let folder = tempdir().unwrap();
    for more in [&[][..], &["--threads", "1"], &["--threads", "3"]] {
        let facts = facts(&run(folder.path(), &[&["r-pentomino", "-g", "1500"], more].concat()));
        assert_eq!(facts[..2], ["generation  1500", "population  116"]);
        assert_eq!(
            facts[3],
            "settled     at generation 1103: repeats every 4 generations, but for 6 ships that leave"
        );
    }
    let stopped = facts(&run(folder.path(), &["r-pentomino", "-g", "100000", "--until-settled"]));
    assert_eq!(stopped[1], "population  116");
    assert_ne!(stopped[0], "generation  100000");
}

#[test]
fn files_and_pipes_are_read_and_the_result_can_be_read_again() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("glider.rle"), GLIDER).unwrap();
    facts(&run(folder.path(), &["glider.rle", "-g", "40", "-o", "out.rle"]));
    let expected = "#CXRLE Pos=10,10 Gen=40\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n";
    assert_eq!(fs::read_to_string(folder.path().join("out.rle")).unwrap(), expected);
    // It goes on where it was.
    let later = facts(&run(folder.path(), &["out.rle", "-g", "4"]));
    assert_eq!((&*later[0], &*later[2]), ("generation  44", "extent      3 x 3 cells from (11, 11)"));
    let mut child = life(folder.path(), &["-", "--torus", "--size", "10x10", "-g", "240", "-o", "-"]);
    let mut child =
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(GLIDER.as_bytes()).unwrap();
    let output = child.output();
    assert!(output.status.success());
    // Every 40 generations the glider is back in the middle of a torus of 10 cells.
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text, expected.replace("10,10 Gen=40", "3,3 Gen=240"));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("settled     at generation 0: repeats every 40")
    );
}

#[test]
fn patterns_of_other_programs_are_read() {
    let folder = tempdir().unwrap();
    let written = |text: &str, more: &[&str]| {
        fs::write(folder.path().join("given.rle"), text).unwrap();
        let output = run(folder.path(), &[&["given.rle", "-o", "-"], more].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let placed = "#CXRLE Pos=12,-7 Gen=20\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n";
    assert_eq!(written(placed, &["-g", "0"]), placed);
    assert!(written(placed, &["-g", "4"]).starts_with("#CXRLE Pos=13,-6 Gen=24\n"));
    let ruled = "#r 23/36\nx = 4, y = 4\nob2o$2o2b$o2bo$b3o!\n";
    assert!(written(ruled, &["-g", "12"]).contains("rule = B36/S23\n"));
    let old = "#C old line ends\rx = 3, y = 3, rule = B3/S23\rbo$2bo$3o!\r";
    assert!(written(old, &["-g", "0"]).ends_with("\nbo$2bo$3o!\n"));
    // The option replaces rules that this command does not know.
    for rule in ["B3/S23:T10,10", "Life"] {
        let text = format!("x = 3, y = 3, rule = {rule}\nbo$2bo$3o!\n");
        fs::write(folder.path().join("given.rle"), &text).unwrap();
        assert!(!run(folder.path(), &["given.rle", "-g", "0"]).status.success());
        let torus = written(&text, &["--rule", "B3/S23", "--torus", "--size", "10x10", "-g", "40"]);
        assert_eq!(torus, "#CXRLE Pos=3,3 Gen=40\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n");
    }
}

#[test]
fn a_pattern_beyond_the_memory_is_refused_at_once() {
    let folder = tempdir().unwrap();
    // 8 living cells, 300,000 cells apart.
    let text = "x = 300002, y = 300002, rule = B3/S23\n2o$2o299999$300000b2o$300000b2o!\n";
    fs::write(folder.path().join("blocks.rle"), text).unwrap();
    let begun = Instant::now();
    let output = run(folder.path(), &["blocks.rle", "-g", "10"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("a world of 300130 x 300130 cells takes 21.0 GiB"), "{message}");
    assert!(message.contains("help: choose a pattern or a --size with a smaller rectangle"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let help = run(folder.path(), &["--help"]);
    let help = String::from_utf8_lossy(&help.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("the smallest rectangle around all that live"), "{help}");
}

#[test]
fn random_cells_and_rules_are_those_of_the_seed() {
    let folder = tempdir().unwrap();
    let soup = |more: &[&str]| {
        let common = ["--random", "5", "--size", "300x200", "-g", "30", "-o", "-"];
        let output = run(folder.path(), &[&common[..], more].concat());
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let torus = soup(&["--torus"]);
    assert_eq!(torus, soup(&["--torus", "--threads", "1"]));
    let highlife = soup(&["--torus", "--rule", "b36/s23"]);
    assert!(highlife.contains("rule = B36/S23") && highlife != torus);
    assert_ne!(soup(&[]), torus);
}

#[test]
fn mistakes_end_with_help() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("bad.rle"), "x = 3, y = 3\nbo$\n2bq$3o!").unwrap();
    fs::write(folder.path().join("out.rle"), "mine").unwrap();
    for (arguments, why) in [
        (&["nothing"][..], "neither a file nor a built-in pattern"),
        (&["bad.rle"], "reading bad.rle: line 3, column 3: unexpected `q`"),
        (&["."], "is a folder"),
        (&["glider", "--torus", "--size", "2x2"], "help: choose a larger --size"),
        (&["glider", "--size", "10x10"], "--torus"),
        (&["glider", "--frames", "out.rle"], "out.rle is no folder, and --frames needs one\nhelp: "),
        (&["glider", "--size", "2"], "expected columns and rows like 200x100"),
        (&["glider", "--rule", "3S"], "rule `3S` is not of the form"),
        (&["glider", "--rule", "B0/S"], "help: use --torus"),
        (&["--random", "1", "--size", "90000x90000", "--memory", "1G"], "raise --memory"),
        (&["gosper-gun", "-g", "100000", "--memory", "64K", "-o", "new.rle"], "at generation"),
        (&["glider", "--threads", "0"], "thread"),
        (&["glider", "-o", "out.rle"], "out.rle"),
        (&["glider", "--animate"], "--animate needs a terminal"),
        (&["glider", "--random", "3"], "cannot be used with"),
        (&[], "PATTERN"),
    ] {
        let output = run(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(message.contains(why) && !message.contains("panicked"), "{arguments:?}: {message}");
    }
    assert_eq!(fs::read(folder.path().join("out.rle")).unwrap(), b"mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no file is left");
    facts(&run(folder.path(), &["glider", "-fo", "out.rle"]));
    assert_ne!(fs::read(folder.path().join("out.rle")).unwrap(), b"mine");
}

#[test]
fn pictures_of_every_kth_generation_are_written() {
    let folder = tempdir().unwrap();
    let arguments =
        ["glider", "-g", "25", "--frames", "made", "--every", "10", "--view", "9x9", "--pixels", "3"];
    facts(&run(folder.path(), &arguments));
    let files = fs::read_dir(folder.path().join("made")).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["generation-000000.png", "generation-000010.png", "generation-000020.png"]);
    let png = fs::read(folder.path().join("made/generation-000010.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(png[16..24], [0, 0, 0, 27, 0, 0, 0, 27]);
    // Existing pictures are kept unless `-f` is given.
    assert!(!run(folder.path(), &arguments).status.success());
    facts(&run(folder.path(), &[&arguments[..], &["-f"]].concat()));
}

#[test]
fn a_signal_writes_the_generations_so_far() {
    let folder = tempdir().unwrap();
    let arguments = ["--random", "1", "--size", "500x500", "--torus", "-g", "1000000000", "-o", "out.rle"];
    let mut child = life(folder.path(), &arguments);
    let child = crate::child::start(child.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let begun = Instant::now();
    // The hidden file exists when the first generation is about to be computed.
    while fs::read_dir(folder.path()).unwrap().count() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "the command creates no file");
        sleep(Duration::from_millis(5));
    }
    child.send(Signal::INT);
    let output = child.output();
    assert_eq!(output.status.signal(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted: the generations so far"));
    let text = fs::read_to_string(folder.path().join("out.rle")).unwrap();
    let generation = text.lines().next().unwrap().rsplit_once('=').unwrap().1;
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(summary.starts_with(&format!("generation  {generation}\n")), "{summary}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_animation_shows_each_generation() {
    let folder = tempdir().unwrap();
    let (own, other) = crate::terminal::terminal();
    let child = life(folder.path(), &["glider", "-g", "4", "--animate", "--fps", "200"])
        .env("TERM", "xterm")
        .stdout(other.try_clone().unwrap())
        .stderr(other)
        .spawn()
        .unwrap();
    let bytes = crate::terminal::all_written(own, child);
    let text = String::from_utf8_lossy(&bytes);
    for generation in 0..=4 {
        assert!(text.contains(&format!("generation {generation}, 5 cells")), "{text:?}");
    }
    assert!(text.contains(" ▀▄") && text.contains("▀▀▀"), "{text:?}");
}

#[test]
fn a_picture_beyond_the_memory_is_refused() {
    let folder = tempdir().unwrap();
    for view in ["1000000000x1000000000", "300000x300000"] {
        let output = run(folder.path(), &["glider", "-g", "1", "--frames", "made", "--view", view]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("bytes of memory, more than") && message.contains("help: "), "{message}");
        assert!(!folder.path().join("made").exists());
    }
}
