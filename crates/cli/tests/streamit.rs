//! The commands for StreamIt programs: files, pipes, signals and errors.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::{TempDir, tempdir};
use thalweg::trace::ReportExt;

use crate::child::Command;

const SCALE: &str = "void->void pipeline Scale {
    add FileReader<int>(\"given\"); add int->int filter { work pop 1 push 1 { push(pop() * 2); } };
    add FileWriter<int>(\"made\");
}";

const COUNT: &str = "void->void pipeline Main { add Count(); add Show(); }
void->int filter Count() { int n; work push 1 { push(n++); } }
int->void filter Show() { work pop 1 { println(pop()); } }";

fn folder_with(text: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("program.str"), text).unwrap();
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.arg("run").arg("program.str").args(arguments).current_dir(folder);
    command.env("XDG_CACHE_HOME", folder.join("cache")).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether there are unfinished files, which have names that begin with `.thalweg`.
fn has_unfinished_files(folder: &Path) -> bool {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    names.into_iter().any(|name| name.starts_with(".thalweg"))
}

const ENGINES: [&[&str]; 3] = [&["--engine", "interpreter"], &["--threads", "1"], &["--threads", "2"]];

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = folder_with(COUNT);
    for engine in ENGINES {
        let mut child =
            command(folder.path(), engine).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let output = child.output();
        assert_eq!((first.as_str(), stderr(&output).as_str()), ("0\n", ""), "{engine:?}");
        assert!(output.status.success());
    }
}

