//! Help texts and manual pages. Every example of every help text runs as it is shown, in a folder that has the files it names.
#![cfg(unix)]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::{TempDir, tempdir};

use crate::child::Command;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).stdin(Stdio::null()).output().expect("starts")
}

fn help(verb: &[String], option: &str) -> String {
    let arguments: Vec<&str> = verb.iter().map(String::as_str).chain([option]).collect();
    let output = run(&arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names below `Commands:` in a help text.
fn verbs(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    // Deeper lines are parts of descriptions.
    let lines = lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next().map(str::to_owned));
    names.filter(|name| name != "help").collect()
}

/// The command and each of its verbs, by their arguments.
fn all() -> Vec<Vec<String>> {
    let (mut all, mut next) = (vec![Vec::new()], 0);
    while next < all.len() {
        let verb = all[next].clone();
        all.extend(verbs(&help(&verb, "--help")).into_iter().map(|name| [&verb[..], &[name]].concat()));
        next += 1;
    }
    assert!(all.len() > 25, "{all:?}");
    all
}

/// The lines below a title of a help text.
fn section<'a>(text: &'a str, titles: &[&str]) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| !titles.contains(line)).skip(1);
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn every_help_text_has_examples_and_exit_codes() {
    for verb in all() {
        let text = help(&verb, "--help");
        assert!(!section(&text, &["Example:", "Examples:"]).is_empty(), "{verb:?}: {text}");
        assert_eq!(
            section(&text, &["Exit codes:"]).iter().filter(|line| !line.starts_with("   ")).count(),
            4
        );
    }
}

/// One screen, while `--help` says all.
#[test]
fn the_short_help_is_short() {
    for verb in all() {
        let (short, long) = (help(&verb, "-h"), help(&verb, "--help"));
        let lines = short.lines().count();
        assert!(lines <= 50 && lines < long.lines().count(), "{verb:?}: {lines} lines");
        assert!(!short.contains("Exit codes:"), "{verb:?}");
    }
}

/// No group of options is so long that a reader has to search it.
#[test]
fn options_are_grouped() {
    for verb in all() {
        let text = help(&verb, "--help");
        for group in text.split("\n\n").collect::<Vec<_>>().join("\n").split(" options:\n") {
            let own = group.split("\nOptions:\n").last().unwrap_or_default();
            let options =
                own.lines().filter(|line| line.trim_start().starts_with('-') && line.contains("--"));
            let options = options.filter(|line| line.starts_with("  -") || line.starts_with("      --"));
            let count = options.count();
            assert!(count <= 13, "{verb:?}: {count} options in\n{own}");
        }
    }
}

/// An option has one name and one short form in all verbs.
#[test]
fn options_have_the_same_names_everywhere() {
    for verb in all() {
        let text = help(&verb, "--help");
        for line in text.lines().map(str::trim_start).filter(|line| line.starts_with('-')) {
            let long = line.split_whitespace().find(|word| word.starts_with("--")).unwrap_or_default();
            let short = line.split_once(", ").map(|(short, _)| short);
            let expected = match long {
                "--output" => Some("-o"),
                "--force" => Some("-f"),
                "--help" => Some("-h"),
                _ => continue,
            };
            assert_eq!(short, expected, "{verb:?}: {line}");
        }
    }
}

const NUMBERS: &str = "void->int filter Numbers() { int n; work push 1 { push(n * n); n++; } }
int->void filter Show() { work pop 1 { println(pop()); } }";
const RADIO: &str = "void->void pipeline Radio { add Numbers(); add Show(); }";
const COPY: &str = "void->void pipeline Copy {
    add FileReader<int>(\"given\"); add int->int filter { work pop 1 push 1 { push(pop()); } };
    add FileWriter<int>(\"made\");
}";
const MACHINE: &str = "thalweg-machine 1\ndomains 2 memory 64 GiB\ncores 2\n";
const MATRIX: &str = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n";

/// Commands that an example may use and that this machine may not have, or that would do more than the example.
const COMMANDS: [(&str, &str); 3] = [
    ("ssh", "shift; exec sh -c \"$*\""),
    ("man", "case $1 in -l) exec cat ;; *) test -e ~/.local/share/man/man1/$1.1 ;; esac"),
    ("rustc", "echo \"$TOOLCHAIN\""),
];

/// A mono WAV file of 16-bit samples.
fn wav(samples: &[i16]) -> Vec<u8> {
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data.len() as u32).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes
}

