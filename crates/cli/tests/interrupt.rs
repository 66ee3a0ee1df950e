//! Signals end `thalweg dedup` without leaving files, and a blocked command takes no processor time.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::tempdir;

use crate::child::{Command, Running, start};

fn spawn(folder: &Path, arguments: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.arg("dedup").args(arguments).current_dir(folder).env("TMPDIR", folder);
    start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()))
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Waits until the command has an unfinished file in `folder`.
fn wait_for_unfinished(child: &mut Running, folder: &Path) {
    let started = Instant::now();
    while !names(folder).iter().any(|name| name.contains("thalweg-")) {
        if let Some(status) = child.try_wait().unwrap() {
            let mut message = String::new();
            child.stderr.as_mut().unwrap().read_to_string(&mut message).unwrap();
            panic!("the command ended before it created a file, {status}: {message}");
        }
        assert!(started.elapsed() < Duration::from_secs(30), "the command creates no file");
        sleep(Duration::from_millis(5));
    }
}

/// Sends a signal. Checks that the command ends by it soon, with the message of an interrupt.
fn interrupt(child: Running, signal: Signal) -> Output {
    child.send(signal);
    ended(child, signal)
}

/// Checks that the command ends by a signal soon, with the message of an interrupt.
fn ended(mut child: Running, signal: Signal) -> Output {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(10) {
            panic!("the command does not end");
        }
        sleep(Duration::from_millis(5));
    }
    // Standard input was open until here.
    let output = child.output();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(signal.as_raw()), "{message}");
    assert!(message.contains("interrupted") && !message.contains("error"), "{message}");
    output
}

#[test]
fn packing_a_slow_pipe_is_stopped_and_leaves_no_file() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        for threads in ["1", "4"] {
            let folder = tempdir().unwrap();
            fs::write(folder.path().join("mine"), b"mine").unwrap();
            let mut child = spawn(folder.path(), &["pack", "-", "-fo", "mine", "--threads", threads]);
            child.stdin.as_mut().unwrap().write_all(&vec![1; 5 << 20]).unwrap();
            wait_for_unfinished(&mut child, folder.path());
            interrupt(child, signal);
            assert_eq!(names(folder.path()), ["mine"]);
            assert_eq!(fs::read(folder.path().join("mine")).unwrap(), b"mine");
        }
    }
}

/// As with `nohup`, and with `&` in a script.
#[cfg(target_os = "linux")]
#[test]
fn ignored_signals_stay_ignored() {
    for signals in ["HUP", "INT", "TERM", "HUP INT TERM"] {
        let folder = tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' $0 && exec \"$@\"", signals, env!("CARGO_BIN_EXE_thalweg")]);
        command.args(["dedup", "pack", "-", "-o", "made"]).current_dir(folder.path());
        let mut child = start(command.stdin(Stdio::piped()).stderr(Stdio::piped()));
        wait_for_unfinished(&mut child, folder.path());
        let known = [("HUP", Signal::HUP), ("INT", Signal::INT), ("TERM", Signal::TERM)];
        let ignored = known.into_iter().filter(|(name, _)| signals.contains(name)).map(|(_, signal)| signal);
        for signal in ignored.clone().chain(ignored) {
            child.send(signal);
        }
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"more").unwrap();
        drop(input);
        let output = child.output();
        assert!(output.status.success() && output.stderr.is_empty(), "{signals}: {output:?}");
        assert_eq!(names(folder.path()), ["made"]);
    }
}

