//! A hang is a failure with a message, not a job that the machine ends an hour later.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longer than any case takes on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(30);

type Watched = (Mutex<Option<(String, Instant)>>, Condvar);

/// Runs `f`; ends the process where that takes longer than half a minute.
pub fn watch<R>(what: impl Into<String>, f: impl FnOnce() -> R) -> R {
    let watched: Arc<Watched> = Arc::new((Mutex::new(Some((what.into(), Instant::now()))), Condvar::new()));
    let seen = watched.clone();
    let dog = std::thread::spawn(move || guard(&seen));
    // Calls the dog off even where `f` panics.
    let leash = Leash(watched);
    let result = f();
    drop(leash);
    let _ = dog.join();
    result
}

struct Leash(Arc<Watched>);

impl Drop for Leash {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.0.1.notify_one();
    }
}

fn guard((what, changed): &Watched) {
    let mut now = what.lock().unwrap_or_else(PoisonError::into_inner);
    while let Some((what, since)) = &*now {
        let left = PATIENCE.saturating_sub(since.elapsed());
        if left.is_zero() {
            // Not `eprintln`, which the test harness keeps to itself until the test is over.
            let _ = writeln!(std::io::stderr(), "watchdog: this did not end within {PATIENCE:?}:\n{what}");
            std::process::abort();
        }
        now = changed.wait_timeout(now, left).unwrap_or_else(PoisonError::into_inner).0;
    }
}
