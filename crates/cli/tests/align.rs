//! The command `thalweg align`.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::{TempDir, tempdir};

use crate::child::Command;

fn align(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.arg("align").args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    align(folder, arguments).output().expect("starts")
}

fn good(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    // More threads than cores are announced.
    let is_silent = said.lines().all(|line| line.starts_with("note: --threads "));
    assert!(output.status.success() && is_silent, "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn random(seed: u64, letters: &[u8], count: usize) -> String {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(letters[(state >> 33) as usize % letters.len()])
    };
    (0..count).map(|_| next()).collect()
}

/// A folder with queries `q.fa`, targets `t.fa` and a pair of proteins.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("q.fa", ">q1 the first\nTTTACGTACGTACAAAACG\nTTGCA\n>q2\ncccccccc\n>empty\n");
    write("t.fa", ">t1\r\nGGACGTACGTACACGTTGCAGG\r\n>t2\r\nACGTTGCA\r\n");
    write("p.faa", ">p\nMKVLAWWGH\n");
    folder
}

#[test]
fn scores_and_alignments() {
    let folder = folder();
    let tsv = "query\ttarget\tscore\nq1\tt1\t27\nq1\tt2\t16\n";
    assert_eq!(good(folder.path(), &["q.fa", "t.fa", "--format", "tsv", "--min-score", "5"]), tsv);
    let best = good(folder.path(), &["q.fa", "t.fa", "--best", "--min-score", "5"]);
    assert!(best.contains("score  27, identity "), "{best}");
    assert_eq!(best.matches("no alignment").count(), 2);
    let sam = good(folder.path(), &["q.fa", "t.fa", "--best", "--format", "sam", "--min-score", "5"]);
    assert!(sam.contains("@SQ\tSN:t1\tLN:22\n") && sam.contains("\nq1\t0\tt1\t3\t255\t3S"), "{sam}");
    assert!(sam.contains("--format sam --min-score 5\n"), "{sam}");
    let protein = good(folder.path(), &["p.faa", "p.faa"]);
    assert!(protein.contains("score  58, identity 9/9 (100.0 %), gaps 0"), "{protein}");
    assert!(
        protein.contains("query  1 MKVLAWWGH 9\n         |||||||||\ntarget 1 MKVLAWWGH 9\n"),
        "{protein}"
    );
}

