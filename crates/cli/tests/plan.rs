//! The options `--plan`, `--show-plan` and `--save-plan`.
#![cfg(unix)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::{TempDir, tempdir};

use crate::child::Command;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("starts")
}

fn good(folder: &Path, arguments: &[&str]) -> Output {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn bad(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(!output.status.success(), "{arguments:?}: {output:?}");
    stderr(&output)
}

fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let content: Vec<u8> = (0..200_000u32).flat_map(|n| format!("w{} ", n % 999).into_bytes()).collect();
    fs::write(folder.path().join("file"), content).unwrap();
    folder
}

/// The plan that a command prints on standard error.
fn shown(output: &Output) -> String {
    let text = stderr(output);
    let start = text.find("thalweg-plan 2").unwrap_or_else(|| panic!("no plan in {text}"));
    text[start..].trim_end().to_owned()
}

/// Tokens are nodes of the graph: the plan shows them, and is for runs with tokens. A graph that cannot have them is refused by
/// name, before it writes anything.
#[test]
fn tokens_are_in_the_plan_and_are_refused_by_name() {
    let folder = folder();
    let pack = |name: &str, more: &[&str]| {
        run(folder.path(), &[&["dedup", "pack", "file", "-fo", name, "--show-plan"], more].concat())
    };
    let plain = shown(&pack("plain", &[]));
    let with = pack("with", &["--tokens", "2"]);
    assert!(with.status.success(), "{with:?}");
    let plan = shown(&with);
    assert!(plan.contains("in_flight.entry") && !plain.contains("in_flight"), "{plan}");
    let archive = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(archive("plain"), archive("with"));

    fs::write(folder.path().join("plan"), &plan).unwrap();
    assert_eq!(shown(&pack("again", &["--tokens", "2", "--plan", "plan"])), plan);
    assert!(!pack("other", &["--plan", "plan"]).status.success());

    let many = bad(folder.path(), &["demo", "wordcount", "file", "--tokens", "2"]);
    assert!(
        many.contains("`tokens` limits the items between one source and one sink, and the graph has"),
        "{many}"
    );
    assert!(many.contains("sinks: `merger0`"), "{many}");
    let none = bad(folder.path(), &["dedup", "pack", "file", "-o", "none", "--tokens", "0"]);
    assert!(none.contains("tokens 0: at least 1 is needed"), "{none}");
    assert!(!folder.path().join("none").exists());
    fs::write(folder.path().join("p.str"), "void->void pipeline P { add S(); add T(); } void->int filter S { work push 1 { push(1); } } int->void filter T { work pop 1 { println(pop()); } }").unwrap();
    let program = bad(folder.path(), &["run", "p.str", "-i", "1", "--tokens", "2"]);
    assert!(program.contains("--tokens limits the items between one source and one sink"), "{program}");
}

#[test]
fn a_shown_plan_is_followed_and_shown_again() {
    let folder = folder();
    let pack =
        |more: &[&str]| good(folder.path(), &[&["dedup", "pack", "file", "-fo", "a.thd"], more].concat());
    let plan = shown(&pack(&["--show-plan", "--threads", "3", "--policy", "ws-last"]));
    assert!(plan.contains("\nthreads 3\npolicy ws-last\n"), "{plan}");
    let archive = fs::read(folder.path().join("a.thd")).unwrap();

    // The application wishes claims of one firing, and gives way to the plan.
    let edited = plan.replace("claim 1 ", "claim 5 ").replace("threads 3", "threads 2");
    assert_ne!(edited, plan);
    fs::write(folder.path().join("plan"), &edited).unwrap();
    assert_eq!(shown(&pack(&["--plan", "plan", "--show-plan"])), edited);
    assert!(fs::read(folder.path().join("a.thd")).unwrap() == archive, "the archive depends on the plan");
}

