//! The same mistake has the same exit code in every verb, and names from outside are shown escaped in every message.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::{TempDir, tempdir};

use crate::child::Command;
use crate::forged::Forged;

const PROGRAM: &str = "void->void pipeline Main {
    add void->int filter { work push 1 { push(7); } }; add int->void filter { work pop 1 { println(pop()); } };
}";

fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("star", "1 9\n2 9\n");
    write("a.fa", ">a\nACGTACGTACGT\n");
    write("a.str", PROGRAM);
    write("old", "older");
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    command.stdin(Stdio::null()).output().expect("starts")
}

fn check(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = run(folder, arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert_eq!(code != 0, text.contains("error: "), "{arguments:?}: {text}");
    text
}

/// Every verb, with arguments up to its input file.
const READ: [&[&str]; 15] = [
    &["dedup", "verify"],
    &["dedup", "stat"],
    &["dedup", "unpack", "-o", "made"],
    &["dedup", "pack", "-o", "made"],
    &["demo", "wordcount"],
    &["demo", "pagerank"],
    &["demo", "life"],
    &["demo", "pipelines", "des"],
    &["demo", "pipelines", "lz77"],
    &["align", "a.fa"],
    &["check"],
    &["graph"],
    &["run"],
    &["build", "-o", "made"],
    &["show"],
];

#[test]
fn unknown_options_and_verbs() {
    let folder = folder();
    for verb in READ.iter().map(|verb| &verb[..]).chain([
        &["machine"][..],
        &["demo", "stencil", "heat"],
        &["demo", "stencil"],
        &["demo", "danbi", "fft2"],
        &["demo", "pipelines", "dnn"],
        &["demo", "pipelines"],
    ]) {
        check(folder.path(), &[verb, &["--no-such-option"]].concat(), 2);
    }
    check(folder.path(), &["no-such-verb"], 2);
    check(folder.path(), &["dedup", "no-such-verb"], 2);
}

#[test]
fn the_error_about_a_demonstration_names_its_verb() {
    for (verb, names) in [("life", true), ("wordcount", true), ("lif", false), ("no-such-verb", false)] {
        let output = Command::new(env!("CARGO_BIN_EXE_thalweg")).arg(verb).output().expect("starts");
        let message = String::from_utf8_lossy(&output.stderr);
        let named = message.contains(&format!("tip: it is a demonstration: 'thalweg demo {verb}'"));
        assert!(output.status.code() == Some(2) && named == names, "{verb}: {message}");
    }
}

#[test]
fn inputs_that_are_missing_or_folders() {
    let folder = folder();
    fs::create_dir(folder.path().join("tree")).unwrap();
    for verb in READ.iter().map(|verb| &verb[..]).chain([&["machine", "--machine"][..]]) {
        check(folder.path(), &[verb, &["missing"]].concat(), 1);
        // `dedup pack` packs folders.
        if !verb.contains(&"pack") {
            check(folder.path(), &[verb, &["tree"]].concat(), 1);
        }
    }
    assert!(!folder.path().join("made").exists());
}

#[test]
fn outputs_that_exist_or_have_no_folder() {
    let folder = folder();
    for verb in [
        &["dedup", "pack", "star", "-o"][..],
        &["demo", "pagerank", "star", "-o"],
        &["demo", "pagerank", "star", "--plot"],
        &["demo", "life", "glider", "-g", "1", "-o"],
        &["demo", "pipelines", "lz77", "star", "-o"],
        &["align", "a.fa", "a.fa", "-o"],
        &["build", "a.str", "-o"],
        &["machine", "-o"],
        &["demo", "wordcount", "star", "--save-report"],
        &["demo", "wordcount", "star", "--save-plan"],
    ] {
        check(folder.path(), &[verb, &["old"]].concat(), 1);
        check(folder.path(), &[verb, &["nowhere/new"]].concat(), 1);
        assert_eq!(fs::read_to_string(folder.path().join("old")).unwrap(), "older", "{verb:?}");
    }
}

/// Verbs with threads, with arguments for little work.
const THREADS: [&[&str]; 11] = [
    &["dedup", "pack", "star", "-o", "made"],
    &["demo", "wordcount", "star"],
    &["run", "a.str", "-i", "1"],
    &["demo", "kpn", "ring", "--processes", "5"],
    &["demo", "danbi", "fft2", "--scale", "0"],
    &["demo", "pipelines", "synthetic", "--modules", "2"],
    &["demo", "pagerank", "star"],
    &["demo", "life", "glider"],
    &["align", "a.fa", "a.fa"],
    &["demo", "stencil", "heat", "--scale", "512"],
    &["demo", "stencil", "mg", "--scale", "128"],
];

#[test]
fn values_outside_of_their_range() {
    let folder = folder();
    for verb in THREADS {
        for threads in ["0", "4097", "-1", "many"] {
            check(folder.path(), &[verb, &["--threads", threads]].concat(), 2);
        }
    }
    for verb in THREADS.into_iter().take(6) {
        check(folder.path(), &[verb, &["--policy", "luck"]].concat(), 2);
        check(folder.path(), &[verb, &["--policy", "prs:C=0"]].concat(), 2);
        check(folder.path(), &[verb, &["--save-report", "-"]].concat(), 2);
        check(folder.path(), &[verb, &["--timeline", "t", "--timeline-events", "0"]].concat(), 2);
    }
    for arguments in [
        &["demo", "pagerank", "star", "--damping", "1"][..],
        &["demo", "pagerank", "star", "--memory", "much"],
        &["demo", "pagerank", "star", "--plot", "-"],
        &["demo", "pagerank", "star", "--max-iterations", "0"],
        &["align", "a.fa", "a.fa", "--gap-open", "-1"],
        &["align", "a.fa", "a.fa", "--match", "0"],
        &["align", "-", "-"],
        &["demo", "kpn", "ring", "--processes", "4097", "--one-to-one"],
        &["demo", "kpn", "layered", "--layers", "1000", "--one-to-one"],
        &["demo", "life", "glider", "--rule", "X"],
        &["demo", "life", "glider", "--size", "0x0"],
        &["demo", "stencil", "mg", "--scale", "3"],
        &["demo", "stencil", "cg", "--class", "Z"],
        &["run", "a.str", "-i", "-1"],
        &["demo", "kpn", "pipeline", "--stages", "1"],
        &["demo", "kpn", "aes", "--bytes", "2G"],
        &["run", "a.str", "-O", "3"],
        &["run", "a.str", "a.str"],
        &["demo", "wordcount", "star", "--top", "-1"],
        &["machine", "--measure", "--machine", "old"],
        &["dedup", "pack", "star", "-o", "made", "--window", "much"],
        &["dedup", "pack", "star", "-o", "made", "--level", "99"],
        &["dedup", "pack", "star", "-o", "made", "--codec", "lz4"],
    ] {
        check(folder.path(), arguments, 2);
    }
    assert!(!folder.path().join("made").exists());
}

#[test]
fn names_are_shown_escaped() {
    let folder = folder();
    let name = "evil\u{1b}[31m\nname\u{202e}";
    for verb in READ.iter().map(|verb| &verb[..]).chain([&["machine", "--machine"][..]]) {
        let text = check(folder.path(), &[verb, &[name]].concat(), 1);
        assert!(!text.contains('\u{1b}'), "{verb:?}: {text:?}");
        assert!(text.contains(r"evil\u{1b}[31m\nname\u{202e}"), "{verb:?}: {text:?}");
    }
    fs::write(folder.path().join(name), "void->void pipeline Main { add Nothing(); }").unwrap();
    for verb in ["check", "run", "graph"] {
        let text = check(folder.path(), &[verb, name], 1);
        assert!(text.contains(r"evil\u{1b}[31m\nname") && !text.contains('\u{1b}'), "{verb}: {text:?}");
    }
    // A file that a program names.
    let reads =
        PROGRAM.replace("void->int filter { work push 1 { push(7); } }", "FileReader<int>(\"x\u{1b}[2Jy\")");
    fs::write(folder.path().join("reads.str"), reads).unwrap();
    let text = check(folder.path(), &["run", "reads.str", "--engine", "interpreter"], 1);
    assert!(text.contains(r"x\u{1b}[2Jy") && !text.contains('\u{1b}'), "{text:?}");
}

/// A socket holds no data, so all that was asked for is done.
#[test]
fn a_socket_is_skipped_with_a_warning_that_does_not_change_the_code() {
    let folder = folder();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("tree/file"), "x").unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("tree/socket")).unwrap();
    for more in [&[][..], &["--strict"]] {
        let text = check(folder.path(), &[&["dedup", "pack", "tree", "-fo", "a.thd"], more].concat(), 0);
        assert!(text.contains("warning: skipped tree/socket: ") && text.lines().count() == 1, "{text}");
    }
    let help = run(folder.path(), &["dedup", "pack", "--help"]).stdout;
    let help = String::from_utf8(help).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "Sockets, pipes and devices are skipped with a warning, which does not change the exit code";
    assert!(help.contains(said), "{help}");
}