/// Nothing can be removed then. The next command in the folder does it, and says so.
#[test]
fn what_a_killed_command_leaves_goes_with_the_next() {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("tree/file"), vec![2; 3 << 20]).unwrap();
    let packed = spawn(folder.path(), &["pack", "tree", "-o", "-"]).output().stdout;
    let begun: [(&[&str], &[u8]); 2] = [
        (&["pack", "-", "-o", "out"], b"some"),
        (&["unpack", "-", "-o", "out"], &packed[..packed.len() - 50]),
    ];
    for (arguments, input) in begun {
        let mut child = spawn(folder.path(), arguments);
        child.stdin.as_mut().unwrap().write_all(input).unwrap();
        wait_for_unfinished(&mut child, folder.path());
        // A command that runs at the same time leaves it alone.
        let other = spawn(folder.path(), &["pack", "tree", "-fo", "other"]).output();
        assert!(
            other.status.success() && other.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&other.stderr)
        );
        assert_eq!(names(folder.path()).len(), 3);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(names(folder.path()).len(), 3, "a killed command removes nothing");
        let next = spawn(folder.path(), &["pack", "tree", "-fo", "other"]).output();
        let message = String::from_utf8_lossy(&next.stderr);
        assert!(message.contains("note: removed ") && message.contains("/.thalweg-unfinished-"), "{message}");
        assert_eq!(names(folder.path()), ["other", "tree"]);
    }
}

#[test]
fn a_busy_pack_is_stopped_and_leaves_no_file() {
    let folder = tempdir().unwrap();
    let mut child = spawn(folder.path(), &["pack", "/dev/zero", "-o", "out", "--threads", "2"]);
    wait_for_unfinished(&mut child, folder.path());
    sleep(Duration::from_millis(200));
    interrupt(child, Signal::INT);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn unpacking_a_slow_pipe_is_stopped_and_leaves_no_file() {
    let folder = tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join("a")).unwrap();
    fs::write(tree.join("a/file"), vec![2; 3 << 20]).unwrap();
    for input in ["tree", "tree/a/file"] {
        let packed = spawn(folder.path(), &["pack", input, "-o", "-"]).output().stdout;
        let mut child = spawn(folder.path(), &["unpack", "-", "-o", "out"]);
        child.stdin.as_mut().unwrap().write_all(&packed[..packed.len() - 50]).unwrap();
        wait_for_unfinished(&mut child, folder.path());
        interrupt(child, Signal::INT);
        assert_eq!(names(folder.path()), ["tree"]);
    }
}

#[test]
fn verbs_without_output_files_end_at_once() {
    let folder = tempdir().unwrap();
    for arguments in
        [&["pack", "-", "-o", "-"][..], &["unpack", "-", "-o", "-"], &["verify", "-"], &["stat", "-"]]
    {
        let child = spawn(folder.path(), arguments);
        // The handler is installed before the first read, but a moment after the start.
        sleep(Duration::from_millis(200));
        interrupt(child, Signal::TERM);
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_demo_is_stopped_and_leaves_no_file() {
    let folder = tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).unwrap();
    // Large enough to be interrupted. The demo requires one and a half times as much free space.
    File::create(tree.join("large")).unwrap().set_len(128 << 20).unwrap();
    let mut child = spawn(folder.path(), &["demo", "tree", "--threads", "1"]);
    wait_for_unfinished(&mut child, folder.path());
    interrupt(child, Signal::INT);
    assert_eq!(names(folder.path()), ["tree"]);
}

/// A board that takes a while to write, which goes on after a signal.
fn spawn_life(folder: &Path) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["demo", "life", "--random", "1", "--size", "8000x8000", "--torus", "-o", "made"]);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = start(&mut command);
    wait_for_unfinished(&mut child, folder);
    child
}

/// A stopped process lets time pass, so that the second signal arrives later, while the process still writes.
#[test]
fn a_second_signal_removes_an_unfinished_file() {
    for _ in 0..20 {
        let folder = tempdir().unwrap();
        let child = spawn_life(folder.path());
        child.send(Signal::INT);
        sleep(Duration::from_millis(2));
        child.send(Signal::STOP);
        sleep(Duration::from_millis(400));
        for signal in [Signal::TERM, Signal::CONT] {
            child.send(signal);
        }
        let output = child.output();
        let message = String::from_utf8_lossy(&output.stderr);
        let left = names(folder.path());
        // The process may have ended before the second signal, or been stopped before it saw the first one.
        if message.contains("interrupted twice") && left != ["made"] {
            assert_eq!(output.status.signal(), Some(2), "the first signal counts: {output:?}");
            assert!(left.is_empty(), "{left:?}");
            assert!(message.ends_with("interrupted twice: the unfinished output was removed\n"), "{message}");
            return;
        }
    }
    panic!("no second signal came in time");
}

