//! Turns a hang into a failure with a message.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer than any case takes, also on a machine with other load.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The time that the watching thread waits at once. So a process that was stopped for minutes has lost one of these, at most.
const TICK: Duration = Duration::from_millis(500);

type State = (Mutex<Option<String>>, Condvar);

/// Runs `f`; aborts the process if it takes longer than half a minute.
pub fn watch<R>(what: impl Into<String>, f: impl FnOnce() -> R) -> R {
    let _watched = Watched::begin(what.into());
    f()
}

/// What a thread watches. Its drop stops the thread, also if the code that is watched panics.
struct Watched {
    state: Arc<State>,
    watcher: Option<JoinHandle<()>>,
}

impl Watched {
    // Not generic: a thread's start is much code, and the tests watch hundreds of closures.
    fn begin(what: String) -> Watched {
        let state: Arc<State> = Arc::new((Mutex::new(Some(what)), Condvar::new()));
        let seen = state.clone();
        Watched { state, watcher: Some(std::thread::spawn(move || guard(&seen))) }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        *self.state.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.state.1.notify_one();
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}

fn guard((what, changed): &State) {
    let mut now = what.lock().unwrap_or_else(PoisonError::into_inner);
    let mut left = TIMEOUT;
    while let Some(what) = &*now {
        if left.is_zero() {
            // Not `eprintln`, which the test harness captures until the test ends.
            let _ = writeln!(std::io::stderr(), "watchdog: this did not end within {TIMEOUT:?}:\n{what}");
            std::process::abort();
        }
        now = changed.wait_timeout(now, TICK).unwrap_or_else(PoisonError::into_inner).0;
        left = left.saturating_sub(TICK);
    }
}
