//! Rules that hold for every verb of an application: limits, threads, empty inputs, negative numbers.
#![cfg(unix)]

use std::fs;
#[cfg(target_os = "linux")]
use std::io::Read;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::{TempDir, tempdir};

use crate::child::Command;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("starts")
}

/// The same with an address space of `kib` KiB.
#[cfg(target_os = "linux")]
fn run_within(folder: &Path, kib: u64, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v $0 && exec \"$@\"", &kib.to_string(), env!("CARGO_BIN_EXE_thalweg")]);
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("starts")
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with a small input for each verb, and empty ones.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("star", "1 9\n2 9\n3 9\n");
    write("a.fa", ">a\nACGTACGTACGT\n");
    write("block.rle", "x = 2, y = 2\n2o$2o!\n");
    write("none", "");
    write("comments", "# nothing\n");
    folder
}

/// The verbs that execute loops or graphs of tasks, with arguments for little work.
const VERBS: [&[&str]; 5] = [
    &["demo", "pagerank", "star"],
    &["align", "a.fa", "a.fa"],
    &["demo", "life", "glider", "-g", "3"],
    &["demo", "stencil", "mg", "--scale", "128"],
    &["demo", "stencil", "heat", "--scale", "512"],
];

/// A program without end, whose middle runs on any number of threads.
#[cfg(target_os = "linux")]
const COUNT: &str = "void->void pipeline Main { add Count(); add Mix(3); add Mix(4); add Show(); }
void->int filter Count() { int n; work push 1 { push(n++); } }
int->int filter Mix(int k) { work pop 1 push 1 { int s = pop(); for (int i = 0; i < 50; i++) s = s * 31 + k; push(s); } }
int->void filter Show() { work pop 1 { println(pop()); } }";

#[test]
fn threads_follow_one_rule() {
    let folder = folder();
    let team = thalweg::loops::team_size();
    for verb in VERBS {
        let with = |threads: &str| run(folder.path(), &[verb, &["--threads", threads]].concat());
        for (threads, why) in
            [("0", "threads 0: at least 1 is needed"), ("4097", "4097 threads: at most 4096")]
        {
            let refused = with(threads);
            assert_eq!(refused.status.code(), Some(2), "{verb:?}: {refused:?}");
            assert!(message(&refused).contains(why) && refused.stdout.is_empty(), "{verb:?}: {refused:?}");
        }
        let more = with(&(team + 1).to_string());
        let note = format!(
            "note: --threads {} is more than the cores that this process may use, so {team} threads run\n",
            team + 1
        );
        assert!(more.status.success() && message(&more).contains(&note), "{verb:?}: {more:?}");
        let all = with(&team.to_string());
        assert!(all.status.success() && !message(&all).contains("note: "), "{verb:?}: {all:?}");
    }
    let quiet = run(folder.path(), &["demo", "pagerank", "star", "--threads", "4096", "-q"]);
    assert!(quiet.status.success() && quiet.stderr.is_empty(), "{quiet:?}");
    let planned = ["--counts", "--machine", "planned"];
    fs::write(folder.path().join("planned"), "thalweg-machine 1\ndomains 8\ncores 80\n").unwrap();
    let counted =
        run(folder.path(), &[&["demo", "pagerank", "star", "--threads", "4096"], &planned[..]].concat());
    let text = message(&counted);
    assert!(
        text.contains("note: --threads 4096") && text.contains(&format!("\nthreads: {team}, in ")),
        "{text}"
    );
}

/// The largest resident memory of a command so far, in MiB. The command has written output, so all its threads exist.
#[cfg(target_os = "linux")]
fn peak(folder: &Path, arguments: &[&str]) -> u64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let begun = out.read_exact(&mut [0]);
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    begun.unwrap_or_else(|_| panic!("{arguments:?} writes nothing"));
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