#[test]
fn a_plan_is_made_for_the_described_machine() {
    let folder = folder();
    let text = "thalweg-machine 1\ndomains 8\ncores 10\ncache 1 size 16 KiB per core\n";
    fs::write(folder.path().join("server"), text).unwrap();
    let here = good(folder.path(), &["demo", "wordcount", "file", "--threads", "2"]);
    let there =
        good(folder.path(), &["demo", "wordcount", "file", "--machine", "server", "--save-plan", "plan"]);
    assert!(there.stdout == here.stdout, "the counts depend on the machine");
    let plan = fs::read_to_string(folder.path().join("plan")).unwrap();
    assert!(plan.contains("\nthreads 80\n"), "{plan}");
    // The number of threads has priority.
    let three = ["demo", "wordcount", "file", "--machine", "server", "--threads", "3", "--show-plan"];
    assert!(shown(&good(folder.path(), &three)).contains("\nthreads 3\n"));
    // A mistake ends the command before it writes anything.
    fs::write(folder.path().join("wrong"), text.replace("cores 10", "cores ten")).unwrap();
    let pack = ["dedup", "pack", "file", "-o", "a.thd", "--machine", "wrong"];
    let message = bad(folder.path(), &pack);
    assert!(
        message.contains("error: wrong, line 3: expected a number") && message.contains("`ten`"),
        "{message}"
    );
    assert!(!folder.path().join("a.thd").exists());
    // A plan decides what a machine does.
    let both = bad(folder.path(), &["demo", "wordcount", "file", "--machine", "server", "--plan", "plan"]);
    assert!(both.contains("--machine") && both.contains("--plan"), "{both}");
    let overwrite =
        bad(folder.path(), &["demo", "wordcount", "file", "--machine", "server", "--save-plan", "server"]);
    assert!(overwrite.contains("refusing to overwrite server"), "{overwrite}");
}

/// The graph of a word count has a counter for each thread: the number that the plan says.
#[test]
fn the_number_of_threads_in_a_plan_shapes_the_graph() {
    let folder = folder();
    let first = good(folder.path(), &["demo", "wordcount", "file", "--show-plan", "--threads", "5"]);
    fs::write(folder.path().join("plan"), shown(&first)).unwrap();
    let again = good(folder.path(), &["demo", "wordcount", "file", "--plan", "plan", "--show-plan"]);
    assert_eq!(shown(&again), shown(&first));
    assert!(again.stdout == first.stdout, "the counts depend on the plan");
}

#[test]
fn of_several_plans_each_graph_takes_its_own() {
    let folder = folder();
    let packed = good(folder.path(), &["dedup", "pack", "file", "-o", "a.thd", "--show-plan"]);
    let verified = good(folder.path(), &["dedup", "verify", "a.thd", "--show-plan"]);
    fs::write(folder.path().join("pack"), shown(&packed)).unwrap();
    fs::write(folder.path().join("verify"), shown(&verified)).unwrap();
    good(folder.path(), &["dedup", "verify", "a.thd", "--plan", "pack", "--plan", "verify"]);
    let why = bad(folder.path(), &["dedup", "verify", "a.thd", "--plan", "pack"]);
    assert!(why.contains("pack, line 2: ") && why.contains("help: make a new plan for this graph"), "{why}");
}

/// The demo runs two graphs, and a plan for one of them leaves the other to the engine.
#[test]
fn a_demo_reads_back_the_plans_that_it_saves() {
    let folder = folder();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::rename(folder.path().join("file"), folder.path().join("tree/file")).unwrap();
    fs::create_dir(folder.path().join("tmp")).unwrap();
    let demo = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.args([&["dedup", "demo", "tree"], more].concat()).current_dir(folder.path());
        let output = command.env("TMPDIR", folder.path().join("tmp")).output().expect("starts");
        assert!(output.status.success(), "{more:?}: {output:?}");
        stderr(&output)
    };
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(demo(&["--save-plan", "p.txt", "--threads", "3"]), "");
    let plans = [read("p-pack.txt"), read("p-unpack.txt")];
    assert!(plans.iter().all(|plan| plan.contains("\nthreads 3\n")), "{plans:?}");

    let both = ["--plan", "p-pack.txt", "--plan", "p-unpack.txt", "--save-plan", "q.txt"];
    assert_eq!(demo(&both), "");
    assert_eq!([read("q-pack.txt"), read("q-unpack.txt")], plans);

    let warning = demo(&["--plan", "p-pack.txt"]);
    let graph = plans[1].lines().nth(1).unwrap().strip_prefix("graph ").unwrap();
    let expected = format!(
        "warning: no plan is given for graph `{graph}` (read, decode, assemble), which follows the engine's own\n"
    );
    assert_eq!(warning, expected);

    let why = bad(folder.path(), &["dedup", "demo", "tree", "--plan", "p-pack.txt", "--save-plan", "p.txt"]);
    assert!(why.contains("refusing to overwrite p-pack.txt, which this command also reads"), "{why}");
    let edited = plans[0].replace("policy auto", "policy fifo");
    fs::write(folder.path().join("p-pack.txt"), edited).unwrap();
    let output = run(folder.path(), &["dedup", "demo", "tree", "--plan", "p-pack.txt"]);
    assert!(
        stderr(&output).contains("p-pack.txt, line 4: unknown policy") && output.stdout.is_empty(),
        "{output:?}"
    );
}

