//! `thalweg build` as a person uses it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::{TempDir, tempdir};

const COUNT: &str = "void->void pipeline Count { add Numbers(); add Show(); }
void->int filter Numbers() { int n; work push 1 { push(n * n); n++; } }
int->void filter Show() { work pop 1 { println(pop()); } }";

const SCALE: &str = "void->void pipeline Scale {
    add FileReader<float>(\"in\"); add float->float filter { work pop 1 push 1 { push(pop() * 2.5); } };
    add FileWriter<float>(\"out\");
}";

const STUCK: &str = "void->void pipeline Stuck { add Numbers(); add Show(); }
void->int filter Numbers() { int n; work push 1 { push(n); n++; } }
int->void filter Show() { int[3] a; work pop 1 { a[pop()] = 1; println(a[0]); } }";

fn thalweg(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("starts")
}

/// Runs an executable where there is nothing else: no compiler, no sources.
fn alone(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "").args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().expect("starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A folder with a program in it.
fn folder_with(text: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("program.str"), text).unwrap();
    folder
}

/// Builds a program; the executable is alone in a folder of its own.
fn built(text: &str, more: &[&str]) -> (TempDir, Output) {
    let (from, to) = (folder_with(text), tempdir().unwrap());
    let program = to.path().join("program");
    let name = program.to_str().unwrap();
    let output = thalweg(from.path(), &[&["build", "program.str", "-o", name], more].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(printed(&output), "");
    (to, output)
}

#[test]
fn it_does_what_run_does_without_compiler_and_sources() {
    for level in ["0", "1", "2"] {
        let (folder, _) = built(COUNT, &["-O", level]);
        let empty = tempdir().unwrap();
        let output = alone(&folder.path().join("program"), empty.path(), &["--iterations", "5"]);
        assert_eq!((printed(&output).as_str(), said(&output).as_str()), ("0\n1\n4\n9\n16\n", ""));
        assert!(output.status.success());
        assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "it leaves something behind");
    }
}

#[test]
fn it_reads_and_writes_what_it_is_told() {
    let (folder, _) = built(SCALE, &[]);
    let items: Vec<u8> = (0..1000).flat_map(|n| (n as f32).to_le_bytes()).collect();
    let doubled: Vec<u8> = (0..1000).flat_map(|n| (n as f32 * 2.5).to_le_bytes()).collect();
    let here = tempdir().unwrap();
    fs::write(here.path().join("given"), &items).unwrap();
    let output = alone(&folder.path().join("program"), here.path(), &["--in", "given", "--out", "made"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(fs::read(here.path().join("made")).unwrap() == doubled);
    let output = alone(&folder.path().join("program"), here.path(), &[]);
    assert!(!output.status.success() && said(&output).contains("`in`"), "{}", said(&output));
}

#[test]
fn its_errors_show_the_source() {
    let (folder, _) = built(STUCK, &[]);
    let output = alone(&folder.path().join("program"), folder.path(), &[]);
    assert_eq!((printed(&output).as_str(), output.status.code()), ("1\n1\n1\n", Some(1)));
    assert!(
        said(&output).contains("a[pop()] = 1") && said(&output).contains("program.str"),
        "{}",
        said(&output)
    );
}

#[test]
fn without_a_compiler_it_carries_the_interpreter() {
    let (from, to) = (folder_with(COUNT), tempdir().unwrap());
    let program = to.path().join("program");
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["build", "program.str", "-o"]).arg(&program).env_clear().env("PATH", "");
    let output = command.current_dir(from.path()).output().unwrap();
    assert!(output.status.success() && said(&output).contains("the interpreter"), "{}", said(&output));
    let output = alone(&program, to.path(), &["--iterations", "3"]);
    assert_eq!((printed(&output).as_str(), said(&output).as_str()), ("0\n1\n4\n", ""));
    let output = alone(&program, to.path(), &["--iterations", "3", "--engine", "native"]);
    assert!(!output.status.success() && said(&output).contains("no native code"), "{}", said(&output));
}

#[test]
fn it_says_what_it_is_and_what_it_takes() {
    let (folder, _) = built(COUNT, &[]);
    let program = folder.path().join("program");
    let help = printed(&alone(&program, folder.path(), &["--help"]));
    for word in ["StreamIt program `Count` of program.str", "native code", "--iterations", "--in", "--out"] {
        assert!(help.contains(word), "{word} in\n{help}");
    }
    assert!(!help.contains("--optimise") && !help.contains("[FILE]"), "{help}");
    for arguments in [&["other.str"][..], &["-O", "1"], &["run"], &["--nonsense"]] {
        let output = alone(&program, folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(printed(&output), "");
    }
}

#[test]
fn only_its_own_are_replaced() {
    let folder = folder_with(COUNT);
    let at = |name: &str| folder.path().join(name);
    fs::write(at("precious"), "data").unwrap();
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "precious"]);
    assert!(!output.status.success() && said(&output).contains("--force"), "{}", said(&output));
    assert_eq!(fs::read(at("precious")).unwrap(), b"data");
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "precious", "--force"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(fs::metadata(at("precious")).unwrap().permissions().mode() & 0o100 != 0);
    fs::write(at("program.str"), COUNT.replace("n * n", "n + 7")).unwrap();
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "precious"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(printed(&alone(&at("precious"), folder.path(), &["-i", "2"])), "7\n8\n");
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "."]);
    assert!(!output.status.success() && said(&output).contains("folder"), "{}", said(&output));
}

#[test]
fn what_is_wrong_writes_nothing() {
    let folder = folder_with("void->void pipeline Main { add Nobody(); }");
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "made"]);
    assert!(!output.status.success() && said(&output).contains("Nobody"), "{}", said(&output));
    let output = thalweg(folder.path(), &["build", "nowhere.str", "-o", "made"]);
    assert!(!output.status.success() && said(&output).contains("nowhere.str"), "{}", said(&output));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_damaged_one_says_so() {
    let (folder, _) = built(COUNT, &[]);
    let program = folder.path().join("program");
    let mut bytes = fs::read(&program).unwrap();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    fs::write(&program, bytes).unwrap();
    let output = alone(&program, folder.path(), &[]);
    assert!(!output.status.success() && said(&output).contains("damaged"), "{}", said(&output));
}