/// A folder with all files that examples name.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, text) in COMMANDS {
        fs::create_dir_all(at("bin")).unwrap();
        fs::write(at("bin").join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(at("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for tree in ["photos", "src", "logs", "toolchain/lib"] {
        fs::create_dir_all(at(tree)).unwrap();
        fs::write(at(tree).join("a.jpg"), "a picture".repeat(100)).unwrap();
    }
    let write = |name: &str, bytes: &[u8]| fs::write(at(name), bytes).unwrap();
    write("disk.img", &[1; 100_000]);
    write("book.txt", b"a book with words, and more words\n");
    write("numbers", b"3 1 2\n");
    write("voice.wav", &wav(&[1, 2, 3, 4]));
    write("program.str", format!("{RADIO}\n{NUMBERS}").as_bytes());
    write("Radio.str", RADIO.as_bytes());
    write("Filters.str", NUMBERS.as_bytes());
    write("Echo.str", COPY.as_bytes());
    write("Sort.str", COPY.as_bytes());
    write("server.machine", MACHINE.as_bytes());
    write("pattern.rle", b"x = 3, y = 1\n3o!\n");
    write("web-Stanford.mtx", MATRIX.as_bytes());
    for name in ["roads.txt", "soc-LiveJournal1.txt", "links", "access.log"] {
        write(name, b"1 2\n2 3\n");
    }
    for name in ["reads.fa", "genes.fa", "one.fa", "other.fa"] {
        write(name, b">a\nACGTACGTTTACGT\n");
    }
    for name in ["a.faa", "b.faa"] {
        write(name, b">p\nMKVLAAGIVGLLLAQWERT\n");
    }
    let prepare = "gzip -k links access.log soc-LiveJournal1.txt reads.fa
        thalweg dedup pack photos -o photos.thd && mv photos original
        tar c src | thalweg dedup pack - -o src.tar.thd
        thalweg dedup pack disk.img -o logs.thd
        thalweg demo wordcount book.txt --save-report report.json --timeline timeline.json
        thalweg demo life glider -g 1 --frames cells && cp cells/generation-000000.png photo.png && cp photo.png scan.png
        for name in before after monday tuesday wednesday; do cp report.json $name.json; done; cp -r original photos";
    let prepared = shell(folder.path(), prepare);
    assert!(prepared.status.success(), "{prepared:?}");
    folder
}

/// Runs a line in a shell, with the command in the path and without a line of input.
fn shell(folder: &Path, line: &str) -> Output {
    let thalweg = Path::new(env!("CARGO_BIN_EXE_thalweg")).parent().unwrap();
    let mut path = OsString::from(folder.join("bin"));
    for part in [thalweg.as_os_str().to_owned(), env::var_os("PATH").unwrap_or_default()] {
        path.push(":");
        path.push(part);
    }
    let mut command = Command::new("sh");
    // An example that does not end would fill the memory with its output.
    command
        .args(["-c", &format!("{{ {line}\n}} > printed")])
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("PATH", path);
    command
        .env("HOME", folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("TOOLCHAIN", folder.join("toolchain"));
    command.output().unwrap()
}

#[cfg(target_os = "linux")]
fn on_terminal(folder: &Path, line: &str) -> Output {
    let (mut own, other) = crate::terminal::terminal();
    let thalweg = env!("CARGO_BIN_EXE_thalweg");
    let mut command = Command::new("sh");
    command.args(["-c", &line.replace("thalweg ", &format!("{thalweg} "))]).current_dir(folder);
    command.env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(other);
    let child = command.spawn().unwrap();
    drop(command); // which has the other side too
    _ = std::io::Read::read_to_end(&mut own, &mut Vec::new());
    child.output()
}

#[cfg(not(target_os = "linux"))]
use shell as on_terminal;

/// The command of an example, without the remark after it.
fn example(line: &str) -> &str {
    let line = line.trim_start();
    line.split_once("  ").map_or(line, |(command, _)| command)
}

#[test]
fn every_example_works() {
    let mut count = 0;
    for verb in all() {
        let text = help(&verb, "--help");
        let folder = folder();
        for line in section(&text, &["Example:", "Examples:"]) {
            assert!(line.starts_with("  ") && !line.starts_with("   "), "{line}");
            // A longer line is broken on a terminal, and cannot be pasted.
            assert!(line.len() <= 80, "{line}");
            let command = example(line);
            // The archives and folders of the other examples.
            if verb.last().is_some_and(|name| name == "unpack" || name == "dedup")
                && command.contains("unpack")
            {
                for name in ["photos", "restored", "logs"] {
                    _ = fs::remove_dir_all(folder.path().join(name));
                }
            }
            if command.contains("dedup pack")
                && let Some((_, output)) = command.split_once(" -o ")
                && let Some(name) = output.split_whitespace().next()
            {
                _ = fs::remove_file(folder.path().join(name));
            }
            let on = if command.contains("--animate") { on_terminal } else { shell };
            let output = on(folder.path(), command);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !errors.contains("error"), "{command}: {output:?}");
            count += 1;
        }
    }
    assert!(count > 60, "{count} examples");
}

#[test]
fn manual_pages_of_all_verbs() {
    let folder = tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    let name = pages.to_str().unwrap();
    let output = run(&["man", name]);
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    for (page, words) in [
        ("thalweg.1", "thalweg\\-demo(1)"),
        ("thalweg-run.1", "\\-\\-iterations"),
        ("thalweg-dedup.1", "thalweg\\-dedup\\-pack(1)"),
        ("thalweg-dedup-pack.1", ".SH \"EXIT STATUS\""),
        ("thalweg-demo.1", "thalweg\\-demo\\-wordcount(1)"),
        ("thalweg-demo-stencil-heat.1", "\\-\\-steps"),
    ] {
        let text = fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(words) && text.contains(".SH NAME"), "{page}: {text}");
    }
    assert_eq!(run(&["man"]).stdout, fs::read(pages.join("thalweg.1")).unwrap());
    let again = run(&["man", name]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(run(&["man", name, "--force"]).status.success());
}

/// Sections are those that readers of manual pages expect, and the tools that show them have no complaint, where they are
/// installed.
#[test]
fn manual_pages_have_the_usual_sections() {
    let folder = tempdir().unwrap();
    assert!(run(&["man", folder.path().to_str().unwrap()]).status.success());
    for entry in fs::read_dir(folder.path()).unwrap() {
        let page = entry.unwrap().path();
        let text = fs::read_to_string(&page).unwrap();
        let titles: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        assert!(titles.starts_with(&["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"]), "{titles:?}");
        assert!(titles.ends_with(&["\"EXIT STATUS\"", "EXAMPLES"]), "{titles:?}");
        for (tool, arguments) in [("mandoc", &["-Tlint", "-Wwarning"][..]), ("groff", &["-man", "-ww", "-z"])]
        {
            if let Ok(output) = Command::new(tool).args(arguments).arg(&page).output() {
                let said = [output.stdout, output.stderr].concat();
                assert!(said.is_empty(), "{}", String::from_utf8_lossy(&said));
            }
        }
    }
}
