//! The command `thalweg show`.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::{TempDir, tempdir};
use thalweg::Report;
use thalweg::embed::trace::{Track, What};
use thalweg::prelude::*;
use thalweg::trace::{Event, Timeline};

use crate::child::Command;

fn show(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.arg("show").args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().expect("starts")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The error message of a command that fails without output.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = show(folder, arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

fn report(threads: usize) -> Report {
    let squares = thalweg::from_iter(0..1000_u64).named("count").par_map(|n| n * n).named("square").collect();
    squares.run_with(&Options::new().threads(threads)).unwrap().into_report()
}

/// A folder with the reports `a.json` and `b.json`, and the timeline `t.json` of the first.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let (a, b) = (report(1), report(2));
    fs::write(folder.path().join("a.json"), a.to_json()).unwrap();
    fs::write(folder.path().join("b.json"), b.to_json()).unwrap();
    let (mut timeline, mut track) = (Timeline::default(), Track::default());
    *track.name_mut() = "first worker".to_owned();
    track.events_mut().push(Event::new(5, What::Park { ns: 100 }));
    timeline.tracks_mut().push(track);
    fs::write(folder.path().join("t.json"), timeline.to_json(a.graph())).unwrap();
    folder
}

#[test]
fn the_graph_of_a_report_is_printed_in_the_forms_of_graphs() {
    let folder = folder();
    let graph = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.args(["graph", "a.json"]).args(arguments).current_dir(folder.path()).output().unwrap()
    };
    let expected = Report::from_json(&fs::read_to_string(folder.path().join("a.json")).unwrap())
        .unwrap()
        .graph()
        .clone();
    assert_eq!(stdout(&graph(&[])), expected.to_string());
    assert_eq!(stdout(&graph(&["--form", "flat"])), expected.to_string());
    assert_eq!(stdout(&graph(&["--form", "dot"])), expected.to_dot());
    for form in ["tree", "svg", "schedule"] {
        let message = String::from_utf8(graph(&["--form", form]).stderr).unwrap();
        assert!(message.contains("a.json is a report") && message.contains("help: "), "{message}");
    }
    fs::write(folder.path().join("a.json"), "{}").unwrap();
    let message = String::from_utf8(graph(&[]).stderr).unwrap();
    assert!(message.contains("a.json") && !message.contains("panicked"), "{message}");
}

#[test]
fn a_report_is_printed_as_it_was() {
    let folder = folder();
    let text = fs::read_to_string(folder.path().join("a.json")).unwrap();
    let report = Report::from_json(&text).unwrap();
    let prediction = report.prediction().unwrap();
    let expected = format!("{report}\n{}\n\n{prediction}", report.advice());
    assert_eq!(stdout(&show(folder.path(), &["a.json"])), expected);
    let plan = stdout(&show(folder.path(), &["a.json", "--plan"]));
    let next = stdout(&show(folder.path(), &["b.json", "--next-plan"]));
    assert!(next.starts_with("thalweg-plan 2") && next.contains("\nsegment 0"), "{next}");
    assert!(
        plan.starts_with("thalweg-plan 2") && plan.contains("threads 1") && plan.contains("# square"),
        "{plan}"
    );
}

/// Measurements are added, so three equal runs have the plan of one; those of another graph are refused.
#[test]
fn the_next_plan_follows_from_all_runs() {
    let folder = folder();
    let next = |files: &[&str]| stdout(&show(folder.path(), &[files, &["--next-plan"]].concat()));
    assert_eq!(next(&["b.json", "b.json", "b.json"]), next(&["b.json"]));
    let text = fs::read_to_string(folder.path().join("b.json")).unwrap();
    fs::write(
        folder.path().join("other.json"),
        text.replace("squares_ns2", "?").replace("square", "cube").replace('?', "squares_ns2"),
    )
    .unwrap();
    let message = refused(folder.path(), &["b.json", "other.json", "--next-plan"]);
    assert!(message.contains("adding other.json to b.json: the runs are of different graphs"), "{message}");
}