/// As when a wrapper relays the signal that the terminal has sent to both.
#[test]
fn signals_that_come_together_are_one() {
    for _ in 0..10 {
        let folder = tempdir().unwrap();
        let child = spawn_life(folder.path());
        for signal in [Signal::INT, Signal::TERM, Signal::INT, Signal::HUP] {
            child.send(signal);
        }
        let output = child.output();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!message.contains("twice"), "{message}");
        assert!(output.status.signal().is_some(), "it dies of any of them: {message}");
    }
}

/// What stands in a process's status after these names; `None` if there is no such process. It is read once, since a process
/// that begins to run another program changes all of it.
#[cfg(target_os = "linux")]
fn status<const N: usize>(process: u32, names: [&str; N]) -> Option<[String; N]> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = |name| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Some(names.map(|name| line(name).unwrap_or_default().trim().to_owned()))
}

/// Waits until a shell waits for a command that has a handler of SIGINT. Returns the command's id. A signal that comes earlier
/// is another case: the shell then ends with an exit code, or not at all.
#[cfg(target_os = "linux")]
fn wait_for_handler(shell: u32) -> u32 {
    let handles = |child: &u32| {
        status(*child, ["Name", "SigCgt"]).is_some_and(|[name, caught]| {
            name == "thalweg" && u64::from_str_radix(&caught, 16).is_ok_and(|caught| caught & 2 != 0)
        })
    };
    let started = Instant::now();
    loop {
        let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
        let child = children.split_whitespace().map(|id| id.parse().unwrap()).find(handles);
        if let Some(child) = child
            && status(shell, ["State"]).is_some_and(|[state]| state.starts_with('S'))
        {
            return child;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "the command installs no handler");
        sleep(Duration::from_millis(5));
    }
}

/// A shell ends its loop when a command has died of Ctrl-C, but not when the command has returned an exit code.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_the_loop_of_a_shell() {
    if Command::new("bash").arg("--version").output().is_err() {
        return eprintln!("skipped: bash is missing");
    }
    let folder = tempdir().unwrap();
    let script = "for i in 1 2; do echo $i; \"$0\" demo wordcount -; done";
    let mut shell = Command::new("bash");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_thalweg")]).current_dir(folder.path());
    let mut shell = start(shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut begun = [0; 2];
    shell.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
    let child = wait_for_handler(shell.id());
    // Both get the signal, as from a terminal. The shell waits for its child before it acts.
    shell.send(Signal::INT);
    kill_process(Pid::from_raw(child as i32).unwrap(), Signal::INT).unwrap();
    // At the end of its input the command could end before it handles the signal.
    let input = shell.stdin.take();
    let output = shell.output();
    drop(input);
    assert_eq!(output.status.signal(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "no second run: {output:?}");
}

/// User and system time of a process, in ticks of 10 ms.
#[cfg(target_os = "linux")]
fn ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn waiting_for_a_pipe_takes_no_processor_time() {
    let folder = tempdir().unwrap();
    let archive = spawn(folder.path(), &["pack", "-", "-o", "-"]).output().stdout;
    let blocked = [(&["pack", "-", "-o", "-"][..], &b"some content"[..]), (&["verify", "-"], &archive[..70])];
    let children = blocked.map(|(arguments, begin)| {
        let mut child = spawn(folder.path(), arguments);
        child.stdin.as_mut().unwrap().write_all(begin).unwrap();
        child
    });
    sleep(Duration::from_millis(300));
    let before = children.each_ref().map(|child| ticks(child.id()));
    sleep(Duration::from_secs(2));
    let after = children.each_ref().map(|child| ticks(child.id()));
    for (before, after) in before.into_iter().zip(after) {
        assert!(after - before < 5, "{} ms in 2 s of waiting", (after - before) * 10);
    }
}
