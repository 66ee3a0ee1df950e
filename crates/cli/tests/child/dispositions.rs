//! The dispositions of signals that the tests pass on to their children.

#[cfg(target_os = "linux")]
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use rustix::process::Signal;

/// The signals that end the command.
const ENDING: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// Gives the children that start from here on the default dispositions. `nohup`, and a script that starts the tests in its
/// background, let them ignore signals, and a child inherits that. It does not inherit a handler, so the tests get one for
/// each signal that they ignore, which does nothing.
pub(super) fn heed_signals() {
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
        let mut command = super::Command::new("sh");
        command.args(["-c", "trap '' HUP INT QUIT TERM && exec \"$0\" \"$@\""]).arg(tests);
        command.args(["--exact", "child::dispositions::a_child_heeds_signals_that_the_tests_ignore"]);
        let output = command.env("THALWEG_IGNORES", "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    for signal in ENDING {
        let mut child = super::start(super::Command::new("sleep").arg("60"));
        child.send(signal);
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
    }
}