/// The plan by a mapper says above what is expected of each worker, and a run with it gives the same bytes.
#[test]
fn a_mapper_makes_the_next_plan() {
    let folder = folder();
    let demo = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.args(["demo", "pipelines", "des", "--bytes", "20K", "--threads", "2"]).args(arguments);
        command.current_dir(folder.path()).stdin(Stdio::null()).output().expect("starts")
    };
    stdout(&demo(&["-o", "first", "--save-report", "des.json"]));
    for (mapper, policy) in [("seg-both", "static"), ("best", "static:spare=help")] {
        let arguments = ["des.json", "--next-plan", "--mapper", mapper, "--mapper-cache", "64K"];
        let plan = stdout(&show(folder.path(), &arguments));
        assert!(plan.starts_with(&format!("# mapper {mapper}: cache of 65536 bytes\n")), "{plan}");
        let (policy, by) = (format!("\npolicy {policy}\n"), format!("\nmapper {mapper}\n"));
        for part in ["# worker 1: ", &policy, &by, "\nsegment 0"] {
            assert!(plan.contains(part), "{part}: {plan}");
        }
        fs::write(folder.path().join("plan.txt"), plan).unwrap();
        let run = "demo pipelines des --bytes 20K --plan plan.txt -f -o second --save-report";
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.args(run.split(' ')).arg(format!("{mapper}.json"));
        stdout(&command.current_dir(folder.path()).stdin(Stdio::null()).output().expect("starts"));
        let file = |name: &str| fs::read(folder.path().join(name)).unwrap();
        assert!(file("first") == file("second"), "{mapper}");
    }
    // Of several plans that ran the fastest stays.
    let files = ["des.json", "seg-both.json", "best.json", "best.json", "--next-plan", "--mapper", "best"];
    let plan = stdout(&show(folder.path(), &files));
    let lines: Vec<&str> = plan.lines().take_while(|line| line.starts_with('#')).collect();
    assert_eq!((lines[0], lines.len()), ("# mapper best: the fastest plan of those that ran", 4), "{plan}");
    assert!(
        plan.contains("policy static:spare=help, mapper best: ") && plan.contains("least of 2\n"),
        "{plan}"
    );
    let policy = lines[1].strip_prefix("# policy ").and_then(|line| line.split(',').next()).unwrap();
    assert!(plan.contains(&format!("\npolicy {policy}\n")), "{plan}");
    // A machine whose shared cache is smaller than the nodes' state.
    let machine = "thalweg-machine 1\ndomains 1\ncores 2\ncache 2 size 64 KiB per core\ncache 3 size 1 bytes per domain\n";
    fs::write(folder.path().join("machine.txt"), machine).unwrap();
    let arguments = ["des.json", "--next-plan", "--mapper", "seg-both", "--machine", "machine.txt"];
    let plan = stdout(&show(folder.path(), &arguments));
    assert!(plan.contains("\nnote 1 of 1 caches that several cores share are smaller than "), "{plan}");
    let message = refused(folder.path(), &["des.json", "--next-plan", "--mapper", "fifo"]);
    assert!(message.contains("unknown mapper `fifo`\nhelp: known mappers are seg-cache, "), "{message}");
    let message = refused(folder.path(), &["des.json", "--mapper", "best"]);
    assert!(message.contains("help: add --next-plan"), "{message}");
    let failed = demo(&["--mapper", "best"]);
    let message = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(
        !failed.status.success() && message.contains("declares no time of a firing\nhelp: declare it"),
        "{message}"
    );
    let message = String::from_utf8_lossy(&demo(&["--mapper", "fifo"]).stderr).into_owned();
    assert!(message.contains("unknown mapper `fifo`"), "{message}");
}

/// The modules of a random pipeline declare their times, and its source and sink too.
#[test]
fn a_mapper_maps_a_program_that_never_ran() {
    let folder = tempdir().unwrap();
    let demo = |arguments: &str| {
        let common = "demo pipelines synthetic --modules 5 --items 20 --cache 4KiB --fixed large";
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.args(common.split(' ')).args(arguments.split(' ')).current_dir(folder.path());
        command.stdin(Stdio::null()).output().expect("starts")
    };
    let checksum = |output: &Output| {
        let text = stdout(output);
        text.lines().find(|line| line.starts_with("checksum")).unwrap().to_owned()
    };
    let mapper = "--threads 2 --mapper seg-cache --mapper-cache 64";
    let mapped = demo(&format!("{mapper} --show-plan --save-report r.json"));
    let plan = String::from_utf8_lossy(&mapped.stderr);
    for part in ["\npolicy static\n", "\nmapper seg-cache\n", "\nnote 6 of 7 stages need more than a sixth"] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    assert_eq!(checksum(&mapped), checksum(&demo("--threads 1")));
    let report = stdout(&show(folder.path(), &["r.json"]));
    assert!(
        report.contains("note: 6 of 7 stages need more than a sixth of the cache (10 bytes)"),
        "{report}"
    );
}