/// Each verb of the engine prints more than fits into a pipe, so it waits there.
#[cfg(target_os = "linux")]
#[test]
fn memory_grows_in_proportion_to_threads() {
    let folder = folder();
    let words: String =
        (0..30_000u64).map(|i| format!("{:x} ", i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 7_777_777)).collect();
    fs::write(folder.path().join("words"), words).unwrap();
    fs::write(folder.path().join("count.str"), COUNT).unwrap();
    for verb in [
        &["demo", "wordcount", "words"][..],
        &["demo", "wordcount", "words", "--map-reduce"],
        &["dedup", "pack", "words", "-o", "-"],
        &["run", "count.str"],
        &["run", "count.str", "--mode", "pipeline"],
        &["run", "count.str", "--mode", "data"],
    ] {
        let with = |threads| peak(folder.path(), &[verb, &["--threads", threads]].concat());
        let (some, many) = (with("100"), with("800"));
        // What a thread has taken differs by when it has begun: 125 to 215 MiB were measured for 800.
        assert!(some < 100 && many < 300, "{verb:?}: {some} MiB and {many} MiB");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_refused_within_the_address_space_of_the_process() {
    let folder = folder();
    let note = "\nnote: the limit is the address space of the process (ulimit -v)";
    let kib = (300 << 10) + (72 << 10) * thalweg::loops::team_size() as u64;
    for (arguments, why) in [
        (&["demo", "pagerank", "--rmat", "24"][..], "an R-MAT graph of scale 24 needs 3.75 GiB of memory"),
        (
            &["demo", "pagerank", "--rmat", "24", "--memory", "4G"],
            "an R-MAT graph of scale 24 needs 3.75 GiB",
        ),
        (
            &["demo", "life", "--random", "1", "--size", "60000x60000", "--torus"],
            "60000 x 60000 cells takes 861 MiB at",
        ),
        (
            &["demo", "life", "gosper-gun", "--size", "60000x60000", "--torus"],
            "60000 x 60000 cells takes 861 MiB at",
        ),
        (&["demo", "stencil", "heat"], "the limit is 1"),
    ] {
        let output = run_within(folder.path(), kib, arguments);
        let text = message(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        let error =
            text.lines().skip_while(|line| !line.starts_with("error: ")).collect::<Vec<_>>().join("\n");
        assert!(
            error.contains(why) && error.contains(note) && error.contains("\nhelp: "),
            "{arguments:?}: {text}"
        );
    }
    // A plane that grows is computed or refused.
    for size in ["8000x8000", "10000x10000", "12000x12000"] {
        let grown =
            run_within(folder.path(), kib, &["demo", "life", "--random", "1", "--size", size, "-g", "70"]);
        assert!(matches!(grown.status.code(), Some(0 | 1)), "{size}: {grown:?}");
    }
    // What fits is computed, and another cause of an error has no note.
    let small = run_within(folder.path(), kib, &["demo", "pagerank", "star", "-q"]);
    assert!(small.status.success() && small.stderr.is_empty(), "{small:?}");
    let given = run_within(folder.path(), kib, &["demo", "pagerank", "star", "--memory", "30"]);
    assert!(
        message(&given)
            .contains("star needs 36 B of memory for 3 links without their pages, the limit is 30 B")
    );
    assert!(!message(&given).contains("note: "), "{given:?}");
}

#[test]
fn empty_inputs_are_announced() {
    let folder = folder();
    for (arguments, warning) in [
        (&["demo", "pagerank", "none"][..], "warning: none has no links"),
        (&["demo", "pagerank", "comments", "-q"], "warning: comments has no links"),
        (&["align", "none", "a.fa"], "warning: none has no sequences"),
        (&["align", "a.fa", "none"], "warning: none has no sequences"),
    ] {
        let output = run(folder.path(), arguments);
        assert!(output.status.success() && message(&output).contains(warning), "{arguments:?}: {output:?}");
    }
    assert!(!message(&run(folder.path(), &["demo", "pagerank", "star"])).contains("warning"));
    assert!(run(folder.path(), &["align", "a.fa", "a.fa"]).stderr.is_empty());
}

#[test]
fn negative_numbers_are_values() {
    let folder = folder();
    for (arguments, why) in [
        (
            &["demo", "pagerank", "star", "--tolerance", "-1"][..],
            "the tolerance must be 0 or positive, it is -1",
        ),
        (
            &["demo", "pagerank", "star", "--damping", "-0.5"],
            "the damping must be from 0 to below 1, it is -0.5",
        ),
        (&["align", "a.fa", "a.fa", "--gap-open", "-1"], "gap costs -1 (open)"),
        (&["align", "a.fa", "a.fa", "--gap-extend", "-1"], "-1 (extend)"),
        (&["align", "a.fa", "a.fa", "--mismatch", "-4"], "-4"),
        (&["align", "a.fa", "a.fa", "--match", "-4"], "-4"),
        (&["align", "a.fa", "a.fa", "--gap", "log", "--gap-open", "-1"], "--gap-open is -1"),
    ] {
        let output = run(folder.path(), arguments);
        let text = message(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.starts_with("error: ") && text.contains(why), "{arguments:?}: {text}");
    }
}

#[test]
fn sizes_beyond_all_memory_name_cells_and_bytes() {
    let folder = folder();
    let size = ["demo", "life", "--random", "1", "--size", "1073741824x1073741824", "--torus"];
    let text = message(&run(folder.path(), &size));
    let named =
        "a world of 1073741824 x 1073741824 cells takes 256 PiB at generation 0, the limit is 4 GiB\nhelp: ";
    assert!(text.contains(named), "{text}");
    let text = message(&run(folder.path(), &["demo", "life", "glider", "--torus", "--size", "2000000000x5"]));
    assert!(text.contains("like 200x100, each from 1 to 1073741824"), "{text}");
}

#[test]
fn an_input_is_not_overwritten_even_if_forced() {
    let folder = folder();
    fs::hard_link(folder.path().join("a.fa"), folder.path().join("linked")).unwrap();
    for (arguments, output) in [
        (&["demo", "pagerank", "star"][..], "star"),
        (&["align", "a.fa", "a.fa"], "a.fa"),
        (&["align", "a.fa", "a.fa"], "./linked"),
        (&["demo", "life", "block.rle"], "block.rle"),
    ] {
        let before = fs::read(folder.path().join(output)).unwrap();
        let refused = run(folder.path(), &[arguments, &["-f", "-o", output]].concat());
        assert!(!refused.status.success(), "{arguments:?}");
        let text = message(&refused);
        assert!(
            text.contains(&format!("refusing to overwrite {output}, which this command also reads")),
            "{text}"
        );
        assert!(fs::read(folder.path().join(output)).unwrap() == before, "{arguments:?}");
    }
    // A built-in pattern is no file.
    for force in [&[][..], &["-f"]] {
        assert!(
            run(folder.path(), &[&["demo", "life", "glider", "-g", "1", "-o", "glider"], force].concat())
                .status
                .success()
        );
    }
}

#[test]
fn counts_have_their_steals_though_there_are_none() {
    let folder = folder();
    for verb in [&["demo", "pagerank", "star", "-q"][..], &["align", "a.fa", "a.fa"]] {
        for schedule in ["tasks", "loops"] {
            let options = ["--schedule", schedule, "--counts", "--threads", "1"];
            let text = message(&run(folder.path(), &[verb, &options].concat()));
            assert!(
                text.contains("\nsteals: 0 in 0 attempts, of which coloured 0 in 0\n"),
                "{verb:?}: {text}"
            );
        }
    }
}

#[test]
fn scales_are_fractions_of_the_sizes_of_the_paper() {
    let folder = folder();
    for (arguments, what) in [
        (&["demo", "life", "--scale", "64"][..], &["generation  5\n"][..]),
        (&["demo", "life", "--scale", "64", "-g", "2", "-o", "-"], &["x = 256, y = 10240, rule = B3/S23\n"]),
        (
            &["demo", "pagerank", "--scale", "4096", "--top", "1"],
            &[
                "R-MAT graph like uk-2002 at scale 4096: up to 73728 links between 4096 pages",
                " links: 10 iterations",
            ],
        ),
        (
            &["demo", "pagerank", "--scale", "4096", "--crawl", "twitter-2010", "--max-iterations", "3"],
            &["like twitter-2010 at scale 4096: up to 360448 links between 8192 pages", ": 3 iterations"],
        ),
        (&["align", "--scale", "64", "--report"], &["1 queries, 1 targets (DNA): 4194304 cells"]),
        (&["align", "--scale", "16", "--gap", "log"], &["score "]),
    ] {
        let output = run(folder.path(), arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &message(&output);
        assert!(output.status.success(), "{arguments:?}: {text}");
        for what in what {
            assert!(text.contains(what), "{arguments:?}: {what}: {text}");
        }
    }
    // Without a number, the default.
    let refused = run(folder.path(), &["demo", "life", "--scale", "--memory", "1G"]);
    assert!(message(&refused).contains("16384 x 655360 cells takes 2.5"), "{refused:?}");
    let refused = run(folder.path(), &["demo", "pagerank", "--memory", "1M", "--scale"]);
    assert!(message(&refused).contains("links and 1048576 pages"), "{refused:?}");
    for arguments in [
        &["demo", "life", "--scale", "2", "--torus"][..],
        &["demo", "life", "glider", "--scale", "2"],
        &["demo", "pagerank", "star", "--scale", "16"],
        &["demo", "pagerank", "star", "--crawl", "uk-2002"],
        &["align", "a.fa", "a.fa", "--scale", "2"],
        &["align", "a.fa"],
        &["align", "--scale", "0"],
    ] {
        assert_eq!(run(folder.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
}
