//! Child processes of the tests: they begin with the default dispositions of signals, end with the test, and end after
//! [`LIMIT`] at the latest, so that no test waits for ever. The tests start no others.

use std::ffi::OsStr;
use std::io;
use std::ops::{Deref, DerefMut};
#[cfg(target_os = "linux")]
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{self, Child, ExitStatus, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};

/// Longer than any child of a passing test runs, also on a machine with other load.
const LIMIT: Duration = Duration::from_secs(300);

/// A [`process::Command`] whose children have a limit. Standard input is empty unless it is set.
pub struct Command {
    command: process::Command,
    /// Whether standard output and standard error are set.
    is_set: [bool; 2],
    limit: Duration,
}

impl Command {
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        let mut command = process::Command::new(program);
        command.stdin(Stdio::null());
        Command { command, is_set: [false; 2], limit: LIMIT }
    }

    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Command {
        self.command.arg(argument);
        self
    }

    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Command {
        self.command.args(arguments);
        self
    }

    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Command {
        self.command.env(name, value);
        self
    }

    pub fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        &mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> &mut Command {
        self.command.envs(variables);
        self
    }

    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Command {
        self.command.env_remove(name);
        self
    }

    pub fn env_clear(&mut self) -> &mut Command {
        self.command.env_clear();
        self
    }

    pub fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Command {
        self.command.current_dir(folder);
        self
    }

    pub fn stdin(&mut self, input: impl Into<Stdio>) -> &mut Command {
        self.command.stdin(input);
        self
    }

    pub fn stdout(&mut self, output: impl Into<Stdio>) -> &mut Command {
        self.is_set[0] = true;
        self.command.stdout(output);
        self
    }

    pub fn stderr(&mut self, output: impl Into<Stdio>) -> &mut Command {
        self.is_set[1] = true;
        self.command.stderr(output);
        self
    }

    #[cfg(unix)]
    pub fn uid(&mut self, user: u32) -> &mut Command {
        std::os::unix::process::CommandExt::uid(&mut self.command, user);
        self
    }

    /// Sets another limit than [`LIMIT`].
    pub fn limit(&mut self, limit: Duration) -> &mut Command {
        self.limit = limit;
        self
    }

    pub fn spawn(&mut self) -> io::Result<Running> {
        #[cfg(unix)]
        heed_signals();
        let child = self.command.spawn()?;
        let (id, limit, (sender, ended)) = (child.id(), self.limit, channel());
        std::thread::spawn(move || {
            if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                kill(id);
            }
        });
        Ok(Running { child: Some(child), _limit: sender })
    }

    /// Waits for the end of a child, and reads what it writes where that is not set otherwise.
    pub fn output(&mut self) -> io::Result<Output> {
        let [out, err] = self.is_set;
        if !out {
            self.command.stdout(Stdio::piped());
        }
        if !err {
            self.command.stderr(Stdio::piped());
        }
        self.spawn().map(Running::output)
    }

    /// Asserts that the command succeeds without a message if the reader of its output has closed the pipe.
    pub fn assert_ends_without_a_reader(&mut self) {
        let mut child = self.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        drop(child.stdout.take());
        let output = child.output();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }

    pub fn status(&mut self) -> io::Result<ExitStatus> {
        self.spawn()?.wait()
    }
}

/// A running child. Its drop kills it.
pub struct Running {
    /// `None` once its output has been taken.
    child: Option<Child>,
    /// Closed when the child is no longer to be killed.
    _limit: Sender<()>,
}

/// Starts a command.
pub fn start(command: &mut Command) -> Running {
    command.spawn().expect("starts")
}

impl Running {
    /// Sends a signal. No effect on a child that has ended.
    #[cfg(unix)]
    pub fn send(&self, signal: Signal) {
        _ = kill_process(Pid::from_child(self), signal);
    }

    /// The processes that it has started and that have not ended, in order.
    #[cfg(target_os = "linux")]
    pub fn children(&self) -> Vec<i32> {
        children(self.id())
    }

    /// Waits until the child has ended. Returns what it has written since it was started.
    pub fn output(mut self) -> Output {
        self.child.take().expect("taken once").wait_with_output().unwrap()
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.child.as_ref().expect("present until its output is taken")
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        self.child.as_mut().expect("present until its output is taken")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            _ = child.kill(); // no effect on one that was waited for
            _ = child.wait();
        }
    }
}

/// Kills a child that has not ended within its limit, and on Linux the processes that it has started, as a shell does: the test
/// waits until all of them have closed the pipe that it reads.
#[cfg(unix)]
fn kill(id: u32) {
    eprintln!("process {id} has not ended within its limit, and is killed");
    let mut all = vec![id];
    while let Some(id) = all.pop() {
        // Before it ends: its children are no longer listed then.
        all.extend(children(id).into_iter().map(i32::cast_unsigned));
        _ = kill_process(Pid::from_raw(id.cast_signed()).expect("not 0"), Signal::KILL);
    }
}

/// The processes that a process has started, on Linux.
#[cfg(unix)]
fn children(id: u32) -> Vec<i32> {
    let ids = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    ids.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Ends the tests: on other systems no process is killed by its number.
#[cfg(not(unix))]
fn kill(id: u32) {
    eprintln!("process {id} has not ended within its limit");
    process::abort();
}

#[cfg(unix)]
mod dispositions;

#[cfg(unix)]
use dispositions::heed_signals;

/// A child of a child that keeps the pipe open, too.
#[cfg(target_os = "linux")]
#[test]
fn a_child_ends_at_its_limit() {
    let begin = std::time::Instant::now();
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 60 & sleep 60; true"]).limit(Duration::from_millis(100));
    let output = command.output().unwrap();
    assert_eq!(output.status.signal(), Some(Signal::KILL.as_raw()));
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}

/// A child of the standard library's command has no limit.
#[test]
fn all_children_have_a_limit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut read = 0;
    for file in files.filter(|path| path.is_file() && !path.ends_with("child.rs")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let names = |line: &str| line.contains("process::") && line.contains("Command");
        assert!(!text.lines().any(names), "{} starts children without a limit", file.display());
        read += usize::from(text.contains("child::"));
    }
    assert!(read > 20, "{read} files use `child`");
}
