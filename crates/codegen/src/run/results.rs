//! Who waits for threads that run a program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often a caller that waits looks whether it is interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// The next result; none where there will be no more. If the run is interrupted meanwhile all are told to stop, since
/// somebody may be in a firing that never ends.
pub(super) fn next<T>(
    results: &Receiver<T>,
    stopped: &AtomicBool,
    interrupted: &dyn Fn() -> bool,
) -> Option<T> {
    loop {
        match results.recv_timeout(LOOK) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if interrupted() => stopped.store(true, Ordering::Relaxed),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