/// The file system decides which times these are; one that keeps all of them leaves nothing to warn of.
#[test]
fn a_time_beyond_the_range_of_the_file_system_is_a_warning_with_a_code() {
    use std::os::unix::fs::MetadataExt;
    let folder = folder();
    for seconds in [1 << 40, -(1 << 40), 1 << 30] {
        let mut forged = Forged::new();
        forged.file(b"file", seconds);
        fs::write(folder.path().join("a.thd"), forged.finish()).unwrap();
        let output = run(folder.path(), &["dedup", "unpack", "a.thd", "-o", "out"]);
        let text = String::from_utf8_lossy(&output.stderr);
        let kept = fs::metadata(folder.path().join("out/file")).unwrap().mtime() == seconds;
        assert_eq!(output.status.code(), Some(if kept { 0 } else { 2 }), "{seconds}: {text}");
        assert_eq!(text.contains("warning: setting the time of file"), !kept, "{seconds}: {text}");
        assert_eq!(text.contains("error: 1 of the entries"), !kept, "{seconds}: {text}");
        assert!(kept || seconds != 1 << 30, "every file system has the year 2004");
        fs::remove_dir_all(folder.path().join("out")).unwrap();
    }
    let help = run(folder.path(), &["dedup", "unpack", "--help"]).stdout;
    let help = String::from_utf8(help).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "What cannot be restored, such as a time beyond the range of the file system, is named in a warning, and the exit code is 2";
    assert!(help.contains(said), "{help}");
}
