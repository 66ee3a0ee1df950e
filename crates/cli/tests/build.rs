//! The command `thalweg build`.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::{TempDir, tempdir};

use crate::child::Command;

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

/// Runs an executable without a compiler in the path and without its sources.
fn alone(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "").args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().expect("starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A folder with the file `program.str`.
fn folder_with(text: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("program.str"), text).unwrap();
    folder
}

/// Builds a program. Returns the folder of the executable, which has no other file.
fn built(text: &str, more: &[&str]) -> (TempDir, Output) {
    let (from, to) = (folder_with(text), tempdir().unwrap());
    let program = to.path().join("program");
    let name = program.to_str().unwrap();
    let output = thalweg(from.path(), &[&["build", "program.str", "-o", name], more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    (to, output)
}

#[test]
fn executables_run_without_compiler_and_sources() {
    for level in ["0", "1", "2"] {
        let (folder, _) = built(COUNT, &["-O", level]);
        let empty = tempdir().unwrap();
        let output = alone(&folder.path().join("program"), empty.path(), &["--iterations", "5"]);
        assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("0\n1\n4\n9\n16\n", ""));
        assert!(output.status.success());
        assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "a file is left");
    }
}

#[test]
fn executables_take_in_and_out() {
    let (folder, _) = built(SCALE, &[]);
    let items: Vec<u8> = (0..1000).flat_map(|n| (n as f32).to_le_bytes()).collect();
    let doubled: Vec<u8> = (0..1000).flat_map(|n| (n as f32 * 2.5).to_le_bytes()).collect();
    let here = tempdir().unwrap();
    fs::write(here.path().join("given"), &items).unwrap();
    let output = alone(&folder.path().join("program"), here.path(), &["--in", "given", "--out", "made"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(fs::read(here.path().join("made")).unwrap() == doubled);
    let output = alone(&folder.path().join("program"), here.path(), &[]);
    assert!(!output.status.success() && stderr(&output).contains("`in`"), "{}", stderr(&output));
}

#[test]
fn errors_show_the_source() {
    let (folder, _) = built(STUCK, &[]);
    let output = alone(&folder.path().join("program"), folder.path(), &[]);
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("1\n1\n1\n", Some(1)));
    assert!(
        stderr(&output).contains("a[pop()] = 1") && stderr(&output).contains("program.str"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn without_a_compiler_executables_use_the_interpreter() {
    let (from, to) = (folder_with(COUNT), tempdir().unwrap());
    let program = to.path().join("program");
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["build", "program.str", "-o"]).arg(&program).env_clear().env("PATH", "");
    let output = command.current_dir(from.path()).output().unwrap();
    assert!(output.status.success() && stderr(&output).contains("the interpreter"), "{}", stderr(&output));
    let output = alone(&program, to.path(), &["--iterations", "3"]);
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), ("0\n1\n4\n", ""));
    let output = alone(&program, to.path(), &["--iterations", "3", "--engine", "native"]);
    assert!(!output.status.success() && stderr(&output).contains("no native code"), "{}", stderr(&output));
}

#[test]
fn help_names_the_program_and_its_options() {
    let (folder, _) = built(COUNT, &[]);
    let program = folder.path().join("program");
    let help = stdout(&alone(&program, folder.path(), &["--help"]));
    for word in ["StreamIt program `Count` from program.str", "native code", "--iterations", "--in", "--out"]
    {
        assert!(help.contains(word), "{word} in\n{help}");
    }
    assert!(!help.contains("--optimise") && !help.contains("[FILE]"), "{help}");
    for arguments in [&["other.str"][..], &["-O", "1"], &["run"], &["--nonsense"]] {
        let output = alone(&program, folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn only_executables_of_build_are_replaced_without_force() {
    let folder = folder_with(COUNT);
    let at = |name: &str| folder.path().join(name);
    fs::write(at("precious"), "data").unwrap();
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "precious"]);
    assert!(!output.status.success() && stderr(&output).contains("--force"), "{}", stderr(&output));
    assert_eq!(fs::read(at("precious")).unwrap(), b"data");
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "precious", "--force"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(fs::metadata(at("precious")).unwrap().permissions().mode() & 0o100 != 0);
    fs::write(at("program.str"), COUNT.replace("n * n", "n + 7")).unwrap();
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "precious"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&alone(&at("precious"), folder.path(), &["-i", "2"])), "7\n8\n");
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "."]);
    assert!(!output.status.success() && stderr(&output).contains("folder"), "{}", stderr(&output));
}

#[test]
fn a_program_with_errors_writes_nothing() {
    let folder = folder_with("void->void pipeline Main { add Unknown(); }");
    let output = thalweg(folder.path(), &["build", "program.str", "-o", "made"]);
    assert!(!output.status.success() && stderr(&output).contains("Unknown"), "{}", stderr(&output));
    let output = thalweg(folder.path(), &["build", "nowhere.str", "-o", "made"]);
    assert!(!output.status.success() && stderr(&output).contains("nowhere.str"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_damaged_executable_is_refused() {
    let (folder, _) = built(COUNT, &[]);
    let program = folder.path().join("program");
    let mut bytes = fs::read(&program).unwrap();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    fs::write(&program, bytes).unwrap();
    let output = alone(&program, folder.path(), &[]);
    assert!(!output.status.success() && stderr(&output).contains("damaged"), "{}", stderr(&output));
}

/// Also without debug information, unless the command itself has it.
#[test]
fn executables_do_not_tell_where_they_were_compiled() {
    let (to, _) = built(COUNT, &["-O", "0"]);
    let bytes = fs::read(to.path().join("program")).unwrap();
    let registry = option_env!("CARGO_HOME").map(|home| format!("{home}/registry"));
    // Debug information has the folder of the sources.
    let sources = (!cfg!(debug_assertions)).then(|| env!("CARGO_MANIFEST_DIR").to_owned());
    for folder in [sources, registry].into_iter().flatten() {
        assert!(memchr::memmem::find(&bytes, folder.as_bytes()).is_none(), "the executable has {folder}");
    }
    assert!(cfg!(debug_assertions) || bytes.len() < 24 << 20, "{} bytes", bytes.len());
    assert_eq!(stdout(&alone(&to.path().join("program"), to.path(), &["-i", "2"])), "0\n1\n");
}

#[test]
fn a_compiler_that_fails_is_reported_with_its_messages() {
    let folder = folder_with(COUNT);
    let script = folder.path().join("cc");
    fs::write(
        &script,
        "#!/bin/sh\ncase $1 in --version) echo 1 ;; *) echo 'no licence' >&2; exit 3 ;; esac\n",
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    for (compiler, why) in [
        ("/bin/false", "the C compiler `/bin/false` has failed: exit status: 1, without a message"),
        (script, "has failed: exit status: 3\nno licence"),
    ] {
        let with = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
            command.env("XDG_CACHE_HOME", folder.path().join("cache")).env("CC", compiler);
            command.args(arguments).current_dir(folder.path()).stdin(Stdio::null()).output().unwrap()
        };
        let output = with(&["run", "program.str", "-i", "2"]);
        assert!(output.status.success() && stdout(&output) == "0\n1\n", "{output:?}");
        let note = stderr(&output);
        assert!(
            note.starts_with("note: cannot use native code: the C compiler") && note.contains(why),
            "{note}"
        );
        let output = with(&["build", "program.str", "-o", "program"]);
        assert!(output.status.success() && stderr(&output).contains(why), "{output:?}");
        let output = with(&["run", "program.str", "-i", "2", "--engine", "native"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).starts_with("error: ") && stderr(&output).contains(why), "{output:?}");
    }
}