#[test]
fn gzip_and_pipes_are_read() {
    let folder = folder();
    let expected = good(folder.path(), &["q.fa", "t.fa"]);
    let zipped = Command::new("gzip").args(["-k", "q.fa"]).current_dir(folder.path()).status().unwrap();
    assert!(zipped.success());
    assert_eq!(good(folder.path(), &["q.fa.gz", "t.fa"]), expected);
    let mut child =
        align(folder.path(), &["-", "t.fa"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let zipped = fs::read(folder.path().join("q.fa.gz")).unwrap();
    child.stdin.take().unwrap().write_all(&zipped).unwrap();
    assert_eq!(child.output().stdout, expected.as_bytes());
}

#[test]
fn zeros_after_gzip_data_are_padding_and_other_bytes_a_warning() {
    let folder = folder();
    let expected = good(folder.path(), &["q.fa", "t.fa"]);
    assert!(Command::new("gzip").args(["-k", "q.fa"]).current_dir(folder.path()).status().unwrap().success());
    let zipped = fs::read(folder.path().join("q.fa.gz")).unwrap();
    let aligned = |tail: &[u8]| {
        fs::write(folder.path().join("q.fa.gz"), [&zipped, tail].concat()).unwrap();
        align(folder.path(), &["q.fa.gz", "t.fa"]).output().unwrap()
    };
    let padded = aligned(&[0; 1000]);
    assert!(padded.status.success() && padded.stderr.is_empty(), "{padded:?}");
    assert_eq!(padded.stdout, expected.as_bytes());
    let garbage = aligned(b"garbage");
    let message = String::from_utf8_lossy(&garbage.stderr);
    assert!(message.contains("warning: q.fa.gz: ignored what follows the gzip data"), "{message}");
    assert!(garbage.status.success() && garbage.stdout == expected.as_bytes());
    // A second member that is cut off.
    assert_eq!(aligned(&zipped[..zipped.len() / 2]).status.code(), Some(1));
}

#[test]
fn codes_of_several_nucleotides_are_dna() {
    let folder = tempdir().unwrap();
    let aligned = |query: &str, target: &str| {
        fs::write(folder.path().join("q"), format!(">q1\n{query}\n")).unwrap();
        fs::write(folder.path().join("t"), format!(">t1\n{target}\n")).unwrap();
        good(folder.path(), &["q", "t", "--format", "tsv"])
    };
    let with = |letter: &str| aligned("TTGACCGRATACCAG", &format!("CCTTGACCGAATACCAG{letter}A"));
    // 14 matches, and a code that scores as N does.
    for letter in ["R", "Y", "S", "W", "K", "M", "B", "D", "H", "V", "N"] {
        assert_eq!(with(letter), with("N"), "{letter}");
    }
    assert_eq!(with("Y"), aligned("TTGACCGNATACCAG", "CCTTGACCGAATACCAGNA"));
    assert!(with("Y").contains("q1\tt1\t"), "{}", with("Y"));
    // Many codes: fibroin of silk consists of glycine, alanine and serine.
    let silk = "GAGAGSGAGAGSGAGAGSGAGAGSGAGAGS";
    let protein = |letters| good(folder.path(), &["q", "t", "--format", "tsv", "--alphabet", letters]);
    assert_eq!(aligned(silk, silk), protein("protein"));
    assert_ne!(aligned(silk, silk), protein("dna"));
}

#[test]
fn arguments_that_are_not_utf_8_are_escaped_in_the_header() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    let name = OsStr::from_bytes(b"q\xff\x1b.fa");
    fs::copy(folder.path().join("q.fa"), folder.path().join(name)).unwrap();
    let output = align(folder.path(), &["--format", "sam"]).arg(name).arg("t.fa").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let sam = String::from_utf8(output.stdout).unwrap();
    assert!(sam.contains(" --format sam q\\xff\\u{1b}.fa t.fa\n"), "{sam}");
}

#[test]
fn output_is_the_same_for_all_threads_and_blocks() {
    let folder = tempdir().unwrap();
    let some = |seed: u64, count: u64| -> String {
        (0..count).map(|at| format!(">s{at}\n{}\n", random(seed + at, b"ACGT", 150))).collect()
    };
    fs::write(folder.path().join("q"), some(1, 15)).unwrap();
    let long = format!("{}>long\n{}\n", some(100, 10), random(7, b"ACGT", 12_000));
    fs::write(folder.path().join("t"), long).unwrap();
    for format in ["text", "sam", "tsv"] {
        let mut outputs = [&["--threads", "1"][..], &["--threads", "3"], &["--block", "100"]].map(|more| {
            let output = good(folder.path(), &[&["q", "t", "--format", format], more].concat());
            // The header has the command line.
            output.lines().filter(|line| !line.starts_with("@PG")).collect::<Vec<_>>().join("\n")
        });
        assert!(outputs[0].len() > 1000);
        outputs.sort();
        assert!(outputs[0] == outputs[2], "{format}");
    }
}

#[test]
fn files_are_replaced_with_force_only() {
    let folder = folder();
    let out = folder.path().join("out");
    assert_eq!(good(folder.path(), &["q.fa", "t.fa", "-o", "out"]), "");
    let text = fs::read_to_string(&out).unwrap();
    assert_eq!(text, good(folder.path(), &["q.fa", "t.fa"]));
    fs::write(&out, "mine").unwrap();
    let refused = run(folder.path(), &["q.fa", "t.fa", "-o", "out"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("help: choose another name"), "{refused:?}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    // An error leaves the file as it is.
    fs::write(folder.path().join("same.fa"), ">a\nA\n>a\nC\n").unwrap();
    let failed = run(folder.path(), &["q.fa", "same.fa", "-fo", "out", "--format", "sam"]);
    assert!(!failed.status.success());
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    good(folder.path(), &["q.fa", "t.fa", "-fo", "out"]);
    assert_eq!(fs::read_to_string(&out).unwrap(), text);
    assert!(
        fs::read_dir(folder.path()).unwrap().all(|file| !file
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with('.'))
    );
}

#[test]
fn errors_say_what_is_wrong() {
    let folder = folder();
    fs::write(folder.path().join("bad.fa"), ">a\nAC\nA-C\n").unwrap();
    fs::write(folder.path().join("long.fa"), format!(">a\n{}\n", random(1, b"ACGT", 100_000))).unwrap();
    for (arguments, what) in [
        (&["q.fa", "nothing"][..], "nothing"),
        (&["q.fa", "."], "is a folder"),
        (&["-", "-"], "both `-`"),
        (&["q.fa", "bad.fa"], "bad.fa, line 3: unexpected '-'"),
        (&["p.faa", "t.fa", "--alphabet", "dna"], "p.faa, line 2: unexpected 'L'"),
        (&["p.faa", "t.fa", "--match", "2"], "--match and --mismatch are for DNA"),
        (&["q.fa", "t.fa", "--gap-open", "1", "--gap-extend", "2"], "gap costs 1 (open) and 2 (extend)"),
        (&["q.fa", "t.fa", "--gap", "log", "--gap-open=-1"], "--gap-open is -1"),
        (&["q.fa", "t.fa", "-o", "."], "is a folder"),
        (
            &["long.fa", "long.fa", "--max-gigacells", "9"],
            "10.0 * 10^9 cells to compute, the limit is 9 * 10^9",
        ),
        (&["long.fa", "long.fa", "--memory", "20MiB"], "the limit is 20 MiB"),
        (&["long.fa", "long.fa", "--gap", "log"], "the limit is 4 GiB"),
        (&["long.fa", "q.fa", "--memory", "9K"], "long.fa holds more than 9216 bytes"),
    ] {
        let output = run(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {message}");
        assert!(
            output.stdout.is_empty() && message.starts_with("error: ") && message.contains(what),
            "{message}"
        );
        assert!(!message.contains("panicked"), "{message}");
    }
}

#[test]
fn schedules_give_the_same_alignments_and_their_accesses_are_counted() {
    let folder = folder();
    let long = format!(">a\n{}\n>b\n{}\n", random(1, b"ACGT", 2000), random(2, b"ACGT", 1500));
    fs::write(folder.path().join("long.fa"), long).unwrap();
    fs::write(folder.path().join("two.machine"), "thalweg-machine 1\ndomains 2\ncores 4\n").unwrap();
    let pairs = ["long.fa", "long.fa", "--block", "100", "--threads", "2"];
    let expected = good(folder.path(), &pairs);
    for schedule in ["loops", "static-loops", "tasks", "random-tasks"] {
        let counts = ["--schedule", schedule, "--counts", "--machine", "two.machine"];
        let output = run(folder.path(), &[&pairs[..], &counts].concat());
        assert!(output.status.success() && output.stdout == expected.as_bytes(), "{output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        let is_counted = message.contains("remote: accesses ") || message.starts_with("threads: 1");
        assert!(message.starts_with("threads: ") && is_counted, "{message}");
    }
    let small = run(folder.path(), &["q.fa", "t.fa", "--counts"]);
    assert!(String::from_utf8_lossy(&small.stderr).contains("no pair is large enough"));
}

#[test]
fn a_report_has_counts_and_the_rate() {
    let folder = folder();
    let output = run(folder.path(), &["q.fa", "t.fa", "--report", "--gap", "log"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("3 queries, 2 targets (DNA): 960 cells, which look at "), "{message}");
    assert!(message.contains("cells a second"), "{message}");
}

#[test]
fn dna_beside_proteins_is_a_warning() {
    let folder = folder();
    let stderr = |arguments: &[&str]| {
        String::from_utf8(run(folder.path(), arguments).stderr).expect("messages are UTF-8")
    };
    let warning = stderr(&["q.fa", "p.faa"]);
    assert!(
        warning.starts_with("warning: the queries look like DNA, but the targets are proteins"),
        "{warning}"
    );
    assert!(warning.contains("\nhelp: translate the queries, "), "{warning}");
    let warning = stderr(&["p.faa", "t.fa"]);
    assert!(
        warning.starts_with("warning: the targets look like DNA, but the queries are proteins"),
        "{warning}"
    );
    for arguments in [&["q.fa", "t.fa"][..], &["p.faa", "p.faa"], &["q.fa", "p.faa", "--alphabet", "protein"]]
    {
        assert_eq!(stderr(arguments), "");
    }
}

#[test]
fn the_least_score_is_one() {
    let message =
        String::from_utf8(run(folder().path(), &["q.fa", "t.fa", "--min-score", "0"]).stderr).unwrap();
    assert!(message.contains("0 is not in 1.."), "{message}");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempdir().unwrap();
    let some: String = (0..300).map(|at| format!(">s{at}\n{}\n", random(at, b"ACGT", 50))).collect();
    fs::write(folder.path().join("q"), some).unwrap();
    align(folder.path(), &["q", "q"]).assert_ends_without_a_reader();
}

#[test]
fn an_interrupt_leaves_no_file() {
    let folder = tempdir().unwrap();
    let long = format!(">a\n{}\n", random(1, b"ACGT", 300_000));
    fs::write(folder.path().join("long"), long).unwrap();
    let mut child = align(folder.path(), &["long", "long", "-o", "out"]);
    let mut child = crate::child::start(child.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let begun = || fs::read_dir(folder.path()).unwrap().count() > 1;
    let started = Instant::now();
    while !begun() {
        assert!(started.elapsed() < Duration::from_secs(30) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    child.send(Signal::INT);
    let output = child.output();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(2), "{message}");
    assert!(message.contains("interrupted") && !message.contains("error"), "{message}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// The command in several processes.
#[cfg(feature = "cluster")]
fn in_processes(folder: &Path, processes: &str, arguments: &[&str]) -> Command {
    let thalweg = env!("CARGO_BIN_EXE_thalweg");
    let mut command = Command::new(thalweg);
    command.args(["launch", "-n", processes, "--", thalweg, "align"]).args(arguments).current_dir(folder);
    command
}

#[cfg(feature = "cluster")]
#[test]
fn several_processes_write_what_one_does() {
    let folder = folder();
    let many: String =
        (0..300).map(|n| format!(">s{n}\n{}\n", random(n, b"ACGT", 40 + n as usize))).collect();
    fs::write(folder.path().join("many.fa"), many).unwrap();
    let command =
        |text: &str| text.lines().filter(|line| !line.starts_with("@PG")).collect::<Vec<_>>().join("\n");
    for arguments in [
        &["many.fa", "q.fa"][..],
        &["q.fa", "many.fa", "--best", "--format", "sam"],
        &["many.fa", "many.fa", "--format", "tsv", "--min-score", "40"],
        &["--scale", "512"],
        &["p.faa", "p.faa", "--gap", "log"],
    ] {
        let expected = good(folder.path(), arguments);
        for processes in ["2", "3"] {
            let output = in_processes(folder.path(), processes, arguments).output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{processes}: {output:?}");
            let written = String::from_utf8(output.stdout).unwrap();
            assert_eq!(command(&written), command(&expected), "{processes} {arguments:?}");
        }
    }
    fs::write(folder.path().join("none.fa"), "").unwrap();
    let empty = in_processes(folder.path(), "2", &["none.fa", "t.fa", "--format", "tsv"]).output().unwrap();
    let said = String::from_utf8_lossy(&empty.stderr);
    assert_eq!(empty.stdout, b"query\ttarget\tscore\n");
    assert_eq!(said, "warning: none.fa has no sequences\n");
    let piped = in_processes(folder.path(), "2", &["-", "t.fa", "-o", "out", "--report"])
        .stdin(fs::File::open(folder.path().join("q.fa")).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&piped.stderr);
    assert!(said.contains(" cells a second\nlink ") && said.contains("\n1 -> 0 "), "{said}");
    let written = fs::read_to_string(folder.path().join("out")).unwrap();
    assert!(piped.stdout.is_empty() && written == good(folder.path(), &["q.fa", "t.fa"]));
}

#[cfg(feature = "cluster")]
#[test]
fn process_0_alone_says_what_is_wrong_and_leaves_no_output() {
    let folder = folder();
    fs::write(folder.path().join("there"), "kept").unwrap();
    for (arguments, code, why) in [
        (&["q.fa", "none.fa"][..], 1, "error: opening none.fa: No such file or directory (os error 2)\n"),
        (&["-", "-"], 2, "error: queries and targets are both `-`\n"),
        (&["q.fa", "t.fa", "--counts"], 2, "error: several processes do not print --counts\n"),
        (&["q.fa", "t.fa", "-o", "there"], 1, "error: there already exists\n"),
        (&["q.fa", "t.fa", "-o", "no/such"], 1, "error: creating no/such: "),
        (&["q.fa", "t.fa", "-o", "/dev/full"], 1, "No space left on device"),
        (&["q.fa", "t.fa", "--memory", "1"], 1, "error: "),
        (&["p.faa", "p.faa", "--match", "3"], 1, "error: --match and --mismatch are for DNA"),
    ] {
        let output = in_processes(folder.path(), "3", arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
        assert!(said.contains(why), "{arguments:?}: {said}");
        // The other line is that of the launcher.
        assert_eq!(said.matches("error: ").count(), 2, "{said}");
        assert!(said.ends_with(&format!("error: process 0 has failed: exit status: {code}\n")), "{said}");
    }
    assert_eq!(fs::read(folder.path().join("there")).unwrap(), b"kept");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[cfg(feature = "cluster")]
#[test]
fn a_reader_that_wants_no_more_ends_all_processes() {
    let folder = tempdir().unwrap();
    let many: String = (0..400).map(|n| format!(">s{n}\n{}\n", random(n, b"ACGT", 60))).collect();
    fs::write(folder.path().join("many.fa"), many).unwrap();
    in_processes(folder.path(), "3", &["many.fa", "many.fa"]).assert_ends_without_a_reader();
}

/// The shares of this run take minutes, and the others do not wait for theirs.
#[cfg(all(feature = "cluster", target_os = "linux"))]
#[test]
fn a_process_that_is_killed_ends_the_others_in_the_middle_of_their_work() {
    let folder = tempdir().unwrap();
    let many: String = (0..40).map(|n| format!(">s{n}\n{}\n", random(n, b"ACGT", 20_000))).collect();
    fs::write(folder.path().join("many.fa"), many).unwrap();
    let mut command = in_processes(folder.path(), "3", &["many.fa", "many.fa", "-o", "out"]);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    let ids = loop {
        let ids = child.children();
        // Until all have begun to work.
        let works = |id: &i32| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            stat.split(' ').nth(13).and_then(|ticks| ticks.parse().ok()).is_some_and(|ticks: u64| ticks > 10)
        };
        if ids.len() == 3 && ids.iter().all(works) {
            break ids;
        }
        assert!(begin.elapsed() < Duration::from_secs(100));
        std::thread::sleep(Duration::from_millis(20));
    };
    let killed = Instant::now();
    rustix::process::kill_process(rustix::process::Pid::from_raw(ids[1]).unwrap(), Signal::KILL).unwrap();
    let output = child.output();
    assert!(killed.elapsed() < Duration::from_secs(8), "{:?}", killed.elapsed());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("error: process ") && said.lines().count() == 3, "{said}");
    assert!(said.ends_with(" has failed: signal: 9 (SIGKILL)\n"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