/// Mappers see the pieces of code of a compiled program, and a run with their plan writes the same.
#[test]
fn a_mapper_makes_the_next_plan_of_a_compiled_program() {
    let folder = tempdir().unwrap();
    let filter =
        "work push 1 pop 1 { float a = pop(); for (int i = 0; i < 50; i++) a = sin(a) + 1; push(a); }";
    let program = format!(
        "void->void pipeline Main {{ add Count(); add Work(); add Sum(); add Work(); add Print(); }}
         void->float filter Count {{ float x; init {{ x = 0; }} work push 1 {{ push(x); x = x + 1; }} }}
         float->float filter Work {{ {filter} }}
         float->float filter Sum {{ float s; init {{ s = 0; }} work push 1 pop 1 {{ s = s + pop(); push(s); }} }}
         float->void filter Print {{ work pop 1 {{ println(pop()); }} }}"
    );
    fs::write(folder.path().join("t.str"), program).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.args(["run", "t.str", "--iterations", "60000"]).args(arguments);
        stdout(&command.current_dir(folder.path()).stdin(Stdio::null()).output().expect("starts"))
    };
    let printed = run(&["--threads", "2", "--save-report", "r.json"]);
    for mapper in ["best", "seg-both-replicated"] {
        let plan = stdout(&show(folder.path(), &["r.json", "--next-plan", "--mapper", mapper]));
        assert!(plan.starts_with(&format!("# mapper {mapper}: cache of ")), "{plan}");
        assert!(plan.contains("\npolicy static") && plan.contains("\nsegment 0"), "{plan}");
        fs::write(folder.path().join("plan.txt"), plan).unwrap();
        let file = format!("{mapper}.json");
        assert!(run(&["--plan", "plan.txt", "--save-report", &file]) == printed, "{mapper}");
        let report = stdout(&show(folder.path(), &[&file]));
        assert!(report.contains("note: no cost of a miss was measured"), "{report}");
    }
    let arguments = ["r.json", "--next-plan", "--mapper", "best", "--mapper-buffers", "least"];
    let message = refused(folder.path(), &arguments);
    assert!(
        message.contains("--mapper-buffers: the compiler of a StreamIt program sizes its buffers"),
        "{message}"
    );
}

#[test]
fn two_reports_are_compared() {
    let folder = folder();
    let text = stdout(&show(folder.path(), &["a.json", "b.json"]));
    assert!(text.starts_with("threads 1 -> 2\n") && text.contains("wall time"), "{text}");
}

/// Only a report with a timeline has a picture: another one becomes a page, whatever the name of the file.
#[test]
fn a_timeline_is_a_picture_of_its_own() {
    let folder = folder();
    let file = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    stdout(&show(folder.path(), &["a.json", "t.json", "-o", "t.svg"]));
    assert!(file("t.svg").starts_with("<svg ") && file("t.svg").contains("first worker"));
    stdout(&show(folder.path(), &["a.json", "-o", "a.svg"]));
    assert!(file("a.svg").starts_with("<!doctype html>"));
}

#[test]
fn a_page_has_the_timeline_in_any_order() {
    let folder = folder();
    for files in [["a.json", "t.json"], ["t.json", "a.json"]] {
        let page = stdout(&show(folder.path(), &[files[0], files[1], "-o", "-"]));
        assert!(
            page.starts_with("<!doctype html>") && page.contains("first worker") && page.contains("square")
        );
    }
    let output = show(folder.path(), &["a.json", "-o", "page.html"]);
    assert_eq!(stdout(&output), "");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.ends_with("</html>\n") && !page.contains("first worker"));
    let message = refused(folder.path(), &["b.json", "-o", "page.html"]);
    assert!(message.contains("already exists") && message.contains("--force"), "{message}");
    assert_eq!(fs::read_to_string(folder.path().join("page.html")).unwrap(), page);
    stdout(&show(folder.path(), &["b.json", "-o", "page.html", "-f"]));
    assert_ne!(fs::read_to_string(folder.path().join("page.html")).unwrap(), page);
}

