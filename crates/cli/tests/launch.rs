//! `thalweg launch`. Programs that form a cluster are tested in `crates/cluster`.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

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
    let mut launcher = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(launcher.stdout.take().unwrap()).lines().take(2);
    let ids: Vec<i32> = lines.map(|line| line.unwrap().parse().unwrap()).collect();
    let runs = |id: &i32| test_kill_process(Pid::from_raw(*id).unwrap()).is_ok();
    assert!(ids.len() == 2 && ids.iter().all(runs));
    launcher.send(Signal::TERM);
    assert_eq!(launcher.wait().unwrap().signal(), Some(15));
    let began = Instant::now();
    while ids.iter().any(runs) {
        assert!(began.elapsed() < Duration::from_secs(10), "a process still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}
