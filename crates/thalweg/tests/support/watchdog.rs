//! Turns a hang into a failure with a message.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longer than any case takes, also on a machine with other load.
const TIMEOUT: Duration = Duration::from_secs(30);

type Watched = (Mutex<Option<(String, Instant)>>, Condvar);

/// Runs `f`; aborts the process if it takes longer than half a minute.
pub fn watch<R>(what: impl Into<String>, f: impl FnOnce() -> R) -> R {
    let watched: Arc<Watched> = Arc::new((Mutex::new(Some((what.into(), Instant::now()))), Condvar::new()));
    let seen = watched.clone();
    let watcher = std::thread::spawn(move || guard(&seen));
    // Stops the watcher even if `f` panics.
    let stop = StopOnDrop(watched);
    let result = f();
    drop(stop);
    let _ = watcher.join();
    result
}

struct StopOnDrop(Arc<Watched>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.0.1.notify_one();
    }
}

fn guard((what, changed): &Watched) {
    let mut now = what.lock().unwrap_or_else(PoisonError::into_inner);
    while let Some((what, since)) = &*now {
        let left = TIMEOUT.saturating_sub(since.elapsed());
        if left.is_zero() {
            // Not `eprintln`, which the test harness captures until the test ends.
            let _ = writeln!(std::io::stderr(), "watchdog: this did not end within {TIMEOUT:?}:\n{what}");
            std::process::abort();
        }
        now = changed.wait_timeout(now, left).unwrap_or_else(PoisonError::into_inner).0;
    }
}