#[test]
fn errors_name_the_file_and_the_place() {
    let folder = folder();
    let damaged =
        fs::read_to_string(folder.path().join("a.json")).unwrap().replace("\"threads\": 1", "\"threads\": x");
    fs::write(folder.path().join("damaged.json"), damaged).unwrap();
    fs::write(folder.path().join("words.txt"), "no report").unwrap();
    fs::write(folder.path().join("bytes"), b"\xff\xfe").unwrap();
    for (arguments, expected) in [
        (&["damaged.json"][..], &["reading damaged.json", "line 5, column 14"][..]),
        (&["words.txt"], &["reading words.txt", "line 1"]),
        (&["bytes"], &["bytes is not UTF-8 text", "help: name a file"]),
        (&["missing.json"], &["missing.json", "No such file"]),
        (&["."], &["is a folder"]),
        (&["t.json"], &["t.json is a timeline", "help: name the report"]),
        (&["a.json", "t.json"], &["only a page can show", "-o PAGE.html"]),
        (&["a.json", "b.json", "-o", "x.html"], &["a page shows one report"]),
        (&["a.json", "b.json", "--plan"], &["--plan prints the plan of one report"]),
        (&["a.json", "-o", "a.json", "-f"], &["refusing to overwrite a.json"]),
        (&["a.json", "-o", "missing/page.html"], &["missing/page.html"]),
        (&["a.json", "-f"], &["--output"]),
        (&[], &["FILE"]),
    ] {
        let message = refused(folder.path(), arguments);
        assert!(expected.iter().all(|part| message.contains(part)), "{arguments:?}: {message}");
    }
    let mut files: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["a.json", "b.json", "bytes", "damaged.json", "t.json", "words.txt"]);
}

/// A report from elsewhere may hold any names.
#[test]
fn a_plan_in_a_report_is_printed_as_text_that_no_terminal_obeys() {
    let folder = folder();
    let text = fs::read_to_string(folder.path().join("a.json")).unwrap();
    let planted = r"a\u001b]0;title\u0007 b\u009b2J\u202e";
    let hostile = text.replace("squares_ns2", "?").replace("square", planted).replace('?', "squares_ns2");
    assert_ne!(hostile, text);
    fs::write(folder.path().join("hostile.json"), hostile).unwrap();
    let printed = stdout(&show(folder.path(), &["hostile.json", "--plan"]));
    let is_obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(printed.contains("\\u{1b}]0;title") && !printed.contains(is_obeyed), "{printed}");
    for arguments in [&["show", "hostile.json"][..], &["graph", "hostile.json"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        let output = command.args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(!stdout(&output).contains(['\u{1b}', '\u{202e}']), "{arguments:?}");
    }
}

#[test]
fn a_device_without_an_end_is_no_report() {
    let folder = folder();
    for arguments in [&["/dev/zero"][..], &["a.json", "/dev/zero"]] {
        let message = refused(folder.path(), arguments);
        assert!(message.contains("/dev/zero is no text: it has a zero byte at offset 0\nhelp:"), "{message}");
    }
}

/// Lines without an end are read up to the limit of texts.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_without_an_end_is_read_up_to_the_limit() {
    let mut command = Command::new("sh");
    let line = "yes | { ulimit -v 2500000; exec \"$0\" show -; }";
    let output = command.args(["-c", line, env!("CARGO_BIN_EXE_thalweg")]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{message}");
    assert!(message.contains("standard input has more than 1 GiB\nhelp: name a file"), "{message}");
}

#[test]
fn other_settings_are_predicted_as_a_table_and_as_a_plot() {
    let folder = folder();
    let table = stdout(&show(folder.path(), &["b.json", "--predict", "threads=1..4", "capacity=8,64"]));
    assert_eq!(
        table
            .lines()
            .filter(|line| line.ends_with("square")
                || line.ends_with("all threads")
                || line.ends_with("count")
                || line.ends_with("collect"))
            .count(),
        8,
        "{table}"
    );
    show(folder.path(), &["b.json", "--predict", "threads=1..4", "capacity=8,64", "-o", "plot.svg"]);
    let svg = fs::read_to_string(folder.path().join("plot.svg")).unwrap();
    assert!(
        svg.starts_with("<svg") && svg.contains("capacity (items) 64") && svg.contains("threads"),
        "{svg}"
    );
    assert_eq!(svg.matches("<circle").count(), 8, "{svg}");
    let again = refused(folder.path(), &["b.json", "--predict", "threads=2", "-o", "plot.svg"]);
    assert!(again.contains("plot.svg"), "{again}");
    for (settings, part) in [
        (&["threads=0"][..], "expected a number from 1, found `0`"),
        (&["cores=4"], "`cores` is none of"),
        (&["threads=99999999999"], "more threads than"),
    ] {
        let arguments: Vec<&str> = ["b.json", "--predict"].iter().chain(settings).copied().collect();
        let message = refused(folder.path(), &arguments);
        assert!(message.contains(part), "{message}");
    }
    let two = refused(folder.path(), &["a.json", "b.json", "--predict", "threads=2"]);
    assert!(two.contains("--predict takes one report, 2 files are given"), "{two}");
}
