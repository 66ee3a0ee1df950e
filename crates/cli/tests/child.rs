//! Child processes of the tests that signals end: they begin with the default dispositions, end with the test, and end after
//! [`LIMIT`] at the latest, so that no test waits for ever.

use std::ops::{Deref, DerefMut};
#[cfg(target_os = "linux")]
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Once};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Longer than any child of a passing test runs.
const LIMIT: Duration = Duration::from_secs(120);

/// The signals that end the command.
const ENDING: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// A running child. Its drop kills it.
pub struct Running {
    /// `None` once its output has been taken.
    child: Option<Child>,
    /// Closed when the child is no longer to be killed.
    _limit: Sender<()>,
}

/// Starts a command.
pub fn start(command: &mut Command) -> Running {
    heed_signals();
    let child = command.spawn().expect("starts");
    let (id, (limit, ended)) = (Pid::from_child(&child), channel());
    std::thread::spawn(move || {
        if ended.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            _ = kill_process(id, Signal::KILL);
        }
    });
    Running { child: Some(child), _limit: limit }
}

impl Running {
    /// Sends a signal. No effect on a child that has ended.
    pub fn send(&self, signal: Signal) {
        _ = kill_process(Pid::from_child(self), signal);
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

/// Gives the children that start from here on the default dispositions. `nohup`, and a script that starts the tests in its
/// background, let them ignore signals, and a child inherits that. It does not inherit a handler, so the tests get one for
/// each signal that they ignore, which does nothing.
fn heed_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in ENDING.into_iter().filter(|signal| is_ignored(*signal)) {
            let nothing = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal.as_raw(), nothing).expect("a signal that may have a handler");
        }
    });
}

/// Whether this process ignores a signal. Known on Linux only.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

/// What `nohup` and a script do to the tests does not reach a child.
#[cfg(target_os = "linux")]
#[test]
fn a_child_heeds_signals_that_the_tests_ignore() {
    // The tests themselves, once more, with the signals ignored.
    if std::env::var_os("THALWEG_IGNORES").is_none() {
        let tests = std::env::current_exe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' HUP INT QUIT TERM && exec \"$0\" \"$@\""]).arg(tests);
        command.args(["--exact", "child::a_child_heeds_signals_that_the_tests_ignore"]);
        let output = command.env("THALWEG_IGNORES", "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    for signal in ENDING {
        let mut child = start(Command::new("sleep").arg("60"));
        child.send(signal);
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
    }
}