#[test]
fn a_plan_is_saved_over_plans_alone() {
    let folder = folder();
    let save = ["demo", "wordcount", "file", "--save-plan", "plan"];
    good(folder.path(), &save);
    let plan = fs::read_to_string(folder.path().join("plan")).unwrap();
    assert_eq!(
        shown(&good(folder.path(), &["demo", "wordcount", "file", "--plan", "plan", "--show-plan"])),
        plan.trim_end()
    );
    good(folder.path(), &save);
    let why = bad(folder.path(), &[&save[..], &["--plan", "plan"]].concat());
    assert!(why.contains("refusing to overwrite plan, which this command also reads"), "{why}");
    let why = bad(folder.path(), &["demo", "wordcount", "file", "--save-report", "plan"]);
    assert!(why.contains("plan, which is neither a report nor a timeline"), "{why}");
    fs::write(folder.path().join("plan"), "precious").unwrap();
    assert!(bad(folder.path(), &save).contains("refusing to overwrite plan, which is no plan\nhelp: "));
    assert_eq!(fs::read_to_string(folder.path().join("plan")).unwrap(), "precious");
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let folder = folder();
    let shown = shown(&good(folder.path(), &["demo", "wordcount", "file", "--show-plan"]));
    let with = |text: &str| {
        fs::write(folder.path().join("plan"), text).unwrap();
        bad(folder.path(), &["demo", "wordcount", "file", "--plan", "plan"])
    };
    assert!(with("hello\n").contains("plan, line 1: not a plan"));
    assert!(with("thalweg-plan 1\n").contains("plan, line 1: unsupported version"));
    let why = with(&shown.replace("policy auto", "policy auto\npolicy qes"));
    assert!(why.contains("plan, line 5: duplicate `policy`"), "{why}");
    let why = with(&shown.replace("node 0 claim", "node 0 worker 3 claim"));
    assert!(why.contains(": unknown statement `node 0 worker 3 claim"), "{why}");
    let why = with(&shown.replace("window", "window 3 #"));
    assert!(why.contains("plan, line 6: ") && why.contains("expected a power of two"), "{why}");
    let why = with(&shown.replace("policy auto", "policy fifo"));
    assert!(why.contains("error: plan, line 4: unknown policy `fifo`\nhelp: known policies are"), "{why}");
    fs::write(folder.path().join("plan"), b"\xFF").unwrap();
    assert!(
        bad(folder.path(), &["demo", "wordcount", "file", "--plan", "plan"]).contains("plan is not UTF-8")
    );
    assert!(bad(folder.path(), &["demo", "wordcount", "file", "--plan", "none"]).contains("opening none"));
    let why = bad(folder.path(), &["demo", "wordcount", "file", "--plan", "plan", "--threads", "2"]);
    assert!(why.contains("--plan") && why.contains("--threads"), "{why}");
}

#[test]
fn an_output_that_is_the_plan_is_refused() {
    let folder = folder();
    good(folder.path(), &["dedup", "pack", "file", "-fo", "a.thd", "--save-plan", "plan"]);
    let plan = fs::read(folder.path().join("plan")).unwrap();
    for verb in [&["dedup", "pack", "file"][..], &["dedup", "unpack", "a.thd"]] {
        let message = bad(folder.path(), &[verb, &["-fo", "plan", "--plan", "plan"]].concat());
        assert!(message.contains("refusing to overwrite plan"), "{message}");
        assert!(fs::read(folder.path().join("plan")).unwrap() == plan, "{verb:?}");
    }
}

const COUNT: &str = "void->void pipeline Main { add Count(); add Show(); }
void->int filter Count() { int n; work push 1 { push(n++); } }
int->void filter Show() { work pop 1 { println(pop()); } }";

