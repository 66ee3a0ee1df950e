//! `thalweg launch`. Programs that form a cluster are tested in `crates/cluster`.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use rustix::process::kill_process;
use rustix::process::{Pid, Signal, test_kill_process};

use crate::child::Command;

fn launch(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.arg("launch").args(arguments);
    command
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = launch(arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn each_process_gets_its_number_and_the_first_failure_is_named() {
    let script = "set -- $THALWEG_LAUNCH; echo $2 of $3; exit $(($2 / 2 * 7))";
    let (code, output, error) = run(&["-n", "3", "--", "sh", "-c", script]);
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0 of 3", "1 of 3", "2 of 3"]);
    assert_eq!((code, error.as_str()), (Some(1), "error: process 2 has failed: exit status: 7\n"));
    assert_eq!(run(&["-n", "2", "--", "true"]).0, Some(0));
    let resumes =
        |arguments: &[&str]| run(&[arguments, &["--", "sh", "-c", "echo =$THALWEG_RESUME"]].concat()).1;
    assert_eq!(
        (resumes(&["-n", "1"]), resumes(&["-n", "1", "--resume"])),
        ("=\n".to_owned(), "=1\n".to_owned())
    );
}

#[test]
fn wrong_arguments_and_programs_are_named() {
    let (code, _, error) = run(&["-n", "2", "--", "/no/such/program"]);
    assert_eq!(code, Some(1));
    assert!(error.starts_with("error: process 0: cannot start `/no/such/program`: "), "{error}");
    for arguments in
        [&["-n", "2"][..], &["--", "true"], &["-n", "0", "--", "true"], &["-n", "9999", "--", "true"]]
    {
        assert_eq!(run(arguments).0, Some(2), "{arguments:?}");
    }
}

#[test]
fn no_process_outlives_a_launcher_that_is_ended() {
    let mut command = launch(&["-n", "2", "--", "sh", "-c", "echo $$; exec sleep 60"]);
    let mut launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(launcher.stdout.take().unwrap()).lines().take(2);
    let ids: Vec<i32> = lines.map(|line| line.unwrap().parse().unwrap()).collect();
    let runs = |id: &i32| test_kill_process(Pid::from_raw(*id).unwrap()).is_ok();
    assert!(ids.len() == 2 && ids.iter().all(runs));
    launcher.send(Signal::TERM);
    let ended = launcher.output();
    assert_eq!((ended.status.signal(), &ended.stderr[..]), (Some(15), &b"interrupted\n"[..]));
    let began = Instant::now();
    while ids.iter().any(runs) {
        assert!(began.elapsed() < Duration::from_secs(10), "a process still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn mistakes_in_the_arguments_are_said_once() {
    let thalweg = env!("CARGO_BIN_EXE_thalweg");
    let (code, output, error) = run(&["-n", "4", "--", thalweg, "align", "--no-such"]);
    assert!(code == Some(1) && output.is_empty(), "{output}");
    assert_eq!(error.matches("unexpected argument '--no-such'").count(), 1, "{error}");
    let end = error.lines().last().unwrap();
    assert!(end.starts_with("error: process ") && end.ends_with(" has failed: exit status: 2"), "{error}");
    // One that never calls, and ends well.
    let script = "set -- $THALWEG_LAUNCH; test $2 = 1 || exec \"$0\" demo wordcount /dev/null";
    let (code, _, error) = run(&["-n", "3", "--", "sh", "-c", script, thalweg]);
    let end = "error: process 1 has ended, and process 0 has waited for it\nhelp: ";
    assert!(code == Some(1) && error.starts_with(end) && error.lines().count() == 2, "{error}");
}

#[test]
fn the_report_of_links_comes_from_process_0() {
    let thalweg = env!("CARGO_BIN_EXE_thalweg");
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    std::fs::write(&text, "to be or not to be").unwrap();
    let program = [thalweg, "demo", "wordcount", text.to_str().unwrap()];
    let (code, output, error) = run(&[&["-n", "2", "--report", "--"], &program[..]].concat());
    assert_eq!((code, output.lines().count()), (Some(0), 4));
    let is_report = |text: &str| text.starts_with("link ") && text.contains("\nsource of 1 waited ");
    assert!(is_report(&error) && error.lines().count() == 5, "{error}");
    let ports = [0, 1].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let hosts =
        Hosts::new(&ports.iter().map(|it| format!("{}\n", it.local_addr().unwrap())).collect::<String>());
    drop(ports);
    let launched = hosts.launch_with(&["--report"], &program).output().unwrap();
    let error = String::from_utf8(launched.stderr).unwrap();
    assert!(launched.status.success() && is_report(&error) && error.lines().count() == 5, "{error}");
    assert_eq!(String::from_utf8(launched.stdout).unwrap(), output);
}

/// The launcher would end it 10 s later, and a read of a pipe never.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_waits_for_its_input_ends_with_the_others() {
    let thalweg = env!("CARGO_BIN_EXE_thalweg");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.fa");
    std::fs::write(&target, ">a\nACGT\n").unwrap();
    for verb in [&["demo", "wordcount"][..], &["align", "-", target.to_str().unwrap()]] {
        let mut command = launch(&[&["-n", "3", "--", thalweg], verb].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut launcher = command.spawn().unwrap();
        let input = launcher.stdin.take();
        let began = Instant::now();
        let ids = loop {
            let ids = launcher.children();
            // All have found each other.
            if ids.len() == 3 && ids.iter().all(|id| has_thread(*id, "control-beat")) {
                break ids;
            }
            assert!(began.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        };
        let killed = Instant::now();
        kill_process(Pid::from_raw(ids[1]).unwrap(), Signal::KILL).unwrap();
        let output = launcher.output();
        drop(input);
        assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with("error: process 1 (127.0.0.1:") && error.contains("help: "), "{error}");
        assert!(error.ends_with("\nerror: process 1 has failed: signal: 9 (SIGKILL)\n"), "{error}");
        assert!(output.stdout.is_empty() && error.lines().count() == 3, "{error}");
    }
}

#[cfg(target_os = "linux")]
fn has_thread(id: i32, name: &str) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else { return false };
    let names = threads.filter_map(|it| std::fs::read_to_string(it.ok()?.path().join("comm")).ok());
    names.into_iter().any(|it| it.trim_end() == name)
}

/// A file of hosts, and a script that takes the place of `ssh`: it gives the command line to a shell of this machine, and fails
/// at a host of this name.
struct Hosts {
    folder: tempfile::TempDir,
}

impl Hosts {
    fn new(lines: &str) -> Hosts {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("hosts"), lines).unwrap();
        let script =
            "echo \"$@\" >> \"$(dirname \"$0\")/log\"; test \"$2\" != lost || exit 255; exec sh -c \"$3\"\n";
        std::fs::write(folder.path().join("my ssh"), script).unwrap();
        Hosts { folder }
    }

    fn launch(&self, program: &[&str]) -> Command {
        self.launch_with(&[], program)
    }

    fn launch_with(&self, options: &[&str], program: &[&str]) -> Command {
        let path = |name: &str| self.folder.path().join(name).to_str().unwrap().to_owned();
        let ssh = format!("sh '{}' -v", path("my ssh"));
        launch(&[options, &["--hosts", &path("hosts"), "--ssh", &ssh, "--"], program].concat())
    }

    /// What the script was called with.
    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

#[test]
fn hosts_get_the_program_and_its_arguments() {
    let hosts = Hosts::new("# two\n\na:7000\nb:7001\n");
    let script = "set -- \"$@\" $THALWEG_LAUNCH; line=$(printf '<%s>' \"$1\" \"$2\" \"$4\" \"$6\" \"$7\"); printf '%s\\n' \"$line\"; cat; exit $(($4 * 7))";
    let odd = "it's \"$HOME\"\n`id`  *";
    let output = hosts.launch(&["sh", "-c", script, "sh", odd, ""]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    for process in 0..2 {
        let line = format!("<{odd}><><{process}><a:7000><b:7001>\n");
        assert!(printed.contains(&line), "{printed}");
    }
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), error.as_str()),
        (Some(1), "error: process 1 on b has failed: exit status: 7\n")
    );
    let log = hosts.log();
    assert!(log.contains("-v a exec sh -c") && log.contains("-v b exec sh -c"), "{log}");
}

#[test]
fn the_secret_of_a_run_is_no_argument() {
    let hosts = Hosts::new("a:1");
    let script = "set -- $THALWEG_LAUNCH; echo $3; ps -eww -o args";
    let output = hosts.launch(&["sh", "-c", script]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let secret = printed.lines().next().unwrap();
    assert!(
        secret.len() == 64 && output.status.success() && printed.contains("ps -eww -o args"),
        "{printed}"
    );
    assert_eq!(printed.matches(secret).count(), 1, "{printed}");
    assert!(!hosts.log().contains(secret));
}

#[test]
fn hosts_and_programs_that_are_missing_are_named() {
    let lost = Hosts::new("a:1\nlost:1").launch(&["true"]).output().unwrap();
    let error = String::from_utf8(lost.stderr).unwrap();
    let why =
        "error: process 1 on lost has failed: exit status: 255; `sh` ends so when it cannot reach the host\n";
    assert_eq!(error, why);
    let missing = Hosts::new("a:1").launch(&["/no/such/program"]).output().unwrap();
    let error = String::from_utf8(missing.stderr).unwrap();
    assert!(error.contains("error: process 0 on a has failed: exit status: 127; a shell ends so"), "{error}");
    let wrong = Hosts::new("a:1\nb").launch(&["true"]).output().unwrap();
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(error.contains("hosts:2: b: no address of the form HOST:PORT"), "{error}");
    let (code, _, error) = run(&["--hosts", "/no/such/file", "--", "true"]);
    assert!(code == Some(1) && error.starts_with("error: /no/such/file: "), "{error}");
    for arguments in
        [&["-n", "2", "--hosts", "f", "--", "true"][..], &["-n", "2", "--ssh", "x", "--", "true"]]
    {
        assert_eq!(run(arguments).0, Some(2), "{arguments:?}");
    }
}

#[test]
fn no_program_at_a_host_outlives_the_launcher() {
    for signal in [Signal::TERM, Signal::INT, Signal::KILL] {
        let hosts = Hosts::new("a:1\nb:1");
        let mut command = hosts.launch(&["sh", "-c", "echo $$; exec sleep 60"]);
        let mut launcher = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(launcher.stdout.take().unwrap()).lines().take(2);
        let ids: Vec<i32> = lines.map(|line| line.unwrap().parse().unwrap()).collect();
        let runs = |id: &i32| test_kill_process(Pid::from_raw(*id).unwrap()).is_ok();
        assert!(ids.len() == 2 && ids.iter().all(runs));
        launcher.send(signal);
        assert_eq!(launcher.wait().unwrap().signal(), Some(signal.as_raw()));
        let began = Instant::now();
        while ids.iter().any(runs) {
            assert!(began.elapsed() < Duration::from_secs(10), "{signal:?}: a program still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