#[test]
fn a_failed_write_is_reported_with_its_cause() {
    let folder = folder_with(COUNT);
    for engine in ENGINES {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command(folder.path(), engine).args(["-i", "100000"]).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr(&output).contains("the output cannot be written: No space"),
            "{engine:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn errors_name_the_file() {
    let folder = folder_with(SCALE);
    fs::write(folder.path().join("odd"), [0; 7]).unwrap();
    fs::write(folder.path().join("words"), "1 2\n3 \u{1b}[2Jfour\n").unwrap();
    fs::write(folder.path().join("short.wav"), b"RIFF\x24\0\0\0WAVEfmt ").unwrap();
    fs::write(folder.path().join("odd.wav"), b"RIFF").unwrap();
    fs::write(folder.path().join("long.wav"), [b'x'; 100]).unwrap();
    let cases: [(&[&str], &str); 10] = [
        (&[], "`Scale.FileReader`: the file `given`: No such file"),
        (&["--in", "nothing"], "the file `nothing`: No such file"),
        (&["--in", "."], "the file `.`: Is a directory"),
        (&["--in", "odd"], "the file `odd`: it ends in the middle of an item"),
        (&["--in", "words", "--text"], "the file `words`: line 2: `\\u{1b}[2Jfour` is not an integer"),
        (&["--in", "short.wav"], "the file `short.wav`: the WAV file is truncated"),
        (&["--in", "odd.wav"], "the file `odd.wav`: it is not a WAV file"),
        (&["--in", "long.wav"], "the file `long.wav`: it is not a WAV file"),
        (
            &["--in", "odd", "--out", "no/folder"],
            "the file `no/folder`: creating no/folder: there is no folder `no`",
        ),
        (&["--in", "odd", "--out", "."], "the file `.`: it is a directory"),
    ];
    for (arguments, words) in cases {
        for engine in ENGINES {
            let output = run(folder.path(), &[arguments, engine].concat());
            assert!(stderr(&output).contains(words), "{arguments:?} {engine:?}: {}", stderr(&output));
            assert!(stderr(&output).contains("program.str:") && output.status.code() == Some(1));
            assert!(!has_unfinished_files(folder.path()));
        }
    }
}

#[test]
fn a_file_that_is_no_text_is_refused_at_once() {
    let folder = folder_with(COUNT);
    for file in ["/dev/zero", env!("CARGO_BIN_EXE_thalweg")] {
        for verb in ["check", "run", "graph"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
            let output = command.args([verb, file]).current_dir(folder.path()).output().unwrap();
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{message}");
            assert!(
                message.starts_with(&format!("error: reading {file}: it is no text: byte 0x00 at")),
                "{message}"
            );
            assert_eq!(message.lines().count(), 2, "{message}");
        }
    }
}

#[test]
fn a_source_file_cannot_be_given_twice() {
    let folder = folder_with(COUNT);
    fs::write(
        folder.path().join("other.str"),
        "int->int filter Other { work pop 1 push 1 { push(pop()); } }",
    )
    .unwrap();
    symlink("other.str", folder.path().join("link.str")).unwrap();
    assert!(run(folder.path(), &["other.str", "-i", "1"]).status.success());
    for (again, name) in
        [(["program.str", "-i1"], "program.str"), (["./program.str", "-i1"], "./program.str")]
    {
        let output = run(folder.path(), &again);
        assert_eq!(
            stderr(&output),
            format!("error: {name} is given twice\nhelp: name each file of the program once\n")
        );
    }
    assert!(stderr(&run(folder.path(), &["other.str", "link.str"])).contains("link.str is given twice"));
}

#[test]
fn standard_input_cannot_be_repeated() {
    for (program, arguments) in [(SCALE.to_owned(), &["--in", "-"][..]), (SCALE.replace("given", "-"), &[])] {
        let folder = folder_with(&program);
        let output = run(folder.path(), &[arguments, &["--repeat-input", "-i", "9"]].concat());
        assert!(stderr(&output).contains("standard input cannot be repeated"), "{}", stderr(&output));
        assert_eq!(output.status.code(), Some(2));
        assert!(!has_unfinished_files(folder.path()));
    }
}

#[test]
fn links_and_pipes_are_written_and_not_replaced() {
    let folder = folder_with(SCALE);
    let at = |name: &str| folder.path().join(name);
    fs::write(at("given"), [1, 0, 0, 0]).unwrap();
    fs::write(at("real"), "before").unwrap();
    fs::set_permissions(at("real"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("real", at("link")).unwrap();
    let output = run(folder.path(), &["--out", "link"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(at("link").is_symlink());
    assert_eq!(fs::read(at("real")).unwrap(), [2, 0, 0, 0]);
    assert_eq!(fs::metadata(at("real")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let mut child = command(folder.path(), &["--out", "pipe"]).spawn().unwrap();
    assert_eq!(fs::read(at("pipe")).unwrap(), [2, 0, 0, 0]);
    assert!(child.wait().unwrap().success());
    assert!(!fs::metadata(at("pipe")).unwrap().is_file());
}

#[test]
fn wav_files_keep_their_sample_rate_channels_and_bits() {
    let folder = folder_with(&SCALE.replace("* 2", "/ 2"));
    let format = hound::WavSpec {
        channels: 2,
        sample_rate: 8000,
        bits_per_sample: 24,
        sample_format: hound::SampleFormat::Int,
    };
    let mut writer = hound::WavWriter::create(folder.path().join("a.wav"), format).unwrap();
    (0..100).for_each(|n| writer.write_sample(n * 80_000).unwrap());
    writer.finalize().unwrap();
    let output = run(folder.path(), &["--in", "a.wav", "--out", "b.wav"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut reader = hound::WavReader::open(folder.path().join("b.wav")).unwrap();
    assert_eq!(reader.spec(), format);
    assert!(reader.samples::<i32>().map(Result::unwrap).eq((0..100).map(|n| n * 40_000)));
}

#[test]
fn signals_interrupt_reads_and_firings_of_the_interpreter() {
    const HANG: &str = "void->void filter Hang { work { println(1); while (true) { } } }";
    const MANY: &str = "void->void pipeline Many { add Count(); add Show(); }
        void->int filter Count() { work push 1 { push(1); } }
        int->void filter Show() { work pop 1 peek 100000000 { println(pop()); } }";
    let wait = SCALE.replace("\"given\"", "\"-\"");
    let cases: [(&str, &[&str]); 4] =
        [(HANG, ENGINES[0]), (MANY, ENGINES[0]), (&wait, ENGINES[0]), (&wait, ENGINES[1])];
    for (text, engine) in cases {
        let folder = folder_with(text);
        let piped = || Stdio::piped();
        let mut command = command(folder.path(), engine);
        let mut child = crate::child::start(command.stdin(piped()).stdout(piped()).stderr(piped()));
        std::thread::sleep(Duration::from_millis(1500));
        child.send(Signal::INT);
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if started.elapsed() > Duration::from_secs(5) {
                panic!("the command does not end: {engine:?}\n{text}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.output();
        assert_eq!(output.status.signal(), Some(2), "{text}: {}", stderr(&output));
        assert!(
            stderr(&output).starts_with("interrupted") && !stderr(&output).contains("removed"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn rates_that_would_exhaust_the_memory_are_refused() {
    let folder = folder_with(
        "void->void pipeline Main { add Count(); add Show(); }
         void->int filter Count() { work push 1 { push(1); } }
         int->void filter Show() { work pop 1 peek 2147483647 { println(pop()); } }",
    );
    let output = run(folder.path(), &[]);
    let words = "the channel from `Main.Count` to `Main.Show` must hold 2147483647 items";
    assert!(stderr(&output).contains(words) && output.status.code() == Some(1), "{}", stderr(&output));
}

#[test]
fn cc_may_be_a_command_and_the_cache_may_be_missing() {
    let folder = folder_with(COUNT);
    let with = |name: &str, value: &str| {
        let mut command = command(folder.path(), &["-i", "1"]);
        command.env(name, value).output().unwrap()
    };
    let output = with("CC", "/nonexistent");
    assert_eq!(output.stdout, b"0\n");
    assert!(
        stderr(&output).contains(
            "no C compiler `/nonexistent`, which `$CC` names; the interpreter runs the program, some 1,000"
        ),
        "{}",
        stderr(&output)
    );
    if Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success()) {
        for (name, value) in [("CC", "env cc"), ("XDG_CACHE_HOME", "/proc/nowhere")] {
            let output = with(name, value);
            assert_eq!((output.stdout.as_slice(), stderr(&output).as_str()), (&b"0\n"[..], ""), "{name}");
        }
    }
}

#[test]
fn a_native_run_has_a_report_a_timeline_and_a_plan() {
    let folder = folder_with(SCALE);
    let path = |name: &str| folder.path().join(name);
    let given: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_ne_bytes).collect();
    let meant: Vec<u8> = (0..1_000_000_u32).flat_map(|item| (2 * item).to_ne_bytes()).collect();
    fs::write(path("given"), given).unwrap();
    for threads in ["1", "2"] {
        let results = ["--save-report", "r.json", "--timeline", "t.json", "--save-plan", "plan", "--report"];
        let output = run(folder.path(), &[&["--threads", threads], &results[..]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).starts_with("1000000 iterations, 3000000 firings"), "{}", stderr(&output));
        let report = fs::read_to_string(path("r.json")).unwrap();
        let report: thalweg::Report = thalweg::Report::from_json(&report).unwrap();
        assert_eq!(report.graph().nodes()[0].name(), "Scale");
        assert!(report.nodes()[0].busy() > Duration::ZERO, "{report}");
        assert!(fs::read_to_string(path("t.json")).unwrap().contains("Scale"));
        let output = run(folder.path(), &["--plan", "plan"]);
        assert_eq!((output.status.success(), stderr(&output)), (true, String::new()), "{threads} threads");
        assert!(fs::read(path("made")).unwrap() == meant, "{threads} threads");
    }
    let arguments = ["--engine", "interpreter", "--report", "-i", "1"];
    let output = run(folder.path(), &arguments);
    let report = stderr(&output);
    assert!(report.starts_with("1 iterations, "), "{report}");
    assert!(report.ends_with("\nqueues between regions held at most 0 bytes\n"), "static rates: {report}");
}

/// A pipeline whose segments follow from measured times, and which prints.
const FILTERS: &str = "void->void pipeline Main { add Count(); add Slow(9); add Slow(70); add Slow(30); add Sum(); }
     void->int filter Count() { int n; work push 1 { push(n++); } }
     int->int filter Slow(int k) { int s; work pop 1 push 1 { for (int i = 0; i < k; i++) s = s * 5 + peek(0); push(s + pop()); } }
     int->void filter Sum() { int s; work pop 1000 { for (int i = 0; i < 1000; i++) s = s * 3 + pop(); println(s); } }";

#[test]
fn a_saved_plan_of_a_native_run_fixes_its_segments() {
    let folder = folder_with(FILTERS);
    let with = |arguments: &[&str]| run(folder.path(), &[&["-i", "500"], arguments].concat());
    let saved = with(&["--mode", "pipeline", "--threads", "2", "--save-plan", "plan"]);
    assert!(saved.status.success(), "{}", stderr(&saved));
    let plan = fs::read_to_string(folder.path().join("plan")).unwrap();
    assert_eq!(plan.lines().filter(|line| line.starts_with("segment ")).count(), 2, "{plan}");
    for _ in 0..3 {
        let again = with(&["--mode", "pipeline", "--plan", "plan", "--show-plan"]);
        assert_eq!((again.status.success(), stderr(&again).trim_end()), (true, plan.trim_end()));
        assert!(again.stdout == saved.stdout);
    }
    let last = plan.lines().last().unwrap();
    fs::write(folder.path().join("edited"), plan.replace(last, "")).unwrap();
    let refused = with(&["--plan", "edited"]);
    assert!(!refused.status.success() && refused.stdout.is_empty());
    assert!(stderr(&refused).contains("is in no segment of the plan"), "{}", stderr(&refused));
    let other = folder_with(COUNT);
    fs::write(other.path().join("plan"), plan).unwrap();
    let refused = run(other.path(), &["--plan", "plan"]);
    assert!(!refused.status.success() && refused.stdout.is_empty());
    assert!(stderr(&refused).contains("plan, line 2: the plan"), "{}", stderr(&refused));
}

#[test]
fn invalid_numbers_are_refused_with_the_valid_range() {
    let folder = folder_with(COUNT);
    for (arguments, words) in [
        (["--threads", "0"], "threads 0: at least 1 is needed"),
        (["--threads", "100000"], "100000 threads: at most"),
        (["--iterations", "-2"], "invalid value '-2' for '--iterations <N>'"),
        (["--budget", "much"], "write it like 64MiB"),
        (
            ["--in", "x"],
            "--input replaces the only file that a program reads, but this program reads 0 files",
        ),
    ] {
        let output = run(folder.path(), &arguments);
        assert!(
            !output.status.success() && stderr(&output).contains(words),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

/// A compiler that starts another process, as all compilers do, and does not end.
const SLOW_COMPILER: &str = "#!/bin/sh
[ \"$1\" = --version ] && exit
sleep 1000 &
echo $! > part; mv part worker
wait
";

/// Whether a process exists and is not a zombie.
fn is_alive(process: &str) -> bool {
    let shown = Command::new("ps").args(["-o", "stat=", "-p", process]).output().unwrap();
    let state = String::from_utf8_lossy(&shown.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

#[test]
fn a_signal_ends_the_compiler_and_its_child_processes() {
    for (verb, more) in [("run", &[][..]), ("build", &["-o", "made"])] {
        let folder = folder_with(COUNT);
        let compiler = folder.path().join("compiler");
        fs::write(&compiler, SLOW_COMPILER).unwrap();
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.arg(verb).arg("program.str").args(more).current_dir(folder.path()).env("CC", &compiler);
        command.env("XDG_CACHE_HOME", folder.path().join("cache")).stdin(Stdio::null());
        let child = crate::child::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let started = Instant::now();
        let worker = loop {
            if let Ok(worker) = fs::read_to_string(folder.path().join("worker")) {
                break worker.trim().to_owned();
            }
            assert!(started.elapsed() < Duration::from_secs(30), "the compiler is not called");
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(is_alive(&worker));
        child.send(Signal::TERM);
        let signalled = Instant::now();
        let output = child.output();
        assert!(signalled.elapsed() < Duration::from_secs(10), "the command does not end");
        assert_eq!(output.status.signal(), Some(15), "{}", stderr(&output));
        assert!(stderr(&output).starts_with("interrupted"), "{}", stderr(&output));
        assert!(!stderr(&output).contains("native code"), "{}", stderr(&output));
        while is_alive(&worker) {
            assert!(
                signalled.elapsed() < Duration::from_secs(10),
                "the child process of the compiler is left"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!folder.path().join("made").exists());
    }
}

/// Drops the multiples of 3, so it has a dynamic rate.
const SIFT: &str = "void->void pipeline Main { add Count(); add Sift(); add FileWriter<int>(\"-\"); }
void->int filter Count() { int n; work push 1 { push(n++); } }
int->int filter Sift() { work pop 1 push [0, 1] { int x = pop(); if (x % 3 != 0) push(x); } }";

/// A feedback loop in which a filter drops nothing, although its rate is dynamic.
const LOOP: &str = "void->void pipeline Main { add Count(); add Mix(); add FileWriter<int>(\"-\"); }
void->int filter Count() { int n; work push 1 { push(n++); } }
int->int feedbackloop Mix() { join roundrobin; body pipeline {
        add int->int filter { work pop 2 push 2 { int x = pop() + pop(); push(x); push(x); } };
        add int->int filter { work pop 1 push [0, 1] { push(pop()); } }; add Identity<int>(); };
    loop Identity<int>(); split roundrobin; enqueue 0; }";

const MODES: [&str; 7] = ["auto", "filters", "pipeline", "data", "sequential", "demand", "os-thread"];

#[test]
fn every_mode_prints_the_same_and_notes_if_it_uses_one_thread() {
    let kept: Vec<String> = (0..300).filter(|x| x % 3 != 0).map(|x| format!("{x}\n")).collect();
    let all: String = (0..300).map(|x| format!("{x}\n")).collect();
    for (text, printed, is_dynamic) in [(SIFT, kept.concat(), true), (COUNT, all, false)] {
        let folder = folder_with(text);
        for mode in MODES {
            for threads in ["1", "2"] {
                let arguments = ["--mode", mode, "--threads", threads, "-i", "300", "--text"];
                // The other program writes no file.
                let output = run(folder.path(), &arguments[..arguments.len() - usize::from(!is_dynamic)]);
                assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{mode}, {threads} threads");
                let note = match (mode, threads) {
                    ("sequential", "2") => {
                        "note: the program runs on one thread: sequential scheduling uses one thread\n"
                            .to_owned()
                    }
                    ("demand", "2") if !is_dynamic => {
                        "note: the program runs on one thread: it is one region, and on \
                         demand one thread at a time runs a region\n"
                            .to_owned()
                    }
                    ("data", "2") if is_dynamic => {
                        "note: `--mode data` has no effect: the program has dynamic rates, so \
                         it is divided as by `--mode auto`\n"
                            .to_owned()
                    }
                    ("filters" | "pipeline" | "data" | "os-thread", "1")
                        if !is_dynamic || mode != "os-thread" =>
                    {
                        format!("note: `--mode {mode}` has no effect: the program runs on one thread\n")
                    }
                    _ => String::new(),
                };
                assert_eq!(stderr(&output), note, "{mode}, {threads} threads");
            }
        }
    }
}

#[test]
fn each_form_of_a_graph_is_written_to_stdout_or_a_file() {
    let folder = folder_with(SIFT);
    let graph = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.args(["graph", "program.str"]).args(arguments).current_dir(folder.path()).output().unwrap()
    };
    for (form, has) in
        [("tree", "Sift"), ("flat", "Sift"), ("dot", "digraph"), ("svg", "<svg"), ("schedule", "region")]
    {
        let output = graph(&["--form", form]);
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(has), "{form}: {text}");
        assert!(graph(&["--format", form, "--output", "drawing", "-f"]).status.success());
        assert_eq!(fs::read_to_string(folder.path().join("drawing")).unwrap(), text);
    }
    let refused = graph(&["--output", "drawing"]);
    assert!(refused.status.code() == Some(1) && stderr(&refused).contains("already exists"), "{refused:?}");
    let output = graph(&["--output", "nowhere/drawing"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("nowhere/drawing"), "{}", stderr(&output));
    assert!(!graph(&["--form", "dot", "--output", "/dev/full"]).status.success());
}

#[test]
fn source_files_are_not_overwritten() {
    let folder = folder_with(COUNT);
    fs::hard_link(folder.path().join("program.str"), folder.path().join("hard")).unwrap();
    symlink("program.str", folder.path().join("soft")).unwrap();
    for output in ["program.str", "./program.str", "hard", "soft"] {
        for verb in [&["graph", "--force"][..], &["build", "--force"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
            command.args(verb).args(["program.str", "-o", output]).current_dir(folder.path());
            let done = command.env("XDG_CACHE_HOME", folder.path().join("cache")).output().unwrap();
            assert_eq!(done.status.code(), Some(1), "{verb:?} {output}");
            assert!(stderr(&done).contains("refusing to overwrite"), "{verb:?} {output}: {}", stderr(&done));
        }
        assert_eq!(fs::read_to_string(folder.path().join("program.str")).unwrap(), COUNT);
    }
}

#[test]
fn a_program_does_not_overwrite_what_the_command_reads() {
    for name in ["program.str", "./program.str", "hard", "soft", "data", "plan", "report"] {
        let text = SCALE.replace("\"made\"", &format!("\"{name}\""));
        let folder = folder_with(&text);
        fs::hard_link(folder.path().join("program.str"), folder.path().join("hard")).unwrap();
        symlink("program.str", folder.path().join("soft")).unwrap();
        fs::write(folder.path().join("data"), [0; 40]).unwrap();
        let options: &[&str] = match name {
            "plan" => &["--plan", "plan"],
            "report" => &["--save-report", "report"],
            _ => &[],
        };
        for engine in ENGINES.map(|engine| if name == "plan" { &[][..] } else { engine }) {
            let output = run(folder.path(), &[&["--input", "data"], options, engine].concat());
            assert_eq!(output.status.code(), Some(1), "{name}: {}", stderr(&output));
            let words = format!("refusing to overwrite {}", name);
            assert!(stderr(&output).contains(&words), "{name}: {}", stderr(&output));
            assert_eq!(fs::read_to_string(folder.path().join("program.str")).unwrap(), text);
            assert_eq!(fs::read(folder.path().join("data")).unwrap(), [0; 40]);
        }
        if options.is_empty() {
            // That name is not used.
            let output = run(folder.path(), &["--input", "data", "--output", "made"]);
            assert!(output.status.success(), "{name}: {}", stderr(&output));
        }
    }
}

#[test]
fn options_without_effect_on_native_code_are_noted() {
    let (still, sift, loops) = (folder_with(COUNT), folder_with(SIFT), folder_with(LOOP));
    let printers = folder_with(&COUNT.replace("push(n++)", "println(n); push(n++)"));
    let segments =
        "the program runs on one thread: at optimisation level 0 its code is not divided into segments";
    let prints =
        "the order of its firings is visible: several filters print, or one prints and another may fail";
    let wav = "the program reads and writes no file other than sound";
    for (folder, arguments, notes) in [
        (&still, &["-O", "0", "--threads", "2"][..], vec![segments.to_owned()]),
        (
            &still,
            &["-O", "0", "--mode", "filters"],
            vec![format!("`--mode filters` has no effect: {segments}")],
        ),
        (&still, &["-O", "0"], vec![]),
        (&sift, &["-O", "0", "--threads", "2", "--batch", "7", "--budget", "1M"], vec![]),
        (&still, &["--mode", "data", "--threads", "2", "--batch", "7"], vec![]),
        (
            &still,
            &["--threads", "1", "--batch", "7", "--budget", "1M"],
            vec![
                "`--batch 7` has no effect: the program has no dynamic rates and runs on one thread"
                    .to_owned(),
                "`--budget 1MiB` has no effect: the program has no dynamic rates".to_owned(),
            ],
        ),
        (
            &printers,
            &["--threads", "2", "--batch", "7"],
            vec![
                format!("the program runs on one thread: {prints}"),
                format!("`--batch 7` has no effect: {prints}"),
            ],
        ),
        (
            &loops,
            &["--threads", "2", "--text"],
            vec!["the program runs on one thread: a feedback loop has dynamic rates".to_owned()],
        ),
        (
            &still,
            &["--text", "--repeat-input"],
            vec![
                "`--repeat-input` has no effect: the program reads no file".to_owned(),
                format!("`--text` has no effect: {wav}"),
            ],
        ),
    ] {
        let output = run(folder.path(), &[arguments, &["-i", "1"]].concat());
        let notes: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
        assert_eq!((stderr(&output), output.status.code()), (notes, Some(0)), "{arguments:?}");
    }
}

#[test]
fn a_batch_is_followed_without_dynamic_rates() {
    let folder = folder_with(SCALE);
    fs::write(folder.path().join("given"), vec![1; 400_000]).unwrap();
    let output =
        run(folder.path(), &["--mode", "data", "--threads", "2", "--batch", "7", "--save-plan", "plan"]);
    assert_eq!((stderr(&output).as_str(), output.status.code()), ("", Some(0)));
    let plan = fs::read_to_string(folder.path().join("plan")).unwrap();
    assert!(plan.contains("\nbatch 7\n"), "{plan}");
}

#[test]
fn a_long_run_of_the_interpreter_is_noted() {
    let folder = folder_with(&COUNT.replace("println(pop());", "pop();"));
    let mut command = command(folder.path(), &["--engine", "interpreter"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(first, "note: the interpreter runs the program, some 1,000 times slower than native code\n");
}

#[test]
fn options_without_effect_on_the_interpreter_are_noted() {
    let folder = folder_with(COUNT);
    for (arguments, note) in [
        (
            &["--threads", "4"][..],
            "note: the program runs on one thread: the interpreter is single-threaded\n",
        ),
        (&["--mode", "data"], "note: `--mode data` has no effect: the interpreter runs the program\n"),
        (&["--batch", "7"], "note: `--batch 7` has no effect: the interpreter runs the program\n"),
        (&["-O", "1"], "note: `-O 1` has no effect: the interpreter runs the program\n"),
        (&["--threads", "1", "--mode", "auto"], ""),
    ] {
        let arguments = [arguments, &["-i", "1", "--engine", "interpreter"]].concat();
        let output = run(folder.path(), &arguments);
        assert_eq!((stderr(&output).as_str(), output.status.code()), (note, Some(0)), "{arguments:?}");
    }
}

#[test]
fn output_does_not_replace_the_input() {
    let folder = folder_with(SCALE);
    fs::write(folder.path().join("data"), [0; 40]).unwrap();
    for engine in ENGINES {
        let output = run(folder.path(), &[&["--input", "data", "-o", "data"], engine].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains("refusing to overwrite data"), "{}", stderr(&output));
        assert_eq!(fs::read(folder.path().join("data")).unwrap(), [0; 40]);
    }
}

#[test]
fn a_program_is_read_from_standard_input() {
    for (text, code, words) in [(COUNT, 0, ""), ("void->void pipeline Main {", 1, "standard input:1:")] {
        for arguments in [&["check", "-"][..], &["run", "-", "--iterations", "3"], &["graph", "-"]] {
            let folder = folder_with("");
            fs::write(folder.path().join("text"), text).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
            command.args(arguments).stdin(fs::File::open(folder.path().join("text")).unwrap());
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
            assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
        }
    }
}