#[test]
fn a_plan_without_an_end_is_refused() {
    let folder = folder();
    fs::write(folder.path().join("program.str"), COUNT).unwrap();
    for verb in [&["run", "program.str", "-i", "1"][..], &["demo", "wordcount", "file"]] {
        let message = bad(folder.path(), &[verb, &["--plan", "/dev/zero"]].concat());
        assert!(message.contains("/dev/zero is no text: it has a zero byte"), "{message}");
    }
}

/// No other process opens these pipes.
#[test]
fn one_signal_ends_the_wait_for_a_plan_from_a_pipe() {
    let folder = folder();
    fs::write(folder.path().join("program.str"), COUNT).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    let verbs: [&[&str]; 6] = [
        &["run", "program.str", "-i", "1", "--plan", "pipe"],
        &["run", "program.str", "-i", "1", "--machine", "pipe"],
        &["dedup", "pack", "file", "-fo", "a.thd", "--plan", "pipe"],
        &["show", "pipe"],
        &["graph", "pipe"],
        &["demo", "life", "pipe"],
    ];
    for verb in verbs {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.args(verb).current_dir(folder.path()).env("XDG_CACHE_HOME", folder.path().join("cache"));
        let mut child = crate::child::start(command.stdin(Stdio::null()).stdout(Stdio::null()));
        // A program is compiled before its plan is read.
        std::thread::sleep(Duration::from_secs(1));
        assert!(child.try_wait().unwrap().is_none(), "{verb:?} does not wait");
        let sent = Instant::now();
        child.send(Signal::TERM);
        assert_eq!(child.output().status.signal(), Some(15), "{verb:?}");
        assert!(sent.elapsed() < Duration::from_secs(10), "{verb:?} does not end at once");
    }
}

#[test]
fn pools_give_a_parallel_node_workers_of_its_own() {
    let folder = folder();
    let pack =
        |more: &[&str]| good(folder.path(), &[&["dedup", "pack", "file", "-fo", "a.thd"], more].concat());
    pack(&[]);
    let archive = || fs::read(folder.path().join("a.thd")).unwrap();
    let expected = archive();
    for more in [&["--pools", "3"][..], &["--pools", "2", "--policy", "pools"], &["--policy", "pools"]] {
        let plan = shown(&pack(&[more, &["--show-plan"]].concat()));
        assert!(plan.contains("\npolicy pools\n") && plan.contains(" workers "), "{plan}");
        assert!(archive() == expected, "the archive depends on {more:?}");
        fs::write(folder.path().join("plan"), &plan).unwrap();
        assert_eq!(shown(&pack(&["--plan", "plan", "--show-plan"])), plan);
        assert!(archive() == expected, "the archive depends on the plan of {more:?}");
    }
    let why =
        |more: &[&str]| bad(folder.path(), &[&["dedup", "pack", "file", "-fo", "a.thd"], more].concat());
    assert!(why(&["--pools", "0"]).contains("pools 0: at least 1 is needed"));
    assert!(why(&["--pools", "5000"]).contains("5000 workers for each parallel node: at most 4096"));
    assert!(why(&["--pools", "2", "--policy", "qes"]).contains("policy `qes` are both set"));
    assert!(why(&["--pools", "2", "--threads", "2"]).contains("cannot be used with"));
}

#[test]
fn firings_that_wait_for_their_tickets_change_no_archive() {
    let folder = folder();
    let pack =
        |more: &[&str]| good(folder.path(), &[&["dedup", "pack", "file", "-fo", "a.thd"], more].concat());
    pack(&[]);
    let archive = || fs::read(folder.path().join("a.thd")).unwrap();
    let expected = archive();
    for policy in ["prs", "auto"] {
        let text = stderr(&pack(&["--tickets", "wait", "--policy", policy, "--threads", "2", "--report"]));
        assert!(text.contains("firings waited for their tickets: "), "{text}");
        assert!(archive() == expected, "the archive depends on the waits under {policy}");
    }
    let why =
        |more: &[&str]| bad(folder.path(), &[&["dedup", "pack", "file", "-fo", "a.thd"], more].concat());
    assert!(why(&["--tickets", "3"]).contains("[possible values: wait]"));
}
